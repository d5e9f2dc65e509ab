package attempt

import (
	"context"
	"fmt"
	"time"

	"coalesce/runtime/device"
	"coalesce/solvers/csg/internal/cancel"
	"coalesce/solvers/csg/internal/engine"
	"coalesce/solvers/csg/internal/kernels"
	"coalesce/solvers/csg/problem"
)

// Cover computes the superadditive cover of a task's instance by a variant, and downloads it: the value of
// every coalition's best partition.
func Cover(ctx context.Context, t *Task, f *device.Family, v *device.Variant, out *Outcome) (*problem.Instance, error) {
	start, inst := time.Now(), t.Instance
	loaded, err := kernels.Load(t.Settings, f, v)
	if err != nil {
		return nil, err
	}
	defer loaded.Close()
	e, ok := loaded.Engine(inst.N + 1).(engine.Coverer)
	if !ok {
		return nil, fmt.Errorf("%s makes no table of all coalitions", f.Name)
	}
	s, err := loaded.Device.NewStream()
	if err != nil {
		return nil, err
	}
	defer s.Close()
	e.SkipLastAgent()
	defer e.Free()
	if err := e.Alloc(loaded.Device, s); err != nil {
		return nil, err
	}
	if err := e.Upload(ctx, s, inst.Bytes()); err != nil {
		return nil, err
	}
	out.Prepare = time.Since(start).Seconds()
	start = time.Now()
	if err := e.Run(ctx, s, engine.Progress{Share: t.shareReporter(start)}); err != nil {
		return nil, err
	}
	if err := cancel.Wait(ctx, s); err != nil {
		return nil, err
	}
	out.Solve, out.Splittings = time.Since(start).Seconds(), e.Splittings()
	table := &problem.Instance{N: inst.N, Names: inst.Names, Source: "the superadditive cover of " + inst.Source}
	switch inst.Type {
	case problem.Int32:
		problem.SetValues(table, make([]int32, inst.Len()))
	case problem.Int64:
		problem.SetValues(table, make([]int64, inst.Len()))
	case problem.Float32:
		problem.SetValues(table, make([]float32, inst.Len()))
	default:
		problem.SetValues(table, make([]float64, inst.Len()))
	}
	return table, cancel.Download(ctx, s, table.Bytes(), e.Table())
}
