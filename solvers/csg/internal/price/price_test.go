package price_test

import (
	"context"
	"errors"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"coalesce/runtime/device"
	"coalesce/solvers/csg/internal/draw"
	"coalesce/solvers/csg/internal/price"
	"coalesce/solvers/csg/internal/reference"
	"coalesce/solvers/csg/problem"
)

var plenty = price.Settings{Steps: 1 << 40, Columns: 1 << 24}

// sumPrices is the value of blocks, added in float64: exact for integers below 2^53.
func sumPrices[T device.Number](values []T, blocks []uint64) float64 {
	total := 0.0
	for _, b := range blocks {
		total += float64(values[b])
	}
	return total
}

// holds solves values, and holds the answer and its proof against the dynamic program.
func holds[T device.Number](t *testing.T, name string, values []T) *price.Result {
	t.Helper()
	ctx := context.Background()
	n := 0
	for 1<<n < len(values) {
		n++
	}
	f, _ := reference.Table(values, reference.Apart)
	want := float64(f[len(f)-1])
	r, err := price.Solve(ctx, values, plenty)
	if math.IsInf(want, -1) {
		if !errors.Is(err, price.ErrCostly) {
			t.Errorf("%s, %T, %d agents: found the error %v, expected one of no structure", name, values, n, err)
		}
		return nil
	}
	if err != nil {
		t.Errorf("%s, %T, %d agents: %v", name, values, n, err)
		return nil
	}
	seen := uint64(0)
	for _, b := range r.Blocks {
		if b == 0 || b&seen != 0 {
			t.Errorf("%s, %T, %d agents: blocks %b overlap", name, values, n, r.Blocks)
		}
		seen |= b
	}
	if seen != 1<<n-1 {
		t.Errorf("%s, %T, %d agents: blocks %b do not cover the agents", name, values, n, r.Blocks)
	}
	got, tolerance, most := sumPrices(values, r.Blocks), 0.0, 0.0
	for _, v := range values {
		if x := math.Abs(float64(v)); !math.IsInf(x, 0) {
			most = max(most, x)
		}
	}
	switch any(values).(type) {
	case []float32:
		tolerance = float64(n*n) * most * 0x1p-24
	case []float64:
		tolerance = float64(n*n) * most * 0x1p-53
	}
	if math.Abs(got-want) > tolerance {
		t.Errorf("%s, %T, %d agents: found %v, the dynamic program %v", name, values, n, got, want)
	}
	if n > 0 && r.Ceiling() < got {
		t.Errorf("%s, %T, %d agents: found %v above the ceiling %v", name, values, n, got, r.Ceiling())
	}
	if _, err := price.Verify(ctx, values, r.Blocks, &r.Proof, plenty); err != nil {
		t.Errorf("%s, %T, %d agents: %v", name, values, n, err)
	}
	return r
}

func types(t *testing.T, name string, n int, seed uint64) {
	for _, as := range []problem.Value{problem.Int32, problem.Int64, problem.Float32, problem.Float64} {
		inst, err := draw.GenerateAs(name, n, seed, as)
		if err != nil {
			t.Fatal(err)
		}
		switch inst.Type {
		case problem.Int32:
			holds(t, name, inst.I32)
		case problem.Int64:
			holds(t, name, inst.I64)
		case problem.Float32:
			holds(t, name, inst.F32)
		case problem.Float64:
			holds(t, name, inst.F64)
		}
	}
}

// Every distribution in every type: the dynamic program's optimum, and a proof that checks.
func TestDistributions(t *testing.T) {
	for _, name := range draw.Distributions() {
		for n := range 13 {
			types(t, name, n, uint64(n))
		}
		types(t, name, 14, 1)
	}
}

// Small integers make ties of all kinds, and gaps that prices cannot close.
func TestSmallIntegers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 400 {
		n := 1 + r.IntN(9)
		span := 1 + r.IntN(4)
		ints, floats := make([]int32, 1<<n), make([]float64, 1<<n)
		for s := 1; s < 1<<n; s++ {
			ints[s] = int32(r.IntN(2*span+1) - span)
			floats[s] = float64(ints[s])
			if r.IntN(4) == 0 {
				floats[s] = math.Inf(-1)
			}
		}
		holds(t, "integers", ints)
		holds(t, "integers, some forbidden", floats)
	}
}

// Structures that the prices have to find among forbidden coalitions.
func TestForbidden(t *testing.T) {
	inf := math.Inf(-1)
	only := func(n int, allowed map[uint64]float64) []float64 {
		v := slices.Repeat([]float64{inf}, 1<<n)
		v[0] = 0
		for s, x := range allowed {
			v[s] = x
		}
		return v
	}
	holds(t, "all forbidden", only(4, nil))
	if _, err := price.Solve(context.Background(), only(4, nil), plenty); err == nil || !strings.Contains(err.Error(), "no structure without a forbidden coalition") {
		t.Errorf("found the error %v where all are forbidden", err)
	}
	holds(t, "one agent in no allowed coalition", only(4, map[uint64]float64{1: 1, 2: 1, 4: 1}))
	holds(t, "overlapping pairs", only(3, map[uint64]float64{3: 1, 5: 1, 6: 1}))
	if r := holds(t, "one structure", only(5, map[uint64]float64{3: -7, 28: 2, 17: 9, 6: 5})); r != nil && len(r.Blocks) != 2 {
		t.Errorf("found the blocks %b", r.Blocks)
	}
	holds(t, "the grand coalition", only(6, map[uint64]float64{63: -1e300}))
	holds(t, "zeros", make([]float64, 1<<7))
	holds(t, "one huge value", append(make([]float64, 1<<7-1), 1e308))
	holds(t, "tiny values", []float64{0, 5e-324, 1e-323, 5e-324, 5e-324, 1e-323, 5e-324, 2e-323})
	holds(t, "large integers", []int64{0, 1 << 52, -1 << 60, 1<<52 + 1})
	if _, err := price.Solve(context.Background(), []int64{0, 1 << 60, -1 << 60, 1<<60 + 1}, plenty); !errors.Is(err, price.ErrCostly) {
		t.Errorf("found the error %v of values whose prices exceed 64 bits", err)
	}
}

