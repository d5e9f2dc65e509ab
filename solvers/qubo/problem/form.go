package problem

import (
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"coalesce/solvers/cores"
)

// SumLimit bounds sums that have to be int64. The absolute values of coefficients
// may add up to a 64th of it, so that those of any form, and four times those,
// do not overflow.
const SumLimit = 1 << 62

// Normal brings an instance to the form that engines see. Real coefficients
// become integers: exactly where all are multiples of one power of two, or of
// one power of ten, in a span that int64 holds; otherwise rounded to multiples
// of the smallest power of two that fits, and Exact is false. Those of a QUBO or
// a maximum cut are rounded to what is worse, so that every objective is at most
// the true value, and a solution whose objective is 0 or more is at least as good as
// all zeros.
func (inst *Instance) Normal() (*Normal, error) {
	p := &Normal{N: inst.N, Start: inst.Start, Col: inst.Col, Scale: 1, Sense: 1, Exact: true, whole: inst.Int != nil}
	if inst.Sense == Minimize {
		p.Sense = -1
	}
	t := inst.Int
	if t == nil {
		worse := p.Sense
		if inst.Form == Ising { // its products have either sign
			worse = 0
		}
		t, p.Scale, p.Exact, p.Lost = scaled(inst.Real, worse)
		if !p.Exact && p.Scale > 0x1p900 { // denormal numbers: their scale is no float64
			p.lift = 600
			t, p.Scale, p.Exact, p.Lost = scaled(lifted(inst.Real, p.lift), worse)
		}
	}
	if sum := magnitude(t); sum > SumLimit/64 {
		return nil, fmt.Errorf("%w: absolute values add up to %.3g, expected at most 2^56", ErrCoefficient, sum)
	}
	var offset int64
	switch inst.Form {
	case QUBO:
		p.Weight, p.Diag = t.Pair, t.Linear
	case Ising: // s = 2x-1: h s = 2h x - h, and J s s' = 4J x x' - 2J x - 2J x' + J
		p.Weight, p.Diag = make([]int64, len(t.Pair)), make([]int64, p.N)
		var twice atomic.Int64 // pairs are met from both ends
		parallel(p.N, func(from, to int) {
			var part int64
			for i := from; i < to; i++ {
				h := t.Linear[i]
				part -= 2 * h
				for k := inst.Start[i]; k < inst.Start[i+1]; k++ {
					j := t.Pair[k]
					p.Weight[k] = 4 * j
					h -= j
					part += j
				}
				p.Diag[i] = 2 * h
			}
			twice.Add(part)
		})
		offset = twice.Load() / 2
	case MaxCut: // w [x != x'] = w x + w x' - 2w x x'
		p.Weight, p.Diag = make([]int64, len(t.Pair)), make([]int64, p.N)
		parallel(p.N, func(from, to int) {
			for i := from; i < to; i++ {
				var sum int64
				for k := inst.Start[i]; k < inst.Start[i+1]; k++ {
					sum += t.Pair[k]
					p.Weight[k] = -2 * t.Pair[k]
				}
				p.Diag[i] = sum
			}
		})
	default:
		return nil, fmt.Errorf("form %q: expected %s, %s or %s", inst.Form, QUBO, Ising, MaxCut)
	}
	if inst.Int != nil {
		p.constant = offset + inst.Int.Offset
		p.offset = float64(p.constant)
	} else {
		p.offset = math.Ldexp(float64(offset)/p.Scale, -p.lift) + inst.Real.Offset
	}
	if inst.Sense == Minimize {
		p.Weight, p.Diag = slices.Clone(p.Weight), slices.Clone(p.Diag)
		for k := range p.Weight {
			p.Weight[k] = -p.Weight[k]
		}
		for i := range p.Diag {
			p.Diag[i] = -p.Diag[i]
		}
	}
	return p, nil
}

// magnitude is the sum of the absolute values, the same on any number of cores.
func magnitude[T Number](t *Terms[T]) float64 {
	total := func(list []T) (sum float64) {
		const piece = 1 << 14
		sums := make([]float64, (len(list)+piece-1)/piece)
		cores.Pieces(len(sums), func(k int) { sums[k] = absolute(list[k*piece : min((k+1)*piece, len(list))]) })
		for _, v := range sums {
			sum += v
		}
		return sum
	}
	return total(t.Linear) + total(t.Pair)/2
}

// absolute adds up absolute values, four sums at once.
func absolute[T Number](list []T) float64 {
	var a, b, c, d float64
	for ; len(list) >= 4; list = list[4:] {
		a += math.Abs(float64(list[0]))
		b += math.Abs(float64(list[1]))
		c += math.Abs(float64(list[2]))
		d += math.Abs(float64(list[3]))
	}
	for _, v := range list {
		a += math.Abs(float64(v))
	}
	return a + b + c + d
}

// lifted are small coefficients, times 2^by. The offset stays behind.
func lifted(t *Terms[float64], by int) *Terms[float64] {
	u := &Terms[float64]{Pair: slices.Clone(t.Pair), Linear: slices.Clone(t.Linear)}
	for _, list := range [][]float64{u.Pair, u.Linear} {
		for k, v := range list {
			list[k] = math.Ldexp(v, by)
		}
	}
	return u
}

