package problem

import (
	"math"
	"math/bits"
	"slices"
)

// Limits of FindFeasible: steps are coalitions that it looks at, some seconds of them; failed sets of agents take a bit
// each; lists of allowed coalitions take 8 bytes each, twice.
const (
	feasibleSteps  = 1 << 31
	feasibleAgents = 32
	countedAgents  = 26 // where the number of blocks counts, failed sets are remembered for each
	feasibleLists  = 1 << 20
)

// FindFeasible looks for a structure without a forbidden block. It returns nil and true where there is none, and
// false where it gave up: with the same instance always after as many steps. Agents are covered one after the
// other, those that the fewest coalitions allow first, and sets of agents that cannot be covered are
// remembered, for each number of blocks before them where that counts.
func (inst *Instance) FindFeasible() (s Structure, known bool) {
	counts := inst.Blocks()
	switch {
	case inst.N == 0 && counts.Least == 0:
		return Structure{}, true
	case counts.Least > inst.N:
		return nil, true
	case !inst.Sizes.CanDivide(inst.N):
		return nil, true
	case !inst.HoldsValues() || inst.N > feasibleAgents || counts != (Counts{}) && inst.N > countedAgents:
		return nil, false
	}
	c := &cover{inst: inst, counts: counts, failed: make([][]uint64, 1)}
	if counts != (Counts{}) {
		c.failed = make([][]uint64, inst.N+1)
	}
	c.order(c.allowed())
	ok, known := c.search(inst.GrandCoalition(), 0)
	if !ok || !known {
		return nil, known
	}
	c.blocks.Sort()
	return c.blocks, true
}

// A cover is a search for blocks that cover all agents.
type cover struct {
	inst   *Instance
	agents []int      // those with the fewest coalitions first
	lists  [][]uint64 // allowed coalitions by the first of their agents; nil: they are too many
	counts Counts     // blocks that there may be
	failed [][]uint64 // sets of agents that cannot be covered, a bit each, by the blocks before them where these count
	blocks Structure
	steps  uint64
}

func (c *cover) allows(mask uint64) bool { return !math.IsInf(c.inst.Value64(mask), -1) }

// allowed are the allowed coalitions, or some of them where they are more than lists take; all says which.
func (c *cover) allowed() (list []uint64, all bool) {
	found := make([][]uint64, ParallelRanges(c.inst.Len()))
	InParallel(c.inst.Len(), func(part int, from, to uint64) {
		for mask := max(1, from); mask < to; mask++ {
			if c.allows(mask) {
				if found[part] = append(found[part], mask); len(found[part]) > feasibleLists {
					return
				}
			}
		}
	})
	list = slices.Concat(found...)
	return list, len(list) <= feasibleLists
}

// order puts agents with few coalitions first.
func (c *cover) order(list []uint64, all bool) {
	count, first := make([]int, c.inst.N), make([]int, c.inst.N)
	for _, mask := range list {
		for m := mask; m != 0; m &= m - 1 {
			count[bits.TrailingZeros64(m)]++
		}
	}
	for agent := range c.inst.N {
		c.agents = append(c.agents, agent)
	}
	slices.SortStableFunc(c.agents, func(a, b int) int { return count[a] - count[b] })
	if !all {
		return
	}
	for at, agent := range c.agents {
		first[agent] = at
	}
	c.lists = make([][]uint64, c.inst.N)
	for _, mask := range list {
		least := c.inst.N
		for m := mask; m != 0; m &= m - 1 {
			least = min(least, first[bits.TrailingZeros64(m)])
		}
		c.lists[c.agents[least]] = append(c.lists[c.agents[least]], mask)
	}
}

// search covers the agents that are left after so many blocks; known is false where it gave up.
func (c *cover) search(left uint64, used int) (ok, known bool) {
	if left == 0 {
		return used >= c.counts.Least, true
	}
	if used == c.counts.Most && used > 0 || used+bits.OnesCount64(left) < c.counts.Least {
		return false, true
	}
	failed := &c.failed[min(used, len(c.failed)-1)]
	if *failed == nil {
		*failed = make([]uint64, c.inst.Len()/64+1)
	}
	if (*failed)[left>>6]>>(left&63)&1 == 1 {
		return false, true
	}
	agent := c.agents[slices.IndexFunc(c.agents, func(a int) bool { return left>>a&1 == 1 })]
	rest := left &^ (1 << agent)
	try := func(block uint64) (ok, known bool) {
		if c.steps++; c.steps > feasibleSteps {
			return false, false
		}
		if block&^left != 0 || c.lists == nil && !c.allows(block) {
			return false, true
		}
		if ok, known = c.search(left&^block, used+1); ok {
			c.blocks = append(c.blocks, block)
		}
		return ok, known
	}
	if c.lists != nil {
		for _, block := range c.lists[agent] {
			if ok, known = try(block); ok || !known {
				return ok, known
			}
		}
	} else {
		for part := rest; ; part = (part - 1) & rest {
			if ok, known = try(part | 1<<agent); ok || !known {
				return ok, known
			}
			if part == 0 {
				break
			}
		}
	}
	(*failed)[left>>6] |= 1 << (left & 63)
	return false, true
}
