package assignment

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/internal/families"
	"coalesce/solvers/assignment/internal/refine"
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/solve"
)

// nearWidth is the slack in units of the pairs from which an optimal matching of rounded costs is
// decided: each matching costs at most half a unit a row more or less than its rounded costs say.
func nearWidth(p *problem.Normal) int64 { return int64(p.Rows) + 1 }

// decide makes r optimal for the costs as they are, given an optimal solution of p's rounded costs,
// its certificate and the near pairs in the instance's own rows and columns. It adds to the
// certificate how. Where ctx ends it r is the best matching so far, and the certificate has its gap.
func (r *Result) decide(ctx context.Context, p *problem.Normal, sol *engine.Solution, cert *problem.Certificate, near []problem.Pair, o Options) error {
	if cert.Rounded == 0 {
		return nil
	}
	column, err := decide(ctx, p, sol, cert, near, o)
	if err != nil {
		why := "residual costs were not solved"
		if ctx.Err() != nil {
			if why = "the time limit ended the solve"; context.Cause(ctx) != solve.ErrTimeLimit {
				r.Stopped, why = true, "interrupted"
			}
		}
		r.Notes = append(r.Notes[:len(r.Notes):len(r.Notes)], fmt.Sprintf("%s: a matching of rounded costs (%v)", why, err))
	}
	if slices.Equal(column, sol.Column) {
		return nil
	}
	_, err = r.keep(r.inst, p, &engine.Solution{Column: column, Prices: sol.Prices, Counts: sol.Counts})
	return err
}

// decide is the column of each row of p in an optimal matching for the costs as they are. An error
// comes with the best matching so far; the certificate has the gap.
func decide(ctx context.Context, p *problem.Normal, sol *engine.Solution, cert *problem.Certificate, near []problem.Pair, o Options) ([]int32, error) {
	if p.Transposed {
		for k, x := range near {
			near[k] = problem.Pair{Row: x.Col, Col: x.Row}
		}
	}
	out, err := refine.Exact(ctx, p, sol.Column, sol.Prices, near, o.residual)
	cert.Rounds, cert.Gap = out.Rounds, out.Gap
	return out.Column, err
}

// residual solves residual costs: dense ones on the first of o's devices, others on the host.
func (o Options) residual(ctx context.Context, inst *problem.Instance) ([]int32, problem.Duals, error) {
	if len(o.Devices) > 0 && inst.Dense() {
		r, err := Solve(ctx, inst, Options{Settings: solve.Settings{Devices: o.Devices[:1], Tuning: o.Tuning}, Duals: true})
		switch {
		case err != nil:
			return nil, problem.Duals{}, err
		case !r.Proven:
			return nil, problem.Duals{}, errors.Join(ctx.Err(), errors.New("no proven matching of residual costs"))
		}
		return r.Column, *r.Duals, nil
	}
	p, err := problem.Normalise(inst)
	if err != nil {
		return nil, problem.Duals{}, err
	}
	sol, err := families.Methods()[0].Solve(ctx, p, nil, engine.Host{Tuning: o.Tuning})
	if err != nil {
		return nil, problem.Duals{}, err
	}
	d := dualsOf(p, sol)
	_, err = problem.Check(inst, sol.Column, d)
	return sol.Column, d, err
}
