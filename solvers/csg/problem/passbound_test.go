package problem

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
)

// No structure of random instances, looked at one by one, is worth more than the shares; where one coalition is worth most a member, they are its worth.
func TestPassBound(t *testing.T) {
	r := rand.New(rand.NewPCG(62, 8))
	for k := range 2000 {
		n := 1 + r.IntN(8)
		values := make([]float64, 1<<n)
		for m := 1; m < len(values); m++ {
			values[m] = r.NormFloat64() * 10
			if r.IntN(5) == 0 {
				values[m] = math.Inf(-1)
			}
		}
		inst := &Instance{N: n}
		SetValues(inst, values)
		if r.IntN(2) == 0 {
			whole := make([]int32, len(values))
			for m, v := range values {
				whole[m] = int32(max(v, -1000))
				values[m] = float64(whole[m])
			}
			SetValues(inst, whole)
		}
		best := make([]float64, len(values))
		for m := 1; m < len(best); m++ {
			best[m] = values[m]
			for part := (m - 1) & m; part > 0; part = (part - 1) & m {
				best[m] = max(best[m], best[part]+best[m&^part])
			}
		}
		bound, most := inst.PassBound(context.Background()), best[len(best)-1]
		if bound == "" {
			if !math.IsInf(most, -1) {
				t.Fatalf("%d: found no bound on %v", k, most)
			}
			continue
		}
		if bound.Float() < most {
			t.Fatalf("%d: found the bound %s on %v", k, bound, most)
		}
	}
	// Two blocks of three agents are one of two agents and one of one.
	few := &Instance{N: 3, constraints: &Constraints{Blocks: Counts{Least: 2, Most: 2}}}
	SetValues(few, []int32{0, 5, 5, 7, 5, 6, 7, 8})
	if bound := few.PassBound(context.Background()); bound != "12" {
		t.Errorf("found the bound %s of two blocks, expected 12", bound)
	}
	values := make([]int64, 1<<9)
	for m := range values {
		values[m] = -5
	}
	values[0], values[len(values)-1] = 0, 18
	inst := &Instance{N: 9}
	SetValues(inst, values)
	if bound := inst.PassBound(context.Background()); bound != "18" {
		t.Errorf("found the bound %s, expected 18", bound)
	}
}

func BenchmarkPassBound(b *testing.B) {
	inst := &Instance{N: 22}
	SetValues(inst, make([]int32, 1<<22))
	for b.Loop() {
		inst.PassBound(context.Background())
	}
}
