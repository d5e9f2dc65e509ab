package csg

import (
	"context"
	"testing"

	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/solvers/csg/internal/draw"
	"coalesce/solvers/csg/problem"
)

// The solver's choice on a GPU for 0 to 14 agents, every type.
func TestSolveByTiles(t *testing.T) {
	d := emulatedtest.Open(t)
	for _, n := range []int{0, 1, 2, 5, 9, 11, 13} {
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
			if got.Value != want.Value || n > 0 && got.Algorithm != string(Apart) {
				t.Errorf("%d agents, %s: found %s by %s, expected %s", n, value, got.Value, got.Algorithm, want.Value)
			}
		}
	}
}
