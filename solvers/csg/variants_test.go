package csg

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"testing"

	"coalesce/autotune/subject"
	gencsg "coalesce/generated/csg"
	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/runtime/host"
	"coalesce/solvers/csg/internal/draw"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// on are the options of a solve on one device.
func on(d device.Device) Options {
	return Options{Settings: solve.Settings{Devices: []device.Device{d}}}
}

// check runs a variant on every case of at most most agents.
func check(t *testing.T, d device.Device, s subject.Subject, v *device.Variant, most int) {
	t.Helper()
	f := s.Family()
	cases, err := s.Cases(map[string]string{"value": f.Value(v, "value"), "method": f.Value(v, "method")})
	if err != nil {
		t.Fatal(err)
	}
	run, err := s.Open(d, v)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	stream, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	for _, c := range cases {
		if c.Instance.Size() > most {
			continue
		}
		job, err := run.Prepare(c.Instance)
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		for range 2 { // the second run finds the memory of the first
			if err := cmp.Or(job.Reset(stream), job.Run(stream), job.Check(stream)); err != nil {
				t.Fatalf("%s: %v", c.Name, err)
			}
		}
		if err := job.Close(); err != nil {
			t.Errorf("%s: close: %v", c.Name, err)
		}
	}
}

func TestSamplesCover(t *testing.T) {
	f := &gencsg.Splits
	values, pairs := emulatedtest.SampleVariants(f, 1), emulatedtest.SampleVariants(f, 2)
	if len(values) == 0 || len(values) >= len(pairs) || len(pairs) >= len(f.Variants) {
		t.Fatalf("samples of %d and %d of %d variants", len(values), len(pairs), len(f.Variants))
	}
	for i := range f.Variants {
		all := f.Variants[i].Values
		for p, value := range all {
			if !slices.ContainsFunc(values, func(v *device.Variant) bool { return v.Values[p] == value }) {
				t.Errorf("%s=%s is in no variant of the sample of values", f.Params[p], value)
			}
			for q := range p {
				if !slices.ContainsFunc(pairs, func(v *device.Variant) bool { return v.Values[p] == value && v.Values[q] == all[q] }) {
					t.Errorf("%s=%s with %s=%s is in no variant of the sample of pairs", f.Params[p], value, f.Params[q], all[q])
				}
			}
		}
	}
}

func TestEmulatedVariants(t *testing.T) {
	t.Parallel()
	d := emulatedtest.Open(t)
	s := Subjects()[1]
	f := s.Family()
	for turn, v := range emulatedtest.Variants(f) {
		most := 8
		switch {
		case emulatedtest.EveryVariant():
			most = 6
		case emulatedtest.Thorough() || turn%3 == 0: // the largest cases take as long as all others
			most = 10
		}
		t.Run(v.Label, func(t *testing.T) { check(t, d, s, v, most) })
	}
}

func TestEmulatedTilesVariants(t *testing.T) {
	t.Parallel()
	d := emulatedtest.Open(t)
	s := Subjects()[0]
	for _, v := range emulatedtest.Variants(s.Family()) {
		t.Run(v.Label, func(t *testing.T) {
			if err := s.Feasible(v, d.Facts(), 14); err != nil {
				t.Skipf("larger GPUs alone run it: %v", err)
			}
			check(t, d, s, v, 14)
		})
	}
}

func TestHostVariants(t *testing.T) {
	d := host.Open(0)
	defer d.Close()
	s := Subjects()[2]
	for i := range s.Family().Variants {
		v := &s.Family().Variants[i]
		t.Run(v.Label, func(t *testing.T) { check(t, d, s, v, 10) })
	}
}

// The host kernels against the reference where tiles matter.
func TestSolveOnHost(t *testing.T) {
	d := host.Open(0)
	defer d.Close()
	for n := 1; n <= 15; n++ {
		for _, value := range []problem.Value{problem.Int32, problem.Int64, problem.Float32, problem.Float64} {
			inst, err := draw.ByCoalition(value, n, func(mask uint64) float64 { return float64(draw.Mix(mask)%2000) - 1000 })
			if err != nil {
				t.Fatal(err)
			}
			got, err := Solve(context.Background(), inst, on(d))
			if err != nil {
				t.Fatalf("%d agents, %s: %v", n, value, err)
			}
			want, err := Reference(inst, DP)
			if err != nil {
				t.Fatal(err)
			}
			if got.Value != want.Value {
				t.Errorf("%d agents, %s: found %s, expected %s", n, value, got.Value, want.Value)
			}
		}
	}
}

func TestSolveSmallest(t *testing.T) {
	d := host.Open(1)
	defer d.Close()
	for n, want := range []string{"0", "-7"} {
		inst, err := draw.ByCoalition(problem.Int32, n, func(uint64) float64 { return -7 })
		if err != nil {
			t.Fatal(err)
		}
		r, err := Solve(context.Background(), inst, on(d))
		if err != nil {
			t.Fatal(err)
		}
		if r.Value.String() != want || len(r.Structure) != n {
			t.Errorf("%d agents: found %s in %d blocks, expected %s in %d", n, r.Value.String(), len(r.Structure), want, n)
		}
	}
}

func TestSolveRefuses(t *testing.T) {
	d := host.Open(1)
	defer d.Close()
	inst, err := draw.ByCoalition(problem.Int32, 3, drawnMask)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, want string
		options    Options
	}{
		{"a variant that is not", "has no variant", Options{Settings: solve.Settings{Variant: "k=99"}}},
		{"another type's variant", "the instance needs value=int32", Options{Settings: solve.Settings{Variant: otherType(t)}}},
		{"IDP by a variant of tiles", "Algorithm: found idp", Options{Settings: solve.Settings{Algorithm: "idp", Variant: "k=99"}}},
	} {
		c.options.Devices = []device.Device{d}
		if _, err := Solve(context.Background(), inst, c.options); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: found %v, expected %q", c.name, err, c.want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if r, err := Solve(ctx, inst, on(d)); err != nil || !r.Stopped || r.Proven || r.Value == "" {
		t.Errorf("cancelled: found %v, %v", r, err)
	}
	limited := on(d)
	limited.TimeLimit = 1
	if r, err := Solve(context.Background(), inst, limited); err != nil || !r.Stopped || r.Proven || r.Value == "" {
		t.Errorf("a limit of 1 ns: found %v, %v", r, err)
	}
	if _, err := Solve(context.Background(), inst, Options{}); err == nil {
		t.Error("no device: no error")
	}
	if _, err := Solve(context.Background(), nil, on(d)); err == nil {
		t.Error("no instance: no error")
	}
}

func drawnMask(mask uint64) float64 { return float64(draw.Mix(mask) % 100) }

func otherType(t *testing.T) string {
	for _, v := range gencsg.Hosttiles.Variants {
		if gencsg.Hosttiles.Value(&v, "value") == string(problem.Float64) {
			return v.Label
		}
	}
	t.Fatal("csg/hosttiles has no float64 variant")
	return ""
}
