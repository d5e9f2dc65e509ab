package host

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"coalesce/runtime/host/kernels/qubo"
	"coalesce/solvers/qubo/internal/draw"
	"coalesce/solvers/qubo/internal/qubotest"
	"coalesce/solvers/qubo/internal/reference"
	"coalesce/solvers/qubo/internal/search"
	"coalesce/solvers/qubo/problem"
)

// endless is a searcher whose grant lasts.
func endless[S qubo.Sum](p *problem.Normal, m matrix[S]) *searcher[S] {
	s := newSearcher(p, m, 1, 1)
	s.end = new(deadline)
	s.logs, s.spread = newLogs(), fieldSpread(p, s.end)
	s.costLeft, s.flipsLeft = 1e18, 1<<60
	return s
}

func (s *searcher[S]) consistent(t *testing.T, after string) {
	t.Helper()
	delta := make([]int64, s.p.N)
	s.p.Deltas(s.x, delta)
	for i, d := range delta {
		if int64(s.gain(i)) != d {
			t.Fatalf("after %s: gain of %d is %d, recomputed %d", after, i, s.gain(i), d)
		}
	}
	if v := s.p.Value(s.x); v != s.value {
		t.Fatalf("after %s: value %d, recomputed %d", after, s.value, v)
	}
	if v := s.p.Value(s.bestX); v != s.best || s.best < s.value && after != "flips" {
		t.Fatalf("after %s: best %d, recomputed %d, current %d", after, s.best, v, s.value)
	}
	for i := s.p.N; i < 64*len(s.x); i++ {
		if problem.Bit(s.x, i) != 0 {
			t.Fatalf("after %s: bit %d beyond the variables is set", after, i)
		}
	}
}

// walks makes every kind of move and compares with recomputation.
func walks[S qubo.Sum](t *testing.T, p *problem.Normal, m matrix[S]) {
	t.Helper()
	if m == nil {
		t.Fatal("no rows")
	}
	r := rand.New(rand.NewPCG(3, 4))
	s := endless(p, m)
	s.keepBest()
	for range 200 {
		s.flip(r.IntN(p.N))
	}
	s.consistent(t, "flips")
	for k, f := range []func() bool{
		func() bool { return s.tabu(3 * p.N) },
		func() bool { return s.anneal(s.spread, 0.1*s.spread, 20) },
	} {
		f()
		s.consistent(t, []string{"tabu", "anneal"}[k])
	}
	for range 3 {
		s.multistartFromElite()
		s.consistent(t, "start")
		for i := range p.N {
			if s.gain(i) > 0 {
				t.Fatalf("a start is no local optimum: variable %d gains %d", i, s.gain(i))
			}
		}
		if !slices.Equal(s.last, s.x[:len(s.last)]) {
			t.Fatal("the next start does not follow this one")
		}
	}
	to := draw.RandomSolution(r, p.N)
	s.relink(to)
	s.keepBest()
	s.consistent(t, "relink")
	s.flipTowards(to)
	s.keepBest()
	s.consistent(t, "walk")
	if flips := s.flipTowards(to); flips != 0 {
		t.Errorf("%d flips to where it is", flips)
	}
	if rows := m.sparse(); rows != nil {
		before, other := s.value, draw.RandomSolution(r, p.N)
		s.cross(rows, other)
		s.consistent(t, "cross")
		if s.value < max(before, p.Value(other)) {
			t.Errorf("a crossover of %d and %d is worth %d", before, p.Value(other), s.value)
		}
		for width := 1; width <= 8; width++ {
			e, before := newElimination(s.state, rows, r, s.end), s.value
			e.exactMove(width)
			s.keepBest()
			s.consistent(t, "elimination")
			if s.value < before {
				t.Errorf("elimination lowered the value from %d to %d", before, s.value)
			}
		}
	}
}

