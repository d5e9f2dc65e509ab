// Package qubotest draws the problems that tests of several packages share, and
// checks the results of a search against the coefficients.
package qubotest

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"coalesce/solvers/qubo/internal/reference"
	"coalesce/solvers/qubo/internal/search"
	"coalesce/solvers/qubo/problem"
)

// of is the problem of n variables with linear terms diag and, for each pair, a weight, the
// same for (i, j) as for (j, i).
func of(diag []int64, weight func(i, j int) int64) *problem.Normal {
	n := len(diag)
	p := &problem.Normal{N: n, Start: make([]int64, n+1), Diag: diag, Sense: 1, Exact: true}
	for i := range n {
		for j := range n {
			if w := weight(i, j); w != 0 && i != j {
				p.Col, p.Weight = append(p.Col, int32(j)), append(p.Weight, w)
			}
		}
		p.Start[i+1] = int64(len(p.Col))
	}
	return p
}

// drawn is a problem of what draws give: for each variable its linear term, then for each
// variable before it the pair's weight.
func drawn(n int, linear, weight func() int64) *problem.Normal {
	diag, w := make([]int64, n), make([]int64, n*n)
	for i := range n {
		diag[i] = linear()
		for j := range i {
			w[i*n+j] = weight()
			w[j*n+i] = w[i*n+j]
		}
	}
	return of(diag, func(i, j int) int64 { return w[i*n+j] })
}

// uniform draws linear terms from -diag to diag, and weights for a share of the pairs: up to
// largest either side of 0, times unit.
func uniform(r *rand.Rand, n int, largest, unit, diag int64, share float64) *problem.Normal {
	return drawn(n, func() int64 { return r.Int64N(2*diag+1) - diag }, func() int64 {
		if r.Float64() >= share {
			return 0
		}
		return unit * (r.Int64N(2*largest+1) - largest)
	})
}

// Dense draws a problem whose weights are multiples of unit.
func Dense(n int, largest, unit, diag int64, share float64, seed uint64) *problem.Normal {
	return uniform(rand.New(rand.NewPCG(seed, 11)), n, largest, unit, diag, share)
}

// DenseFor draws a problem that rows of a type just hold.
func DenseFor(row string, n int, seed uint64) *problem.Normal {
	switch row {
	case "int8":
		return Dense(n, 127, 2, 300, 0.9, seed)
	case "bits":
		p := Dense(n, 1<<20, 1, 300, 1, seed)
		for k := range p.Weight {
			p.Weight[k] = 14 * (2*(p.Weight[k]&1) - 1)
		}
		return p
	case "int16":
		return Dense(n, 32767, 1, 100000, 0.7, seed)
	case "int32":
		return Dense(n, 1<<30/int64(n), 1, 1<<20, 0.8, seed)
	case "float32":
		return stretch(Dense(n, 2*(1<<23-1)/int64(n+10), 1, 1<<19, 0.8, seed), 1<<23-1)
	case "pairs":
		return stretch(Dense(n, min(127, (1<<14-1)/int64(n+10)), 2, 300, 0.9, seed), 1<<14-1)
	}
	return Dense(n, 1<<40, 1, 1<<50, 0.5, seed)
}

// stretch changes the first gain so that some x has one of this size: the largest
// that a type holds.
func stretch(p *problem.Normal, limit int64) *problem.Normal {
	p.Known = nil
	up := int64(0)
	_, weight := p.Row(0)
	for _, w := range weight {
		up += max(0, w)
	}
	p.Diag[0] = limit - up
	return p
}

// CollectImprovements collects improvements, which must rise and be true.
func CollectImprovements(t *testing.T, p *problem.Normal, values *[]int64) func(int64, []uint64, time.Duration) {
	return func(v int64, x []uint64, _ time.Duration) {
		if len(*values) > 0 && v <= (*values)[len(*values)-1] {
			t.Errorf("found %d after %d", v, *values)
		}
		if got := p.Value(x); got != v {
			t.Errorf("found %d, recomputed %d", v, got)
		}
		*values = append(*values, v)
	}
}

