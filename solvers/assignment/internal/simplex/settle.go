package simplex

import (
	"context"
	"errors"
	"math"
	"math/big"
	"math/bits"
	"slices"

	"coalesce/solvers/assignment/problem"
)

// ErrOpen is the error of a flow whose costs differ by more than the rounds of Settle decide.
var ErrOpen = errors.New("the costs of pairs within rounding are of too different sizes")

// settleRounds are the most rounds of Settle: each decides thirty bits and more.
const settleRounds = 100

// Settle makes a flow of a basis optimal for the costs as given, exactly. It is optimal for p's scaled costs by the duals, and near are the other
// pairs whose slack is at most problem.FlowWidth: only these and the pairs with a flow are on cycles that make it cheaper. The network simplex method
// goes on from the flow with the exact reduced costs of these pairs; where they have more bits than sums of an int64 hold, with their first bits, and again with
// what is left of the pairs that still matter (iterative refinement, Gleixner, Steffy and Wolter 2016). It returns the number of pivots.
func Settle(ctx context.Context, p *problem.Normal, f *problem.Flow, d problem.Prices, near []problem.Pair) (pivots int, err error) {
	return settle(ctx, p, f, d, near, bits.Len64(uint64(1<<60/(4*int64(p.Rows+p.Cols+2))))-1)
}

// settle is Settle with costs of at most room bits in a round, so that sums of an int64 hold them.
func settle(ctx context.Context, p *problem.Normal, f *problem.Flow, d problem.Prices, near []problem.Pair, room int) (pivots int, err error) {
	balanced := problem.Total(p.Instance.Supplies()) == problem.Total(p.Instance.Capacities())
	if p.Exact || len(near) == 0 && balanced { // the pairs of a basis alone have no cycle
		return 0, nil
	}
	if err := ctx.Err(); err != nil { // millions of near pairs take a tenth of a second before the first pivot
		return 0, err
	}
	amounts := map[problem.Pair]int64{}
	pairs := slices.Clone(near)
	for k, i := range f.Row {
		x := problem.Pair{Row: i, Col: f.Col[k]}
		amounts[x] = f.Amount[k]
		pairs = append(pairs, x)
	}
	pairs = append(pairs, slackPairs(p, d, amounts)...)
	parts := partsOf(p, d, pairs)
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if short := parts.short(room); short != nil {
		t := settled(ctx, p, pairs, short, amounts)
		store(p, f, amounts)
		return int(t.pivots), ctx.Err()
	}
	costs := parts.exact()
	short := make([]int64, len(pairs))
	for range settleRounds {
		drop := uint(0) // last bits that this round leaves
		for _, c := range costs {
			drop = max(drop, uint(max(0, c.BitLen()-room)))
		}
		short = short[:len(pairs)]
		for k, c := range costs {
			short[k] = new(big.Int).Rsh(c, drop).Int64()
		}
		t := settled(ctx, p, pairs, short, amounts)
		pivots += int(t.pivots)
		if err := ctx.Err(); err != nil || drop == 0 {
			store(p, f, amounts)
			return pivots, err
		}
		// The remainders of the costs of pairs that may lie on a cycle. Each is less than a unit.
		keep := 0
		width := new(big.Int).Lsh(big.NewInt(int64(t.root)), drop)
		for k, x := range pairs {
			dual := t.price[x.Row] - t.price[int32(t.rows)+x.Col]
			c := costs[k].Sub(costs[k], new(big.Int).Lsh(big.NewInt(dual), drop))
			if amounts[x] > 0 || c.Cmp(width) <= 0 {
				pairs[keep], costs[keep] = x, c
				keep++
			}
		}
		pairs, costs = pairs[:keep], costs[:keep]
	}
	store(p, f, amounts)
	return pivots, ErrOpen
}

