package ways

import (
	"testing"

	"coalesce/autotune/tuned"
	"coalesce/runtime/device"
	"coalesce/solvers/solve"
)

// In the data that the binary carries an H200's tiles win up to 24 agents and prices at 26 and 28, so that prices
// are chosen for more agents too.
func TestChooseBeyondTuned(t *testing.T) {
	facts := device.Facts{Kind: device.CUDA, Name: "NVIDIA H200", Major: 9, SMs: 132, SharedPerBlock: 232448}
	all := func(*device.Variant, device.Facts, int) error { return nil }
	for n, want := range map[int]string{22: "apart", 24: "apart", 26: "price", 27: "price", 28: "price", 30: "price", 35: "price"} {
		way, err := Choose(&solve.Settings{Tuning: tuned.Shipped()}, facts, n, all)
		if err != nil {
			t.Fatal(err)
		}
		if way.Name() != want {
			t.Errorf("%d agents: chose %s (%s), expected %s", n, way.Name(), way.Reason(), want)
		}
	}
}
