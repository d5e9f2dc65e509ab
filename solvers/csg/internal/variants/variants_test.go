package variants

import (
	"slices"
	"testing"

	"coalesce/autotune/tuned"
	gencsg "coalesce/generated/csg"
	"coalesce/runtime/device"
	"coalesce/solvers/csg/internal/reference"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// Where tiles do not run, the published kernel runs by the method that was measured to be quicker: on an
// H200 reference.DP at 18 agents, reference.IDP at 22; reference.DP on a device that nothing is known of.
func TestQuickerMethod(t *testing.T) {
	h200 := device.Facts{Kind: device.CUDA, Name: "NVIDIA H200", Major: 9, SMs: 132, SharedPerBlock: 232448, ThreadsPerBlock: 1024}
	unknown := device.Facts{Kind: device.Emulated, Name: "unknown", SMs: 1, SharedPerBlock: 49152, ThreadsPerBlock: 1024}
	for _, c := range []struct {
		facts device.Facts
		n     int
		want  reference.Method
	}{{h200, 18, reference.DP}, {h200, 22, reference.IDP}, {unknown, 22, reference.DP}} {
		if got := QuickerMethod(c.facts, c.n, &solve.Settings{}); got != c.want {
			t.Errorf("%d agents on %s: %s, expected %s", c.n, c.facts, got, c.want)
		}
	}
}

// Where nothing was tuned, large tables of int16 get the variant that is quickest there, and
// small ones the safe one.
func TestChooseTilesOfInt16(t *testing.T) {
	facts := device.Facts{Kind: device.CUDA, Name: "untuned", Major: 9, SMs: 100, SharedPerBlock: 232448, ThreadsPerBlock: 1024}
	for n, want := range map[int]string{20: "safe", 27: "predicted", 33: "predicted"} {
		c, err := Choose(&gencsg.Tiles, facts, &problem.Instance{N: n, Type: problem.Int16}, &solve.Settings{Devices: make([]device.Device, 1), Tuning: new(tuned.Database)}, reference.Apart)
		if err != nil || c.Level != want || (c.Variant.Safe != (want == "safe")) {
			t.Errorf("%d agents: chose %v (%s), %v, expected %s", n, c.Variant, c.Level, err, want)
		}
	}
}

// What several devices take together is shared: half of the values for each of two.
func TestMemoryOfSeveral(t *testing.T) {
	f := &gencsg.Price
	v := &f.Variants[slices.IndexFunc(f.Variants, func(v device.Variant) bool { return v.Safe && f.Value(&v, "value") == string(problem.Int32) })]
	one, two, three := Memory(f, v, 34, 1), Memory(f, v, 34, 2), Memory(f, v, 34, 3)
	if values := int64(4) << 34; one < values || two < values/2 || two > values*51/100 || three < values/3 || three > values*42/100 {
		t.Errorf("found %d, %d and %d bytes for one, two and three devices of 34 agents", one, two, three)
	}
	small := device.Facts{Kind: device.CUDA, Free: 20 << 30}
	if CheckSize(small, 34, problem.Int32, 1) == nil || CheckSize(small, 34, problem.Int32, 4) != nil {
		t.Errorf("found %v, %v: expected 34 agents on four devices of 20 GiB, and not on one", CheckSize(small, 34, problem.Int32, 1), CheckSize(small, 34, problem.Int32, 4))
	}
}
