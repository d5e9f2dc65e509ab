// Package draw makes instances of the distributions of the literature: each value is
// a function of the distribution, the seed and the coalition.
package draw

import (
	"fmt"
	"math"
	"math/bits"

	"coalesce/solvers/csg/problem"
)

// A distribution is a family of instances of the literature, in the order of the kernels
// of csg/draw. Each value is a function of the seed and the coalition alone, so that any
// machine can make any value without making those before it.
type distribution struct {
	name string
	at   func(d *randomNumbers, c coalition) float64
}

// A coalition is the input of a distribution's law: the coalition's number, its size as an
// integer and as a float, and the numbers that the distribution fixes once, for each agent or
// for each size.
type coalition struct {
	mask uint64
	size int
	s    float64
	own  []float64
}

// distributions, with s = |C|, U(a,b) uniform and N(mean, deviation) normal.
// The first ten are those of the ODP-IP release (Michalak et al., Artificial
// Intelligence 230, 2016; inputOutput/Input.java), the next seven those of the
// FACS release (Input.java), then variants that other papers use by the same
// names, then our own. Where the two releases differ from the papers, the
// release is followed.
var distributions = []distribution{
	// s U(0,1)
	{"uniform", func(d *randomNumbers, c coalition) float64 { return c.s * d.uniform() }},
	// max(0, s N(10, 0.1))
	{"normal", func(d *randomNumbers, c coalition) float64 { return max(0, c.s*d.normal(10, 0.1)) }},
	// s Exp(mean 1)
	{"exponential", func(d *randomNumbers, c coalition) float64 { return c.s * d.exponential() }},
	// s Beta(1/2, 1/2): the arcsine law
	{"beta", func(d *randomNumbers, c coalition) float64 {
		x := math.Sin(math.Pi / 2 * d.uniform())
		return c.s * float64(x*x)
	}},
	// s Gamma(shape 2, scale 2)
	{"gamma", func(d *randomNumbers, c coalition) float64 {
		e := d.exponential()
		return c.s * (2 * (e + d.exponential()))
	}},
	// U(0, 10 s), plus U(0, 50) with probability 0.21
	{"modified-uniform", func(d *randomNumbers, c coalition) float64 {
		x := 10 * c.s * d.uniform()
		if d.uniform() < 0.21 {
			x += float64(50 * d.uniform())
		}
		return x
	}},
	// max(0, s N(10, 0.1)), plus N(25, 0.1) with probability 0.21
	{"modified-normal", func(d *randomNumbers, c coalition) float64 {
		x := max(0, c.s*d.normal(10, 0.1))
		if d.uniform() < 0.21 {
			x += d.normal(25, 0.1)
		}
		return x
	}},
	// the sum over agents i of U(0, 2 p_i), p_i ~ U(0, 10) once
	{"agent-based-uniform", func(d *randomNumbers, c coalition) float64 {
		return c.sum(func(p float64) float64 { return 2 * p * d.uniform() })
	}},
	// the sum over agents i of max(0, N(p_i, 0.1)), p_i ~ max(0, N(10, 0.1))
	{"agent-based-normal", func(d *randomNumbers, c coalition) float64 {
		return c.sum(func(p float64) float64 { return max(0, d.normal(p, 0.1)) })
	}},
	// N(s, sqrt s), drawn again while not above 0
	{"ndcs", func(d *randomNumbers, c coalition) float64 {
		for {
			if x := d.normal(c.s, math.Sqrt(c.s)); x > 0 {
				return x
			}
		}
	}},

	// chi-square with s degrees of freedom
	{"chi-square", func(d *randomNumbers, c coalition) float64 { return d.chiSquare(c.size) }},
	// s Weibull(shape s, scale 0.9)
	{"weibull", func(d *randomNumbers, c coalition) float64 { return c.s * (0.9 * math.Pow(d.exponential(), 1/c.s)) }},
	// F(1, s+1)
	{"f", func(d *randomNumbers, c coalition) float64 {
		x := d.chiSquare(1)
		return x / (d.chiSquare(c.size+1) / (c.s + 1))
	}},
	// max(0, Cauchy(location 10 s, scale 0.1))
	{"cauchy", func(d *randomNumbers, c coalition) float64 {
		return max(0, float64(10*c.s)+float64(0.1*math.Tan(math.Pi*(d.uniform()-0.5))))
	}},
	// max(0, s t(s degrees of freedom))
	{"student-t", func(d *randomNumbers, c coalition) float64 {
		x := d.normal(0, 1)
		return max(0, c.s*(x/math.Sqrt(d.chiSquare(c.size)/c.s)))
	}},
	// s Zipf(1..s, exponent 0.1) + U(0, 50)
	{"zipf", func(d *randomNumbers, c coalition) float64 {
		x := c.s * float64(d.rank(c.own[:c.size]))
		return x + float64(50*d.uniform())
	}},
	// s NegBin(failures before s successes of probability 0.1) + U(0, 50)
	{"pascal", func(d *randomNumbers, c coalition) float64 {
		failures := 0.0
		for range c.size {
			failures += math.Floor(d.exponential() / -math.Log1p(-0.1))
		}
		return float64(c.s*failures) + float64(50*d.uniform())
	}},

	// max(0, N(10 s, 0.01)): "normal" as most papers print it; easier
	{"normal-unscaled", func(d *randomNumbers, c coalition) float64 { return max(0, d.normal(10*c.s, 0.01)) }},
	// N(10 s, 0.1): "normal" of the CSG-UCT family
	{"uct-normal", func(d *randomNumbers, c coalition) float64 { return d.normal(10*c.s, 0.1) }},
	// the sum over agents i of U(0, p_i), p_i ~ U(0, 1): "agent-based" there
	{"uct-agent-based", func(d *randomNumbers, c coalition) float64 {
		return c.sum(func(p float64) float64 { return p * d.uniform() })
	}},
	// N(s, sqrt s), kept when negative: "NDCS" there
	{"uct-ndcs", func(d *randomNumbers, c coalition) float64 { return d.normal(c.s, math.Sqrt(c.s)) }},

	// s: every structure is optimal
	{"ties", func(_ *randomNumbers, c coalition) float64 { return c.s }},
	// s^2: the grand coalition is optimal, and every LP dual degenerate
	{"superadditive", func(_ *randomNumbers, c coalition) float64 { return c.s * c.s }},
	// s Pareto(scale 1, shape 1.5): a heavy tail
	{"pareto", func(d *randomNumbers, c coalition) float64 { return c.s * math.Pow(d.uniform(), -1/1.5) }},
	// -s U(0,1): every structure loses
	{"negative", func(d *randomNumbers, c coalition) float64 { return -c.s * d.uniform() }},
	// s U(0,1), but minus infinity for half of the coalitions of two and more
	{"infeasible", func(d *randomNumbers, c coalition) float64 {
		if x := c.s * d.uniform(); c.size < 2 || d.uniform() < 0.5 {
			return x
		}
		return math.Inf(-1)
	}},
	// s U(0,1), but s for the blocks of one structure, which is optimal then: worth n
	{"planted", func(d *randomNumbers, c coalition) float64 {
		if c.own[bits.TrailingZeros64(c.mask)] == float64(c.mask) {
			return c.s
		}
		return c.s * d.uniform()
	}},
}