// settled makes amounts over pairs, which are feasible, a flow of the least cost, unless ctx ends.
func settled(ctx context.Context, p *problem.Normal, pairs []problem.Pair, costs []int64, amounts map[problem.Pair]int64) *network {
	t := newNetwork(p.Rows+1, p.Cols+1, 0)
	t.from, t.to, t.cost = make([]int32, 0, len(pairs)), make([]int32, 0, len(pairs)), make([]int64, 0, len(pairs))
	tree, largest := newForest(int(t.root)+1), int64(1)
	for k, c := range costs {
		largest = max(largest, c, -c)
		t.add(pairs[k].Row, pairs[k].Col, c)
	}
	for k, x := range pairs {
		if amount := amounts[x]; amount > 0 {
			tree.add(carrier{x.Row, int32(t.rows) + x.Col, int32(k), costs[k], amount})
		}
	}
	t.big = 2 * int64(t.root) * largest
	t.toRoot, t.fromRoot = make([]int64, t.root), slices.Repeat([]int64{t.big}, int(t.root))
	t.hang(tree)
	t.resize()
	for t.pivots%steps != 0 || ctx.Err() == nil {
		e, reduced := t.entering()
		if e == none {
			break
		}
		t.pivot(e, reduced)
	}
	clear(amounts)
	for x := range t.root {
		if e := t.arc[x]; e != none && t.flow[x] > 0 {
			amounts[pairs[e]] = t.flow[x]
		}
	}
	return t
}

// slackPairs are the pairs of a column with the row p.Rows, which stands for capacities left, or of a row with the column p.Cols,
// which stands for supplies left, within rounding; amounts gets what is left.
func slackPairs(p *problem.Normal, d problem.Prices, amounts map[problem.Pair]int64) (list []problem.Pair) {
	supply, capacity := slices.Clone(p.Instance.Supplies()), slices.Clone(p.Instance.Capacities())
	has, takes := problem.Total(supply), problem.Total(capacity)
	for x, amount := range amounts {
		supply[x.Row] -= amount
		capacity[x.Col] -= amount
	}
	width := problem.FlowWidth(p)
	add := func(x problem.Pair, dual, left int64) {
		if left > 0 {
			amounts[x] = left
		}
		if left > 0 || -dual <= width {
			list = append(list, x)
		}
	}
	switch {
	case has < takes:
		for j, left := range capacity {
			add(problem.Pair{Row: int32(p.Rows), Col: int32(j)}, d.V[j], left)
		}
	case has > takes:
		for i, left := range supply {
			add(problem.Pair{Row: int32(i), Col: int32(p.Cols)}, d.U[i], left)
		}
	}
	return list
}

// costParts are exact reduced costs: units and rest of the costs. A unit is 2^unit of the costs, and all are multiples of 2^lowest.
type costParts struct {
	units        []int64
	rest         []float64
	unit, lowest int
}

func partsOf(p *problem.Normal, d problem.Prices, pairs []problem.Pair) *costParts {
	x := &costParts{units: make([]int64, len(pairs)), rest: make([]float64, len(pairs)), unit: -math.Ilogb(math.Abs(p.Unit()))}
	x.lowest = x.unit
	for k, pair := range pairs {
		switch i, j := pair.Row, pair.Col; {
		case int(i) == p.Rows:
			x.units[k] = -d.V[j]
		case int(j) == p.Cols:
			x.units[k] = -d.U[i]
		default:
			x.units[k], x.rest[k] = p.Split(int(i), int(j))
			x.units[k] -= d.U[i] + d.V[j]
			x.lowest = min(x.lowest, problem.LowestBit(x.rest[k]))
		}
	}
	return x
}

// short are the costs in units of 2^lowest, nil where one has more than room bits.
func (x *costParts) short(room int) []int64 {
	most, shift := int64(0), x.unit-x.lowest
	for _, c := range x.units {
		most = max(most, c, -c)
	}
	if bits.Len64(uint64(most)+1)+shift > room {
		return nil
	}
	out := make([]int64, len(x.units))
	for k, c := range x.units {
		out[k] = c<<shift + int64(math.Ldexp(x.rest[k], -x.lowest))
	}
	return out
}

// exact are the costs in units of 2^lowest.
func (x *costParts) exact() []*big.Int {
	out := make([]*big.Int, len(x.units))
	for k, c := range x.units {
		out[k] = new(big.Int).Lsh(big.NewInt(c), uint(x.unit-x.lowest))
		if x.rest[k] != 0 {
			r, _ := new(big.Float).SetMantExp(big.NewFloat(x.rest[k]), -x.lowest).Int(nil)
			out[k].Add(out[k], r)
		}
	}
	return out
}

// store writes amounts as the flow of a problem.
func store(p *problem.Normal, f *problem.Flow, amounts map[problem.Pair]int64) {
	pairs := make([]problem.Pair, 0, len(amounts))
	for x := range amounts {
		if int(x.Row) < p.Rows && int(x.Col) < p.Cols {
			pairs = append(pairs, x)
		}
	}
	*f = problem.FlowOf(pairs, func(x problem.Pair) int64 { return amounts[x] })
}
