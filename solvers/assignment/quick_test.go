package assignment

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"
	"testing"

	"coalesce/runtime/device"
	"coalesce/runtime/host"
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/solve"
)

// A Quick finds the values that the reference finds, whatever it solved before, and says
// where it does not.
func TestQuick(t *testing.T) {
	d := host.Open(1)
	defer d.Close()
	r := rand.New(rand.NewPCG(6, 1))
	var q QuickSolver
	left := 0
	const rounds = 1500
	for round := range rounds {
		l := span{Layout{Type: []problem.Value{problem.Int32, problem.Int64, problem.Float32, problem.Float64}[r.IntN(4)], Count: 1, Rows: 1 + r.IntN(12), Cols: 1 + r.IntN(12),
			Maximize: r.IntN(2) == 1}, -float64(r.IntN(20)), math.Pow(10, float64(r.IntN(5)))}
		if round%50 == 0 {
			l.Rows, l.Cols = 1+r.IntN(150), 1+r.IntN(150)
		}
		inst := uniform(t, r, l, []float64{0, 0, 0.1, 0.4, 0.7}[round%5])[0]
		column, duals, cert, ok, err := q.Solve(inst)
		if err != nil {
			t.Fatal(err)
		}
		want, err := Solve(context.Background(), inst, on(Options{Settings: solve.Settings{Algorithm: "reference"}}, d))
		var none *problem.InfeasibleError
		if errors.As(err, &none) {
			if ok {
				t.Fatalf("round %d: found %v, and there is no full matching", round, column)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			left++
			continue
		}
		if found, _ := totalCost(inst, column); found != want.Value {
			t.Fatalf("round %d, %+v: found %s, expected %s", round, l, found, want.Value.String())
		}
		if told, err := q.Result(inst); err != nil || told.Value.String() != want.Value.String() || told.Value.Float() != want.Value.Float() || !told.Proven || told.Matched != min(l.Rows, l.Cols) {
			t.Fatalf("round %d: found %+v, %v, expected %s", round, told, err, want.Value.String())
		}
		if again, err := problem.Check(inst, column, duals); err != nil || again != cert {
			t.Fatalf("round %d: %v, certificates %v and %v", round, err, again, cert)
		}
	}
	if left > 0 {
		t.Errorf("%d of %d feasible instances were left to others, expected none", left, rounds)
	}
}

// Solve has one core solve few costs on a host, and the proof of that passes the checks of Verify, of rounded costs too.
func TestFewCostsAreProven(t *testing.T) {
	d := host.Open(2)
	defer d.Close()
	r := rand.New(rand.NewPCG(7, 2))
	by := map[string]int{}
	for round := range 240 {
		rows, cols := 2+r.IntN(40), 2+r.IntN(40)
		switch round % 4 {
		case 0:
			cols = rows
		case 1:
			rows, cols = 120+r.IntN(40), 120+r.IntN(40)
		}
		x, y := make([]complex128, rows), make([]complex128, cols)
		for _, list := range [][]complex128{x, y} {
			for k := range list {
				list[k] = complex(r.Float64(), r.Float64())
			}
		}
		inst := &problem.Instance{Rows: rows, Cols: cols, Type: problem.Float64, Maximize: round%7 == 0}
		kind := round % 5
		for i := range rows {
			for j := range cols {
				c := cmplx.Abs(x[i] - y[j])
				switch {
				case kind == 1:
					c = r.NormFloat64() * math.Ldexp(1, r.IntN(30))
				case kind == 2 && r.IntN(4) > 0:
					c = 1
				case kind == 3 && r.IntN(3) > 0 && i%cols != j%rows:
					c = math.Inf(1)
					if inst.Maximize {
						c = -c
					}
				}
				inst.F64, inst.F32 = append(inst.F64, c), append(inst.F32, float32(c))
			}
		}
		if kind == 4 {
			inst.Type, inst.F64 = problem.Float32, nil
		} else {
			inst.F32 = nil
		}
		s, err := Open(on(Options{Duals: true}, d))
		if err != nil {
			t.Fatal(err)
		}
		found, err := s.Solve(t.Context(), inst)
		if err == nil {
			var again *Result
			if again, err = s.SolveAgain(t.Context()); err == nil && !slices.Equal(again.Column, found.Column) {
				t.Fatalf("round %d: another answer the second time", round)
			}
		}
		if err = errors.Join(err, s.Close()); errors.Is(err, solve.ErrInfeasible) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		by[found.Algorithm]++
		text, err := json.Marshal(found)
		if err != nil {
			t.Fatal(err)
		}
		v, err := Verify(inst, text, nil)
		if err != nil || len(v.Failures) > 0 || !v.BoundChecked || !found.Proven {
			t.Fatalf("round %d, %d x %d, kind %d, by %s: %v, %v", round, rows, cols, kind, found.Variant, err, v)
		}
	}
	t.Log(by)
	if by["paths"] < 190 {
		t.Errorf("found %v, expected paths to solve nearly all", by)
	}
}

func TestQuickLeavesAndRefuses(t *testing.T) {
	var q QuickSolver
	limit := 3.0
	sparse := &problem.Instance{Rows: 1, Cols: 1, Type: problem.Int32, I32: []int32{4}, Sparse: &problem.Sparse{Start: []int64{0, 1}, Col: []int32{0}}}
	for name, inst := range map[string]*problem.Instance{
		"a limit": {Rows: 1, Cols: 1, Type: problem.Int32, I32: []int32{4}, Limit: &limit}, "sparse": sparse, "empty": {Type: problem.Int32, Cols: 3},
		"infeasible": {Rows: 2, Cols: 2, Type: problem.Float64, F64: []float64{1, math.Inf(1), 1, math.Inf(1)}},
	} {
		if _, _, _, ok, err := q.Solve(inst); ok || err != nil {
			t.Errorf("%s: found an answer, or %v", name, err)
		}
	}
	for _, x := range []float64{math.NaN(), math.Inf(-1)} {
		if _, _, _, ok, err := q.Solve(&problem.Instance{Rows: 1, Cols: 1, Type: problem.Float64, F64: []float64{x}}); ok || !errors.Is(err, problem.ErrCost) {
			t.Errorf("a cost of %v: found %v, %v, expected an error of costs", x, ok, err)
		}
	}
	// The largest costs that there may be.
	for _, n := range []int{1, 2, 3} {
		costs := make([]float64, n*n)
		for k := range costs {
			costs[k] = math.MaxFloat64 / float64(1+k%3) / 8 * float64(1-2*(k%2))
		}
		inst := &problem.Instance{Rows: n, Cols: n, Type: problem.Float64, F64: costs}
		if column, _, _, ok, err := q.Solve(inst); err != nil || ok && len(column) != n {
			t.Errorf("%d x %d huge costs: %v", n, n, err)
		}
	}
}

func BenchmarkQuick(b *testing.B) {
	for _, n := range []int{3, 30, 100, 300, 1000} {
		c := make([]float64, n*n)
		r := rand.New(rand.NewPCG(1, 1))
		for i := range c {
			c[i] = r.Float64()
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var q QuickSolver
			for b.Loop() {
				if _, _, _, ok, err := q.Solve(&problem.Instance{Rows: n, Cols: n, Type: problem.Float64, F64: c}); !ok || err != nil {
					b.Fatal(ok, err)
				}
			}
		})
	}
}

// The least time of a solve, with a session of its own.
func BenchmarkSolve(b *testing.B) {
	c := make([]float64, 9)
	r := rand.New(rand.NewPCG(1, 1))
	for i := range c {
		c[i] = r.Float64()
	}
	d := host.Open(2)
	defer d.Close()
	o := Options{Settings: solve.Settings{Devices: []device.Device{d}}}
	for b.Loop() {
		if _, err := Solve(b.Context(), &problem.Instance{Rows: 3, Cols: 3, Type: problem.Float64, F64: c}, o); err != nil {
			b.Fatal(err)
		}
	}
}
