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

// NewIncumbent is the better one of the structures of single agents and of one block, and under constraints of a few others that may be allowed.
func NewIncumbent(inst *Instance) *Incumbent {
	single := make(Structure, inst.N)
	for agent := range single {
		single[agent] = 1 << agent
	}
	b := &Incumbent{Instance: inst}
	b.Offer(single, "")
	b.Offer(Structure{inst.GrandCoalition()}, "")
	if inst.constraints != nil && inst.N > 0 {
		b.offerMerged(single)
	}
	return b
}

// offerMerged offers blocks of the agents that share one, the last of them merged into one block, for each number of blocks.
func (b *Incumbent) offerMerged(single Structure) {
	rules, err := b.Instance.constraints.Rules(b.Instance.N, b.Instance.Names)
	if err != nil {
		return
	}
	blocks := slices.Clone(single)
	for _, group := range rules.together {
		merged := uint64(0)
		for _, agent := range group {
			at := slices.IndexFunc(blocks, func(c uint64) bool { return c>>(agent-1)&1 == 1 })
			if merged&blocks[at] == 0 {
				merged |= blocks[at]
			}
		}
		blocks = append(slices.DeleteFunc(blocks, func(c uint64) bool { return c&merged != 0 }), merged)
	}
	for len(blocks) > 0 {
		b.Offer(blocks, "")
		last := len(blocks) - 1
		if last == 0 {
			return
		}
		blocks[last-1] |= blocks[last]
		blocks = blocks[:last]
	}
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
