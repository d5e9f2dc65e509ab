// Package refine makes matchings exact whose costs were rounded to units. Engines solve rounded
// costs; the pairs whose slack is at most a unit a row decide then. Where they have no alternating
// cycle, the matching is the only optimum. Where they have some, the same problem is solved on the
// exact residual costs of these pairs, in finer units, until no rounding is left: iterative
// refinement, as for linear programs (Gleixner, Steffy and Wolter, "Iterative refinement for linear
// programming", INFORMS Journal on Computing 28, 2016).
//
// In units of one round a pair costs e = slack + rest, an integer and what rounding left, at most
// half a unit, which a float64 holds exactly. Of all matchings none costs less than the sum of its
// rows' least e, so that a matching x costs at most
//
//	gap = sum over rows of e(i, x(i)) - min over j of e(i, j)
//
// more than the best, and a pair with e beyond its row's least by more than gap is in no optimal
// matching. Two optimal matchings differ by alternating cycles of such near pairs, which are cycles
// of the graph with an edge from row i to row k where (i, x(k)) is near. Pairs outside its strong
// components go, too.
package refine

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"coalesce/solvers/assignment/internal/bottleneck"
	"coalesce/solvers/assignment/problem"
)

// A Solver finds an optimal matching of an instance of integers that minimises, with at most as
// many rows as columns, and its duals, which it has checked.
type Solver func(ctx context.Context, inst *problem.Instance) (column []int32, d problem.Duals, err error)

// An Outcome is a matching after refinement.
type Outcome struct {
	Column []int32 // of each row of the normal problem
	Rounds int     // solves of residual costs
	Gap    float64 // in the instance's costs: 0, or what a solve that was ended left
}

// A Splitter is Normal.Split.
type Splitter func(i, j int) (units int64, rest float64)

// RefineExactly refines column and duals, an optimal matching of p's scaled costs, from the unmatched pairs
// whose slack is at most p.Rows+1 units, in p's rows and columns. An error of solve ends it: the outcome is
// then the best matching so far with its gap.
func RefineExactly(ctx context.Context, p *problem.Normal, column []int32, duals problem.Prices, near []problem.Pair, split Splitter, solve Solver) (Outcome, error) {
	out := Outcome{Column: column}
	if p.Limit == problem.Infinity && HasNoCycle(column, duals.V, near, int64(p.Rows)) {
		return out, nil
	}
	r := newRound(p, column, duals, near)
	r.prune(func(*residualPair) bool { return true }, float64(r.rows), func(i int) bool { return r.out[i] <= int64(r.rows)+1 })
	r.split(split, duals)
	for {
		gap := r.narrow()
		if r.rows == 0 || r.hasWholeResiduals() {
			out.Gap = 0
			return out, nil
		}
		out.Gap = r.units(gap)
		if !r.limit && r.spans() {
			better, err := r.level(ctx, gap)
			if err != nil {
				return out, err
			}
			if better {
				out.Column = r.write(out.Column)
				if gap = r.narrow(); r.rows == 0 {
					out.Gap = 0
					return out, nil
				}
			}
		}
		out.Gap = r.units(gap)
		next, inst, err := r.residual()
		if err != nil {
			return out, err
		}
		match, d, err := solve(ctx, inst)
		if err != nil {
			return out, err
		}
		r = next
		r.setMatching(match, d)
		out.Rounds++
		out.Column = r.write(out.Column)
	}
}

// units are a number of units in the instance's costs, rounded up.
func (r *undecidedPart) units(x float64) float64 {
	return math.Nextafter(math.Ldexp(x, -r.shift), math.Inf(1))
}

// write is column with the matching of the rows of r.
func (r *undecidedPart) write(column []int32) []int32 {
	column = slices.Clone(column)
	for i, j := range r.match {
		if j >= 0 {
			j = r.col[j]
		}
		column[r.row[i]] = j
	}
	return column
}

