package tiles

import (
	"errors"
	"slices"
	"testing"

	gencsg "coalesce/generated/csg"
	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/solvers/csg/internal/draw"
	"coalesce/solvers/csg/internal/engine"
	"coalesce/solvers/csg/internal/reference"
	"coalesce/solvers/csg/problem"
)

// small is a variant of int32 with small tiles.
func small(t *testing.T) *device.Variant {
	t.Helper()
	v := gencsg.Tiles.Variant("chunk=4,slot=4,each=1,block=128,stages=3,pairs=1,adder=fused,least=1,value=int32")
	if v == nil {
		t.Fatal("no such variant")
	}
	return v
}

// load loads a variant until the end of the test.
func load(t *testing.T, d device.Device, v *device.Variant) engine.LoadedVariant {
	t.Helper()
	l, err := Load(d, v)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// solve runs an engine that has no memory yet on an instance, and compares what it finds with a total.
func solve(t *testing.T, name string, d device.Device, e engine.Engine, inst *problem.Instance, progress engine.Progress, want string) {
	t.Helper()
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := errors.Join(e.Alloc(d, s), engine.UploadValues(t.Context(), e, s, inst)); err != nil {
		t.Fatal(err)
	}
	blocks, claimed, err := engine.Solve(t.Context(), e, s, inst, progress)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := problem.Check(inst, blocks, claimed); err != nil || claimed != want {
		t.Errorf("%s: found %s, %v, expected %s", name, claimed, err, want)
	}
	if err := e.Free(); err != nil {
		t.Error(err)
	}
}

// optimum is the value of the best structures by the sequential solver.
func optimum(inst *problem.Instance) string {
	_, claimed, _ := reference.Solve(inst, reference.Apart)
	return claimed
}

// Values of the last agent's coalitions that go through a small buffer.
func TestInPieces(t *testing.T) {
	d := emulatedtest.Open(t)
	inst, err := draw.ByCoalition(problem.Int32, 12, func(mask uint64) float64 { return float64(draw.Mix(3<<40^mask)%100) - 20 })
	if err != nil {
		t.Fatal(err)
	}
	l := load(t, d, small(t))
	for _, room := range []int64{128, 1024, 1 << 20} {
		e := l.Engine(inst.N).(*Engine)
		e.room = room
		var shares []float64
		solve(t, device.Size(room)+" a piece", d, e, inst, engine.Progress{Share: func(share float64) { shares = append(shares, share) }}, optimum(inst))
		if !slices.IsSorted(shares) || len(shares) == 0 || shares[len(shares)-1] != 1 {
			t.Errorf("reported the shares %v, expected rising ones up to 1", shares)
		}
	}
}

// Values that the device draws a piece at a time.
func TestDrawnInPieces(t *testing.T) {
	d := emulatedtest.Open(t)
	inst, err := draw.NewDrawn("planted", 12, 3, problem.Int32)
	if err != nil {
		t.Fatal(err)
	}
	e := load(t, d, small(t)).Engine(inst.N).(*Engine)
	e.room = 1024
	solve(t, "planted", d, e, inst, engine.Progress{}, "120000") // of the 12 agents
}

// Every variant of int16 has the last agent's values in pieces, of one value too.
func TestInt16PieceVariants(t *testing.T) {
	d := emulatedtest.Open(t)
	for _, v := range emulatedtest.Variants(&gencsg.Tiles) {
		if valueType(v) != problem.Int16 {
			continue
		}
		l := load(t, d, v)
		for _, room := range []int64{2, 6, 1 << 10} {
			n := map[bool]int{true: 6, false: 13}[room < 1<<10]
			inst, err := draw.ByCoalition(problem.Int16, n, func(mask uint64) float64 { return float64(draw.Mix(mask)%200) - 50 })
			if err != nil {
				t.Fatal(err)
			}
			e := l.Engine(n).(*Engine)
			e.room = room
			solve(t, v.Label, d, e, inst, engine.Progress{}, optimum(inst))
		}
	}
}

// Tiles go through rooms that hold one tile of each device, or a few.
func TestExchangeInPieces(t *testing.T) {
	devices := emulatedtest.OpenSeveral(t, 2)
	inst, err := draw.ByCoalition(problem.Int32, 13, func(mask uint64) float64 { return float64(draw.Mix(5<<40^mask)%100) - 20 })
	if err != nil {
		t.Fatal(err)
	}
	l, err := LoadGroup(devices, nil, small(t))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, most := range []int64{1, 5 << 10, 1 << 20} {
		e := l.Engine(inst.N).(*Group)
		e.most = most
		e.parts[1].room = 256
		solve(t, "rooms of "+device.Size(most), devices[0], e, inst, engine.Progress{}, optimum(inst))
	}
}
