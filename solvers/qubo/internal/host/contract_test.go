package host

import (
	"math/rand/v2"
	"testing"

	"coalesce/solvers/qubo/internal/draw"
	"coalesce/solvers/qubo/internal/qubotest"
	"coalesce/solvers/qubo/internal/search"
	"coalesce/solvers/qubo/problem"
)

// TestClusters flips clusters of what solutions agree on, and compares gains with values that are recomputed from the coefficients; each of
// the solutions must be one of the clusters' own.
func TestClusters(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	cases := 0
	for name, p := range qubotest.SparseCases() {
		if p.N < 4 {
			continue
		}
		parents := [][]uint64{draw.RandomSolution(r, p.N)}
		for range 3 {
			next := append([]uint64(nil), parents[0]...)
			for range 1 + p.N/4 {
				i := r.IntN(p.N)
				next[i>>6] ^= 1 << (i & 63)
			}
			parents = append(parents, next)
		}
		rows := layOutRows[int64, int64](p, 0, 1, &deadline{}, nil)
		if rows.sparse() == nil {
			continue
		}
		cases++
		s := newSearcher[int64](p, rows, 1, 1)
		s.logs, s.spread, s.end, s.costLeft, s.flipsLeft = newLogs(), 1, &deadline{}, 1e18, 1<<60
		s.rules = RulesFor(search.Rules{}, p.N)
		s.flipTowards(parents[0])
		c := s.clusters(rows.sparse(), parents)
		for _, parent := range parents {
			for i := range p.N {
				col, _ := rows.sparse().row(i)
				for _, j := range col {
					differ := func(v int) uint64 { return problem.Bit(parent, v) ^ problem.Bit(s.x, v) }
					if c.of[i] == c.of[j] && differ(i) != differ(int(j)) {
						t.Fatalf("%s: cluster %d has variables %d and %d, whose relation a parent changes", name, c.of[i], i, j)
					}
				}
			}
		}
		x := append([]uint64(nil), s.x...)
		value := s.value
		turn := func(flips []bool) int64 {
			y := append([]uint64(nil), x...)
			for i, at := range c.of {
				if flips[at] {
					y[i>>6] ^= 1 << (i & 63)
				}
			}
			return p.Value(y)
		}
		gained := int64(0)
		for range 20 {
			gained += c.flip(r.IntN(c.size()))
			if v := turn(c.flips); v != value+gained {
				t.Fatalf("%s: %d of %d clusters' flips made %d, expected %d", name, c.size(), p.N, value+gained, v)
			}
		}
		for i, set := range c.flips {
			if set {
				c.flip(i)
			}
		}
		most, ok := s.annealClusters(c, 10)
		if v := turn(c.best); !ok || v != value+most || most < 0 {
			t.Errorf("%s: annealing gained %d by its count, %d by the coefficients", name, most, v-value)
		}
		s.course.parents = parents
		if !s.contract() || s.best < value || p.Value(s.bestX) != s.best {
			t.Errorf("%s: a contraction from %d ended at %d, %d by the coefficients", name, value, s.best, p.Value(s.bestX))
		}
	}
	if cases == 0 {
		t.Error("no case is sparse")
	}
}
