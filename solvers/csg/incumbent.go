package csg

import (
	"context"
	"errors"

	"coalesce/runtime/device"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// ended is the end of a solve that returned err. Where ctx ended it, or a device was lost, the result becomes the best
// structure so far, with the bound if one is known; Proven stays false. A result beside an error is one without a structure
// that proves that none is feasible, or of a lost device.
func (r *Result) ended(ctx context.Context, inst *Instance, best *problem.Incumbent, err error) (*Result, error) {
	over, lost := solve.Ended(ctx, err), errors.Is(err, device.ErrLost)
	switch {
	case err == nil || errors.Is(err, solve.ErrInfeasible):
		return r, err
	case over && best.Value == "":
		return nil, solve.Unanswered(ctx)
	case !over && !lost || best.Value == "":
		return nil, err
	}
	r.Structure, r.Prices, r.Splittings = best.Blocks, nil, 0
	r.Structure.Sort()
	c, failed := problem.Check(inst, r.Structure, best.Value.String())
	if failed != nil {
		return nil, failed
	}
	r.Certificate, r.Value = c, best.Value
	r.Bounded(best.Bound)
	if over {
		solve.Stop(context.Cause(ctx), &r.Stopped, &r.Notes, "the structure is the best so far")
		return r, nil
	}
	r.Notes = append(r.Notes, "a device was lost: the structure is the best so far")
	return r, err
}
