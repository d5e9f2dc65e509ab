// Package reference holds the plainest searches, with which tests compare the others:
// a visit of every solution, and one-flip tabu search.
package reference

import (
	"context"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"time"

	"coalesce/solvers/qubo/internal/draw"
	"coalesce/solvers/qubo/internal/search"
	"coalesce/solvers/qubo/problem"
)

// Tiny is the number of variables up to which every search visits all solutions.
const Tiny = 12

// ExhaustLimit is the most variables that Exhaust and SolutionsWithin take.
const ExhaustLimit = problem.BranchedVariables

// Exhaust returns an optimal solution of at most ExhaustLimit variables and its
// value.
func Exhaust(p *problem.Normal) (int64, []uint64) {
	list, _ := SolutionsWithin(p, 0, 1, func() bool { return false })
	x := []uint64{list[0]}
	return p.Value(x), x[:problem.Words(p.N)]
}

// SolutionsWithin returns the solutions of at most ExhaustLimit variables whose values are at most slack
// below the best, bit i for variable i, and all of them unless they are more than most, or stop ends the
// visit. It visits all 2^n solutions, variable by variable, with what each that follows would add, and those of the last
// ten variables as sums of tables.
func SolutionsWithin(p *problem.Normal, slack int64, most int, stop func() bool) (list []uint64, all bool) {
	if p.N > ExhaustLimit {
		panic("qubo: too many variables to visit every solution")
	}
	v := &visit{n: p.N, slack: slack, most: most, missed: math.MinInt64, stop: stop, near: []visited{{0, 0}}}
	v.weight, v.field = make([][]int64, p.N), make([][]int64, p.N+1)
	for i := range p.N {
		v.weight[i] = make([]int64, p.N)
		col, weight := p.Row(i)
		for k, j := range col {
			v.weight[i][j] = weight[k]
		}
		v.field[i+1] = make([]int64, p.N)
	}
	v.field[0] = p.Diag
	v.tabulate(min(p.N, tableVariables))
	v.from(0, 0, 0)
	if v.ended {
		return nil, false
	}
	for _, s := range v.near {
		list = append(list, s.x)
	}
	return list, v.missed < v.best-slack
}

// A visit is one of all solutions.
type visit struct {
	n      int
	weight [][]int64
	field  [][]int64 // by depth: what variables from it on would add
	slack  int64
	most   int
	near   []visited // solutions near the best
	best   int64
	missed int64 // the best of those for which there was no room
	stop   func() bool
	ended  bool

	pairs     []int64 // what the last variables are worth together, without fields; the last one is bit 0
	low, high []int64 // sums of the fields of the last variables, of bits below lowBits and from it on
}

// tableVariables is how many variables the table of the last ones has, and lowBits how many of them go into its inner sums.
const tableVariables, lowBits = 10, 5

type visited struct {
	value int64
	x     uint64
}

// checkDepth: stop is called at each choice for this many variables.
const checkDepth = 10

// tabulate makes the table of the last variables.
func (v *visit) tabulate(last int) {
	v.pairs = make([]int64, 1<<last)
	v.low, v.high = make([]int64, 1<<min(last, lowBits)), make([]int64, 1<<max(0, last-lowBits))
	for s := 1; s < len(v.pairs); s++ {
		first := bits.Len(uint(s)) - 1
		rest := s - 1<<first
		v.pairs[s] = v.pairs[rest]
		for weight := v.weight[v.n-1-first]; rest != 0; rest &= rest - 1 {
			v.pairs[s] += weight[v.n-1-bits.TrailingZeros(uint(rest))]
		}
	}
}

// from visits the solutions whose first d variables are as in x, where they are worth value.
func (v *visit) from(d int, value int64, x uint64) {
	if v.ended = v.ended || d == checkDepth && v.stop(); v.ended {
		return
	}
	if 1<<(v.n-d) == len(v.pairs) {
		v.last(d, value, x)
		return
	}
	field, next := v.field[d], v.field[d+1]
	copy(next[d+1:], field[d+1:])
	v.from(d+1, value, x)
	for k, w := range v.weight[d][d+1:] {
		next[d+1+k] = field[d+1+k] + w
	}
	v.from(d+1, value+field[d], x|1<<d)
}

