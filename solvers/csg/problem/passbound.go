package problem

import (
	"context"
	"math"
	"math/big"
	"math/bits"

	"coalesce/solvers/solve"
)

// PassAgents is the most agents for whom PassBound takes about a second of a core or less.
const PassAgents = 28

// PassBound is a value that no structure exceeds, by one pass over the values: the lesser one of two bounds. In the first each agent's price is the most
// that a member's equal share of a coalition with the agent is worth, so that no coalition is worth more than its agents' prices. The second is the best
// sum of the largest values of coalitions of some sizes that add up to all agents, as many as blocks may be (Rahwan et al., An anytime algorithm for
// optimal coalition structure generation, JAIR 34, 2009). It is empty where no machine's memory holds the values, where an agent is in no allowed
// coalition, and where ctx ended it.
func (inst *Instance) PassBound(ctx context.Context) solve.Number {
	switch {
	case !inst.HoldsValues():
		return ""
	case inst.Type == Int16:
		return passBound(ctx, inst, inst.I16)
	case inst.Type == Int32:
		return passBound(ctx, inst, inst.I32)
	case inst.Type == Int64:
		return passBound(ctx, inst, inst.I64)
	case inst.Type == Float32:
		return passBound(ctx, inst, inst.F32)
	}
	return passBound(ctx, inst, inst.F64)
}

func passBound[T Number](ctx context.Context, inst *Instance, values []T) solve.Number {
	found := passOver(ctx, inst, values)
	if ctx.Err() != nil {
		return ""
	}
	most := math.Inf(-1)
	if inst.N == 0 {
		most = 0
	}
	for k, sum := 0, 0.0; k < inst.N; k++ {
		if math.IsInf(found.shares[k], -1) {
			return ""
		}
		if sum = addUp(sum, found.shares[k]); k == inst.N-1 {
			most = sum
		}
	}
	if most = min(most, found.largest.most(inst.N, inst.Blocks())); math.IsInf(most, -1) {
		return ""
	}
	if inst.Type.Integer() {
		whole, _ := NewExact().SetFloat64(most).Int(nil)
		if most < math.Trunc(most) {
			whole.Sub(whole, big.NewInt(1))
		}
		return solve.Number(whole.String())
	}
	return solve.NumberOf(math.Nextafter(most, math.Inf(1)))
}

// addUp is no less than the sum of two numbers that may be rounded by 3 units in the last place.
func addUp(a, b float64) float64 {
	const slack = 0x1p-50
	return a + b + (math.Abs(a)+math.Abs(b))*slack
}

// A passed is what a pass over all values finds.
type passed struct {
	shares  []float64 // the largest share of each agent, minus infinity where every coalition with it is forbidden
	largest bySize
}

// A bySize has the largest values of coalitions, by their members.
type bySize [MaxAgents + 1]float64

// most is no less than any sum of values of coalitions whose sizes add up to n, as many as counts allow.
func (l *bySize) most(n int, counts Counts) float64 {
	var sums [MaxAgents + 1]float64 // of so many agents in the present number of coalitions
	best := math.Inf(-1)
	for m := 1; m <= n; m++ {
		sums[m] = math.Inf(-1)
	}
	for blocks := 1; blocks <= n; blocks++ {
		for m := n; m >= 0; m-- {
			next := math.Inf(-1)
			for k := 1; k <= m; k++ {
				if !math.IsInf(l[k], -1) && !math.IsInf(sums[m-k], -1) {
					next = max(next, addUp(l[k], sums[m-k]))
				}
			}
			sums[m] = next
		}
		if counts.Check(blocks) == nil {
			best = max(best, sums[n])
		}
	}
	return best
}

// lowAgents are the agents whose sets a row of a pass over all values has.
const lowAgents = 6

// passOver makes the pass. The end of ctx ends it.
func passOver[T Number](ctx context.Context, inst *Instance, values []T) passed {
	var part [MaxAgents + 1]float64 // of a coalition of so many that a member gets; 0: there may be none
	for k := 1; k <= inst.N; k++ {
		if inst.Sizes == 0 || inst.Sizes>>k&1 == 1 {
			part[k] = 1 / float64(k)
		}
	}
	low := min(lowAgents, inst.N)
	var parts [MaxAgents + 1][1 << lowAgents]float64 // by the number of high agents, and the low ones
	for members := range inst.N - low + 1 {
		for l := range 1 << low {
			parts[members][l] = part[members+bits.OnesCount(uint(l))]
		}
	}
	rows := uint64(1) << (inst.N - low)
	width := 1 << low
	found := make([]passed, ParallelRanges(rows))
	InParallel(rows, func(at int, from, to uint64) {
		price := make([]float64, inst.N)
		for i := range price {
			price[i] = math.Inf(-1)
		}
		var columns [MaxAgents + 1][1 << lowAgents]T // the largest value with so many high agents and these low ones
		var seen [MaxAgents + 1]bool
		for high := from; high < to; high++ {
			if (high-from)&(1<<12-1) == 0 && ctx.Err() != nil {
				return
			}
			members := bits.OnesCount64(high)
			row, column := values[high<<low:][:width], columns[members][:width]
			if !seen[members] {
				seen[members] = true
				copy(column, row)
			}
			most, factors := math.Inf(-1), parts[members][:width]
			for l, v := range row {
				if v > column[l] {
					column[l] = v
				}
				if share := float64(v) * factors[l]; share > most && factors[l] != 0 {
					most = share
				}
			}
			for m := high; m != 0; m &= m - 1 {
				i := low + bits.TrailingZeros64(m)
				price[i] = max(price[i], most)
			}
		}
		largest := noneBySize()
		for members, column := range columns {
			for l, v := range column[:width] {
				size := members + bits.OnesCount8(uint8(l))
				if !seen[members] || size == 0 || part[size] == 0 {
					continue
				}
				largest[size] = max(largest[size], float64(v))
				for i := range low {
					if l>>i&1 == 1 {
						price[i] = max(price[i], float64(v)*part[size])
					}
				}
			}
		}
		found[at] = passed{price, largest}
	})
	all := passed{make([]float64, inst.N), noneBySize()}
	for i := range all.shares {
		all.shares[i] = math.Inf(-1)
	}
	for _, more := range found {
		for i, share := range more.shares {
			all.shares[i] = max(all.shares[i], share)
		}
		for k, v := range more.largest {
			if more.shares != nil {
				all.largest[k] = max(all.largest[k], v)
			}
		}
	}
	return all
}

func noneBySize() (l bySize) {
	for k := range l {
		l[k] = math.Inf(-1)
	}
	return l
}
