package csg

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"coalesce/runtime/device"
	"coalesce/solvers/csg/internal/price"
	"coalesce/solvers/solve"
)

// ByPrices is the algorithm that evaluates no splittings: prices of a linear program
// leave few coalitions, among which it searches (package price).
const ByPrices Method = "price"

// Prices prove a structure optimal, and say what the proof has taken.
type Prices struct {
	price.Proof
	price.Work
}

// pricesFrom is the number of agents from which a host's searches by prices are
// quicker than its tiles, as a rule.
const pricesFrom = 20

// stepSplittings is how many splittings a host evaluates in the time of one step of a
// search by prices, and of that time the share that the search may take
// before the tiles get their turn.
const (
	stepSplittings = 200
	stepShare      = 0.2
)

// triesPrices reports whether a solve begins by prices: where they are asked for, and by
// default where they are likely to be quicker.
func triesPrices(facts device.Facts, devices, n int, asked Method, label string) (bool, error) {
	host := facts.Kind == device.Host
	if asked == ByPrices && (!host || devices != 1 || label != "") {
		return false, fmt.Errorf("algorithm %s: runs on a host, without a variant", ByPrices)
	}
	return asked == ByPrices || asked == "" && label == "" && host && n >= pricesFrom, nil
}

// priceLimits are what a search may take before the tiles are quicker.
func priceLimits(n int) price.Settings {
	return price.Settings{Steps: int64(stepShare / stepSplittings * splittings(Apart, n)), Columns: 1 << max(14, n-4)}
}

// noPriceLimits are those of a search that nothing comes after: what memory holds.
func noPriceLimits() price.Settings { return price.Settings{Steps: math.MaxInt64, Columns: 1 << 26} }

// byPrices solves an instance by prices, within limits. Errors wrap price.ErrCostly where
// these do not suffice.
func (r *Result) byPrices(ctx context.Context, inst *Instance, o Options, limits price.Settings) error {
	start := time.Now()
	if o.Progress != nil {
		limits.Told = func(value, bound float64) {
			o.Progress(solve.NewIncumbent(time.Since(start).Seconds(), solve.NumberOf(value), solve.NumberOf(bound), 0))
		}
	}
	var found *price.Result
	var err error
	var claimed string
	switch inst.Type {
	case Int32:
		found, claimed, err = pricesOf(ctx, inst.I32, limits)
	case Int64:
		found, claimed, err = pricesOf(ctx, inst.I64, limits)
	case Float32:
		found, claimed, err = pricesOf(ctx, inst.F32, limits)
	default:
		found, claimed, err = pricesOf(ctx, inst.F64, limits)
	}
	if err != nil {
		return err
	}
	r.Seconds.Solve = time.Since(start).Seconds()
	r.Algorithm, r.Variant = string(ByPrices), "price on all cores"
	r.Reason = fmt.Sprintf("%d passes over the values leave %d coalitions, %d looked at", found.Passes, found.Survivors, found.Steps)
	r.Structure, r.Prices = found.Blocks, &Prices{found.Proof, found.Work}
	start = time.Now()
	if err := r.Certify(inst, claimed); err != nil {
		return fmt.Errorf("prices: %w", err)
	}
	r.Seconds.Verify = time.Since(start).Seconds()
	return nil
}

// pricesOf solves values, and returns the structure's value in decimals too.
func pricesOf[T Number](ctx context.Context, values []T, limits price.Settings) (*price.Result, string, error) {
	found, err := price.Solve(ctx, values, limits)
	if err != nil {
		return nil, "", err
	}
	var total T
	for _, b := range found.Blocks {
		total += values[b]
	}
	return found, formatNumber(total), nil
}

// verifyPrices checks a result's proof, and notes what was found.
func verifyPrices(v *solve.Verdict, inst *Instance, r *Result) {
	limits := price.Settings{Steps: 1 << 36, Columns: 1 << 26}
	var steps int64
	var err error
	switch inst.Type {
	case Int32:
		steps, err = price.Verify(context.Background(), inst.I32, r.Structure, &r.Prices.Proof, limits)
	case Int64:
		steps, err = price.Verify(context.Background(), inst.I64, r.Structure, &r.Prices.Proof, limits)
	case Float32:
		steps, err = price.Verify(context.Background(), inst.F32, r.Structure, &r.Prices.Proof, limits)
	default:
		steps, err = price.Verify(context.Background(), inst.F64, r.Structure, &r.Prices.Proof, limits)
	}
	switch {
	case errors.Is(err, price.ErrProof):
		v.Refute("%w", err)
	case err != nil:
		v.Note("bound not checked: %v", err)
	default:
		v.BoundChecked = true
		v.Note("bound: no coalition is worth more than its agents' prices, and none of the structures of the %d coalitions within the gap is better (%d looked at)", r.Prices.Survivors, steps)
	}
}