// last is from where the table has all variables from d on.
func (v *visit) last(d int, value int64, x uint64) {
	field, i := v.field[d], v.n-1
	for _, sums := range [][]int64{v.low, v.high} {
		for size := 1; size < len(sums); size, i = 2*size, i-1 {
			for k, sum := range sums[:size] {
				sums[size+k] = sum + field[i]
			}
		}
	}
	best, inner := int64(math.MinInt64), len(v.low)
	for k, sum := range v.high {
		best = max(best, sum+largestSum(v.pairs[k*inner:(k+1)*inner], v.low))
	}
	if value+best < v.best-v.slack {
		return
	}
	for s, pairs := range v.pairs {
		v.add(value+pairs+v.low[s%inner]+v.high[s/inner], x|bits.Reverse64(uint64(s))>>(64-(v.n-d))<<d)
	}
}

// largestSum is the largest sum of two numbers at one place of the lists, which are equally long.
func largestSum(a, b []int64) int64 {
	var best [4]int64
	for k := range best {
		best[k] = math.MinInt64
	}
	b = b[:len(a)]
	for ; len(a) >= 4; a, b = a[4:], b[4:] {
		best[0] = max(best[0], a[0]+b[0])
		best[1] = max(best[1], a[1]+b[1])
		best[2] = max(best[2], a[2]+b[2])
		best[3] = max(best[3], a[3]+b[3])
	}
	for k, x := range a {
		best[0] = max(best[0], x+b[k])
	}
	return max(best[0], best[1], best[2], best[3])
}

// add takes a solution near the best. That of zeros was there at first.
func (v *visit) add(value int64, x uint64) {
	if value < v.best-v.slack || x == 0 {
		return
	}
	v.take(value, x)
}

func (v *visit) take(value int64, x uint64) {
	if value > v.best {
		v.best = value
		v.near = slices.DeleteFunc(v.near, func(s visited) bool { return s.value < v.best-v.slack })
	}
	if len(v.near) < v.most {
		v.near = append(v.near, visited{value, x})
	} else {
		v.missed = max(v.missed, value)
	}
}

// SearchExhaustively is the search of a problem of at most Tiny variables: it tells the best solution.
func SearchExhaustively(p *problem.Normal, o search.Options, found func(int64, []uint64, time.Duration)) {
	value, x := Exhaust(p)
	found(value, x, time.Since(o.Began))
	if o.Elite != nil {
		o.Elite(value, x)
	}
}

// Search is one-flip tabu search as plainly as it can be written, one
// walk after another from random starts: the best flip that is not tabu, or
// beats the best so far, is made even if it makes x worse; its variable is tabu
// for n/100 + 1 to 10 flips; 5n flips without improvement end a walk.
type Search struct{}

// Search implements search.Searcher.
func (Search) Search(ctx context.Context, p *problem.Normal, o search.Options, found func(int64, []uint64, time.Duration)) (search.Work, error) {
	r := o.NewRounds(ctx, found)
	defer r.End()
	random := rand.New(rand.NewPCG(o.Seed, 0))
	delta, until := make([]int64, p.N), make([]int64, p.N)
	x := draw.RandomSolution(random, p.N)
	if o.Start != nil {
		x = slices.Clone(o.Start)
	}
	r.Improve(p.Value(x), x)
	if p.N == 0 {
		return r.Did, nil
	}
	return r.Run(search.Method{Round: func() error {
		if r.Number > 0 {
			x = draw.RandomSolution(random, p.N)
		}
		walk(r, p, random, x, delta, until)
		return nil
	}})
}

// walk searches from x. delta and until are memory for a number a variable.
func walk(r *search.Rounds, p *problem.Normal, random *rand.Rand, x []uint64, delta, until []int64) {
	p.Deltas(x, delta)
	until = until[:len(delta)]
	clear(until)
	value := p.Value(x)
	r.Improve(value, x)
	r.Did.Restarts++
	top, stall := value, 0
	for step := int64(1); stall < 5*p.N && !r.Done(); step++ {
		at := -1
		for i, d := range delta {
			if (until[i] < step || value+d > top) && (at < 0 || d > delta[at]) {
				at = i
			}
		}
		stall++
		if at < 0 {
			continue
		}
		value += delta[at]
		problem.Flip(p, x, delta, at)
		r.Did.Flips++
		r.Spent++
		until[at] = step + int64(p.N/100) + 1 + random.Int64N(10)
		if value > top {
			top, stall = value, 0
			r.Improve(value, x)
		}
	}
}
