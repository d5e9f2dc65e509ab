package csg

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"coalesce/autotune/tuned"
	"coalesce/generated/csg"
	"coalesce/runtime/device"
	"coalesce/runtime/host"
	"coalesce/solvers/csg/internal/ending"
	"coalesce/solvers/csg/internal/price"
	"coalesce/solvers/csg/internal/reference"
	"coalesce/solvers/csg/internal/tables"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// splitsAgents is the most agents of csg/splits: coalitions are 32-bit masks there.
const splitsAgents = 32

// families are the kernel families for a kind of device, the solver's choice first.
func families(kind string) []*device.Family {
	if kind == device.Host {
		return []*device.Family{&csg.Hosttiles}
	}
	return []*device.Family{&csg.Tiles, &csg.Splits}
}

// methods are the methods that a family's kernels have, the default first.
func methods(f *device.Family) []Method {
	if f == &csg.Splits {
		return []Method{DP, IDP}
	}
	return []Method{Apart}
}

// familyFor returns the family and the method that solve on a kind of device. A label decides
// first, then a method, and otherwise the solver chooses. A nil family stands for a host's dynamic
// program by levels, which has the methods DP and IDP.
func familyFor(kind string, asked Method, label string) (*device.Family, Method, error) {
	all := families(kind)
	for _, f := range all {
		if v := f.Variant(label); v != nil {
			m := method(f.Value(v, "method"))
			if asked != "" && asked != m {
				return nil, "", &solve.VariantError{Variant: label, Algorithm: string(asked)}
			}
			return f, m, nil
		}
	}
	if asked == "" {
		return all[0], methods(all[0])[0], nil
	}
	for _, f := range all {
		if slices.Contains(methods(f), asked) {
			return f, asked, nil
		}
	}
	if kind == device.Host && (asked == DP || asked == IDP) && label == "" {
		return nil, asked, nil
	}
	if err := reference.Check(asked); err != nil {
		return nil, "", solve.Input("Algorithm", "%w", err)
	}
	return nil, "", solve.Input("Algorithm", "found %s, which does not run on a %s device, where %s", asked, kind, names(all))
}

// names lists families with their methods.
func names(all []*device.Family) string {
	var list []string
	for _, f := range all {
		list = append(list, fmt.Sprintf("%s has %v", f.Name, methods(f)))
	}
	return strings.Join(list, ", ")
}

// method returns the method that a parameter names. Families without that parameter use Apart.
func method(name string) Method { return cmp.Or(Method(name), Apart) }

// fixed returns the parameters that a workload prescribes: variants with other values cannot solve
// it.
func fixed(f *device.Family, value Value, method Method) map[string]string {
	if f != &csg.Splits {
		return map[string]string{"value": string(value)}
	}
	return map[string]string{"value": string(value), "method": string(method), "profile": "off"}
}

// chooseAs is choose for the narrowest integers that hold an instance's sums, or for its values as
// they are where the device or the tuning data has no variant of those.
func chooseAs(ctx context.Context, f *device.Family, facts device.Facts, inst *Instance, o Options, method Method, keep *Checkpoint) (*problem.Recast, tuned.Choice, error) {
	as, err := recast(ctx, inst, types(f, facts, inst, o, keep)...)
	if err != nil {
		return nil, tuned.Choice{}, err
	}
	c, err := choose(f, facts, as.Instance, o, method)
	if err != nil && as.Changed() && inst.Type != Int16 {
		as = inst.As(inst.Type)
		c, err = choose(f, facts, inst, o, method)
	}
	return as, c, err
}

// recast is inst.As, or at the end of ctx that one's error: passes over 2^28 values take seconds.
func recast(ctx context.Context, inst *Instance, types ...Value) (*problem.Recast, error) {
	return ending.At(ctx, func() (*problem.Recast, error) { return inst.As(types...), nil }, nil)
}

// types are those that a family's kernels may solve an instance in, of which the first that holds
// every sum is taken: the type of the variant that is asked for or pinned, else the narrowest first.
// Two sums of int16 take one instruction from compute capability 9.0 on. Tiles of GPUs alone have
// int16; a checkpoint goes on on any device unless the instance is of int16.
func types(f *device.Family, facts device.Facts, inst *Instance, o Options, keep *Checkpoint) []Value {
	if v := f.Variant(cmp.Or(o.Variant, o.Tuning.Pinned(f))); v != nil {
		return []Value{Value(f.Value(v, "value"))}
	}
	if inst.Type != Int16 && !copies(inst.N) {
		return []Value{inst.Type}
	}
	quick := keep == nil && (facts.Kind != device.CUDA || facts.Major >= 9)
	if f == &csg.Tiles && (quick || inst.Type == Int16) {
		return []Value{Int16, Int32, Int64}
	}
	return []Value{Int32, Int64}
}

// copies reports whether this machine has memory for other values of an instance, and a table.
func copies(n int) bool {
	if n < 24 {
		return true
	}
	d := host.Open(1)
	defer d.Close()
	free := d.Facts().Free
	return free == 0 || 2*Footprint(n, Int64) <= free
}