// ownNumbers are what a distribution fixes once: the agents' p_i, each from
// the agent's own stream, or for each k the sum of the weights of 1..k, or for each
// agent its block of a structure.
func ownNumbers(name string, n int, seed uint64) []float64 {
	own := make([]float64, n)
	total := 0.0
	blocks, in := make([]float64, n), make([]int, n)
	for i := range own {
		d := &randomNumbers{seed: seed, number: uint64(i), stream: agentStream}
		switch name {
		case "agent-based-uniform":
			own[i] = 10 * d.uniform()
		case "agent-based-normal":
			own[i] = max(0, d.normal(10, 0.1))
		case "uct-agent-based":
			own[i] = d.uniform()
		case "zipf":
			total += math.Pow(float64(i+1), -0.1)
			own[i] = total
		case "planted": // about four agents a block
			in[i] = int(float64((n+3)/4) * d.uniform())
			blocks[in[i]] += math.Ldexp(1, i)
		}
	}
	if name == "planted" {
		for i, k := range in {
			own[i] = blocks[k]
		}
	}
	return own
}

// sum adds what each agent of the coalition contributes, in their order.
func (c coalition) sum(each func(p float64) float64) float64 {
	x := 0.0
	for m := c.mask; m != 0; m &= m - 1 {
		x += each(c.own[bits.TrailingZeros64(m)])
	}
	return x
}

// Distributions are the names that Generate knows.
func Distributions() []string {
	names := make([]string, len(distributions))
	for i, d := range distributions {
		names[i] = d.name
	}
	return names
}

// A source makes the values of one distribution and seed.
type source struct {
	distribution
	law  int // its number
	seed uint64
	own  []float64
}

// value is the value of a coalition. It is drawn with d, which starts the coalition's stream anew.
func (s *source) value(d *randomNumbers, mask uint64) float64 {
	if mask == 0 {
		return 0
	}
	size := bits.OnesCount64(mask)
	*d = randomNumbers{seed: s.seed, number: mask, stream: coalitionStream}
	return s.at(d, coalition{mask, size, float64(size), s.own})
}

// Generate makes an instance of n agents with float64 values: for the same
// name, n and seed always the same.
func Generate(name string, n int, seed uint64) (*problem.Instance, error) {
	return GenerateAs(name, n, seed, problem.Float64)
}

// Scales of generated integers: an integer is the value times the scale,
// rounded to the nearest even, and clamped so that the sum of 40 of them fits the type: to
// 2^15/40, 2^31/40 or 2^63/40 on either side of 0. Minus infinity becomes the type's least number.
const (
	ScaleInt16   = 10
	ScaleInt32   = 1e4
	ScaleInt64   = 1e8
	valueLimit16 = math.MaxInt16 / problem.MaxAgents
	valueLimit32 = math.MaxInt32 / problem.MaxAgents
	valueLimit64 = (math.MaxInt64 / problem.MaxAgents) &^ (1<<10 - 1) // a float64 too
)

// GenerateAs makes an instance of another value type: float32 rounds the
// float64 values, integers scale them (ScaleInt16, ScaleInt32, ScaleInt64). It makes
// values on all cores.
func GenerateAs(name string, n int, seed uint64, as problem.Value) (*problem.Instance, error) {
	inst, err := NewDrawn(name, n, seed, as)
	if err != nil {
		return nil, err
	}
	if n > 36 {
		return nil, fmt.Errorf("generate %s: 2^%d values of type %s do not fit in memory: expected at most 36 agents", name, n, as)
	}
	inst.Law.SetValues(inst)
	inst.Law = nil // the caller may change values
	return inst, inst.Promote()
}

func scaledInteger(x, scale, largest float64) float64 {
	return max(-largest, min(largest, math.RoundToEven(x*scale)))
}