// scaled makes integers of real coefficients: t times scale. The offset stays
// behind. What is not exact is rounded down where worse is 1, up where worse is -1,
// and to the nearest where worse is 0; lost is how many coefficients that are not 0
// became 0.
func scaled(t *Terms[float64], worse float64) (_ *Terms[int64], scale float64, exact bool, lost int64) {
	sum := magnitude(t)
	fits := func(scale float64) bool { return sum*scale <= SumLimit/128 }
	scale, exact = 1, true
	if g := min(grain(t.Pair), grain(t.Linear)); g < 0 {
		scale = math.Ldexp(1, -max(g, -1000))
		if exact = g >= -1000 && fits(scale); !exact {
			for ten := 10.0; ten <= 1e15 && fits(ten) && !exact; ten *= 10 {
				scale, exact = ten, decimal(t.Pair, ten) && decimal(t.Linear, ten)
			}
		}
	}
	if !exact || !fits(scale) {
		_, e := math.Frexp(sum)
		scale, exact = math.Ldexp(1, min(54-e, 1000)), exact && fits(scale)
	}
	if exact {
		worse = 0
	}
	u := &Terms[int64]{}
	var pairs, linear int64 // pairs are stored from both ends
	u.Pair, pairs = rounded(t.Pair, scale, worse)
	u.Linear, linear = rounded(t.Linear, scale, worse)
	return u, scale, exact, pairs/2 + linear
}

// rounded are values times scale as integers, and how many became 0 that were
// not.
func rounded(values []float64, scale, worse float64) (whole []int64, lost int64) {
	whole = make([]int64, len(values))
	for k, v := range values {
		x := v * scale
		switch {
		case worse == 0:
			x = math.RoundToEven(x)
		case x == 0 && v != 0: // the product is too small for a float64
			x = worse * math.Floor(worse*math.Copysign(0.5, v))
		default:
			x = worse * math.Floor(worse*x)
		}
		if whole[k] = int64(x); x == 0 && v != 0 {
			lost++
		}
	}
	return whole, lost
}

// grain is the largest g <= 0 so that every value is a multiple of 2^g.
func grain(values []float64) int {
	g := 0
	for _, v := range values {
		if v == 0 || v == math.Trunc(v) {
			continue
		}
		fraction, e := math.Frexp(v)
		m := int64(math.Ldexp(fraction, 53))
		g = min(g, e-53+trailing(m))
	}
	return g
}

// decimal reports whether every value is the float64 nearest to a multiple of
// 1/ten.
func decimal(values []float64, ten float64) bool {
	for _, v := range values {
		if m := math.RoundToEven(v * ten); math.Abs(m) > 1<<53 || m/ten != v {
			return false
		}
	}
	return true
}

// ValueInt is the value of x, bit i%64 of word i/64, in an instance of integer
// coefficients.
func (inst *Instance) ValueInt(x []uint64) int64 {
	t := inst.Int
	var sum atomic.Int64
	parallel(inst.N, func(from, to int) {
		var part int64
		for i := from; i < to; i++ {
			part += valueOf(inst, t, x, i)
		}
		sum.Add(part)
	})
	return t.Offset + sum.Load()
}

// Value is the value of x. Sums of real coefficients are compensated
// (A. Neumaier, ZAMM 54, 1974).
func (inst *Instance) Value(x []uint64) float64 {
	if inst.Int != nil {
		return float64(inst.ValueInt(x))
	}
	var sum compensated
	sum.add(inst.Real.Offset)
	for i := range inst.N {
		terms(inst, inst.Real, x, i, sum.add)
	}
	return sum.value()
}

// compensated is a sum of floats with a second sum of the rounding errors.
type compensated struct{ sum, lost float64 }

func (c *compensated) add(v float64) {
	next := c.sum + v
	if math.Abs(c.sum) >= math.Abs(v) {
		c.lost += c.sum - next + v
	} else {
		c.lost += v - next + c.sum
	}
	c.sum = next
}

func (c *compensated) value() float64 { return c.sum + c.lost }

// before is the part of row i whose columns are below i.
func (inst *Instance) before(i int) (from, to int64) {
	from = inst.Start[i]
	row := inst.Col[from:inst.Start[i+1]]
	at, _ := slices.BinarySearch(row, int32(i))
	return from, from + int64(at)
}

// valueOf is the share of the value of x that variable i, and its pairs with variables before it,
// have.
func valueOf(inst *Instance, t *Terms[int64], x []uint64, i int) (sum int64) {
	from, to := inst.before(i)
	xi := Bit(x, i)
	switch inst.Form {
	case QUBO:
		if xi == 0 {
			return 0
		}
		sum = t.Linear[i]
		for k := from; k < to; k++ {
			sum += t.Pair[k] & -int64(Bit(x, int(inst.Col[k])))
		}
	case Ising:
		sum = t.Linear[i] * (2*int64(xi) - 1)
		for k := from; k < to; k++ {
			differ := -int64(Bit(x, int(inst.Col[k])) ^ xi)
			sum += (t.Pair[k] ^ differ) - differ
		}
	case MaxCut:
		for k := from; k < to; k++ {
			sum += t.Pair[k] & -int64(Bit(x, int(inst.Col[k]))^xi)
		}
	}
	return sum
}

// terms calls add with every term of the value of x of variable i, and of its pairs with variables
// before it.
func terms(inst *Instance, t *Terms[float64], x []uint64, i int, add func(float64)) {
	from, to := inst.before(i)
	xi := Bit(x, i)
	switch {
	case inst.Form == QUBO && xi == 0:
		return
	case inst.Form == QUBO || inst.Form == Ising && xi == 1:
		add(t.Linear[i])
	case inst.Form == Ising:
		add(-t.Linear[i])
	}
	for k := from; k < to; k++ {
		same := Bit(x, int(inst.Col[k])) == xi
		switch {
		case same == (inst.Form != MaxCut):
			add(t.Pair[k])
		case inst.Form == Ising:
			add(-t.Pair[k])
		}
	}
}
