package problem

import (
	"errors"
	"math"

	"coalesce/solvers/solve"
)

// Minimize makes the structure of the smallest value the best: values are negated in place, those of minus infinity stay
// forbidden, and solvers go on to look for the largest sum. Results have the values, sums and bounds of before. Integers whose
// least value has no negative become wider, with a note. It comes before Restrict. Errors are those of Check and of Prepared; a
// minimised instance and -2^63 are errors too.
func (inst *Instance) Minimize() error {
	safe, err := inst.Prepared()
	switch {
	case err != nil:
		return err
	case inst.minimized:
		return solve.AsInputError(errors.New("found values that are negated already"))
	case inst.Sizes != 0:
		return solve.InvalidInput("Sizes", "found %s, to which blocks are restricted already, expected none: Minimize comes before Restrict", inst.Sizes)
	case inst.constraints != nil:
		return solve.InvalidInput("Constraints", "found some, expected none: Minimize comes before Constrain")
	case !inst.HoldsValues():
		return solve.AsInputError(errors.New("values that are not held cannot be negated"))
	}
	*inst = *safe
	places, largest := inst.Places, inst.largest
	switch inst.Type {
	case Int16:
		negate(inst.I16)
	case Int32:
		negate(inst.I32)
	case Int64:
		negate(inst.I64)
	case Float32:
		negate(inst.F32)
	default:
		negate(inst.F64)
	}
	inst.Places, inst.largest, inst.Law, inst.minimized = places, largest, nil, true
	inst.safe = inst.prepared()
	return nil
}

// IsMinimized reports whether Minimize has negated the values.
func (inst *Instance) IsMinimized() bool { return inst.minimized }

// Signed is a sum of the values that are held as one of the values before Minimize, or the other way round.
func (inst *Instance) Signed(sum solve.Number) solve.Number {
	if inst.minimized {
		return sum.Negated()
	}
	return sum
}

// Signed is a certificate of the values that are held as one of the values before Minimize.
func (c Certificate) Signed(inst *Instance) Certificate {
	text := func(s string) string { return inst.Signed(solve.Number(s)).String() }
	blocks := make([]Block, len(c.Blocks))
	for k, b := range c.Blocks {
		blocks[k] = Block{b.Mask, b.Agents, text(b.Value)}
	}
	c.Blocks, c.Sum, c.Claimed = blocks, text(c.Sum), text(c.Claimed)
	return c
}

// negate negates finite values; 0 keeps its sign, which is none.
func negate[T Number](values []T) {
	InParallel(uint64(len(values)), func(_ int, from, to uint64) {
		for mask := from; mask < to; mask++ {
			if x := float64(values[mask]); !math.IsInf(x, -1) {
				values[mask] = 0 - values[mask]
			}
		}
	})
}
