package price

import (
	"context"
	"errors"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"coalesce/solvers/csg/internal/draw"
	"coalesce/solvers/csg/problem"
)

func drawn(t *testing.T, name string, n int, seed uint64) []int32 {
	t.Helper()
	inst, err := draw.NewDrawn(name, n, seed, problem.Int32)
	if err != nil {
		t.Fatal(err)
	}
	inst.DrawValues()
	return inst.I32
}

// An optimal structure is found among the coalitions of losses up to that of its worst block,
// which are too few to prove it optimal.
func TestImprove(t *testing.T) {
	ctx, n := context.Background(), 16
	for _, name := range []string{"normal", "exponential", "pascal", "pareto"} {
		values := drawn(t, name, n, 1)
		o := Settings{Steps: 1 << 40, Columns: 1 << 24, Cores: 2}
		best, err := Solve(ctx, values, o)
		if err != nil {
			t.Fatal(err)
		}
		s, err := newSolver[int32](&onHost[int32]{values: values, cores: 2}, n, o)
		if err != nil {
			t.Fatal(err)
		}
		s.value = forbidden
		worst := int64(0)
		for _, b := range best.Blocks {
			worst = max(worst, sumPrices(best.Prices, b)-s.valueAt(b))
		}
		if worst >= best.Gap {
			t.Fatalf("%s: a block's loss is %d, the structure's %d: expected several blocks of some loss", name, worst, best.Gap)
		}
		f, err := s.pass(ctx, best.Prices, worst, 1<<n)
		if err != nil {
			t.Fatal(err)
		}
		s.lists.sort(2, f.items, 0)
		if _, err := s.improve(ctx, f.items, best.Bound, f.limit); err != nil {
			t.Fatal(err)
		}
		if want := best.Bound - best.Gap; s.value != want {
			t.Errorf("%s: among %d coalitions of losses up to %d a structure of %d is found, expected %d", name, len(f.items), worst, s.value, want)
		}
	}
}

// Where the coalitions of a pass make no structure, a search of them tells little of what a proof needs:
// of beta values many are worth all that their agents allow, and others are in every structure.
func TestReached(t *testing.T) {
	values := make([]int32, 1<<10)
	for mask := range values {
		if values[mask] = int32(10 * bits.OnesCount(uint(mask))); mask&1 == 1 {
			values[mask] -= 5 // the first agent lowers every coalition by as much
		}
	}
	o := Settings{Steps: 1 << 40, Columns: 1 << 24, Cores: 2}
	s, err := newSolver[int32](&onHost[int32]{values: values, cores: 2}, 10, o)
	if err != nil {
		t.Fatal(err)
	}
	prices := slices.Repeat([]int64{10 << s.Unit}, 10)
	s.value = forbidden
	total := int64(100) << s.Unit
	f, err := s.pass(context.Background(), prices, 0, 1<<10)
	if err != nil || len(f.items) != 1<<9-1 {
		t.Fatalf("found %d coalitions of no loss, %v", len(f.items), err)
	}
	s.lists.sort(2, f.items, 0)
	reached, err := s.improve(context.Background(), f.items, total, 0)
	if err != nil || s.value != forbidden || reached > 1 {
		t.Errorf("reached %d, %v, with a structure worth %d", reached, err, s.value)
	}
}

// Of many coalitions that lose nothing the one is found whose other agents lose nothing either, where a pass did
// not hand back the coalition of these.
func TestHalves(t *testing.T) {
	const n = 20
	r := rand.New(rand.NewPCG(5, 5))
	values := make([]int32, 1<<n)
	for range 2000 {
		mask := r.Uint64N(1<<n-2) + 1
		values[mask] = int32(bits.OnesCount64(mask))
	}
	const half = 0b1011_0010_1110_0101_1001
	values[half], values[1<<n-1-half] = int32(bits.OnesCount(half)), n-int32(bits.OnesCount(half))
	s, err := newSolver[int32](&onHost[int32]{values: values, cores: 3}, n, Settings{Cores: 3})
	if err != nil {
		t.Fatal(err)
	}
	s.value, s.proven = forbidden, math.MaxInt64
	prices := slices.Repeat([]int64{1 << s.Unit}, n)
	prices[7]++ // as rounding leaves
	f, err := s.pass(t.Context(), prices, 1, 1<<n)
	if err != nil {
		t.Fatal(err)
	}
	f.items = slices.DeleteFunc(f.items, func(x pricedCoalition) bool { return x.mask == 1<<n-1-half })
	s.lists.sort(3, f.items, 0)
	s.offerHalves(f.items, prices)
	if slices.Sort(s.Blocks); len(s.Blocks) != 2 || s.value != n<<s.Unit {
		t.Errorf("found %b of %d, expected a structure worth %d", s.Blocks, s.value, n<<s.Unit)
	}
}

