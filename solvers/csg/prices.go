package csg

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"time"

	gencsg "coalesce/generated/csg"
	"coalesce/runtime/device"
	"coalesce/solvers/csg/internal/price"
	"coalesce/solvers/csg/internal/reference"
	"coalesce/solvers/csg/internal/ways"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// ByPrices is the algorithm that evaluates no splittings: prices of a linear program
// leave few coalitions, among which it searches (package price).
const ByPrices Method = "price"

// Prices prove a structure optimal, and count the work of the proof.
type Prices struct {
	price.Proof
	price.Work
}

// A search by prices may take a share of the tiles' time before they get their turn. The tiles
// of a host evaluate hostRate splittings a second on a core, and those of a GPU gpuRate. A core
// looks at hostSteps coalitions a second (4.8e8 to 8.4e8 in the long searches of cauchy and
// pascal, int32, 24 agents, on two cores of an AMD EPYC), of many beside a GPU at gpuSteps.
const (
	hostRate, hostSteps = 2.7e10, 4e8
	gpuRate, gpuSteps   = 1e13, 1.4e8
	leastTime           = 250 * time.Millisecond // that prices may take beside a GPU, however few the agents
)

var tileRates = map[Value]float64{Int16: 2.5e13, Int32: 1.5e13, Float32: 1.2e13, Int64: 3e12, Float64: 4.5e12}

// triesPrices reports whether a solve begins with prices, and returns their limits. Where the user
// asks for prices or for a variant of theirs, only memory limits them. Where the chosen algorithm
// includes prices, they may take its share of the tiles' time.
func triesPrices(facts device.Facts, n int, value Value, o *Options, way ways.Way) (bool, price.Settings, error) {
	limits := price.Settings{Steps: math.MaxInt64, Columns: 1 << 26}
	steps := gpuSteps / gpuRate * float64(runtime.GOMAXPROCS(0)) // coalitions that the cores look at while the device evaluates a splitting
	if facts.Kind == device.Host {
		steps = hostSteps / hostRate
		limits.Cores = facts.SMs
	}
	if o.Algorithm == string(ByPrices) || gencsg.Price.Variant(o.Variant) != nil {
		if all := o.Together(); all > 1 {
			return false, limits, fmt.Errorf("%d ranks: algorithm %s runs on the devices of one", all, ByPrices)
		}
		if len(o.Devices) > 1 && facts.Kind == device.Host {
			return false, limits, fmt.Errorf("%d hosts: algorithm %s runs on one", len(o.Devices), ByPrices)
		}
		if facts.Kind == device.Host && o.Variant != "" {
			return false, limits, o.Variantless(string(ByPrices) + " on a host")
		}
		return true, limits, nil
	}
	if way.Name() != string(ByPrices) {
		return false, limits, nil
	}
	limits.Steps = int64(way.Share() * reference.SplittingCount(Apart, n) * steps / float64(len(o.Devices)))
	// Keeping and sorting a coalition takes as long as some hundred steps. A host's tiles
	// leave time for 2^23 of them at 24 agents: there the heavy tails of cauchy, pascal and
	// pareto need up to 2.4 million.
	exponent, short := 17, 4
	if facts.Kind == device.Host {
		exponent, short = 23, 1
	}
	limits.Columns = max(1<<min(max(14, n-short), exponent), int(min(limits.Steps/256, 1<<24)))
	// Steps cost more than that beside some GPUs, and with some values: prices also end when the tiles would
	// have. Passes keep at most as many coalitions as the cores sort until then.
	if facts.Kind == device.CUDA {
		tiles := time.Duration(reference.SplittingCount(Apart, n) / tileRates[value] / float64(len(o.Devices)) * float64(time.Second))
		limits.Time = max(leastTime, tiles)
		limits.Columns = max(limits.Columns, min(int(tiles/price.ColumnTime)*runtime.GOMAXPROCS(0), 1<<24))
	}
	return true, limits, nil
}

// runs returns an error where a device does not run an algorithm. A host does not run its dynamic
// programs by levels, because its tiles give the same answer in less time.
func runs(v *device.Variant, facts device.Facts, n int) error {
	switch m := Method(ways.Table.Value(v, "algorithm")); {
	case m != DP && m != IDP:
		return nil
	case facts.Kind == device.Host:
		return fmt.Errorf("%s is slower than tiles on a host", m)
	}
	var refused error
	for k := range gencsg.Splits.Variants {
		if refused = feasible(&gencsg.Splits, &gencsg.Splits.Variants[k], facts, n, 1); refused == nil {
			break
		}
	}
	return refused
}

// byPrices solves an instance by prices, within limits. Where the limits do not suffice the error
// wraps price.ErrCostly.
func (r *Result) byPrices(ctx context.Context, inst *Instance, o Options, limits price.Settings, best *problem.Incumbent) error {
	start := time.Now()
	as := inst.Widened()
	facts := o.Weakest()
	r.Algorithm, r.Variant = string(ByPrices), "price on all cores"
	if facts.Kind != device.Host {
		choice, err := choose(&gencsg.Price, facts, as.Instance, o, "")
		if err != nil && o.Algorithm == "" && o.Variant == "" {
			return fmt.Errorf("%w: %w", price.ErrCostly, err)
		} else if err != nil {
			return err
		}
		limits.On = &price.On{Devices: o.Devices, Variant: choice.Variant}
		r.Variant = gencsg.Price.Name + " " + choice.Variant.Label
	}
	o.Say("%s on %s", r.Variant, facts)
	limits.Told = func(blocks []uint64, value, bound float64) {
		// A float64 may be less than an integer bound of 64 bits.
		best.Offer(blocks, solve.NumberOf(math.Nextafter(bound, math.Inf(1))))
		if o.Progress != nil {
			o.Progress(solve.NewIncumbent(time.Since(start).Seconds(), best.Value, solve.NumberOf(bound), 0))
		}
	}
	var found *price.Result
	var err error
	var claimed string
	if !inst.Held() {
		limits.On.Law, limits.On.N = as.Law, inst.N
	}
	switch as.Type {
	case Int32:
		found, claimed, err = pricesOf(ctx, as.I32, limits)
	case Int64:
		found, claimed, err = pricesOf(ctx, as.I64, limits)
	case Float32:
		found, claimed, err = pricesOf(ctx, as.F32, limits)
	default:
		found, claimed, err = pricesOf(ctx, as.F64, limits)
	}
	if err != nil {
		return err
	}
	r.Seconds.Prepare = found.Upload.Seconds()
	r.Seconds.Solve = (time.Since(start) - found.Upload).Seconds()
	r.Reason = fmt.Sprintf("passes over the values: %d, coalitions left: %d, looked at: %d", found.Passes, found.Survivors, found.Steps)
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
		if values == nil {
			total += T(limits.On.Law.Value(b))
		} else {
			total += values[b]
		}
	}
	return found, problem.FormatNumber(total), nil
}

// verifyPrices checks a result's proof, and notes what was found.
func verifyPrices(v *solve.Verdict, inst *Instance, r *Result) {
	limits := price.Settings{Steps: 1 << 36, Columns: 1 << 25}
	var steps int64
	var err error
	inst = inst.Widened().Instance
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
		v.Note("bound: no coalition is worth more than its agents' prices; coalitions from which a better structure could be made: %d, and none is (looked at: %d)", r.Prices.Survivors, steps)
	}
}
