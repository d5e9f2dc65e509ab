package integer

import (
	"cmp"
	"context"
	"math"
	"slices"

	"coalesce/solvers/lp"
)

// A worker works on one node after the other, with a linear program of its own.
type worker struct {
	*tree
	number int
	lp     *lp.Solver
	is     []int8 // of each variable: free, or its value
	least  []int64
	y      []int64 // prices of the rows, in 2^-bits of a unit
	rest   []int64 // of the variables' prices, when rows have paid
	queue  []int
	dirty  []bool
	saved  lp.State
	near   neighbourhood
	spent  [2]int // pivots in the tree, and near the best solution
}

const free = int8(-1)

func (t *tree) newWorker(number int) *worker {
	return &worker{tree: t, number: number, is: make([]int8, len(t.p.Prices)), rest: make([]int64, len(t.p.Prices))}
}

// begin makes the linear program of all rows.
func (w *worker) begin() {
	a := &lp.Matrix{Columns: make([][]int32, len(w.p.Prices)), Entries: make([][]float64, len(w.p.Prices)), Rows: len(w.rows), Most: make([]float64, len(w.rows)), Equal: make([]bool, len(w.rows))}
	for i := range w.rows {
		r := &w.rows[i]
		scale := scaleOf(r)
		a.Most[i], a.Equal[i] = float64(r.Most)/scale, r.Equal
		for k, j := range r.Columns {
			a.Columns[j], a.Entries[j] = append(a.Columns[j], int32(i)), append(a.Entries[j], float64(r.Entries[k])/scale)
		}
	}
	prices := make([]float64, len(w.p.Prices))
	for j, c := range w.p.Prices {
		prices[j] = float64(c) / w.unit
	}
	w.lp = lp.New(a, prices)
	w.clearRows()
}

// addCuts adds the last rows to the linear program.
func (w *worker) addCuts(rows []Row) {
	columns, entries, most := make([][]int32, len(rows)), make([][]float64, len(rows)), make([]float64, len(rows))
	for k := range rows {
		scale := scaleOf(&rows[k])
		columns[k], most[k] = rows[k].Columns, float64(rows[k].Most)/scale
		for _, a := range rows[k].Entries {
			entries[k] = append(entries[k], float64(a)/scale)
		}
	}
	w.lp.AddRowsWithEntries(columns, entries, most)
	w.clearRows()
}

// scaleOf is the number by which a row is divided: its largest entry.
func scaleOf(r *Row) float64 {
	scale := 1.0
	for _, a := range r.Entries {
		scale = max(scale, math.Abs(float64(a)))
	}
	return scale
}

// clearRows makes the worker's numbers of rows those of all rows.
func (w *worker) clearRows() {
	w.least, w.y, w.dirty = make([]int64, len(w.rows)), make([]int64, len(w.rows)), make([]bool, len(w.rows))
}

// work works until the search is over. From each node that it opens it goes on with the child to which the relaxation is
// nearer.
func (w *worker) work(ctx context.Context) {
	for n := w.next(w.number); n != nil; n = w.next(w.number) {
		if w.lp == nil {
			w.begin()
		}
		before := w.lp.Pivots
		for n != nil {
			n = w.visit(ctx, n)
		}
		if w.spent[0] += w.lp.Pivots - before; share*w.spent[1] < w.spent[0] && w.set.mostNodes == 0 && w.set.Best == 1 {
			w.searchNear(ctx)
		}
	}
}

