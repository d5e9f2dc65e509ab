package problem

import "coalesce/runtime/device"

// A Law gives every value of an instance as a function of the coalition, so that no
// memory of this machine has to hold them all.
type Law interface {
	// Value is a coalition's, exactly as the instance's type holds it.
	Value(mask uint64) float64
	// LeastValue is no more than any finite value.
	LeastValue() float64
	// AsType is the law of the same values as another type of integers, which holds them.
	AsType(as Value) Law
	// SetValues sets the instance's slice.
	SetValues(inst *Instance)
	// OpenDrawer is what draws values on a device.
	OpenDrawer(d device.Device) (Drawer, error)
}

// A Drawer is a Law on a device.
type Drawer interface {
	// DrawInto draws the values of coalitions first to first+count-1 to the beginning of v.
	DrawInto(s device.Stream, v device.Buffer, first, count uint64) error
	Close() error
}

// HoldsValues reports whether the values lie in this machine's memory.
func (inst *Instance) HoldsValues() bool {
	return len(inst.I16)+len(inst.I32)+len(inst.I64)+len(inst.F32)+len(inst.F64) > 0
}

// DrawValues draws the values of an instance that has a Law and does not hold them.
func (inst *Instance) DrawValues() {
	if inst.Law != nil && !inst.HoldsValues() {
		inst.Law.SetValues(inst)
	}
}