// Square is Dense with other draws.
func Square(n int, largest, unit, diag int64, share float64, seed uint64) *problem.Normal {
	return uniform(rand.New(rand.NewPCG(seed, 5)), n, largest, unit, diag, share)
}

// SquareFor draws a problem that a type of coefficients holds exactly.
func SquareFor(kind string, n int, seed uint64) *problem.Normal {
	switch kind {
	case "int8":
		return Square(n, 127, 2, 1000, 0.8, seed)
	case "int32":
		return Square(n, 200000, 3, 100000, 0.7, seed)
	case "float32":
		return Square(n, 500, 1, 100000, 0.9, seed)
	}
	return Square(n, 1<<35, 1, 1<<40, 0.6, seed)
}

// RandomSolutions draws solutions of side bits each, the first of zeros, the second of ones.
func RandomSolutions(n, side, count int, seed uint64) [][]uint64 {
	r := rand.New(rand.NewPCG(seed, 6))
	list := make([][]uint64, count)
	for k := range list {
		list[k] = make([]uint64, side/64)
		for i := range n {
			if k == 1 || k > 1 && r.IntN(2) == 1 {
				list[k][i>>6] |= 1 << (i & 63)
			}
		}
	}
	return list
}

// Instance makes a small instance of a form: some pairs, linear terms where the
// form has them, an offset.
func Instance(r *rand.Rand, n int, form problem.Form, whole bool) *problem.Instance {
	d := problem.NewEntries(1 << 30)
	for i := range n {
		for j := i; j < n; j++ {
			if i == j && form == problem.MaxCut || r.IntN(3) == 0 {
				continue
			}
			if v := r.IntN(41) - 20; whole {
				d.Add(i, j, int64(v))
			} else {
				d.AddReal(i, j, float64(v)/8)
			}
		}
	}
	inst, err := d.Instance(n, false)
	if err != nil {
		panic(err)
	}
	inst.Form = form
	if r.IntN(2) == 0 {
		inst.Sense = problem.Minimize
	}
	if offset := r.IntN(9) - 4; inst.Int != nil {
		inst.Int.Offset = int64(offset)
	} else {
		inst.Real.Offset = float64(offset)
	}
	return inst
}

// RandomSolution draws a solution of n variables.
func RandomSolution(r *rand.Rand, n int) []uint64 {
	x := make([]uint64, problem.Words(n)+1)
	for i := range n {
		x[i/64] |= uint64(r.IntN(2)) << (i % 64)
	}
	return x
}

// RandomProblem draws a problem of n variables with weights of -size to size,
// rounded to multiples of grain, each pair there with probability density.
func RandomProblem(r *rand.Rand, n int, density float64, size, grain int64) *problem.Normal {
	draw := func() int64 { return (r.Int64N(2*size+1) - size) / grain * grain }
	return drawn(n, draw, func() int64 {
		if r.Float64() >= density {
			return 0
		}
		return draw()
	})
}

// Torus draws a torus of side by side variables as a maximum cut with weights
// of -1 and 1.
func Torus(r *rand.Rand, side int) *problem.Normal {
	n := side * side
	diag, weight := make([]int64, n), map[[2]int]int64{}
	for i := range n {
		for _, j := range []int{i/side*side + (i+1)%side, (i + side) % n} {
			w := 2*r.Int64N(2) - 1
			weight[[2]int{i, j}], weight[[2]int{j, i}] = -2*w, -2*w
			diag[i] += w
			diag[j] += w
		}
	}
	return of(diag, func(i, j int) int64 { return weight[[2]int{i, j}] })
}

// Report is the reports of a search.
type Report struct {
	Values []int64
	X      []uint64
	Work   search.Work
	Took   time.Duration
}

// Best is the last value of the reports.
func (t Report) Best() int64 { return t.Values[len(t.Values)-1] }

