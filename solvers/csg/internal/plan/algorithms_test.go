package plan

import (
	"runtime"
	"testing"

	"coalesce/autotune/tuned"
	"coalesce/runtime/device"
	"coalesce/solvers/csg/internal/reference"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// In the data that the binary carries an H200's tiles win up to 24 agents and prices at 26 and 28, so that prices
// are chosen for more agents too.
func TestChooseBeyondTuned(t *testing.T) {
	facts := device.Facts{Kind: device.CUDA, Name: "NVIDIA H200", Major: 9, SMs: 132, SharedPerBlock: 232448}
	for n, want := range map[int]reference.Method{22: "apart", 24: "apart", 26: "price", 27: "price", 28: "price", 30: "price", 35: "price"} {
		first, err := chooseAlgorithm(&solve.Settings{Tuning: tuned.Shipped()}, facts, n)
		if err != nil {
			t.Fatal(err)
		}
		if first.Method() != want {
			t.Errorf("%d agents: chose %s (%s), expected %s", n, first.Method(), first.Reason(), want)
		}
	}
}

// Beside a GPU prices may keep as many coalitions as the cores sort while tiles would run: cauchy values of
// 28 agents, seed 1, need 884,736, which 16 cores have time for.
func TestColumnsBesideGPU(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(16))
	facts := device.Facts{Kind: device.CUDA}
	first := Choice{tuned.Choice{Variant: Table.Variant("algorithm=price,share=0.2")}}
	for _, c := range []struct{ n, least, most int }{{24, 1 << 17, 1 << 17}, {28, 884736, 1 << 22}, {32, 1 << 24, 1 << 24}} {
		limits, err := limitsOfPrices(facts, c.n, problem.Int32, &solve.Settings{Devices: make([]device.Device, 1)}, first)
		if err != nil || limits == nil || limits.Columns < c.least || limits.Columns > c.most {
			t.Errorf("%d agents: %v %+v", c.n, err, limits)
		}
	}
}
