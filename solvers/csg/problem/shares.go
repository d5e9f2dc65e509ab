package problem

import (
	"math"
	"math/big"
	"math/bits"

	"coalesce/solvers/solve"
)

// SharesAgents is the most agents for whom ShareBound takes about a second of a core or less.
const SharesAgents = 28

// ShareBound is a value that no structure exceeds: each agent's price is the most that a member's equal share of a coalition with the agent is
// worth, so that no coalition is worth more than its agents' prices. It takes one pass over the values. It is empty where no machine's memory holds the
// values, and where an agent is in no allowed coalition.
func (inst *Instance) ShareBound() solve.Number {
	switch {
	case !inst.HoldsValues():
		return ""
	case inst.Type == Int16:
		return inst.sumShares(largestShares(inst, inst.I16))
	case inst.Type == Int32:
		return inst.sumShares(largestShares(inst, inst.I32))
	case inst.Type == Int64:
		return inst.sumShares(largestShares(inst, inst.I64))
	case inst.Type == Float32:
		return inst.sumShares(largestShares(inst, inst.F32))
	}
	return inst.sumShares(largestShares(inst, inst.F64))
}

// sumShares adds up prices that may be rounded by 3 units in the last place; of integers the sum is rounded down to one.
func (inst *Instance) sumShares(prices []float64) solve.Number {
	sum := NewExact()
	for _, price := range prices {
		if math.IsInf(price, -1) {
			return ""
		}
		sum.Add(sum, NewExact().SetFloat64(price+math.Abs(price)*0x1p-50))
	}
	if inst.Type.Integer() {
		whole, _ := sum.Int(nil)
		if sum.Sign() < 0 && !sum.IsInt() {
			whole.Sub(whole, big.NewInt(1))
		}
		return solve.Number(whole.String())
	}
	x, _ := sum.Float64()
	return solve.NumberOf(math.Nextafter(x, math.Inf(1)))
}

// lowAgents are the agents whose sets a row of a pass over all values has.
const lowAgents = 6

// largestShares are the largest shares of each agent, minus infinity where every coalition with it is forbidden.
func largestShares[T Number](inst *Instance, values []T) []float64 {
	var part [MaxAgents + 1]float64 // of a coalition of so many that a member gets; 0: there may be none
	for k := 1; k <= inst.N; k++ {
		if inst.Sizes == 0 || inst.Sizes>>k&1 == 1 {
			part[k] = 1 / float64(k)
		}
	}
	low := min(lowAgents, inst.N)
	rows := uint64(1) << (inst.N - low)
	width := 1 << low
	found := make([][]float64, ParallelRanges(rows))
	InParallel(rows, func(at int, from, to uint64) {
		price := make([]float64, inst.N)
		for i := range price {
			price[i] = math.Inf(-1)
		}
		var column [1 << lowAgents]float64 // the largest share in a coalition with these low agents
		for l := range column {
			column[l] = math.Inf(-1)
		}
		for high := from; high < to; high++ {
			members := bits.OnesCount64(high)
			row := values[high<<low:][:width]
			most := math.Inf(-1)
			for l, v := range row {
				p := part[members+bits.OnesCount8(uint8(l))]
				if p == 0 {
					continue
				}
				share := float64(v) * p
				if share > most {
					most = share
				}
				if share > column[l] {
					column[l] = share
				}
			}
			for m := high; m != 0; m &= m - 1 {
				i := low + bits.TrailingZeros64(m)
				price[i] = max(price[i], most)
			}
		}
		for i := range low {
			for l, share := range column[:width] {
				if l>>i&1 == 1 {
					price[i] = max(price[i], share)
				}
			}
		}
		found[at] = price
	})
	prices := found[0]
	for _, more := range found[1:] {
		for i := range more {
			prices[i] = max(prices[i], more[i])
		}
	}
	return prices
}