// The next pass keeps what a proof is likely to need, four times as many at least, and a search ends
// before a pass that would end too late.
func TestWidened(t *testing.T) {
	const keep, ms = 1000, time.Millisecond
	s := &solver{}
	this := round{keep: keep, found: 1000, steps: 1e6, start: 90 * ms, ended: 100 * ms}
	for _, c := range []struct {
		left, columns int
		limit         time.Duration
		next          int
	}{
		{500, 1 << 20, 0, 4 * keep},
		{20000, 1 << 20, 0, 25000},
		{90000, 1 << 20, 0, mostGrowth * keep},
		{20000, 10000, 0, 10000},
		{20000, keep, 0, 0},
		// 100 ms, 10 for a round, and 1.6 times 19,000 times 0.75 microseconds and 19 million times 7.5 ns
		{20000, 1 << 20, 361 * ms, 25000},
		{20000, 1 << 20, 360 * ms, 0},
		{0, 1 << 20, 150 * ms, 4 * keep},
		{0, 1 << 20, 149 * ms, 0},
	} {
		s.limits = Settings{Columns: c.columns, Time: c.limit, Cores: 2}
		next, err := s.nextKeep(this, c.left)
		if next != c.next || errors.Is(err, ErrCostly) != (c.next == 0) {
			t.Errorf("%+v: found %d, %v", c, next, err)
		}
	}
}

// The pool has the columns of the largest reduced costs, whatever the cores, and no column has one
// above 0 in the end.
func TestChosen(t *testing.T) {
	const n = 16
	values := drawn(t, "uniform", n, 1)
	var want []int
	for _, cores := range []int{1, 2, 5} {
		m := newMaster(n, cores, func(i int) float64 { return float64(values[1<<i]) * 0x1p-20 })
		for part := range 3 { // every second coalition, then all, of which some have a column, then all again
			var columns []column
			for mask, v := range values {
				if bits.OnesCount(uint(mask)) > 1 && (part > 0 || mask%2 == 0) {
					columns = append(columns, column{uint64(mask), int64(v) << min(part, 1)})
				}
			}
			m.add(columns, 0x1p-20)
		}
		for k, mask := range m.masks {
			if want := float64(values[mask]) * 0x1p-20 * float64(1+mask%2); m.values[k] != want || k > 0 && mask <= m.masks[k-1] {
				t.Fatalf("column %d is coalition %d, worth %g, expected %g, in order", k, mask, m.values[k], want)
			}
		}
		if len(m.masks) != 1<<n-n-1 {
			t.Fatalf("found %d columns, expected %d", len(m.masks), 1<<n-n-1)
		}
		got := slices.Clone(m.enteringColumns())
		if want == nil {
			want = got
		}
		least, among := math.Inf(1), 0
		for _, at := range got {
			least = min(least, m.costs[at])
		}
		for _, cost := range m.costs {
			if cost >= least {
				among++
			}
		}
		if !slices.Equal(got, want) || among != len(got) || len(got) < pool/2 || len(got) > 2*pool {
			t.Errorf("%d cores: a pool of %d of the %d columns of the largest reduced costs, expected about %d", cores, len(got), among, pool)
		}
		m.solve(maxPivots)
		for at, mask := range m.masks {
			if cost := m.reducedCost(mask, m.values[at]); cost > 1e-9 {
				t.Errorf("%d cores: coalition %x has a reduced cost of %g in the end", cores, mask, cost)
			}
		}
	}
}