// An undecidedPart is the part of a problem whose matching is not yet known to be the only optimum: rows and
// columns in alternating cycles of near pairs, numbered from 0.
type undecidedPart struct {
	shift    int     // units are 2^-shift of the costs
	unit     float64 // 2^shift, 0 where no float64 is that
	rows     int
	row, col []int32        // their numbers in the normal problem
	match    []int32        // of each row, -1: left unmatched
	owner    []int32        // of each column, -1: free
	pairs    []residualPair // by rows: those of row i are pairs[start[i]:start[i+1]]
	start    []int
	low      []float64 // of each row: its least residual, in units

	v     []int64 // loose: duals of the columns, at most 0
	loose bool    // whether columns may stay unmatched
	limit bool    // whether rows may
	bound int64   // limit: the units that an unmatched row costs, and rest
	rest  float64 // of the costs
	out   []int64 // bound less the duals of the rows
}

// A residualPair is an allowed pair and its exact residual cost: slack units and rest of the costs.
type residualPair struct {
	row, col int32
	slack    int64
	rest     float64
}

// newRound takes all rows and columns of a problem.
func newRound(p *problem.Normal, column []int32, duals problem.Prices, near []problem.Pair) *undecidedPart {
	shift := math.Ilogb(p.Unit())
	r := &undecidedPart{shift: shift, unit: unitOf(shift), rows: p.Rows, match: column, limit: p.Limit != problem.Infinity}
	r.loose = r.limit || p.Rows < p.Cols
	r.row, r.col, r.owner = count(p.Rows), count(p.Cols), rowsOfColumns(column, p.Cols)
	r.start = make([]int, p.Rows+1)
	for _, x := range near {
		r.start[x.Row+1]++
	}
	for i, j := range column {
		if j >= 0 {
			r.start[i+1]++
		}
		r.start[i+1] += r.start[i]
	}
	r.pairs = make([]residualPair, r.start[p.Rows])
	at := slices.Clone(r.start)
	for i, j := range column {
		if j >= 0 {
			r.pairs[at[i]] = residualPair{row: int32(i), col: j}
			at[i]++
		}
	}
	for _, x := range near {
		r.pairs[at[x.Row]] = residualPair{row: x.Row, col: x.Col}
		at[x.Row]++
	}
	if r.loose {
		r.v = duals.V
	}
	if r.limit {
		r.bound, r.rest = p.SplitLimit()
		r.setOut(duals.U)
	}
	return r
}

func count(n int) []int32 {
	list := make([]int32, n)
	for k := range list {
		list[k] = int32(k)
	}
	return list
}

func rowsOfColumns(column []int32, cols int) []int32 {
	owner := slices.Repeat([]int32{-1}, cols)
	for i, j := range column {
		if j >= 0 {
			owner[j] = int32(i)
		}
	}
	return owner
}

// split computes the exact residuals of the pairs from the costs of the problem.
func (r *undecidedPart) split(split Splitter, duals problem.Prices) {
	for k := range r.pairs {
		x := &r.pairs[k]
		i, j := r.row[x.row], r.col[x.col]
		units, rest := split(int(i), int(j))
		x.slack, x.rest = units-duals.U[i]-duals.V[j], rest
	}
}

// cost is a pair's residual in units, rounded once.
func (r *undecidedPart) cost(x *residualPair) float64 { return float64(x.slack) + r.inUnits(x.rest) }

// inUnits is a part of a cost in units.
func (r *undecidedPart) inUnits(x float64) float64 {
	if r.unit != 0 {
		return x * r.unit
	}
	return math.Ldexp(x, r.shift)
}

// unitOf is 2^shift, where a normal float64 is that, else 0.
func unitOf(shift int) float64 {
	if shift < -1022 || shift > 1023 {
		return 0
	}
	return math.Ldexp(1, shift)
}

// tiny is larger than what rounding below the least normal float64 loses in a term.
const tiny = 0x1p-1000

// narrow keeps the pairs that an optimal matching may have, and returns the gap in units, rounded
// up: how much the matching may cost more than the best.
func (r *undecidedPart) narrow() float64 {
	limit := r.inUnits(r.rest)
	r.low = make([]float64, r.rows)
	tight, most := true, int64(0)
	for i := range r.rows {
		r.low[i] = math.Inf(1)
		if r.limit {
			r.low[i] = float64(r.out[i]) + limit
		}
		for k := r.start[i]; k < r.start[i+1]; k++ {
			x := &r.pairs[k]
			r.low[i] = min(r.low[i], r.cost(x))
			most = max(most, x.slack)
			tight = tight && (x.slack == 0 || x.col != r.match[i])
		}
	}
	gap := r.gap()
	reach := gap*(1+0x1p-40) + tiny
	if !tight { // costs of pairs with slack are rounded to 53 bits
		reach += float64(most+2) * 0x1p-50
	}
	r.prune(func(x *residualPair) bool { return float64(x.slack)+(r.inUnits(x.rest)-r.low[x.row]) <= reach },
		reach, func(i int) bool { return float64(r.out[i])+(limit-r.low[i]) <= reach })
	return gap
}

