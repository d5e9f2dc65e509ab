package problem

import (
	"math"

	"coalesce/solvers/solve"
)

// A BlockPrice proves that a structure is the best among those whose number of blocks is allowed. Each coalition is worth its value in units times
// Multiple, less Price. Let a structure be the best of all under these values. It is the best of the allowed ones if Price is above 0 and it has the
// largest allowed number of blocks, or if Price is below 0 and it has the smallest.
type BlockPrice struct {
	Multiple int64 `json:"multiple"` // factor of the values in units
	Price    int64 `json:"price"`    // cost of each block
}

// Proves reports whether the best structure under a price is the best under counts, where it has so many blocks.
func (p BlockPrice) Proves(counts Counts, blocks int) bool {
	return p.Multiple > 0 && counts.Check(blocks) == nil && (p.Price == 0 || p.Price > 0 && blocks == counts.Most || p.Price < 0 && blocks == counts.Least)
}

// Priced is an instance of int64 with the values of one of integers under a price, without its constraints on numbers of blocks. Coalitions that are
// not allowed are forbidden. It is an error where sums exceed 2^62.
func (inst *Instance) Priced(p BlockPrice, allows func(mask uint64) bool) (*Instance, error) {
	values := make([]int64, inst.Len())
	set := make([]uint64, (inst.Len()+63)/64)
	type extent struct {
		largest float64
		forbids bool
	}
	found := make([]extent, ParallelRanges(uint64(len(set))))
	InParallel(uint64(len(set)), func(part int, from, to uint64) {
		e := &found[part]
		for mask := from << 6; mask < min(to<<6, inst.Len()); mask++ {
			if mask > 0 && !allows(mask) {
				e.forbids = true
				continue
			}
			set[mask>>6] |= 1 << (mask & 63)
			x := int64(0)
			switch {
			case mask == 0:
				continue
			case inst.Type == Int64:
				x = inst.I64[mask]
			case inst.Type == Int32:
				x = int64(inst.I32[mask])
			default:
				x = int64(inst.I16[mask])
			}
			e.largest = max(e.largest, math.Abs(float64(x))*float64(p.Multiple)+math.Abs(float64(p.Price)))
			values[mask] = x*p.Multiple - p.Price
		}
	})
	only := filter{}
	for _, e := range found {
		if e.largest*float64(inst.N) > 1<<62 {
			return nil, solve.AsInputError(errRestricted)
		}
		if e.forbids {
			only.set = set
		}
	}
	priced := &Instance{N: inst.N, Names: inst.Names, Source: inst.Source}
	SetValues(priced, values)
	if only.set == nil {
		return priced, nil
	}
	return priced, priced.restrict(only)
}
