package csg

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	gencsg "coalesce/generated/csg"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// A device draws what this machine draws: every bit, of every distribution and type.
func TestDrawnOnDevice(t *testing.T) {
	d := emulatedtest.Open(t)
	if len(Distributions()) != gencsg.DrawLawLaws {
		t.Fatalf("found %d distributions, the kernels have %d", len(Distributions()), gencsg.DrawLawLaws)
	}
	for k, name := range Distributions() {
		for _, as := range []problem.Value{problem.Float64, []problem.Value{problem.Int32, problem.Float32, problem.Int64, problem.Int16}[k%4]} {
			const n, first = 12, 1 << 10
			inst, err := NewDrawn(name, n, 5+1<<40, as)
			if err != nil {
				t.Fatal(err)
			}
			on, err := inst.Law.OpenDrawer(d)
			if err != nil {
				t.Fatal(err)
			}
			s, err := d.NewStream()
			if err != nil {
				t.Fatal(err)
			}
			size := int64(as.Size())
			v, err := d.Alloc(size * (1<<n - first))
			if err != nil {
				t.Fatal(err)
			}
			got := make([]byte, v.Len())
			if err := on.DrawInto(s, v, first, 1<<n-first); err != nil {
				t.Fatal(err)
			}
			if err := s.Download(got, v, 0); err != nil {
				t.Fatal(err)
			}
			inst.DrawValues()
			if want := inst.Bytes()[first*size:]; !bytes.Equal(got, want) {
				for c := range int64(1<<n - first) {
					if a, b := got[c*size:(c+1)*size], want[c*size:(c+1)*size]; !bytes.Equal(a, b) {
						t.Errorf("%s, %s: coalition %d: found the bytes %x, expected %x", name, as, c+first, a, b)
						break
					}
				}
			}
			for _, err := range []error{v.Free(), s.Close(), on.Close()} {
				if err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// Solves of values that a device draws find what those of held values find; the values of
// the last agent's coalitions are drawn whole, and a piece at a time.
func TestSolveDrawn(t *testing.T) {
	d := emulatedtest.Open(t)
	for k, name := range []string{"uniform", "uct-ndcs", "planted", "infeasible"} {
		as := []problem.Value{problem.Int32, problem.Float32, problem.Float64, problem.Int64}[k]
		for _, algorithm := range []Method{Apart, ByPrices} {
			inst, err := NewDrawn(name, 13, 9, as)
			if err != nil {
				t.Fatal(err)
			}
			o := on(d)
			o.Algorithm = string(algorithm)
			got, err := Solve(context.Background(), inst, o)
			if err != nil {
				t.Fatalf("%s, %s: %v", name, algorithm, err)
			}
			if inst.HoldsValues() {
				t.Errorf("%s, %s: this machine holds the values", name, algorithm)
			}
			want, err := Reference(inst, Apart)
			if err != nil {
				t.Fatal(err)
			}
			if got.Value != want.Value {
				t.Errorf("%s, %s by %s: found %s, expected %s", name, as, algorithm, got.Value, want.Value)
			}
			if name == "planted" && got.Value != "13" {
				t.Errorf("planted: found %s, expected 13, one for each agent", got.Value)
			}
		}
	}
}

// A law's bounds hold.
func TestLawsLeast(t *testing.T) {
	for _, name := range Distributions() {
		inst, err := NewDrawn(name, 12, 2, problem.Float64)
		if err != nil {
			t.Fatal(err)
		}
		least := inst.Law.LeastValue()
		for mask := range inst.Len() {
			if x := inst.Value64(mask); x < least && problem.FormatFloat(x, 64) != "-inf" {
				t.Errorf("%s: coalition %d is worth %v, expected at least %v", name, mask, x, least)
			}
		}
	}
}

// Several devices, and several ranks, draw the values each for itself.
func TestDrawnBySeveral(t *testing.T) {
	devices := emulatedtest.OpenSeveral(t, 2)
	inst, err := NewDrawn("planted", 13, 5, problem.Int32)
	if err != nil {
		t.Fatal(err)
	}
	one, err := Solve(context.Background(), inst, Options{Settings: solve.Settings{Devices: devices, Algorithm: string(Apart)}})
	if err != nil {
		t.Fatal(err)
	}
	_, two := onRanks(t, inst, devices, Options{Settings: solve.Settings{Algorithm: string(Apart)}})
	if want := "130000"; string(one.Value) != want || string(two.Value) != want {
		t.Errorf("planted: two devices find %s, two ranks %s, expected %s", one.Value, two.Value, want)
	}
	if inst.HoldsValues() {
		t.Error("this machine holds the values")
	}
}

// Devices draw and look through their shares of the values, by prices: three, of one tile or
// more each.
func TestPricesDrawnBySeveral(t *testing.T) {
	for _, n := range []int{13, 16} {
		inst, err := NewDrawn("planted", n, 5, problem.Int32)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Solve(context.Background(), inst, Options{Settings: solve.Settings{Devices: emulatedtest.OpenSeveral(t, 3), Algorithm: string(ByPrices)}})
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprint(10000 * n); string(r.Value) != want || r.Algorithm != string(ByPrices) || !r.Proven {
			t.Errorf("%d agents: found %s by %s, proven %v, expected %s", n, r.Value, r.Algorithm, r.Proven, want)
		}
		if inst.HoldsValues() {
			t.Error("this machine holds the values")
		}
	}
}
