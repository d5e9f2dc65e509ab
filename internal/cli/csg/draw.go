package csg

import (
	"fmt"

	"coalesce/internal/ui"
	"coalesce/runtime/device"
	"coalesce/runtime/memory"
	"coalesce/solvers/csg"
	"coalesce/solvers/csg/problem"
)

// drawnOnDevices reports whether GPUs draw the values of a distribution, so that this machine never holds
// them. held says that some flag needs the values in this machine's memory.
func drawnOnDevices(o *csg.Options, held bool) bool {
	held = held || o.Algorithm == string(csg.DP) || o.Algorithm == string(csg.IDP)
	return !held && o.Devices[0].Facts().Kind != device.Host
}

// newDrawnInstance is the instance of a distribution. This machine holds its values unless GPUs draw them.
func newDrawnInstance(name string, n int, seed uint64, as problem.Value, there bool) (*problem.Instance, error) {
	inst, err := csg.NewDrawn(name, n, seed, as)
	if err == nil && !there {
		inst.DrawValues()
	}
	return inst, err
}

// withLargest adds to the error of takes(n) the largest number of agents for which takes returns none.
func withLargest(n int, takes func(n int) error) error {
	err := takes(n)
	for m := n - 1; err != nil && m > 0; m-- {
		if takes(m) == nil {
			return fmt.Errorf("%w: at most %d agents fit", err, m)
		}
	}
	return err
}

// checkMemory returns an error if the values of n agents exceed the free memory. Go
// ends the program when an allocation fails, so the check comes first.
func checkMemory(n int, value problem.Value, free memory.Free) error {
	return free.CheckFits(fmt.Sprintf("the %s values of %s", value, ui.Count(n, "agent")), float64(problem.Footprint(n, value)))
}
