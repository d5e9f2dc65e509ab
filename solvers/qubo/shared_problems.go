package qubo

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// bulkProblem draws a problem whose weights are multiples of unit.
func bulkProblem(n int, largest, unit, diag int64, share float64, seed uint64) *normal {
	r := rand.New(rand.NewPCG(seed, 11))
	w := make([]int64, n*n)
	p := &normal{n: n, start: make([]int64, n+1), diag: make([]int64, n), scale: 1, sense: 1, exact: true}
	for i := range n {
		p.diag[i] = r.Int64N(2*diag+1) - diag
		for j := range i {
			if r.Float64() < share {
				w[i*n+j] = unit * (r.Int64N(2*largest+1) - largest)
				w[j*n+i] = w[i*n+j]
			}
		}
	}
	for i := range n {
		for j, v := range w[i*n : i*n+n] {
			if v != 0 {
				p.col, p.weight = append(p.col, int32(j)), append(p.weight, v)
			}
		}
		p.start[i+1] = int64(len(p.col))
	}
	return p
}

// bulkFor draws a problem that rows of a type just hold.
func bulkFor(row string, n int, seed uint64) *normal {
	switch row {
	case "int8":
		return bulkProblem(n, 127, 2, 300, 0.9, seed)
	case "bits":
		p := bulkProblem(n, 1<<20, 1, 300, 1, seed)
		for k := range p.weight {
			p.weight[k] = 14 * (2*(p.weight[k]&1) - 1)
		}
		return p
	case "int16":
		return bulkProblem(n, 32767, 1, 100000, 0.7, seed)
	case "int32":
		return bulkProblem(n, 1<<30/int64(n), 1, 1<<20, 0.8, seed)
	case "float32":
		return stretch(bulkProblem(n, 2*(1<<23-1)/int64(n+10), 1, 1<<19, 0.8, seed), 1<<23-1)
	case "pairs":
		return stretch(bulkProblem(n, min(127, (1<<14-1)/int64(n+10)), 2, 300, 0.9, seed), 1<<14-1)
	}
	return bulkProblem(n, 1<<40, 1, 1<<50, 0.5, seed)
}

// stretch changes the first gain so that some x has one of this size: the largest
// that a type holds.
func stretch(p *normal, most int64) *normal {
	p.known = nil
	up := int64(0)
	_, weight := p.row(0)
	for _, w := range weight {
		up += max(0, w)
	}
	p.diag[0] = most - up
	return p
}

// found collects improvements, which must rise and be true.
func bulkFound(t *testing.T, p *normal, values *[]int64) func(int64, []uint64, time.Duration) {
	return func(v int64, x []uint64, _ time.Duration) {
		if len(*values) > 0 && v <= (*values)[len(*values)-1] {
			t.Errorf("found %d after %d", v, *values)
		}
		if got := p.value(x); got != v {
			t.Errorf("found %d, recomputed %d", v, got)
		}
		*values = append(*values, v)
	}
}

// drawSquare draws a problem: coefficients up to `largest` times unit, a share
// of the pairs.
func drawSquare(n int, largest, unit, diag int64, share float64, seed uint64) *normal {
	r := rand.New(rand.NewPCG(seed, 5))
	p := &normal{n: n, diag: make([]int64, n), scale: 1, sense: 1, exact: true, start: make([]int64, n+1)}
	w := make([]int64, n*n)
	for i := range n {
		p.diag[i] = r.Int64N(2*diag+1) - diag
		for j := range i {
			if r.Float64() < share {
				w[i*n+j] = unit * (r.Int64N(2*largest+1) - largest)
				w[j*n+i] = w[i*n+j]
			}
		}
	}
	for i := range n {
		for j := range n {
			if v := w[i*n+j]; v != 0 {
				p.col, p.weight = append(p.col, int32(j)), append(p.weight, v)
			}
		}
		p.start[i+1] = int64(len(p.col))
	}
	return p
}

// kinds are problems that each type of coefficients holds exactly.
func problemFor(kind string, n int, seed uint64) *normal {
	switch kind {
	case "int8":
		return drawSquare(n, 127, 2, 1000, 0.8, seed)
	case "int32":
		return drawSquare(n, 200000, 3, 100000, 0.7, seed)
	case "float32":
		return drawSquare(n, 500, 1, 100000, 0.9, seed)
	}
	return drawSquare(n, 1<<35, 1, 1<<40, 0.6, seed)
}

