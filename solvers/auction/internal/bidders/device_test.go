package bidders

import (
	"context"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"coalesce/generated/auction"
	"coalesce/runtime/emulated/emulatedtest"
)

// worthOf is the worth of bids by their IDs, -1 where a bidder wins two or items are sold twice.
func worthOf(p *Problem, ids []int) int64 {
	sum, taken := int64(0), uint32(0)
	for _, asked := range p.Bidders {
		won := false
		for _, b := range asked {
			if slices.Contains(ids, b.ID) {
				if won || taken&b.Items != 0 {
					return -1
				}
				won = true
				taken |= b.Items
				sum += b.Price
			}
		}
	}
	return sum
}

// agree holds a variant against the host's tables, with every bidder left out.
func agree(t *testing.T, on DeviceTables, p *Problem) {
	t.Helper()
	ctx := context.Background()
	_, want, err := p.Solve(ctx)
	if err != nil {
		t.Fatal(err)
	}
	ids, value, err := on.Solve(ctx, p)
	if err != nil || value != want || worthOf(p, ids) != want {
		t.Errorf("%d items, %d bidders: found %d with %v, %v, expected %d", p.Items, len(p.Bidders), value, ids, err, want)
	}
	var groups [][]int
	for k := range p.Bidders {
		groups = append(groups, []int{k})
	}
	left, err := p.ValuesWithout(ctx, groups)
	if err != nil {
		t.Fatal(err)
	}
	worth, err := on.ValuesWithout(ctx, p, groups)
	if err != nil || !slices.Equal(worth, left) {
		t.Errorf("%d items, %d bidders: found %v without each, %v, expected %v", p.Items, len(p.Bidders), worth, err, left)
	}
}

// bySize are bidders who ask for so many items in each bid.
func bySize(r *rand.Rand, items, bidders, bids, size int) *Problem {
	p := &Problem{Items: items}
	for k := range bidders {
		var asked []Bid
		for n := range bids {
			b := Bid{Price: 1 + r.Int64N(1000), ID: k*bids + n}
			for bits.OnesCount32(b.Items) < size {
				b.Items |= 1 << r.IntN(items)
			}
			asked = append(asked, b)
		}
		p.Bidders = append(p.Bidders, asked)
	}
	return p
}

func TestEmulatedVariants(t *testing.T) {
	d := emulatedtest.Open(t)
	r := rand.New(rand.NewPCG(5, 6))
	for _, v := range emulatedtest.Variants(&auction.Bidders) {
		t.Run(v.Label, func(t *testing.T) {
			on := DeviceTables{Device: d, Variant: v}
			tile := tileItems(v)
			agree(t, on, &Problem{})
			agree(t, on, &Problem{Items: 1, Bidders: [][]Bid{{{1, 5, 0}}, {{1, 7, 1}}}})
			agree(t, on, drawn(r, 5, 6, 3))
			agree(t, on, bySize(r, tile+1, 40, 1, 3))
			agree(t, on, bySize(r, tile+2, 6, 4, 3))
			agree(t, on, bySize(r, tile+1, 2, 150, 2))
		})
	}
}

// Passes in place go through the tiles that have the items of all bids, wherever these are
// among those above a tile; others go through all tiles.
func TestPassesOnDevice(t *testing.T) {
	d := emulatedtest.Open(t)
	on := DeviceTables{Device: d, Variant: auction.Bidders.Variant("block=128,items=8,bids=256,value=int32")}
	r := rand.New(rand.NewPCG(11, 12))
	for _, above := range [][]int{{0}, {4}, {0, 1}, {1, 3}, {0, 2, 4}, {1, 2, 3}, {}} {
		p := &Problem{Items: tileItems(on.Variant) + 5}
		common := uint32(0)
		for _, k := range above {
			common |= 1 << (p.Items - 5 + k)
		}
		free := []Bid{{Items: 3, Price: 5}, {Items: 1 << (p.Items - 2), Price: 7}} // as bidders alone, before
		var bids []Bid
		for range 12 {
			bids = append(bids, Bid{Items: common | r.Uint32()&(1<<p.Items-1)&r.Uint32()&r.Uint32() | 4, Price: 1 + r.Int64N(9)})
		}
		p.Bidders = [][]Bid{free[:1], free[1:], bids}
		want, err := makeTable(context.Background(), p.Items, make(table, 1<<p.Items), p.Bidders)
		if err != nil {
			t.Fatal(err)
		}
		maker, err := on.openTables(p)
		if err != nil {
			t.Fatal(err)
		}
		got, err := maker.fillTable(context.Background(), []pass{{free[:1], true}, {free[1:], true}, {bids, true}})
		if err != nil {
			t.Fatal(err)
		}
		if err := maker.growTable(got, p.Items); err != nil {
			t.Fatal(err)
		}
		values, err := maker.downloadValues(got.room, 1<<p.Items)
		if err != nil || !slices.Equal(values, want.extendTo(p.Items)) {
			t.Errorf("items %v above a tile in all bids: %v, or other values", above, err)
		}
		if err := maker.scope.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Prices with a common divisor and worths at the ends of what a variant holds.
func TestWidths(t *testing.T) {
	d := emulatedtest.Open(t)
	narrow, wide := auction.Bidders.Variant("block=256,items=16,bids=256,value=int32"), auction.Bidders.Variant("block=256,items=16,bids=256,value=int64")
	two := func(a, b int64) *Problem {
		return &Problem{Items: 2, Bidders: [][]Bid{{{1, a, 0}, {2, 1, 1}}, {{2, b, 2}, {3, 1, 3}}}}
	}
	agree(t, DeviceTables{Device: d, Variant: narrow}, two(math.MaxInt32-1, 1))
	agree(t, DeviceTables{Device: d, Variant: wide}, two(math.MaxInt32, 1))
	agree(t, DeviceTables{Device: d, Variant: wide}, two(1<<61, 1<<61))
	agree(t, DeviceTables{Device: d, Variant: narrow}, &Problem{Items: 2, Bidders: [][]Bid{{{1, 3 << 40, 0}}, {{3, 5 << 40, 1}}, {{2, 1 << 40, 2}}}})
	if _, _, err := (DeviceTables{Device: d, Variant: narrow}).Solve(context.Background(), two(math.MaxInt32, 1)); err == nil {
		t.Error("32 bits take more than they hold")
	}
	many := &Problem{Items: MaxItemsOnDevice + 1}
	if _, _, err := (DeviceTables{Device: d, Variant: narrow}).Solve(context.Background(), many); err == nil {
		t.Error("too many items are solved")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := (DeviceTables{Device: d, Variant: narrow}).Solve(ctx, two(1, 1)); err == nil {
		t.Error("what was ended goes on")
	}
}
