package scaling

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"coalesce/generated/assignment"
	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/internal/enginetest"
	"coalesce/solvers/assignment/internal/reference"
	"coalesce/solvers/assignment/internal/verify"
	"coalesce/solvers/assignment/problem"
)

func TestScalingVariants(t *testing.T) {
	t.Parallel()
	d := emulatedtest.Open(t)
	for k, v := range emulatedtest.Variants(&assignment.Scaling) {
		t.Run(v.Label, func(t *testing.T) {
			value := problem.Value(assignment.Scaling.Value(v, "value"))
			cases := enginetest.Cases(t, value, 9)
			maps.DeleteFunc(cases, func(_ string, p *problem.Normal) bool { return p.Rows != p.Cols })
			for kind, costs := range degenerateKinds(131) {
				p, err := problem.Normalise(asInstance(t, value, costs))
				if err != nil {
					t.Fatal(kind, err)
				}
				cases[kind] = p
			}
			for at, name := range slices.Sorted(maps.Keys(cases)) {
				if !emulatedtest.EveryVariant() && at%6 != k%6 {
					continue // the next variants run it
				}
				if err := agrees(t, d, v, cases[name], 3); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
}

// Costs that are nearly a Monge array begin with the flow of an order, exact ones need nothing else.
func TestBeginsInOrder(t *testing.T) {
	t.Parallel()
	d := emulatedtest.Open(t)
	const n = 257
	r := rand.New(rand.NewPCG(65, 15))
	x, y := r.Perm(n), r.Perm(n)
	costs := make([]float64, n*n)
	for k := range costs {
		i, j := k/n, k%n
		costs[k] = float64(-x[i] * y[j])
	}
	for _, noise := range []int{1, 1000} {
		for k := range costs {
			costs[k] += float64(r.IntN(noise))
		}
		p, err := problem.Normalise(asInstance(t, problem.Int32, costs))
		if err != nil {
			t.Fatal(err)
		}
		v := &assignment.Scaling.Variants[slices.IndexFunc(assignment.Scaling.Variants, func(v device.Variant) bool { return assignment.Scaling.Value(&v, "value") == "int32" })]
		e, err := Open(d, v, n, n)
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		e.setBlocks(2)
		s, err := d.NewStream()
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		sol, err := e.Solve(context.Background(), s, p, enginetest.MatrixOn(t, d, s, p), nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := enginetest.CheckOptimal(p, sol)
		if err != nil {
			t.Fatal(err)
		}
		if want, err := reference.Solve(p, nil); err != nil {
			t.Fatal(err)
		} else if least, _ := enginetest.CheckOptimal(p, want); got != least {
			t.Errorf("noise %d: found %d, expected %d", noise, got, least)
		}
		if noise == 1 && sol.Counts.Phases > 0 {
			t.Errorf("found %d phases of a Monge array, expected none", sol.Counts.Phases)
		}
	}
}

// degenerateKinds are square costs on which shortest paths are long, or most costs are equal.
func degenerateKinds(n int) map[string][]float64 {
	r := rand.New(rand.NewPCG(8, 15))
	kinds := map[string][]float64{}
	fill := func(kind string, cost func(i, j int) float64) {
		costs := make([]float64, n*n)
		for k := range costs {
			costs[k] = cost(k/n, k%n)
		}
		kinds[kind] = costs
	}
	uniform := make([]float64, n*n)
	for k := range uniform {
		uniform[k] = float64(r.IntN(100000))
	}
	sorted := slices.Clone(uniform)
	for i := range n {
		slices.Sort(sorted[i*n : (i+1)*n])
	}
	kinds["sorted rows"] = sorted
	fill("sorted columns", func(i, j int) float64 { return sorted[j*n+i] })
	point := func(clusters ...float64) (x, y []float64) {
		for range n {
			at := clusters[r.IntN(len(clusters))]
			x, y = append(x, at+r.Float64()), append(y, at+r.Float64())
		}
		return x, y
	}
	distance := func(kind string, from, to []float64, scale float64) {
		x, y := point(from...)
		z, w := point(to...)
		fill(kind, func(i, j int) float64 { return math.Floor(scale * math.Hypot(x[i]-z[j], y[i]-w[j])) })
	}
	distance("unequal clusters", []float64{0, 0, 0, 100, 250}, []float64{0, 100, 100, 250, 250}, 1000)
	distance("two far clusters", []float64{0, 1e4}, []float64{0, 1e4}, 100)
	distance("plane", []float64{0}, []float64{0}, 1e6)
	x, _ := point(0)
	z, _ := point(0)
	fill("lines", func(i, j int) float64 { return math.Floor(1e6 * math.Abs(x[i]-z[j])) })
	fill("lattice", func(i, j int) float64 { return math.Abs(float64(i%6-j%7)) + math.Abs(float64(i/6-j/7)) })
	p, q := r.Perm(n), r.Perm(n)
	fill("monge", func(i, j int) float64 { return float64((p[i] - q[j]) * (p[i] - q[j])) })
	fill("low rank and noise", func(i, j int) float64 { return math.Floor(1000*x[i]*z[j]) + float64(r.IntN(3)) })
	fill("blocks", func(i, j int) float64 { return float64((i / 9 * 7 % 5) + (j / 7 * 3 % 4)) })
	fill("0/1", func(int, int) float64 { return float64(r.IntN(2)) })
	fill("power law", func(int, int) float64 { return math.Floor(math.Pow(r.Float64()+1e-4, -1.4)) })
	fill("negative", func(i, j int) float64 { return -float64(i * j) })
	return kinds
}

// asInstance is a square instance of a type.
func asInstance(t *testing.T, value problem.Value, costs []float64) *problem.Instance {
	t.Helper()
	n := int(math.Sqrt(float64(len(costs))))
	switch value {
	case problem.Int32:
		return enginetest.MatrixOf(t, n, as[int32](costs)...)
	case problem.Int64:
		return enginetest.MatrixOf(t, n, as[int64](costs)...)
	case problem.Float32:
		return enginetest.MatrixOf(t, n, as[float32](costs)...)
	}
	for k := range costs {
		costs[k] *= 1.0 / 3 // fractions
	}
	return enginetest.MatrixOf(t, n, costs...)
}

func as[T problem.Number](costs []float64) []T {
	list := make([]T, len(costs))
	for k, c := range costs {
		list[k] = T(c)
	}
	return list
}

// agrees solves p with so many blocks that own columns, and holds the answer against the reference.
func agrees(t *testing.T, d device.Device, v *device.Variant, p *problem.Normal, blocks int) error {
	t.Helper()
	want := problem.Infinity
	if s, err := reference.Solve(p, nil); err == nil {
		if want, err = enginetest.CheckOptimal(p, s); err != nil {
			t.Fatal(err)
		}
	}
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	e, err := Open(d, v, p.Rows, p.Cols)
	if err != nil {
		return err
	}
	defer e.Close()
	e.setBlocks(blocks)
	m := enginetest.MatrixOn(t, d, s, p)
	starts := []*problem.Prices{nil}
	if want != problem.Infinity {
		starts = append(starts, enginetest.FeasibleDuals(p, rand.New(rand.NewPCG(4, 9))))
	}
	for _, start := range starts {
		solve := func(p *problem.Normal, start *problem.Prices) (*engine.Solution, error) {
			return e.Solve(context.Background(), s, p, m, start)
		}
		err := enginetest.CheckLeastCost(p, start, solve, want)
		if gave := (*engine.ExhaustedError)(nil); errors.As(err, &gave) && want == problem.Infinity {
			continue // it has no proof
		}
		if err != nil {
			return fmt.Errorf("start %v: %w", start != nil, err)
		}
	}
	return nil
}

// Floats that scaling rounds are decided as they are, with duals that prove it.
func TestDecidesExactly(t *testing.T) {
	t.Parallel()
	d := emulatedtest.Open(t)
	at := func(r *rand.Rand, ends ...float64) float64 { return ends[r.IntN(len(ends))] + r.Float64() }
	for k, c := range []struct {
		name  string
		value problem.Value
		n     int
		ends  []float64
		sign  float64
	}{
		{"far clusters", problem.Float32, 50, []float64{0, 1e6}, 1},
		{"far clusters, at most", problem.Float32, 50, []float64{0, 1e6}, -1},
		{"lines", problem.Float64, 50, []float64{0, 1, 1e3}, 1},
		{"an order", problem.Float64, 260, []float64{0}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(k), 17))
			x, y := make([]float64, c.n), make([]float64, c.n)
			for i := range x {
				x[i], y[i] = at(r, c.ends...), at(r, c.ends...)
			}
			costs := make([]float64, c.n*c.n)
			for e := range costs {
				costs[e] = c.sign * math.Abs(x[e/c.n]-y[e%c.n])
			}
			inst := enginetest.MatrixOf(t, c.n, costs...)
			if c.value == problem.Float32 {
				inst = enginetest.MatrixOf(t, c.n, as[float32](costs)...)
			}
			inst.Maximize = c.sign < 0
			p, err := problem.Normalise(inst)
			if err != nil {
				t.Fatal(err)
			}
			if p.Finer = p.ExactBits(40); p.Finer == 0 {
				t.Fatal("found no rounded cost")
			}
			v := &assignment.Scaling.Variants[slices.IndexFunc(assignment.Scaling.Variants, func(v device.Variant) bool { return assignment.Scaling.Value(&v, "value") == string(c.value) })]
			e, err := Open(d, v, c.n, c.n)
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			e.setBlocks(2)
			s, err := d.NewStream()
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			m := enginetest.MatrixOn(t, d, s, p)
			sol, err := e.Solve(context.Background(), s, p, m, nil)
			if err != nil {
				t.Fatal(err)
			}
			if sol.Low == nil {
				t.Fatal("found duals of rounded costs")
			}
			if c.name == "an order" && sol.Counts.Phases > 0 {
				t.Errorf("found %d phases of costs on a line, expected none", sol.Counts.Phases)
			}
			proveExactly(t, p, sol)
			check, err := verify.Open(d, &assignment.Check.Variants[slices.IndexFunc(assignment.Check.Variants, func(v device.Variant) bool { return assignment.Check.Value(&v, "value") == string(c.value) })], c.n, c.n)
			if err != nil {
				t.Fatal(err)
			}
			defer check.Close()
			cert, err := check.CheckExact(context.Background(), s, p, m, sol)
			if err != nil || !cert.Exact || cert.Gap != 0 || cert.Scale != math.Ldexp(p.Scale, int(p.Finer)) {
				t.Fatalf("found %+v, %v", cert, err)
			}
			for _, spoil := range []func(){
				func() { sol.Low.U[3]++ },
				func() { sol.Low.V[4]-- },
				func() { sol.Column[0], sol.Column[c.n-1] = sol.Column[c.n-1], sol.Column[0] },
				func() { sol.Low.V[2] += 1 << p.Finer; sol.V[2]-- },
				func() { // every pair but those of one column stays tight or above
					j := sol.Column[7]
					sol.U[7]--
					sol.V[j]++
				},
			} {
				u, w, lu, lw, col := slices.Clone(sol.U), slices.Clone(sol.V), slices.Clone(sol.Low.U), slices.Clone(sol.Low.V), slices.Clone(sol.Column)
				spoil()
				if _, err := check.CheckExact(context.Background(), s, p, m, sol); !errors.Is(err, problem.ErrCheck) {
					t.Errorf("a spoiled certificate passed: %v", err)
				}
				sol.U, sol.V, sol.Low.U, sol.Low.V, sol.Column = u, w, lu, lw, col
			}
		})
	}
}

// proveExactly holds exact duals against the costs in numbers of any size.
func proveExactly(t *testing.T, p *problem.Normal, sol *engine.Solution) {
	t.Helper()
	dual := func(high, low int64) *big.Int {
		x := new(big.Int).Lsh(big.NewInt(high), p.Finer)
		return x.Add(x, big.NewInt(low))
	}
	for i := range p.Rows {
		for j := range p.Cols {
			k := p.Instance.CostIndex(i, j)
			c := 0.0
			if p.Instance.Type == problem.Float32 {
				c = float64(p.Instance.F32[k])
			} else {
				c = p.Instance.F64[k]
			}
			exact, accuracy := new(big.Float).SetMantExp(big.NewFloat(c*math.Copysign(1, p.Scale)), math.Ilogb(p.Scale)+int(p.Finer)).Int(nil)
			if accuracy != big.Exact {
				t.Fatal("a cost is not whole in exact units")
			}
			bar := dual(sol.U[i], sol.Low.U[i])
			bar.Add(bar, dual(sol.V[j], sol.Low.V[j]))
			if sign := exact.Cmp(bar); sign < 0 || sign > 0 && int(sol.Column[i]) == j {
				t.Fatalf("row %d, column %d: found the cost %v and the duals' sum %v", i, j, exact, bar)
			}
		}
	}
}
