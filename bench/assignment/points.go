package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"coalesce/bench/experiment"
	"coalesce/runtime/device"
	assignmentproblem "coalesce/solvers/assignment/problem"
)

// A scatter is a way to strew points in the plane.
type scatter struct {
	name   string
	metric assignmentproblem.Metric
	floor  bool
	draw   func(r *rand.Rand, n int) []float64 // 2n coordinates
}

// scatters: uniform in a square; 32 Gaussian clusters, the same of rows and
// columns, a thirtieth of the square wide; whole coordinates, four pairs of
// points a place, whose squared distances tie.
func scatters(seed uint64) []scatter {
	centres := uniformPoints(rand.New(rand.NewPCG(seed, 1)), 32)
	return []scatter{
		{"uniform", assignmentproblem.Euclidean, false, uniformPoints},
		{"clustered", assignmentproblem.Euclidean, false, func(r *rand.Rand, n int) []float64 {
			x := make([]float64, 0, 2*n)
			for range n {
				k := r.IntN(len(centres) / 2)
				x = append(x, centres[2*k]+r.NormFloat64()/30, centres[2*k+1]+r.NormFloat64()/30)
			}
			return x
		}},
		{"grid", assignmentproblem.Squared, true, func(r *rand.Rand, n int) []float64 {
			side := max(1, int(math.Sqrt(float64(n)/4)))
			x := make([]float64, 2*n)
			for k := range x {
				x[k] = float64(r.IntN(side))
			}
			return x
		}},
	}
}

func uniformPoints(r *rand.Rand, n int) []float64 {
	x := make([]float64, 2*n)
	for k := range x {
		x[k] = r.Float64()
	}
	return x
}

// racePoints solves instances of two point sets, whose costs are never stored, on
// the device and on the host.
func (b *bench) racePoints() error {
	sizes, families := b.settings.sizes, b.settings.families
	if len(sizes) == 0 {
		sizes = []int{2000, 20000, 100000, 250000}
		if b.Facts.Kind != device.CUDA {
			sizes = sizes[:2]
		}
	}
	if len(families) == 0 {
		families = []string{"core", "host"}
		if b.Facts.Kind == device.Host {
			families = families[1:]
		}
	}
	kinds := b.settings.kinds
	for _, n := range sizes {
		for s := 1; s <= b.settings.seeds; s++ {
			seed := uint64(s) << 40
			for _, c := range scatters(seed) {
				if len(kinds) > 0 && !slices.Contains(kinds, c.name) {
					continue
				}
				i, err := c.instance(n, s, seed)
				if err != nil {
					return err
				}
				for _, name := range families {
					if b.OutOfTime() {
						return experiment.ErrLate
					}
					b.raceOwn(name, b.settings.Variant, i)
				}
			}
		}
	}
	return nil
}

func (c scatter) instance(n, s int, seed uint64) (*instance, error) {
	r := rand.New(rand.NewPCG(seed, 2))
	q := assignmentproblem.Points{Dim: 2, Row: c.draw(r, n), Col: c.draw(r, n), Metric: c.metric, Floor: c.floor}
	inst, err := assignmentproblem.NewPoints(q, fmt.Sprintf("%s points, %s, seed %d", c.name, c.metric, seed))
	if err != nil {
		return nil, err
	}
	p := problem{kind: "points, " + c.name, n: n, spans: natural, value: inst.Type}
	return &instance{problem: p, Instance: inst, seed: s}, nil
}
