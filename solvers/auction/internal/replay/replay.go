// Package replay computes bounds of set packing from the prices of cliques in a proof, in exact
// arithmetic and without search, so that a bound can be checked without trust in the solver.
package replay

import (
	"fmt"
	"math/big"
	"math/bits"

	"coalesce/solvers/auction/internal/packing"
	"coalesce/solvers/auction/problem"
)

// A Proof is a tree of bounds a part. Bids that can win are in one part each, but for those
// that another replaces. Numbers of bids are their places among the atomic ones, from 0: in
// an auction without limits, reserves and goods that have to be sold those of the file.
type Proof struct {
	// pairs of a bid that is left out and the bid that replaces it, in the order of leaving out. The
	// second pays at least as much, and of the remaining bids it conflicts only with those that the
	// first conflicts with too
	Replaced [][2]int32 `json:"replaced" none:"there are none"`
	// parts that the other bids are in
	Parts []Part `json:"parts"`
	// bids that win together and leave goods which have to be sold, as all do whose worth the proof bounds
	Won []int `json:"won,omitempty" none:"the proof is not that no bids sell all goods"`
}

// A Part is bids, cliques of bids that conflict with one another, and the proof's root. Each list
// of Odd is the numbers of 2k+1 cliques: at most k of the bids that are in two of them or more
// win, since each uses up two of the 2k+1 bids that the cliques allow together.
type Part struct {
	Bids    []int32   `json:"bids" none:"there are none"`          // bids of the part, by their places
	Cliques [][]int32 `json:"cliques" none:"there are none"`       // bids that conflict with one another
	Odd     [][]int32 `json:"odd,omitempty" none:"there are none"` // lists of 2k+1 cliques, of whose shared bids at most k win
	Root    *Step     `json:"root" none:"the bids are none"`       // step that all others follow
}

// A Step proves that its bids, beside those taken on the way to it, are worth no more than
// the winners of the part. Its stages leave out bids. Then packings are split: those with the
// first bid of Branch, those with the second and not the first, and so on, a kid each; and
// those with none of them: the last kid if there is one more, else the last stage bounds them.
type Step struct {
	Stages []Stage `json:"stages,omitempty" none:"there are none"`    // prices that leave out bids
	Branch []int32 `json:"branch,omitempty" none:"the stages end it"` // bids by which packings are split
	Kids   []*Step `json:"kids,omitempty" none:"the stages end it"`   // steps of the packings, one for each bid of branch, and one more for those without them
}

// A Stage is prices of cliques in 2^-shift of an atomic unit: the number of a clique and its
// price, in turns, or the number -1-k of the list k of Odd. Any prices of at least 0 bound the
// packings of the bids that are left: each clique of which a bid is left pays once, each such odd
// set for as many bids as it allows, and each bid what its price lacks in those of its cliques and
// odd sets. Bids by which the bound falls to the winners' worth or less go.
type Stage struct {
	Shift  uint    `json:"shift"`  // prices are in 2^-shift of an atomic unit
	Prices []int64 `json:"prices"` // number of a clique and its price, in turns; the number -1-k stands for the list k of odd
}

// New is the proof of a solve; nil if the solve left none.
func New(solved *packing.Result) *Proof {
	if solved.Proof == nil {
		return nil
	}
	x := &Proof{Replaced: solved.Replaced, Parts: []Part{}}
	for _, part := range solved.Proof {
		x.Parts = append(x.Parts, Part{part.Bids, part.Cliques, part.Odd, stepOf(part.Root)})
	}
	return x
}

// stepOf is a step of the solver's log as one of a proof.
func stepOf(step *packing.Step) *Step {
	x := &Step{Branch: step.Branch}
	for _, stage := range step.Stages {
		s := Stage{Shift: stage.Shift, Prices: []int64{}}
		for _, pay := range stage.Prices {
			s.Prices = append(s.Prices, int64(pay.Clique), pay.Amount)
		}
		x.Stages = append(x.Stages, s)
	}
	for _, kid := range step.Kids {
		x.Kids = append(x.Kids, stepOf(kid))
	}
	return x
}

// Bound replays a proof against bids of which some are known to win together, and returns
// a value that no packing beats: the winners' worth in parts whose tree is whole, and what
// the stages of the root bound elsewhere; nil where a part has none. Errors say what is wrong
// with the proof.
func (x *Proof) Bound(bids []problem.Bid, won []int) (bound *big.Int, err error) {
	r := newReplay(bids)
	for k, pair := range x.Replaced {
		if err := r.replace(pair[0], pair[1]); err != nil {
			return nil, fmt.Errorf("pair %d of replaced bids: %w", k, err)
		}
	}
	part := make([]int32, len(bids))
	for k, p := range x.Parts {
		for _, i := range p.Bids {
			if i < 0 || int(i) >= len(bids) || part[i] != 0 {
				return nil, fmt.Errorf("found bid %d in part %d of the proof, expected each of %d bids in one part", i, k, len(bids))
			}
			part[i] = int32(k + 1)
		}
	}
	for i := range bids {
		if r.left.has(int32(i)) && part[i] == 0 {
			return nil, fmt.Errorf("found bid %d in no part of the proof", i)
		}
	}
	for k := len(x.Replaced) - 1; k >= 0; k-- { // of equal bids the one that was replaced may win
		part[x.Replaced[k][0]] = part[x.Replaced[k][1]]
	}
	values := make([]int64, len(x.Parts)+1)
	for _, i := range won {
		if i < 0 || i >= len(bids) {
			return nil, fmt.Errorf("found bid %d among the winners, expected one of %d", i, len(bids))
		}
		values[part[i]] += max(0, bids[i].Price)
	}
	bound = new(big.Int)
	for k, p := range x.Parts {
		most, err := r.part(p, values[k+1])
		if err != nil {
			return nil, fmt.Errorf("part %d of the proof: %w", k, err)
		}
		if most < 0 {
			bound = nil
		} else if bound != nil {
			bound.Add(bound, big.NewInt(most))
		}
	}
	return bound, nil
}

