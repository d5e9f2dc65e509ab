package qubo

import (
	"cmp"
	"math"
	"math/bits"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"coalesce/solvers/cores"
)

// split makes parts of the components of what is left, or one part of all of
// it where whole is set. It is false where stop has ended it.
func (r *reducer) split(whole bool, stop func() bool) bool {
	n := r.p.n
	if !slices.Contains(r.gone, true) && (whole || r.connected(stop)) {
		r.parts = []part{{p: r.p, bound: r.bound}}
		return true
	}
	component, count := make([]int32, n), 0
	for i := range component {
		component[i] = -1
	}
	var lists [][]int32
	for i := range int32(n) {
		if r.gone[i] || component[i] >= 0 {
			continue
		}
		list := []int32{i}
		component[i] = int32(count)
		for k := 0; k < len(list); k++ {
			if k&1023 == 0 && stop() {
				return false
			}
			r.each(list[k], func(j int32, _ int64) {
				if component[j] < 0 {
					component[j] = int32(count)
					list = append(list, j)
				}
			})
		}
		count++
		slices.Sort(list)
		lists = append(lists, list)
	}
	if whole && count > 1 {
		all := slices.Concat(lists...)
		slices.Sort(all)
		lists = [][]int32{all}
	}
	slices.SortStableFunc(lists, func(a, b []int32) int { return cmp.Compare(len(b), len(a)) })
	place := make([]int32, n)
	for _, list := range lists {
		for v, i := range list {
			place[i] = int32(v)
		}
		q := r.part(list, place, stop)
		if q == nil {
			return false
		}
		found := q.measure()
		q.known = found.spans(q)
		r.parts = append(r.parts, part{q, list, found.bound()})
	}
	return true
}

// connected reports whether all variables are connected, none being gone, or
// stop has ended it.
func (r *reducer) connected(stop func() bool) bool {
	if r.p.n == 0 {
		return false
	}
	seen := make([]bool, r.p.n)
	seen[0] = true
	stack, met := []int32{0}, 1
	for steps := 0; len(stack) > 0 && met < r.p.n; steps++ {
		if steps&1023 == 0 && stop() {
			return true
		}
		i := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		r.each(i, func(j int32, _ int64) {
			if !seen[j] {
				seen[j] = true
				met++
				stack = append(stack, j)
			}
		})
	}
	return met == r.p.n
}

// part is the problem of some variables, ascending, which place numbers; nil
// where stop has ended it.
func (r *reducer) part(list, place []int32, stop func() bool) *normal {
	q := &normal{n: len(list), scale: r.p.scale, sense: r.p.sense, exact: r.p.exact}
	q.start, q.diag = make([]int64, 1, q.n+1), make([]int64, q.n)
	total := 0
	for _, i := range list {
		total += int(r.degree[i])
	}
	row := make([]edge, 0, 64)
	q.col, q.weight = make([]int32, 0, total), make([]int64, 0, total)
	for v, i := range list {
		if v&1023 == 0 && stop() {
			return nil
		}
		q.diag[v] = r.diag[i]
		row = row[:0]
		r.each(i, func(j int32, w int64) { row = append(row, edge{place[j], w}) })
		if r.adj != nil {
			slices.SortFunc(row, func(a, b edge) int { return cmp.Compare(a.to, b.to) })
		}
		for _, e := range row {
			q.col, q.weight = append(q.col, e.to), append(q.weight, e.weight)
		}
		q.start = append(q.start, int64(len(q.col)))
	}
	return q
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

// pieces works on 0 to n-1, one after the other as cores are free.
func pieces(n int, work func(k int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) {
		wg.Go(func() {
			for k := int(next.Add(1) - 1); k < n; k = int(next.Add(1) - 1) {
				work(k)
			}
		})
	}
	wg.Wait()
}

// parallel works on n rows, or whatever takes as long, on all cores.
func parallel(n int, work func(from, to int)) { cores.Split(n, 64, work) }

// fewRows is how many rows of n entries are enough for a core.
func fewRows(n int) int { return 1 + 1<<17/max(1, n) }
