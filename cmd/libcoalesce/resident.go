package main

/*
#include "shim.h"
*/
import "C"

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"coalesce/runtime/device"
	"coalesce/solvers/assignment"
	"coalesce/solvers/solve"
)

// A shape is what a kept solver is for.
type shape struct {
	device, count, rows, cols int
	kind                      assignment.Value
	maximize, duals, checked  bool
	scale                     float64
	algorithm                 string
}

// Solvers of costs on devices are kept, so that a call takes no memory: the last of them,
// each used by one call at a time.
var (
	keptMu sync.Mutex
	kept   []keptSolver // the one used last at the end
)

type keptSolver struct {
	shape
	*assignment.Resident
}

// mostKept is how many solvers are kept.
const mostKept = 8

// taken is a kept solver of a shape, which leaves the list, or nil.
func taken(s shape) *assignment.Resident {
	keptMu.Lock()
	defer keptMu.Unlock()
	for k := len(kept) - 1; k >= 0; k-- {
		if kept[k].shape == s {
			r := kept[k].Resident
			kept = append(kept[:k], kept[k+1:]...)
			return r
		}
	}
	return nil
}

// keep puts a solver on the list, and closes the one that was not used for longest where
// there are too many.
func keep(s shape, r *assignment.Resident) error {
	keptMu.Lock()
	defer keptMu.Unlock()
	kept = append(kept, keptSolver{s, r})
	if len(kept) <= mostKept {
		return nil
	}
	old := kept[0].Resident
	kept = append(kept[:0], kept[1:]...)
	return old.Close()
}

// resident solves matrices that are in the memory of a GPU.
func resident(ctx context.Context, p *C.coalesce_assignment, o assignment.Options, report *[]byte) error {
	kind, ok := map[C.int32_t]assignment.Value{C.COALESCE_INT32: assignment.Int32, C.COALESCE_INT64: assignment.Int64,
		C.COALESCE_FLOAT32: assignment.Float32, C.COALESCE_FLOAT64: assignment.Float64}[p._type]
	const most = math.MaxInt32
	const others = C.COALESCE_LIMIT | C.COALESCE_BOTTLENECK | C.COALESCE_FLOOR
	switch {
	case !ok:
		return bad("costs of type %d on a GPU: expected int32, int64, float32 or float64", p._type)
	case p.batch < 1 || p.batch > most || p.rows < 0 || p.cols < 0 || p.rows > most || p.cols > most:
		return bad("%d of %d x %d costs on a GPU", p.batch, p.rows, p.cols)
	case p.device < 0 || p.start != nil || p.dimensions != 0 || p.k_best > 1 || p.start_scale != 0 || p.flags&others != 0:
		return bad("costs on a GPU: expected a GPU, and dense costs without a limit, ranks or duals to begin from")
	case p.costs == nil && p.rows > 0 && p.cols > 0:
		return bad("no costs")
	}
	l := assignment.Layout{Type: kind, Count: int(p.batch), Rows: int(p.rows), Cols: int(p.cols),
		Maximize: p.flags&C.COALESCE_MAXIMIZE != 0, Least: float64(p.least), Most: float64(p.most)}
	d, err := o.First()
	if err != nil {
		return err
	}
	lender, ok := d.(device.Lender)
	if !ok {
		return bad("%s works on no memory of others", d.Facts())
	}
	size := int64(l.Count) * int64(l.Rows) * int64(l.Cols) * int64(kind.Size())
	costs, err := lender.Lend(uintptr(p.costs), size)
	if err != nil {
		return bad("%v", err)
	}
	scale, err := l.Scale()
	if err != nil {
		return err
	}
	s := shape{int(p.device), l.Count, l.Rows, l.Cols, kind, l.Maximize, o.Duals, !o.Unchecked, scale, o.Algorithm}
	r := taken(s)
	if r == nil {
		kept := o
		kept.TimeLimit = 0 // ctx has it
		if r, err = assignment.OpenResident(ctx, l, kept); err != nil {
			return err
		}
	}
	ctx, cancel := o.Limited(ctx)
	defer cancel()
	results, err := r.Solve(ctx, costs, func(s device.Stream) error {
		if f, ok := s.(device.Follower); ok {
			return f.Follow(uintptr(p.stream))
		}
		return nil
	})
	if err != nil {
		return errors.Join(err, r.Close()) // its device may be lost
	}
	if err := keep(s, r); err != nil {
		return err
	}
	none := false
	for k, one := range results {
		put(p, k, one)
		none = none || one.Column == nil
	}
	if report != nil {
		if err := reports(results, report); err != nil {
			return err
		}
	}
	if none && len(results) == 1 {
		return fmt.Errorf("no full matching exists: %w", solve.ErrInfeasible)
	}
	return nil
}
