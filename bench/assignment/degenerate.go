package main

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"coalesce/bench/experiment"
	"coalesce/runtime/device"
	assignmentproblem "coalesce/solvers/assignment/problem"
	"coalesce/solvers/cores"
)

// A degenerate kind is one of square costs on which shortest paths are long, or most costs tie.
type degenerate struct {
	name  string
	value assignmentproblem.Value
	// draw returns the cost of a pair; those of a row are drawn in the order of its columns. r is for what rows share.
	draw func(r *rand.Rand, n int) func(row *rand.Rand, i, j int) float64
	sort bool // rows are sorted
}

func degenerateKinds() []degenerate {
	distances := func(value assignmentproblem.Value, name string, scale float64, from, to func(r *rand.Rand, k, n int) (x, y float64)) degenerate {
		return degenerate{name: name, value: value, draw: func(r *rand.Rand, n int) func(*rand.Rand, int, int) float64 {
			a, b := make([][2]float64, n), make([][2]float64, n)
			for k := range n {
				a[k][0], a[k][1] = from(r, k, n)
				b[k][0], b[k][1] = to(r, k, n)
			}
			return func(_ *rand.Rand, i, j int) float64 {
				d := scale * math.Hypot(a[i][0]-b[j][0], a[i][1]-b[j][1])
				if value.Integer() {
					d = math.Floor(d)
				}
				return d
			}
		}}
	}
	anywhere := func(r *rand.Rand, _, _ int) (float64, float64) { return r.Float64(), r.Float64() }
	clusters := func(first, second float64) func(r *rand.Rand, k, n int) (float64, float64) {
		return func(r *rand.Rand, _, _ int) (float64, float64) {
			at := 250.0
			switch o := r.Float64(); {
			case o < first:
				at = 0
			case o < second:
				at = 100
			}
			return at + r.Float64(), at + r.Float64()
		}
	}
	line := func(width float64) func(r *rand.Rand, k, n int) (float64, float64) {
		return func(r *rand.Rand, _, _ int) (float64, float64) {
			at := 0.0
			if r.Float64() < 0.5 {
				at = width
			}
			return at + r.Float64(), 0
		}
	}
	lattice := func(turn int) func(r *rand.Rand, k, n int) (float64, float64) {
		return func(r *rand.Rand, k, n int) (float64, float64) {
			side := int(math.Ceil(math.Sqrt(float64(n)))) + turn
			return float64(k % side), float64(k / side)
		}
	}
	grid := func(_ *rand.Rand, k, n int) (float64, float64) {
		side := int(math.Sqrt(float64(n) * 5 / 4))
		return float64(k%side) / float64(side), float64(k/side) / float64((n+side-1)/side)
	}
	each := func(name string, value assignmentproblem.Value, cost func(row *rand.Rand, n int) float64) degenerate {
		return degenerate{name: name, value: value, draw: func(_ *rand.Rand, n int) func(*rand.Rand, int, int) float64 {
			return func(row *rand.Rand, _, _ int) float64 { return cost(row, n) }
		}}
	}
	million := func(row *rand.Rand, _ int) float64 { return float64(row.IntN(1e6)) }
	sorted := each("sorted rows", assignmentproblem.Int32, million)
	sorted.sort = true
	return []degenerate{
		each("uniform", assignmentproblem.Int32, million),
		each("uniform to n", assignmentproblem.Int32, func(row *rand.Rand, n int) float64 { return float64(row.IntN(n)) }),
		each("uniform", assignmentproblem.Float32, func(row *rand.Rand, _ int) float64 { return float64(row.Float32()) }),
		sorted,
		distances(assignmentproblem.Float32, "unequal clusters", 1, clusters(0.5, 0.8), clusters(0.3, 0.6)),
		distances(assignmentproblem.Int32, "unequal clusters", 1e6, clusters(0.5, 0.8), clusters(0.3, 0.6)),
		distances(assignmentproblem.Float64, "unequal clusters", 1, clusters(0.5, 0.8), clusters(0.3, 0.6)),
		distances(assignmentproblem.Float32, "two far clusters", 1, line(1e6), line(1e6)),
		distances(assignmentproblem.Float64, "lines", 1, line(0), line(0)),
		distances(assignmentproblem.Int32, "grid to points", 1e6, grid, anywhere),
		distances(assignmentproblem.Int32, "plane", 1e6, anywhere, anywhere),
		distances(assignmentproblem.Float32, "plane", 1, anywhere, anywhere),
		distances(assignmentproblem.Float64, "plane", 1, anywhere, anywhere),
		distances(assignmentproblem.Int32, "lattices", 1, lattice(0), lattice(7)),
		{name: "permuted Monge", value: assignmentproblem.Int32, draw: func(r *rand.Rand, n int) func(*rand.Rand, int, int) float64 {
			p, q := r.Perm(n), r.Perm(n)
			return func(_ *rand.Rand, i, j int) float64 { return float64((p[i] - q[j]) * (p[i] - q[j])) }
		}},
		{name: "low rank and noise", value: assignmentproblem.Int32, draw: func(r *rand.Rand, n int) func(*rand.Rand, int, int) float64 {
			x := make([]float64, 8*n)
			for k := range x {
				x[k] = r.Float64()
			}
			return func(row *rand.Rand, i, j int) float64 {
				sum := 0.0
				for k := range 4 {
					sum += x[8*i+k] * x[8*j+4+k]
				}
				return math.Floor(1e6*sum) + float64(row.IntN(3))
			}
		}},
		{name: "blocks", value: assignmentproblem.Int32, draw: func(r *rand.Rand, n int) func(*rand.Rand, int, int) float64 {
			p, q, level := r.Perm(n), r.Perm(n), make([]float64, 64*64)
			for k := range level {
				level[k] = float64(r.IntN(1000))
			}
			return func(_ *rand.Rand, i, j int) float64 { return level[p[i]*60/n*64+q[j]*60/n] }
		}},
		each("0/1", assignmentproblem.Int32, func(row *rand.Rand, n int) float64 {
			if row.Float64()*float64(n) < 2.5 {
				return 0
			}
			return 1
		}),
		each("power law", assignmentproblem.Float32, func(row *rand.Rand, _ int) float64 { return math.Pow(row.Float64()+1e-6, -1.4) }),
		{name: "sorted columns", value: assignmentproblem.Int32, draw: func(r *rand.Rand, n int) func(*rand.Rand, int, int) float64 {
			// Column j has the order statistics of n draws: its i-th costs about i/n of a million.
			tilt := make([]float64, n)
			for j := range tilt {
				tilt[j] = 0.5 + r.Float64()
			}
			return func(row *rand.Rand, i, j int) float64 {
				return math.Floor(1e6 * math.Pow((float64(i)+row.Float64())/float64(n), tilt[j]))
			}
		}},
	}
}

