package assignment

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"coalesce/runtime/host"
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/solve"
)

// matchOf is Match for an instance.
func matchOf(q *Quick, inst *Instance, column []int32) (Matching, error) {
	s := Shape{inst.Rows, inst.Cols}
	switch inst.Type {
	case Int32:
		return Match(q, s, inst.I32, inst.Maximize, column)
	case Int64:
		return Match(q, s, inst.I64, inst.Maximize, column)
	case Float32:
		return Match(q, s, inst.F32, inst.Maximize, column)
	}
	return Match(q, s, inst.F64, inst.Maximize, column)
}

// Match finds what the reference finds, and a batch what Match finds.
func TestMatch(t *testing.T) {
	d := host.Open(1)
	defer d.Close()
	r := rand.New(rand.NewPCG(7, 1))
	var q Quick
	for round := range 400 {
		l := span{Layout{Type: []Value{Int32, Int64, Float32, Float64}[r.IntN(4)], Count: 3, Rows: r.IntN(12), Cols: r.IntN(12),
			Maximize: r.IntN(2) == 1}, -float64(r.IntN(20)), math.Pow(10, float64(r.IntN(5)))}
		if round%50 == 0 {
			l.Rows, l.Cols = 1+r.IntN(150), 1+r.IntN(150)
		}
		list := uniform(t, r, l, []float64{0, 0, 0.1, 0.4, 0.7}[round%5])
		var all Instance
		all.Type = l.Type
		columns, found := make([]int32, 3*l.Rows), make([]Matching, 3)
		var single []Matching
		for _, inst := range list {
			column := make([]int32, l.Rows)
			m, err := matchOf(&q, inst, column)
			want, failed := Solve(context.Background(), inst, on(Options{Settings: solve.Settings{Algorithm: "reference"}}, d))
			if errors.Is(failed, solve.ErrInfeasible) != errors.Is(err, solve.ErrInfeasible) {
				t.Fatalf("round %d, %+v: found %v, expected %v", round, l, err, failed)
			}
			if failed == nil && (err != nil || !m.Proven || m.Gap != 0 || m.Value != want.Value.Float() || m.Matched != want.Matched) {
				t.Fatalf("round %d, %+v: found %+v, %v, expected %s", round, l, m, err, want.Value)
			}
			if failed == nil {
				if sum, n := sumOf(inst, column); n != m.Matched || decimals(sum, inst.Type.Integer()) != want.Value {
					t.Fatalf("round %d, %+v: the columns' costs add up to %v, expected %s", round, l, sum, want.Value)
				}
			}
			single = append(single, m)
			all.I32, all.I64, all.F32, all.F64 = append(all.I32, inst.I32...), append(all.I64, inst.I64...), append(all.F32, inst.F32...), append(all.F64, inst.F64...)
		}
		shapes := []Shape{{l.Rows, l.Cols}}
		if round%2 == 1 {
			shapes = slices.Repeat(shapes, 3)
		}
		var err error
		switch l.Type {
		case Int32:
			err = MatchBatch(shapes, all.I32, l.Maximize, round%3, columns, found)
		case Int64:
			err = MatchBatch(shapes, all.I64, l.Maximize, round%3, columns, found)
		case Float32:
			err = MatchBatch(shapes, all.F32, l.Maximize, round%3, columns, found)
		default:
			err = MatchBatch(shapes, all.F64, l.Maximize, round%3, columns, found)
		}
		if err != nil || !slices.Equal(found, single) {
			t.Fatalf("round %d, %+v: found %+v, %v, expected %+v", round, l, found, err, single)
		}
	}
}

func TestMatchRefuses(t *testing.T) {
	var q Quick
	for _, x := range []float64{math.NaN(), math.Inf(-1)} {
		for n := 1; n < 90; n += 11 {
			costs := make([]float64, n*n)
			costs[n*n/2] = x
			if _, err := Match(&q, Shape{n, n}, costs, false, make([]int32, n)); !errors.Is(err, problem.ErrCost) {
				t.Errorf("%d rows, a cost of %v: found %v, expected an error of costs", n, x, err)
			}
		}
	}
	if _, err := Match(&q, Shape{2, 2}, []int32{1, 2, 3}, false, make([]int32, 2)); !errors.Is(err, solve.ErrInput) {
		t.Errorf("3 of 4 costs: found %v, expected an error of input", err)
	}
	if err := MatchBatch([]Shape{{1, 1}, {2, 1}}, []int32{1, 2, 3, 4}, false, 1, make([]int32, 3), make([]Matching, 2)); !errors.Is(err, solve.ErrInput) {
		t.Errorf("4 of 3 costs: found %v, expected an error of input", err)
	}
}