// RunSearch searches and holds what is told against the coefficients: values rise
// and are those of their solutions.
func RunSearch(t *testing.T, s search.Searcher, p *problem.Normal, o search.Options) (out Report) {
	t.Helper()
	o.Began = time.Now()
	var err error
	out.Work, err = s.Search(context.Background(), p, o, func(value int64, x []uint64, at time.Duration) {
		if v := p.Value(x); v != value || len(out.Values) > 0 && value <= out.Values[len(out.Values)-1] || at < 0 {
			t.Errorf("found %d at %v after %v, recomputed %d", value, at, out.Values, v)
		}
		out.Values, out.X = append(out.Values, value), slices.Clone(x)
	})
	out.Took = time.Since(o.Began)
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Values) == 0 {
		t.Fatal("nothing was found")
	}
	return out
}

// NewDownhill is a problem in which 0 is best, and each variable that is 1 costs 1:
// a tabu search from 0 goes down as far as its list is long.
func NewDownhill(n int) *problem.Normal {
	p := Dense(n, 1, 1, 0, 0, 1)
	for i := range p.Diag {
		p.Diag[i] = -1
	}
	return p
}

// Sparse makes a problem of pairs, each with its weight.
func Sparse(n int, linear func(i int) int64, pairs map[[2]int]int64) *problem.Normal {
	diag := make([]int64, n)
	for i := range diag {
		diag[i] = linear(i)
	}
	return of(diag, func(i, j int) int64 { return pairs[[2]int{min(i, j), max(i, j)}] })
}

// SparseCases are problems that break layouts and moves.
func SparseCases() map[string]*problem.Normal {
	r := rand.New(rand.NewPCG(8, 9))
	small := func(int) int64 { return r.Int64N(9) - 4 }
	none := func(int) int64 { return 0 }
	torus, star, ring, odd, two := map[[2]int]int64{}, map[[2]int]int64{}, map[[2]int]int64{}, map[[2]int]int64{}, map[[2]int]int64{}
	const side = 8
	for a := range side {
		for b := range side {
			for _, to := range []int{a*side + (b+1)%side, (a+1)%side*side + b} {
				torus[[2]int{min(a*side+b, to), max(a*side+b, to)}] = 2 - 4*r.Int64N(2)
			}
		}
	}
	for k := 1; k < 80; k++ {
		star[[2]int{0, k}] = 3 - 6*r.Int64N(2)
		ring[[2]int{k - 1, k}] = 5
		two[[2]int{k - 1, k}] = int64(k%3+1) * (2 - 4*r.Int64N(2))
	}
	ring[[2]int{0, 79}] = -5
	for range 150 {
		a, b := r.IntN(40), r.IntN(40)
		odd[[2]int{min(a, b), max(a, b)}] = r.Int64N(2000) - 1000
	}
	return map[string]*problem.Normal{
		"no variable": Sparse(0, none, nil), "one": Sparse(1, small, nil), "two": Sparse(2, none, map[[2]int]int64{{0, 1}: -7}),
		"torus": Sparse(side*side, none, torus), "star": Sparse(80, small, star), "ring": Sparse(80, small, ring),
		"weights": Sparse(40, small, odd), "several units": Sparse(80, small, two), "no pair": Sparse(33, small, nil),
		"complete": Dense(37, 1, 6, 20, 1, 4), "large": Dense(20, 1<<20, 3, 1<<20, 0.5, 4),
	}
}

// NeverStop is a stop that never comes.
func NeverStop() bool { return false }

// Optimum is the best value of solutions that agree with given.
func Optimum(p *problem.Normal, given []int8) int64 {
	if given == nil && p.N > 9 {
		best, _ := reference.Exhaust(p)
		return best
	}
	first, best := true, int64(0)
	x := make([]uint64, 1)
solutions:
	for ; x[0] < 1<<p.N; x[0]++ {
		for i, v := range given {
			if v >= 0 && int8(problem.Bit(x, i)) != v {
				continue solutions
			}
		}
		if v := p.Value(x); first || v > best {
			first, best = false, v
		}
	}
	return best
}
