// Package families lists the algorithms, best first: those on devices with their
// kernels, and those of the host.
package families

import (
	"context"
	"errors"

	"coalesce/autotune/tuned"
	"coalesce/generated/assignment"
	"coalesce/runtime/collective"
	"coalesce/runtime/device"
	"coalesce/solvers/assignment/internal/coreprice"
	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/internal/host"
	"coalesce/solvers/assignment/internal/hungarian"
	"coalesce/solvers/assignment/internal/paths"
	"coalesce/solvers/assignment/internal/reference"
	"coalesce/solvers/assignment/internal/scaling"
	"coalesce/solvers/assignment/internal/simplex"
	"coalesce/solvers/assignment/problem"
)

// A Family is one way to solve on a device.
type Family struct {
	Name    string // in Options.Algorithm
	Kernels *device.Family
	// Open takes memory on a device for dense problems of that size. The tuning data
	// choose the variants of the kernels that help; nil is the embedded database.
	Open func(d device.Device, t *tuned.Database, v *device.Variant, rows, cols int) (engine.Engine, error)
	// Sharded is Open for the devices of a group, among which rows are shared.
	Sharded func(g *collective.Group, t *tuned.Database, v *device.Variant, rows, cols int) (engine.Sharded, error)
	several [2]string // parameter and value of its variants for several devices; empty: all
	Limits  bool      // takes limits
	Square  bool      // takes as many columns as rows alone
	// Implicit opens an engine for a sparse problem or one of points; nil: it
	// takes neither.
	Implicit func(d device.Device, t *tuned.Database, v *device.Variant, p *problem.Normal) (engine.Engine, error)
}

// DeviceFamilies are the families of kernels on a device, best first. What one gives up the next
// solves.
func DeviceFamilies() []Family {
	return []Family{
		{Name: "core", Kernels: &assignment.Core, Open: coreprice.Open, Sharded: coreprice.OpenShards, Limits: true, Implicit: coreprice.OpenImplicit},
		{Name: "scaling", Kernels: &assignment.Scaling, Open: opener(scaling.Open), Square: true},
		{Name: "tree", Kernels: &assignment.Tree, Open: opener(hungarian.OpenTree), Sharded: sharder(hungarian.OpenTreeShards), several: [2]string{"barrier", "peers"}},
		{Name: "classical", Kernels: &assignment.Classical, Open: opener(hungarian.OpenClassical), Sharded: sharder(hungarian.OpenClassicalShards), several: [2]string{"devices", "many"}},
	}
}

// opener makes a constructor one of engines, which no other kernels help.
func opener[E engine.Engine](open func(device.Device, *device.Variant, int, int) (E, error)) func(device.Device, *tuned.Database, *device.Variant, int, int) (engine.Engine, error) {
	return func(d device.Device, _ *tuned.Database, v *device.Variant, rows, cols int) (engine.Engine, error) {
		e, err := open(d, v, rows, cols)
		if err != nil {
			return nil, err
		}
		return e, nil
	}
}

// sharder is opener for the devices of a group.
func sharder(open func(*collective.Group, *device.Variant, int, int) (engine.Sharded, error)) func(*collective.Group, *tuned.Database, *device.Variant, int, int) (engine.Sharded, error) {
	return func(g *collective.Group, _ *tuned.Database, v *device.Variant, rows, cols int) (engine.Sharded, error) {
		return open(g, v, rows, cols)
	}
}

// A Method is one way to solve on the host.
type Method struct {
	Name   string // in Options.Algorithm
	Limits bool   // takes limits
	// Solve solves p. start may be nil (cold) or feasible duals.
	Solve func(ctx context.Context, p *problem.Normal, start *problem.Prices, on engine.Host) (*engine.Solution, error)
}

// HostMethods are the methods of the host. The first takes all problems; the others run on one core.
func HostMethods() []Method {
	return []Method{
		{"host", true, solveHost},
		{"paths", false, solvePaths},
		{"sequential-tree", false, oneCore(hungarian.SequentialTree)},
		{"sequential-classical", false, oneCore(hungarian.SequentialClassical)},
		{"reference", true, oneCore(reference.SolveUntil)},
	}
}

// flowRows are the rows from which on a matching whose paths are long begins with the prices of a flow.
const flowRows = 512

// solveHost solves by the host's cores. Where paths are long, costs are dense and nothing is known, prices of a flow come first.
func solveHost(ctx context.Context, p *problem.Normal, start *problem.Prices, on engine.Host) (*engine.Solution, error) {
	wary := on
	wary.Wary = start == nil && p.Rows == p.Cols && p.Rows >= flowRows && p.Instance.Dense() && p.Source == nil && p.Limit == problem.Infinity &&
		uint64(p.Max-p.Min) >= uint64(p.Rows) // few values are faster without: 0/1, lattices and blocks by 20 to 40 %
	sol, err := host.Solve(ctx, p, start, wary)
	if !errors.Is(err, engine.ErrLong) {
		return sol, err
	}
	found, err := simplex.Start(ctx, p, on)
	switch {
	case err != nil && ctx.Err() == nil:
		return nil, err
	case found != nil && found.Column != nil:
		return found, err
	case found != nil:
		start, on.Near = &found.Prices, true
	}
	return host.Solve(ctx, p, start, on)
}

// solvePaths solves dense problems by paths on the calling goroutine, without telling and without an end before the end, and others, those
// without a full matching among them, on one core as the first method does.
func solvePaths(ctx context.Context, p *problem.Normal, start *problem.Prices, on engine.Host) (*engine.Solution, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if p.Instance.Dense() && p.Limit == problem.Infinity && p.Source == nil {
		if sol, ok := new(paths.Matcher).Solve(p); ok {
			return sol, nil
		}
		if sol, ok := new(paths.Workspace).Solve(p); ok {
			return sol, nil
		}
	}
	on.Threads = 1
	return host.Solve(ctx, p, start, on)
}

func oneCore(solve func(context.Context, *problem.Normal, *problem.Prices, engine.Reporter) (*engine.Solution, error)) func(context.Context, *problem.Normal, *problem.Prices, engine.Host) (*engine.Solution, error) {
	return func(ctx context.Context, p *problem.Normal, start *problem.Prices, on engine.Host) (*engine.Solution, error) {
		return solve(ctx, p, start, on.Telling)
	}
}

// AlgorithmNames are the names that Options.Algorithm takes.
func AlgorithmNames() []string {
	var names []string
	for _, f := range DeviceFamilies() {
		names = append(names, f.Name)
	}
	for _, m := range HostMethods() {
		names = append(names, m.Name)
	}
	return names
}

// ForSeveral reports whether a variant runs on several devices.
func (f *Family) ForSeveral(v *device.Variant) bool {
	return f.several[0] == "" || f.Kernels.Value(v, f.several[0]) == f.several[1]
}

// MultiDeviceVariant is the family's variant for several devices that is most like v.
func (f *Family) MultiDeviceVariant(v *device.Variant) *device.Variant {
	if f.several[0] == "" {
		return v
	}
	var best *device.Variant
	largest := -1
	for i := range f.Kernels.Variants {
		w := &f.Kernels.Variants[i]
		if !f.ForSeveral(w) || f.Kernels.Value(w, "value") != f.Kernels.Value(v, "value") {
			continue
		}
		alike := 0
		for k := range w.Values {
			if w.Values[k] == v.Values[k] {
				alike++
			}
		}
		if alike > largest {
			best, largest = w, alike
		}
	}
	return best
}
