package plan

import (
	"fmt"
	"math"
	"runtime"
	"time"

	gencsg "coalesce/generated/csg"
	"coalesce/runtime/device"
	"coalesce/solvers/csg/internal/price"
	"coalesce/solvers/csg/internal/reference"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// A search by prices may take a share of the tiles' time before they get their turn. The tiles
// of a host evaluate hostRate splittings a second on a core, and those of a GPU gpuRate. A core
// looks at hostSteps coalitions a second (4.8e8 to 8.4e8 in the long searches of cauchy and
// pascal, int32, 24 agents, on two cores of an AMD EPYC), of many beside a GPU at gpuSteps.
const (
	hostRate, hostSteps = 2.7e10, 4e8
	gpuRate, gpuSteps   = 1e13, 1.4e8
	leastTime           = 250 * time.Millisecond // that prices may take beside a GPU, however few the agents
)

var tileRates = map[problem.Value]float64{problem.Int16: 2.5e13, problem.Int32: 1.5e13, problem.Float32: 1.2e13, problem.Int64: 3e12, problem.Float64: 4.5e12}

// limitsOfPrices returns the limits of the prices that a solve begins with, nil where it begins otherwise. Where the user
// asks for prices or for a variant of theirs, only memory limits them. Where the chosen algorithm
// includes prices, they may take its share of the tiles' time.
func limitsOfPrices(facts device.Facts, n int, value problem.Value, o *solve.Settings, first Choice) (*price.Settings, error) {
	limits := &price.Settings{Steps: math.MaxInt64, Columns: 1 << 26}
	steps := gpuSteps / gpuRate * float64(runtime.GOMAXPROCS(0)) // coalitions that the cores look at while the device evaluates a splitting
	if facts.Kind == device.Host {
		steps = hostSteps / hostRate
		limits.Cores = facts.SMs
	}
	if o.Algorithm == string(ByPrices) || gencsg.Price.Variant(o.Variant) != nil {
		if all := o.RankCount(); all > 1 {
			return nil, fmt.Errorf("%d ranks: algorithm %s runs on the devices of one", all, ByPrices)
		}
		if len(o.Devices) > 1 && facts.Kind == device.Host {
			return nil, fmt.Errorf("%d hosts: algorithm %s runs on one", len(o.Devices), ByPrices)
		}
		if facts.Kind == device.Host && o.Variant != "" {
			return nil, o.RefuseVariant(string(ByPrices) + " on a host")
		}
		return limits, nil
	}
	if first.Method() != ByPrices {
		return nil, nil
	}
	limits.Steps = int64(first.Share() * reference.SplittingCount(reference.Apart, n) * steps / float64(len(o.Devices)))
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
		tiles := time.Duration(reference.SplittingCount(reference.Apart, n) / tileRates[value] / float64(len(o.Devices)) * float64(time.Second))
		limits.Time = max(leastTime, tiles)
		limits.Columns = max(limits.Columns, min(int(tiles/price.ColumnTime)*runtime.GOMAXPROCS(0), 1<<24))
	}
	return limits, nil
}
