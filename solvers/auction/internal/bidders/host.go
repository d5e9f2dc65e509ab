package bidders

import (
	"context"
	"math/bits"

	"coalesce/solvers/cores"
)

// MaxItems is the most items of a host's tables, which take 8 bytes for each set of items.
const MaxItems = 25

// A table is the values of all sets of some lowest items.
type table []int64

// Solve returns the IDs of the bids that pay the most together and the sum of their prices, computed
// on a host. Errors are that of ctx, and too many items.
func (p *Problem) Solve(ctx context.Context) ([]int, int64, error) {
	if err := tooMany(p.Items, MaxItems); err != nil {
		return nil, 0, err
	}
	return p.solveByHalves(ctx, host{}, host{})
}

// A host makes tables on all cores.
type host struct{}

func (host) split(ctx context.Context, p *Problem, half int) (uint32, int64, error) {
	scratch := make(table, 1<<p.Items)
	first, err := makeTable(ctx, p.Items, scratch, p.Bidders[:half])
	if err != nil {
		return 0, 0, err
	}
	second, err := makeTable(ctx, p.Items, scratch, p.Bidders[half:])
	if err != nil {
		return 0, 0, err
	}
	best, value := 0, int64(-1)
	for s := range 1 << p.Items {
		if x := first[s&(len(first)-1)] + second[^s&(len(second)-1)]; x > value {
			best, value = s, x
		}
	}
	return uint32(best), value, nil
}

// makeTable is the table of bidders of a peeled problem, with room for so many items.
func makeTable(ctx context.Context, items int, scratch table, bidders [][]Bid) (table, error) {
	t := make(table, 1, 1<<items)
	for _, bids := range bidders {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		t = t.addBidder(scratch, bids)
	}
	return t, nil
}

// copyLeast is how many values are worth a goroutine that copies them.
const copyLeast = 1 << 16

// addBidder adds a bidder to the table. A single bid changes values of sets that contain it, from values
// of sets that do not, so the table changes in place; several bids read a copy of the old values.
func (t table) addBidder(scratch table, asked []Bid) table {
	t = t.extendTo(bits.Len32(itemsOf(asked)))
	old := t
	if len(asked) > 1 {
		old = scratch[:len(t)]
		cores.Split(len(t), copyLeast, func(from, to int) { copy(old[from:to], t[from:to]) })
	}
	for _, b := range asked {
		if b.Items == 0 && len(asked) == 1 {
			for s := range t {
				t[s] += b.Price
			}
			continue
		}
		t.addBid(old, b)
	}
	return t
}

// extendTo extends a table to at least so many items. No bidder so far asks for the added ones: they add
// nothing to the value of a set.
func (t table) extendTo(items int) table {
	for len(t) < 1<<items {
		t = append(t, t...)
	}
	return t
}

// pieceBits is the number of the highest items that the sets of one piece of work share: a table has
// 2^pieceBits pieces.
const pieceBits = 6

// addBid adds one bid to the table, on all cores.
func (t table) addBid(old table, b Bid) {
	low := uint32(len(t) >> pieceBits)
	if low < 1<<10 {
		t.addBidToSets(old, b, 0, uint32(len(t)))
		return
	}
	cores.Pieces(1<<pieceBits, func(k int) {
		if from := uint32(k) * low; b.Items&^(low-1)&^from == 0 {
			t.addBidToSets(old, b, from, low)
		}
	})
}

// addBidToSets is addBid for the count sets from `from` on; count is a power of two.
func (t table) addBidToSets(old table, b Bid, from, count uint32) {
	need := b.Items & (count - 1)
	for s := need; s < count; s = (s + 1) | need {
		set := from | s
		if x := old[set&^b.Items] + b.Price; x > t[set] {
			t[set] = x
		}
	}
}

// ValuesWithout returns, for each of some groups of bidders (lists of places in Bidders), the value of the
// best bids of all other bidders. Errors are those of Solve.
func (p *Problem) ValuesWithout(ctx context.Context, groups [][]int) ([]int64, error) {
	if err := tooMany(p.Items, MaxItems); err != nil {
		return nil, err
	}
	base, left := p.splitOffGroups(groups)
	w := &groupRemover{ctx: ctx, groups: left, worth: make([]int64, len(groups)), scratch: make(table, 1<<p.Items)}
	t, err := makeTable(ctx, p.Items, w.scratch, base)
	if err != nil {
		return nil, err
	}
	w.computeWithout(t.extendTo(p.Items), 0, len(groups), max(1, maxTableValues>>p.Items-2))
	return w.worth, ctx.Err()
}

// maxTableValues is the most values that the tables of ValuesWithout have together, unless the least number of
// tables needs more.
const maxTableValues = 1 << 27

// A groupRemover leaves groups of bidders out one after the other.
type groupRemover struct {
	ctx     context.Context
	groups  [][][]Bid
	worth   []int64
	scratch table
}

// addGroups adds the bidders of groups to the table.
func (w *groupRemover) addGroups(t table, from, to int) {
	for _, group := range w.groups[from:to] {
		for _, bids := range group {
			if w.ctx.Err() == nil {
				t.addBidder(w.scratch, bids)
			}
		}
	}
}

// computeWithout computes the value without each of some groups, from the table of the bidders in no group,
// with so many additional tables. It changes the table.
func (w *groupRemover) computeWithout(t table, from, to, tables int) {
	switch half := (from + to) / 2; {
	case from == to:
	case from+1 == to:
		w.worth[from] = t[len(t)-1]
	case tables > 1:
		left := append(table(nil), t...)
		w.addGroups(left, half, to)
		w.computeWithout(left, from, half, tables-1)
		w.addGroups(t, from, half)
		w.computeWithout(t, half, to, tables)
	default:
		with := make(table, len(t))
		for n := from; n < to; n++ {
			copy(with, t)
			w.addGroups(with, from, n)
			w.addGroups(with, n+1, to)
			w.worth[n] = with[len(with)-1]
		}
	}
}
