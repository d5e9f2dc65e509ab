package problem

import (
	"math"
	"math/big"
	"math/bits"
	"sort"
	"sync/atomic"

	"coalesce/solvers/cores"
)

// Normal is the form that engines see: maximise
//
//	Σ Diag(i) x(i) + Σ{i<j} Weight(i,j) x(i) x(j)
//
// in integers whose absolute values add up to at most 2^60, so that no value
// and no delta overflows. With symmetric Q, Diag(i) = q(i,i) and Weight(i,j) =
// q(i,j) + q(j,i).
type Normal struct {
	N      int
	Start  []int64 // N+1: row i of the symmetric matrix is Col[Start[i]:Start[i+1]], ascending
	Col    []int32 // both (i,j) and (j,i) are there
	Weight []int64 // of Col
	Diag   []int64 // N

	constant int64   // of the integers that stand for the value: Sense times that is constant + Sense * objective
	offset   float64 // of the value, where the instance's coefficients are real
	scale    scale   // of those
	Sense    float64 // +1: the instance maximises, -1: it minimises
	Exact    bool    // the scaled coefficients are the original ones, not rounded
	Apart    bool    // magnitudes that are far apart were brought nearer to each other: the last bits count
	whole    bool    // the instance's coefficients are integers
	Over     float64 // a solution's true objective is at most so much above the objective: by rounding
	Lost     int64   // coefficients that became 0 in rounding

	Known *Spans // the spans; nil where they were not computed yet
}

// Words is the length of a solution of n variables.
func Words(n int) int { return (n + 63) / 64 }

// Bit is variable i of a solution.
func Bit(x []uint64, i int) uint64 { return x[i>>6] >> (i & 63) & 1 }

// Row returns the columns and weights of variable i.
func (p *Normal) Row(i int) ([]int32, []int64) {
	low, high := p.Start[i], p.Start[i+1]
	return p.Col[low:high], p.Weight[low:high]
}

// Value computes the objective of x from nothing but the coefficients.
func (p *Normal) Value(x []uint64) int64 {
	var sum atomic.Int64
	parallel(p.N, func(from, to int) {
		var twice, single int64 // pairs are met from both ends
		for i := from; i < to; i++ {
			if Bit(x, i) == 0 {
				continue
			}
			single += p.Diag[i]
			col, weight := p.Row(i)
			for k, j := range col {
				twice += weight[k] & -int64(x[j>>6]>>(j&63)&1)
			}
		}
		sum.Add(2*single + twice)
	})
	return sum.Load() / 2
}

// ValueFrom is value(y), computed from that of x: it reads the rows of those
// variables alone in which the two differ. With s = y - x that is value(x) +
// Σ s(i) (diag(i) + ½ Σ weight(i,j) (x(j) + y(j))).
func (p *Normal) ValueFrom(x []uint64, value int64, y []uint64) int64 {
	var differ []int
	for k := range y {
		for rest := x[k] ^ y[k]; rest != 0; rest &= rest - 1 {
			differ = append(differ, k<<6+bits.TrailingZeros64(rest))
		}
	}
	var twice atomic.Int64
	cores.Split(len(differ), RowsPerCore(p.N), func(from, to int) {
		var sum int64
		for _, i := range differ[from:to] {
			col, weight := p.Row(i)
			field := 2 * p.Diag[i]
			for k, j := range col {
				field += weight[k]&-int64(Bit(x, int(j))) + weight[k]&-int64(Bit(y, int(j)))
			}
			sum += field * (1 - 2*int64(Bit(x, i)))
		}
		twice.Add(sum)
	})
	return value + twice.Load()/2
}

// Deltas sets d[i] to value(x with variable i flipped) - value(x), for every i.
func (p *Normal) Deltas(x []uint64, d []int64) {
	copy(d, p.Diag)
	for i := range p.N {
		if Bit(x, i) == 1 {
			col, weight := p.Row(i)
			for k, j := range col {
				d[j] += weight[k]
			}
		}
	}
	for i := range p.N {
		if Bit(x, i) == 1 {
			d[i] = -d[i]
		}
	}
}

// IsRoundable reports whether an engine may take fewer bits of the coefficients: they are rounded
// already.
func (p *Normal) IsRoundable() bool { return !p.Exact && !p.Apart }

// RoundingWindow is how far below the best objective that of the best solution may be, by rounding.
func (p *Normal) RoundingWindow() int64 { return int64(math.Ceil(p.Over + p.scale.under)) }

// exactValue is the value, in the instance's own terms, of an objective and of extra units of it, which
// may be fractions.
func (p *Normal) exactValue(objective int64, extra float64) *big.Float {
	sum := p.scale.value(int64(p.Sense)*p.constant + objective)
	sum.Add(sum, p.scale.units(newExact().SetFloat64(extra)))
	if p.Sense < 0 {
		sum.Neg(sum)
	}
	return sum.Add(sum, new(big.Float).SetFloat64(p.offset))
}

// Original is the value, in the instance's own terms, of an objective: the nearest float64.
func (p *Normal) Original(objective int64) float64 {
	f, _ := p.exactValue(objective, 0).Float64()
	return f
}

// Objective is the least objective of which solutions are at least as good as an
// original value, within 2^61.
func (p *Normal) Objective(original float64) int64 {
	target := newExact().SetFloat64(original)
	if p.Exact && !p.whole { // a target one rounding error above an attainable value means that value
		slack := newExact().SetFloat64(p.Sense * (math.Abs(original) + math.Abs(p.offset)))
		target.Sub(target, slack.SetMantExp(slack, -50))
	}
	const infinity = 1 << 61 // beyond every objective
	reached := func(v int) bool {
		return p.exactValue(int64(v)-infinity, -p.scale.under).Cmp(target)*int(p.Sense) >= 0
	}
	return int64(sort.Search(2*infinity, reached)) - infinity
}

// Flip flips variable i of x and keeps the deltas.
func Flip(p *Normal, x []uint64, delta []int64, i int) {
	col, weight := p.Row(i)
	was := Bit(x, i)
	for k, j := range col {
		if Bit(x, int(j)) == was {
			delta[j] += weight[k]
		} else {
			delta[j] -= weight[k]
		}
	}
	delta[i] = -delta[i]
	x[i>>6] ^= 1 << (i & 63)
}

// Coarsened is p with coefficients divided by a power of two and rounded, so that
// no delta exceeds limit, for engines of narrow types; p itself where they fit.
// Values found with it are recomputed with p.
func (p *Normal) Coarsened(limit int64) *Normal {
	shift := 0
	for d := p.Spans().Delta + int64(p.N); d>>shift > limit; shift++ {
	}
	if shift == 0 || p.Spans().Delta <= limit {
		return p
	}
	q := *p
	q.Known = nil
	round := func(values []int64) []int64 {
		out := make([]int64, len(values))
		for k, v := range values {
			out[k] = (v + 1<<(shift-1)) >> shift
		}
		return out
	}
	q.Weight, q.Diag = round(p.Weight), round(p.Diag)
	q.Exact = false
	return &q
}
