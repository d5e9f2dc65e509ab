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
// are, else the binary numbers that they are.
type game struct {
	inst   *problem.Instance
	unit   *big.Rat
	factor float64 // of decimals, a power of ten; 0: values are binary
	low    int     // exponent of the unit of binary values
	most   float64 // magnitude of a value
}

// CheckAgents returns an error if a concept is for fewer agents.
func CheckAgents(agents int, concept string) error {
	if concept == Nucleolus && agents > MaxNucleolus {
		return solve.InvalidInput("Payoff", "found the nucleolus of %d agents, expected at most %d", agents, MaxNucleolus)
	}
	return nil
}

// newGame finds the unit of an instance.
func newGame(inst *problem.Instance, concept string) (*game, error) {
	if err := CheckAgents(inst.N, concept); err != nil {
		return nil, err
	}
	g := &game{inst: inst, factor: 1, unit: big.NewRat(1, 1)}
	least, top := math.MaxInt, math.MinInt
	for mask := range inst.Len() {
		if !g.allowed(mask) {
			continue
		}
		x := inst.Value64(mask)
		g.most = max(g.most, math.Abs(x))
		if inst.Type.Integer() || x == 0 {
			continue
		}
		for g.factor > 0 {
			r := math.RoundToEven(x * g.factor)
			if math.Abs(r) < 1e15 && g.same(r/g.factor, x) {
				break
			}
			if g.factor *= 10; g.factor > 1e15 {
				g.factor = 0
			}
		}
		mantissa, exponent := math.Frexp(x)
		digits := uint64(math.Abs(math.Ldexp(mantissa, 53)))
		least, top = min(least, exponent-53+bits.TrailingZeros64(digits)), max(top, exponent)
	}
	if g.factor > 1 && g.most*g.factor >= 1e15 {
		g.factor = 0
	}
	switch {
	case g.factor > 0:
		g.unit.SetFrac(big.NewInt(1), new(big.Int).SetInt64(int64(g.factor)))
	case top-least > 150:
		return nil, solve.InvalidInput("Payoff", "found values from 2^%d to 2^%d, expected a range of 150 bits", least, top)
	default:
		g.low = least
		one := new(big.Int).Lsh(big.NewInt(1), uint(max(least, -least)))
		if g.unit.SetInt(one); least < 0 {
			g.unit.Inv(g.unit)
		}
	}
	return g, nil
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

// value is that of a coalition, in units.
func (g *game) value(mask uint64) (w wide) {
	switch {
	case g.inst.Type == problem.Int64 && g.inst.HoldsValues():
		return w.of(g.inst.I64[mask], 0)
	case g.factor > 0:
		return w.of(int64(math.RoundToEven(g.inst.Value64(mask)*g.factor)), 0)
	}
	x := g.inst.Value64(mask)
	if x == 0 {
		return w
	}
	mantissa, exponent := math.Frexp(x)
	m, shift := int64(math.Ldexp(mantissa, 53)), exponent-53-g.low
	if shift < 0 {
		return w.of(m>>-shift, 0)
	}
	return w.of(m, uint(shift))
}

// rat is the value of a coalition.
func (g *game) rat(mask uint64) *big.Rat {
	w := g.value(mask)
	x := new(big.Rat).SetInt(w.big())
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

// A wide is a number of 192 bits, in two's complement, the low word first.
type wide [3]uint64

func (wide) of(x int64, shift uint) (w wide) {
	sign := uint64(x >> 63)
	all := [3]uint64{uint64(x), sign, sign}
	for k := range w {
		from := k - int(shift/64)
		if from < 0 {
			continue
		}
		w[k] = all[from] << (shift % 64)
		if from > 0 && shift%64 > 0 {
			w[k] |= all[from-1] >> (64 - shift%64)
		}
	}
	return w
}

func (w *wide) add(x wide) {
	var carry uint64
	w[0], carry = bits.Add64(w[0], x[0], 0)
	w[1], carry = bits.Add64(w[1], x[1], carry)
	w[2], _ = bits.Add64(w[2], x[2], carry)
}

func (w *wide) big() *big.Int {
	x := new(big.Int).SetInt64(int64(w[2]))
	for _, word := range []uint64{w[1], w[0]} {
		x.Lsh(x, 64).Add(x, new(big.Int).SetUint64(word))
	}
	return x
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
	part := func(h uint64) uint64 {
		base := h << low
		over := -bar
		for m := base; m != 0; m &= m - 1 {
			over -= pay[bits.TrailingZeros64(m)]
		}
		best, at := math.Inf(-1), uint64(0)
		for t, sum := range sums {
			mask := base | uint64(t)
			if e := g.inst.Value64(mask) - sum + over; e > best && mask != 0 && (skip == nil || !skip[mask]) && g.allowed(mask) {
				best, at = e, mask
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
			for h := k; h < len(found) && ctx.Err() == nil; h += cores {
				found[h] = part(uint64(h))
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
