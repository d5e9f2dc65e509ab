package attempt

import (
	"context"
	"math"
	"runtime"
	"time"

	"coalesce/solvers/csg/internal/hostdp"
	"coalesce/solvers/csg/internal/variants"
	"coalesce/solvers/csg/problem"
)

// Layers is the dynamic program of an instance whose number of blocks counts, on a host's cores.
type Layers struct{}

// Solve implements Algorithm.
func (Layers) Solve(ctx context.Context, t *Task, out *Outcome) error {
	start := time.Now()
	counts := t.Instance.Blocks()
	out.Variant, out.Reason = "layers on all cores", "the dynamic program with a layer for each number of blocks"
	t.Settings.Logf("%s: %s", out.Variant, out.Reason)
	as, err := variants.Recast(ctx, t.Instance, problem.Int32, problem.Int64)
	if err != nil {
		return err
	}
	allowed := func(mask uint64) bool { return !math.IsInf(t.Instance.Value64(mask), -1) }
	blocks, claimed, err := hostdp.SolveCounted(ctx, as.Instance, allowed, counts, runtime.GOMAXPROCS(0), t.shareReporter(start))
	if err != nil {
		return err
	}
	out.Splittings = hostdp.LayersSplittings(t.Instance.N, counts)
	if out.Infeasible = blocks == nil; out.Infeasible {
		return nil
	}
	out.Structure = blocks
	out.setClaim(as, claimed)
	return nil
}
