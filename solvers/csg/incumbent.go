package csg

import (
	"context"
	"errors"
	"slices"

	"coalesce/runtime/device"
	"coalesce/solvers/csg/internal/checkpoint"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// An incumbent is the best structure that is known so far, and a bound.
type incumbent struct {
	of     *Instance
	blocks Structure
	value  solve.Number // of the blocks; empty: there are none
	bound  solve.Number // no structure is worth more; empty: nothing is known
}

// decode reads the best structure and the bound in a record of a checkpoint, and offers them.
func (b *incumbent) decode(text []byte) error {
	blocks, bound, err := checkpoint.DecodeBest(text)
	if err == nil {
		b.offer(blocks, solve.Number(bound))
	}
	return err
}

// offer keeps the blocks if they are worth more than the present ones, and the bound if it is
// lower.
func (b *incumbent) offer(blocks Structure, bound solve.Number) {
	if b.bound == "" || bound != "" && bound.Float() < b.bound.Float() {
		b.bound = bound
	}
	worth, err := Check(b.of, blocks, "-inf")
	if err != nil && worth.Sum == "" || worth.Sum == "-inf" {
		return // no partition, or one with a forbidden block
	}
	if x := solve.Number(worth.Sum); b.value == "" || x.Float() > b.value.Float() {
		b.blocks, b.value = slices.Clone(blocks), x
	}
}

// plain offers the structures of single agents and of one block.
func (b *incumbent) plain() {
	single := make(Structure, b.of.N)
	for agent := range single {
		single[agent] = 1 << agent
	}
	b.offer(single, "")
	b.offer(Structure{b.of.Grand()}, "")
}

// stop sets the result of a solve that ended early with err, because ctx has ended or a device
// was lost: the best structure so far and the bound, if one is known; Proven stays false. It
// returns false after other errors, and where there is no structure.
func (r *Result) stop(ctx context.Context, inst *Instance, best *incumbent, err error) bool {
	lost := errors.Is(err, device.ErrLost)
	if err == nil || ctx.Err() == nil && !lost || best.value == "" {
		return false
	}
	r.Structure, r.Prices, r.Splittings = best.blocks, nil, 0
	r.Structure.Sort()
	c, err := problem.Check(inst, r.Structure, best.value.String())
	if err != nil {
		return false
	}
	r.Certificate, r.Value = c, best.value
	r.Bounded(best.bound)
	r.Stopped = ctx.Err() != nil && !errors.Is(context.Cause(ctx), solve.ErrTimeLimit)
	how := "the solve was ended"
	if lost {
		how = "a device was lost"
	}
	r.Notes = append(r.Notes, how+": the structure is the best so far")
	return true
}
