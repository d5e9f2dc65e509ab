package problem

import (
	"slices"

	"coalesce/solvers/solve"
)

// An Incumbent is the best structure of an instance that is known so far, and a bound.
type Incumbent struct {
	Instance *Instance
	Blocks   Structure
	Value    solve.Number // of the blocks; empty: there are none
	Bound    solve.Number // no structure is worth more; empty: nothing is known
}

// NewIncumbent is the better one of the structures of single agents and of one block.
func NewIncumbent(inst *Instance) *Incumbent {
	single := make(Structure, inst.N)
	for agent := range single {
		single[agent] = 1 << agent
	}
	b := &Incumbent{Instance: inst}
	b.Offer(single, "")
	b.Offer(Structure{inst.GrandCoalition()}, "")
	return b
}

// Offer keeps the blocks if they are worth more than the present ones, and the bound if it is
// lower.
func (b *Incumbent) Offer(blocks Structure, bound solve.Number) {
	if b.Bound == "" || bound != "" && bound.Float() < b.Bound.Float() {
		b.Bound = bound
	}
	worth, err := Check(b.Instance, blocks, "-inf")
	if err != nil && worth.Sum == "" || worth.Sum == "-inf" {
		return // no partition, or one with a forbidden block
	}
	if x := solve.Number(worth.Sum); b.Value == "" || x.Float() > b.Value.Float() {
		b.Blocks, b.Value = slices.Clone(blocks), x
	}
}
