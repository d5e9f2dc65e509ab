package assignment

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"coalesce/generated/assignment"
	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/runtime/host"
)

func batchSafe(t *testing.T, value Value) *device.Variant {
	t.Helper()
	f := &assignment.Batch
	for i := range f.Variants {
		if v := &f.Variants[i]; v.Safe && f.Value(v, "value") == string(value) {
			return v
		}
	}
	t.Fatalf("no safe variant of %s", value)
	return nil
}

// The kernel that checks must see every kind of wrong answer.
func TestBatchCheckFindsCorruption(t *testing.T) {
	d := emulatedtest.Open(t)
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx := context.Background()
	draw := func(rows, cols int) *normal {
		inst, err := Generate("uniform", rows, cols, 1000, 1<<40, Int32)
		if err != nil {
			t.Fatal(err)
		}
		p, err := normalise(inst)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	c := &batchCase{problems: []*normal{draw(7, 7), draw(5, 9), draw(12, 6), draw(300, 3)}}
	costs, shapes := c.upload(t, d, s)
	defer costs.Free()
	b, err := newBatch(d, batchSafe(t, Int32), shapes, true)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if err := b.solve(ctx, s, costs); err != nil {
		t.Fatal(err)
	}
	good := append([]byte(nil), b.back...)
	free := func(s *solution) int {
		for j := range s.v {
			if used := func() bool {
				for _, k := range s.column {
					if int(k) == j {
						return true
					}
				}
				return false
			}(); !used {
				return j
			}
		}
		return 0
	}
	for _, harm := range []struct {
		name  string
		loose bool // needs more columns than rows
		do    func(s *solution)
	}{
		{"column taken twice", false, func(s *solution) { s.column[0] = s.column[1] }},
		{"no column", false, func(s *solution) { s.column[2] = -1 }},
		{"column beyond the last", false, func(s *solution) { s.column[2] = int32(len(s.v)) }},
		{"columns exchanged", false, func(s *solution) { s.column[0], s.column[1] = s.column[1], s.column[0] }},
		{"u too large", false, func(s *solution) { s.u[1]++ }},
		{"u too small", false, func(s *solution) { s.u[1]-- }},
		{"v too large", false, func(s *solution) { s.v[s.column[2]]++ }},
		{"v too small", false, func(s *solution) { s.v[s.column[2]]-- }},
		{"u out of range", false, func(s *solution) { s.u[0] = math.MinInt64 }},
		{"v of a free column", true, func(s *solution) { s.v[free(s)]-- }},
		{"duals shifted", true, func(s *solution) {
			for i := range s.u {
				s.u[i]--
			}
			for j := range s.v {
				s.v[j]++
			}
		}},
	} {
		for k, p := range c.problems {
			if harm.loose && p.rows == p.cols {
				continue
			}
			copy(b.back, good)
			sol, _ := b.solution(k)
			harm.do(sol)
			if err := errors.Join(s.Upload(b.answers, 0, b.back),
				b.kernels.Check(s, device.Grid{Blocks: b.grid.Blocks, Threads: b.grid.Threads}, costs, b.table, b.answers, uint64(b.words)),
				s.Download(b.back, b.answers, 0)); err != nil {
				t.Fatal(err)
			}
			for other, q := range c.problems {
				sol, _ := b.solution(other)
				if err := b.prove(other, q, sol); errors.Is(err, ErrCheck) != (other == k) {
					t.Errorf("%s in problem %d: problem %d is judged %v", harm.name, k, other, err)
				}
			}
		}
	}
}

// mixed are instances of all types and shapes, dense and sparse, some without
// a full matching, some empty.
func mixed(t *testing.T, count int) []*Instance {
	t.Helper()
	r := rand.New(rand.NewPCG(9, 9))
	var list []*Instance
	for range count {
		inst, err := draw(r, 8)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, inst)
	}
	return list
}

func TestSolveBatch(t *testing.T) {
	devices := map[string]func() device.Device{
		"host":     func() device.Device { return host.Open(0) },
		"emulated": func() device.Device { return emulatedtest.Open(t) },
	}
	list := mixed(t, 60)
	for name, open := range devices {
		t.Run(name, func(t *testing.T) {
			d := open()
			defer d.Close()
			results, err := SolveBatch(context.Background(), d, list, Options{Duals: true})
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

func agreesWithReference(inst *Instance, r *Result) error {
	p, err := normalise(inst)
	if err != nil {
		return err
	}
	want, err := reference(p, nil)
	if hall := (*infeasible)(nil); errors.As(err, &hall) {
		if r.Column != nil || !r.Proven || r.Certificate.Hall == nil {
			return fmt.Errorf("found %v, proven %t, expected a proof that there is no full matching", r.Column, r.Proven)
		}
		return nil
	}
	if err != nil {
		return err
	}
	expected := newResult(inst)
	if _, err := expected.keep(inst, p, want); err != nil {
		return err
	}
	units := func(r *Result) string { return r.Certificate.Primal }
	if r.Column == nil || !r.Proven || inst.Limit == nil && r.Exact != expected.Exact {
		return fmt.Errorf("found %s (%v), proven %t, expected %s", r.Exact, r.Column, r.Proven, expected.Exact)
	}
	c, err := Check(inst, r.Column, *r.Duals)
	if err != nil || c.Primal != units(r) {
		return fmt.Errorf("the device found %s units, the host %s: %v", units(r), c.Primal, err)
	}
	return nil
}

func TestSolveBatchRefuses(t *testing.T) {
	d := host.Open(1)
	defer d.Close()
	bad, err := NewInstance(1, 2, []float32{1, float32(math.NaN())}, "bad")
	if err != nil {
		t.Fatal(err)
	}
	good, err := NewInstance(1, 1, []int32{5}, "good")
	if err != nil {
		t.Fatal(err)
	}
	_, err = SolveBatch(context.Background(), d, []*Instance{good, bad}, Options{})
	if !errors.Is(err, ErrCost) || !strings.Contains(err.Error(), "instance 1") {
		t.Errorf("NaN: found %v", err)
	}
	if _, err := SolveBatch(context.Background(), d, []*Instance{good}, Options{Family: "batch"}); err == nil {
		t.Error("family batch on a host: found no error")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := SolveBatch(ctx, d, []*Instance{good}, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: found %v", err)
	}
	if r, err := SolveBatch(context.Background(), d, nil, Options{}); err != nil || len(r) != 0 {
		t.Errorf("no instances: found %v, %v", r, err)
	}
}

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
	runner, err := b.Open(d, batchSafe(t, Int32))
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
