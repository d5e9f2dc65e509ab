package bidders

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
)

// passed is the table of passes, each as a device makes it: in place where it says so, sets
// in any order.
func passed(t *testing.T, r *rand.Rand, items int, list []pass) table {
	t.Helper()
	made := make(table, 1<<items)
	for _, p := range list {
		old := made
		if p.alone {
			for k, b := range p.bids {
				if slices.ContainsFunc(p.bids[:k], func(c Bid) bool { return b.Items&c.Items == 0 }) {
					t.Fatalf("a pass in place has bids without a common item: %v", p.bids)
				}
			}
		} else {
			old = slices.Clone(made)
		}
		for _, s := range r.Perm(len(made)) {
			for _, b := range p.bids {
				if b.Items&^uint32(s) == 0 && p.commonItems()&^uint32(s) == 0 {
					made[s] = max(made[s], old[uint32(s)&^b.Items]+b.Price)
				}
			}
		}
	}
	return made
}

// Several bidders in a pass make the table that they make one by one; bids alone that
// exclude one another come together, in place.
func TestPasses(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	together, inPlace := 0, 0
	for range 300 {
		p, _ := drawn(r, 1+r.IntN(8), r.IntN(12), 1+r.IntN(4)).orderItems()
		want, err := makeTable(context.Background(), p.Items, make(table, 1<<p.Items), p.Bidders)
		if err != nil {
			t.Fatal(err)
		}
		list := makePasses(p.Bidders)
		if got := passed(t, r, p.Items, list); !slices.Equal(got, want.extendTo(p.Items)) {
			t.Fatalf("%+v in passes %+v: found %v, expected %v", p, list, got, want)
		}
		if len(list) < len(p.Bidders) {
			together++
		}
		if slices.ContainsFunc(list, func(p pass) bool { return p.alone && len(p.bids) > 1 }) {
			inPlace++
		}
	}
	if together < 100 || inPlace < 10 {
		t.Errorf("%d problems of bidders together, %d of several bids in place: too easy", together, inPlace)
	}
}

// Bids alone for three of thirty items come in few passes, which move a tenth of the bytes of
// single passes; a bidder of more bids than a pass lists has its own.
func TestPassesOfManyItems(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	moved := func(p *Problem) (sum float64, list []pass) {
		p, _ = p.orderItems()
		list = makePasses(p.Bidders)
		for _, x := range list {
			sum += x.share() * float64(uint64(1)<<x.itemCount())
		}
		return sum / (1 << 30), list
	}
	if sum, list := moved(bySize(r, 30, 1000, 1, 3)); sum > 30 || len(list) > 40 {
		t.Errorf("bids alone: %g tables in %d passes", sum, len(list))
	}
	if sum, list := moved(bySize(r, 30, 200, 5, 3)); sum > 250 || len(list) > 120 {
		t.Errorf("five bids a bidder: %g tables in %d passes", sum, len(list))
	}
	if _, list := moved(bySize(r, 12, 2, maxBids+1, 3)); len(list) != 2 {
		t.Errorf("two bidders of many bids come in %d passes", len(list))
	}
}

// Peeled, the items that the most bidders ask for are the low ones, and bidders come by
// their highest.
func TestPeel(t *testing.T) {
	p := &Problem{Items: 3, Bidders: [][]Bid{{{0b001, 1, 0}, {0b010, 1, 1}}, {{0b001, 1, 2}}, {{0b100, 1, 3}}, {{0b001, 1, 4}}}}
	q, order := p.orderItems()
	if !slices.Equal(order, []int{1, 3, 0, 2}) && !slices.Equal(order, []int{1, 3, 2, 0}) {
		t.Errorf("bidders come in the order %v", order)
	}
	if q.Bidders[0][0].Items != 0b001 || q.Bidders[1][0].Items != 0b001 || itemsOf(q.Bidders[3])>>2 != 1 {
		t.Errorf("peeled: %v", q.Bidders)
	}
}
