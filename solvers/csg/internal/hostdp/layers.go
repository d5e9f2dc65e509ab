package hostdp

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"coalesce/solvers/csg/internal/levels"
	"coalesce/solvers/csg/problem"
)

// Layers are the numbers of blocks of which a solve of n agents under counts needs the best values of coalitions without the first agent:
// those besides the first agent's block. Where no number is the most, the last layer is of so many blocks or more.
func Layers(n int, counts problem.Counts) int {
	if counts.Most == 0 {
		return max(1, min(counts.Least, n)-1)
	}
	return max(1, min(counts.Most, n)-1)
}

// LayersMemory is the memory in bytes that a solve of n agents takes under counts besides the values.
func LayersMemory(n int, value problem.Value, counts problem.Counts) int64 {
	return problem.Footprint(max(0, n-1), value) * int64(2+Layers(n, counts))
}

// LayersSplittings is how many splittings a solve of n agents evaluates under counts, each for all numbers of blocks.
func LayersSplittings(n int, counts problem.Counts) float64 {
	if counts.Most > 0 && Layers(n, counts) == 1 {
		return math.Ldexp(1, n-1)
	}
	return math.Pow(3, float64(n-1))/2 + math.Ldexp(1, n-1)
}

// SolveCounted finds the best structure of as many blocks as counts say, and its value in the instance's type, in decimals; no structure where all have a
// forbidden block. A table has the best value of each coalition without the first agent for each number of blocks. The block of a coalition's first agent
// is taken apart, so that each structure is looked at once. allowed says which coalitions may be blocks. It calls report with the share of the work done.
func SolveCounted(ctx context.Context, inst *problem.Instance, allowed func(mask uint64) bool, counts problem.Counts, workers int, report func(share float64)) (problem.Structure, string, error) {
	switch inst.Type {
	case problem.Int32:
		return solveCounted(ctx, inst.I32, allowed, counts, workers, report)
	case problem.Int64:
		return solveCounted(ctx, inst.I64, allowed, counts, workers, report)
	case problem.Float32:
		return solveCounted(ctx, inst.F32, allowed, counts, workers, report)
	case problem.Float64:
		return solveCounted(ctx, inst.F64, allowed, counts, workers, report)
	}
	return nil, "", fmt.Errorf("there are no layers of %s", inst.Type)
}

// counted is a solve by layers.
type counted[T problem.Number] struct {
	v    []T
	open bool  // the last layer is of so many blocks or more
	best [][]T // of the coalitions of the agents but the first, by the number of blocks less one
	none T     // stands for no structure; no value is so small
}

func solveCounted[T problem.Number](ctx context.Context, v []T, allowed func(uint64) bool, counts problem.Counts, workers int, report func(float64)) (problem.Structure, string, error) {
	n := bits.Len(uint(len(v) - 1))
	if counts.Least == n {
		return alone(v, allowed)
	}
	c := &counted[T]{v: slices.Clone(v), best: make([][]T, Layers(n, counts)), open: counts.Most == 0, none: least[T]()}
	problem.InParallel(uint64(len(v)), func(_ int, from, to uint64) {
		for mask := from; mask < to; mask++ {
			if !allowed(mask) {
				c.v[mask] = c.none
			}
		}
	})
	for k := range c.best {
		c.best[k] = make([]T, len(v)/2)
		c.best[k][0] = c.none // no agents have no blocks
	}
	for s := 1; s < len(v)/2; s++ {
		c.best[0][s] = c.v[s<<1]
	}
	done, all := 0.0, LayersSplittings(n, counts)
	for size := 1; size < n; size++ {
		count := levels.Binomial(n-1, size)
		piece := max(1, min(256, int64(1)<<20>>size)) // coalitions that a core takes between two looks at ctx
		var next atomic.Int64
		var wait sync.WaitGroup
		for range workers {
			wait.Go(func() {
				for ctx.Err() == nil {
					from := (next.Add(1) - 1) * piece
					if from >= count {
						return
					}
					s := levels.Unrank(from, size)
					for range min(piece, count-from) {
						c.fill(s)
						s = levels.NextSet(s)
					}
				}
			})
		}
		wait.Wait()
		if err := ctx.Err(); err != nil {
			return nil, "", err
		}
		done += float64(count) * math.Ldexp(1, size-1)
		report(min(1, done/all))
	}
	least := max(1, counts.Least)
	most := counts.Most
	if most == 0 || most > n {
		most = n
	}
	// The first agent's block, and the rest in so many blocks.
	value, first, rest := c.none, uint64(0), -1
	grand := uint64(len(v) - 1)
	for part := uint64(1); part <= grand; part += 2 {
		x := c.v[part]
		if x == c.none {
			continue
		}
		if part == grand {
			if least == 1 && (rest < 0 || x > value) {
				value, first, rest = x, part, 0
			}
			continue
		}
		for k := range c.best {
			y := c.best[k][(grand^part)>>1]
			blocks := k + 2 // with the first agent's
			if y != c.none && blocks >= least && blocks <= most && (rest < 0 || x+y > value) {
				value, first, rest = x+y, part, k+1
			}
		}
	}
	if rest < 0 {
		return nil, "", nil
	}
	s := problem.Structure{first}
	for left := (grand ^ first) >> 1; left != 0; {
		var part uint64
		part, rest = c.split(left, rest)
		s = append(s, part<<1)
		left ^= part
	}
	return s, problem.FormatNumber(value), nil
}

