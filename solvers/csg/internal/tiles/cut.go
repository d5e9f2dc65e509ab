package tiles

import (
	"fmt"
	"iter"
	"math/bits"

	"coalesce/runtime/device"
)

// A Cut says how several devices hold a table of coalitions that no device has room for. The table
// is cut into 2^Bits slabs: slab T holds the coalitions whose members among the Bits highest agents
// are the set T, 2^Low of them. Each device has a part of every slab, and a window of four whole
// slabs. If Bits is 0, each device has the whole table.
type Cut struct{ Bits, Low int }

const (
	fewestBits = 3 // with fewer bits the window is as large as the table
	mostBits   = 6 // more slabs would double the work
)

// CutTable returns the cut with the fewest slabs that fits into `free` bytes on each of so many members,
// for a table of so many agents with values of width bytes. If none fits, it returns the cut that
// takes the least memory; if free is 0 (not known), the whole table.
func CutTable(agents, tileBits int, width int64, members int, free int64) Cut {
	s := Cut{Low: agents}
	if free <= 0 || s.Bytes(width, members) <= free {
		return s
	}
	for b := fewestBits; b <= min(mostBits, agents-tileBits); b++ {
		cut := Cut{b, agents - b}
		if cut.Bytes(width, members) < s.Bytes(width, members) {
			s = cut
		}
		if s.Bytes(width, members) <= free {
			return s
		}
	}
	return s
}

// CutFor is the cut for n agents and a variant: how so many members hold its table, the least free
// memory of which is given.
func CutFor(v *device.Variant, n, members int, free int64) Cut {
	return CutTable(max(0, n-1), TileBits(v), int64(valueType(v).Size()), members, free)
}

// Bytes is the memory that each of so many members takes for values of width bytes: its part
// of the slabs and the window, or the whole table; values that come in pieces, and packed tiles.
func (c Cut) Bytes(width int64, members int) int64 {
	slab := int64(1) << c.Low
	part := (slab + int64(members) - 1) / int64(members)
	held := slab
	if c.Bits > 0 {
		held = part<<c.Bits + 4*slab
	}
	return width*held + min(width*part, withBytes) + min(width*held, gatherBytes)
}

// String says why the table is cut, and the work of the cut over that of a whole table.
func (c Cut) String() string {
	work, least := c.Work()
	return fmt.Sprintf("no device has room for the table: it is spread over all in %d slabs, with %.2f times the work", 1<<c.Bits, work/least)
}

// splittingsOf yields, for each splitting in two of a set T of at least two agents, the part without T's
// highest agent. Slab T takes one pass for each.
func splittingsOf(t uint64) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		rest := t ^ 1<<(bits.Len64(t)-1)
		for part := rest; part != 0 && yield(part); part = (part - 1) & rest {
		}
	}
}

// Work is the work of all passes; the unit is the work of combining a slab with slab 0, or two
// slabs with one another. least is the work of a whole table, in the same unit.
func (c Cut) Work() (work, least float64) {
	work, least = 0.5, 0.5
	for t := uint64(1); t < 1<<c.Bits; t++ {
		pairs := float64(int(1)<<(bits.OnesCount64(t)-1) - 1)
		work += max(1, 2*pairs)
		least += 1 + pairs
	}
	return work, least
}
