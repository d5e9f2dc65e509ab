package planar

import (
	"math/rand/v2"
	"testing"

	"coalesce/solvers/qubo/internal/frustration"
	"coalesce/solvers/qubo/problem"
)

// Clusters lead to solutions that are as good, and on planar graphs to one with another value of each edge that some optimal solution
// has, as trying all solutions finds.
func TestClusters(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 1))
	edges, missing, tori := 0, 0, 0
	for round := range 300 {
		var n int
		var ends [][2]int32
		d := drawing{form: problem.Ising, sense: problem.Minimize, coeff: func() float64 { return float64(1 + r.IntN(2) - 3*r.IntN(2)) }}
		torus := round%3 == 0
		if torus {
			n, ends = lattice(3, 4, []int{4, 3}[r.IntN(2)], true, true)
		} else {
			n = 3 + r.IntN(9)
			for _, end := range triangulation(r, n) {
				if r.IntN(4) > 0 {
					ends = append(ends, end)
				}
			}
			d.field = 0.2 * float64(round%2)
		}
		inst := d.instance(t, r, n, ends)
		m := frustration.New(inst, nil)
		s := Find(m)
		if s == nil {
			continue
		}
		a := s.Solve(Options{Workers: 1})
		x := m.Spins(a.Up)
		value := inst.Amount(x)
		found := map[[2]int32]bool{}
		note := func(found map[[2]int32]bool, y uint64) {
			for k, end := range s.ends {
				u, v := end[0], end[1]
				bit := func(v int32) uint64 {
					if int(v) == n { // the vertex of linear terms
						return 0
					}
					return (x[0] ^ y) >> v & 1
				}
				if bit(u) != bit(v) {
					found[s.ends[k]] = true
				}
			}
		}
		s.Clusters(a, uint64(round), func() bool { return false }, func(cluster []int32) bool {
			y := x[0]
			for _, i := range m.Variables(cluster) {
				y ^= 1 << i
			}
			if got := inst.Amount([]uint64{y}); got != value {
				t.Fatalf("round %d: a cluster leads from %v to %v", round, value, got)
			}
			note(found, y)
			return true
		})
		all := map[[2]int32]bool{}
		for y := range uint64(1) << n {
			if inst.Amount([]uint64{y}) == value {
				note(all, y)
			}
		}
		for end := range all {
			edges++
			if !found[end] {
				if s.Kind == "planar" {
					t.Fatalf("round %d: no cluster for edge %v", round, end)
				}
				missing++
			}
		}
		if s.Kind != "planar" {
			tori++
		}
	}
	if edges < 300 || tori < 50 || missing > edges/5 {
		t.Errorf("%d edges of %d tori and planar graphs, %d missing", edges, tori, missing)
	}
}
