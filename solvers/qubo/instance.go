// Package qubo solves binary quadratic programs: it chooses x in {0,1}^n so
// that xᵀQx is largest or smallest. Ising models (spins of -1 and +1) and
// maximum cuts are the same problem in other words.
//
// An Instance is read from a file (Read) or drawn (Generate). Solve brings it
// to one form, maximise with int64 coefficients, fixes what can be fixed
// provably, hands the rest to a search on a device or on the host, and
// recomputes the value of what comes back from the instance's own
// coefficients.
package qubo

import (
	"fmt"
	"math"
	"math/big"
	"sync/atomic"

	"coalesce/solvers/cores"
)

// MaxVariables is the most variables an instance may have: columns are int32.
const MaxVariables = math.MaxInt32

// A Form says what an instance's coefficients are coefficients of.
type Form string

// The forms. x is in {0,1}^n, s = 2x-1 in {-1,+1}^n.
const (
	QUBO   Form = "qubo"   // Σ linear(i) x(i) + Σ{i<j} pair(i,j) x(i) x(j)
	Ising  Form = "ising"  // Σ linear(i) s(i) + Σ{i<j} pair(i,j) s(i) s(j)
	MaxCut Form = "maxcut" // Σ{i<j} pair(i,j) [x(i) ≠ x(j)]; no linear terms
)

// A Sense says whether the largest or the smallest value is asked for.
type Sense string

// The senses.
const (
	Maximize Sense = "maximize"
	Minimize Sense = "minimize"
)

// A Number is the type of an instance's coefficients.
type Number interface{ int64 | float64 }

// Terms are the coefficients of an instance with n variables.
type Terms[T Number] struct {
	Offset T
	Linear []T // n
	Pair   []T // len(Instance.Col); of both (i,j) and (j,i): the coefficient of the product, once
}

// An Instance is a binary quadratic program. Its pairs are a symmetric sparse
// matrix without a diagonal: those of variable i are Col[Start[i]:Start[i+1]],
// ascending. An instance is read only once it is made.
type Instance struct {
	N     int
	Form  Form
	Sense Sense
	Start []int64 // N+1
	Col   []int32
	// Exactly one of the two is set.
	Int  *Terms[int64]
	Real *Terms[float64]

	Fixed  []int8   // nil, or of every variable: 0 or 1 where it is fixed, -1 where free
	Hint   []uint64 // nil, or a solution to begin from, bit i%64 of word i/64
	Names  []string // nil where the variables are 0 ... N-1
	Source string   // the file, or the drawing
	Format string   // as Formats names it
	Notes  []string // what was changed or assumed on the way in, one sentence each
}

// Pairs is the number of pairs with a coefficient.
func (inst *Instance) Pairs() int64 { return int64(len(inst.Col)) / 2 }

// normal is the form that engines see: maximise
//
//	Σ diag(i) x(i) + Σ{i<j} weight(i,j) x(i) x(j)
//
// in integers whose absolute values add up to at most 2^60, so that no value
// and no delta overflows. With symmetric Q, diag(i) = q(i,i) and weight(i,j) =
// q(i,j) + q(j,i).
type normal struct {
	n      int
	start  []int64 // n+1: row i of the symmetric matrix is col[start[i]:start[i+1]], ascending
	col    []int32 // both (i,j) and (j,i) are there
	weight []int64
	diag   []int64

	offset   float64 // original value = offset + sense * objective/scale
	constant int64   // the offset, where the instance's coefficients are integers
	scale    float64
	sense    float64 // +1: the instance maximises, -1: it minimises
	exact    bool    // the scaled coefficients are the original ones, not rounded
	whole    bool    // those are integers

	known *spans // nil where they were not computed yet
}

// words is the length of a solution of n variables.
func words(n int) int { return (n + 63) / 64 }

// bit is variable i of a solution.
func bit(x []uint64, i int) uint64 { return x[i>>6] >> (i & 63) & 1 }

// row returns the columns and weights of variable i.
func (p *normal) row(i int) ([]int32, []int64) {
	low, high := p.start[i], p.start[i+1]
	return p.col[low:high], p.weight[low:high]
}

