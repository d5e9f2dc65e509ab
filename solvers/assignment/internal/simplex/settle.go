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
	amounts := map[problem.Pair]int64{}
	pairs := slices.Clone(near)
	for k, i := range f.Row {
		x := problem.Pair{Row: i, Col: f.Col[k]}
		amounts[x] = f.Amount[k]
		pairs = append(pairs, x)
	}
	pairs = append(pairs, slackPairs(p, d, amounts)...)
	costs := exactCosts(p, d, pairs)
	rows, nodes := p.Rows+1, p.Rows+p.Cols+2
	for range settleRounds {
		drop := uint(0) // last bits that this round leaves
		for _, c := range costs {
			drop = max(drop, uint(max(0, c.BitLen()-room)))
		}
		t := newNetwork(rows, p.Cols+1, 1<<60)
		tree := newForest(nodes + 1)
		short, largest := make([]int64, len(pairs)), int64(1)
		for k, c := range costs {
			short[k] = new(big.Int).Rsh(c, drop).Int64()
			largest = max(largest, short[k], -short[k])
			t.add(pairs[k].Row, pairs[k].Col, short[k])
			if x := amounts[pairs[k]]; x > 0 {
				tree.add(carrier{pairs[k].Row, int32(rows) + pairs[k].Col, int32(k), short[k], x})
			}
		}
		t.big = 2 * int64(nodes) * largest
		t.toRoot, t.fromRoot = make([]int64, nodes), slices.Repeat([]int64{t.big}, nodes)
		t.hang(tree)
		t.resize()
		for {
			e, reduced := t.entering()
			if e == none {
				break
			}
			t.pivot(e, reduced)
			if pivots++; pivots%steps == 0 && ctx.Err() != nil {
				break
			}
		}
		clear(amounts)
		for x := range int32(nodes) {
			if e := t.arc[x]; e != none && t.flow[x] > 0 {
				amounts[pairs[e]] = t.flow[x]
			}
		}
		store(p, f, amounts)
		if err := ctx.Err(); err != nil || drop == 0 {
			return pivots, err
		}
		// The remainders of the costs of pairs that may lie on a cycle. Each is less than a unit.
		keep := 0
		width := new(big.Int).Lsh(big.NewInt(int64(nodes)), drop)
		for k, x := range pairs {
			dual := t.price[x.Row] - t.price[int32(rows)+x.Col]
			c := costs[k].Sub(costs[k], new(big.Int).Lsh(big.NewInt(dual), drop))
			if amounts[x] > 0 || c.Cmp(width) <= 0 {
				pairs[keep], costs[keep] = x, c
				keep++
			}
		}
		pairs, costs = pairs[:keep], costs[:keep]
	}
	return pivots, ErrOpen
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

// exactCosts are the exact reduced costs of pairs, in a unit that makes all of them integers.
func exactCosts(p *problem.Normal, d problem.Prices, pairs []problem.Pair) []*big.Int {
	units, rest := make([]int64, len(pairs)), make([]float64, len(pairs))
	unit := -math.Ilogb(math.Abs(p.Unit())) // exponent of a unit in the costs
	lowest := unit
	for k, x := range pairs {
		switch {
		case int(x.Row) == p.Rows:
			units[k] = -d.V[x.Col]
		case int(x.Col) == p.Cols:
			units[k] = -d.U[x.Row]
		default:
			units[k], rest[k] = p.Split(int(x.Row), int(x.Col))
			units[k] -= d.U[x.Row] + d.V[x.Col]
			lowest = min(lowest, problem.LowestBit(rest[k]))
		}
	}
	out := make([]*big.Int, len(pairs))
	for k, x := range units {
		out[k] = new(big.Int).Lsh(big.NewInt(x), uint(unit-lowest))
		if rest[k] != 0 {
			r, _ := new(big.Float).SetMantExp(big.NewFloat(rest[k]), -lowest).Int(nil)
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
