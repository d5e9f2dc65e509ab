package assignment_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"coalesce/runtime/device"
	"coalesce/runtime/host"
	"coalesce/solvers/assignment"
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/solve"
)

// Problems that are solved again and again, as Date and Nagi (2016, section 1) ask for: the shortest tour
// of an asymmetric travelling salesman by branch and bound. An assignment of successors bounds all tours;
// where it is several cycles, the arcs of the shortest one are forbidden in turn. Only one cost changes
// from a problem to the next, so each begins with the duals of the one before.
type tours struct {
	device device.Device
	warm   bool
	solves int
	passes float64 // of all solves: costs that were read, over those that there are
}

// shortest is the value of the shortest tour through n places below limit, or limit.
func (s *tours) shortest(ctx context.Context, n int, costs []int32, duals *problem.Duals, limit int64) (int64, error) {
	inst, err := problem.NewInstance(n, n, costs, "successors")
	if err != nil {
		return limit, err
	}
	o := assignment.Options{Settings: solve.Settings{Devices: []device.Device{s.device}, Algorithm: "sequential-classical"}, Duals: true}
	if s.warm {
		o.Start = duals
	}
	r, err := assignment.Solve(ctx, inst, o)
	if err != nil {
		return limit, err
	}
	s.solves++
	s.passes += r.Counts.Passes
	bound := int64(r.Value.Float())
	if bound >= limit {
		return limit, nil
	}
	cycle := shortestCycle(r.Column)
	if len(cycle) == n {
		return bound, nil
	}
	for _, place := range cycle { // a tour lacks one of the cycle's arcs at least
		child := append([]int32(nil), costs...)
		child[place*n+int(r.Column[place])] = problem.Forbidden[int32](false)
		if limit, err = s.shortest(ctx, n, child, r.Duals, limit); err != nil {
			return limit, err
		}
	}
	return limit, nil
}

// shortestCycle are the places of the shortest cycle of a permutation.
func shortestCycle(next []int32) (best []int) {
	seen := make([]bool, len(next))
	for at := range next {
		var cycle []int
		for place := at; !seen[place]; place = int(next[place]) {
			seen[place] = true
			cycle = append(cycle, place)
		}
		if len(cycle) > 0 && (best == nil || len(cycle) < len(best)) {
			best = cycle
		}
	}
	return best
}

// places draws the costs between n places; a place does not follow itself.
func places(n int, seed uint64) []int32 {
	rng := rand.New(rand.NewPCG(seed, 1))
	costs := make([]int32, n*n)
	for k := range costs {
		if costs[k] = 1 + rng.Int32N(1000); k/n == k%n {
			costs[k] = problem.Forbidden[int32](false)
		}
	}
	return costs
}

// heldKarp is the shortest tour by dynamic programming over sets of places.
func heldKarp(n int, costs []int32) int64 {
	const far = int64(1) << 40
	best := make([]int64, n<<n)
	for k := range best {
		best[k] = far
	}
	best[1*n+0] = 0
	for set := 1; set < 1<<n; set += 2 {
		for last := range n {
			for next := 1; next < n; next++ {
				if set>>last&1 == 1 && set>>next&1 == 0 {
					to := &best[(set|1<<next)*n+next]
					*to = min(*to, best[set*n+last]+int64(costs[last*n+next]))
				}
			}
		}
	}
	tour := far
	for last := 1; last < n; last++ {
		tour = min(tour, best[(1<<n-1)*n+last]+int64(costs[last*n]))
	}
	return tour
}

// Bounds from warm duals and from nothing find the shortest tour; warm ones read the costs
// three quarters as often at the most, by the paper's own algorithm on one core.
func TestTourBounds(t *testing.T) {
	d := host.Open(1)
	defer d.Close()
	cold, warm := tours{device: d}, tours{device: d, warm: true}
	for seed := range uint64(8) {
		const n = 10
		costs := places(n, seed)
		want := heldKarp(n, costs)
		for _, s := range []*tours{&cold, &warm} {
			found, err := s.shortest(t.Context(), n, costs, nil, 1<<40)
			if err != nil || found != want {
				t.Errorf("seed %d, warm %v: a tour of %d, %v, expected %d", seed, s.warm, found, err, want)
			}
		}
	}
	t.Logf("cold: %d solves, %.0f passes; warm: %d solves, %.0f", cold.solves, cold.passes, warm.solves, warm.passes)
	if warm.passes > 0.75*cold.passes {
		t.Errorf("warm starts read the costs %.0f times, cold ones %.0f", warm.passes, cold.passes)
	}
}

// The shortest tour through 30 places, each bound from the duals of the one before.
func ExampleSolve_tour() {
	d := host.Open(1)
	defer d.Close()
	ctx, costs := context.Background(), places(30, 7)
	cold, warm := tours{device: d}, tours{device: d, warm: true}
	a, err := cold.shortest(ctx, 30, costs, nil, 1<<40)
	if err != nil {
		fmt.Println(err)
	}
	b, err := warm.shortest(ctx, 30, costs, nil, 1<<40)
	if err != nil {
		fmt.Println(err)
	}
	fmt.Println("the same tour:", a == b)
	fmt.Println("warm duals read the costs half as often or less:", warm.passes <= cold.passes/2)
	// Output:
	// the same tour: true
	// warm duals read the costs half as often or less: true
}
