package planar

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"coalesce/solvers/qubo/internal/frustration"
	"coalesce/solvers/qubo/problem"
)

// A strip is a square lattice of spins with couplings to the right and down, 0 at the ends where it is not closed.
type strip struct {
	rows, cols  int
	right, down []float64
}

// lowest is the lowest energy Σ J s s of a strip, by dynamic programming row by row, spin by spin: an independent way to solve it.
// A state is the spins of the last cols places; where the rows are closed it begins with each first row.
func (s *strip) lowest(closed bool) float64 {
	states := 1 << s.cols
	sign := func(a, b int) float64 { return float64(1 - 2*(a^b)) }
	spin := func(state, k int) int { return state >> k & 1 }
	along := func(row, i int) (sum float64) { // the couplings within a row
		for k := range s.cols {
			sum += s.right[i*s.cols+k] * sign(spin(row, k), spin(row, (k+1)%s.cols))
		}
		return sum
	}
	sweep := func(energy []float64) []float64 {
		for i := 1; i < s.rows; i++ {
			for k := range s.cols { // spin k of row i takes the place of that of row i-1
				next := make([]float64, states)
				for state := range next {
					for _, above := range []int{0, 1} {
						before := state&^(1<<k) | above<<k
						e := energy[before] + s.down[(i-1)*s.cols+k]*sign(above, spin(state, k))
						if above == 0 || e < next[state] {
							next[state] = e
						}
					}
				}
				energy = next
			}
			for state := range energy {
				energy[state] += along(state, i)
			}
		}
		return energy
	}
	best := math.Inf(1)
	if !closed {
		energy := make([]float64, states)
		for state := range energy {
			energy[state] = along(state, 0)
		}
		for _, e := range sweep(energy) {
			best = min(best, e)
		}
		return best
	}
	for first := range states / 2 { // the others are mirror images
		energy := make([]float64, states)
		for state := range energy {
			energy[state] = math.Inf(1)
		}
		energy[first] = along(first, 0)
		for state, e := range sweep(energy) {
			for k := range s.cols {
				e += s.down[(s.rows-1)*s.cols+k] * sign(spin(state, k), spin(first, k))
			}
			best = min(best, e)
		}
	}
	return best
}

// Grids of up to 400 spins, closed in none, one or two directions, with signs, integers, normal and large coefficients, some of them 0,
// have the energy that dynamic programming finds.
func TestStrips(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	rounds := 2000
	if testing.Short() {
		rounds = 200
	}
	kinds, tori := map[string]int{}, 0
	for round := range rounds {
		closed, around := round%4 == 0 || round%4 == 1, round%4 == 0 || round%4 == 2
		s := &strip{cols: 3 + r.IntN(5)}
		most := 400 / s.cols
		if closed { // a state for each first row
			s.cols = 3 + r.IntN(3)
			most = 400 / s.cols
			if round%16 != 0 {
				most = 40
			}
		}
		s.rows = 3 + r.IntN(most-2)
		n := s.rows * s.cols
		s.right, s.down = make([]float64, n), make([]float64, n)
		coeff := coefficients(r, round/4)
		b := problem.NewBuilder(n)
		b.Form(problem.Ising)
		b.Minimize()
		for v := range n {
			i, k := v/s.cols, v%s.cols
			if k+1 < s.cols || around {
				s.right[v] = coeff()
				b.Pair(v, i*s.cols+(k+1)%s.cols, s.right[v])
			}
			if i+1 < s.rows || closed {
				s.down[v] = coeff()
				b.Pair(v, (i+1)%s.rows*s.cols+k, s.down[v])
			}
		}
		inst, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		m := frustration.New(inst, nil)
		surface := Find(m)
		if surface == nil {
			t.Fatalf("round %d: %d x %d, closed: %t, %t: no surface", round, s.rows, s.cols, closed, around)
		}
		kinds[surface.Kind]++
		value, _ := solved(t, inst, m, surface)
		if want := s.lowest(closed); abs(value.Float()-want) > 1e-9*max(1, abs(want)) {
			t.Fatalf("round %d: %d x %d, closed: %t, %t: value %v, want %v", round, s.rows, s.cols, closed, around, value, want)
		}
		if closed && around {
			tori++
		}
	}
	if kinds["a torus"] < tori/2 || kinds["planar"] < rounds/2 {
		t.Errorf("surfaces: %v", kinds)
	}
}

