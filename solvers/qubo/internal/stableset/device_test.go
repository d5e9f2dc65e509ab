package stableset

import (
	"slices"
	"testing"

	"coalesce/generated/qubo"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/solvers/qubo/internal/qubotest"
	"coalesce/solvers/qubo/internal/search"
	"coalesce/solvers/qubo/problem"
	"coalesce/solvers/solve"
)

// TestStablesetVariants compares the sets of walks, of both kinds, with those of the host's model.
func TestStablesetVariants(t *testing.T) {
	d := emulatedtest.Open(t)
	for _, v := range emulatedtest.Variants(&qubo.Stableset) {
		cases, err := Subject{}.Cases(map[string]string{"depth": qubo.Stableset.Value(v, "depth")})
		if err != nil {
			t.Fatal(err)
		}
		r, err := Subject{}.Open(d, v)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cases {
			job, err := r.Prepare(c.Instance)
			if err != nil {
				t.Fatal(err)
			}
			s, err := d.NewStream()
			if err != nil {
				t.Fatal(err)
			}
			for _, do := range []func() error{func() error { return job.Reset(s) }, func() error { return job.Run(s) }, func() error { return job.Check(s) }, job.Close, s.Close} {
				if err := do(); err != nil {
					t.Fatalf("%s, %s: %v", v.Label, c.Name, err)
				}
			}
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestDeviceFindsLargestSets searches on the device: small problems, mirrored ones, from a start, and twice with a limit on work.
func TestDeviceFindsLargestSets(t *testing.T) {
	d := emulatedtest.Open(t)
	setup := search.Setup{}
	setup.Settings = solve.Settings{}
	setup.Devices = append(setup.Devices, d)
	for seed := range uint64(6) {
		p := drawn(6+2*int(seed), 0.3, 2, seed)
		if seed%2 == 1 {
			p = mirror(p)
		}
		e, err := Open(p, setup)
		if err != nil {
			t.Fatal(err)
		}
		o := search.Options{Seed: seed, Work: 30000}
		first := qubotest.RunSearch(t, e.Members[0], p, o)
		again := qubotest.RunSearch(t, e.Members[0], p, o)
		if best := qubotest.Optimum(p, nil); first.Best() != best || !slices.Equal(first.X, again.X) {
			t.Errorf("seed %d: %d, then %d, by all solutions %d", seed, first.Best(), again.Best(), best)
		}
		o = search.Options{Seed: seed, Start: first.X}
		target := first.Best()
		o.Target = &target
		if r := qubotest.RunSearch(t, e.Members[0], p, o); len(r.Values) != 1 {
			t.Errorf("seed %d: from the best solution %v", seed, r.Values)
		}
		o.Start = make([]uint64, problem.Words(p.N))
		if r := qubotest.RunSearch(t, e.Members[0], p, o); r.Best() != target {
			t.Errorf("seed %d: %d, expected the target %d", seed, r.Best(), target)
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
