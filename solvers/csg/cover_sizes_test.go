package csg

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/runtime/host"
	"coalesce/solvers/csg/internal/draw"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// exactly is the sum of blocks without rounding, nil where one is forbidden.
func exactly(inst *problem.Instance, sizes problem.Sizes, blocks problem.Structure) *big.Float {
	sum := new(big.Float).SetPrec(2000)
	for _, b := range blocks {
		if !sizes.Allows(b) || math.IsInf(inst.Value64(b), -1) {
			return nil
		}
		x, _, _ := big.ParseFloat(inst.ValueDecimals(b), 10, 2000, big.ToNearestEven)
		sum.Add(sum, x)
	}
	return sum
}

// draws are kinds of values, by name: what a coalition of n agents is worth as a type.
var draws = map[string]func(value problem.Value, n int, mask uint64) float64{
	"mixed":    func(_ problem.Value, _ int, mask uint64) float64 { return float64(draw.Mix(mask)%200) - 100 },
	"negative": func(_ problem.Value, _ int, mask uint64) float64 { return -float64(draw.Mix(mask)%1000) - 1 },
	"equal":    func(_ problem.Value, _ int, mask uint64) float64 { return float64(draw.Mix(mask) % 2) },
	"extreme": func(value problem.Value, n int, mask uint64) float64 {
		most := map[problem.Value]float64{problem.Int16: 1<<15 - 1, problem.Int32: 1<<31 - 1, problem.Int64: 1 << 61, problem.Float32: 1 << 20, problem.Float64: 1 << 40}[value]
		return (float64(draw.Mix(mask)%3) - 2) * math.Floor(most/float64(2*n+2)) // negative, or 0
	},
	"forbidden": func(value problem.Value, _ int, mask uint64) float64 {
		if !value.Integer() && draw.Mix(mask)%5 == 0 {
			return math.Inf(-1)
		}
		return float64(draw.Mix(mask)%64) - 20
	},
}

// The table under sizes has every coalition's best partition into such blocks, of every type of values,
// on a host and on the emulated device; the file has it too, and the k best come from it.
func TestCoverUnderSizes(t *testing.T) {
	h := host.Open(2)
	defer h.Close()
	gpu := emulatedtest.OpenSeveral(t, 1)[0]
	r := rand.New(rand.NewPCG(24, 7))
	kinds := slices.Sorted(func(yield func(string) bool) {
		for kind := range draws {
			if !yield(kind) {
				return
			}
		}
	})
	for round, kind := range slices.Repeat(kinds, 5) {
		value := []problem.Value{problem.Int16, problem.Int32, problem.Int64, problem.Float32, problem.Float64}[round/len(kinds)]
		for n := 1; n < 8; n++ {
			sizes := problem.Sizes(r.Uint64N(1<<n)) << 1
			if sizes == 0 {
				sizes = 1 << n
			}
			draw := func() *problem.Instance {
				inst, err := draw.ByCoalition(value, n, func(mask uint64) float64 { return draws[kind](value, n, mask) })
				if err != nil {
					t.Fatal(err)
				}
				return inst
			}
			on := []device.Device{h}
			if n > 4 && (round+n)%3 == 0 {
				on = append(on, gpu)
			}
			for _, d := range on {
				coverUnderSizes(t, fmt.Sprintf("%s, %s values of %d agents as %s, sizes %s", d.Facts(), kind, n, value, sizes), draw, sizes, d, r)
			}
		}
	}
}

