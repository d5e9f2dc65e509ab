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

// ended is the end of a solve that returned err. Where ctx ended it, or a device was lost, the result becomes the best
// structure so far, with the bound if one is known; Proven stays false. A result beside an error is one without a structure
// that proves that none is feasible, or of a lost device.
func (r *Result) ended(ctx context.Context, inst *Instance, best *incumbent, err error) (*Result, error) {
	over, lost := solve.Ended(ctx, err), errors.Is(err, device.ErrLost)
	switch {
	case err == nil || errors.Is(err, solve.ErrInfeasible):
		return r, err
	case over && best.value == "":
		return nil, solve.Unanswered(ctx)
	case !over && !lost || best.value == "":
		return nil, err
	}
	r.Structure, r.Prices, r.Splittings = best.blocks, nil, 0
	r.Structure.Sort()
	c, failed := problem.Check(inst, r.Structure, best.value.String())
	if failed != nil {
		return nil, failed
	}
	r.Certificate, r.Value = c, best.value
	r.Bounded(best.bound)
	if over {
		solve.Stop(context.Cause(ctx), &r.Stopped, &r.Notes, "the structure is the best so far")
		return r, nil
	}
	r.Notes = append(r.Notes, "a device was lost: the structure is the best so far")
	return r, err
}
