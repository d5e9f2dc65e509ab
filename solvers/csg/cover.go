package csg

import (
	"context"
	"fmt"
	"time"

	"coalesce/solvers/csg/internal/attempt"
	"coalesce/solvers/csg/internal/ranking"
	"coalesce/solvers/csg/internal/variants"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// SolveCover solves like Solve by the method Apart, and computes f for the coalitions with the last
// agent too: three times the splittings and twice the memory. Its second result is the
// superadditive cover of the instance: the value of every coalition is that of the coalition's best
// partition. BestFew and further solves read it. Where sizes of blocks restrict the instance, its own
// Sizes are those of coalitions that can be divided into such blocks, and the others are forbidden.
// Errors are those of Solve; there is a table where no structure of all agents is feasible. The end of ctx
// and the time limit end it with the best structure so far, and no table.
func SolveCover(ctx context.Context, inst *Instance, o Options) (*Result, *Instance, error) {
	r, f, err := solveCover(ctx, inst, o)
	if err != nil {
		return r, f, fmt.Errorf("solve csg: %w", err)
	}
	return r, f, nil
}

func solveCover(ctx context.Context, inst *Instance, o Options) (*Result, *Instance, error) {
	inst, err := inMemory(inst)
	if err != nil {
		return nil, nil, err
	}
	if _, err := o.First(); err != nil {
		return nil, nil, err
	}
	if err := o.check(); err != nil {
		return nil, nil, err
	}
	if o.Checkpoint != "" {
		return nil, nil, solve.Input("Checkpoint", "found %.40q, expected none: the table of all coalitions keeps no checkpoint", o.Checkpoint)
	}
	if o.Algorithm != "" && o.Algorithm != string(Apart) {
		return nil, nil, solve.Input("Algorithm", "found %.40q, expected %s, which makes the table of all coalitions", o.Algorithm, Apart)
	}
	facts := o.Weakest()
	f, _, err := variants.FamilyFor(facts.Kind, Apart, o.Variant)
	if err != nil {
		return nil, nil, err
	}
	as := inst.Widened().Instance
	whole := *as
	whole.N++ // memory is that of one agent more
	choice, err := variants.Choose(f, facts, &whole, &o.Settings, Apart)
	if err != nil {
		return nil, nil, err
	}
	r := NewResult(inst)
	r.Device, r.Algorithm = o.Where(), string(Apart)
	r.Variant, r.Reason = f.Name+" "+choice.Variant.Label, choice.Reason()
	o.Say("%s on %s: %s", r.Variant, facts, r.Reason)
	ctx, cancel := o.Limited(ctx)
	defer cancel()
	best := problem.NewIncumbent(inst)
	out := attempt.Outcome{}
	table, err := attempt.Cover(ctx, &attempt.Task{Instance: as, Settings: &o.Settings, Facts: facts, Incumbent: best}, f, choice.Variant, &out)
	r.Seconds.Prepare, r.Seconds.Solve, r.Splittings = out.Prepare, out.Solve, out.Splittings
	if err != nil {
		r, err := r.finish(ctx, inst, best, err)
		return r, nil, err
	}
	start := time.Now()
	table.Covers(as)
	r.Structure = ranking.Restore(as, table, inst.Grand())
	err = r.Certify(inst, table.Exact(table.Grand()))
	r.Seconds.Verify = time.Since(start).Seconds()
	return r, table, err
}

// A Ranked structure is one of BestFew.
type Ranked = ranking.Ranked

// BestFew returns the k best structures of some of an instance's agents, the best first, or all of
// them where fewer than k have only allowed blocks. Sums of floats are rounded, so that structures
// whose values differ by less than the rounding may change places.
func BestFew(ctx context.Context, inst, cover *Instance, coalition uint64, k int) ([]Ranked, error) {
	inst, err := inMemory(inst)
	if err != nil {
		return nil, err
	}
	switch {
	case cover == nil:
		return nil, solve.Input("cover", "found nil, expected the table of SolveCover")
	case coalition > inst.Grand():
		return nil, solve.Input("coalition", "found %#x, expected some of the agents 1 to %d", coalition, inst.N)
	case k < 1:
		return nil, solve.Input("k", "found %d structures, expected 1 or more", k)
	}
	return ranking.Best(ctx, inst.Widened().Instance, cover, coalition, k)
}
