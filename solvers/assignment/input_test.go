package assignment

import (
	"bytes"
	"errors"
	"testing"

	"coalesce/runtime/collective/collectivetest"
	"coalesce/runtime/host"
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/solve"
	"coalesce/solvers/solve/inputtest"
)

// What programs hand over wrongly is refused with an error of the input. scripts/adversary draws such instances at random.
func TestWrongCalls(t *testing.T) {
	d := host.Open(2)
	defer d.Close()
	inst, err := problem.NewInstance(2, 2, []int32{4, 1, 2, 0}, "by hand")
	if err != nil {
		t.Fatal(err)
	}
	for name, work := range map[string]func() error{
		"Solve":     func() error { _, err := Solve(t.Context(), nil, on(Options{}, d)); return err },
		"Load":      func() error { _, err := loaded(nil, on(Options{}, d)); return err },
		"no device": func() error { _, err := Solve(t.Context(), inst, Options{}); return err },
		"a nil one": func() error { _, err := Solve(t.Context(), inst, on(Options{}, nil)); return err },
		"Batch": func() error {
			_, err := SolveBatch(t.Context(), []*problem.Instance{nil}, on(Options{}, d))
			return err
		},
		"Bottleneck": func() error { _, err := Solve(t.Context(), nil, Options{Bottleneck: true}); return err },
		"k < 0":      func() error { _, err := Solve(t.Context(), inst, on(Options{KBest: -1}, d)); return err },
		"k on ranks": func() error {
			_, err := Solve(t.Context(), inst, on(Options{KBest: 2, Settings: solve.Settings{Ranks: collectivetest.Ranks(2)[0]}}, d))
			return err
		},
		"both": func() error {
			_, err := Solve(t.Context(), inst, on(Options{KBest: 2, Bottleneck: true}, d))
			return err
		},
		"duals": func() error {
			_, err := Solve(t.Context(), inst, on(Options{Duals: true, Bottleneck: true}, d))
			return err
		},
		"no algorithm": func() error {
			_, err := Solve(t.Context(), inst, on(Options{Settings: solve.Settings{Algorithm: "x"}}, d))
			return err
		},
		"a batch": func() error {
			_, err := OpenBatch(t.Context(), []*problem.Instance{inst}, on(Options{KBest: 2}, d))
			return err
		},
		"lent": func() error {
			_, err := OpenResident(t.Context(), Layout{Type: problem.Int32, Count: 1, Rows: 1, Cols: 1}, on(Options{Bottleneck: true}, d))
			return err
		},
		"Quick":     func() error { _, _, _, _, err := new(QuickSolver).Solve(nil); return err },
		"Verify":    func() error { _, err := Verify(nil, []byte(`{"problem":"assignment"}`), nil); return err },
		"Check":     func() error { _, err := problem.Check(nil, nil, problem.Duals{}); return err },
		"CheckHall": func() error { _, err := problem.CheckHall(nil, nil); return err },
		"Worst":     func() error { _, _, err := CheckBottleneck(nil, nil, nil); return err },
		"NewInstance": func() error {
			_, err := problem.NewInstance(-1, 2, []int32{1}, "")
			return err
		},
		"costs": func() error { _, err := problem.NewInstance(2, 2, []int32{1}, ""); return err },
		"points": func() error {
			_, err := problem.NewPoints(problem.Points{Dim: -1, Metric: problem.Euclidean}, "")
			return err
		},
		"metric":   func() error { _, err := problem.NewPoints(problem.Points{Dim: 1}, ""); return err },
		"Draw":     func() error { _, err := Draw(Drawing{Kind: "x"}); return err },
		"Generate": func() error { _, err := Generate("uniform", -1, 2, 9, 1, problem.Int32); return err },
		"WriteNPY": func() error { return WriteNPY(&bytes.Buffer{}, nil) },
		"market":   func() error { return WriteMarket(&bytes.Buffer{}, nil) },
		"layout": func() error {
			_, err := OpenResident(t.Context(), Layout{Type: problem.Int32, Count: -1}, on(Options{}, d))
			return err
		},
	} {
		if panicked, err := inputtest.RecoverPanic(work); panicked != nil || !errors.Is(err, solve.ErrInput) {
			t.Errorf("%s: found %v, %v, expected an error of the input", name, err, panicked)
		}
	}
}