// rowByRow is the lowest energy of a lattice by dynamic programming over whole rows: another independent way, for couplings to any vertex of
// the row below, and with fields. along is the energy within a row, between that of a row and the next.
func rowByRow(rows, cols int, closed bool, along func(i, row int) float64, between func(i, row, next int) float64) float64 {
	states := 1 << cols
	best := math.Inf(1)
	sweep := func(energy []float64) []float64 {
		for i := 1; i < rows; i++ {
			next := make([]float64, states)
			for b := range next {
				next[b] = math.Inf(1)
				for a, e := range energy {
					next[b] = min(next[b], e+between(i-1, a, b))
				}
				next[b] += along(i, b)
			}
			energy = next
		}
		return energy
	}
	if !closed {
		energy := make([]float64, states)
		for a := range energy {
			energy[a] = along(0, a)
		}
		return slices.Min(sweep(energy))
	}
	for first := range states {
		energy := slices.Repeat([]float64{math.Inf(1)}, states)
		energy[first] = along(0, first)
		for last, e := range sweep(energy) {
			best = min(best, e+between(rows-1, last, first))
		}
	}
	return best
}

// Lattices of squares, triangles and hexagons, closed in none, one or two directions, and open ones with linear terms along their first row,
// have the energy that dynamic programming finds.
func TestLattices(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 2))
	rounds := 1200
	if testing.Short() {
		rounds = 120
	}
	found := map[string]int{}
	for round := range rounds {
		corners := []int{3, 4, 6}[round%3]
		closed, around := round/3%4 == 0 || round/3%4 == 1, round/3%4 == 0 || round/3%4 == 2
		rows, cols := 4+2*r.IntN(8), 4+r.IntN(2)
		if corners == 6 {
			cols = 4
		}
		if closed {
			rows = 4 + 2*r.IntN(3)
		}
		n, ends := lattice(rows, cols, corners, closed, around)
		coeff := coefficients(r, round/12)
		b := problem.NewBuilder(n)
		b.Form(problem.Ising)
		b.Minimize()
		couplings := make([][][3]float64, rows) // of a row: the first end's column, the other's, the coupling; those down after cols rows
		down := make([][][3]float64, rows)
		for _, end := range ends {
			c := coeff()
			b.Pair(int(end[0]), int(end[1]), c)
			i, k := int(end[0])/cols, int(end[0])%cols
			entry := [3]float64{float64(k), float64(int(end[1]) % cols), c}
			if int(end[1])/cols == i {
				couplings[i] = append(couplings[i], entry)
			} else {
				down[i] = append(down[i], entry)
			}
		}
		field := make([]float64, cols)
		fields := !closed && round/12%2 == 0
		for k := range field {
			if fields && r.IntN(3) > 0 {
				field[k] = coeff()
				b.Linear(k, field[k])
			}
		}
		sign := func(row, k int) float64 { return float64(2*(row>>k&1) - 1) }
		sum := func(list [][3]float64, a, b int) (e float64) {
			for _, c := range list {
				e += c[2] * sign(a, int(c[0])) * sign(b, int(c[1]))
			}
			return e
		}
		inst, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		m := frustration.New(inst, nil)
		surface := Find(m)
		if surface == nil {
			if !closed || !around {
				t.Fatalf("round %d: %d x %d of %d corners, closed: %t, %t: no surface", round, rows, cols, corners, closed, around)
			}
			continue
		}
		found[fmt.Sprint(corners, " ", surface.Kind, " ", fields)]++
		value, _ := solved(t, inst, m, surface)
		want := rowByRow(rows, cols, closed, func(i, row int) float64 {
			e := sum(couplings[i], row, row)
			for k, h := range field {
				if i == 0 {
					e += h * sign(row, k)
				}
			}
			return e
		}, func(i, row, next int) float64 { return sum(down[i], row, next) })
		if abs(value.Float()-want) > 1e-9*max(1, abs(want)) {
			t.Fatalf("round %d: %d x %d of %d corners, closed: %t, %t, fields %t: value %v, want %v", round, rows, cols, corners, closed, around, fields, value, want)
		}
	}
	for _, corners := range []int{3, 4, 6} {
		for _, kind := range []string{"planar true", "planar false", "a torus false"} {
			if found[fmt.Sprint(corners, " ", kind)] < rounds/60 {
				t.Errorf("surfaces: %v", found)
			}
		}
	}
}
