package tables

import (
	"fmt"
	"iter"
	"math/bits"
)

// Slabs are how several devices hold a table of coalitions that none has room for. The table
// is 2^Bits slabs: a set T of the Bits highest agents, with each of the 2^Low coalitions of the
// others. Each device has a part of every slab, and a window of four whole ones. Without Bits
// each has the whole table.
type Slabs struct{ Bits, Low int }

const (
	withBytes  = 256 << 20 // of values of the last agent's coalitions, or of values on their way
	roomBytes  = 256 << 20 // of packed tiles
	fewestBits = 3         // with fewer a window is no smaller than the table
	mostBits   = 6         // with more slabs the waste grows to twice the work
)

// Cut is the cut of the fewest slabs with which a table of so many agents, of values of width
// bytes, fits members that have so much free memory each, 0 where that is not known; where
// none fits, that of the least memory.
func Cut(agents, tileBits int, width int64, members int, free int64) Slabs {
	s := Slabs{Low: agents}
	if free <= 0 || s.Bytes(width, members) <= free {
		return s
	}
	for b := fewestBits; b <= min(mostBits, agents-tileBits); b++ {
		cut := Slabs{b, agents - b}
		if cut.Bytes(width, members) < s.Bytes(width, members) {
			s = cut
		}
		if s.Bytes(width, members) <= free {
			return s
		}
	}
	return s
}

// Bytes is the memory that each of so many members takes for values of width bytes: its part
// of the slabs and the window, or the whole table; values that come in pieces, and packed tiles.
func (s Slabs) Bytes(width int64, members int) int64 {
	slab := int64(1) << s.Low
	part := (slab + int64(members) - 1) / int64(members)
	held := slab
	if s.Bits > 0 {
		held = part<<s.Bits + 4*slab
	}
	return width*held + min(width*part, withBytes) + min(width*held, roomBytes)
}

// String says what the cut costs.
func (s Slabs) String() string {
	work, least := s.Work()
	return fmt.Sprintf("no device has room for the table: it is spread over all in %d slabs, with %.2f times the work", 1<<s.Bits, work/least)
}

// Pairs are the parts without T's highest agent of the splittings of T in two, T of two agents
// at least. Each is a pass over slab T.
func Pairs(t uint64) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		rest := t ^ 1<<(bits.Len64(t)-1)
		for part := rest; part != 0 && yield(part); part = (part - 1) & rest {
		}
	}
}

// Work is how much the passes evaluate: 1 is what makes a slab from itself and that of no high
// agents, or from two others. Least is what a whole table takes.
func (s Slabs) Work() (work, least float64) {
	work, least = 0.5, 0.5
	for t := uint64(1); t < 1<<s.Bits; t++ {
		pairs := float64(int(1)<<(bits.OnesCount64(t)-1) - 1)
		work += max(1, 2*pairs)
		least += 1 + pairs
	}
	return work, least
}
