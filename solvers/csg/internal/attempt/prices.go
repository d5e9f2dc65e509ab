package attempt

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"time"

	gencsg "coalesce/generated/csg"
	"coalesce/runtime/device"
	"coalesce/solvers/csg/internal/price"
	"coalesce/solvers/csg/internal/variants"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// PriceAlgorithm is the algorithm ByPrices, within limits.
type PriceAlgorithm struct{ Limits price.Settings }

// Solve implements Algorithm. Where the limits do not suffice the error wraps price.ErrCostly.
func (a PriceAlgorithm) Solve(ctx context.Context, t *Task, out *Outcome) error {
	start := time.Now()
	inst, o, limits := t.Instance, t.Settings, a.Limits
	as := inst.Widen()
	if o.Variant == "" {
		var err error
		if as, err = variants.RecastDecimals(ctx, inst); err != nil {
			return err
		}
	}
	exact := inst.Places > 0 && as.Changed()
	out.Variant, out.Refuted = "price on all cores", "prices"
	if t.Facts.Kind != device.Host {
		choice, err := variants.Choose(&gencsg.Price, t.Facts, as.Instance, o, "")
		if err != nil && o.Algorithm == "" && o.Variant == "" {
			return fmt.Errorf("%w: %w", price.ErrCostly, err)
		} else if err != nil {
			return err
		}
		limits.On = &price.DevicePasses{Devices: o.Devices, Variant: choice.Variant}
		out.Variant = gencsg.Price.Name + " " + choice.Variant.Label
	}
	o.Logf("%s on %s", out.Variant, t.Facts)
	limits.Start = t.Incumbent.Blocks
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	slack := inst.DecimalError()
	limits.Improved = func(blocks []uint64, value, bound float64) {
		if exact {
			bound = as.Float(math.Nextafter(bound, math.Inf(1)))
		} else if slack > 0 {
			bound = math.Nextafter(bound+slack, math.Inf(1))
		}
		// A float64 may be less than an integer bound of 64 bits.
		t.Incumbent.Offer(blocks, solve.NumberOf(math.Nextafter(bound, math.Inf(1))))
		if o.Progress != nil {
			o.Progress(solve.NewIncumbent(time.Since(start).Seconds(), t.Incumbent.Value, solve.NumberOf(bound), 0))
		}
		if t.Met() {
			stop()
		}
	}
	if !inst.HoldsValues() {
		limits.On.Law, limits.On.N = as.Law, inst.N
	}
	var found *price.Result
	var err error
	switch as.Type {
	case problem.Int32:
		found, out.Claimed, err = solveByPrices(ctx, as.I32, limits)
	case problem.Int64:
		found, out.Claimed, err = solveByPrices(ctx, as.I64, limits)
	case problem.Float32:
		found, out.Claimed, err = solveByPrices(ctx, as.F32, limits)
	default:
		found, out.Claimed, err = solveByPrices(ctx, as.F64, limits)
	}
	if err != nil {
		return err
	}
	if exact {
		out.setClaim(as, out.Claimed)
	} else if inst.Type == problem.Int16 && as.Changed() {
		out.Claimed = as.Total(out.Claimed)
	} else if inst.Places > 0 && !inst.FloatsSuffice() && o.Algorithm == "" && o.Variant == "" && !provesDecimals(inst, found) {
		return fmt.Errorf("%w: prices of float64 leave a gap between decimals", price.ErrCostly)
	}
	out.Prepare = found.Upload.Seconds()
	out.Reason = fmt.Sprintf("passes over the values: %d, coalitions left: %d, looked at: %d", found.Passes, found.Survivors, found.Steps)
	out.Structure, out.Prices = found.Blocks, found
	return nil
}

// provesDecimals reports whether no decimal lies between the value of the blocks and the ceiling of the prices.
func provesDecimals(inst *problem.Instance, found *price.Result) bool {
	worth, _ := problem.Check(inst, found.Blocks, "-inf") // for the sum; the total is not claimed
	return solve.Number(worth.Sum) == inst.DecimalCeiling(new(big.Rat).SetFloat64(found.Ceiling()))
}

// solveByPrices solves values, and returns the structure's value in decimals too.
func solveByPrices[T problem.Number](ctx context.Context, values []T, limits price.Settings) (*price.Result, string, error) {
	found, err := price.Solve(ctx, values, limits)
	if err != nil {
		return nil, "", err
	}
	var total T
	for _, b := range found.Blocks {
		if values == nil {
			total += T(limits.On.Law.Value(b))
		} else {
			total += values[b]
		}
	}
	return found, problem.FormatNumber(total), nil
}
