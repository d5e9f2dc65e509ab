// Package reference holds the plainest searches, with which tests compare the others:
// a visit of every solution, and one-flip tabu search.
package reference

import (
	"context"
	"math"
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
const ExhaustLimit = problem.FewVariables

// Exhaust returns an optimal solution of at most ExhaustLimit variables and its
// value.
func Exhaust(p *problem.Normal) (int64, []uint64) {
	list, _ := SolutionsWithin(p, 0, 1, func() bool { return false })
	x := []uint64{list[0]}
	return p.Value(x), x[:problem.Words(p.N)]
}

// SolutionsWithin returns the solutions of at most ExhaustLimit variables whose values are at most slack
// below the best, bit i for variable i, and all of them unless they are more than most, or stop ends the
// visit. It visits all 2^n solutions, variable by variable, with what each that follows would add.
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
	if p.N > 0 {
		v.from(0, 0, 0)
	}
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
}

type visited struct {
	value int64
	x     uint64
}

// checkDepth: stop is called at each choice for this many variables.
const checkDepth = 10

// from visits the solutions whose first d variables, not all, are as in x, where they are worth
// value.
func (v *visit) from(d int, value int64, x uint64) {
	if v.ended = v.ended || d == checkDepth && v.stop(); v.ended {
		return
	}
	field, next := v.field[d], v.field[d+1]
	if d == v.n-1 {
		v.add(value, x)
		v.add(value+field[d], x|1<<d)
		return
	}
	copy(next[d+1:], field[d+1:])
	v.from(d+1, value, x)
	for k, w := range v.weight[d][d+1:] {
		next[d+1+k] = field[d+1+k] + w
	}
	v.from(d+1, value+field[d], x|1<<d)
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
