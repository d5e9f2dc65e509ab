package problem

import (
	"math"
	"math/bits"
	"sync"

	"coalesce/solvers/cores"
)

// Spans are the magnitudes from which an engine chooses its types.
type Spans struct {
	Weight int64 // max |weight|
	Least  int64 // min |weight|; MaxInt64 for a problem without weights
	Grain  int64 // the largest power of two that divides every weight
	Delta  int64 // no |delta| of any x is larger
}

// Spans are the magnitudes of a problem: those that preprocessing has kept, else those of a pass
// over its rows.
func (p *Normal) Spans() Spans {
	if p.Known != nil {
		return *p.Known
	}
	s := p.Measure()
	return *s.Spans()
}

func abs(v int64) int64 {
	if v < 0 {
		return -v
	}
	return v
}

// RowSums are sums and magnitudes of rows of a problem, for bounds and Spans.
type RowSums struct {
	halves, fields, pairs int64
	all                   int64 // every bit that is set in a weight
	magnitudes            Spans
}

// NewRowSums are those of an empty set of rows.
func NewRowSums() RowSums { return RowSums{magnitudes: Spans{Least: math.MaxInt64}} }

// AddRow adds row i, and returns the sums of its negative and positive weights.
func (s *RowSums) AddRow(p *Normal, i int) (low, high int64) {
	_, weight := p.Row(i)
	m := &s.magnitudes
	least, largest, sum, all := m.Least, int64(0), int64(0), s.all
	for _, w := range weight {
		sign := w >> 63
		low += w & sign
		sum += w
		all |= w
		w = w ^ sign - sign
		least, largest = min(least, w), max(largest, w)
	}
	high = sum - low
	d := p.Diag[i]
	s.halves += max(0, 2*d+high)
	s.fields += 2*d + abs(2*d+sum)
	s.pairs += 2 * high // w and |w|
	s.all, m.Least = all, least
	m.Weight, m.Delta = max(m.Weight, largest), max(m.Delta, d+high, -d-low)
	return low, high
}

// Join adds the sums of other rows.
func (s *RowSums) Join(t RowSums) {
	s.halves, s.fields, s.pairs, s.all = s.halves+t.halves, s.fields+t.fields, s.pairs+t.pairs, s.all|t.all
	m, o := &s.magnitudes, t.magnitudes
	m.Weight, m.Delta, m.Least = max(m.Weight, o.Weight), max(m.Delta, o.Delta), min(m.Least, o.Least)
}

// Bound is an upper bound on the objective: the smaller of two sums. One gives each variable its
// diagonal and half of its positive weights. The other adds up the absolute values of the
// coefficients as an Ising model, four times which are integers; a cut of a bipartite graph
// without negative weights meets it.
func (s *RowSums) Bound() int64 { return min(s.halves>>1, (s.fields+s.pairs/2)>>2) }

// Spans are the magnitudes of the problem whose rows were added.
func (s *RowSums) Spans() *Spans {
	m := s.magnitudes
	m.Grain = 1 << bits.TrailingZeros64(uint64(s.all)|1<<62)
	return &m
}

// Measure adds up all rows, on all cores.
func (p *Normal) Measure() RowSums {
	whole := NewRowSums()
	var mu sync.Mutex
	parallel(p.N, func(from, to int) {
		some := NewRowSums()
		for i := from; i < to; i++ {
			some.AddRow(p, i)
		}
		mu.Lock()
		defer mu.Unlock()
		whole.Join(some)
	})
	return whole
}

// parallel splits the work on n rows, or on items of about the same cost, among all cores.
func parallel(n int, work func(from, to int)) { cores.Split(n, 64, work) }

// RowsPerCore is the number of rows of n entries that are worth a goroutine.
func RowsPerCore(n int) int { return 1 + 1<<17/max(1, n) }
