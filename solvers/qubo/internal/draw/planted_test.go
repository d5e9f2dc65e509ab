package draw_test

import (
	"testing"

	"coalesce/solvers/qubo/internal/draw"
	"coalesce/solvers/qubo/internal/reference"
	"coalesce/solvers/qubo/problem"
)

// No solution of a planted problem is better than the planted value, and one is as good.
func TestPlanted(t *testing.T) {
	for name, planted := range map[string]func(int, uint64) (*problem.Instance, int64, error){"tiles": draw.PlantedTiles, "orthogonal": draw.PlantedOrthogonal} {
		for seed := range uint64(8) {
			for _, n := range []int{2, 11, 16} {
				inst, best, err := planted(n, seed)
				if err != nil {
					t.Fatal(err)
				}
				p, err := inst.Normal()
				if err != nil {
					t.Fatal(err)
				}
				if _, x := reference.Exhaust(p); inst.ValueInt(x) != best {
					t.Errorf("%s, %d, seed %d: the best value is %d, %d was planted", name, n, seed, inst.ValueInt(x), best)
				}
			}
		}
	}
}