// visit bounds a node and opens its children, of which it returns one to go on with.
func (w *worker) visit(ctx context.Context, n *node) *node {
	if ctx.Err() != nil {
		w.push(n)
		return nil
	}
	if n.bound <= w.threshold.Load() {
		if n.step != nil && n.by != nil {
			n.step.Prices, n.step.Shift = n.by.Prices, n.by.Shift
		}
		if n.step == nil || n.by != nil {
			return nil
		}
	}
	if w.nodes.Add(1)%256 == 0 {
		w.mu.Lock()
		w.report()
		w.mu.Unlock()
	}
	if !w.load(n) {
		return nil
	}
	if w.complete() {
		return nil
	}
	end := w.solve(ctx)
	if end == infeasible && w.proveInfeasible() {
		if n.step != nil {
			n.step.keepPrices(w.y, 0, true)
		}
		return nil
	}
	if end == infeasible { // not in integers
		clear(w.y)
	}
	bound, ok := w.priceBound()
	whole, by := n.bound, n.by
	if ok {
		if n.step != nil {
			n.step.keepPrices(w.y, w.bits, false)
		}
		if bound>>w.bits <= whole {
			whole, by = bound>>w.bits, n.step
		}
		if bound>>w.bits <= w.threshold.Load() {
			return nil
		}
	}
	if end == optimal && (w.nodes.Load()%4 == 0 || w.threshold.Load() == math.MinInt64 || w.integral()) {
		w.round()
	}
	if ok {
		if bound>>w.bits <= w.threshold.Load() {
			return nil
		}
		fixed, done := w.fix(n, bound)
		if done {
			return nil
		}
		if fixed && w.complete() {
			return nil
		}
	}
	if end == optimal {
		w.learnFrom(n)
	}
	b := w.branch(ctx, end)
	kids := [2]*node{{above: n, fixed: []int32{^b.variable}, bound: whole, by: by, from: b}, {above: n, fixed: []int32{b.variable}, bound: whole, by: by, from: b}}
	if n.step != nil {
		n.step.Branch = b.variable
		for k := range kids {
			kids[k].step = &RowStep{}
			n.step.Kids = append(n.step.Kids, kids[k].step)
		}
	}
	near := b.side
	if b.closed != nil { // by trial
		if step := kids[1-near].step; step != nil {
			*step = *b.closed
		}
	} else {
		w.push(kids[1-near])
	}
	w.mu.Lock()
	w.busy[w.number] = whole
	w.mu.Unlock()
	return kids[near]
}

// load fixes what a node fixes, and what follows by the rows. It returns false if they allow no solution.
func (w *worker) load(n *node) bool {
	for j := range w.is {
		w.is[j] = free
	}
	for i := range w.rows {
		if w.rows[i].cut {
			continue
		}
		w.least[i] = leastOf(&w.rows[i])
		w.dirty[i] = true
		w.queue = append(w.queue, i)
	}
	var path []*node
	for x := n; x != nil; x = x.above {
		path = append(path, x)
	}
	for _, x := range slices.Backward(path) {
		for _, j := range x.fixed {
			v := int8(1)
			if j < 0 {
				j, v = ^j, 0
			}
			if !w.assign(j, v) {
				w.drain()
				return false
			}
		}
	}
	return w.propagate()
}

// leastOf is the least that a row's free variables add up to.
func leastOf(r *Row) int64 {
	sum := int64(0)
	for _, a := range r.Entries {
		sum += min(0, a)
	}
	return sum
}

func (w *worker) drain() {
	for _, i := range w.queue {
		w.dirty[i] = false
	}
	w.queue = w.queue[:0]
}

// assign fixes a variable; false: it has the other value.
func (w *worker) assign(j int32, v int8) bool {
	if w.is[j] != free {
		return w.is[j] == v
	}
	w.is[j] = v
	for _, at := range w.of[j] {
		i := int(at >> 32)
		a := w.rows[i].Entries[uint32(at)]
		w.least[i] += a*int64(v) - min(0, a)
		if !w.dirty[i] {
			w.dirty[i] = true
			w.queue = append(w.queue, i)
		}
	}
	return true
}

// propagate fixes variables whose other value no row allows, until there are none.
func (w *worker) propagate() bool {
	defer w.drain()
	for len(w.queue) > 0 {
		i := w.queue[len(w.queue)-1]
		w.queue = w.queue[:len(w.queue)-1]
		w.dirty[i] = false
		r := &w.rows[i]
		if w.least[i] > r.Most {
			return false
		}
		most := int64(0) // what free variables may add to the least
		for k, j := range r.Columns {
			if w.is[j] != free {
				continue
			}
			a := r.Entries[k]
			most += max(a, -a)
			if room := r.Most - w.least[i]; a > room {
				w.assign(j, 0)
			} else if -a > room {
				w.assign(j, 1)
			}
		}
		if !r.Equal {
			continue
		}
		if most += w.least[i]; w.dirty[i] { // variables were fixed: the row comes again
			continue
		}
		if most < r.Most {
			return false
		}
		for k, j := range r.Columns {
			if w.is[j] != free {
				continue
			}
			a := r.Entries[k]
			if room := most - r.Most; a > room {
				w.assign(j, 1)
			} else if -a > room {
				w.assign(j, 0)
			}
		}
	}
	return true
}

