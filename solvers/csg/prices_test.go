package csg

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/runtime/host"
	"coalesce/solvers/csg/internal/price"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

func hostOptions(algorithm Method) Options {
	return Options{Settings: solve.Settings{Devices: []device.Device{host.Open(2)}, Algorithm: string(algorithm)}}
}

// Prices find what the reference finds, and leave a proof that verify checks.
func TestByPrices(t *testing.T) {
	for _, name := range Distributions() {
		for _, as := range []problem.Value{problem.Int32, problem.Int64, problem.Float32, problem.Float64} {
			inst, err := GenerateAs(name, 11, 5, as)
			if err != nil {
				t.Fatal(err)
			}
			want, err := Reference(inst, Apart)
			if err != nil {
				t.Fatal(err)
			}
			r, err := Solve(context.Background(), inst, hostOptions(ByPrices))
			if err != nil {
				t.Errorf("%s, %s: %v", name, as, err)
				continue
			}
			most, ok := want.Bound.Rat()
			if got, too := r.Value.Rat(); !ok || !too || got.Cmp(most) > 0 || as.Integer() && got.Cmp(most) < 0 {
				t.Errorf("%s, %s: found %s, the reference %s", name, as, r.Value, want.Value)
			}
			if !r.Proven || r.Algorithm != "price" || r.Prices == nil || *r.Gap > 1e-5*math.Abs(r.Value.Float()) {
				t.Errorf("%s, %s: found %+v", name, as, r.Report)
			}
			text, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			v, err := Verify(inst, text)
			if err != nil || v.Err() != nil || !v.BoundChecked || !strings.Contains(strings.Join(v.Messages, "\n"), "bound: no coalition is worth more") {
				t.Errorf("%s, %s: %v, %v, %v", name, as, err, v.Err(), v.Messages)
			}
			r.Prices.Survivors++
			if text, err = json.Marshal(r); err != nil {
				t.Fatal(err)
			}
			if v, err = Verify(inst, text); err != nil || v.Err() == nil {
				t.Errorf("%s, %s: a wrong count of survivors passes: %v", name, as, err)
			}
		}
	}
}

// From 20 agents on a host begins by prices; where these are given up, its tiles go on.
func TestPricesByDefault(t *testing.T) {
	inst, err := GenerateAs("ndcs", 20, 1, problem.Int32)
	if err != nil {
		t.Fatal(err)
	}
	told := 0
	o := hostOptions("")
	o.Progress = func(i solve.Incumbent) { told++ }
	byPrices, err := Solve(context.Background(), inst, o)
	if err != nil {
		t.Fatal(err)
	}
	byTiles, err := Solve(context.Background(), inst, hostOptions(Apart))
	if err != nil {
		t.Fatal(err)
	}
	if byPrices.Algorithm != "price" || byTiles.Algorithm != "apart" || byPrices.Value != byTiles.Value || told == 0 {
		t.Errorf("found %s by %s and %s by %s, told %d times", byPrices.Value, byPrices.Algorithm, byTiles.Value, byTiles.Algorithm, told)
	}
	// No structure is allowed: prices cannot say so, the tiles can.
	floats := make([]float32, len(inst.I32))
	for mask := range floats[1:] {
		floats[mask+1] = float32(math.Inf(-1))
	}
	none, err := problem.NewInstance(floats, "forbidden")
	if err != nil {
		t.Fatal(err)
	}
	r, err := Solve(context.Background(), none, hostOptions(""))
	if !slices.ContainsFunc(r.Notes, func(n string) bool { return strings.HasPrefix(n, "price: ") }) {
		t.Errorf("found the notes %q, expected one on the prices that gave up", r.Notes)
	}
	if !errors.Is(err, solve.ErrInfeasible) || r.Algorithm != "apart" || !r.Proven {
		t.Errorf("found %+v, %v where all is forbidden", r, err)
	}
	if _, err := Solve(context.Background(), none, hostOptions(ByPrices)); !errors.Is(err, price.ErrCostly) {
		t.Errorf("found the error %v by prices where all is forbidden", err)
	}
}

// Prices with the passes of a device find what a host's do.
func TestPricesOnDevice(t *testing.T) {
	d := emulatedtest.Open(t)
	for _, as := range []problem.Value{problem.Int32, problem.Int64, problem.Float32, problem.Float64} {
		inst, err := GenerateAs("ndcs", 13, 2, as)
		if err != nil {
			t.Fatal(err)
		}
		want, err := Solve(context.Background(), inst, hostOptions(ByPrices))
		if err != nil {
			t.Fatal(err)
		}
		o := on(d)
		o.Algorithm = string(ByPrices)
		r, err := Solve(context.Background(), inst, o)
		if err != nil || r.Value != want.Value || r.Algorithm != "price" || !strings.HasPrefix(r.Variant, "csg/price ") {
			t.Errorf("%s: found %+v, %v, expected %s", as, r, err, want.Value)
		}
		o = on(d)
		o.Variant = "block=256,items=8,sums=wide,value=" + string(as)
		if r, err := Solve(context.Background(), inst, o); err != nil || r.Variant != "csg/price "+o.Variant {
			t.Errorf("%s by its label: found %+v, %v", as, r, err)
		}
	}
}

// Prices are refused where they do not run, and without agents there is nothing to do.
func TestPricesRefused(t *testing.T) {
	inst, err := Generate("uniform", 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := Solve(context.Background(), inst, hostOptions(ByPrices)); err != nil || r.Value != "0" {
		t.Errorf("no agents: found %v, %v", r, err)
	}
	if inst, err = Generate("uniform", 3, 1); err != nil {
		t.Fatal(err)
	}
	o := hostOptions(ByPrices)
	o.Devices = append(o.Devices, o.Devices[0])
	if _, err := Solve(context.Background(), inst, o); err == nil || !strings.Contains(err.Error(), "2 hosts: algorithm price runs on one") {
		t.Errorf("two hosts: found the error %v", err)
	}
}

// A pass of every sampled variant finds what one on the cores does.
func TestEmulatedPassVariants(t *testing.T) {
	d := emulatedtest.Open(t)
	s := Subjects()[3]
	for _, v := range emulatedtest.Variants(s.Family()) {
		t.Run(v.Label, func(t *testing.T) { check(t, d, s, v, 14) })
	}
}