// instance draws an instance on all cores.
func (c degenerate) instance(n, s int) (*instance, error) {
	cost := c.draw(rand.New(rand.NewPCG(uint64(s), 65)), n)
	costs := make([]float64, n*n)
	cores.Split(n, 16, func(low, high int) {
		for i := low; i < high; i++ {
			r := rand.New(rand.NewPCG(uint64(s), uint64(i)+1<<40))
			row := costs[i*n : (i+1)*n]
			for j := range row {
				row[j] = cost(r, i, j)
			}
			if c.sort {
				slices.SortFunc(row, cmp.Compare[float64])
			}
		}
	})
	source := fmt.Sprintf("%s, seed %d", c.name, s)
	var inst *assignmentproblem.Instance
	var err error
	switch c.value {
	case assignmentproblem.Int32:
		inst, err = assignmentproblem.NewInstance(n, n, converted[int32](costs), source)
	case assignmentproblem.Float32:
		inst, err = assignmentproblem.NewInstance(n, n, converted[float32](costs), source)
	default:
		inst, err = assignmentproblem.NewInstance(n, n, costs, source)
	}
	return &instance{problem: problem{kind: c.name, n: n, spans: natural, value: c.value}, Instance: inst, seed: s}, err
}

func converted[T int32 | float32](costs []float64) []T {
	list := make([]T, len(costs))
	cores.Split(len(costs), 1<<20, func(low, high int) {
		for k := low; k < high; k++ {
			list[k] = T(costs[k])
		}
	})
	return list
}

// raceDegenerate runs families on costs on which shortest paths are long.
func (b *bench) raceDegenerate() error {
	sizes, families := b.settings.sizes, b.settings.families
	if len(sizes) == 0 {
		sizes = []int{8000}
		if b.Facts.Kind != device.CUDA {
			sizes = []int{1000}
		}
	}
	if len(families) == 0 {
		families = []string{auto}
	}
	kinds := b.settings.kinds
	for _, n := range sizes {
		for s := 1; s <= b.settings.seeds; s++ {
			for _, c := range degenerateKinds() {
				if len(kinds) > 0 && !slices.Contains(kinds, c.name) {
					continue
				}
				if b.OutOfTime() {
					return experiment.ErrLate
				}
				i, err := c.instance(n, s)
				if err != nil {
					return err
				}
				for _, name := range families {
					b.raceOwn(name, b.settings.Variant, i)
				}
			}
		}
	}
	return nil
}
