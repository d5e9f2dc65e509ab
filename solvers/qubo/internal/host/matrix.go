package host

import (
	"math/bits"
	"sync"
	"unsafe"

	genqubo "coalesce/generated/qubo"
	"coalesce/runtime/device"
	"coalesce/runtime/host/kernels/qubo"
	"coalesce/solvers/cores"
	"coalesce/solvers/qubo/problem"
)

// A matrix is the weights of a problem in the layout of a host search. S is
// the type of its fields: of variable j, diag(j) + Σ weight(j,k) x(k).
type matrix[S qubo.Sum] interface {
	// add adds row i to the fields, or subtracts it.
	add(i int, negate bool, field []S)
	// step is add, and finds the best flip afterwards.
	step(i int, negate bool, field []S, x, free []uint64, rotate int) qubo.Best
	// flipCosts are those of a step and of an add, in units of about a nanosecond.
	flipCosts() (step, add float64)
	// sparse returns the rows of a sparse matrix, nil for a dense one.
	sparse() *sparseRows[S]
}

// denseRows hold the weights of a problem that is not sparse, row i from start[i] to start[i+1]: all, zeros too, or those at the
// columns col.
type denseRows[W qubo.Row, S qubo.Sum] struct {
	flipper[W, S]
	weight []W
	start  []int64
	col    []int32 // nil: all
	shift  int     // bits by which the weights are to be shifted to the left
	costs  [2]float64
}

func (m *denseRows[W, S]) row(i int) (row []W, at []int32) {
	low, high := m.start[i], m.start[i+1]
	if m.col != nil {
		at = m.col[low:high:high]
	}
	return m.weight[low:high:high], at
}

func (m *denseRows[W, S]) add(i int, negate bool, field []S) {
	row, at := m.row(i)
	m.flipper.add(row, at, m.shift, negate, field)
}

func (m *denseRows[W, S]) step(i int, negate bool, field []S, x, free []uint64, rotate int) qubo.Best {
	row, at := m.row(i)
	return m.flipper.step(row, at, m.shift, negate, field, x, free, rotate)
}

// flipCosts are the same for all variants, so that answers are.
func (m *denseRows[W, S]) flipCosts() (step, add float64) { return m.costs[0], m.costs[1] }

// denseCosts are those of rows with all weights, of the narrowest type: these come at 48 bytes a nanosecond from a cache, at 5
// from memory.
func denseCosts[R qubo.Row, S qubo.Sum](stride int) [2]float64 {
	row, field := float64(int(unsafe.Sizeof(R(0)))*stride), float64(int(unsafe.Sizeof(S(0)))*stride)
	rate := 48.0
	if row*float64(stride) > cacheBytes {
		rate = 5
	}
	return [2]float64{20 + row/rate + field/64, 10 + row/rate + field/128}
}

func (m *denseRows[W, S]) sparse() *sparseRows[S] { return nil }

// sparseRows are the pairs of row i at start[i] to start[i+1].
type sparseRows[S qubo.Sum] struct {
	n      int
	start  []int64
	col    []int32
	weight []S
}

func (m *sparseRows[S]) row(i int) ([]int32, []S) {
	low, high := m.start[i], m.start[i+1]
	return m.col[low:high:high], m.weight[low:high:high]
}

func (m *sparseRows[S]) add(i int, negate bool, field []S) {
	col, weight := m.row(i)
	weight = weight[:len(col)]
	if negate {
		for k, j := range col {
			field[j] -= weight[k]
		}
		return
	}
	for k, j := range col {
		field[j] += weight[k]
	}
}

func (m *sparseRows[S]) step(i int, negate bool, field []S, x, free []uint64, rotate int) qubo.Best {
	m.add(i, negate, field)
	return qubo.PickFlip(field, x, free, rotate)
}

func (m *sparseRows[S]) flipCosts() (step, add float64) {
	add = 5 + float64(len(m.col))/float64(max(1, m.n))
	return add + float64(m.n)/16, add
}

func (m *sparseRows[S]) sparse() *sparseRows[S] { return m }

// denseBytes bounds the memory of dense rows.
const denseBytes = 8 << 30

// cacheBytes is the size up to which a matrix is taken to stay in the caches.
const cacheBytes = 16 << 20

