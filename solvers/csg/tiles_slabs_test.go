package csg

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"coalesce/autotune/tuned"
	gencsg "coalesce/generated/csg"
	"coalesce/runtime/device"
	"coalesce/runtime/emulated"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/solvers/csg/internal/draw"
	"coalesce/solvers/csg/internal/tiles"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
	"coalesce/templates"
)

// narrow are devices of so much memory.
func narrow(t *testing.T, count int, memory int64) (devices []device.Device) {
	t.Helper()
	for k := range count {
		devices = append(devices, emulatedtest.OpenWith(t, emulated.Options{Index: k, Sanitize: true, Seed: uint64(k + 1), Files: templates.Files, Memory: memory}))
		t.Cleanup(func() { devices[k].Close() })
	}
	return devices
}

// Devices and ranks too small for the table find what one core finds: slabs of 8, 16 and 32,
// unequal parts, and of every type.
func TestSlabs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		value         problem.Value
		n, members    int
		bits          int
		least, values float64 // how values are drawn
		memory        int64
	}{
		{problem.Int32, 14, 2, 3, -1000, 2000, 72 << 10},
		{problem.Int32, 14, 3, 4, 0, 3, 48 << 10}, // ties
		{problem.Int32, 15, 4, 5, -1000, 2000, 56 << 10},
		{problem.Int16, 15, 2, 3, -1000, 2000, 72 << 10},
		{problem.Int16, 14, 2, 3, -1000, 2000, 36 << 10},
		{problem.Int64, 13, 2, 3, 0, 1000, 72 << 10},
		{problem.Float32, 14, 2, 4, -3, 7, 52 << 10},
		{problem.Float64, 14, 3, 3, -1000, 2000, 110 << 10},
	} {
		inst, err := draw.ByCoalition(c.value, c.n, func(mask uint64) float64 { return math.Floor(c.least + float64(draw.Mix(mask)%1000)*c.values/1000) })
		if err != nil {
			t.Fatal(err)
		}
		want, err := Reference(inst, Apart)
		if err != nil {
			t.Fatal(err)
		}
		devices := narrow(t, c.members, c.memory)
		v := gencsg.Tiles.Variant("chunk=4,slot=4,each=1,block=128,stages=3,pairs=1,adder=fused,least=1,value=" + string(c.value))
		if v == nil {
			v = tuned.SafeVariant(&gencsg.Tiles)
		}
		if cut := tiles.CutFor(v, c.n, c.members, c.memory); cut.Bits != c.bits {
			t.Errorf("%d agents, %s: %d bits, expected %d", c.n, c.value, cut.Bits, c.bits)
			continue
		}
		told := 0.0
		o := Options{Settings: solve.Settings{Devices: devices, Variant: v.Label, Progress: func(now solve.Incumbent) { told = now.Share }}}
		got, err := Solve(context.Background(), inst, o)
		if err != nil {
			t.Errorf("%d agents, %s: %v", c.n, c.value, err)
			continue
		}
		if note := strings.Join(got.Notes, " "); !strings.Contains(note, "slabs") {
			t.Errorf("%d agents, %s: notes %q, expected one of slabs", c.n, c.value, note)
		}
		if got.Value != want.Value || !got.Proven || told != 1 {
			t.Errorf("%d agents, %s: found %s, proven %v, %v of the work told; expected %s", c.n, c.value, got.Value, got.Proven, told, want.Value)
		}
		o.Progress = nil
		if _, got = onRanks(t, inst, devices, o); got.Value != want.Value {
			t.Errorf("%d agents, %s: ranks find %s, expected %s", c.n, c.value, got.Value, want.Value)
		}
	}
}

// Devices draw their parts; a checkpoint of slabs is refused; what a rank sends is what
// docs/notes/cluster.md predicts.
func TestSlabsDrawn(t *testing.T) {
	devices := narrow(t, 2, 72<<10)
	inst, err := NewDrawn("planted", 14, 5, problem.Int32)
	if err != nil {
		t.Fatal(err)
	}
	v := gencsg.Tiles.Variant("chunk=4,slot=4,each=1,block=128,stages=3,pairs=1,adder=fused,least=1,value=int32")
	o := Options{Settings: solve.Settings{Variant: v.Label}}
	_, got := onRanks(t, inst, devices, o)
	if inst.HoldsValues() {
		t.Error("this machine has drawn the values")
	}
	inst.DrawValues()
	if want, err := Reference(inst, Apart); err != nil || got.Value != want.Value {
		t.Errorf("found %s, expected %s: %v", got.Value, want.Value, err)
	}
	// A rank's parts of 20 loads and 10 passes, of 8 slabs at last, and of those that are split.
	slab := int64(4) << 10
	if least := 38 * slab / 2; got.Sent < least*98/100 || got.Sent > 3*least {
		t.Errorf("%d bytes sent, expected some %d and what splits load", got.Sent, least)
	}
	o.Devices = devices
	_, err = Solve(context.Background(), inst, keptIn(o, filepath.Join(t.TempDir(), "run"), false))
	if err == nil || !strings.Contains(err.Error(), "holds whole") {
		t.Errorf("a checkpoint of slabs: %v", err)
	}
}

// What does not fit as slabs either is refused with the memory that it takes.
func TestSlabsRefused(t *testing.T) {
	devices := narrow(t, 2, 30<<10)
	inst, err := draw.ByCoalition(problem.Int32, 14, func(mask uint64) float64 { return float64(draw.Mix(mask) % 100000) })
	if err != nil {
		t.Fatal(err)
	}
	_, err = Solve(context.Background(), inst, Options{Settings: solve.Settings{Devices: devices}})
	if err == nil || !errors.Is(err, device.ErrMemory) {
		t.Errorf("found %v, expected too little memory", err)
	}
	if err := CheckSize(devices[0].Facts(), 14, problem.Int32, 2); err == nil {
		t.Errorf("found %v before anything is read", err)
	}
}
