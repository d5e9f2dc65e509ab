package qubo

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"coalesce/runtime/host/oneflip"
)

// endless is a searcher whose grant lasts.
func endless[S oneflip.Sum](p *normal, m matrix[S]) *searcher[S] {
	s := newSearcher(p, m, 1, 1)
	s.end = new(alarm)
	s.logs, s.spread = newLogs(), spread(p, s.end)
	s.costLeft, s.flipsLeft = 1e18, 1<<60
	return s
}

func (s *searcher[S]) consistent(t *testing.T, after string) {
	t.Helper()
	delta := make([]int64, s.p.n)
	s.p.deltas(s.x, delta)
	for i, d := range delta {
		if int64(s.gain(i)) != d {
			t.Fatalf("after %s: gain of %d is %d, recomputed %d", after, i, s.gain(i), d)
		}
	}
	if v := s.p.value(s.x); v != s.value {
		t.Fatalf("after %s: value %d, recomputed %d", after, s.value, v)
	}
	if v := s.p.value(s.bestX); v != s.best || s.best < s.value && after != "flips" {
		t.Fatalf("after %s: best %d, recomputed %d, current %d", after, s.best, v, s.value)
	}
	for i := s.p.n; i < 64*len(s.x); i++ {
		if bit(s.x, i) != 0 {
			t.Fatalf("after %s: bit %d beyond the variables is set", after, i)
		}
	}
}

// walks makes every kind of move and compares with recomputation.
func walks[S oneflip.Sum](t *testing.T, p *normal, m matrix[S]) {
	t.Helper()
	if m == nil {
		t.Fatal("no rows")
	}
	r := rand.New(rand.NewPCG(3, 4))
	s := endless(p, m)
	s.note()
	for range 200 {
		s.flip(r.IntN(p.n))
	}
	s.consistent(t, "flips")
	for k, f := range []func() bool{
		func() bool { return s.tabu(3 * p.n) },
		func() bool { return s.anneal(s.spread, 0.1*s.spread, 20) },
	} {
		f()
		s.consistent(t, []string{"tabu", "anneal"}[k])
	}
	to := randomBits(r, p.n)
	s.relink(to)
	s.note()
	s.consistent(t, "relink")
	s.approach(to)
	s.note()
	s.consistent(t, "walk")
	if flips := s.approach(to); flips != 0 {
		t.Errorf("%d flips to where it is", flips)
	}
	if rows := m.sparse(); rows != nil {
		before, other := s.value, randomBits(r, p.n)
		s.cross(rows, other)
		s.consistent(t, "cross")
		if s.value < max(before, p.value(other)) {
			t.Errorf("a crossover of %d and %d is worth %d", before, p.value(other), s.value)
		}
		for width := 1; width <= 8; width++ {
			e, before := newElimination(s.state, rows, r, s.end), s.value
			e.move(width)
			s.note()
			s.consistent(t, "elimination")
			if s.value < before {
				t.Errorf("elimination lowered the value from %d to %d", before, s.value)
			}
		}
	}
}

func TestMovesAgainstRecomputation(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	end := new(alarm)
	for _, n := range []int{5, 63, 64, 130, 300} {
		for _, density := range []float64{0.02, 0.5} {
			small := drawNormal(r, n, density, 50, 1)
			walks(t, small, rows[int8, int16](small, 0, 2, end))
			walks(t, small, rows[int16, int16](small, 0, 2, end))
			walks(t, small, rows[int8, int32](small, 0, 2, end))
			walks(t, small, rows[int64, int64](small, 0, 2, end))
			middle := drawNormal(r, n, density, 30000, 1)
			walks(t, middle, rows[int16, int32](middle, 0, 2, end))
			walks(t, middle, rows[int32, int32](middle, 0, 2, end))
		}
	}
	even := drawNormal(r, 200, 0.5, 250, 2)
	walks(t, even, rows[int8, int32](even, 1, 2, end))
	torus := drawTorus(r, 12)
	walks(t, torus, rows[int8, int16](torus, 1, 2, end))
}

// A tree, and any graph that width covers, is solved by one exact move.
func TestEliminationIsExact(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for range 50 {
		p := drawNormal(r, 1+r.IntN(15), r.Float64(), 9, 1)
		best, _ := exhaust(p)
		end := new(alarm)
		rows := rows[int8, int32](p, 0, 1, end)
		sparse := rows.sparse()
		if sparse == nil { // few variables may be stored as dense rows
			sparse = &sparseRows[int32]{n: p.n, start: p.start, col: p.col}
			for _, w := range p.weight {
				sparse.weight = append(sparse.weight, int32(w))
			}
		}
		s := newState[int32](p, sparse)
		for k, word := range randomBits(r, p.n) {
			s.walk(k, word)
		}
		newElimination(s, sparse, r, end).move(widest)
		if s.value != best {
			t.Fatalf("%d variables: %d, want %d", p.n, s.value, best)
		}
	}
}