// value computes the objective of x from nothing but the coefficients.
func (p *normal) value(x []uint64) int64 {
	var sum atomic.Int64
	parallel(p.n, func(from, to int) {
		var twice, single int64 // pairs are met from both ends
		for i := from; i < to; i++ {
			if bit(x, i) == 0 {
				continue
			}
			single += p.diag[i]
			col, weight := p.row(i)
			for k, j := range col {
				twice += weight[k] & -int64(x[j>>6]>>(j&63)&1)
			}
		}
		sum.Add(2*single + twice)
	})
	return sum.Load() / 2
}

// valueFrom is value(y), computed from that of x: it reads the rows of those
// variables alone in which the two differ. With s = y - x that is value(x) +
// Σ s(i) (diag(i) + ½ Σ weight(i,j) (x(j) + y(j))).
func (p *normal) valueFrom(x []uint64, value int64, y []uint64) int64 {
	var differ []int
	for k := range y {
		for rest := x[k] ^ y[k]; rest != 0; rest &= rest - 1 {
			differ = append(differ, k<<6+lowest(rest))
		}
	}
	var twice atomic.Int64
	cores.Split(len(differ), fewRows(p.n), func(from, to int) {
		var sum int64
		for _, i := range differ[from:to] {
			col, weight := p.row(i)
			field := 2 * p.diag[i]
			for k, j := range col {
				field += weight[k]&-int64(bit(x, int(j))) + weight[k]&-int64(bit(y, int(j)))
			}
			sum += field * (1 - 2*int64(bit(x, i)))
		}
		twice.Add(sum)
	})
	return value + twice.Load()/2
}

// deltas sets d[i] to value(x with variable i flipped) - value(x), for every i.
func (p *normal) deltas(x []uint64, d []int64) {
	copy(d, p.diag)
	for i := range p.n {
		if bit(x, i) == 1 {
			col, weight := p.row(i)
			for k, j := range col {
				d[j] += weight[k]
			}
		}
	}
	for i := range p.n {
		if bit(x, i) == 1 {
			d[i] = -d[i]
		}
	}
}

// spans are the magnitudes from which an engine chooses its types.
type spans struct {
	weight int64   // max |weight|
	least  int64   // min |weight|; MaxInt64 where there is none
	grain  int64   // the largest power of two that divides every weight
	diag   int64   // max |diag|
	delta  int64   // no |delta| of any x is larger
	dense  float64 // share of the pairs that have a weight
}

func (p *normal) spans() spans {
	if p.known != nil {
		return *p.known
	}
	s := p.measure()
	return *s.spans(p)
}

func abs(v int64) int64 {
	if v < 0 {
		return -v
	}
	return v
}

// original is the value, in the instance's own terms, of a scaled objective.
func (p *normal) original(objective int64) float64 {
	return p.offset + p.sense*(float64(objective)/p.scale)
}

// objective is the least scaled objective whose value is at least as good as an
// original value, within 2^61.
func (p *normal) objective(original float64) int64 {
	f := new(big.Float).SetPrec(200).Sub(big.NewFloat(original), big.NewFloat(p.offset))
	f.Mul(f, big.NewFloat(p.sense*p.scale))
	if p.exact && !p.whole { // a target one rounding error above an attainable value means that value
		slack := new(big.Float).Mul(big.NewFloat(math.Abs(original)+math.Abs(p.offset)), big.NewFloat(p.scale*0x1p-50))
		f.Sub(f, slack)
	}
	up, accuracy := f.Int(nil)
	if accuracy == big.Below {
		up.Add(up, big.NewInt(1))
	}
	const far = 1 << 61 // beyond every objective
	switch {
	case up.Cmp(big.NewInt(far)) > 0:
		return far
	case up.Cmp(big.NewInt(-far)) < 0:
		return -far
	}
	return up.Int64()
}

// String describes the instance in a line.
func (inst *Instance) String() string {
	kind := "integer"
	if inst.Real != nil {
		kind = "real"
	}
	density := 0.0
	if inst.N > 1 {
		density = float64(len(inst.Col)) / (float64(inst.N) * float64(inst.N-1))
	}
	return fmt.Sprintf("%s %s, %d variables, %d pairs (density %.3g), %s coefficients",
		inst.Sense, inst.Form, inst.N, inst.Pairs(), density, kind)
}