func TestMovesAgainstRecomputation(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	end := new(deadline)
	for _, n := range []int{5, 63, 64, 130, 300} {
		for _, density := range []float64{0.02, 0.5} {
			small := qubotest.RandomProblem(r, n, density, 50, 1)
			walks(t, small, layOutRows[int8, int16](small, 0, 2, end, nil))
			walks(t, small, layOutRows[int16, int16](small, 0, 2, end, nil))
			walks(t, small, layOutRows[int8, int32](small, 0, 2, end, nil))
			walks(t, small, layOutRows[int64, int64](small, 0, 2, end, nil))
			middle := qubotest.RandomProblem(r, n, density, 30000, 1)
			walks(t, middle, layOutRows[int16, int32](middle, 0, 2, end, nil))
			walks(t, middle, layOutRows[int32, int32](middle, 0, 2, end, nil))
		}
	}
	even := qubotest.RandomProblem(r, 200, 0.5, 250, 2)
	walks(t, even, layOutRows[int8, int32](even, 1, 2, end, nil))
	torus := qubotest.Torus(r, 12)
	walks(t, torus, layOutRows[int8, int16](torus, 1, 2, end, nil))
}

// A tree, and any graph that width covers, is solved by one exact move.
func TestEliminationIsExact(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for range 50 {
		p := qubotest.RandomProblem(r, 1+r.IntN(15), r.Float64(), 9, 1)
		best, _ := reference.Exhaust(p)
		end := new(deadline)
		rows := layOutRows[int8, int32](p, 0, 1, end, nil)
		sparse := rows.sparse()
		if sparse == nil { // few variables may be stored as dense rows
			sparse = &sparseRows[int32]{n: p.N, start: p.Start, col: p.Col}
			for _, w := range p.Weight {
				sparse.weight = append(sparse.weight, int32(w))
			}
		}
		s := newState[int32](p, sparse)
		for k, word := range draw.RandomSolution(r, p.N) {
			s.flipWord(k, word)
		}
		newElimination(s, sparse, r, end).exactMove(widest)
		if s.value != best {
			t.Fatalf("%d variables: %d, want %d", p.N, s.value, best)
		}
	}
}

func TestSearchesFindOptima(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for k := range 12 {
		n := 1 + r.IntN(20)
		p := qubotest.RandomProblem(r, n, []float64{0.1, 0.5, 1}[k%3], []int64{3, 100, 40000, 1 << 40}[k%4], 1)
		want, _ := reference.Exhaust(p)
		for _, s := range []search.Searcher{Search{}, reference.Search{}} {
			got := qubotest.RunSearch(t, s, p, search.Options{Seed: 1, Work: 20000, Target: &want, Deadline: time.Now().Add(2 * time.Second)})
			if last := got.Best(); last != want {
				t.Errorf("%T, %d variables: %d, want %d", s, n, last, want)
			}
		}
	}
}

// The plain search and the fast one agree on a maximum cut of a torus and on a
// dense problem, whose optima both find in no time.
func TestHostAgreesWithReference(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	for _, p := range []*problem.Normal{qubotest.Torus(r, 8), qubotest.RandomProblem(r, 80, 1, 100, 1), qubotest.RandomProblem(r, 100, 0.02, 100, 1)} {
		o := search.Options{Seed: 2, Work: 200000}
		a, b := qubotest.RunSearch(t, Search{}, p, o), qubotest.RunSearch(t, reference.Search{}, p, o)
		if x, y := a.Best(), b.Best(); x != y {
			t.Errorf("%d variables: host %d, reference %d", p.N, x, y)
		}
	}
}

// Any method alone solves a small torus.
func TestEachMethodAlone(t *testing.T) {
	p := qubotest.Torus(rand.New(rand.NewPCG(13, 13)), 9)
	target := qubotest.RunSearch(t, reference.Search{}, p, search.Options{Seed: 1, Work: 100000}).Best()
	for only := range methods + 1 {
		var without []string
		for m := range methods {
			if m != only {
				without = append(without, m.String())
			}
		}
		got := qubotest.RunSearch(t, Search{Without: without}, p, search.Options{Seed: 1, Work: 3e7, Target: &target, Deadline: time.Now().Add(5 * time.Second)})
		if got.Best() < target {
			t.Errorf("without %v: %d, want %d", without, got.Best(), target)
		}
	}
}