// A set is bids, a bit each.
type set []uint64

func (s set) has(i int32) bool { return s[i>>6]>>(i&63)&1 != 0 }
func (s set) add(i int32)      { s[i>>6] |= 1 << (i & 63) }
func (s set) drop(i int32)     { s[i>>6] &^= 1 << (i & 63) }
func (s set) copy() set        { return append(set(nil), s...) }

func (s set) each(f func(i int32)) {
	for k, w := range s {
		for ; w != 0; w &= w - 1 {
			f(int32(k<<6 + bits.TrailingZeros64(w)))
		}
	}
}

// A replay holds proofs against bids.
type replay struct {
	bids     []problem.Bid
	left     set // of price above 0, and not replaced
	digits   int // of the sum of prices, in binary
	holders  map[int64][]int32
	conflict []set // by bid: the bids in conflict with it, itself included; computed when asked for
	cliques  [][]int32
	odd      []allowed
	value    int64   // of the part's winners
	rest     []int64 // of the bids' prices, when cliques have paid
}

func newReplay(bids []problem.Bid) *replay {
	r := &replay{bids: bids, conflict: make([]set, len(bids)), holders: map[int64][]int32{}, rest: make([]int64, len(bids))}
	r.left = r.none()
	sum := new(big.Int)
	for i, b := range bids {
		for _, g := range b.Goods {
			r.holders[g] = append(r.holders[g], int32(i))
		}
		if b.Price > 0 {
			r.left.add(int32(i))
			sum.Add(sum, big.NewInt(b.Price))
		}
	}
	r.digits = sum.BitLen()
	return r
}

func (r *replay) none() set { return make(set, len(r.bids)/64+1) }

// conflicts are the bids that share a good with one, and itself.
func (r *replay) conflicts(i int32) set {
	if r.conflict[i] == nil {
		c := r.none()
		c.add(i)
		for _, g := range r.bids[i].Goods {
			for _, j := range r.holders[g] {
				c.add(j)
			}
		}
		r.conflict[i] = c
	}
	return r.conflict[i]
}

// replace leaves out a bid that another stands for in any packing.
func (r *replay) replace(gone, by int32) error {
	for _, i := range []int32{gone, by} {
		if i < 0 || int(i) >= len(r.bids) || !r.left.has(i) {
			return fmt.Errorf("found bid %d, expected one of price above 0 that is not replaced", i)
		}
	}
	mine, its := r.conflicts(by), r.conflicts(gone)
	if gone == by || !mine.has(gone) || r.bids[by].Price < r.bids[gone].Price {
		return fmt.Errorf("found bid %d in place of bid %d, expected one that conflicts with it and pays as much", by, gone)
	}
	for k, w := range r.left {
		if w&mine[k]&^its[k] != 0 {
			return fmt.Errorf("found bid %d in place of bid %d, which conflicts with less", by, gone)
		}
	}
	r.left.drop(gone)
	return nil
}

// part is the bound of a part; -1: it has no stages.
func (r *replay) part(p Part, value int64) (int64, error) {
	r.value, r.cliques = value, p.Cliques
	own := r.none()
	for _, i := range p.Bids {
		if r.left.has(i) {
			own.add(i)
		}
	}
	for k, c := range p.Cliques {
		for at, i := range c {
			if i < 0 || int(i) >= len(r.bids) || !own.has(i) {
				return 0, fmt.Errorf("found bid %d in clique %d, expected one of the part that is not replaced", i, k)
			}
			for _, j := range c[:at] {
				if i == j || !r.conflicts(i).has(j) {
					return 0, fmt.Errorf("found the bids %d and %d in clique %d, which have no good in common", j, i, k)
				}
			}
		}
	}
	if err := r.allow(p.Odd); err != nil {
		return 0, err
	}
	if p.Root == nil {
		return -1, nil
	}
	least := int64(-1)
	live := own.copy()
	for _, s := range p.Root.Stages {
		bound, err := r.stage(s, live, 0)
		if err != nil {
			return 0, err
		}
		if least < 0 || bound < least {
			least = bound
		}
	}
	whole, err := r.step(p.Root, own, 0)
	if whole || least >= 0 && least < value {
		least = value
	}
	return least, err
}

