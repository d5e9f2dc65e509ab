package plan

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	"coalesce/autotune/subject"
	"coalesce/autotune/tuned"
	genauction "coalesce/generated/auction"
	gencsg "coalesce/generated/csg"
	"coalesce/runtime/device"
	"coalesce/solvers/algorithms"
	"coalesce/solvers/auction/internal/bidders"
	"coalesce/solvers/auction/problem"
	"coalesce/solvers/solve"
)

// The algorithms. Coalitions stands for coalition structures by whatever algorithm is best
// for these.
const (
	Branch     = "branch"
	Bidders    = "bidders"
	Coalitions = "coalitions"
)

// MaxItems is the most items that Coalitions begins with: 2^25 values.
const MaxItems = 25

// Table lists the algorithms with which a solve on one device may begin. A solve begins with Bidders
// if its tables are expected to take at most `seconds`.
var Table = algorithms.NewFamily("auction/algorithm", []string{"algorithm", "seconds"},
	algorithms.Algorithm{Values: []string{Branch, "0"}},
	algorithms.Algorithm{Values: []string{Coalitions, "0"}, Kernels: &gencsg.Tiles},
	algorithms.Algorithm{Values: []string{Bidders, "0.5"}, Kernels: &genauction.Bidders},
	algorithms.Algorithm{Values: []string{Bidders, "5"}, Kernels: &genauction.Bidders},
)

// manyBids is the number of bids for each item from which an auction counts as one of many bids: more
// bids slow tables and branching down, but not coalition structures.
const manyBids = 16

// cases are the numbers of items of the cases, which every algorithm solves.
var cases = []int{2, 5, 9}

// mostDummies is the most dummies of a drawn auction.
const mostDummies = 4

// alternatives names auctions with dummies among the items, which the tables of Bidders leave out.
const alternatives = "alternatives"

// leastBidders is Bidders with the least threshold.
func leastBidders() *device.Variant { return Table.Variant("algorithm=bidders,seconds=0.5") }

// predicted is the algorithm to begin with where nothing was measured. soon is whether a
// device makes the tables within half a second.
func predicted(soon bool, items int) (*device.Variant, string) {
	switch {
	case soon:
		return leastBidders(), "a device makes the tables in half a second at most"
	case items <= MaxItems:
		return Table.Variant("algorithm=coalitions,seconds=0"), fmt.Sprintf("coalition structures take up to %d items", MaxItems)
	}
	return &Table.Variants[0], tooManyItems(items)
}

// Choose is the algorithm to begin with for an auction of so many items and bids, among
// those that can solve it: the one that measurements of auctions like this one favour, else
// the predicted one. tables are those of Bidders; refused says why there are none, and large why
// Branch does not take the bids; nil: it does.
func Choose(o *solve.Settings, items, bids int, tables *bidders.Problem, refused, large error) (tuned.Choice, error) {
	facts := device.Facts{Kind: device.Host}
	if len(o.Devices) > 0 {
		facts = o.Devices[0].Facts()
	}
	if refused == nil && tables.Items == 0 {
		refused = errors.New("no items")
	}
	runs := func(v *device.Variant) error {
		switch name := AlgorithmName(v); {
		case name == Coalitions && items > MaxItems:
			return fmt.Errorf("more than %d items", MaxItems)
		case name == Branch && items <= MaxItems:
			return large // with more items Branch stays, the only algorithm for most of them, and its own error tells
		case name == Bidders && refused != nil:
			return refused
		case name == Bidders && tables.EstimateSeconds(facts) > seconds(v):
			return fmt.Errorf("tables take more than %s s", Table.Value(v, "seconds"))
		}
		return nil
	}
	soon := bidders.OnKernels(*o) && runs(leastBidders()) == nil
	fixed := map[string]string{"bids": "few"}
	switch {
	case tables != nil && tables.Items < items:
		fixed["bids"] = alternatives
	case bids >= manyBids*items:
		fixed["bids"] = "many"
	}
	w := algorithms.PredictedWorkload(fixed, items, func(items int) (*device.Variant, string) { return predicted(soon, items) })
	return o.ChooseAlgorithm(Table, facts, w, runs)
}

// AlgorithmName is an algorithm's.
func AlgorithmName(v *device.Variant) string { return Table.Value(v, "algorithm") }

// seconds is the threshold of an algorithm.
func seconds(v *device.Variant) float64 {
	x, err := strconv.ParseFloat(Table.Value(v, "seconds"), 64)
	if err != nil {
		panic(err) // Table has a threshold that is no number
	}
	return x
}