func TestWorkDecidesTheRun(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	for _, p := range []*problem.Normal{qubotest.Torus(r, 16), qubotest.RandomProblem(r, 400, 0.5, 100, 1)} {
		o := search.Options{Seed: 3, Work: 150000, Workers: 3}
		a, b := qubotest.RunSearch(t, Search{}, p, o), qubotest.RunSearch(t, Search{}, p, o)
		if !slices.Equal(a.Values, b.Values) || !slices.Equal(a.X, b.X) || a.Work != b.Work {
			t.Errorf("two runs of the same work differ: %v, %v", a.Work, b.Work)
		}
		if a.Work.Flips < o.Work || a.Work.Flips > o.Work+int64(o.Workers*max(4096, p.N)) {
			t.Errorf("%d flips, asked for %d", a.Work.Flips, o.Work)
		}
		o.Seed = 4
		if c := qubotest.RunSearch(t, Search{}, p, o); slices.Equal(a.Values, c.Values) && slices.Equal(a.X, c.X) && a.Work == c.Work {
			t.Error("two seeds make the same run")
		}
	}
}

func TestLimitsAreKept(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 10))
	for _, p := range []*problem.Normal{qubotest.Torus(r, 40), qubotest.RandomProblem(r, 1000, 1, 100, 1)} {
		const limit, late = 200 * time.Millisecond, time.Second // what users are promised, on a busy machine too
		o := search.Options{Seed: 1, Deadline: time.Now().Add(limit)}
		if got := qubotest.RunSearch(t, Search{}, p, o); got.Took < limit*9/10 || got.Took > limit+late {
			t.Errorf("%v for a limit of %v", got.Took, limit)
		}
		ctx, stop := context.WithTimeout(context.Background(), limit/4)
		began := time.Now()
		if _, err := (Search{}).Search(ctx, p, search.Options{}, func(int64, []uint64, time.Duration) {}); err != nil || time.Since(began) > limit/4+late {
			t.Errorf("ctx ended, the search did not for %v (%v)", time.Since(began), err)
		}
		stop()
		// Time is over before the search begins: it still answers.
		qubotest.RunSearch(t, Search{}, p, search.Options{Deadline: time.Now().Add(-time.Second)})
	}
}

// Whatever method walks from the start, and on however many cores, the start is told first, and a
// search that has reached its target with it makes no flip.
func TestStartIsTheFirstSolution(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 11))
	p := qubotest.Torus(r, 20)
	good := qubotest.RunSearch(t, Search{}, p, search.Options{Seed: 1, Work: 2e5})
	for m := range methods {
		var others []string
		for other := range methods {
			if other != m {
				others = append(others, other.String())
			}
		}
		for _, workers := range []int{1, 4} {
			o := search.Options{Seed: 2, Work: 2e4, Workers: workers, Start: good.X}
			if got := qubotest.RunSearch(t, Search{Without: others}, p, o); got.Values[0] != good.Best() || got.Work.Flips == 0 {
				t.Errorf("%s, %d workers: began at %d, told %v after %d flips", m, workers, good.Best(), got.Values, got.Work.Flips)
			}
			target := good.Best()
			o.Work, o.Target = 1e9, &target
			if got := qubotest.RunSearch(t, Search{Without: others}, p, o); got.Best() != target || got.Work.Flips != 0 {
				t.Errorf("%s, %d workers: began at the target %d, told %v after %d flips", m, workers, target, got.Values, got.Work.Flips)
			}
		}
	}
}

// Work that lasts long on many variables ends when time is over, and leaves what
// is true.
func TestWorkEndsWithTime(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 1))
	p := qubotest.RandomProblem(r, 3000, 0.2, 50, 1)
	end := &deadline{deadline: time.Now().Add(-time.Second)}
	if m := layOutRows[int8, int32](p, 0, 2, end, nil); m != nil {
		t.Error("rows were laid out after the end of time")
	}
	m := layOutRows[int8, int32](p, 0, 2, new(deadline), nil)
	s := endless(p, m)
	s.end = end
	if flips := s.flipTowards(draw.RandomSolution(r, p.N)); flips != 0 {
		t.Errorf("%d flips after the end of time", flips)
	}
	s.keepBest()
	s.consistent(t, "the end of time")
	if fieldSpread(p, end) != 1 {
		t.Error("the spread of fields was measured after the end of time")
	}
	walk := endless(p, m) // which had no end yet when it began
	walk.end = &deadline{deadline: end.deadline}
	go func() { <-walk.report }()
	close(walk.grant)
	if walk.countWork(2*lookEvery, 1) {
		t.Error("a walk goes on after the end of time")
	}
}
