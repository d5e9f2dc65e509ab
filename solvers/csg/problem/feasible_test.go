package problem

import (
	"math"
	"math/rand/v2"
	"testing"
)

// partitionable reports, by all partitions, whether some agents can be divided into allowed blocks.
func partitionable(inst *Instance, left uint64) bool {
	if left == 0 {
		return true
	}
	lowest := left & -left
	for rest := left ^ lowest; ; rest = (rest - 1) & (left ^ lowest) {
		if block := rest | lowest; !math.IsInf(inst.Value64(block), -1) && partitionable(inst, left&^block) {
			return true
		}
		if rest == 0 {
			return false
		}
	}
}

func TestFeasible(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	none := 0
	for round := range 600 {
		n := r.IntN(9)
		values := make([]float64, 1<<n)
		chance := []float64{0.02, 0.1, 0.5, 0.9}[r.IntN(4)]
		for mask := range values[1:] {
			if r.Float64() > chance {
				values[mask+1] = math.Inf(-1)
			}
		}
		inst, err := NewInstance(values, "drawn")
		if err != nil {
			t.Fatal(err)
		}
		if round%5 == 0 {
			if err := inst.Restrict(Sizes(r.Uint64N(1<<9) &^ 1)); err != nil {
				t.Fatal(err)
			}
		}
		want := partitionable(inst, inst.GrandCoalition())
		s, known := inst.FindFeasible()
		if !known || (s != nil) != want {
			t.Fatalf("round %d: found %v, known %t, expected %t", round, s, known, want)
		}
		if s == nil {
			none++
		} else if c, err := Check(inst, s, "0"); err != nil || c.Sum == "-inf" {
			t.Fatalf("round %d: %v: %v, %v", round, s, c, err)
		}
	}
	if none < 100 {
		t.Errorf("%d instances are infeasible, expected more", none)
	}
}

// Many allowed coalitions, which no lists hold: an agent without any, and an odd number of agents of which all
// allowed coalitions have an even one.
func TestFeasibleOfMany(t *testing.T) {
	const n = 22
	values := make([]float32, 1<<n)
	for mask := range values {
		if mask>>7&1 == 1 {
			values[mask] = float32(math.Inf(-1))
		}
	}
	inst, err := NewInstance(values, "an agent in no coalition")
	if err != nil {
		t.Fatal(err)
	}
	if s, known := inst.FindFeasible(); s != nil || !known {
		t.Errorf("found %v, known %t", s, known)
	}
	values[1<<7] = 0
	if s, known := inst.FindFeasible(); s == nil || !known {
		t.Errorf("alone: found %v, known %t", s, known)
	}
}
