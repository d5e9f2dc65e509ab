package bidders

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

// every is the worth of the best bids by trying all choices, of items that are free.
func every(bidders [][]Bid, free uint32) int64 {
	if len(bidders) == 0 {
		return 0
	}
	best := every(bidders[1:], free)
	for _, b := range bidders[0] {
		if b.Items&^free == 0 {
			best = max(best, b.Price+every(bidders[1:], free&^b.Items))
		}
	}
	return best
}

func drawn(r *rand.Rand, items, bidders, bids int) *Problem {
	p := &Problem{Items: items}
	id := 0
	for range bidders {
		var list []Bid
		for range r.IntN(bids + 1) {
			b := Bid{Price: 1 + r.Int64N(9), ID: id}
			for k := range items {
				if r.IntN(3) == 0 {
					b.Items |= 1 << k
				}
			}
			list = append(list, b)
			id++
		}
		p.Bidders = append(p.Bidders, list)
	}
	return p
}

func TestAgainstEveryChoice(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		p := drawn(r, r.IntN(7), r.IntN(7), 3)
		all := uint32(1)<<p.Items - 1
		ids, value, err := p.Solve(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if want := every(p.Bidders, all); value != want {
			t.Fatalf("%+v: %d, expected %d", p, value, want)
		}
		sum, taken := int64(0), uint32(0)
		for _, bids := range p.Bidders {
			won := 0
			for _, b := range bids {
				if slices.Contains(ids, b.ID) {
					won++
					if taken&b.Items != 0 {
						t.Fatalf("%+v: items are sold twice by %v", p, ids)
					}
					taken |= b.Items
					sum += b.Price
				}
			}
			if won > 1 {
				t.Fatalf("%+v: a bidder wins %d bids of %v", p, won, ids)
			}
		}
		if sum != value {
			t.Fatalf("%+v: %v are worth %d, expected %d", p, ids, sum, value)
		}
		// Groups of bidders are left out one after the other.
		var groups [][]int
		for k := 0; k < len(p.Bidders); {
			size := 1 + r.IntN(2)
			var list []int
			for range size {
				if k < len(p.Bidders) && r.IntN(3) > 0 {
					list = append(list, k)
				}
				k++
			}
			groups = append(groups, list)
		}
		worth, err := p.ValuesWithout(context.Background(), groups)
		if err != nil {
			t.Fatal(err)
		}
		if len(groups) > 0 { // with one table alone
			base, left := p.splitOffGroups(groups)
			w := &groupRemover{ctx: context.Background(), groups: left, worth: make([]int64, len(groups)), scratch: make(table, 1<<p.Items)}
			all, err := makeTable(w.ctx, p.Items, w.scratch, base)
			if err != nil {
				t.Fatal(err)
			}
			if w.computeWithout(all.extendTo(p.Items), 0, len(groups), 1); !slices.Equal(w.worth, worth) {
				t.Fatalf("%+v without %v: %v with one table, %v with several", p, groups, w.worth, worth)
			}
		}
		for n, list := range groups {
			var left [][]Bid
			for k, bids := range p.Bidders {
				if !slices.Contains(list, k) {
					left = append(left, bids)
				}
			}
			if want := every(left, all); worth[n] != want {
				t.Fatalf("%+v without %v: %d, expected %d", p, list, worth[n], want)
			}
		}
	}
}

// Tables large enough for all cores give what small ones do: the items are the same, twice.
func TestOnAllCores(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	p := drawn(r, 9, 8, 4)
	want := every(p.Bidders, 1<<9-1)
	twice := &Problem{Items: 18}
	for _, bids := range p.Bidders {
		var low, high []Bid
		for _, b := range bids {
			low = append(low, b)
			b.Items <<= 9
			high = append(high, b)
		}
		twice.Bidders = append(twice.Bidders, low, high)
	}
	if _, value, err := twice.Solve(context.Background()); err != nil || value != 2*want {
		t.Errorf("%d, %v, expected %d", value, err, 2*want)
	}
}

func TestRefusedAndEnded(t *testing.T) {
	p := &Problem{Items: MaxItems + 1}
	if _, _, err := p.Solve(context.Background()); err == nil {
		t.Error("too many items are solved")
	}
	if _, err := p.ValuesWithout(context.Background(), nil); err == nil {
		t.Error("too many items are solved")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	p = &Problem{Items: 1, Bidders: [][]Bid{{{1, 1, 0}}, {{1, 2, 1}}}}
	if _, _, err := p.Solve(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := p.ValuesWithout(ctx, [][]int{{0}}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
