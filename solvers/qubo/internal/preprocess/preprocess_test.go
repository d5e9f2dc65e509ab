package preprocess

import (
	"math/rand/v2"
	"testing"

	"coalesce/solvers/qubo/internal/qubotest"
	"coalesce/solvers/qubo/internal/reference"
	"coalesce/solvers/qubo/problem"
)

// scattered draws a problem of variables with few pairs, those of even and of
// odd number apart. Its linear terms are small, or lean against the pairs so
// that no rule but those of degrees fires.
func scattered(r *rand.Rand, n, pairs int) *problem.Normal {
	d := problem.NewEntries(1 << 30)
	lean := int64(r.IntN(2))
	for i := range n {
		d.Add(i, i, int64(r.IntN(7)-3))
	}
	for range pairs {
		if i, j := r.IntN(n), r.IntN(n); (i-j)%2 == 0 && i != j {
			w := int64(r.IntN(31)-15) * 2
			d.Add(i, j, w)
			d.Add(i, i, -lean*w/2)
			d.Add(j, j, -lean*w/2)
		}
	}
	inst, err := d.Instance(n, true)
	if err != nil {
		panic(err)
	}
	p, err := inst.Normal()
	if err != nil {
		panic(err)
	}
	return p
}

// What is left, solved exhaustively, gives an optimum of the whole; any
// solution of the parts is worth what reduce says.
func TestReduceKeepsTheOptimum(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	eliminated, fixed, several := 0, 0, 0
	for range 1500 {
		n := 1 + r.IntN(13)
		pairs, given := r.IntN(4*n+1), []int8(nil)
		if r.IntN(3) == 0 {
			n, pairs = 13, 52 // enough for two components without variables of degree 2
		}
		p := scattered(r, n, pairs)
		if n < 13 && r.IntN(3) == 0 {
			given = make([]int8, n)
			for i := range given {
				given[i] = int8(r.IntN(5)) - 3
				given[i] = max(given[i], -1)
			}
		}
		red := Reduce(p, given, r.IntN(5) == 0, nil, qubotest.NeverStop)
		best, total := qubotest.Optimum(p, given), red.Constant
		solutions := make([][]uint64, len(red.Parts))
		for k, c := range red.Parts {
			var v int64
			v, solutions[k] = reference.Exhaust(c.Problem)
			if b := c.Bound; v > b {
				t.Fatalf("value %d is above the bound %d", v, b)
			}
			total += v
		}
		x := red.Restore(solutions)
		if got := p.Value(x); got != best || got != total {
			t.Fatalf("n=%d: value %d, told %d, want %d", n, got, total, best)
		}
		for i, v := range given {
			if v >= 0 && int8(problem.Bit(x, i)) != v {
				t.Fatalf("variable %d was to be %d", i, v)
			}
		}
		total = red.Constant
		for k, c := range red.Parts {
			solutions[k] = qubotest.RandomSolution(r, c.Problem.N)
			total += c.Problem.Value(solutions[k])
		}
		if x = red.Restore(solutions); p.Value(x) < total || len(red.steps) == 0 && p.Value(x) != total {
			t.Fatalf("value %d of any solution, told %d", p.Value(x), total)
		}
		for k := range red.Parts {
			for v, y := 0, red.Project(k, x); v < red.Parts[k].Problem.N; v++ {
				if problem.Bit(y, v) != problem.Bit(solutions[k], v) {
					t.Fatal("project does not undo restore")
				}
			}
		}
		eliminated += len(red.steps)
		several += max(0, len(red.Parts)-1)
		for _, v := range red.fixed {
			if v >= 0 {
				fixed++
			}
		}
	}
	if eliminated < 500 || fixed < 500 || several < 10 {
		t.Errorf("%d eliminated, %d fixed, %d more components: the rules were not tried", eliminated, fixed, several)
	}
}

// Trees and cycles are solved by elimination alone.
func TestReduceSolvesCycles(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	const n = 200000
	d := problem.NewEntries(1 << 30)
	for i := range n {
		d.Add(i, (i+1)%n, int64(r.IntN(9)-4))
		d.Add(i, i, int64(r.IntN(9)-4))
	}
	inst, err := d.Instance(n, true)
	if err != nil {
		t.Fatal(err)
	}
	p, err := inst.Normal()
	if err != nil {
		t.Fatal(err)
	}
	red := Reduce(p, nil, false, nil, qubotest.NeverStop)
	if red.VariablesLeft() > 0 {
		t.Fatalf("%d variables are left of a cycle", red.VariablesLeft())
	}
	if x := red.Restore(nil); p.Value(x) != red.Constant {
		t.Errorf("value %d, told %d", p.Value(x), red.Constant)
	}
}

// The cut of an even cycle, and of a grid with negative weights turned round,
// meets the bound.
func TestBoundOfBipartiteGraphs(t *testing.T) {
	d := problem.NewEntries(1 << 30)
	const side = 4
	for i := range side {
		for j := range side {
			if i+1 < side {
				d.Add(i*side+j, (i+1)*side+j, int64(1+i))
			}
			if j+1 < side {
				d.Add(i*side+j, i*side+j+1, int64(2+j))
			}
		}
	}
	inst, err := d.Instance(side*side, false)
	if err != nil {
		t.Fatal(err)
	}
	inst.Form = problem.MaxCut
	p, err := inst.Normal()
	if err != nil {
		t.Fatal(err)
	}
	found := p.Measure()
	if v, _ := reference.Exhaust(p); v != found.Bound() {
		t.Errorf("the cut is %d, the bound %d", v, found.Bound())
	}
}

// TestPenaltiesStay reduces stable sets of sparse graphs: no pair that gains is left, and the best value is that of all solutions.
func TestPenaltiesStay(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	folded := 0
	for range 200 {
		n := 6 + r.IntN(12)
		pairs := map[[2]int]int64{}
		for range n + r.IntN(n) {
			if i, j := r.IntN(n), r.IntN(n); i < j {
				pairs[[2]int{i, j}] = -2 - int64(r.IntN(2))
			}
		}
		p := qubotest.Sparse(n, func(int) int64 { return 2 }, pairs)
		red := ReducePenalties(p, nil, nil, qubotest.NeverStop)
		if loose := Reduce(p, nil, false, nil, qubotest.NeverStop); loose.VariablesLeft() < red.VariablesLeft() {
			folded++
		}
		var parts [][]uint64
		for _, c := range red.Parts {
			for _, w := range c.Problem.Weight {
				if w > 0 {
					t.Fatalf("a pair of %v gains %d", pairs, w)
				}
			}
			_, x := reference.Exhaust(c.Problem)
			parts = append(parts, x)
		}
		if got, want := p.Value(red.Restore(parts)), qubotest.Optimum(p, nil); got != want {
			t.Fatalf("%v: %d, by all solutions %d", pairs, got, want)
		}
	}
	if folded == 0 {
		t.Error("no graph has a variable that is kept")
	}
}