// layOutRows lays out the weights of p, which fit in S and, halved shift times, in R, as a variant of qubo/hostflips has them
// (nil: the safe one). It gives up, with nil, when time is over.
func layOutRows[R qubo.Row, S qubo.Sum](p *problem.Normal, shift, workers int, end *deadline, v *device.Variant) matrix[S] {
	if isSparse(p, int(unsafe.Sizeof(R(0)))) {
		m := &sparseRows[S]{n: p.N, start: p.Start, col: p.Col}
		if m.weight = pairWeights[S](p, 0, end); m.weight == nil {
			return nil
		}
		return m
	}
	costs := denseCosts[R, S]((p.N + qubo.Turn - 1) &^ (qubo.Turn - 1))
	if f, ok := flipperOf[R, S](v); ok {
		return layOutDense(p, f, shift, workers, end, v, costs)
	}
	if f, ok := flipperOf[S, S](v); ok {
		return layOutDense(p, f, shift, workers, end, v, costs)
	}
	f, _ := flipperOf[int16, S](v) // of bytes
	return layOutDense(p, f, shift, workers, end, v, costs)
}

// pairWeights are the weights of the pairs, shifted to the right; nil where time is over.
func pairWeights[W qubo.Row](p *problem.Normal, shift int, end *deadline) []W {
	weight := make([]W, len(p.Weight))
	cores.Split(p.N, 64, func(from, to int) {
		for i := from; i < to && !end.passed(); i++ {
			for k := p.Start[i]; k < p.Start[i+1]; k++ {
				weight[k] = W(p.Weight[k] >> shift)
			}
		}
	})
	if end.passed() {
		return nil
	}
	return weight
}

// layOutDense lays out rows for the flips of a variant.
func layOutDense[W qubo.Row, S qubo.Sum](p *problem.Normal, f flipper[W, S], shift, workers int, end *deadline, v *device.Variant, costs [2]float64) matrix[S] {
	m := &denseRows[W, S]{flipper: f, shift: shift, costs: costs}
	if v != nil && genqubo.Hostflips.Value(v, "rows") != allWeights {
		m.start, m.col = p.Start, p.Col
		if m.weight = pairWeights[W](p, shift, end); m.weight == nil {
			return nil
		}
		return m
	}
	stride := (p.N + qubo.Turn - 1) &^ (qubo.Turn - 1)
	m.weight, m.start = make([]W, p.N*stride), make([]int64, p.N+1)
	for i := range m.start {
		m.start[i] = int64(i) * int64(stride)
	}
	var team sync.WaitGroup
	for k := range workers {
		team.Go(func() {
			for i := k; i < p.N && !end.passed(); i += workers {
				col, weight := p.Row(i)
				row, _ := m.row(i)
				for k, j := range col {
					row[j] = W(weight[k] >> shift)
				}
			}
		})
	}
	team.Wait()
	if end.passed() {
		return nil
	}
	return m
}

// A state is a solution with its fields and value, kept from flip to flip.
type state[S qubo.Sum] struct {
	p     *problem.Normal
	m     matrix[S]
	field []S
	x     []uint64
	value int64
}

func newState[S qubo.Sum](p *problem.Normal, m matrix[S]) *state[S] {
	size := (p.N + qubo.Turn - 1) / qubo.Turn
	s := &state[S]{p: p, m: m, field: make([]S, size*qubo.Turn), x: make([]uint64, size)}
	for i := range s.field {
		s.field[i] = qubo.FillerField[S]()
	}
	for i, d := range p.Diag {
		s.field[i] = S(d)
	}
	return s
}

// gain is the change of the value when variable i flips.
func (s *state[S]) gain(i int) S {
	if problem.Bit(s.x, i) != 0 {
		return -s.field[i]
	}
	return s.field[i]
}

// flipBit flips variable i in x and in value, and reports whether the caller has to subtract the row
// of i from the fields, or to add it.
func (s *state[S]) flipBit(i int) (negate bool) {
	s.value += int64(s.gain(i))
	negate = problem.Bit(s.x, i) != 0
	s.x[i>>6] ^= 1 << (i & 63)
	return negate
}

// flip flips variable i.
func (s *state[S]) flip(i int) { s.m.add(i, s.flipBit(i), s.field) }

// flipWord flips every variable of word k in which x differs from to, and returns
// how many.
func (s *state[S]) flipWord(k int, to uint64) (flips int64) {
	for rest := s.x[k] ^ to; rest != 0; rest &= rest - 1 {
		s.flip(k<<6 + bits.TrailingZeros64(rest))
		flips++
	}
	return flips
}
