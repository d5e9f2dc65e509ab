package assignment

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"coalesce/autotune/tuned"
	"coalesce/runtime/host"
	"coalesce/solvers/assignment/internal/paths"
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/solve"
)

// A host runs the algorithm that is pinned, says so, and finds the same value by each; where rounded duals of floats stay without a proof its
// own method goes on. What is drawn for a workload is of that workload.
func TestHostAlgorithms(t *testing.T) {
	d := host.Open(2)
	defer d.Close()
	for _, fixed := range hostAlgorithmsSubject().Workloads() {
		for kind, name := range hostKinds {
			inst, err := drawHostWay(fixed, 90, kind, 5)
			if err != nil {
				t.Fatal(err)
			}
			for _, turned := range []*problem.Instance{inst, inst.Transpose()} {
				if w := hostWorkload(turned.Rows, turned.Cols, turned.Type, 2); w.Size != 90 || w.Fixed["shape"] != fixed["shape"] || w.Fixed["value"] != fixed["value"] {
					t.Errorf("%v, %s: drew the workload %v, size %d", fixed, name, w.Fixed, w.Size)
				}
			}
			var want solve.Number
			for k := range hostAlgorithms.Variants {
				v := &hostAlgorithms.Variants[k]
				pin := tuned.Policy{Pinned: map[string]string{hostAlgorithms.Name: v.Label}}
				r, err := Solve(t.Context(), inst, on(Options{Settings: solve.Settings{Tuning: tuned.Shipped().WithPolicy(pin)}}, d))
				if err != nil {
					t.Fatal(err)
				}
				if want == "" {
					want = r.Value
				}
				by := "assignment/" + hostAlgorithms.Value(v, "algorithm")
				if ran := r.Variant == by && r.Reason == "asked for by name"; !ran && inst.Type.Integer() || r.Value != want || !r.Proven {
					t.Errorf("%v, %s, %s: %s by %s, %s, proven %v; expected %s by %s", fixed, name, v.Label, r.Value, r.Variant, r.Reason, r.Proven, want, by)
				}
			}
		}
	}
}

// Measurements of a size overrule what the shape predicts.
func TestHostAlgorithmIsMeasured(t *testing.T) {
	d := host.Open(2)
	defer d.Close()
	fixed := hostFixed[hostKey{false, problem.Int32}]
	inst, err := drawHostWay(fixed, 130, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	for k := range hostAlgorithms.Variants {
		e := tuned.Entry{Family: hostAlgorithms.Name, Class: d.Facts().Class(), Fixed: fixed, Size: 130, Protocol: tuned.Protocol, Winner: hostAlgorithms.Variants[k].Label}
		for j := range hostAlgorithms.Variants {
			v := &hostAlgorithms.Variants[(k+j)%len(hostAlgorithms.Variants)]
			e.Results = append(e.Results, tuned.Result{Variant: v.Label, Hash: tuned.Hash(v.Hash), Nanos: int64(1000 * (j + 1)), Samples: 9})
		}
		db := new(tuned.Database)
		if err := db.Put(e); err != nil {
			t.Fatal(err)
		}
		s, err := Open(on(Options{Settings: solve.Settings{Tuning: db}}, d))
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.Solve(t.Context(), inst)
		if err = errors.Join(err, s.Close()); err != nil {
			t.Fatal(err)
		}
		if by := "assignment/" + hostAlgorithms.Value(&hostAlgorithms.Variants[k], "algorithm"); r.Variant != by || !strings.HasPrefix(r.Reason, tuned.Exact) {
			t.Errorf("%s won: solved by %s, %s", e.Winner, r.Variant, r.Reason)
		}
	}
}

// However paths read rows, they find matchings of one value.
func TestReadings(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	var m paths.Matcher
	for round := range 60 {
		rows, cols := 1+r.IntN(150), 1+r.IntN(150)
		if round%3 == 0 {
			cols = rows
		}
		costs := make([]float32, rows*cols)
		for k := range costs {
			if costs[k] = r.Float32(); round%2 == 0 {
				costs[k] = float32(r.IntN(20))
			}
		}
		column := make([]int32, rows)
		var want float64
		for _, reading := range []paths.Reading{paths.ByShape, paths.AllPairs, paths.NearPairs} {
			m.Reading = reading
			found, ok := paths.Match(&m, rows, cols, costs, round%5 == 0, column)
			if reading == paths.ByShape {
				want = found
			}
			if !ok || found != want {
				t.Errorf("%d x %d costs, reading %d: found %v, %v, expected %v", rows, cols, reading, found, ok, want)
			}
		}
	}
}
