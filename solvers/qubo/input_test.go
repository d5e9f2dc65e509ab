package qubo

import (
	"errors"
	"testing"

	"coalesce/runtime/host"
	"coalesce/solvers/qubo/problem"
	"coalesce/solvers/solve"
	"coalesce/solvers/solve/inputtest"
)

// What programs hand over wrongly is refused with an error of the input. scripts/adversary draws such instances at random.
func TestWrongCalls(t *testing.T) {
	d := host.Open(2)
	defer d.Close()
	b := problem.NewBuilder(2)
	b.Maximize()
	b.Linear(0, 1)
	inst, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	for name, work := range map[string]func() error{
		"Solve":      func() error { _, err := Solve(t.Context(), nil, on(d, Options{})); return err },
		"no device":  func() error { _, err := Solve(t.Context(), inst, Options{}); return err },
		"a nil one":  func() error { _, err := Solve(t.Context(), inst, on(nil, Options{})); return err },
		"Verify":     func() error { _, err := Verify(nil, []byte(`{"problem":"qubo"}`)); return err },
		"Write":      func() error { _, err := Write(nil, nil, "coo"); return err },
		"Multistart": func() error { _, err := Multistart(t.Context(), nil, inst, MultistartOptions{}); return err },
		"on nothing": func() error { _, err := Multistart(t.Context(), d, nil, MultistartOptions{}); return err },
		"Evaluation": func() error { _, err := OpenEvaluation(d, inst, "", -1); return err },
		"Flipping":   func() error { _, err := OpenFlipping(nil, 3, "int8", ""); return err },
		"variables":  func() error { b := problem.NewBuilder(-1); b.Maximize(); _, err := b.Build(); return err },
		"sense":      func() error { _, err := problem.NewBuilder(2).Build(); return err },
		"range": func() error {
			b := problem.NewBuilder(2)
			b.Maximize()
			b.Linear(2, 1)
			_, err := b.Build()
			return err
		},
		"itself": func() error {
			b := problem.NewBuilder(2)
			b.Maximize()
			b.PairInt(1, 1, 1)
			_, err := b.Build()
			return err
		},
		"Palubeckis": func() error { _, err := Palubeckis(-1, 3, 1); return err },
	} {
		if panicked, err := inputtest.RecoverPanic(work); panicked != nil || !errors.Is(err, solve.ErrInput) {
			t.Errorf("%s: found %v, %v, expected an error of the input", name, err, panicked)
		}
	}
}
