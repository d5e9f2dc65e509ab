package problem

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"sync"
	"sync/atomic"

	"coalesce/solvers/cores"
)

// SumLimit bounds sums that have to be int64. The absolute values of coefficients
// may add up to a 64th of it, so that those of any form, and four times those,
// do not overflow.
const SumLimit = 1 << 62

// Normal brings an instance to the form that engines see. Real coefficients become integers:
// exactly where all are multiples of one power of two, or of one power of ten, in a span that int64
// holds, or where bringing magnitudes nearer to each other makes them so (scale); otherwise rounded
// to multiples of the smallest power of two that fits, and Exact is false. Those of a QUBO or a
// maximum cut are rounded to the worse side. Every objective is then at most the true value, and a
// solution with an objective of 0 or more is at least as good as all zeros. Over bounds what
// rounding takes from a solution.
func (inst *Instance) Normal() (*Normal, error) {
	p := &Normal{N: inst.N, Start: inst.Start, Col: inst.Col, Sense: 1, Exact: true, whole: inst.Int != nil, scale: scale{ten: 1}}
	if inst.Sense == Minimize {
		p.Sense = -1
	}
	t := inst.Int
	if t == nil {
		worse := p.Sense
		if inst.Form == Ising { // its products have either sign
			worse = 0
		}
		t, p.scale = scaleToIntegers(inst.Real, worse)
		s := &p.scale
		if inst.Form == Ising || s.ten > 1 { // rounded to the nearest
			s.over += s.under
			s.under = s.over
		} else if p.Sense < 0 {
			s.over, s.under = s.under, s.over
		}
		p.Exact, p.Apart = s.over+s.under == 0 || s.ten > 1, len(s.bands) > 0
		p.Over, p.Lost = s.over, s.lost
	}
	if sum := sumMagnitudes(t); sum > SumLimit/64 {
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
	if p.constant = offset; inst.Int != nil {
		p.constant += inst.Int.Offset
	} else {
		p.offset = inst.Real.Offset
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

// sumMagnitudes is the sum of the absolute values, the same on any number of cores.
func sumMagnitudes[T Number](t *Terms[T]) float64 {
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

// Value is the value of x. That of real coefficients is their exact sum, rounded once.
func (inst *Instance) Value(x []uint64) float64 {
	if inst.Int != nil {
		return float64(inst.ValueInt(x))
	}
	return inst.sum(x).Float()
}

// Exact is the value of x in an instance of real coefficients, without rounding.
func (inst *Instance) Exact(x []uint64) *big.Float { return inst.sum(x).Exact() }

// sum adds up the terms of x, which are real.
func (inst *Instance) sum(x []uint64) *Sum {
	var mu sync.Mutex
	var sum Sum
	sum.Add(inst.Real.Offset)
	cores.Split(inst.N, RowsPerCore(1+len(inst.Col)/max(1, inst.N)), func(from, to int) {
		var part Sum
		for i := from; i < to; i++ {
			terms(inst, inst.Real, x, i, part.Add)
		}
		mu.Lock()
		defer mu.Unlock()
		sum.Join(&part)
	})
	return &sum
}

// lowerRange is the part of row i whose columns are below i.
func (inst *Instance) lowerRange(i int) (from, to int64) {
	from = inst.Start[i]
	row := inst.Col[from:inst.Start[i+1]]
	at, _ := slices.BinarySearch(row, int32(i))
	return from, from + int64(at)
}

// valueOf is the share of the value of x that variable i, and its pairs with variables before it,
// have.
func valueOf(inst *Instance, t *Terms[int64], x []uint64, i int) (sum int64) {
	from, to := inst.lowerRange(i)
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
	from, to := inst.lowerRange(i)
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
