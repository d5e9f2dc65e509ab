package multistart

import (
	"context"
	"slices"
	"testing"

	"coalesce/autotune/verify"
	"coalesce/generated/qubo"
	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/solvers/qubo/internal/evaluate"
)

// Every case of the tuner's subjects is answered right by a variant of each
// type, and a wrong answer is noticed.
func TestDenseSubjects(t *testing.T) {
	d := emulatedtest.Open(t)
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, sub := range []subjectOf{{&qubo.Evaluate}, {&qubo.Multistart}} {
		for _, fixed := range sub.Workloads() {
			f := sub.Family()
			if kind := fixed["weight"]; !emulatedtest.EveryVariant() && (kind == evaluate.Int32 || kind == evaluate.Float32) {
				continue
			}
			at := slices.IndexFunc(f.Variants, func(v device.Variant) bool {
				return f.CheckWorkload(&v, fixed) == nil && f.Value(&v, "tile") != "128" && f.Value(&v, "block") != "1024"
			})
			if at < 0 {
				t.Fatalf("%s has no variant for %v", f.Name, fixed)
			}
			v := &f.Variants[at]
			cases, err := sub.Cases(fixed)
			if err != nil {
				t.Fatal(err)
			}
			run, err := sub.Open(d, v)
			if err != nil {
				t.Fatal(err)
			}
			if n, err := verify.Cases(context.Background(), d, s, sub, v, run, cases); err != nil || n != len(cases) {
				t.Errorf("%s %s: %d of %d cases: %v", f.Name, v.Label, n, len(cases), err)
			}
			job, err := run.Prepare(cases[4].Instance)
			if err != nil {
				t.Fatal(err)
			}
			if err := verify.RunPoisoned(s, job); err != nil {
				t.Error(err)
			}
			on := job.(*denseJob)
			if err := job.Check(s); err != nil { // which leaves the host's answers with the trial
				t.Error(err)
			}
			other := *on.p
			other.Diag = slices.Clone(other.Diag)
			other.Diag[0]++
			right := on.denseTrial
			on.denseTrial = newDenseTrial(&other, right.count)
			if f == &qubo.Evaluate && job.Check(s) == nil {
				t.Errorf("%s %s: another problem's objectives pass", f.Name, v.Label)
			}
			on.denseTrial = right
			if f == &qubo.Multistart {
				on.found[right.count-1].flips++
			} else if err := s.Fill(on.on.gain, 0, int64(on.on.many.GainBytes()), 0xa5); err != nil {
				t.Error(err)
			}
			if job.Check(s) == nil {
				t.Errorf("%s %s: a spoiled answer passes beside kept ones", f.Name, v.Label)
			}
			if err := job.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