// complete reports whether all variables are fixed, and offers the solution that they are then.
func (w *worker) complete() bool {
	if slices.Contains(w.is, free) {
		return false
	}
	w.offerIfFeasible(w.ones())
	return true
}

func (w *worker) ones() []int32 {
	var ones []int32
	for j, v := range w.is {
		if v == 1 {
			ones = append(ones, int32(j))
		}
	}
	return ones
}

func (w *worker) offerIfFeasible(ones []int32) {
	if w.p.Feasible(ones) {
		w.offer(ones)
	}
}

// The ends of a solve.
const (
	optimal = iota
	infeasible
	unsolved // rounding, the threshold, a limit of pivots or the context ended it: prices are of use
)

// solve solves the relaxation under the values at hand, and takes its prices of the rows.
func (w *worker) solve(ctx context.Context) int {
	for j, v := range w.is {
		switch v {
		case free:
			w.lp.Bound(j, 0, 1)
		default:
			w.lp.Bound(j, float64(v), float64(v))
		}
	}
	end := unsolved
	if w.lp.Solve(ctx, w.cutoff(), 0) {
		end = optimal
	} else if w.lp.Ray() != nil {
		end = infeasible
	}
	w.takePrices(w.lp.Price, w.unit*math.Ldexp(1, int(w.bits)))
	return end
}

// takePrices rounds prices of the rows.
func (w *worker) takePrices(price func(i int) float64, unit float64) {
	for i := range w.rows {
		v := math.Round(price(i) * unit / scaleOf(&w.rows[i]))
		if !w.rows[i].Equal {
			v = max(0, v)
		}
		if !(math.Abs(v) < 1<<61) {
			v = 0
		}
		w.y[i] = int64(v)
	}
}

// proveInfeasible takes the relaxation's proof that there is no solution as prices, and checks it in integers.
func (w *worker) proveInfeasible() bool {
	ray, largest := w.lp.Ray(), 0.0
	for i, v := range ray {
		largest = max(largest, math.Abs(v)/scaleOf(&w.rows[i]))
	}
	if largest == 0 {
		return false
	}
	w.takePrices(func(i int) float64 { return ray[i] }, math.Ldexp(1, 30)/largest)
	bound, ok := boundOf(w.rows, nil, w.is, w.y, 0, w.rest)
	return ok && bound < 0
}

// priceBound is a bound by the prices at hand, in 2^-bits of a unit. rest has what remains of the variables' prices.
func (w *worker) priceBound() (int64, bool) {
	return boundOf(w.rows, w.p.Prices, w.is, w.y, w.bits, w.rest)
}

// boundOf is a bound on solutions with the values at hand by prices of the rows, in 2^-shift of a unit: what the rows pay, and the part of
// each variable's price that they do not cover. Without prices of variables these are 0, and a bound below 0 says that there is no
// solution. False: numbers are too large.
func boundOf(rows []Row, prices []int64, is []int8, y []int64, shift uint, rest []int64) (int64, bool) {
	size := 0.0 // of all numbers that are added
	total := int64(0)
	for j := range rest {
		rest[j] = 0
		if prices != nil {
			rest[j] = prices[j] << shift
			size += math.Abs(float64(rest[j]))
		}
	}
	for i := range rows {
		if y[i] == 0 {
			continue
		}
		r := &rows[i]
		f := math.Abs(float64(y[i]))
		size += f * math.Abs(float64(r.Most))
		for _, a := range r.Entries {
			size += f * math.Abs(float64(a))
		}
		if size > 1<<62 {
			return 0, false
		}
		total += y[i] * r.Most
		for k, j := range r.Columns {
			rest[j] -= y[i] * r.Entries[k]
		}
	}
	for j, v := range rest {
		switch is[j] {
		case free:
			total += max(0, v)
		case 1:
			total += v
		}
	}
	return total, true
}

