package assignment

import (
	"context"
	"errors"
	"fmt"
	"math"

	"coalesce/runtime/collective"
	"coalesce/runtime/device"
	"coalesce/solvers/assignment/internal/draw"
	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/internal/families"
	"coalesce/solvers/assignment/internal/verify"
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/solve"
)

// planSharded plans for devices like the one of these facts: the family and
// variant asked for, or the best after a family, "" for any.
func planSharded(facts device.Facts, p *problem.Normal, after string, o Options) (plan, error) {
	facts.Free = 0 // what fits was asked of all together
	var refused []error
	passed := after == ""
	for _, f := range families.DeviceFamilies() {
		if !passed || f.Sharded == nil || o.Algorithm != "" && o.Algorithm != f.Name {
			passed = passed || f.Name == after
			continue
		}
		asked := o
		asked.Algorithm = f.Name
		c, err := planFor(facts, p, asked)
		if err == nil && !f.ForSeveral(c.variant) {
			err = c.together(&f, facts, p, o)
		}
		if err == nil {
			return c, nil
		}
		refused = append(refused, err)
	}
	if len(refused) == 0 {
		refused = append(refused, fmt.Errorf("no other family runs on several devices: expected one of core, tree, classical, found %q", o.Algorithm))
	}
	return plan{}, errors.Join(refused...)
}

// together replaces a variant for one device by one for several: the one most like the variant that
// was asked for by its label; else the fastest of those that were measured, or the one most like
// the winner.
func (c *plan) together(f *families.Family, facts device.Facts, p *problem.Normal, o Options) error {
	w := engine.Workload(p)
	w.Prior.Variant, w.Prior.Why = f.MultiDeviceVariant(c.variant), fmt.Sprintf("of the variants for several devices the one most like %s, which is that for one (%s)", c.variant.Label, c.reason)
	if w.Prior.Variant == nil {
		return fmt.Errorf("family %s has no variant for several devices and costs of type %s", f.Name, p.Instance.Type)
	}
	if o.Variant != "" {
		c.variant, c.reason = w.Prior.Variant, c.reason+"; of the variants for several devices the one most alike"
		return nil
	}
	found, err := o.Choose(f.Kernels, facts, w, func(v *device.Variant) error {
		if !f.ForSeveral(v) {
			return fmt.Errorf("%s is for one device", v.Label)
		}
		return facts.BlockFits(f.Kernels.Int(v, "block"), 0)
	})
	if err == nil {
		c.variant, c.reason = found.Variant, found.Reason()
	}
	return err
}

// prepareSharded is prepare by the method of several devices, even for one.
func prepareSharded(ctx context.Context, p *problem.Normal, o Options, drawing *draw.Drawing) (_ *job, err error) {
	devices := o.Devices
	if err := distinct(devices); err != nil {
		return nil, err
	}
	first := collective.SplitRows(p.Rows, max(len(devices), o.RankCount()))
	if err := fitsTogether(devices, p, first[o.rank():]); err != nil {
		return nil, err
	}
	j := &job{device: devices[0], options: o, p: p, facts: o.WeakestFacts()}
	if j.plan, err = planSharded(j.facts, p, "", o); err != nil {
		return nil, err
	}
	group, err := collective.Join(devices, o.Ranks)
	if err != nil {
		return nil, err
	}
	j.spread = &shardedCosts{group: group, first: first[group.FirstMember():]}
	j.spread.held.CloseLater(group)
	j.held.CloseLater(j.spread)
	defer func() {
		if err != nil {
			err = errors.Join(err, j.Close())
		}
	}()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if j.spread.engine, err = j.plan.family.Sharded(group, o.Tuning, j.plan.variant, p.Rows, p.Cols); err != nil {
		return nil, err
	}
	j.spread.held.CloseLater(j.spread.engine)
	if err := j.spread.allocate(p, o); err != nil {
		return nil, err
	}
	if drawing != nil {
		return j, j.spread.drawRows(drawing)
	}
	return j, j.spread.upload(ctx, p.Instance.Bytes())
}

// distinct refuses no devices, and a GPU opened twice: kernels that wait for one
// another would each take all of it.
func distinct(devices []device.Device) error {
	if len(devices) == 0 {
		return errors.New("several devices: expected at least one")
	}
	for i, d := range devices {
		for k, other := range devices[:i] {
			if id := d.Facts().UUID; d != other && id != "" && id == other.Facts().UUID {
				return fmt.Errorf("devices %d and %d are both %s, opened twice: expected different devices", k, i, id)
			}
		}
	}
	return nil
}