// NewSubject compares the algorithms on drawn auctions, which reference and open solve.
func NewSubject(reference func(*problem.Auction) (solve.Number, error), open func(*problem.Auction, solve.Settings) (algorithms.Solver, error)) subject.Subject {
	return algorithms.NewSubject(algorithms.Problem[*problem.Auction]{
		Family: Table,
		Fixed:  []map[string]string{{"bids": "few"}, {"bids": "many"}, {"bids": alternatives}},
		Sizes: func(f device.Facts) []int {
			switch f.Kind {
			case device.CUDA:
				return []int{14, 18, 22, 25, 30}
			case device.Host:
				return []int{10, 14, 18, 21}
			}
			return []int{6, 9}
		},
		Unit: "items",
		Most: 1 << 16, // which branching alone takes
		Feasible: func(v *device.Variant, f device.Facts, items int) error {
			name := AlgorithmName(v)
			if name == Coalitions && items > MaxItems || name == Bidders && f.Kind == device.Host && items > bidders.MaxItems {
				return fmt.Errorf("%s: more than %d items", name, MaxItems)
			}
			if name == Bidders && items > cases[len(cases)-1] && seconds(v) > seconds(leastBidders()) && !slow(f, items) {
				return fmt.Errorf("%s: tables take at most %g s, with which %s does the same", v.Label, seconds(leastBidders()), leastBidders().Label)
			}
			return nil
		},
		Predicted: func(fixed map[string]string, f device.Facts, items int) (*device.Variant, string) {
			took, ok := estimate(f, fixed["bids"], items, 0)
			return predicted(f.Kind != device.Host && ok && took <= seconds(leastBidders()), items)
		},
		Small: cases,
		Draw: func(fixed map[string]string, items, kind int, seed uint64) (*problem.Auction, error) {
			return drawAuction(fixed["bids"], items, kind, seed), nil
		},
		Kinds:     len(bundles),
		Reference: reference,
		Open: func(_ context.Context, a *problem.Auction, s solve.Settings) (algorithms.Solver, error) {
			return open(a, s)
		},
		Work: func(*problem.Auction) float64 { return 1 },
	})
}

// estimate is the estimated time of the tables of a drawn auction; false where there are none.
func estimate(f device.Facts, bids string, items, kind int) (seconds float64, ok bool) {
	if items > bidders.MaxItemsOnDevice+mostDummies {
		return 0, false
	}
	p, lists := bidders.New(drawAuction(bids, items, kind, 1))
	if lists == nil {
		return 0, false
	}
	return p.EstimateSeconds(f), true
}

// slow reports whether the tables of some drawn auction of so many items take longer than the least
// threshold: else all thresholds do the same.
func slow(f device.Facts, items int) bool {
	for _, bids := range []string{"few", "many", alternatives} {
		for kind := range bundles {
			if took, ok := estimate(f, bids, items, kind); ok && took > seconds(leastBidders()) {
				return true
			}
		}
	}
	return false
}

// bundles draw how many of the goods a bid is for, one kind of auction each: up to four, up to half
// of them, one more with probability 0.55 (L4 of CATS), or each with probability 0.2 (L7).
var bundles = [...]func(r *rand.Rand, goods int) int{
	func(r *rand.Rand, goods int) int { return 1 + r.IntN(min(4, goods)) },
	func(r *rand.Rand, goods int) int { return 1 + r.IntN(max(1, goods/2)) },
	func(r *rand.Rand, goods int) int {
		n := 1
		for n < goods && r.Float64() < 0.55 {
			n++
		}
		return n
	},
	func(r *rand.Rand, goods int) int {
		n := 0
		for range goods {
			if r.Float64() < 0.2 {
				n++
			}
		}
		return max(1, n)
	},
}

// drawAuction draws bids worth 100 to 199 a good: twice as many as divide few from many, or half as many.
// Alternatives are those of up to four bidders, each of whom has a dummy among the items.
func drawAuction(bids string, items, kind int, seed uint64) *problem.Auction {
	r := rand.New(rand.NewPCG(seed, uint64(items)))
	goods, dummies, count := items, 0, manyBids/2*items
	switch bids {
	case "many":
		count = 2 * manyBids * items
	case alternatives:
		dummies = min(mostDummies, items/2)
		goods -= dummies
	}
	a := &problem.Auction{Goods: int64(items), Dummies: int64(dummies), Source: fmt.Sprintf("%d bids for %d goods", count, items)}
	for k := range count {
		b := problem.Bid{Number: int64(k)}
		for _, g := range r.Perm(goods)[:bundles[kind](r, goods)] {
			b.Goods = append(b.Goods, int64(g))
			b.Price += 100 + r.Int64N(100)
		}
		slices.Sort(b.Goods)
		if dummies > 0 {
			b.Goods = append(b.Goods, int64(items+k%dummies))
		}
		a.Bids = append(a.Bids, b)
	}
	return a
}