// memory is the least memory in bytes that a variant takes on each of so many devices for n agents.
func memory(f *device.Family, v *device.Variant, n, devices int) int64 {
	size := int64(Value(f.Value(v, "value")).Size())
	switch f {
	case &csg.Tiles:
		return tilesMemory(size, n)
	case &csg.Price:
		return price.Memory(v, n, devices)
	}
	b := size << n
	if f.Value(v, "table") == "keep" {
		b += 8 << n
	}
	return b
}

// feasible returns an error where a variant cannot solve n agents on some devices, the
// weakest of which has these facts.
func feasible(f *device.Family, v *device.Variant, facts device.Facts, n, devices int) error {
	if f == &csg.Splits && n > splitsAgents {
		return fmt.Errorf("%s: %d agents, at most %d", f.Name, n, splitsAgents)
	}
	if f == &csg.Price && n < price.TileBits(v) {
		return fmt.Errorf("%s: %d agents, at least %d", f.Name, n, price.TileBits(v))
	}
	need := memory(f, v, n, devices)
	if f == &csg.Tiles && devices > 1 {
		need = cutFor(v, n, devices, facts.Free).Bytes(int64(Value(f.Value(v, "value")).Size()), devices)
	}
	if facts.Free > 0 && need > facts.Free {
		return fmt.Errorf("%d agents take %s: %w", n, facts.Lacks(float64(need)), device.ErrMemory)
	}
	if f.Target == device.Host {
		return nil
	}
	shared := int64(0)
	if f == &csg.Tiles {
		shared = int64(tilesShared(f, v))
	}
	return facts.BlockFits(f.Int(v, "block"), shared)
}

// cutFor is how several devices hold the table of csg/tiles for n agents, the least free memory of
// which is given: where none fits, the cut of the least memory.
func cutFor(v *device.Variant, n, devices int, free int64) tables.Slabs {
	size := Value(csg.Tiles.Value(v, "value")).Size()
	return tables.Cut(max(0, n-1), tileBits(&csg.Tiles, v), int64(size), devices, free)
}

// Takes says why no kernel solves n agents with values of a type on some devices, the weakest
// of which has these facts, before anything is read or drawn; nil where one may. A host holds
// the instance in the same memory that the kernels work in.
func Takes(facts device.Facts, n int, value Value, devices int) error {
	if facts.Kind == device.Host {
		need := 2 * Footprint(n, value)
		if value == Int16 { // solved in int32
			need = Footprint(n, Int16) + 2*Footprint(n, Int32)
		}
		if facts.Free > 0 && n <= MaxAgents && need > facts.Free {
			return fmt.Errorf("the %s values and the table of %d agents take %s: %w", value, n, facts.Lacks(float64(need)), device.ErrMemory)
		}
		return nil
	}
	var refused error
	for _, f := range append(families(facts.Kind), &csg.Price) {
		for k := range f.Variants {
			v := &f.Variants[k]
			if f.Value(v, "value") != string(value) {
				continue
			}
			err := feasible(f, v, facts, n, devices)
			if err == nil {
				return nil
			}
			refused = cmp.Or(refused, err)
		}
	}
	return refused
}

// quicker returns the method of csg/splits that is expected to take less time. IDP evaluates fewer
// splittings, DP the same number in each thread. The times are those measured on a device of this
// class with int32 values, for which both methods have results; without any, quicker returns DP.
func quicker(facts device.Facts, n int, o Options) Method {
	inst := &Instance{N: n, Type: Int32}
	best, least := DP, time.Duration(0)
	for _, m := range methods(&csg.Splits) {
		choice, err := choose(&csg.Splits, facts, inst, o, m)
		if err != nil {
			continue
		}
		w := tuned.Workload{Fixed: fixed(&csg.Splits, inst.Type, m), Size: n}
		for _, c := range choice.Candidates(w, nil) {
			if c.Variant == choice.Variant && c.Time > 0 && (least == 0 || c.Time < least) {
				best, least = m, c.Time
			}
		}
	}
	return best
}

// pairedFrom is the number of agents from which tiles of int16 are quickest with 2^10 entries
// and two slots a thread: at 22 agents the safe variant is, at 26 this one (docs/results/csg.md).
const pairedFrom = 24

// choose picks the variant for an instance and a method. One that was asked for
// by its label brings its own method.
func choose(f *device.Family, facts device.Facts, inst *Instance, o Options, method Method) (tuned.Choice, error) {
	w := tuned.Workload{Fixed: fixed(f, inst.Type, method), Size: inst.N}
	if f == &csg.Tiles && inst.Type == Int16 && inst.N >= pairedFrom {
		w.Prior = tuned.Prior{Variant: f.Variant("chunk=5,slot=5,each=2,block=128,stages=3,pairs=1,adder=fused,least=1,value=int16"), Why: "large tiles of int16 keep most additions in registers"}
	}
	if o.Variant != "" {
		w.Fixed = map[string]string{"value": string(inst.Type)}
	}
	return o.Choose(f, facts, w, func(v *device.Variant) error { return feasible(f, v, facts, inst.N, len(o.Devices)*o.Together()) })
}
