package tune

import (
	"errors"
	"testing"

	"coalesce/generated/assignment"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/internal/enginetest"
	"coalesce/solvers/assignment/problem"
)

// The tuner's own cases, on one variant.
func TestBatchSubject(t *testing.T) {
	d := emulatedtest.Open(t)
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	b := newTunableBatch()
	fixed := map[string]string{"value": string(problem.Int32), "range": engine.WideRange}
	cases, err := b.Cases(fixed)
	if err != nil {
		t.Fatal(err)
	}
	runner, err := b.Open(d, enginetest.SafeOf(&assignment.Batch, problem.Int32))
	if err != nil {
		t.Fatal(err)
	}
	defer runner.Close()
	for _, c := range cases[len(cases)-1:] {
		job, err := runner.Prepare(c.Instance)
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		if err := errors.Join(job.Reset(s), job.Run(s), job.Check(s), job.Close()); err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
	}
}
