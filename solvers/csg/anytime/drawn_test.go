package anytime

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"coalesce/solvers/csg"
)

// The values of every distribution are those of tables, and of 12 agents the search finds the
// optimum of the reference, which no bound is below.
func TestDrawn(t *testing.T) {
	for _, name := range csg.Distributions() {
		inst, err := NewDrawn(name, 12, 3)
		if err != nil {
			t.Fatal(err)
		}
		table, err := csg.Generate(name, 12, 3)
		if err != nil {
			t.Fatal(err)
		}
		for mask := range table.Len() {
			if got := inst.law.Value(mask); got != table.Value64(mask) {
				t.Fatalf("%s: coalition %d is worth %v, expected %v", name, mask, got, table.Value64(mask))
			}
		}
		want, err := csg.Reference(table, csg.DP)
		if err != nil {
			t.Fatal(err)
		}
		optimum := want.Value.Float()
		o := options(t, 10*time.Second)
		target := optimum - 1e-9*math.Abs(optimum)
		o.Target = &target
		r := checked(t, inst, o)
		if math.Abs(r.Value.Float()-optimum) > 1e-9*math.Abs(optimum) {
			t.Errorf("%s: found %s, the reference %s", name, r.Value, want.Value)
		}
		if r.Bound != "" && r.Bound.Float() < optimum {
			t.Errorf("%s: the bound %s is below %v", name, r.Bound, optimum)
		}
		if p := inst.law.Prices(); p != nil { // every coalition's
			for mask := range table.Len() {
				sum := 0.0
				for i, y := range p {
					sum += y * float64(mask>>i&1)
				}
				if sum < table.Value64(mask) {
					t.Errorf("%s: coalition %d is worth %v, its prices %v", name, mask, table.Value64(mask), sum)
					break
				}
			}
		}
	}
}

// Distributions of the most agents: some are proven, and others have no bound.
func TestDrawnLarge(t *testing.T) {
	for name, proven := range map[string]bool{"superadditive": true, "ties": true, "uniform": false, "cauchy": false} {
		inst, err := NewDrawn(name, MostDrawn, 1)
		if err != nil {
			t.Fatal(err)
		}
		limit := 300 * time.Millisecond
		if proven {
			limit = time.Minute
		}
		if r := checked(t, inst, options(t, limit)); r.Proven != proven || (r.Bound == "") != (name == "cauchy") {
			t.Errorf("%s: value %s, bound %s, proven %t", name, r.Value, r.Bound, r.Proven)
		}
	}
	for _, c := range []struct {
		name   string
		agents int
	}{{"uniform", 64}, {"planted", 54}, {"uniform", -1}, {"nosuch", 5}} {
		if _, err := NewDrawn(c.name, c.agents, 1); err == nil {
			t.Errorf("%s of %d agents was drawn", c.name, c.agents)
		}
	}
	inst, err := NewDrawn("infeasible", 45, 2)
	if err != nil {
		t.Fatal(err)
	}
	r := checked(t, inst, options(t, 200*time.Millisecond))
	r.Value = "45"
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if v, err := Verify(inst, text); err != nil || v.Err() == nil {
		t.Errorf("another value: %v, %+v", err, v)
	}
}
