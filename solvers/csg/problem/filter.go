package problem

import (
	"math/bits"

	"coalesce/solvers/solve"
)

// A filter says which coalitions may be blocks. The zero value allows all.
type filter struct {
	sizes Sizes
	set   []uint64 // allowed coalitions, a bit each; nil: all
}

// filter is that of sizes and constraints.
func (inst *Instance) filter() filter { return filter{inst.Sizes, inst.set} }

func (f filter) allows(mask uint64) bool {
	return f.sizes.Allows(mask) && (f.set == nil || f.set[mask>>6]>>(mask&63)&1 == 1)
}

// isRestricted reports whether coalitions are forbidden whose values were numbers.
func (inst *Instance) isRestricted() bool { return inst.Sizes != 0 || inst.set != nil }

// Constraints returns what Constrain was given, nil where that was at most Minimize and Sizes.
func (inst *Instance) Constraints() *Constraints { return inst.constraints }

// Blocks are how many blocks a structure may have.
func (inst *Instance) Blocks() Counts {
	if inst.constraints == nil {
		return Counts{}
	}
	return inst.constraints.Blocks
}

// restricts reports whether constraints besides sizes forbid coalitions.
func (c *Constraints) restricts() bool { return len(c.Together)+len(c.Separate)+len(c.Edges) > 0 }

// Constrain allows only the structures that constraints allow, in place, and makes the smallest value the best where they say so. Coalitions that cannot
// be blocks are forbidden, as by Restrict, whatever algorithm solves the instance. Numbers of blocks forbid none. Errors are those of Minimize and of
// Restrict; Connected, which is for graphs, and constraints of an instance that has some are errors too.
func (inst *Instance) Constrain(c Constraints) error {
	switch {
	case inst == nil:
		return inst.Check()
	case inst.constraints != nil:
		return solve.InvalidInput("Constraints", "found some for an instance that has constraints, expected one without")
	case c.Connected:
		return solve.InvalidInput("Connected", "found true for a table, expected edges")
	}
	if c.Minimize {
		if err := inst.Minimize(); err != nil {
			return err
		}
	}
	if !c.List() {
		return inst.Restrict(c.Sizes)
	}
	if inst.isRestricted() {
		return solve.InvalidInput("Sizes", "found an instance that is restricted already, expected one that is not")
	}
	rules, err := c.Rules(inst.N, inst.Names)
	if err != nil {
		return err
	}
	if c.restricts() || c.Sizes != 0 {
		only := filter{sizes: c.Sizes}
		if c.restricts() {
			only.set = rules.coalitions(inst.N)
		}
		if err := inst.restrict(only); err != nil {
			return err
		}
	}
	inst.constraints = &c
	return nil
}

// coalitions are the coalitions of n agents that are allowed, whatever their sizes, a bit each; the empty one is among them.
func (r *Rules) coalitions(n int) []uint64 {
	mask := func(agents []int) (m uint64) {
		for _, agent := range agents {
			m |= 1 << (agent - 1)
		}
		return m
	}
	var together, separate []uint64
	for _, group := range r.together {
		together = append(together, mask(group))
	}
	for _, group := range r.separate {
		separate = append(separate, mask(group))
	}
	var near [MaxAgents]uint64
	for agent, list := range r.near {
		if agent > 0 {
			near[agent-1] = mask(list)
		}
	}
	allows := func(c uint64) bool {
		for _, group := range separate {
			if m := c & group; m&(m-1) != 0 {
				return false
			}
		}
		for _, group := range together {
			if m := c & group; m != 0 && m != group {
				return false
			}
		}
		if r.near == nil {
			return true
		}
		reached := c & -c
		for next := reached; next != 0; {
			more := near[bits.TrailingZeros64(next)] & c &^ reached
			reached |= more
			next = next&(next-1) | more
		}
		return reached == c
	}
	set := make([]uint64, (uint64(1)<<n+63)/64)
	InParallel(uint64(len(set)), func(_ int, from, to uint64) {
		for word := from; word < to; word++ {
			for bit := range min(uint64(64), 1<<n) {
				if allows(word<<6 | bit) {
					set[word] |= 1 << bit
				}
			}
		}
	})
	return set
}
