package host

import (
	"math/bits"
	"sync"
	"unsafe"

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

// denseRows hold all pairs, row i from i*stride on, the rest of a row zeros.
type denseRows[R qubo.Row, S qubo.Sum] struct {
	weight []R
	stride int
	shift  int // bits by which the weights are to be shifted to the left
}

func (m *denseRows[R, S]) row(i int) []R { return m.weight[i*m.stride : (i+1)*m.stride] }

func (m *denseRows[R, S]) add(i int, negate bool, field []S) {
	qubo.AddRow(m.row(i), m.shift, negate, field)
}

func (m *denseRows[R, S]) step(i int, negate bool, field []S, x, free []uint64, rotate int) qubo.Best {
	return qubo.AddRowPickFlip(m.row(i), m.shift, negate, field, x, free, rotate)
}

// Rows come at 48 bytes a nanosecond from a cache, at 5 from memory.
func (m *denseRows[R, S]) flipCosts() (step, add float64) {
	row, field := float64(int(unsafe.Sizeof(R(0)))*m.stride), float64(int(unsafe.Sizeof(S(0)))*m.stride)
	rate := 48.0
	if row*float64(m.stride) > cacheBytes {
		rate = 5
	}
	return 20 + row/rate + field/64, 10 + row/rate + field/128
}

func (m *denseRows[R, S]) sparse() *sparseRows[S] { return nil }

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

// layOutRows lays out the weights of p, which fit in S and, halved shift times, in R.
// It gives up, with nil, when time is over.
func layOutRows[R qubo.Row, S qubo.Sum](p *problem.Normal, shift, workers int, end *deadline) matrix[S] {
	stride := (p.N + qubo.Turn - 1) &^ (qubo.Turn - 1)
	if float64(len(p.Col)) < problem.DenseFrom*float64(p.N)*float64(p.N) || int64(unsafe.Sizeof(R(0)))*int64(stride)*int64(p.N) > denseBytes {
		m := &sparseRows[S]{n: p.N, start: p.Start, col: p.Col, weight: make([]S, len(p.Weight))}
		cores.Split(p.N, 64, func(from, to int) {
			for i := from; i < to && !end.passed(); i++ {
				for k := p.Start[i]; k < p.Start[i+1]; k++ {
					m.weight[k] = S(p.Weight[k])
				}
			}
		})
		if end.passed() {
			return nil
		}
		return m
	}
	m := &denseRows[R, S]{weight: make([]R, p.N*stride), stride: stride, shift: shift}
	var team sync.WaitGroup
	for k := range workers {
		team.Go(func() {
			for i := k; i < p.N && !end.passed(); i += workers {
				col, weight := p.Row(i)
				row := m.row(i)
				for k, j := range col {
					row[j] = R(weight[k] >> m.shift)
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
