// Package reference holds the plainest searches, against which the others are held:
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

// ExhaustLimit is the most variables that Exhaust and Within take.
const ExhaustLimit = problem.FewVariables

// Exhaust returns an optimal solution of at most ExhaustLimit variables and its
// value.
func Exhaust(p *problem.Normal) (int64, []uint64) {
	list, _ := Within(p, 0, 1)
	x := []uint64{list[0]}
	return p.Value(x), x[:problem.Words(p.N)]
}

// Within returns the solutions of at most ExhaustLimit variables whose values are at most slack
// below the best, bit i for variable i, and all of them unless they are more than most. It visits
// all 2^n solutions in the order of the reflected Gray code, one flip apart.
func Within(p *problem.Normal, slack int64, most int) (list []uint64, all bool) {
	if p.N > ExhaustLimit {
		panic("qubo: too many variables to visit every solution")
	}
	x := make([]uint64, max(1, problem.Words(p.N)))
	delta := make([]int64, p.N)
	p.Deltas(x, delta)
	type visited struct {
		value int64
		x     uint64
	}
	near := []visited{{0, 0}}
	var value, best int64
	missed := int64(math.MinInt64) // the best of those for which there was no room
	for step := uint64(1); step < 1<<p.N; step++ {
		i := bits.TrailingZeros64(step)
		value += delta[i]
		problem.Flip(p, x, delta, i)
		if value < best-slack {
			continue
		}
		if value > best {
			best = value
			near = slices.DeleteFunc(near, func(v visited) bool { return v.value < best-slack })
		}
		if len(near) < most {
			near = append(near, visited{value, x[0]})
		} else {
			missed = max(missed, value)
		}
	}
	for _, v := range near {
		list = append(list, v.x)
	}
	return list, missed < best-slack
}

// Visit is the search of a problem of at most Tiny variables: it tells the best solution.
func Visit(p *problem.Normal, o search.Options, found func(int64, []uint64, time.Duration)) {
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
	var did search.Work
	r := rand.New(rand.NewPCG(o.Seed, 0))
	delta, until := make([]int64, p.N), make([]int64, p.N)
	var best int64
	told := false
	tell := func(value int64, x []uint64) {
		if !told || value > best {
			best, told = value, true
			found(value, x, time.Since(o.Began))
		}
	}
	over := func() bool {
		return ctx.Err() != nil || o.Met(best) && told || o.Work > 0 && did.Flips >= o.Work ||
			!o.Deadline.IsZero() && !time.Now().Before(o.Deadline)
	}
	for first := true; first || !over() && p.N > 0; first = false {
		x := draw.Bits(r, p.N)
		if first && o.Start != nil {
			x = slices.Clone(o.Start)
		}
		p.Deltas(x, delta)
		clear(until)
		value := p.Value(x)
		tell(value, x)
		did.Restarts++
		top, stall := value, 0
		for step := int64(1); stall < 5*p.N && !over(); step++ {
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
			did.Flips++
			until[at] = step + int64(p.N/100) + 1 + r.Int64N(10)
			if value > top {
				top, stall = value, 0
				tell(value, x)
			}
		}
	}
	return did, nil
}
