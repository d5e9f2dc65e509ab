package attempt

import (
	"context"
	"time"

	"coalesce/solvers/csg/internal/hostdp"
	"coalesce/solvers/csg/internal/reference"
	"coalesce/solvers/csg/internal/variants"
	"coalesce/solvers/csg/problem"
)

// HostDP is the dynamic program of the papers on a host's cores, by DP or IDP.
type HostDP struct{ Method reference.Method }

// Solve implements Algorithm.
func (a HostDP) Solve(ctx context.Context, t *Task, out *Outcome) error {
	start := time.Now()
	out.Variant = "levels on all cores"
	out.Reason = "the dynamic program as the papers have it, a coalition by a core"
	facts := t.Settings.Devices[0].Facts()
	t.Settings.Logf("%s on %s: %s", out.Variant, facts, out.Reason)
	as, err := variants.Recast(ctx, t.Instance, problem.Int32, problem.Int64)
	if err != nil {
		return err
	}
	blocks, claimed, err := hostdp.Solve(ctx, as.Instance, a.Method, max(1, facts.SMs), t.shareReporter(start))
	if err != nil {
		return err
	}
	out.Structure = blocks
	out.setClaim(as, claimed)
	out.Splittings = reference.SplittingCount(a.Method, t.Instance.N)
	return nil
}
