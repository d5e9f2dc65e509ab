package draw

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"coalesce/solvers/csg/problem"
)

// MostFunction is the most agents of a Function: coalitions are 64-bit masks.
const MostFunction = 63

// A Function computes the values of a distribution one at a time, as float64, for more agents
// than any table holds.
type Function struct {
	N int
	*source
}

// NewFunction returns the function of a distribution. For numbers of agents that Generate takes,
// its values are those of Generate.
func NewFunction(name string, n int, seed uint64) (*Function, error) {
	most := MostFunction
	if strings.EqualFold(name, "planted") {
		most = 53 // its blocks are float64
	}
	if n < 0 || n > most {
		return nil, fmt.Errorf("generate %s: %d agents: expected 0 to %d", name, n, most)
	}
	s, err := sourceOf(name, n, seed)
	if err != nil {
		return nil, err
	}
	return &Function{n, s}, nil
}

// String names the distribution, the agents and the seed.
func (f *Function) String() string {
	return fmt.Sprintf("%s, %d agents, seed %d", f.name, f.N, f.seed)
}

// Value is the value of a coalition: it depends on the distribution, the seed and the coalition
// alone.
func (f *Function) Value(mask uint64) float64 { return f.value(new(randomNumbers), mask) }

// The largest results of one draw. A uniform draw is 2^-53 or more, so that an exponential one is
// at most 53 ln 2, and a normal one at most sqrt(2 · 53 ln 2) deviations.
var (
	mostExponential = 53 * math.Ln2
	mostNormal      = math.Sqrt(2 * mostExponential)
)

// Prices returns a price for each agent, such that the prices of a coalition's agents add up to at
// least the coalition's value. They follow from the range of the distribution, with a margin where
// values are rounded sums; nil where that range is not known or too wide to be of use.
func (f *Function) Prices() []float64 {
	const margin = 1 + 1e-12
	n := float64(f.N)
	each := func(y float64) []float64 {
		return slices.Repeat([]float64{y}, f.N)
	}
	own := func(factor, more float64) []float64 {
		prices := make([]float64, f.N)
		for i, p := range f.own {
			prices[i] = max(0, factor*p+more) * margin
		}
		return prices
	}
	switch f.name {
	case "uniform", "beta", "ties", "infeasible", "planted":
		return each(1)
	case "negative":
		return each(0)
	case "superadditive":
		return each(n)
	case "normal":
		return each((10 + 0.1*mostNormal) * margin)
	case "normal-unscaled":
		return each((10 + 0.01*mostNormal) * margin)
	case "uct-normal":
		return each((10 + 0.1*mostNormal) * margin)
	case "exponential":
		return each(mostExponential * margin)
	case "gamma":
		return each(4 * mostExponential * margin)
	case "weibull":
		return each(0.9 * mostExponential * margin)
	case "chi-square":
		return each(2 * mostExponential * margin)
	case "ndcs", "uct-ndcs":
		return each((1 + mostNormal) * margin)
	case "modified-uniform":
		return each(60 * margin)
	case "modified-normal":
		return each((35 + 0.2*mostNormal) * margin)
	case "agent-based-uniform":
		return own(2, 0)
	case "agent-based-normal":
		return own(1, 0.1*mostNormal)
	case "uct-agent-based":
		return own(1, 0)
	case "zipf":
		return each((n + 50) * margin)
	}
	return nil
}

// sourceOf is newSource for any number of agents.
func sourceOf(name string, n int, seed uint64) (*source, error) {
	for k, d := range distributions {
		if strings.EqualFold(d.name, name) {
			return &source{d, k, seed, ownNumbers(d.name, n, seed)}, nil
		}
	}
	return nil, fmt.Errorf("generate: distribution %q: expected one of %s", name, strings.Join(Distributions(), ", "))
}

func newSource(name string, n int, seed uint64) (*source, error) {
	if n < 0 || n > problem.MaxAgents {
		return nil, fmt.Errorf("generate %s: %d agents: expected 0 to %d", name, n, problem.MaxAgents)
	}
	return sourceOf(name, n, seed)
}
