// Package bidders finds the best bids of an auction bidder by bidder. The value of a set
// of items, once a bidder has come, is what it was or, with one of the bidder's bids, that
// of the items left and the bid's price:
//
//	new(S) = max(old(S), old(S\b) + price(b) for all bids b of the bidder within S)
//
// It is exact by induction over the bidders: each takes at most one bid, and the items left
// serve those before it. The time is that of the sets which hold a bid, 2^(items-|b|) a
// bid b, and a copy of the table for each bidder of several bids.
package bidders

import (
	"context"
	"fmt"
	"math/bits"

	"coalesce/solvers/cores"
)

// MaxItems is the most items that tables are made of, of 8 bytes for each set of items.
const MaxItems = 25

// A Bid asks for items, a bit each, at a price above 0.
type Bid struct {
	Items uint32
	Price int64
	ID    int
}

// A Problem is bidders, each of whom wins one of its bids at most.
type Problem struct {
	Items   int
	Bidders [][]Bid
}

// A table is the values of all sets of items.
type table []int64

// Solve finds the IDs of the bids that are worth the most together, and their worth. Its
// error is that of ctx, or that there are too many items.
func (p *Problem) Solve(ctx context.Context) ([]int, int64, error) {
	if p.Items > MaxItems {
		return nil, 0, fmt.Errorf("found %d items, expected at most %d", p.Items, MaxItems)
	}
	return p.halve(ctx)
}

// halve finds the items that the second half of the bidders gets in a best allocation from
// the two halves' tables, and then solves each half for its items.
func (p *Problem) halve(ctx context.Context) ([]int, int64, error) {
	switch len(p.Bidders) {
	case 0:
		return nil, 0, nil
	case 1:
		best := Bid{ID: -1}
		for _, b := range p.Bidders[0] {
			if b.Price > best.Price {
				best = b
			}
		}
		if best.ID < 0 {
			return nil, 0, nil
		}
		return []int{best.ID}, best.Price, nil
	}
	half := len(p.Bidders) / 2
	scratch := make(table, 1<<p.Items)
	first, second := make(table, 1<<p.Items), make(table, 1<<p.Items)
	for k, bids := range p.Bidders {
		if ctx.Err() != nil {
			return nil, 0, ctx.Err()
		}
		if k < half {
			first.add(scratch, bids)
		} else {
			second.add(scratch, bids)
		}
	}
	all := len(first) - 1
	best := 0
	for s := range first {
		if first[s]+second[all^s] > first[best]+second[all^best] {
			best = s
		}
	}
	value := first[best] + second[all^best]
	first, second, scratch = nil, nil, nil
	var won []int
	for k, items := range []uint32{uint32(best), uint32(all ^ best)} {
		part := p.within(items, p.Bidders[k*half:half+k*(len(p.Bidders)-half)])
		ids, _, err := part.halve(ctx)
		if err != nil {
			return nil, 0, err
		}
		won = append(won, ids...)
	}
	return won, value, nil
}

// within is the problem of some bidders and items, renumbered from 0, without bidders that
// have no bid left.
func (p *Problem) within(items uint32, bidders [][]Bid) *Problem {
	sub := &Problem{Items: bits.OnesCount32(items)}
	for _, bids := range bidders {
		var left []Bid
		for _, b := range bids {
			if b.Items&^items == 0 {
				b.Items = squeeze(b.Items, items)
				left = append(left, b)
			}
		}
		if left != nil {
			sub.Bidders = append(sub.Bidders, left)
		}
	}
	return sub
}

// squeeze moves the bits of a set that lie in a mask together.
func squeeze(set, mask uint32) uint32 {
	out := uint32(0)
	for k := 0; mask != 0; k++ {
		if low := mask & -mask; set&low != 0 {
			out |= 1 << k
		}
		mask &= mask - 1
	}
	return out
}

// add lets a bidder come. A bid alone changes only sets that hold it, by others that do
// not; of several each sees the values before.
func (t table) add(scratch table, bids []Bid) {
	old := t
	if len(bids) > 1 {
		old = scratch
		copy(old, t)
	}
	for _, b := range bids {
		if b.Items == 0 && len(bids) == 1 {
			for s := range t {
				t[s] += b.Price
			}
			continue
		}
		t.offer(old, b)
	}
}

// pieceBits are the items of a set that a piece of work leaves as they are.
const pieceBits = 6

// offer lets one bid come, on all cores.
func (t table) offer(old table, b Bid) {
	low := uint32(len(t) >> pieceBits)
	if low < 1<<10 {
		t.piece(old, b, 0, uint32(len(t)))
		return
	}
	cores.Pieces(1<<pieceBits, func(k int) {
		if from := uint32(k) * low; b.Items&^(low-1)&^from == 0 {
			t.piece(old, b, from, low)
		}
	})
}

// piece is offer for the sets from one on, so many, that differ in their lower items.
func (t table) piece(old table, b Bid, from, count uint32) {
	need := b.Items & (count - 1)
	for s := need; s < count; s = (s + 1) | need {
		set := from | s
		if x := old[set&^b.Items] + b.Price; x > t[set] {
			t[set] = x
		}
	}
}

// Without is the worth of the best bids of all items without each of some bidders' groups,
// lists of places in Bidders. Its errors are those of Solve.
func (p *Problem) Without(ctx context.Context, groups [][]int) ([]int64, error) {
	if p.Items > MaxItems {
		return nil, fmt.Errorf("found %d items, expected at most %d", p.Items, MaxItems)
	}
	out := make([]bool, len(p.Bidders))
	for _, list := range groups {
		for _, k := range list {
			out[k] = true
		}
	}
	base := make(table, 1<<p.Items)
	w := &leaver{Problem: p, ctx: ctx, groups: groups, worth: make([]int64, len(groups)), scratch: make(table, 1<<p.Items)}
	for k, bids := range p.Bidders {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if !out[k] {
			base.add(w.scratch, bids)
		}
	}
	w.leave(base, 0, len(groups), max(1, most>>p.Items-2))
	return w.worth, ctx.Err()
}

// most is how many values the tables of Without have together, where so few suffice.
const most = 1 << 27

// A leaver leaves groups of bidders out one after the other.
type leaver struct {
	*Problem
	ctx     context.Context
	groups  [][]int
	worth   []int64
	scratch table
}

// come lets groups come.
func (w *leaver) come(t table, from, to int) {
	for _, list := range w.groups[from:to] {
		for _, k := range list {
			if w.ctx.Err() == nil {
				t.add(w.scratch, w.Bidders[k])
			}
		}
	}
}

// leave computes the worths without each of some groups from the table of all bidders but
// these, with so many tables more. The table is changed.
func (w *leaver) leave(t table, from, to, tables int) {
	switch half := (from + to) / 2; {
	case from == to:
	case from+1 == to:
		w.worth[from] = t[len(t)-1]
	case tables > 1:
		left := append(table(nil), t...)
		w.come(left, half, to)
		w.leave(left, from, half, tables-1)
		w.come(t, from, half)
		w.leave(t, half, to, tables)
	default:
		with := make(table, len(t))
		for n := from; n < to; n++ {
			copy(with, t)
			w.come(with, from, n)
			w.come(with, n+1, to)
			w.worth[n] = with[len(with)-1]
		}
	}
}
