package simplex

import (
	"context"
	"errors"
	"math"
	"math/big"
	"slices"

	"coalesce/solvers/assignment/problem"
)

// ErrOpen is the error of a flow whose rounding leaves more open than cycles decide.
var ErrOpen = errors.New("too many cycles of pairs are within rounding")

// A residual is an arc of the residual graph among the pairs within rounding, with its exact reduced cost.
type residual struct {
	tail, head int32
	cost       *big.Int
	pair       problem.Pair
	sign       int64 // 1: more of the pair; -1: less, as far as its flow goes
}

// Settle makes a flow of a basis optimal for the costs as given, exactly. It is optimal for p's scaled costs by the duals, and near are the other
// pairs whose slack is at most problem.FlowWidth: only these and the pairs with a flow are on cycles that make it cheaper. Cycles of
// negative exact cost are found (Bellman 1958, Ford 1956) and cancelled (Klein 1967) until there is none. It returns the
// number of cycles that were cancelled.
func Settle(ctx context.Context, p *problem.Normal, f *problem.Flow, d problem.Prices, near []problem.Pair) (cycles int, err error) {
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
	slack := slackPairs(p, d, amounts)
	pairs = append(pairs, slack...)
	costs := exactCosts(p, d, pairs)
	for ; cycles < 16*(p.Rows+p.Cols); cycles++ {
		if err := ctx.Err(); err != nil {
			return cycles, err
		}
		cycle := negativeCycle(p, pairs, costs, amounts)
		if cycle == nil {
			store(p, f, amounts)
			return cycles, nil
		}
		least := int64(-1)
		for _, a := range cycle {
			if x := amounts[a.pair]; a.sign < 0 && (least < 0 || x < least) {
				least = x
			}
		}
		for _, a := range cycle {
			if amounts[a.pair] += a.sign * least; amounts[a.pair] == 0 {
				delete(amounts, a.pair)
			}
		}
	}
	store(p, f, amounts)
	return cycles, ErrOpen
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

// negativeCycle finds a cycle of the residual graph whose costs add up to less than 0, nil where there is none.
func negativeCycle(p *problem.Normal, pairs []problem.Pair, costs []*big.Int, amounts map[problem.Pair]int64) []residual {
	rows := int32(p.Rows + 1)
	nodes := p.Rows + p.Cols + 2
	arcs := make([]residual, 0, 2*len(pairs))
	for k, x := range pairs {
		arcs = append(arcs, residual{tail: x.Row, head: rows + x.Col, cost: costs[k], pair: x, sign: 1})
		if amounts[x] > 0 {
			arcs = append(arcs, residual{tail: rows + x.Col, head: x.Row, cost: new(big.Int).Neg(costs[k]), pair: x, sign: -1})
		}
	}
	distance, by := make([]*big.Int, nodes), slices.Repeat([]int32{none}, nodes) // by: the arc that gave a node its distance
	for x := range distance {
		distance[x] = new(big.Int)
	}
	through := new(big.Int)
	for range nodes + 1 {
		changed := false
		for k := range arcs {
			a := &arcs[k]
			if through.Add(distance[a.tail], a.cost); through.Cmp(distance[a.head]) < 0 {
				distance[a.head].Set(through)
				by[a.head], changed = int32(k), true
			}
		}
		if !changed {
			return nil
		}
		if cycle := cycleOf(arcs, by); cycle != nil {
			return cycle
		}
	}
	return nil
}

// cycleOf is a cycle of the arcs that gave nodes their distances, nil where these are a forest. Such a cycle has a negative cost.
func cycleOf(arcs []residual, by []int32) (cycle []residual) {
	seen := make([]int32, len(by)) // the walk that met a node
	for first := range by {
		x := int32(first)
		for ; seen[x] == 0 && by[x] != none; x = arcs[by[x]].tail {
			seen[x] = int32(first) + 1
		}
		if seen[x] != int32(first)+1 {
			if seen[x] == 0 {
				seen[x] = int32(first) + 1
			}
			continue
		}
		for y := x; ; {
			a := arcs[by[y]]
			cycle = append(cycle, a)
			if y = a.tail; y == x {
				return cycle
			}
		}
	}
	return nil
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
