package assignment

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/runtime/host"
	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/internal/enginetest"
	"coalesce/solvers/assignment/internal/reference"
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/solve"
)

// mixed are instances of all types and shapes, dense and sparse, some without
// a full matching, some empty.
func mixed(t *testing.T, count int) []*problem.Instance {
	t.Helper()
	r := rand.New(rand.NewPCG(9, 9))
	var list []*problem.Instance
	for range count {
		inst, err := enginetest.RandomProblem(r, 8)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, inst)
	}
	return list
}

func TestSolveBatch(t *testing.T) {
	devices := map[string]func(*testing.T) device.Device{
		"host":     func(*testing.T) device.Device { return host.Open(0) },
		"emulated": emulatedtest.Open,
	}
	list := mixed(t, 60)
	for name, open := range devices {
		t.Run(name, func(t *testing.T) {
			d := open(t)
			defer d.Close()
			results, err := SolveBatch(context.Background(), list, on(Options{Duals: true}, d))
			if err != nil {
				t.Fatal(err)
			}
			for k, r := range results {
				if err := agreesWithReference(list[k], r); err != nil {
					t.Errorf("instance %d: %v", k, err)
				}
			}
		})
	}
}

func agreesWithReference(inst *problem.Instance, r *Result) error {
	p, err := problem.Normalise(inst)
	if err != nil {
		return err
	}
	want, err := reference.Solve(p, nil)
	if hall := (*engine.Infeasible)(nil); errors.As(err, &hall) {
		if r.Column != nil || !r.Proven || r.Certificate.Hall == nil {
			return fmt.Errorf("found %v, proven %t, expected a proof that there is no full matching", r.Column, r.Proven)
		}
		return nil
	}
	if err != nil {
		return err
	}
	expected := newResult(inst)
	if _, err := expected.setSolution(inst, p, want); err != nil {
		return err
	}
	units := func(r *Result) string { return r.Certificate.Primal }
	if r.Column == nil || !r.Proven || inst.Limit == nil && r.Value.String() != expected.Value.String() {
		return fmt.Errorf("found %s (%v), proven %t, expected %s", r.Value.String(), r.Column, r.Proven, expected.Value.String())
	}
	c, err := problem.Check(inst, r.Column, *r.Duals)
	if err != nil || c.Primal != units(r) {
		return fmt.Errorf("the device found %s units, the host %s: %v", units(r), c.Primal, err)
	}
	return nil
}

func TestSolveBatchRefuses(t *testing.T) {
	d := host.Open(1)
	defer d.Close()
	bad, err := problem.NewInstance(1, 2, []float32{1, float32(math.NaN())}, "bad")
	if err != nil {
		t.Fatal(err)
	}
	good, err := problem.NewInstance(1, 1, []int32{5}, "good")
	if err != nil {
		t.Fatal(err)
	}
	_, err = SolveBatch(context.Background(), []*problem.Instance{good, bad}, on(Options{}, d))
	if !errors.Is(err, problem.ErrCost) || !strings.Contains(err.Error(), "instance 1") {
		t.Errorf("NaN: found %v", err)
	}
	if _, err := SolveBatch(context.Background(), []*problem.Instance{good}, on(Options{Settings: solve.Settings{Algorithm: "batch"}}, d)); err == nil {
		t.Error("family batch on a host: found no error")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if r, err := SolveBatch(ctx, []*problem.Instance{good}, on(Options{}, d)); err != nil || !r[0].Stopped || r[0].Proven {
		t.Errorf("cancelled: found %v, %v", r, err)
	}
	if r, err := SolveBatch(context.Background(), nil, on(Options{}, d)); err != nil || len(r) != 0 {
		t.Errorf("no instances: found %v, %v", r, err)
	}
}

// A batch of rankings, or of worst pairs, has what Solve finds of each; one without a full matching is no error.
func TestBatchesInTurn(t *testing.T) {
	d := host.Open(1)
	defer d.Close()
	first, err := problem.NewInstance(2, 2, []int32{1, 7, 9, 2}, "first")
	if err != nil {
		t.Fatal(err)
	}
	none, err := problem.NewInstance(2, 2, []float64{1, math.Inf(1), 2, math.Inf(1)}, "none")
	if err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]Options{"rankings": {KBest: 5}, "worst pairs": {Bottleneck: true}} {
		results, err := SolveBatch(t.Context(), []*problem.Instance{none, first}, on(o, d))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if results[0].Column != nil || !results[0].Proven || results[1].Bottleneck != o.Bottleneck || results[1].Complete == o.Bottleneck || !results[1].Proven {
			t.Errorf("%s: found %+v and %+v", name, results[0], results[1])
		}
		if want := map[bool]string{false: "3", true: "2"}[o.Bottleneck]; results[1].Value.String() != want {
			t.Errorf("%s: found %s, expected %s", name, results[1].Value.String(), want)
		}
	}
	if _, err := SolveBatch(t.Context(), []*problem.Instance{first}, on(Options{KBest: 2, Bottleneck: true}, d)); !errors.Is(err, solve.ErrInput) {
		t.Errorf("found the error %v, expected one of the input", err)
	}
}

// A session ranks, and looks for worst pairs, of one instance after the other.
func TestSessionsRank(t *testing.T) {
	d := host.Open(1)
	defer d.Close()
	rng := rand.New(rand.NewPCG(8, 1))
	for _, o := range []Options{on(Options{KBest: 3}, d), {Bottleneck: true}} {
		s, err := Open(o)
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			inst := small(rng)
			want, failed := Solve(t.Context(), inst, o)
			for again := range 2 {
				r, err := s.Solve(t.Context(), inst)
				if again > 0 {
					r, err = s.SolveAgain(t.Context())
				}
				if errors.Is(err, solve.ErrInfeasible) != errors.Is(failed, solve.ErrInfeasible) || r.Value.String() != want.Value.String() || len(r.Best) != len(want.Best) || r.Complete != want.Complete {
					t.Errorf("found %+v, %v, expected %+v, %v", r, err, want, failed)
				}
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