// spans reports whether residuals differ so much that units for the largest would not tell apart
// those that every matching needs: the largest of the least residuals of rows and of columns.
func (r *undecidedPart) spans() bool {
	least, largest := slices.Repeat([]float64{math.Inf(1)}, len(r.col)), 0.0
	for k := range r.pairs {
		x := &r.pairs[k]
		c := r.cost(x)
		least[x.col] = min(least[x.col], c)
		largest = max(largest, c)
	}
	need := slices.Max(r.low)
	if !r.loose {
		need = max(need, slices.Max(least))
	}
	return largest*float64(r.rows)/float64(problem.MaxScaled(r.rows)) > 0x1p-10*max(need, 0)
}

// level replaces the matching by one whose largest residual is least, where its gap is less, and
// reports whether it did. The pairs of such a matching may have slack.
func (r *undecidedPart) level(ctx context.Context, gap float64) (bool, error) {
	inst := instance(r.rows, len(r.col), r.pairs, r.start, r.cost)
	s, err := bottleneck.Solve(ctx, inst)
	if err != nil {
		return false, err
	}
	other := *r
	other.match, other.owner = s.Column, rowsOfColumns(s.Column, len(r.col))
	if other.gap() >= gap {
		return false, nil
	}
	*r = other
	return true, nil
}

// hasWholeResiduals reports whether no residual has a rest: a matching of pairs without slack is optimal then.
func (r *undecidedPart) hasWholeResiduals() bool {
	return (!r.limit || r.rest == 0) && !slices.ContainsFunc(r.pairs, func(x residualPair) bool { return x.rest != 0 })
}

// residual makes the next round and its instance, in the finest units in which residuals fit. A
// pair's cost in the instance is its slack.
//
// A column of a dual below -most is in every optimal matching: there it makes its pairs cheaper by
// most alone, and so does a row that no optimal matching leaves out. The limit becomes an integer
// that a float64 holds.
func (r *undecidedPart) residual() (*undecidedPart, *problem.Instance, error) {
	shift, slack, err := r.finer()
	if err != nil {
		return nil, nil, err
	}
	by := shift - r.shift
	next := *r
	next.shift, next.unit, next.pairs = shift, unitOf(shift), slices.Clone(r.pairs)
	most := int64(0)
	if r.loose {
		most = int64(math.Ceil(math.Ldexp(slack, by))) + 1
	}
	if r.limit {
		const digits = 1 << 10
		next.bound, next.rest = problem.Split(r.rest, shift)
		most += digits - ((most+next.bound)%digits+digits)%digits
		next.bound += most
	}
	finer := func(x int64) int64 { // x <= 0
		if by > 62 && x < 0 || x < -(most>>by)-1 {
			return -most
		}
		return max(x<<by, -most)
	}
	for k := range next.pairs {
		x := &next.pairs[k]
		units, rest := problem.Split(x.rest, shift)
		if x.slack > 0 {
			units += x.slack << by
		}
		if r.loose {
			units += finer(r.v[x.col])
		}
		if r.limit {
			units += most + finer(-r.out[x.row])
		}
		x.slack, x.rest = units, rest
	}
	inst := instance(r.rows, max(len(r.col), r.rows), next.pairs, r.start, func(x *residualPair) int64 { return x.slack })
	if r.limit {
		l := float64(next.bound)
		inst.Limit = &l
	}
	return &next, inst, nil
}

