package search

import (
	"context"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"coalesce/solvers/model/problem"
)

// A tree is a depth first search of all bits. Rows fix bits whose other value no solution has, and what free bits can lower the
// objective by at most bounds it.
type tree struct {
	*Layout
	ctx      context.Context
	rows     []problem.Row // all
	memberOf [][]link
	order    []int32
	value    []int8  // of bits; -1: free
	low      []int64 // of rows, the least and the most that the sum can be
	high     []int64 //
	trail    []int32 // bits in the order of their fixing
	limit    *atomic.Int64
	accept   func(x []uint8) bool
	found    func(value int64, x []uint8)
	stopped  bool

	scale, offset int64   // of the objective with the multipliers' parts of the rows
	linear        []int64 //
	slope         []int64 // scratch of bound: what a bit adds to it
	counted       []bool  // scratch: in a group
	began         time.Time
	time          time.Duration // 0: no limit
	work          int           // since the clock was looked at
	share         float64       // of the tree that is done
}

// Prove visits all bits that can be better than limit, which found lowers, and reports whether it saw them all before the context
// ended, or before it was clear that the time does not suffice. The multipliers are those of its bounds. Where rows were rounded, accept
// decides about the bits of the last step.
func (l *Layout) Prove(ctx context.Context, m Multipliers, limit *atomic.Int64, accept func(x []uint8) bool, found func(value int64, x []uint8)) bool {
	t := newTree(ctx, l, m, limit, accept, found)
	t.began = time.Now()
	if end, ok := ctx.Deadline(); ok {
		t.time = time.Until(end)
	}
	ok := true
	for r := range t.rows {
		ok = ok && t.propagate(int32(r))
	}
	if ok {
		t.visit(0, 1)
	}
	return !t.stopped
}

// newTree is a tree at its root, nil where the multipliers do not fit the form.
func newTree(ctx context.Context, l *Layout, m Multipliers, limit *atomic.Int64, accept func(x []uint8) bool, found func(value int64, x []uint8)) *tree {
	f := l.form
	t := &tree{Layout: l, ctx: ctx, rows: f.Rows, memberOf: make([][]link, f.N), value: slices.Repeat([]int8{-1}, f.N), limit: limit, accept: accept, found: found,
		low: make([]int64, len(f.Rows)), high: make([]int64, len(f.Rows))}
	for r := range t.rows {
		t.memberOf = addRow(t.memberOf, &t.rows[r], r)
		for _, a := range t.rows[r].Coefficients {
			t.low[r] += min(0, a)
			t.high[r] += max(0, a)
		}
	}
	if !t.price(m) {
		return nil
	}
	t.order = make([]int32, f.N)
	for i := range t.order {
		t.order[i] = int32(i)
	}
	degree := func(i int32) int { return len(t.memberOf[i])*4 + len(l.pairs[i]) + 2*l.degree(i) }
	slices.SortStableFunc(t.order, func(a, b int32) int { return degree(b) - degree(a) })
	return t
}

// fix gives a bit a value and follows the rows; false: no solution is left.
func (t *tree) fix(b int32, v int8) bool {
	if t.value[b] >= 0 {
		return t.value[b] == v
	}
	t.value[b] = v
	t.trail = append(t.trail, b)
	for _, m := range t.memberOf[b] {
		if (m.coefficient > 0) == (v == 1) {
			t.low[m.at] += max(m.coefficient, -m.coefficient)
		} else {
			t.high[m.at] -= max(m.coefficient, -m.coefficient)
		}
	}
	for _, m := range t.memberOf[b] {
		if !t.propagate(m.at) {
			return false
		}
	}
	return true
}

// undo frees the bits behind a mark.
func (t *tree) undo(mark int) {
	for len(t.trail) > mark {
		b := t.trail[len(t.trail)-1]
		t.trail = t.trail[:len(t.trail)-1]
		for _, m := range t.memberOf[b] {
			if (m.coefficient > 0) == (t.value[b] == 1) {
				t.low[m.at] -= max(m.coefficient, -m.coefficient)
			} else {
				t.high[m.at] += max(m.coefficient, -m.coefficient)
			}
		}
		t.value[b] = -1
	}
}

// propagate fixes the bits of a row whose other value breaks it; false: nothing satisfies it.
func (t *tree) propagate(r int32) bool {
	row := &t.rows[r]
	low, high := sides(row)
	if t.low[r] > high || t.high[r] < low {
		return false
	}
	if t.high[r] <= high && t.low[r] >= low {
		return true
	}
	for j, b := range row.Bits {
		if t.value[b] >= 0 {
			continue
		}
		a := row.Coefficients[j]
		size, v := max(a, -a), int8(0)
		if a < 0 {
			v = 1
		}
		switch { // v gives the smaller sum
		case t.low[r]+size > high:
		case t.high[r]-size < low:
			v = 1 - v
		default:
			continue
		}
		if !t.fix(b, v) {
			return false
		}
	}
	return true
}

