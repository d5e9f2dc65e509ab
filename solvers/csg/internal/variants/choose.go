package variants

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"coalesce/autotune/tuned"
	gencsg "coalesce/generated/csg"
	"coalesce/runtime/device"
	"coalesce/runtime/host"
	"coalesce/solvers/csg/internal/cancel"
	"coalesce/solvers/csg/internal/reference"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// ChooseNarrowest is choose for the narrowest integers that hold an instance's sums, or for its values as
// they are where the device or the tuning data has no variant of those.
func ChooseNarrowest(ctx context.Context, f *device.Family, facts device.Facts, inst *problem.Instance, o *solve.Settings, method reference.Method, kept bool) (*problem.Recast, tuned.Choice, error) {
	as, err := Recast(ctx, inst, solvedTypes(f, facts, inst, o, kept)...)
	if err != nil {
		return nil, tuned.Choice{}, err
	}
	c, err := Choose(f, facts, as.Instance, o, method)
	if err != nil && as.Changed() && inst.Type != problem.Int16 {
		as = inst.ConvertTo(inst.Type)
		c, err = Choose(f, facts, inst, o, method)
	}
	return as, c, err
}

// Recast is inst.As, or at the end of ctx that one's error: passes over 2^28 values take seconds.
func Recast(ctx context.Context, inst *problem.Instance, types ...problem.Value) (*problem.Recast, error) {
	if inst.N <= cancel.FewAgents {
		return inst.ConvertTo(types...), nil
	}
	return cancel.AtOnce(ctx, func() (*problem.Recast, error) { return inst.ConvertTo(types...), nil }, nil)
}

// RecastDecimals is an instance as int64 where these hold decimals whose sums float64 does not tell apart and none is forbidden, else widened. Prices
// need no narrower integers.
func RecastDecimals(ctx context.Context, inst *problem.Instance) (*problem.Recast, error) {
	if inst.Places == 0 || inst.FloatsSuffice() || !hasRoomForCopy(inst.N) {
		return inst.Widen(), nil
	}
	as, err := Recast(ctx, inst, problem.Int64)
	if err != nil || as.Changed() && !as.Forbids {
		return as, err
	}
	return inst.Widen(), nil
}

// solvedTypes are the types in which a family's kernels may solve an instance; the first that holds
// every sum is taken: the type of the variant that is asked for or pinned, else the narrowest first.
// Two sums of int16 take one instruction from compute capability 9.0 on. Tiles of GPUs alone have
// int16; a checkpoint goes on on any device unless the instance is of int16.
func solvedTypes(f *device.Family, facts device.Facts, inst *problem.Instance, o *solve.Settings, kept bool) []problem.Value {
	if v := f.Variant(cmp.Or(o.Variant, o.Tuning.PinnedLabel(f))); v != nil {
		return []problem.Value{problem.Value(f.Value(v, "value"))}
	}
	if inst.Type != problem.Int16 && !hasRoomForCopy(inst.N) {
		return []problem.Value{inst.Type}
	}
	quick := !kept && (facts.Kind != device.CUDA || facts.Major >= 9)
	if f == &gencsg.Tiles && (quick || inst.Type == problem.Int16) {
		return []problem.Value{problem.Int16, problem.Int32, problem.Int64}
	}
	return []problem.Value{problem.Int32, problem.Int64}
}

// hasRoomForCopy reports whether this machine has memory for other values of an instance, and a table.
func hasRoomForCopy(n int) bool {
	if n < 24 {
		return true
	}
	return CheckHostMemory(n, 2*problem.Footprint(n, problem.Int64)) == nil
}

// CheckHostMemory returns an error if this machine has less than some bytes of free memory for n agents.
func CheckHostMemory(n int, need int64) error {
	d := host.Open(1)
	defer d.Close()
	if facts := d.Facts(); facts.Free > 0 && need > facts.Free {
		return fmt.Errorf("%d agents take %s: %w", n, facts.MemoryShortage(float64(need)), device.ErrMemory)
	}
	return nil
}

// QuickerMethod returns the method of csg/splits that is expected to take less time. reference.IDP evaluates fewer
// splittings, reference.DP the same number in each thread. The times are those measured on a device of this
// class with int32 values, for which both methods have results; without any, quicker returns DP.
func QuickerMethod(facts device.Facts, n int, o *solve.Settings) reference.Method {
	inst := &problem.Instance{N: n, Type: problem.Int32}
	best, least := reference.DP, time.Duration(0)
	for _, m := range Methods(&gencsg.Splits) {
		choice, err := Choose(&gencsg.Splits, facts, inst, o, m)
		if err != nil {
			continue
		}
		w := tuned.Workload{Fixed: FixedParams(&gencsg.Splits, inst.Type, m), Size: n}
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

// Choose picks the variant for an instance and a method. One that was asked for
// by its label brings its own method.
func Choose(f *device.Family, facts device.Facts, inst *problem.Instance, o *solve.Settings, method reference.Method) (tuned.Choice, error) {
	w := tuned.Workload{Fixed: FixedParams(f, inst.Type, method), Size: inst.N}
	if f == &gencsg.Tiles && inst.Type == problem.Int16 && inst.N >= pairedFrom {
		w.Prior = tuned.Prior{Variant: f.Variant("chunk=5,slot=5,each=2,block=128,stages=3,pairs=1,adder=fused,least=1,value=int16"), Why: "large tiles of int16 keep most additions in registers"}
	}
	if o.Variant != "" {
		w.Fixed = map[string]string{"value": string(inst.Type)}
	}
	return o.Choose(f, facts, w, func(v *device.Variant) error { return CheckFeasible(f, v, facts, inst.N, len(o.Devices)*o.RankCount()) })
}
