package qubo

import (
	"coalesce/solvers/cores"
	"math"
	"math/bits"
	"sync"
)

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

// sums are what a pass over the rows of a problem finds.
type sums struct {
	halves, fields, pairs int64
	all                   int64 // every bit that is set in a weight
	magnitudes            spans
}

func newSums() sums { return sums{magnitudes: spans{least: math.MaxInt64}} }

// row adds row i, and returns the sums of its negative and positive weights.
func (s *sums) row(p *normal, i int) (low, high int64) {
	_, weight := p.row(i)
	m := &s.magnitudes
	least, most, sum, all := m.least, int64(0), int64(0), s.all
	for _, w := range weight {
		sign := w >> 63
		low += w & sign
		sum += w
		all |= w
		w = w ^ sign - sign
		least, most = min(least, w), max(most, w)
	}
	high = sum - low
	d := p.diag[i]
	s.halves += max(0, 2*d+high)
	s.fields += 2*d + abs(2*d+sum)
	s.pairs += 2 * high // w and |w|
	s.all, m.least = all, least
	m.weight, m.diag, m.delta = max(m.weight, most), max(m.diag, abs(d)), max(m.delta, d+high, -d-low)
	return low, high
}

func (s *sums) join(t sums) {
	s.halves, s.fields, s.pairs, s.all = s.halves+t.halves, s.fields+t.fields, s.pairs+t.pairs, s.all|t.all
	m, o := &s.magnitudes, t.magnitudes
	m.weight, m.diag, m.delta, m.least = max(m.weight, o.weight), max(m.diag, o.diag), max(m.delta, o.delta), min(m.least, o.least)
}

// bound is what no solution exceeds: the smaller of two sums. One gives each
// variable its diagonal and half of its positive weights. The other is that of
// the absolute values of the coefficients as an Ising model, four times which
// are integers; a cut of a bipartite graph without negative weights meets it.
func (s *sums) bound() int64 { return min(s.halves>>1, (s.fields+s.pairs/2)>>2) }

func (s *sums) spans(p *normal) *spans {
	m := s.magnitudes
	m.grain = 1 << bits.TrailingZeros64(uint64(s.all)|1<<62)
	m.dense = 1
	if p.n > 1 {
		m.dense = float64(len(p.col)) / (float64(p.n) * float64(p.n-1))
	}
	return &m
}

// measure passes over all rows.
func (p *normal) measure() sums {
	whole := newSums()
	var mu sync.Mutex
	parallel(p.n, func(from, to int) {
		some := newSums()
		for i := from; i < to; i++ {
			some.row(p, i)
		}
		mu.Lock()
		defer mu.Unlock()
		whole.join(some)
	})
	return whole
}

// parallel works on n rows, or whatever takes as long, on all cores.
func parallel(n int, work func(from, to int)) { cores.Split(n, 64, work) }

// fewRows is how many rows of n entries are enough for a core.
func rowsPerCore(n int) int { return 1 + 1<<17/max(1, n) }
