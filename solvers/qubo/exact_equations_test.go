package qubo

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"coalesce/runtime/device"
	"coalesce/runtime/host"
	"coalesce/solvers/qubo/problem"
	"coalesce/solvers/solve"
)

// marketSplit draws a market split. Some split misses the goal of every market by missed units.
func marketSplit(t *testing.T, r *rand.Rand, markets int, missed int64) *problem.Instance {
	t.Helper()
	n := 10 * (markets - 1)
	x, b := r.Uint64(), problem.NewBuilder(n)
	b.Minimize()
	diag, pairs, offset := make([]int64, n), map[[2]int]int64{}, int64(0)
	for range markets {
		a, end := make([]int64, n), missed
		for i := range a {
			a[i] = r.Int64N(100)
			end += a[i] * int64(x>>i&1)
		}
		offset += end * end
		for i := range a {
			diag[i] += a[i] * (a[i] - 2*end)
			for j := range i {
				pairs[[2]int{j, i}] += 2 * a[i] * a[j]
			}
		}
	}
	for i, d := range diag {
		b.LinearInt(i, d)
	}
	for k, w := range pairs {
		b.PairInt(k[0], k[1], w)
	}
	inst, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	inst.Int.Offset = offset
	return inst
}

// Market splits are solved and proven; the other searches alone do not find the solution. Where there is none the bound says so.
func TestMarketSplitsAreProven(t *testing.T) {
	d := host.Open(2)
	defer d.Close()
	r := rand.New(rand.NewPCG(3, 14))
	inst := marketSplit(t, r, 5, 0)
	o := Options{Settings: solve.Settings{Devices: []device.Device{d}, TimeLimit: time.Hour}}
	found, err := Solve(context.Background(), inst, o)
	if err != nil || !found.Proven || found.Value != "0" || found.Algorithm != "equations" || found.BoundKind != BoundExact {
		t.Fatalf("%v: %+v", err, found)
	}
	o.TimeLimit, o.Without = 50*time.Millisecond, []string{"equations"}
	if other, err := Solve(context.Background(), inst, o); err != nil || other.Proven || other.Value == "0" {
		t.Errorf("without equations: %v, value %s, proven %t", err, other.Value, other.Proven)
	}
	inst = marketSplit(t, r, 5, 1)
	o.TimeLimit, o.Without = 600*time.Millisecond, []string{"bound"}
	if found, err = Solve(context.Background(), inst, o); err != nil || found.Proven || found.Bound != "1" || found.BoundKind != BoundEquations {
		t.Errorf("without a solution: %v, bound %s by %s, proven %t", err, found.Bound, found.BoundKind, found.Proven)
	}
}
