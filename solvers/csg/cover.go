package csg

import (
	"context"
	"fmt"
	"iter"

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
func SolveCover(ctx context.Context, inst *problem.Instance, o Options) (*Result, *problem.Instance, error) {
	c := &coverRun{run: run{Session: &Session{Options: o}, inst: inst}}
	r, err := solve.Run(ctx, &o.Settings, c)
	if err != nil {
		err = fmt.Errorf("solve csg: %w", err)
	}
	return r, c.table, err
}

// A coverRun is a run that makes the table of all coalitions.
type coverRun struct {
	run
	as    *problem.Instance // the instance, widened
	table *problem.Instance // nil: not whole yet
}

// Plan implements solve.Work.
func (c *coverRun) Plan(ctx context.Context) (*Result, iter.Seq[solve.Attempt[*attempt.Outcome]], error) {
	inst, err := inMemory(c.inst)
	if err != nil {
		return nil, nil, err
	}
	if inst.Constraints() != nil {
		return nil, nil, solve.InvalidInput("instance", "found constraints besides sizes of blocks, expected none: the table of all coalitions has no others")
	}
	if inst.IsMinimized() {
		return nil, nil, solve.InvalidInput("instance", "found minimised values, expected others: the table of all coalitions has the largest sums")
	}
	if _, err := c.LeadDevice(); err != nil {
		return nil, nil, err
	}
	if err := c.check(); err != nil {
		return nil, nil, err
	}
	if c.Checkpoint != "" {
		return nil, nil, solve.InvalidInput("Checkpoint", "found %.40q, expected none: the table of all coalitions keeps no checkpoint", c.Checkpoint)
	}
	if c.Target != nil {
		return nil, nil, solve.InvalidInput("Target", "found a value, expected none: the table has the values of all coalitions")
	}
	if c.Algorithm != "" && c.Algorithm != string(Apart) {
		return nil, nil, solve.InvalidInput("Algorithm", "found %.40q, expected %s, which makes the table of all coalitions", c.Algorithm, Apart)
	}
	facts := c.WeakestFacts()
	family, _, err := variants.FamilyFor(facts.Kind, Apart, c.Variant)
	if err != nil {
		return nil, nil, err
	}
	c.as = inst.Widen().Instance
	whole := *c.as
	whole.N++ // memory is that of one agent more
	choice, err := variants.Choose(family, facts, &whole, &c.Settings, Apart)
	if err != nil {
		return nil, nil, err
	}
	if err := c.begin(inst, facts); err != nil {
		return nil, nil, err
	}
	cover := attempt.CoverAlgorithm{Instance: c.as, Family: family, Choice: choice, Table: &c.table}
	return c.result, c.attempts(ctx, func(yield func(Method, attempt.Algorithm) bool) { yield(Apart, cover) }), nil
}

// Certify implements solve.Work.
func (c *coverRun) Certify(ctx context.Context, found *attempt.Outcome) error {
	c.result.Structure = ranking.Restore(c.as, c.table, c.inst.GrandCoalition())
	return c.run.Certify(ctx, found)
}

// A Ranked structure is one of BestFew.
type Ranked = ranking.RankedStructure

// BestFew returns the k best structures of some of an instance's agents, the best first, or all of
// them where fewer than k have only allowed blocks. Sums of floats are rounded, so that structures
// whose values differ by less than the rounding may change places.
func BestFew(ctx context.Context, inst, cover *problem.Instance, coalition uint64, k int) ([]Ranked, error) {
	inst, err := inMemory(inst)
	if err != nil {
		return nil, err
	}
	switch {
	case cover == nil:
		return nil, solve.InvalidInput("cover", "found nil, expected the table of SolveCover")
	case coalition > inst.GrandCoalition():
		return nil, solve.InvalidInput("coalition", "found %#x, expected some of the agents 1 to %d", coalition, inst.N)
	case k < 1:
		return nil, solve.InvalidInput("k", "found %d structures, expected 1 or more", k)
	}
	found, err := ranking.Best(ctx, inst.Widen().Instance, cover, coalition, k)
	for i := range found {
		found[i].Value = inst.NearestDecimal(found[i].Value)
	}
	return found, err
}
