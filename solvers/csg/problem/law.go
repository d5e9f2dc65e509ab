package problem

import "coalesce/runtime/device"

// A Law gives every value of an instance as a function of the coalition, so that no
// memory of this machine has to hold them all.
type Law interface {
	// Value is a coalition's, exactly as the instance's type holds it.
	Value(mask uint64) float64
	// Least is no more than any finite value.
	Least() float64
	// In is the law of the same values as another type of integers, which holds them.
	In(as Value) Law
	// Hold sets the instance's slice.
	Hold(inst *Instance)
	// On is what draws values on a device.
	On(d device.Device) (Drawer, error)
}

// A Drawer is a Law on a device.
type Drawer interface {
	// Into draws the values of coalitions first to first+count-1 to the beginning of v.
	Into(s device.Stream, v device.Buffer, first, count uint64) error
	Close() error
}

// Held reports whether the values lie in this machine's memory.
func (inst *Instance) Held() bool {
	return len(inst.I16)+len(inst.I32)+len(inst.I64)+len(inst.F32)+len(inst.F64) > 0
}

// Hold draws the values of an instance that has a Law and does not hold them.
func (inst *Instance) Hold() {
	if inst.Law != nil && !inst.Held() {
		inst.Law.Hold(inst)
	}
}