// fitsTogether holds every device's rows, which begin at first, against its free memory.
func fitsTogether(devices []device.Device, p *problem.Normal, first []int) error {
	size := int64(p.Instance.Type.Size())
	for k, d := range devices {
		free := d.Facts().Free
		need := float64(first[k+1]-first[k]) * float64(p.Cols) * float64(size)
		if free == 0 || need <= float64(free) {
			continue
		}
		parts := math.Round(float64(p.Rows) / float64(first[k+1]-first[k]))
		side := int64(math.Sqrt(float64(free/size) * parts))
		return fmt.Errorf("%d x %d costs of type %s, spread over %.0f devices, take %s each, %s has %s free, enough for about %d x %d: %w",
			p.Rows, p.Cols, p.Instance.Type, parts, device.Size(need), d.Facts(), device.Size(free), side, side, device.ErrMemory)
	}
	return nil
}

// A shardedCosts is a cost matrix whose rows are spread over a group's devices,
// with an engine and the kernels that check there.
type shardedCosts struct {
	group  *collective.Group
	engine engine.Sharded
	first  []int // row of each part of this process, and the one after the last's
	costs  []*engine.Matrix
	checks []verify.Shard
	held   device.Scope // all of these
}

// allocate allocates memory for p's costs.
func (c *shardedCosts) allocate(p *problem.Normal, o Options) (err error) {
	for k, d := range c.group.Devices {
		m := &engine.Matrix{Rows: c.first[k+1] - c.first[k], Cols: p.Cols}
		if m.Costs, err = c.held.Alloc(d, int64(m.Rows)*int64(m.Cols)*int64(p.Instance.Type.Size())); err != nil {
			return fmt.Errorf("%d x %d costs of type %s on %s: %w", m.Rows, m.Cols, p.Instance.Type, d.Facts(), err)
		}
		c.costs = append(c.costs, m)
		if o.Unchecked || m.Rows == 0 {
			continue
		}
		v, err := checkerFor(d.Facts(), p, o)
		if err != nil {
			return err
		}
		check, err := verify.Open(d, v, m.Rows, m.Cols)
		if err != nil {
			return err
		}
		c.held.CloseLater(check)
		c.checks = append(c.checks, verify.Shard{Checker: check, Stream: c.group.Streams[k], M: m, First: c.first[k]})
	}
	return nil
}

// upload copies costs to all devices at once, in parts so that ctx can end it.
func (c *shardedCosts) upload(ctx context.Context, costs []byte) error {
	const part = 1 << 28
	at := make([]int64, len(c.first))
	for k, m := range c.costs {
		at[k+1] = at[k] + m.Costs.Len()
	}
	return collective.OnAll(len(c.costs), func(k int) error {
		own := costs[at[k]:at[k+1]]
		for off := 0; off < len(own); off += part {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := c.group.Streams[k].Upload(c.costs[k].Costs, int64(off), own[off:min(len(own), off+part)]); err != nil {
				return err
			}
		}
		return nil
	})
}

// Close gives back the memory and the group, not its devices.
func (c *shardedCosts) Close() error { return c.held.Close() }

// solveSharded is solve for several devices. Where an engine has met the bound
// on its steps, the next family goes on from the beginning.
func (j *job) solveSharded(ctx context.Context, start *problem.Prices) (*engine.Solution, error) {
	c := j.spread
	attempt := func(p plan, e engine.Sharded, end func() error) solve.Attempt[*engine.Solution] {
		return solve.Attempt[*engine.Solution]{Name: p.String(), Run: func() (*engine.Solution, error) {
			e.SetReporter(j.reporter())
			sol, err := e.Solve(ctx, j.p, c.costs, start)
			return sol, errors.Join(err, end())
		}}
	}
	return j.relay(func(yield func(solve.Attempt[*engine.Solution]) bool) {
		more := yield(attempt(j.plan, c.engine, func() error { return nil }))
		for last := j.plan.family.Name; more; {
			next, err := planSharded(j.facts, j.p, last, Options{Settings: solve.Settings{Tuning: j.options.Tuning}})
			if err != nil {
				break
			}
			last = next.family.Name
			e, err := next.family.Sharded(c.group, j.options.Tuning, next.variant, j.p.Rows, j.p.Cols)
			if err != nil {
				continue // not for this problem
			}
			more = yield(attempt(next, e, e.Close))
		}
		switch size := int64(j.p.Rows) * int64(j.p.Cols) * int64(j.p.Instance.Type.Size()); {
		case !more:
		case !c.group.SpansProcesses():
			j.byHost(ctx, start, yield)
		case size <= mostGathered:
			yield(solve.Attempt[*engine.Solution]{Name: families.HostMethods()[0].Name + " on rank 0", Run: func() (*engine.Solution, error) { return j.onFirst(ctx) }})
		}
	})
}
