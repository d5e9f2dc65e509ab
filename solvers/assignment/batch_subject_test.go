package assignment

import (
	"errors"
	"testing"

	"coalesce/generated/assignment"
	"coalesce/runtime/emulated/emulatedtest"
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
	fixed := map[string]string{"value": string(Int32), "range": wideRange}
	cases, err := b.Cases(fixed)
	if err != nil {
		t.Fatal(err)
	}
	runner, err := b.Open(d, safeOf(&assignment.Batch, Int32))
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
