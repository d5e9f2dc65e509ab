package elite

import (
	"math/bits"

	"coalesce/solvers/qubo/problem"
)

// A Crosser combines solutions. Where two differ in k components, each component takes the better
// side, so that one pass finds the best of all 2^k children (partition crossover: D. Whitley, D.
// Hains and A. Howe, GECCO 2009). Good solutions on lattices differ in many components.
type Crosser struct {
	p      *problem.Normal
	mirror bool     // x and its complement have the same value
	differ []uint64 // variables in which two solutions differ
	left   []uint64 // those of differ whose component was not visited yet
	queue  []int32  // variables of the component under way
}

// NewCrosser makes a crosser for a problem; mirror says that x and its complement
// have the same value.
func NewCrosser(p *problem.Normal, mirror bool) *Crosser {
	return &Crosser{p: p, mirror: mirror, differ: make([]uint64, problem.Words(p.N)), left: make([]uint64, problem.Words(p.N))}
}

// Cross changes x in every component in which y, or the complement of y where both have the same
// value, is at least as good, and returns the gain in value.
func (c *Crosser) Cross(x, y []uint64) (gained int64) {
	for k := range c.differ {
		c.differ[k] = x[k] ^ y[k]
	}
	gained = c.components(x)
	if c.mirror {
		for k := range c.differ {
			c.differ[k] = ^(x[k] ^ y[k])
		}
		if c.p.N%64 != 0 {
			c.differ[len(c.differ)-1] &= 1<<(c.p.N%64) - 1
		}
		gained += c.components(x)
	}
	return gained
}

func (c *Crosser) components(x []uint64) (gained int64) {
	copy(c.left, c.differ)
	for k := range c.left {
		for c.left[k] != 0 {
			gain := c.component(x, int32(64*k+bits.TrailingZeros64(c.left[k])))
			if gain < 0 {
				continue
			}
			gained += gain
			for _, i := range c.queue {
				x[i>>6] ^= 1 << (i & 63)
			}
		}
	}
	return gained
}

// component lists the component of variable first in the queue, removes its variables from left,
// and returns the gain of flipping them all. A variable gains by its diagonal and by its pairs
// with variables that stay. A pair of which both flip gains w (1-x-x'), and is met from both ends.
func (c *Crosser) component(x []uint64, first int32) int64 {
	var alone, together int64
	c.left[first>>6] &^= 1 << (first & 63)
	c.queue = append(c.queue[:0], first)
	for next := 0; next < len(c.queue); next++ {
		i := int(c.queue[next])
		was := int64(problem.Bit(x, i))
		field := c.p.Diag[i]
		col, weight := c.p.Row(i)
		for e, j := range col {
			other := int64(problem.Bit(x, int(j)))
			if problem.Bit(c.differ, int(j)) == 0 {
				field += weight[e] & -other
				continue
			}
			together += weight[e] * (1 - was - other)
			if problem.Bit(c.left, int(j)) != 0 {
				c.left[j>>6] &^= 1 << (j & 63)
				c.queue = append(c.queue, j)
			}
		}
		alone += field * (1 - 2*was)
	}
	return alone + together/2
}