// finer is the shift of the next round's units, and the units of this one by which a column or row
// that every optimal matching has stays dearer to leave out than the gap.
func (r *undecidedPart) finer() (shift int, slack float64, err error) {
	most, large, grain := int64(0), math.Abs(r.rest), problem.LowestBit(r.rest)
	for k := range r.pairs {
		x := &r.pairs[k]
		most, large, grain = max(most, x.slack), max(large, math.Abs(x.rest)), min(grain, problem.LowestBit(x.rest))
	}
	top := exponent(large) // residuals, and what is added to them, stay below 2^top
	if most > 0 {
		top = max(top, bits.Len64(uint64(most+1))-r.shift)
	}
	if r.loose {
		low := slices.Max(r.low)
		slack = (max(0, low) + r.gap() + math.Abs(r.inUnits(r.rest))) * (1 + 0x1p-20)
		top = max(top, exponent(slack)-r.shift) + 2
	}
	room := bits.Len64(uint64(problem.MaxScaled(r.rows))) - 1
	if shift = max(r.shift+1, min(room-top, -grain)); top+shift > room {
		return 0, 0, fmt.Errorf("residual costs of %d rows: found up to 2^%d, expected less than 2^%d", r.rows, top+shift, room)
	}
	return shift, slack, nil
}

// exponent is the least e with |x| < 2^e.
func exponent(x float64) int {
	if x == 0 {
		return math.MinInt32 / 2
	}
	_, e := math.Frexp(x)
	return e
}

// gap is the sum of the rows' own residuals less the least ones, and of what free columns cost more
// than their duals say, rounded up.
func (r *undecidedPart) gap() float64 {
	sum := 0.0
	for i := range r.rows {
		own := r.inUnits(r.rest)
		for k := r.start[i]; k < r.start[i+1]; k++ {
			if x := &r.pairs[k]; x.col == r.match[i] {
				if own = r.cost(x); x.slack != 0 { // both are rounded to 53 bits
					sum += (math.Abs(own) + math.Abs(r.low[i])) * 0x1p-50
				}
			}
		}
		sum += own - r.low[i] + tiny
	}
	if r.loose {
		for j, i := range r.owner {
			if i < 0 {
				sum -= float64(r.v[j])
			}
		}
	}
	return sum * (1 + 0x1p-20)
}

// instance makes an instance of pairs and their costs: sparse where they are few.
func instance[T problem.Number](rows, cols int, pairs []residualPair, start []int, cost func(*residualPair) T) *problem.Instance {
	inst := &problem.Instance{Rows: rows, Cols: cols, Source: "residual costs"}
	if len(pairs) > 8*cols && len(pairs) > rows*cols/4 {
		costs := slices.Repeat([]T{problem.Forbidden[T](false)}, rows*cols)
		for k := range pairs {
			x := &pairs[k]
			costs[int(x.row)*cols+int(x.col)] = cost(x)
		}
		problem.SetCosts(inst, costs)
		return inst
	}
	inst.Sparse = &problem.Sparse{Start: make([]int64, rows+1), Col: make([]int32, len(pairs))}
	costs := make([]T, len(pairs))
	for i := range rows {
		row := pairs[start[i]:start[i+1]]
		slices.SortFunc(row, func(a, b residualPair) int { return int(a.col) - int(b.col) })
		for k := range row {
			inst.Sparse.Col[start[i]+k], costs[start[i]+k] = row[k].col, cost(&row[k])
		}
		inst.Sparse.Start[i+1] = int64(start[i+1])
	}
	problem.SetCosts(inst, costs)
	return inst
}

// setMatching takes over the optimal matching and duals of the costs that the pairs have.
func (r *undecidedPart) setMatching(match []int32, d problem.Duals) {
	for k := range r.pairs {
		x := &r.pairs[k]
		x.slack -= d.U[x.row] + d.V[x.col]
	}
	r.match, r.owner = match, rowsOfColumns(match, len(r.col))
	if r.loose {
		r.v = d.V[:len(r.col)]
	}
	if r.limit {
		r.setOut(d.U)
	}
}

// setOut computes, for each row, the cost of leaving it out, less its dual. A limit that exceeds all costs together only asks for as many
// matched rows as possible, and engines take a lower one with the same effect: the dual of the rows that they left out.
func (r *undecidedPart) setOut(u []int64) {
	bound := r.bound
	for i, j := range r.match {
		if j < 0 {
			bound = min(bound, u[i])
		}
	}
	r.out = make([]int64, len(u))
	for i, x := range u {
		r.out[i] = bound - x
	}
}