// solutions of side bits each, the first of zeros, the second of ones.
func drawSolutions(n, side, count int, seed uint64) [][]uint64 {
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

// drawn makes a small instance of a form: some pairs, linear terms where the
// form has them, an offset.
func drawn(r *rand.Rand, n int, form Form, whole bool) *Instance {
	d := newDraft(1 << 30)
	for i := range n {
		for j := i; j < n; j++ {
			if i == j && form == MaxCut || r.IntN(3) == 0 {
				continue
			}
			if v := r.IntN(41) - 20; whole {
				d.add(i, j, int64(v))
			} else {
				d.addReal(i, j, float64(v)/8)
			}
		}
	}
	inst, err := d.instance(n, false)
	if err != nil {
		panic(err)
	}
	inst.Form = form
	if r.IntN(2) == 0 {
		inst.Sense = Minimize
	}
	if offset := r.IntN(9) - 4; inst.Int != nil {
		inst.Int.Offset = int64(offset)
	} else {
		inst.Real.Offset = float64(offset)
	}
	return inst
}

// solution draws a solution of n variables.
func solution(r *rand.Rand, n int) []uint64 {
	x := make([]uint64, words(n)+1)
	for i := range n {
		x[i/64] |= uint64(r.IntN(2)) << (i % 64)
	}
	return x
}

// drawNormal draws a problem of n variables with weights of -size to size,
// rounded to multiples of grain, each pair there with probability density.
func drawNormal(r *rand.Rand, n int, density float64, size, grain int64) *normal {
	weight := make([][]int64, n)
	for i := range weight {
		weight[i] = make([]int64, n)
	}
	draw := func() int64 { return (r.Int64N(2*size+1) - size) / grain * grain }
	p := &normal{n: n, diag: make([]int64, n), start: make([]int64, n+1), scale: 1, sense: 1, exact: true}
	for i := range n {
		p.diag[i] = draw()
		for j := range i {
			if r.Float64() < density {
				weight[i][j] = draw()
				weight[j][i] = weight[i][j]
			}
		}
	}
	for i := range n {
		for j, w := range weight[i] {
			if w != 0 {
				p.col, p.weight = append(p.col, int32(j)), append(p.weight, w)
			}
		}
		p.start[i+1] = int64(len(p.col))
	}
	return p
}

// drawTorus draws a torus of side by side variables as a maximum cut with weights
// of -1 and 1.
func drawTorus(r *rand.Rand, side int) *normal {
	n := side * side
	p := &normal{n: n, diag: make([]int64, n), start: make([]int64, n+1), scale: 1, sense: 1, exact: true}
	weight := map[[2]int]int64{}
	for i := range n {
		for _, j := range []int{i/side*side + (i+1)%side, (i + side) % n} {
			w := 2*r.Int64N(2) - 1
			weight[[2]int{i, j}], weight[[2]int{j, i}] = -2*w, -2*w
			p.diag[i] += w
			p.diag[j] += w
		}
	}
	for i := range n {
		for j := range n {
			if w := weight[[2]int{i, j}]; w != 0 {
				p.col, p.weight = append(p.col, int32(j)), append(p.weight, w)
			}
		}
		p.start[i+1] = int64(len(p.col))
	}
	return p
}

// told is what a search told.
type told struct {
	values []int64
	x      []uint64
	work   work
	took   time.Duration
}

func (t told) best() int64 { return t.values[len(t.values)-1] }

func searched(t *testing.T, s search, p *normal, o searchOptions) (out told) {
	t.Helper()
	o.began = time.Now()
	var err error
	out.work, err = s.search(context.Background(), p, o, func(value int64, x []uint64, at time.Duration) {
		if v := p.value(x); v != value || len(out.values) > 0 && value <= out.values[len(out.values)-1] || at < 0 {
			t.Errorf("found %d at %v after %v, recomputed %d", value, at, out.values, v)
		}
		out.values, out.x = append(out.values, value), slices.Clone(x)
	})
	out.took = time.Since(o.began)
	if err != nil {
		t.Fatal(err)
	}
	if len(out.values) == 0 {
		t.Fatal("nothing was found")
	}
	return out
}

// downhill is a problem in which 0 is best, and each variable that is 1 costs 1:
// a tabu search from 0 goes down as far as its list is long.
func downhill(n int) *normal {
	p := bulkProblem(n, 1, 1, 0, 0, 1)
	for i := range p.diag {
		p.diag[i] = -1
	}
	return p
}

// sparseProblem makes a problem of pairs, each with its weight.
func sparseProblem(n int, diag func(i int) int64, pairs map[[2]int]int64) *normal {
	p := &normal{n: n, start: make([]int64, n+1), diag: make([]int64, n), scale: 1, sense: 1, exact: true}
	for i := range n {
		p.diag[i] = diag(i)
		for j := range n {
			if w := pairs[[2]int{min(i, j), max(i, j)}]; w != 0 && i != j {
				p.col, p.weight = append(p.col, int32(j)), append(p.weight, w)
			}
		}
		p.start[i+1] = int64(len(p.col))
	}
	return p
}

// temperCases are problems that break layouts and moves.
func temperCases() map[string]*normal {
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
	return map[string]*normal{
		"no variable": sparseProblem(0, none, nil), "one": sparseProblem(1, small, nil), "two": sparseProblem(2, none, map[[2]int]int64{{0, 1}: -7}),
		"torus": sparseProblem(side*side, none, torus), "star": sparseProblem(80, small, star), "ring": sparseProblem(80, small, ring),
		"weights": sparseProblem(40, small, odd), "several units": sparseProblem(80, small, two), "no pair": sparseProblem(33, small, nil),
		"complete": bulkProblem(37, 1, 6, 20, 1, 4), "large": bulkProblem(20, 1<<20, 3, 1<<20, 0.5, 4),
	}
}

func never() bool { return false }

// optimum is the best value of solutions that agree with given.
func optimum(p *normal, given []int8) int64 {
	if given == nil && p.n > 9 {
		best, _ := exhaust(p)
		return best
	}
	first, best := true, int64(0)
	x := make([]uint64, 1)
solutions:
	for ; x[0] < 1<<p.n; x[0]++ {
		for i, v := range given {
			if v >= 0 && int8(bit(x, i)) != v {
				continue solutions
			}
		}
		if v := p.value(x); first || v > best {
			first, best = false, v
		}
	}
	return best
}
