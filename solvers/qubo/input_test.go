package qubo

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"coalesce/runtime/device"
	"coalesce/runtime/host"
	"coalesce/solvers/qubo/problem"
	"coalesce/solvers/solve"
	"coalesce/solvers/solve/inputtest"
)

// filled is an instance as a program fills it.
func filled(r *rand.Rand) *Instance {
	n := r.IntN(6)
	b := NewBuilder(n)
	b.Form([]Form{QUBO, Ising, MaxCut}[r.IntN(3)])
	if b.Maximize(); r.IntN(2) == 0 {
		b.Minimize()
	}
	part := []float64{1, 0.5}[r.IntN(2)]
	inst, err := b.Build()
	if err != nil {
		panic(err)
	}
	for i := range n {
		if inst.Form != MaxCut {
			b.Linear(i, float64(r.IntN(21)-10)*part)
		}
		for j := range i {
			b.Pair(i, j, float64(r.IntN(21)-10)*part)
		}
	}
	if inst, err = b.Build(); err != nil {
		panic(err)
	}
	return inst
}

// exhausted is the best value by all solutions, of which some fix variables.
func exhausted(inst *Instance) float64 {
	best := math.Inf(1)
	for x := range uint64(1) << inst.N {
		fits := true
		for i, v := range inst.Fixed {
			fits = fits && (v < 0 || x>>i&1 == uint64(v))
		}
		if !fits {
			continue
		}
		value := inst.Amount([]uint64{x}).Float()
		if inst.Sense == Maximize {
			value = -value
		}
		best = min(best, value)
	}
	if inst.Sense == Maximize {
		return -best
	}
	return best
}

// Instances and options that a program fills, rightly and wrongly, are solved for what they say, or refused
// with an error that names the field. No error says that the solver is wrong.
func TestFilledPrograms(t *testing.T) {
	d := host.Open(2)
	defer d.Close()
	r := rand.New(rand.NewPCG(9, 7))
	solved, refused := 0, 0
	for range 600 {
		inst := filled(r)
		o := on(d, Options{})
		var how []string
		for range r.IntN(3) {
			if r.IntN(4) == 0 {
				how = append(how, inputtest.Spoil(r, &o))
			} else {
				how = append(how, inputtest.Spoil(r, inst))
			}
		}
		o.Log, o.Progress, o.Exchange = nil, nil, nil
		if o.TimeLimit >= 0 {
			o.TimeLimit = 300 * time.Millisecond
		}
		o.Threads, o.Work, o.Memory = min(o.Threads, 4), min(o.Work, 100000), min(o.Memory, 0)
		if o.Solutions > 100 {
			o.Solutions = 3
		}
		var answer *Result
		for name, work := range map[string]func() error{
			"Solve":  func() (err error) { answer, err = Solve(t.Context(), inst, o); return err },
			"Verify": func() error { _, err := Verify(inst, []byte(`{"problem":"qubo"}`)); return err },
			"Write":  func() error { _, err := Write(&bytes.Buffer{}, inst, "coo"); return err },
			"Variants": func() error {
				_, err := EvaluateVariants(inst)
				return err
			},
		} {
			panicked, err := inputtest.Call(work)
			switch {
			case panicked != nil:
				t.Fatalf("%s of %v: panic: %v", name, how, panicked)
			case errors.Is(err, ErrCheck):
				t.Errorf("%s of %v: %v", name, how, err)
			case err == nil || errors.Is(err, ErrCoefficient) || errors.Is(err, device.ErrMemory):
			case name == "Write" && inst.Check() == nil: // what the format does not hold
			case !errors.Is(err, solve.ErrInput) || !inputtest.Names(err.Error(), problem.Instance{}, problem.Terms[int64]{}, o):
				t.Errorf("%s of %v: found the error %v, expected one that names a field", name, how, err)
			default:
				refused++
			}
		}
		if answer == nil {
			continue
		}
		solved++
		text, err := json.Marshal(answer)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := Verify(inst, text); err != nil || v.Err() != nil {
			t.Errorf("%v: verify says %v, %+v", how, err, v)
		}
		want, got := exhausted(inst), answer.Value.Float()
		if answer.Proven && math.Abs(want) < 1e9 && math.Abs(got-want) > 1e-9*math.Abs(want)+1e-9 && *answer.Report.Gap == 0 {
			t.Errorf("%v: found %v, expected %v", how, got, want)
		}
	}
	if solved < 100 || refused < 100 {
		t.Errorf("%d instances were solved and %d calls refused, expected more", solved, refused)
	}
	for name, work := range map[string]func() error{
		"Solve":      func() error { _, err := Solve(t.Context(), nil, on(d, Options{})); return err },
		"no device":  func() error { _, err := Solve(t.Context(), filled(r), Options{}); return err },
		"a nil one":  func() error { _, err := Solve(t.Context(), filled(r), on(nil, Options{})); return err },
		"Verify":     func() error { _, err := Verify(nil, []byte(`{"problem":"qubo"}`)); return err },
		"Write":      func() error { _, err := Write(nil, nil, "coo"); return err },
		"Multistart": func() error { _, err := Multistart(t.Context(), nil, filled(r), MultistartOptions{}); return err },
		"on nothing": func() error { _, err := Multistart(t.Context(), d, nil, MultistartOptions{}); return err },
		"Evaluation": func() error { _, err := OpenEvaluation(d, filled(r), "", -1); return err },
		"Flipping":   func() error { _, err := OpenFlipping(nil, 3, "int8", ""); return err },
		"variables":  func() error { b := NewBuilder(-1); b.Maximize(); _, err := b.Build(); return err },
		"sense":      func() error { _, err := NewBuilder(2).Build(); return err },
		"range":      func() error { b := NewBuilder(2); b.Maximize(); b.Linear(2, 1); _, err := b.Build(); return err },
		"itself":     func() error { b := NewBuilder(2); b.Maximize(); b.PairInt(1, 1, 1); _, err := b.Build(); return err },
		"Palubeckis": func() error { _, err := Palubeckis(-1, 3, 1); return err },
	} {
		if panicked, err := inputtest.Call(work); panicked != nil || !errors.Is(err, solve.ErrInput) {
			t.Errorf("%s: found %v, %v, expected an error of the input", name, err, panicked)
		}
	}
}
