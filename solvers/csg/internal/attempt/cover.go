package attempt

import (
	"context"
	"fmt"
	"time"

	"coalesce/autotune/tuned"
	"coalesce/runtime/device"
	"coalesce/solvers/csg/internal/cancel"
	"coalesce/solvers/csg/internal/engine"
	"coalesce/solvers/csg/internal/kernels"
	"coalesce/solvers/csg/problem"
)

// A CoverAlgorithm is an algorithm that computes the superadditive cover of an instance by a variant, and downloads it: the
// value of every coalition's best partition. Its outcome has no structure, which follows from the cover.
type CoverAlgorithm struct {
	Instance *problem.Instance // the task's, widened
	Family   *device.Family
	Choice   tuned.Choice
	Table    **problem.Instance // is set once the cover is whole
}

// Solve implements Algorithm.
func (a CoverAlgorithm) Solve(ctx context.Context, t *Task, out *Outcome) error {
	out.Variant, out.Reason = a.Family.Name+" "+a.Choice.Variant.Label, a.Choice.Reason()
	t.Settings.Logf("%s on %s: %s", out.Variant, t.Facts, out.Reason)
	table, err := a.compute(ctx, t, out)
	if err != nil {
		return err
	}
	*a.Table = table
	table.SetCover(a.Instance)
	out.Claimed = table.ValueDecimals(table.GrandCoalition())
	return nil
}

// compute computes and downloads the table.
func (a CoverAlgorithm) compute(ctx context.Context, t *Task, out *Outcome) (*problem.Instance, error) {
	start, inst := time.Now(), a.Instance
	loaded, err := kernels.Load(t.Settings, a.Family, a.Choice.Variant)
	if err != nil {
		return nil, err
	}
	defer loaded.Close()
	e, ok := loaded.Engine(inst.N + 1).(engine.Coverer)
	if !ok {
		return nil, fmt.Errorf("%s makes no table of all coalitions", a.Family.Name)
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
	out.Splittings = e.Splittings()
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