// A search beyond its limits is given up.
func TestLimits(t *testing.T) {
	inst, err := draw.Generate("uniform", 14, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []price.Settings{{Steps: 1, Columns: 1 << 20}, {Steps: 1 << 40, Columns: 1}} {
		if _, err := price.Solve(context.Background(), inst.F64, o); !errors.Is(err, price.ErrCostly) {
			t.Errorf("%+v: found the error %v, expected one of the limits", o, err)
		}
	}
	// Ties without end: 16 agents in blocks of 3, of which only 5 fit.
	ties := make([]int32, 1<<16)
	for s := range ties {
		if bits.OnesCount(uint(s)) == 3 {
			ties[s] = 10
		}
	}
	ties[len(ties)-1] = 1 // or all values would be multiples of 10, and 50 the bound
	if _, err := price.Solve(context.Background(), ties, price.Settings{Steps: 1 << 22, Columns: 1 << 16}); !errors.Is(err, price.ErrCostly) {
		t.Errorf("found the error %v where ties have no end", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := price.Solve(ctx, inst.F64, plenty); !errors.Is(err, context.Canceled) {
		t.Errorf("found the error %v of a solve that was ended", err)
	}
}

// A proof that was changed is refuted.
func TestVerifyRefutes(t *testing.T) {
	inst, err := draw.GenerateAs("ndcs", 12, 3, problem.Int32)
	if err != nil {
		t.Fatal(err)
	}
	values := inst.I32
	r, err := price.Solve(context.Background(), values, plenty)
	if err != nil {
		t.Fatal(err)
	}
	value := func(blocks []uint64) int64 { return int64(sumPrices(values, blocks)) << r.Unit }
	for name, change := range map[string]func(p *price.Proof, blocks *[]uint64){
		"a price too low": func(p *price.Proof, _ *[]uint64) {
			by := p.Gap + 1
			p.Prices[3] -= by
			p.Bound, p.Gap = p.Bound-by, p.Gap-by
		},
		"a bound":     func(p *price.Proof, _ *[]uint64) { p.Bound-- },
		"a multiple":  func(p *price.Proof, _ *[]uint64) { p.Multiple *= 2 },
		"a negative":  func(p *price.Proof, _ *[]uint64) { p.Multiple = -1 },
		"survivors":   func(p *price.Proof, _ *[]uint64) { p.Survivors++ },
		"a unit":      func(p *price.Proof, _ *[]uint64) { p.Unit++ },
		"too few":     func(p *price.Proof, _ *[]uint64) { p.Prices = p.Prices[1:] },
		"large":       func(p *price.Proof, _ *[]uint64) { p.Prices[0], p.Prices[1] = math.MaxInt64, math.MinInt64 },
		"a structure": func(p *price.Proof, b *[]uint64) { *b = []uint64{1<<12 - 1}; p.Gap = p.Bound - value(*b) },
	} {
		p := r.Proof
		p.Prices = slices.Clone(p.Prices)
		blocks := slices.Clone(r.Blocks)
		change(&p, &blocks)
		if _, err := price.Verify(context.Background(), values, blocks, &p, plenty); !errors.Is(err, price.ErrProof) {
			t.Errorf("%s: found the error %v, expected one of the proof", name, err)
		}
	}
	// The whole gap looked through by the check alone: with the survivors counted right,
	// only the search can refute a worse structure.
	p := r.Proof
	blocks := []uint64{1<<12 - 1}
	p.Gap = p.Bound - value(blocks)
	for s := 1; s < 1<<12; s++ {
		y := int64(0)
		for i, price := range p.Prices {
			y += price * int64(s>>i&1)
		}
		if s == 1 {
			p.Survivors = 0
		}
		if y-int64(values[s])<<p.Unit < p.Gap {
			p.Survivors++
		}
	}
	if _, err := price.Verify(context.Background(), values, blocks, &p, plenty); !errors.Is(err, price.ErrProof) {
		t.Errorf("a worse structure: found the error %v, expected one of the proof", err)
	}
}

// A search that is out of time is given up, and one that the caller ended is not.
func TestTime(t *testing.T) {
	values := make([]int32, 1<<16)
	for i := range values {
		values[i] = int32(i * 7919 % 1000)
	}
	hurried := plenty
	hurried.Time = 1
	if _, err := price.Solve(t.Context(), values, hurried); !errors.Is(err, price.ErrCostly) || !strings.Contains(err.Error(), "within 1ns") {
		t.Errorf("found the error %v after a nanosecond, expected one of the time", err)
	}
	hurried.Time = time.Hour
	start := time.Now()
	r, err := price.Solve(t.Context(), values, hurried)
	if err != nil || len(r.Blocks) == 0 {
		t.Fatalf("found %v, %v with time left", r, err)
	}
	if sum := r.Times.Program + r.Times.Passes + r.Times.Search; r.Times.Program <= 0 || r.Times.Passes <= 0 || sum > time.Since(start).Seconds() {
		t.Errorf("parts took %+v of %v", r.Times, time.Since(start))
	}
	ctx, end := context.WithCancel(t.Context())
	end()
	if _, err := price.Solve(ctx, values, hurried); !errors.Is(err, context.Canceled) || errors.Is(err, price.ErrCostly) {
		t.Errorf("found the error %v of an ended solve", err)
	}
}
