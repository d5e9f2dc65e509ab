package problem

// SetCover turns an instance that holds a table into the table of the best partitions of another
// instance's coalitions, under the sizes that the other's blocks may have. It forbids coalitions that
// cannot be divided into such blocks (Sizes), and gives them the value of the other's forbidden blocks.
// The table and the other instance then have the same optimum.
func (f *Instance) SetCover(inst *Instance) {
	f.Sizes = inst.Sizes.ReachableSums()
	for k := range inst.N {
		block := uint64(2)<<k - 1
		if f.Sizes.Allows(block) {
			continue
		}
		var x int64
		switch inst.Type { // a block that cannot be divided is forbidden
		case Int16:
			x = int64(inst.I16[block])
		case Int32:
			x = int64(inst.I32[block])
		case Int64:
			x = inst.I64[block]
		}
		f.forbidValue(x)
		return
	}
}

// RestrictCover restricts an instance whose values are a table of best partitions under sizes of blocks: it
// forbids coalitions that cannot be divided into such blocks, whatever their values.
func (f *Instance) RestrictCover(sizes Sizes) error {
	f.Sizes = sizes.ReachableSums()
	f.forbidValue(0)
	f.Sizes = 0
	if err := f.Promote(); err != nil {
		return err
	}
	return f.Restrict(sizes.ReachableSums())
}