// alone is the structure of agents alone, nil where one is forbidden.
func alone[T problem.Number](v []T, allowed func(uint64) bool) (problem.Structure, string, error) {
	var s problem.Structure
	sum := T(0)
	for mask := uint64(1); mask < uint64(len(v)); mask <<= 1 {
		if !allowed(mask) {
			return nil, "", nil
		}
		s, sum = append(s, mask), sum+v[mask]
	}
	return s, problem.FormatNumber(sum), nil
}

// least stands for no structure.
func least[T problem.Number]() T {
	var x any = T(0)
	switch x.(type) {
	case float32, float64:
		return T(math.Inf(-1))
	}
	one := T(1)
	for one > 0 {
		one *= 2
	}
	return one
}

// fill computes the best values of a coalition from those of smaller ones.
func (c *counted[T]) fill(s uint64) {
	first := s & -s
	others := s ^ first
	members := bits.OnesCount64(s)
	if last := len(c.best) - 1; c.open && last == 0 {
		c.best[0][s] = max(c.best[0][s], c.divide(c.best[0], first, others))
	} else {
		for k := 1; k <= last; k++ {
			best := c.none
			if members > k {
				best = c.divide(c.best[k-1], first, others)
			}
			if c.open && k == last {
				best = max(best, c.divide(c.best[k], first, others))
			}
			c.best[k][s] = best
		}
	}
}

// divide is the best value of a block with the first agent beside the others' best value in a layer.
func (c *counted[T]) divide(layer []T, first, others uint64) T {
	best := c.none
	if others == 0 {
		return best
	}
	own := c.v[first<<1:] // of the blocks, at twice their other agents
	for part := (others - 1) & others; ; part = (part - 1) & others {
		x, y := own[part<<1], layer[others^part]
		if sum := x + y; x != c.none && y != c.none && sum > best {
			best = sum
		}
		if part == 0 {
			return best
		}
	}
}

// split is the block of a coalition's first agent in the best partition into so many blocks, and how many the rest has.
func (c *counted[T]) split(s uint64, blocks int) (part uint64, rest int) {
	want := c.best[blocks-1][s]
	first := s & -s
	others := s ^ first
	if blocks == 1 && c.v[s<<1] == want {
		return s, 0
	}
	for p := (others - 1) & others; ; p = (p - 1) & others {
		if x := c.v[(p|first)<<1]; x != c.none {
			if blocks > 1 {
				if y := c.best[blocks-2][others^p]; y != c.none && x+y == want {
					return p | first, blocks - 1
				}
			}
			if c.open && blocks == len(c.best) {
				if y := c.best[blocks-1][others^p]; y != c.none && x+y == want {
					return p | first, blocks
				}
			}
		}
		if p == 0 {
			return 0, 0
		}
	}
}