// bound is a value that no completion is below, times the scale. It leaves the slopes of bits in t.slope, and least is the smallest
// slope of the rows that moves keep and of which one bit is 1 at most.
func (t *tree) bound() (sum int64, least []int64) {
	f := t.form
	sum, least = t.offset, make([]int64, len(t.keeps))
	if t.slope == nil {
		t.slope, t.counted = make([]int64, f.N), make([]bool, f.N)
	}
	slope := t.slope
	for i, c := range t.linear {
		slope[i] = 0
		switch t.value[i] {
		case 1:
			sum += c
		case -1:
			slope[i] = c
		}
	}
	for _, p := range f.Pairs {
		p.Coefficient *= t.scale
		a, b := t.value[p.I], t.value[p.J]
		switch {
		case a == 0 || b == 0:
		case a == 1 && b == 1:
			sum += p.Coefficient
		case a == 1:
			slope[p.J] += p.Coefficient
		case b == 1:
			slope[p.I] += p.Coefficient
		case p.Coefficient < 0: // half to each
			slope[p.I] += p.Coefficient / 2
			slope[p.J] += p.Coefficient - p.Coefficient/2
		}
	}
	for k := range f.Products {
		sum += t.least(&f.Products[k]) * t.scale
	}
	for g := range t.keeps { // of a row of which one bit is 1 at most the smallest slope counts alone
		row := &t.keeps[g]
		if row.High != 1 {
			continue
		}
		free, taken := false, false
		for _, b := range row.Bits {
			t.counted[b] = true
			taken = taken || t.value[b] == 1
			if t.value[b] == -1 && (!free || slope[b] < least[g]) {
				least[g], free = slope[b], true
			}
		}
		if row.Low < 1 {
			least[g] = min(least[g], 0)
		}
		if !taken {
			sum += least[g]
		}
	}
	for i, c := range slope {
		if !t.counted[i] {
			sum += min(0, c)
		}
	}
	return sum, least
}

// fixByBound fixes free bits whose other value raises the bound to the limit; false: no better solution is left.
func (t *tree) fixByBound() bool {
	limit := t.limit.Load()
	if limit > math.MaxInt64/2/t.scale {
		return true
	}
	for {
		bound, least := t.bound()
		if ceiling(bound, t.scale) >= limit {
			return false
		}
		room, mark := (limit-1)*t.scale-bound, len(t.trail)
		for i, v := range t.value {
			if v >= 0 || t.value[i] >= 0 { // fixed by a row meanwhile
				continue
			}
			b, c := int32(i), t.slope[i]
			if t.counted[i] {
				if c-least[t.group[i]] > room && !t.fix(b, 0) {
					return false
				}
			} else if c > room && !t.fix(b, 0) || -c > room && !t.fix(b, 1) {
				return false
			}
		}
		if len(t.trail) == mark {
			return true
		}
	}
}

// look stops the tree where the context has ended, or where it is far from its end after a tenth of the time.
func (t *tree) look() {
	if t.work += len(t.value) + len(t.form.Pairs) + len(t.form.Products) + 1000; t.work < 1<<20 {
		return
	}
	t.work = 0
	passed := time.Since(t.began)
	t.stopped = t.ctx.Err() != nil || t.time > 0 && passed > t.time/10 && t.share*10 < passed.Seconds()/t.time.Seconds()
}

// least is the smallest value that a product can have.
func (t *tree) least(p *problem.Product) int64 {
	sign, free := int64(1), false
	for _, b := range p.Bits {
		switch t.value[b] {
		case -1:
			free = true
		case 0:
			if !p.Spins {
				return 0
			}
			sign = -sign
		}
	}
	switch {
	case !free:
		return p.Coefficient * sign
	case p.Spins:
		return min(p.Coefficient, -p.Coefficient)
	}
	return min(0, p.Coefficient)
}

// visit visits the bits from a depth of the order on, a share of the whole tree.
func (t *tree) visit(depth int, share float64) {
	if t.look(); t.stopped {
		return
	}
	if !t.fixByBound() {
		t.share += share
		return
	}
	for depth < len(t.order) && t.value[t.order[depth]] >= 0 {
		depth++
	}
	if depth == len(t.order) {
		x := make([]uint8, len(t.value))
		for i, v := range t.value {
			x[i] = uint8(v)
		}
		t.share += share
		if v := t.form.Value(x); v < t.limit.Load() && t.accept(x) {
			t.found(v, x)
		}
		return
	}
	b := t.order[depth]
	first := int8(0)
	if t.linear[b] < 0 {
		first = 1
	}
	for _, v := range []int8{first, 1 - first} {
		mark := len(t.trail)
		if t.fix(b, v) {
			t.visit(depth+1, share/2)
		} else {
			t.share += share / 2
		}
		t.undo(mark)
	}
}
