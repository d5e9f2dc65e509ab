package csg

import (
	"coalesce/runtime/device"
	"coalesce/solvers/csg"
)

// DrawsThere reports whether GPUs draw the values of a distribution, so that this machine never holds
// them. held says that some flag needs the values in this machine's memory.
func DrawsThere(o *csg.Options, held bool) bool {
	held = held || o.Algorithm == string(csg.DP) || o.Algorithm == string(csg.IDP)
	return !held && o.Devices[0].Facts().Kind != device.Host
}

// Draw is the instance of a distribution. This machine holds its values unless GPUs draw them.
func Draw(name string, n int, seed uint64, as csg.Value, there bool) (*csg.Instance, error) {
	inst, err := csg.Drawn(name, n, seed, as)
	if err == nil && !there {
		inst.Hold()
	}
	return inst, err
}
