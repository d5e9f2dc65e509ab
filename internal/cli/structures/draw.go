package structures

import (
	"coalesce/runtime/device"
	"coalesce/runtime/host"
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

// FreeMemory is the memory in bytes that this machine has for an instance, 0 where the
// system does not tell.
func FreeMemory() int64 {
	d := host.Open(1)
	defer d.Close()
	return d.Facts().Free
}
