package tiles

import (
	"context"
	"math"
	"math/bits"
	"testing"

	gencsg "coalesce/generated/csg"
	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/solvers/csg/internal/draw"
	"coalesce/solvers/csg/internal/engine"
	"coalesce/solvers/csg/problem"
)

// forbidden16 stands for minus infinity among int16 values. Where the others add up to
// at most 2^13 - 1 in magnitude, two forbidden ones add up to -2^15, which int16 holds,
// and a sum with one of them stays below every sum without.
const forbidden16 = -1 << 14

// Every variant of int16 makes the f that int32 makes, where sums are as large as they
// may be, equal, negative or forbidden.
func TestTilesOfInt16(t *testing.T) {
	d := emulatedtest.Open(t)
	for i := range gencsg.Tiles.Variants {
		v := &gencsg.Tiles.Variants[i]
		if valueType(v) != problem.Int16 {
			continue
		}
		run, err := Load(d, v)
		if err != nil {
			t.Fatal(err)
		}
		defer run.Close()
		for n := 1; n <= TileBits(v)+4; n++ {
			if n == 6 { // tile 0 alone does the sizes between, as those before
				n = TileBits(v)
			}
			most := uint64((1<<13 - 1) / n)
			for name, of := range map[string]func(mask uint64) int16{
				"mixed":     func(mask uint64) int16 { return int16(draw.Mix(mask)%(2*most+1)) - int16(most) },
				"equal":     func(uint64) int16 { return int16(most) },
				"negative":  func(mask uint64) int16 { return -int16(draw.Mix(mask) % (most + 1)) },
				"forbidden": func(mask uint64) int16 { return forbidAll(mask, int16(draw.Mix(mask)%most)) },
				"largest":   func(mask uint64) int16 { return int16(math.MaxInt16 / n) },
			} {
				checkInt16(t, d, run, n, 0, v.Label+" "+name, of)
				// One block goes through all pairs of a target: the halves of a word differ.
				checkInt16(t, d, run, n, 1, v.Label+" "+name, of)
			}
		}
		// Fifteen pairs of a target fill every stage again while others are read. Of few agents no
		// coalition is worth anything, so that most best structures are those of a single pair.
		n := TileBits(v) + 6
		for _, blocks := range []int64{1, 3} {
			checkInt16(t, d, run, n, blocks, v.Label+" many pairs", func(mask uint64) int16 {
				if bits.OnesCount64(mask) < 5 {
					return -300
				}
				return int16(draw.Mix(mask) % 300)
			})
		}
	}
}

// forbidAll forbids three in four coalitions of more than one agent.
func forbidAll(mask uint64, value int16) int16 {
	if mask&(mask-1) != 0 && draw.Mix(mask^1<<50)%4 != 0 {
		return forbidden16
	}
	return value
}

func checkInt16(t *testing.T, d device.Device, run engine.LoadedVariant, n int, blocks int64, name string, of func(mask uint64) int16) {
	t.Helper()
	values := make([]int16, 1<<n)
	for mask := range values[1:] {
		values[mask+1] = of(uint64(mask + 1))
	}
	wide := make([]int64, len(values)) // f, by all splittings
	for c := range wide {
		wide[c] = int64(values[c])
		for s := (c - 1) & c; s > c^s; s = (s - 1) & c {
			wide[c] = max(wide[c], wide[s]+wide[c^s])
		}
	}
	e := run.Engine(n).(*Engine)
	ctx := context.Background()
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := e.Alloc(d, s); err != nil {
		t.Fatal(err)
	}
	defer e.Free()
	if blocks > 0 {
		e.blocks = blocks
	}
	if err := e.Upload(ctx, s, device.Bytes(values)); err != nil {
		t.Fatal(err)
	}
	if err := e.Run(ctx, s, engine.Progress{}); err != nil {
		t.Fatal(err)
	}
	table, best := make([]int16, 1<<(n-1)), make([]int16, 1)
	if err := s.Download(device.Bytes(table), e.f, 0); err != nil {
		t.Fatal(err)
	}
	if err := s.Download(device.Bytes(best), e.best, 0); err != nil {
		t.Fatal(err)
	}
	for c, found := range table {
		if int64(found) != wide[c] {
			t.Errorf("%d agents, %s: f(%b) is %d, expected %d", n, name, c, found, wide[c])
			return
		}
	}
	if int64(best[0]) != wide[len(wide)-1] {
		t.Errorf("%d agents, %s: found %d, expected %d", n, name, best[0], wide[len(wide)-1])
	}
}
