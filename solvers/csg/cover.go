package csg

import (
	"context"
	"fmt"
	"time"

	"coalesce/runtime/device"
	"coalesce/solvers/csg/internal/cancel"
	"coalesce/solvers/csg/internal/levels"
	"coalesce/solvers/csg/internal/ranking"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// A lowerer is an engine that can skip the coalitions with the last agent. Opened for one agent
// more than an instance has, it computes f for all coalitions of the instance's agents.
type lowerer interface {
	engine
	// lowerOnly is called before alloc. upload then takes half of the values, and run
	// ends without a total.
	lowerOnly()
}

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
	inst, err := held(inst)
	if err != nil {
		return nil, nil, err
	}
	if _, err := o.First(); err != nil {
		return nil, nil, err
	}
	if o.Algorithm != "" && o.Algorithm != string(Apart) {
		return nil, nil, solve.Input("Algorithm", "found %.40q, expected %s, which makes the table of all coalitions", o.Algorithm, Apart)
	}
	facts := o.Weakest()
	f, _, err := familyFor(facts.Kind, Apart, o.Variant)
	if err != nil {
		return nil, nil, err
	}
	as := inst.Widened().Instance
	whole := *as
	whole.N++ // memory is that of one agent more
	choice, err := choose(f, facts, &whole, o, Apart)
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
	table, err := coverOn(ctx, as, f, choice.Variant, o, r, best)
	if err != nil {
		r, err := r.ended(ctx, inst, best, err)
		return r, nil, err
	}
	start := time.Now()
	table.Covers(as)
	r.Structure = ranking.Restore(as, table, inst.Grand())
	err = r.Certify(inst, table.Exact(table.Grand()))
	r.Seconds.Verify = time.Since(start).Seconds()
	return r, table, err
}

// coverOn computes the cover on the devices and downloads it.
func coverOn(ctx context.Context, inst *Instance, f *device.Family, v *device.Variant, o Options, r *Result, best *problem.Incumbent) (*Instance, error) {
	start := time.Now()
	kernels, err := openAll(o, f, v)
	if err != nil {
		return nil, err
	}
	defer kernels.Close()
	e, ok := kernels.engine(inst.N + 1).(lowerer)
	if !ok {
		return nil, fmt.Errorf("%s makes no table of all coalitions", f.Name)
	}
	s, err := kernels.device.NewStream()
	if err != nil {
		return nil, err
	}
	defer s.Close()
	e.lowerOnly()
	defer e.free()
	if err := e.alloc(kernels.device, s); err != nil {
		return nil, err
	}
	if err := e.upload(ctx, s, inst.Bytes()); err != nil {
		return nil, err
	}
	r.Seconds.Prepare = time.Since(start).Seconds()
	start = time.Now()
	if err := e.run(ctx, s, levels.Follow{Told: telling(o, start, best)}); err != nil {
		return nil, err
	}
	if err := cancel.Wait(ctx, s); err != nil {
		return nil, err
	}
	r.Seconds.Solve, r.Splittings = time.Since(start).Seconds(), e.splittings()
	table := &Instance{N: inst.N, Names: inst.Names, Source: "the superadditive cover of " + inst.Source}
	switch inst.Type {
	case Int32:
		problem.SetValues(table, make([]int32, inst.Len()))
	case Int64:
		problem.SetValues(table, make([]int64, inst.Len()))
	case Float32:
		problem.SetValues(table, make([]float32, inst.Len()))
	default:
		problem.SetValues(table, make([]float64, inst.Len()))
	}
	return table, cancel.Download(ctx, s, table.Bytes(), e.table())
}

// A Ranked structure is one of BestFew.
type Ranked = ranking.Ranked

// BestFew returns the k best structures of some of an instance's agents, the best first, or all of
// them where fewer than k have only allowed blocks. Sums of floats are rounded, so that structures
// whose values differ by less than the rounding may change places.
func BestFew(ctx context.Context, inst, cover *Instance, coalition uint64, k int) ([]Ranked, error) {
	inst, err := held(inst)
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