func coverUnderSizes(t *testing.T, name string, draw func() *problem.Instance, sizes problem.Sizes, d device.Device, r *rand.Rand) {
	t.Helper()
	free, inst := draw(), draw()
	if err := inst.Restrict(sizes); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	result, cover, err := SolveCover(context.Background(), inst, on(d))
	if err != nil && !errors.Is(err, solve.ErrInfeasible) {
		t.Fatalf("%s: %v", name, err)
	}
	var file bytes.Buffer
	if err := WriteCover(&file, inst, cover); err != nil {
		t.Fatal(err)
	}
	again := draw()
	read, err := ReadFrom(bytes.NewReader(file.Bytes()), int64(file.Len()), "f.npy", ReadOptions{CoverOf: again})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if again.Sizes != sizes || read.Type != cover.Type {
		t.Fatalf("%s: read as %s, sizes %s", name, read.Type, again.Sizes)
	}
	table, err := ReadFrom(bytes.NewReader(file.Bytes()), int64(file.Len()), "f.npy", ReadOptions{})
	if err != nil {
		t.Fatalf("%s: as an instance: %v", name, err)
	}
	asked := r.Uint64N(free.Len())
	for coalition := range free.Len() {
		var all []*big.Float
		partitions(coalition, nil, func(s problem.Structure) {
			if sum := exactly(free, sizes, s); sum != nil {
				all = append(all, sum)
			}
		})
		slices.SortFunc(all, func(a, b *big.Float) int { return b.Cmp(a) })
		want := "-inf"
		if len(all) > 0 {
			x, _ := all[0].Float64()
			if want = all[0].Text('f', 0); !free.Type.Integer() {
				want = problem.FormatNumber(x)
			}
		}
		for k, f := range []*problem.Instance{cover, read, table} {
			if coalition != 0 && f.ValueDecimals(coalition) != want {
				t.Fatalf("%s: table %d has %s for coalition %#x, expected %s", name, k, f.ValueDecimals(coalition), coalition, want)
			}
		}
		if coalition == free.GrandCoalition() && (len(all) == 0) != (result.Structure == nil) || coalition == free.GrandCoalition() && len(all) > 0 && string(result.Value) != want {
			t.Fatalf("%s: found %s, expected %s", name, result.Value, want)
		}
		if coalition != asked && coalition != free.GrandCoalition() {
			continue
		}
		k := 1 + r.IntN(20)
		found, err := BestFew(context.Background(), again, read, coalition, k)
		if err != nil || len(found) != min(k, len(all)) {
			t.Fatalf("%s: %d best of %#x: found %d of %d, %v", name, k, coalition, len(found), len(all), err)
		}
		seen := map[string]bool{}
		for k, x := range found {
			sum := exactly(free, sizes, x.Structure)
			if x64, _ := all[k].Float64(); sum == nil || sum.Cmp(all[k]) != 0 || x.Value != x64 || seen[fmt.Sprint(x.Structure)] {
				t.Fatalf("%s: number %d of %#x is %v, expected the value %s", name, k, coalition, x, all[k].String())
			}
			seen[fmt.Sprint(x.Structure)] = true
		}
	}
	solved, err := Solve(context.Background(), table, on(d))
	if err == nil && solved.Value != result.Value || (err != nil) != (result.Structure == nil) {
		t.Fatalf("%s: the table as an instance: found %s, %v, expected %s", name, cmp.Or(solved.Value, "none"), err, result.Value)
	}
}

// A table of other sizes, or of none, is refused, and so is a damaged list of them.
func TestCoverOfOtherSizes(t *testing.T) {
	d := host.Open(1)
	defer d.Close()
	draw := func(sizes problem.Sizes) *problem.Instance {
		inst, err := draw.ByCoalition(problem.Int32, 5, drawnMask)
		if err != nil {
			t.Fatal(err)
		}
		if err := inst.Restrict(sizes); err != nil {
			t.Fatal(err)
		}
		return inst
	}
	of := draw(1<<2 | 1<<3)
	_, cover, err := SolveCover(context.Background(), of, on(d))
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := WriteCover(&file, of, cover); err != nil {
		t.Fatal(err)
	}
	read := func(data []byte, inst *problem.Instance) error {
		_, err := ReadFrom(bytes.NewReader(data), int64(len(data)), "f.npy", ReadOptions{CoverOf: inst})
		return err
	}
	whole := file.Bytes()
	if err := read(whole, draw(1<<2)); !errors.Is(err, problem.ErrCheck) {
		t.Errorf("an instance of other sizes: %v", err)
	}
	for _, inst := range []*problem.Instance{draw(0), draw(1 << 5)} {
		if _, err := BestFew(context.Background(), inst, cover, 3, 1); !errors.Is(err, problem.ErrCheck) {
			t.Errorf("a table of sizes 2 and 3 for those of %q: %v", inst.Sizes, err)
		}
	}
	for name, data := range map[string][]byte{
		"cut":           whole[:len(whole)-1],
		"more":          append(slices.Clone(whole), 7),
		"a size 0":      append(slices.Clone(whole[:len(whole)-2]), 0, 3),
		"a size 41":     append(slices.Clone(whole[:len(whole)-2]), 2, 41),
		"no array":      append(slices.Clone(whole[:len(whole)-130]), 1, 2, 3),
		"another array": slices.Concat(whole[:len(whole)-130], whole[:128], make([]byte, 4*32)),
	} {
		if err := read(data, draw(0)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
