package planar

import (
	"math/rand/v2"
	"testing"

	"coalesce/solvers/qubo/internal/frustration"
	"coalesce/solvers/qubo/problem"
)

// A drawing makes an instance of a graph.
type drawing struct {
	form  problem.Form
	sense problem.Sense
	coeff func() float64
	field float64 // share of vertices with linear terms
}

func (d drawing) instance(t testing.TB, r *rand.Rand, n int, ends [][2]int32) *problem.Instance {
	t.Helper()
	b := problem.NewBuilder(n)
	b.Form(d.form)
	if d.sense == problem.Minimize {
		b.Minimize()
	} else {
		b.Maximize()
	}
	for _, end := range ends {
		b.Pair(int(end[0]), int(end[1]), d.coeff())
	}
	for i := range n {
		if d.form != problem.MaxCut && r.Float64() < d.field {
			b.Linear(i, d.coeff())
		}
	}
	inst, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return inst
}

func coefficients(r *rand.Rand, k int) func() float64 {
	switch k % 5 {
	case 0:
		return func() float64 { return float64(1 - 2*r.IntN(2)) }
	case 1:
		return func() float64 { return float64(r.IntN(9) - 4) }
	case 2:
		return func() float64 { return r.NormFloat64() }
	case 3:
		return func() float64 { return float64(r.Int64N(1<<46) - 1<<45) }
	}
	return func() float64 { return float64(r.IntN(2)) }
}

// triangulation draws a planar graph with the most edges.
func triangulation(r *rand.Rand, n int) [][2]int32 {
	faces := [][3]int32{{0, 1, 2}, {0, 1, 2}}
	ends := [][2]int32{{0, 1}, {1, 2}, {0, 2}}
	for v := int32(3); v < int32(n); v++ {
		k := r.IntN(len(faces))
		a, b, c := faces[k][0], faces[k][1], faces[k][2]
		faces[k] = [3]int32{a, b, v}
		faces = append(faces, [3]int32{b, c, v}, [3]int32{a, c, v})
		ends = append(ends, [2]int32{a, v}, [2]int32{b, v}, [2]int32{c, v})
	}
	return ends
}

// lattice is a lattice of squares, triangles (3) or hexagons (6), closed in one, two or no directions.
func lattice(rows, cols, corners int, down, right bool) (int, [][2]int32) {
	var ends [][2]int32
	join := func(a, i, k int) {
		if i < rows && k < cols || i == rows && down && k < cols || k == cols && right && i < rows || i == rows && k == cols && down && right {
			ends = append(ends, [2]int32{int32(a), int32(i%rows*cols + k%cols)})
		}
	}
	for i := range rows {
		for k := range cols {
			a := i*cols + k
			join(a, i, k+1)
			if corners != 6 || (i+k)%2 == 0 {
				join(a, i+1, k)
			}
			if corners == 3 {
				join(a, i+1, k+1)
			}
		}
	}
	return rows * cols, ends
}

// solved holds the answer of a surface against the instance, and returns its value and bound.
func solved(t *testing.T, inst *problem.Instance, m *frustration.Model, s *Surface) (value, bound problem.Amount) {
	t.Helper()
	a := s.Solve(Options{Workers: 2})
	if !a.Solved {
		t.Fatal("not solved")
	}
	loss, shift, err := m.Check(a.Proof)
	if err != nil {
		t.Fatal(err)
	}
	value, bound = inst.Amount(m.Spins(a.Up)), m.Bound(loss, shift)
	if inst.Int != nil {
		own, scale := s.Loss(a.Up)
		if m.Bound(own, scale) != value {
			t.Fatalf("the loss %v gives %v, the instance %v", own, m.Bound(own, scale), value)
		}
		if value != bound {
			t.Fatalf("value %v, bound %v", value, bound)
		}
	} else {
		sum := 0.0
		for _, list := range [][]float64{inst.Real.Linear, inst.Real.Pair} {
			for _, v := range list {
				sum += abs(v)
			}
		}
		if inst.Better(value, bound) || abs(bound.Float()-value.Float()) > 0x1p-50*sum {
			t.Fatalf("value %v, bound %v", value, bound)
		}
	}
	return value, bound
}

func abs(x float64) float64 { return max(x, -x) }

// Random planar graphs and lattices on tori, of all forms, are solved as by trying all solutions.
func TestSmall(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 1))
	tori := 0
	for round := range 1000 {
		var n int
		var ends [][2]int32
		d := drawing{form: []problem.Form{problem.MaxCut, problem.Ising, problem.QUBO}[r.IntN(3)], sense: []problem.Sense{problem.Maximize, problem.Minimize}[r.IntN(2)], coeff: coefficients(r, round)}
		if round%3 == 0 {
			n, ends = lattice(3, 3+r.IntN(2), []int{4, 4, 3}[r.IntN(3)], true, true)
			if d.form == problem.QUBO {
				d.form = problem.Ising
			}
		} else {
			n = 3 + r.IntN(10)
			share := r.Float64() * 1.2
			for _, end := range triangulation(r, n) {
				if r.Float64() < share {
					ends = append(ends, end)
				}
			}
			if round%2 == 0 && d.form == problem.Ising {
				d.field = r.Float64() * 0.2
			}
		}
		inst := d.instance(t, r, n, ends)
		var given []int8
		if round%7 == 0 {
			given = make([]int8, n)
			for i := range given {
				given[i] = int8(r.IntN(6)) - 1
				if given[i] > 1 {
					given[i] = -1
				}
			}
		}
		m := frustration.New(inst, given)
		s := Find(m)
		if s == nil {
			if d.form == problem.MaxCut && given == nil && round%3 != 0 {
				t.Fatal("a planar graph is not found")
			}
			continue
		}
		if s.Kind == "a torus" {
			tori++
		}
		value, _ := solved(t, inst, m, s)
		want := problem.Amount{}
		first := true
		for x := uint64(0); x < 1<<n; x++ {
			fits := true
			for i, v := range given {
				fits = fits && (v < 0 || x>>i&1 == uint64(v))
			}
			if v := inst.Amount([]uint64{x}); fits && (first || inst.Better(v, want)) {
				want, first = v, false
			}
		}
		if value != want && (inst.Int != nil || abs(value.Float()-want.Float()) > 1e-12*abs(want.Float())) {
			t.Fatalf("round %d, %s: value %v, want %v", round, inst, value, want)
		}
	}
	if tori < 50 {
		t.Fatalf("only %d tori", tori)
	}
}
