// Package price finds an optimal coalition structure without the dynamic program's 3^n
// splittings: by one price for each agent, a few passes over the values, and a search
// among the few coalitions that an optimal structure may consist of.
//
// Let y be prices with y(S) >= v(S) for all coalitions S, y(S) being the sum of the
// prices of S's agents. Then no structure is worth more than the sum of all prices, the
// bound, and a structure is worth the bound less its blocks' losses y(S) - v(S) >= 0. So
// a structure worth more than L consists of coalitions whose losses add up to less than
// the bound - L. Any such prices do; those of a linear program, solved by column
// generation, leave the fewest coalitions.
//
// The package gets values by coalition number, agent i being bit i-1, and knows no
// files. The rooms of a solve: units.go, values as integers; pass.go, passes over all
// values; lists.go, lists on all cores; sample.go, what random coalitions tell; master.go,
// the linear program; cover.go, the search; solve.go brings them together.
package price

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"runtime"
	"time"

	"coalesce/runtime/device"
	"coalesce/solvers/solve"
)

// ErrCostly is wrapped by the errors of searches that exceeded the limits of Settings: another
// algorithm is likely to be quicker.
var ErrCostly = solve.GaveUp("prices leave too much work")

// ErrProof is wrapped by the errors of proofs that a check refuted.
var ErrProof = errors.New("the proof does not hold")

// A Result is an optimal structure, and what proves that no structure is worth more.
type Result struct {
	Blocks []uint64
	Proof
	Work
}

// A Proof is prices of agents 1..n such that y(S) >= v(S) for every coalition S. A
// number stands for so many times 2^-Unit.
//
// Of integers no structure is worth more than Bound - Gap, which is the value of the
// blocks. A float value stands for itself rounded down to such a number, so that no
// structure is worth n more (Ceiling).
type Proof struct {
	Unit      int     `json:"unit"`      // numbers stand for so many times 2^-unit
	Prices    []int64 `json:"prices"`    // prices of the agents; no coalition is worth more than those of its agents together
	Bound     int64   `json:"bound"`     // sum of all prices
	Gap       int64   `json:"gap"`       // bound less the value of the blocks
	Multiple  int64   `json:"multiple"`  // all values are multiples of so many units; 0 stands for 1
	Survivors int     `json:"survivors"` // coalitions whose prices exceed their values by at most gap - multiple; a better structure consists of them
}

// Ceiling is a value that no structure exceeds, however values were rounded.
func (p *Proof) Ceiling() float64 {
	bound := p.Bound - p.Gap + int64(len(p.Prices))
	return math.Nextafter(math.Ldexp(float64(bound), -p.Unit), math.Inf(1))
}

// Work counts the work of a solve.
type Work struct {
	Passes int   `json:"passes"` // passes over all values
	Pivots int   `json:"pivots"` // pivots of the linear program
	Steps  int64 `json:"steps"`  // coalitions that the searches looked at
	Times  Times `json:"times"`  // times of the solve's parts, once the values are there
	// Upload is the time until a device held the values.
	Upload time.Duration `json:"-"`
}

// Times are the seconds of a solve's parts, once the values are there.
type Times struct {
	Program float64 `json:"program" unit:"s"` // the linear program, and first prices
	Passes  float64 `json:"passes" unit:"s"`  // passes over all values, and sorting the coalitions that they find
	Search  float64 `json:"search" unit:"s"`  // the searches
}

// Settings of a solve. A search gives up after Steps coalitions, when it would keep more than
// Columns, or after Time, counted from the upload. It gives up sooner if the next pass and its
// search would exceed Time; 0: no limit.
type Settings struct {
	Steps   int64
	Columns int
	Time    time.Duration
	Cores   int           // that work at once; 0: all of this machine
	On      *DevicePasses // where passes are made; nil: on the cores
	Start   []uint64      // a structure that is known; nil: none
	// Improved, which may be nil, is called with each better structure and its value, and with each
	// better upper bound on the value of all structures; both numbers are rounded to float64.
	Improved func(blocks []uint64, value, bound float64)
}

func (o *Settings) cores() int {
	return cmp.Or(o.Cores, runtime.GOMAXPROCS(0))
}

// A source is the values of all coalitions of n agents, on this machine or on devices.
type source interface {
	// largestMagnitude is the largest magnitude of the finite values.
	largestMagnitude() (float64, error)
	// setUnit sets the unit of prices, losses and bounds from now on.
	setUnit(unit int)
	// valueAt is one value in units.
	valueAt(mask uint64) int64
	// findNonMultiple is the largest coalition whose value is no multiple of a number of units, 0 where
	// there is none.
	findNonMultiple(units int64) (uint64, error)
	// pass finds all coalitions of losses of at most limit; where these are many more than keep,
	// it lowers the limit.
	pass(ctx context.Context, prices []int64, limit int64, keep int) (passResult, error)
}

// fixUnit fixes the unit of a source, and returns the extent too.
func fixUnit[T device.Number](s source, n int) (unit int, most float64, err error) {
	if most, err = s.largestMagnitude(); err != nil {
		return 0, 0, err
	}
	if unit, err = unitFor[T](most, n); err != nil {
		return 0, 0, err
	}
	s.setUnit(unit)
	return unit, most, nil
}

