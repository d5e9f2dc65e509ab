package hungarian

import (
	"context"
	"errors"

	"coalesce/generated/assignment"
	"coalesce/runtime/device"
	"coalesce/solvers/assignment/problem"
)

// solveByLaunches is the solve with barrier=host: one launch a step. After each level and each update the
// host reads the number of rows that were reached. Its loop is that of the kernel solve.
func (r *classicalRun) solveByLaunches(ctx context.Context) (*classicalControl, error) {
	one := r.hasParam("paths", "one")
	x := &classicalControl{}
	// advance reads the rows that a step has put into the queue.
	advance := func() error {
		now, err := r.readControl()
		if err != nil {
			return err
		}
		count := now.Count[x.Turn%3]
		x.Head, x.Tail = x.Tail, x.Tail+uint64(uint32(count))
		x.Found += count >> 32
		x.Turn++
		return nil
	}
	if err := errors.Join(r.launchStep(r.kernels.Begin), r.launchStep(r.kernels.Reduce), r.launchStep(r.kernels.Greedy)); err != nil {
		return nil, err
	}
	if err := advance(); err != nil {
		return nil, err
	}
	for x.Roots = x.Tail; x.Roots > 0; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for x.Head != x.Tail && !(one && x.Found != 0) {
			if err := r.level(x); err != nil {
				return nil, err
			}
			if err := advance(); err != nil {
				return nil, err
			}
			x.Levels++
		}
		if x.Found != 0 {
			if err := r.augment(x); err != nil {
				return nil, err
			}
			if one {
				x.Found = 1
			}
			x.Paths += x.Found
			x.Phases, x.Side, x.Tail, x.Found = x.Phases+1, 1-x.Side, 0, 0
			if err := advance(); err != nil {
				return nil, err
			}
			x.Roots, x.Found = x.Found, 0
			continue
		}
		if err := r.minimum(x); err != nil {
			return nil, err
		}
		x.Scanned += x.Tail
		now, err := r.readControl()
		if err != nil {
			return nil, err
		}
		if now.Least[x.Updates%2] >= problem.Infinity {
			x.Stage = assignment.ClassicalStageStuck
			return x, nil
		}
		if err := r.update(x); err != nil {
			return nil, err
		}
		x.Updates++
		if err := advance(); err != nil {
			return nil, err
		}
	}
	x.Stage = assignment.ClassicalStageMatched
	return x, nil
}

// launchStep launches a kernel that takes only the arguments that all kernels take.
func (r *classicalRun) launchStep(kernel func(device.Stream, device.Grid, device.Buffer, device.Buffer, device.Buffer, float64, int64, uint64, uint64, uint64) error) error {
	grid := r.Grid
	grid.Cooperative = false
	return kernel(r.s, grid, r.costs, r.stored, r.work, r.scale, r.floor, uint64(r.rows), uint64(r.cols), r.flags)
}

func (r *classicalRun) level(x *classicalControl) error {
	return r.kernels.Level(r.s, r.Grid, r.costs, r.stored, r.work, r.scale, r.floor, uint64(r.rows), uint64(r.cols), r.flags,
		x.Side, x.Head, x.Tail, x.Turn, x.Phases)
}

func (r *classicalRun) minimum(x *classicalControl) error {
	return r.kernels.Minimum(r.s, r.Grid, r.costs, r.stored, r.work, r.scale, r.floor, uint64(r.rows), uint64(r.cols), r.flags,
		x.Side, x.Tail, x.Updates)
}

func (r *classicalRun) update(x *classicalControl) error {
	return r.kernels.Update(r.s, r.Grid, r.costs, r.stored, r.work, r.scale, r.floor, uint64(r.rows), uint64(r.cols), r.flags,
		x.Side, x.Tail, x.Turn, x.Phases, x.Updates)
}

func (r *classicalRun) augment(x *classicalControl) error {
	return r.kernels.Augment(r.s, r.Grid, r.costs, r.stored, r.work, r.scale, r.floor, uint64(r.rows), uint64(r.cols), r.flags,
		x.Side, x.Tail, x.Turn)
}
