package assignment

import (
	"context"

	"coalesce/generated/assignment"
	"coalesce/runtime/collective"
	"coalesce/runtime/device"
)

// A family is one way to solve on a device.
type family struct {
	name    string // in Options.Family
	kernels *device.Family
	open    func(d device.Device, v *device.Variant, rows, cols int) (engine, error)
	sharded func(g *collective.Group, v *device.Variant, rows, cols int) (shardedEngine, error)
	several [2]string // parameter and value of its variants for several devices; empty: all
	limits  bool      // takes limits
	// implicit opens an engine for a sparse problem or one of points; nil: it
	// takes neither.
	implicit func(d device.Device, v *device.Variant, p *normal) (engine, error)
}

// families of kernels on a device, best first. What one gives up the next
// solves.
func families() []family {
	return []family{
		{name: "core", kernels: &assignment.Core, open: newCoreEngine, sharded: newCoreShards, limits: true, implicit: newCoreOf},
		{name: "tree", kernels: &assignment.Tree, open: opener(newTree), sharded: newTreeShards, several: [2]string{"barrier", "peers"}},
		{name: "classical", kernels: &assignment.Classical, open: opener(newClassical), sharded: newClassicalShards, several: [2]string{"devices", "many"}},
	}
}

// opener makes a constructor one of engines.
func opener[E engine](open func(device.Device, *device.Variant, int, int) (E, error)) func(device.Device, *device.Variant, int, int) (engine, error) {
	return func(d device.Device, v *device.Variant, rows, cols int) (engine, error) {
		e, err := open(d, v, rows, cols)
		if err != nil {
			return nil, err
		}
		return e, nil
	}
}

// A method is one way to solve on the host.
type method struct {
	name   string
	limits bool // takes limits
	solve  func(ctx context.Context, p *normal, start *duals, threads int) (*solution, error)
}

// methods of the host, best first; but for the first they take one core.
func methods() []method {
	return []method{
		{"host", true, solveHost},
		{"sequential-tree", false, oneCore(sequentialTree)},
		{"sequential-classical", false, oneCore(sequentialClassical)},
		{"reference", true, oneCore(func(_ context.Context, p *normal, start *duals) (*solution, error) { return reference(p, start) })},
	}
}

func oneCore(solve func(context.Context, *normal, *duals) (*solution, error)) func(context.Context, *normal, *duals, int) (*solution, error) {
	return func(ctx context.Context, p *normal, start *duals, _ int) (*solution, error) {
		return solve(ctx, p, start)
	}
}

// Families are the names that Options.Family takes.
func Families() []string {
	var names []string
	for _, f := range families() {
		names = append(names, f.name)
	}
	for _, m := range methods() {
		names = append(names, m.name)
	}
	return names
}

// together is the family's variant for several devices that is most like v.
func (f *family) together(v *device.Variant) *device.Variant {
	if f.several[0] == "" {
		return v
	}
	var best *device.Variant
	most := -1
	for i := range f.kernels.Variants {
		w := &f.kernels.Variants[i]
		if f.kernels.Value(w, f.several[0]) != f.several[1] || f.kernels.Value(w, "value") != f.kernels.Value(v, "value") {
			continue
		}
		alike := 0
		for k := range w.Values {
			if w.Values[k] == v.Values[k] {
				alike++
			}
		}
		if alike > most {
			best, most = w, alike
		}
	}
	return best
}
