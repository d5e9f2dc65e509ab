package qubo

import (
	"context"
	"math/bits"
	"math/rand/v2"
	"slices"
	"time"
)

// tiny is the number of variables up to which every search visits all solutions.
const tiny = 12

// exhaustLimit is the most variables that exhaust takes.
const exhaustLimit = 24

// exhaust returns an optimal solution of at most exhaustLimit variables and its
// value. It visits all 2^n solutions in the order of the reflected Gray code,
// one flip apart.
func exhaust(p *normal) (int64, []uint64) {
	if p.n > exhaustLimit {
		panic("qubo: too many variables to visit every solution")
	}
	x := make([]uint64, max(1, words(p.n)))
	delta := make([]int64, p.n)
	p.deltas(x, delta)
	var value, best int64
	var argument uint64
	for step := uint64(1); step < 1<<p.n; step++ {
		i := bits.TrailingZeros64(step)
		value += delta[i]
		flip(p, x, delta, i)
		if value > best {
			best, argument = value, x[0]
		}
	}
	x[0] = argument
	return best, x[:words(p.n)]
}

// referenceSearch is one-flip tabu search as plainly as it can be written, one
// walk after another from random starts: the best flip that is not tabu, or
// beats the best so far, is made even if it makes x worse; its variable is tabu
// for n/100 + 1 to 10 flips; 5n flips without improvement end a walk.
type referenceSearch struct{}

func (referenceSearch) search(ctx context.Context, p *normal, o searchOptions, found func(int64, []uint64, time.Duration)) (work, error) {
	var did work
	r := rand.New(rand.NewPCG(o.seed, 0))
	delta, until := make([]int64, p.n), make([]int64, p.n)
	var best int64
	told := false
	tell := func(value int64, x []uint64) {
		if !told || value > best {
			best, told = value, true
			found(value, x, time.Since(o.began))
		}
	}
	over := func() bool {
		return ctx.Err() != nil || o.met(best) && told || o.work > 0 && did.Flips >= o.work ||
			!o.deadline.IsZero() && !time.Now().Before(o.deadline)
	}
	for first := true; first || !over() && p.n > 0; first = false {
		x := randomBits(r, p.n)
		if first && o.start != nil {
			x = slices.Clone(o.start)
		}
		p.deltas(x, delta)
		clear(until)
		value := p.value(x)
		tell(value, x)
		did.Restarts++
		top, stall := value, 0
		for step := int64(1); stall < 5*p.n && !over(); step++ {
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
			flip(p, x, delta, at)
			did.Flips++
			until[at] = step + int64(p.n/100) + 1 + r.Int64N(10)
			if value > top {
				top, stall = value, 0
				tell(value, x)
			}
		}
	}
	return did, nil
}
