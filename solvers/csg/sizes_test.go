package csg

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/runtime/host"
	"coalesce/solvers/csg/internal/draw"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// bruteForce is the best sum of blocks of sizes, nil where there is none.
func bruteForce(inst *problem.Instance, sizes problem.Sizes) *big.Float {
	var best *big.Float
	partitions(inst.GrandCoalition(), nil, func(blocks problem.Structure) {
		sum := new(big.Float).SetPrec(2000)
		for _, b := range blocks {
			if !sizes.Allows(b) || math.IsInf(inst.Value64(b), -1) {
				return
			}
			x, _, _ := big.ParseFloat(inst.ValueDecimals(b), 10, 2000, big.ToNearestEven)
			sum.Add(sum, x)
		}
		if best == nil || sum.Cmp(best) > 0 {
			best = sum
		}
	})
	return best
}

// Every algorithm honours sizes, on a host and on the emulated device, and what it
// answers verifies; where no blocks add up it says so.
func TestSizes(t *testing.T) {
	emulated := emulatedtest.OpenSeveral(t, 1)
	h := host.Open(2)
	defer h.Close()
	r := rand.New(rand.NewPCG(9, 9))
	for round := range 36 {
		value := []problem.Value{problem.Int32, problem.Int64, problem.Float32, problem.Float64}[round%4]
		n := []int{8, 7, 4, 1, 6, 9, 3, 5, 2}[round/4]
		sizes := problem.Sizes(r.Uint64N(1<<n)) << 1
		if sizes == 0 {
			sizes = 1 << n
		}
		draw := func() *problem.Instance {
			inst, err := draw.ByCoalition(value, n, func(mask uint64) float64 {
				switch round % 3 {
				case 0:
					return float64(draw.Mix(mask)%200) - 100
				case 1:
					return -float64(draw.Mix(mask) % 1000)
				}
				return float64(draw.Mix(mask) % 2)
			})
			if err != nil {
				t.Fatal(err)
			}
			return inst
		}
		want := bruteForce(draw(), sizes)
		for _, by := range []struct {
			on        device.Device
			algorithm Method
		}{{h, Apart}, {h, ByPrices}, {h, DP}, {h, IDP}, {emulated[0], Apart}, {emulated[0], DP}, {emulated[0], IDP}} {
			if by.on != h && round%6 != 0 {
				continue // quick
			}
			inst := draw()
			if err := inst.Restrict(sizes); err != nil {
				t.Fatal(err)
			}
			got, err := Solve(context.Background(), inst, Options{Settings: solve.Settings{Devices: []device.Device{by.on}, Algorithm: string(by.algorithm)}})
			at := []any{by.on.Facts(), by.algorithm, n, value, sizes}
			if want == nil {
				if !errors.Is(err, solve.ErrInfeasible) || !got.Proven || got.Structure != nil {
					t.Fatalf("%v: found %v, expected that no structure is feasible", at, err)
				}
			} else if err != nil {
				t.Fatalf("%v: %v", at, err)
			} else if x, ok := got.Value.Rat(); !ok || !got.Proven || new(big.Float).SetPrec(2000).SetRat(x).Cmp(want) != 0 {
				t.Fatalf("%v: found %s, proven %v, expected %s", at, got.Value, got.Proven, want)
			}
			text, err := json.Marshal(got)
			if err != nil {
				t.Fatal(err)
			}
			v, err := Verify(draw(), text)
			if err != nil || v.Err() != nil || got.Prices != nil && !v.BoundChecked || want == nil && sizes.CanDivide(n) == v.BoundChecked {
				t.Fatalf("%v: verify found %v, %v, bound checked %v", at, err, v.Err(), v.BoundChecked)
			}
		}
		inst := draw()
		if err := inst.Restrict(sizes); err != nil {
			t.Fatal(err)
		}
		for _, m := range Methods() {
			if ref, err := Reference(inst, m); (want == nil) != errors.Is(err, solve.ErrInfeasible) || want != nil && ref.Value.Float() != float64Of(want) {
				t.Fatalf("reference by %s, %d agents, %s, sizes %s: found %v, %v, expected %v", m, n, value, sizes, ref, err, want)
			}
		}
	}
}

// The kernels of prices take 11 agents at least, too many to try all partitions: the
// reference, which TestSizes holds against them, stands for these.
func TestSizesByKernelsOfPrices(t *testing.T) {
	inst, err := draw.ByCoalition(problem.Int32, 11, func(mask uint64) float64 { return float64(draw.Mix(mask) % 500) })
	if err != nil {
		t.Fatal(err)
	}
	if err := inst.Restrict(1<<3 | 1<<5); err != nil {
		t.Fatal(err)
	}
	want, err := Reference(inst, DP)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Solve(context.Background(), inst, Options{Settings: solve.Settings{Devices: emulatedtest.OpenSeveral(t, 1), Algorithm: string(ByPrices)}})
	if err != nil || got.Value != want.Value {
		t.Errorf("found %v, %v, expected %s", got, err, want.Value)
	}
}

func float64Of(x *big.Float) float64 { y, _ := x.Float64(); return y }

func TestParseSizes(t *testing.T) {
	for text, want := range map[string]string{"1-3,5": "1-3,5", "2-": "2-40", "3, 1": "1,3", "40": "40", "4,3-6": "3-6"} {
		if s, err := problem.ParseSizes(text); err != nil || s.String() != want {
			t.Errorf("%q: found %s, %v, expected %s", text, s, err, want)
		}
	}
	for _, text := range []string{"", "0", "3-2", "41", "1-41", "-3", "1,,2", "a", "1-2-3"} {
		if s, err := problem.ParseSizes(text); err == nil {
			t.Errorf("%q: found %s, expected an error", text, s)
		}
	}
	for _, c := range []struct {
		sizes string
		n     int
		want  bool
	}{{"3", 7, false}, {"3,2", 7, true}, {"40", 40, true}, {"7", 40, false}, {"5", 0, true}, {"2-", 1, false}} {
		s, err := problem.ParseSizes(c.sizes)
		if err != nil || s.CanDivide(c.n) != c.want {
			t.Errorf("%d agents in blocks of %s: found %v, %v", c.n, c.sizes, s.CanDivide(c.n), err)
		}
	}
}

// Values of forbidden coalitions make int32 int64 where they need it, and no more than
// int64 holds is refused.
func TestRestrictPromotes(t *testing.T) {
	of := func(value problem.Value, each float64) *problem.Instance {
		inst, err := draw.ByCoalition(value, 6, func(mask uint64) float64 { return each })
		if err != nil {
			t.Fatal(err)
		}
		return inst
	}
	for _, c := range []struct {
		value problem.Value
		each  float64
		sizes problem.Sizes
		want  problem.Value // none: refused
	}{{problem.Int32, 1e8, 1 << 2, problem.Int32}, {problem.Int32, 3e8, 1 << 2, problem.Int64}, {problem.Int64, 1e18, 1 << 2, problem.Int64}, {problem.Int64, -1.5e18, 1 << 2, problem.Int64}, {problem.Int64, -1e18, 1 << 1, ""}} {
		inst := of(c.value, c.each)
		if err := inst.Restrict(c.sizes); (c.want == "") != errors.Is(err, problem.ErrValue) || c.want != "" && inst.Type != c.want {
			t.Errorf("%g as %s: found %s, %v, expected %s", c.each, c.value, inst.Type, err, c.want)
		}
	}
	twice := of(problem.Int32, 1)
	if err := errors.Join(twice.Restrict(1<<2), twice.Restrict(1<<2)); err == nil {
		t.Error("restricted twice: no error")
	}
}