func newSolver[T device.Number](from source, n int, o Settings) (*solver, error) {
	unit, most, err := fixUnit[T](from, n)
	if err != nil {
		return nil, err
	}
	_, exponent := math.Frexp(most)
	s := &solver{source: from, limits: o, n: n, grain: grainOf[T](), scale: math.Ldexp(1, -unit-exponent)}
	s.Unit, s.Multiple = unit, 1
	if isInteger[T]() {
		s.Multiple = 1 << unit
	}
	return s, nil
}

// Solve finds an optimal structure of the agents of 2^n values; entry 0 is not read.
// values may be nil where o.On has a law. Solve gives up, with an error that wraps ErrCostly, where
// it would exceed the settings' limits, or where it finds no structure without a forbidden
// coalition.
func Solve[T device.Number](ctx context.Context, values []T, o Settings) (_ *Result, err error) {
	n := bits.Len(uint(len(values))) - 1
	if values == nil {
		n = o.On.N
	}
	if n == 0 {
		return &Result{}, nil
	}
	o.Cores = o.cores()
	var from source = &onHost[T]{values: values, cores: o.Cores}
	start := time.Now()
	if o.On != nil {
		d, failed := newOnDevices(ctx, values, n, &o)
		if failed != nil {
			return nil, failed
		}
		defer func() { err = errors.Join(err, d.close()) }()
		from = d
	}
	upload := time.Since(start)
	s, err := newSolver[T](from, n, o)
	if err != nil {
		return nil, err
	}
	s.Upload = upload
	until := ctx
	if o.Time > 0 {
		var end context.CancelFunc
		until, end = context.WithTimeoutCause(ctx, o.Time, fmt.Errorf("no optimum is found within %v: %w", o.Time, ErrCostly))
		defer end()
	}
	found, err := s.solve(until)
	if cause := context.Cause(until); err != nil && errors.Is(cause, ErrCostly) {
		err = cause
	}
	if errors.Is(err, ErrCostly) && s.value == forbidden {
		err = fmt.Errorf("prices found no structure without a forbidden coalition, and do not prove that there is none, as other algorithms do: %w", err)
	}
	return found, err
}

// Verify checks a proof that blocks, a partition of the agents, are an optimal structure:
// by one pass over the values, and a search among the survivors. Errors wrap ErrProof, or
// ErrCostly beyond the settings' limits.
func Verify[T device.Number](ctx context.Context, values []T, blocks []uint64, p *Proof, o Settings) (steps int64, err error) {
	n := bits.Len(uint(len(values))) - 1
	refuted := func(format string, args ...any) error {
		return fmt.Errorf("%w: %w", ErrProof, fmt.Errorf(format, args...))
	}
	if len(p.Prices) != n {
		return 0, refuted("found %d prices, expected %d", len(p.Prices), n)
	}
	if n == 0 {
		return 0, nil
	}
	h := &onHost[T]{values: values, cores: o.cores()}
	if _, _, err := fixUnit[T](h, n); err != nil {
		return 0, err
	}
	if p.Unit != h.unit {
		return 0, refuted("found prices in units of 2^-%d, expected 2^-%d", p.Unit, h.unit)
	}
	for _, y := range p.Prices {
		if y%grainOf[T]() != 0 {
			return 0, refuted("found the price %d, expected a multiple of %d", y, grainOf[T]())
		}
	}
	bound, err := sumOfPrices(p.Prices)
	if err != nil {
		return 0, refuted("%w", err)
	}
	value := int64(0)
	for _, b := range blocks {
		value += h.valueAt(b)
	}
	if p.Bound != bound || p.Gap != bound-value {
		return 0, refuted("found the bound %d and the gap %d, expected %d and %d", p.Bound, p.Gap, bound, bound-value)
	}
	if p.Gap < 0 {
		return 0, refuted("the structure is worth more than the sum of all prices")
	}
	if p.Multiple < 0 {
		return 0, refuted("found multiples of %d", p.Multiple)
	}
	common := max(p.Multiple, 1)
	if mask, _ := h.findNonMultiple(common); mask != 0 {
		return 0, refuted("coalition %d is worth %d, expected a multiple of %d", mask, h.valueAt(mask), common)
	}
	budget := max(p.Gap-common+1, 0) // a better structure loses less
	f, err := h.pass(ctx, p.Prices, budget-1, o.Columns)
	if err != nil {
		return 0, err
	}
	for _, x := range f.items {
		if x.loss < 0 {
			return 0, refuted("coalition %d is worth %d, more than its agents' prices, %d", x.mask, h.valueAt(x.mask), h.valueAt(x.mask)+x.loss)
		}
	}
	if f.limit < budget-1 {
		return 0, fmt.Errorf("more than %d coalitions that a better structure could consist of: %w", o.Columns, ErrCostly)
	}
	if len(f.items) != p.Survivors {
		return 0, refuted("found %d coalitions that a better structure could consist of, the proof says %d", len(f.items), p.Survivors)
	}
	var lists buffers
	lists.sort(h.cores, f.items, 0)
	c := lists.newCover(f.items, n, budget, h.cores)
	ended := c.search(ctx, budget, o.Steps)
	steps = c.steps.Load()
	switch {
	case len(c.blocks) > 0:
		return steps, refuted("the structure of the blocks %d is better by %d", c.blocks, p.Gap-c.best.Load())
	case ctx.Err() != nil:
		return steps, ctx.Err()
	case !ended:
		return steps, fmt.Errorf("%d steps: %w", steps, ErrCostly)
	}
	return steps, nil
}
