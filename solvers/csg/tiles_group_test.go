package csg

import (
	"context"
	"strings"
	"testing"

	gencsg "coalesce/generated/csg"
	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/runtime/host"
	"coalesce/solvers/csg/internal/levels"
)

// Three devices find what one core finds: levels with fewer targets than devices, tiles
// of every type, and the last agent's blocks in unequal shares.
func TestSolveOnSeveral(t *testing.T) {
	devices := emulatedtest.Several(t, 3)
	for _, c := range []struct {
		value Value
		n     int
	}{{Int32, 1}, {Int32, 2}, {Int64, 9}, {Float32, 10}, {Int32, 12}, {Float64, 13}, {Int32, 14}} {
		inst, err := drawInstance(c.value, c.n, func(mask uint64) float64 { return float64(mix(mask)%2000) - 1000 })
		if err != nil {
			t.Fatal(err)
		}
		o := Options{Devices: devices[:min(3, 1+c.n)]}
		got, err := Solve(context.Background(), inst, o)
		if err != nil {
			t.Fatalf("%d agents, %s: %v", c.n, c.value, err)
		}
		want, err := Reference(inst, Apart)
		if err != nil {
			t.Fatal(err)
		}
		if got.Value != want.Value || !strings.HasPrefix(got.Variant, gencsg.Tiles.Name) {
			t.Errorf("%d agents, %s: found %s by %s, expected %s", c.n, c.value, got.Value, got.Variant, want.Value)
		}
	}
}

// Tiles go through rooms that hold one tile of each device, or a few.
func TestExchangeInPieces(t *testing.T) {
	devices := emulatedtest.Several(t, 2)
	v := gencsg.Tiles.Variant("chunk=4,slot=4,each=1,block=128,stages=3,pairs=1,adder=fused,least=1,value=int32")
	if v == nil {
		t.Fatal("no such variant")
	}
	inst, err := drawInstance(Int32, 13, func(mask uint64) float64 { return float64(mix(5<<40^mask)%100) - 20 })
	if err != nil {
		t.Fatal(err)
	}
	want, err := Reference(inst, Apart)
	if err != nil {
		t.Fatal(err)
	}
	run, err := openGroup(devices, nil, v)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	for _, most := range []int64{1, 5 << 10, 1 << 20} {
		small := *run
		small.engine = func(n int) engine {
			e := run.engine(n).(*tilesGroup)
			e.most = most
			e.parts[1].room = 256
			return e
		}
		j, err := small.prepare(inst)
		if err != nil {
			t.Fatal(err)
		}
		r := NewResult(inst)
		if err := j.upload(context.Background(), j.stream, inst.Bytes()); err != nil {
			t.Fatal(err)
		}
		claimed, err := j.solve(context.Background(), r, levels.Follow{})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Certify(inst, claimed); err != nil || claimed != want.Value.String() {
			t.Errorf("rooms of %d bytes: found %s, %v, expected %s", most, claimed, err, want.Value)
		}
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Several hosts, and kernels that run on one device alone, are refused.
func TestSeveralRefused(t *testing.T) {
	h := host.Open(1)
	defer h.Close()
	inst, err := drawInstance(Int32, 5, drawnMask)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Solve(context.Background(), inst, Options{Devices: []device.Device{h, h}}); err == nil || !strings.Contains(err.Error(), "Devices: found 2: csg/hosttiles runs on one") {
		t.Errorf("two hosts: found %v", err)
	}
}