// fix fixes variables of which the other value is in no solution better than the threshold, by the last bound.
func (w *worker) fix(n *node, bound int64) (some, done bool) {
	threshold := w.threshold.Load()
	if threshold == math.MinInt64 {
		return false, false
	}
	for j, v := range w.rest {
		if w.is[j] != free || (bound-max(v, -v))>>w.bits > threshold {
			continue
		}
		some = true
		if v > 0 {
			n.fixed = append(n.fixed, int32(j))
			w.assign(int32(j), 1)
		} else {
			n.fixed = append(n.fixed, ^int32(j))
			w.assign(int32(j), 0)
		}
	}
	return some, some && !w.propagate()
}

// integral reports whether the relaxation's solution is whole.
func (w *worker) integral() bool {
	for j, v := range w.is {
		if x := w.lp.Value(j); v == free && min(x, 1-x) > 1e-6 {
			return false
		}
	}
	return true
}

// greedy offers the variables of the best prices for what they use, one after the other.
func (w *worker) greedy() {
	w.begin()
	if !w.load(&node{}) {
		return
	}
	use := make([]float64, len(w.is))
	for i := range w.rows {
		r := &w.rows[i]
		for k, j := range r.Columns {
			use[j] += math.Abs(float64(r.Entries[k])) / math.Max(1, math.Abs(float64(r.Most)))
		}
	}
	for _, power := range []float64{0, 0.5, 1} {
		key := make([]float64, len(w.is))
		for j := range key {
			key[j] = float64(w.p.Prices[j]) / math.Pow(1e-9+use[j], power)
			if w.p.Prices[j] < 0 {
				key[j] = float64(w.p.Prices[j]) * math.Pow(1e-9+use[j], -power)
			}
		}
		w.fill(key, nil)
	}
}

// round fixes free variables in the order of the relaxation, each to the value that it has there if the rows allow it.
func (w *worker) round() {
	key, x := make([]float64, len(w.is)), make([]float64, len(w.is))
	for j := range key {
		x[j] = w.lp.Value(j)
		key[j] = x[j] + 1e-3*float64(w.p.Prices[j])/w.unit
	}
	saved, least := slices.Clone(w.is), slices.Clone(w.least)
	w.fill(key, x)
	copy(w.is, saved)
	copy(w.least, least)
}

// fill completes the values at hand: variables of the largest key first become 1, where the rows allow it and the price or the
// relaxation asks for it, and offers what keeps all rows.
func (w *worker) fill(key, x []float64) {
	saved, least := slices.Clone(w.is), slices.Clone(w.least)
	defer func() {
		copy(w.is, saved)
		copy(w.least, least)
	}()
	order := make([]int32, 0, len(key))
	for j := range key {
		order = append(order, int32(j))
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(key[b], key[a]) })
	for pass := range 2 { // then variables that pay nothing, where rows still ask for some
		for _, j := range order {
			if w.is[j] != free {
				continue
			}
			wants := w.p.Prices[j] > 0 || x != nil && x[j] > 0.5
			if !wants && pass == 0 || !wants && !w.short(j) {
				continue
			}
			before, sums := slices.Clone(w.is), slices.Clone(w.least)
			if w.assign(j, 1) && w.propagate() {
				continue
			}
			w.drain()
			copy(w.is, before)
			copy(w.least, sums)
			if !w.assign(j, 0) || !w.propagate() {
				w.drain()
				return
			}
		}
	}
	for _, j := range order {
		if w.is[j] == free && (!w.assign(j, 0) || !w.propagate()) {
			w.drain()
			return
		}
	}
	w.offerIfFeasible(w.ones())
}

// short reports whether a variable is in a row that asks for more: a sum to be reached, or, with a negative entry, one that is exceeded with all free ones at 0.
func (w *worker) short(j int32) bool {
	for _, at := range w.of[j] {
		i := int(at >> 32)
		r := &w.rows[i]
		sum := int64(0)
		for k, o := range r.Columns {
			if w.is[o] == 1 {
				sum += r.Entries[k]
			}
		}
		if sum > r.Most && r.Entries[uint32(at)] < 0 || r.Equal && sum < r.Most && r.Entries[uint32(at)] > 0 {
			return true
		}
	}
	return false
}
