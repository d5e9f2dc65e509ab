package payoff

import (
	"context"
	"math"
	"math/big"
	"math/bits"
	"runtime"
	"sync"

	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// A game is an instance whose values are whole numbers of a unit: integers are, floats are decimals of up to 15 digits where all of them
// are, else the binary numbers that they are. The numbers have limbs of limbBits bits, the low one first, of one sign or with a last one below 0.
type game struct {
	inst    *problem.Instance
	unit    *big.Rat
	factor  float64    // of decimals, a power of ten; 0: values are binary
	scale   [2]float64 // of binary values, whose product times these is a number of units
	limbs   int
	most    float64 // magnitude of a value
	forbids bool    // some coalition
}

const limbBits = 50

// CheckAgents returns an error if a concept is for fewer agents.
func CheckAgents(agents int, concept string) error {
	if concept == Nucleolus && agents > MaxNucleolus {
		return solve.InvalidInput("Payoff", "found the nucleolus of %d agents, expected at most %d", agents, MaxNucleolus)
	}
	return nil
}

// newGame finds the unit of an instance, by passes over all values on all cores.
func newGame(inst *problem.Instance, concept string) (*game, error) {
	if err := CheckAgents(inst.N, concept); err != nil {
		return nil, err
	}
	inst.DrawValues()
	g := &game{inst: inst, unit: big.NewRat(1, 1)}
	parts := make([]game, problem.ParallelRanges(inst.Len()))
	g.inChunks(func(part int, _ uint64, values []float64) { parts[part].survey(inst, values) })
	for _, p := range parts {
		g.most, g.forbids = max(g.most, p.most), g.forbids || p.forbids
		if g.factor = max(g.factor, p.factor); p.factor < 0 {
			g.factor = math.Inf(1)
		}
	}
	g.factor = max(g.factor, 1)
	if math.IsInf(g.factor, 1) || g.factor > 1 && g.most*g.factor >= 1e15 {
		g.factor = 0
	}
	if g.limbs = 1; inst.Type == problem.Int64 && g.most >= 1<<limbBits {
		g.limbs = 2
	}
	if g.factor > 0 {
		g.unit.SetFrac(big.NewInt(1), new(big.Int).SetInt64(int64(g.factor)))
		return g, nil
	}
	type exponents struct{ least, top int }
	ranges := make([]exponents, len(parts))
	for k := range ranges {
		ranges[k] = exponents{math.MaxInt, math.MinInt}
	}
	g.inChunks(func(part int, _ uint64, values []float64) {
		e := &ranges[part]
		for _, x := range values {
			if x != 0 && !math.IsInf(x, -1) {
				mantissa, exponent := math.Frexp(x)
				digits := uint64(math.Abs(math.Ldexp(mantissa, 53)))
				e.least, e.top = min(e.least, exponent-53+bits.TrailingZeros64(digits)), max(e.top, exponent)
			}
		}
	})
	all := ranges[0]
	for _, e := range ranges[1:] {
		all.least, all.top = min(all.least, e.least), max(all.top, e.top)
	}
	if all.top-all.least > 150 {
		return nil, solve.InvalidInput("Payoff", "found values from 2^%d to 2^%d, expected a range of 150 bits", all.least, all.top)
	}
	g.limbs = max(1, (all.top-all.least+limbBits-1)/limbBits)
	g.scale = [2]float64{math.Ldexp(1, -all.least/2), math.Ldexp(1, -(all.least - all.least/2))}
	one := new(big.Int).Lsh(big.NewInt(1), uint(max(all.least, -all.least)))
	if g.unit.SetInt(one); all.least < 0 {
		g.unit.Inv(g.unit)
	}
	return g, nil
}

// survey looks at values for those that are forbidden, for their magnitude and, of floats, for the power of ten that makes them whole; -1 where none does.
func (g *game) survey(inst *problem.Instance, values []float64) {
	same, whole := &game{inst: inst}, inst.Type.Integer()
	for _, x := range values {
		if x < -math.MaxFloat64 {
			g.forbids = true
			continue
		}
		if size := math.Abs(x); size > g.most {
			g.most = size
		}
		if whole || g.factor < 0 || x == 0 {
			continue
		}
		g.factor = max(g.factor, 1)
		for g.factor > 0 {
			r := math.RoundToEven(x * g.factor)
			if math.Abs(r) < 1e15 && same.same(r/g.factor, x) {
				break
			}
			if g.factor *= 10; g.factor > 1e15 {
				g.factor = -1
			}
		}
	}
}

// inChunks calls work with the values of some consecutive coalitions, from the first on, minus infinity where they are forbidden: on all cores, each
// with its part of them.
func (g *game) inChunks(work func(part int, first uint64, values []float64)) {
	problem.InParallel(g.inst.Len(), func(part int, from, to uint64) {
		chunk := make([]float64, 1<<10)
		for first := from; first < to; first += uint64(len(chunk)) {
			values := chunk[:min(uint64(len(chunk)), to-first)]
			g.inst.Values64(values, first)
			work(part, first, values)
		}
	})
}

// same reports whether a decimal is the value of a type.
func (g *game) same(decimal, x float64) bool {
	if g.inst.Type == problem.Float32 {
		return float32(decimal) == float32(x)
	}
	return decimal == x
}

func (g *game) allowed(mask uint64) bool {
	return !math.IsInf(g.inst.Value64(mask), -1)
}

// limb is one of a coalition's value in units.
func (g *game) limb(mask uint64, limb int) int64 {
	var x [1]int64
	g.load(x[:], mask, []uint64{0}, limb)
	return x[0]
}

// load has a limb of the values of the coalitions base | at, none of which is forbidden.
func (g *game) load(into []int64, base uint64, at []uint64, limb int) {
	switch inst := g.inst; inst.Type {
	case problem.Int16:
		loadWhole(into, inst.I16, base, at)
	case problem.Int32:
		loadWhole(into, inst.I32, base, at)
	case problem.Int64:
		loadWhole(into, inst.I64, base, at)
		for t := range into {
			if g.limbs == 2 && limb == 0 {
				into[t] &= 1<<limbBits - 1
			} else if limb == 1 {
				into[t] >>= limbBits
			}
		}
	case problem.Float32:
		loadFloats(g, into, inst.F32, base, at, limb)
	default:
		loadFloats(g, into, inst.F64, base, at, limb)
	}
}

func loadWhole[T int16 | int32 | int64](into []int64, values []T, base uint64, at []uint64) {
	for t := range into {
		into[t] = int64(values[base|at[t]])
	}
}

func loadFloats[T float32 | float64](g *game, into []int64, values []T, base uint64, at []uint64, limb int) {
	if g.factor > 0 {
		for t := range into {
			into[t] = int64(math.RoundToEven(float64(values[base|at[t]]) * g.factor))
		}
		return
	}
	below := math.Ldexp(1, -limbBits*limb)
	for t := range into {
		x := float64(values[base|at[t]]) * g.scale[0] * g.scale[1] * below
		if limb > 0 {
			x = math.Trunc(x)
		}
		if limb < g.limbs-1 {
			x -= math.Trunc(x*(1.0/(1<<limbBits))) * (1 << limbBits)
		}
		into[t] = int64(x)
	}
}

// rat is the value of a coalition.
func (g *game) rat(mask uint64) *big.Rat {
	sum := new(big.Int)
	for limb := g.limbs - 1; limb >= 0; limb-- {
		sum.Lsh(sum, limbBits).Add(sum, big.NewInt(g.limb(mask, limb)))
	}
	x := new(big.Rat).SetInt(sum)
	return x.Mul(x, g.unit)
}

// excess is the value of a coalition less what its agents receive.
func (g *game) excess(mask uint64, x []*big.Rat) *big.Rat {
	e := g.rat(mask)
	for m := mask; m != 0; m &= m - 1 {
		e.Sub(e, x[bits.TrailingZeros64(m)])
	}
	return e
}

// chunks is how many parts scan divides coalitions into; one of each is found at most.
const chunks = 1 << 8

// scan finds coalitions whose excess is above a level: of each part of all coalitions one of the largest excess. Those of skip are left out. Float64 decides
// where rounding cannot matter, exact numbers elsewhere.
func (g *game) scan(ctx context.Context, x []*big.Rat, level *big.Rat, skip []bool) ([]uint64, error) {
	n := g.inst.N
	low := max(0, n-bits.Len(chunks-1))
	pay, scale := make([]float64, n), g.most
	for i, a := range x {
		pay[i], _ = a.Float64()
		scale += math.Abs(pay[i])
	}
	bar, _ := level.Float64()
	room := (scale + math.Abs(bar)) * float64(n+4) * 0x1p-52
	if g.inst.Type == problem.Float32 {
		room += g.most * 0x1p-24 // of decimals
	}
	sums := make([]float64, 1<<low)
	for t := 1; t < len(sums); t++ {
		sums[t] = sums[t&(t-1)] + pay[bits.TrailingZeros(uint(t))]
	}
	found := make([]uint64, 1<<(n-low))
	part := func(values []float64, h uint64) uint64 {
		base := h << low
		over := -bar
		for m := base; m != 0; m &= m - 1 {
			over -= pay[bits.TrailingZeros64(m)]
		}
		best, at := math.Inf(-1), uint64(0)
		for from := 0; from < len(sums); from += len(values) {
			values := values[:min(len(values), len(sums))]
			g.inst.Values64(values, base|uint64(from))
			for t, sum := range sums[from:][:len(values)] {
				if e := values[t] - sum + over; e > best {
					if mask := base | uint64(from+t); mask != 0 && (skip == nil || !skip[mask]) {
						best, at = e, mask
					}
				}
			}
		}
		switch {
		case best > room:
			return at
		case best < -room || at == 0:
			return 0
		}
		exact, above := new(big.Rat).Set(level), uint64(0)
		for t, sum := range sums {
			mask := base | uint64(t)
			if e := g.inst.Value64(mask) - sum + over; e >= -room && mask != 0 && (skip == nil || !skip[mask]) && g.allowed(mask) {
				if e := g.excess(mask, x); e.Cmp(exact) > 0 {
					exact, above = e, mask
				}
			}
		}
		return above
	}
	var wait sync.WaitGroup
	cores := min(runtime.GOMAXPROCS(0), len(found))
	for k := range cores {
		wait.Go(func() {
			values := make([]float64, 1<<10)
			for h := k; h < len(found) && ctx.Err() == nil; h += cores {
				found[h] = part(values, uint64(h))
			}
		})
	}
	wait.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	out := found[:0]
	for _, mask := range found {
		if mask != 0 {
			out = append(out, mask)
		}
	}
	return out, nil
}
