package csg

import (
	"context"
	"strings"
	"testing"

	gencsg "coalesce/generated/csg"
	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/runtime/host"
	"coalesce/solvers/csg/internal/draw"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// Three devices find what one core finds: levels with fewer targets than devices, tiles
// of every type, and the last agent's blocks in unequal shares.
func TestSolveOnSeveral(t *testing.T) {
	devices := emulatedtest.OpenSeveral(t, 3)
	for _, c := range []struct {
		value problem.Value
		n     int
	}{{problem.Int32, 1}, {problem.Int32, 2}, {problem.Int64, 9}, {problem.Float32, 10}, {problem.Int32, 12}, {problem.Float64, 13}, {problem.Int32, 14}} {
		inst, err := draw.ByCoalition(c.value, c.n, func(mask uint64) float64 { return float64(draw.Mix(mask)%2000) - 1000 })
		if err != nil {
			t.Fatal(err)
		}
		o := Options{Settings: solve.Settings{Devices: devices[:min(3, 1+c.n)]}}
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

// Several hosts, and kernels that run on one device alone, are refused.
func TestSeveralRefused(t *testing.T) {
	h := host.Open(1)
	defer h.Close()
	inst, err := draw.ByCoalition(problem.Int32, 5, drawnMask)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Solve(context.Background(), inst, Options{Settings: solve.Settings{Devices: []device.Device{h, h}}}); err == nil || !strings.Contains(err.Error(), "Devices: found 2: csg/hosttiles runs on one") {
		t.Errorf("two hosts: found %v", err)
	}
}
