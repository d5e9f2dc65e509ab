package csg

import (
	"context"
	"fmt"
	"time"

	"coalesce/solvers/csg/internal/levels"
	"coalesce/solvers/csg/internal/reference"
	"coalesce/solvers/csg/problem"
)

// levelsTake returns an error where byLevels cannot do a solve.
func levelsTake(inst *Instance, o Options, m Method, keep *Checkpoint) error {
	switch all := len(o.Devices) * o.Together(); {
	case all > 1:
		return fmt.Errorf("%d devices or ranks: method %s runs on one host, several run %s", all, m, Apart)
	case keep != nil:
		return fmt.Errorf("a checkpoint is kept by algorithm %s alone", Apart)
	case inst.N > splitsAgents:
		return fmt.Errorf("method %s: %d agents, at most %d", m, inst.N, splitsAgents)
	}
	return nil
}

// byLevels solves an instance by DP or IDP on a host's cores: the dynamic program of the papers,
// level by level, with each coalition computed by one core. A host uses it for the algorithms dp
// and idp; tiles evaluate a third of the splittings, many at once.
func (r *Result) byLevels(ctx context.Context, inst *Instance, o Options, m Method, best *problem.Incumbent) error {
	start := time.Now()
	r.Algorithm, r.Variant = string(m), "levels on all cores"
	r.Reason = "the dynamic program as the papers have it, a coalition by a core"
	o.Say("%s on %s: %s", r.Variant, o.Devices[0].Facts(), r.Reason)
	told := telling(o, start, best)
	workers := max(1, o.Devices[0].Facts().SMs)
	as, err := recast(ctx, inst, Int32, Int64)
	if err != nil {
		return err
	}
	var claimed string
	switch as.Type {
	case Int32:
		r.Structure, claimed, err = levelled(ctx, as.I32, m, workers, told)
	case Int64:
		r.Structure, claimed, err = levelled(ctx, as.I64, m, workers, told)
	case Float32:
		r.Structure, claimed, err = levelled(ctx, as.F32, m, workers, told)
	default:
		r.Structure, claimed, err = levelled(ctx, as.F64, m, workers, told)
	}
	if err != nil {
		return err
	}
	r.solvedAs(as)
	r.Splittings = reference.SplittingCount(m, inst.N)
	r.Seconds.Solve = time.Since(start).Seconds()
	start = time.Now()
	err = r.Certify(inst, as.Total(claimed))
	r.Seconds.Verify = time.Since(start).Seconds()
	return err
}

func levelled[T Number](ctx context.Context, v []T, m Method, workers int, told func(share float64)) (Structure, string, error) {
	f := append([]T(nil), v...)
	if err := levels.Raise(ctx, f, m == IDP, workers, told); err != nil {
		return nil, "", err
	}
	return StructureOf(v, f), problem.FormatNumber(f[len(f)-1]), nil
}