// allowed is bids of which at most so many can win.
type allowed struct {
	bids []int32
	most int64
}

const maxOdd = 1 << 28 // bids of the cliques of odd sets, together

// allow counts what odd sets of the part's cliques allow.
func (r *replay) allow(odd [][]int32) error {
	total, times := 0, make([]int32, len(r.bids))
	r.odd = nil
	for k, list := range odd {
		if len(list) < 3 || len(list)%2 == 0 {
			return fmt.Errorf("found %d cliques in odd set %d, expected an odd number of at least 3", len(list), k)
		}
		row := allowed{most: int64(len(list) / 2)}
		for _, c := range list {
			if c < 0 || int(c) >= len(r.cliques) {
				return fmt.Errorf("found clique %d in odd set %d, expected one of %d", c, k, len(r.cliques))
			}
			if total += len(r.cliques[c]); total > maxOdd {
				return fmt.Errorf("found more than %d bids in the cliques of odd sets", maxOdd)
			}
			for _, i := range r.cliques[c] {
				if times[i]++; times[i] == 2 {
					row.bids = append(row.bids, i)
				}
			}
		}
		for _, c := range list {
			for _, i := range r.cliques[c] {
				times[i] = 0
			}
		}
		r.odd = append(r.odd, row)
	}
	return nil
}

// row is the clique, or the odd set, of a number in a stage.
func (r *replay) row(k int64) (allowed, error) {
	switch {
	case k >= 0 && k < int64(len(r.cliques)):
		return allowed{r.cliques[k], 1}, nil
	case k < 0 && ^k < int64(len(r.odd)):
		return r.odd[^k], nil
	}
	return allowed{}, fmt.Errorf("found clique %d in a stage, expected one of %d, or one of %d odd sets as a number below 0", k, len(r.cliques), len(r.odd))
}

// step reports whether the packings of live bids, beside taken ones of a price together,
// are shown to be worth no more than the winners.
func (r *replay) step(s *Step, live set, taken int64) (bool, error) {
	if len(s.Kids) != len(s.Branch) && len(s.Kids) != len(s.Branch)+1 {
		return false, fmt.Errorf("found %d kids of a step with %d bids to branch on", len(s.Kids), len(s.Branch))
	}
	bound := r.value + 1
	for _, stage := range s.Stages {
		var err error
		if bound, err = r.stage(stage, live, taken); err != nil || bound <= r.value {
			return err == nil, err
		}
	}
	whole := true
	for k, i := range s.Branch {
		if i < 0 || int(i) >= len(r.bids) {
			return false, fmt.Errorf("found bid %d to branch on", i)
		}
		if !live.has(i) {
			continue // the bid is in no packing of this step
		}
		if s.Kids[k] == nil {
			return false, fmt.Errorf("found null for a step")
		}
		inner := live.copy()
		for w, c := range r.conflicts(i) {
			inner[w] &^= c
		}
		ok, err := r.step(s.Kids[k], inner, taken+r.bids[i].Price)
		if err != nil {
			return false, err
		}
		whole = whole && ok
		live.drop(i)
	}
	if last := len(s.Branch); len(s.Kids) > last && s.Kids[last] != nil {
		ok, err := r.step(s.Kids[last], live, taken)
		return whole && ok, err
	}
	if len(s.Branch) > 0 && len(s.Stages) > 0 {
		var err error
		if bound, err = r.stage(s.Stages[len(s.Stages)-1], live, taken); err != nil {
			return false, err
		}
	}
	return whole && bound <= r.value, nil
}

// stage is the bound of a stage's prices. It leaves out live bids that are in no packing
// worth more than the winners.
func (r *replay) stage(s Stage, live set, taken int64) (int64, error) {
	const room = 62 // digits of any sum
	if uint(r.digits)+s.Shift >= room {
		return 0, fmt.Errorf("found the shift %d, expected at most %d", s.Shift, room-1-r.digits)
	}
	if len(s.Prices)%2 > 0 {
		return 0, fmt.Errorf("found %d numbers in a stage, expected pairs of a clique and its price", len(s.Prices))
	}
	live.each(func(i int32) { r.rest[i] = r.bids[i].Price << s.Shift })
	total, paid := taken<<s.Shift, int64(0)
	for at := 0; at < len(s.Prices); at += 2 {
		amount := s.Prices[at+1]
		row, err := r.row(s.Prices[at])
		if err != nil {
			return 0, err
		}
		if amount < 0 || amount > (1<<room-paid)/row.most {
			return 0, fmt.Errorf("found the price %d of a clique, expected at least 0, and less than 2^%d together", amount, room)
		}
		paid += amount * row.most
		pays := false
		for _, i := range row.bids {
			if live.has(i) {
				r.rest[i] -= amount
				pays = true
			}
		}
		if pays {
			total += amount * row.most
		}
	}
	live.each(func(i int32) { total += max(0, r.rest[i]) })
	live.each(func(i int32) {
		if rest := r.rest[i]; rest < 0 && (total+rest)>>s.Shift <= r.value {
			live.drop(i)
		}
	})
	return total >> s.Shift, nil
}