func TestSearchesFindOptima(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for k := range 12 {
		n := 1 + r.IntN(20)
		p := drawNormal(r, n, []float64{0.1, 0.5, 1}[k%3], []int64{3, 100, 40000, 1 << 40}[k%4], 1)
		want, _ := exhaust(p)
		for _, s := range []search{hostSearch{}, referenceSearch{}} {
			got := searched(t, s, p, searchOptions{seed: 1, work: 20000, target: &want, deadline: time.Now().Add(2 * time.Second)})
			if last := got.best(); last != want {
				t.Errorf("%T, %d variables: %d, want %d", s, n, last, want)
			}
		}
	}
}

// The plain search and the fast one agree on a maximum cut of a torus and on a
// dense problem, whose optima both find in no time.
func TestHostAgreesWithReference(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	for _, p := range []*normal{drawTorus(r, 8), drawNormal(r, 80, 1, 100, 1), drawNormal(r, 100, 0.02, 100, 1)} {
		o := searchOptions{seed: 2, work: 200000}
		a, b := searched(t, hostSearch{}, p, o), searched(t, referenceSearch{}, p, o)
		if x, y := a.best(), b.best(); x != y {
			t.Errorf("%d variables: host %d, reference %d", p.n, x, y)
		}
	}
}

// Any method alone solves a small torus.
func TestEachMethodAlone(t *testing.T) {
	p := drawTorus(rand.New(rand.NewPCG(13, 13)), 9)
	target := searched(t, referenceSearch{}, p, searchOptions{seed: 1, work: 100000}).best()
	for only := range methods + 1 {
		var without []string
		for m := range methods {
			if m != only {
				without = append(without, m.String())
			}
		}
		got := searched(t, hostSearch{without}, p, searchOptions{seed: 1, work: 3e7, target: &target, deadline: time.Now().Add(5 * time.Second)})
		if got.best() < target {
			t.Errorf("without %v: %d, want %d", without, got.best(), target)
		}
	}
}

func TestWorkDecidesTheRun(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	for _, p := range []*normal{drawTorus(r, 16), drawNormal(r, 400, 0.5, 100, 1)} {
		o := searchOptions{seed: 3, work: 150000, workers: 3}
		a, b := searched(t, hostSearch{}, p, o), searched(t, hostSearch{}, p, o)
		if !slices.Equal(a.values, b.values) || !slices.Equal(a.x, b.x) || a.work != b.work {
			t.Errorf("two runs of the same work differ: %v, %v", a.work, b.work)
		}
		if a.work.Flips < o.work || a.work.Flips > o.work+int64(o.workers*max(4096, p.n)) {
			t.Errorf("%d flips, asked for %d", a.work.Flips, o.work)
		}
		o.seed = 4
		if c := searched(t, hostSearch{}, p, o); slices.Equal(a.values, c.values) && slices.Equal(a.x, c.x) {
			t.Error("two seeds make the same run")
		}
	}
}

func TestLimitsAreKept(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 10))
	for _, p := range []*normal{drawTorus(r, 40), drawNormal(r, 1000, 1, 100, 1)} {
		const limit = 200 * time.Millisecond
		o := searchOptions{seed: 1, deadline: time.Now().Add(limit)}
		if got := searched(t, hostSearch{}, p, o); got.took < limit*9/10 || got.took > limit*3/2 {
			t.Errorf("%v for a limit of %v", got.took, limit)
		}
		ctx, stop := context.WithTimeout(context.Background(), limit/4)
		began := time.Now()
		if _, err := (hostSearch{}).search(ctx, p, searchOptions{}, func(int64, []uint64, time.Duration) {}); err != nil || time.Since(began) > limit {
			t.Errorf("ctx ended, the search did not for %v (%v)", time.Since(began), err)
		}
		stop()
		// Time is over before the search begins: it still answers.
		searched(t, hostSearch{}, p, searchOptions{deadline: time.Now().Add(-time.Second)})
	}
}

func TestStartIsTheFirstSolution(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 11))
	p := drawTorus(r, 20)
	good := searched(t, hostSearch{}, p, searchOptions{seed: 1, work: 2e5})
	target := good.best()
	again := searched(t, hostSearch{}, p, searchOptions{seed: 2, work: 1e9, start: good.x, target: &target})
	if again.work.Flips > 1e5 || again.best() < target {
		t.Errorf("began at %d, found %v in %d flips", target, again.values, again.work.Flips)
	}
}

// Work that lasts long on many variables ends when time is over, and leaves what
// is true.
func TestWorkEndsWithTime(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 1))
	p := drawNormal(r, 3000, 0.2, 50, 1)
	end := &alarm{deadline: time.Now().Add(-time.Second)}
	if m := rows[int8, int32](p, 0, 2, end); m != nil {
		t.Error("rows were laid out after the end of time")
	}
	m := rows[int8, int32](p, 0, 2, new(alarm))
	s := endless(p, m)
	s.end = end
	if flips := s.approach(randomBits(r, p.n)); flips != 0 {
		t.Errorf("%d flips after the end of time", flips)
	}
	s.note()
	s.consistent(t, "the end of time")
	if spread(p, end) != 1 {
		t.Error("the spread of fields was measured after the end of time")
	}
}
