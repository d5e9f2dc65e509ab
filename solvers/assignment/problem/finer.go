package problem

import (
	"math/bits"
)

// IsCoarseToFine reports whether a problem of points is solved from coarse to fine: a square one of at
// least 64 rows, without a limit. Costs of fewer rows may have so many bits that prices have no
// room to fall.
func (p *Normal) IsCoarseToFine() bool {
	const minRows = 64
	return p.Rows == p.Cols && p.Limit == Infinity && p.Rows >= minRows
}

// Refined is a problem of whole costs multiplied by as large a power of two as
// there is room for, so that auctions tell ties apart; shift is the power.
func (p *Normal) Refined() (_ *Normal, shift uint) {
	if !p.Instance.Points.Floor || !p.IsCoarseToFine() {
		return p, 0
	}
	room := bits.Len64(uint64(MaxScaled(p.Rows))) - bits.Len64(uint64(max(p.Max, -p.Min, 1)))
	shift = uint(max(0, min(room-1, 20)))
	f := *p
	f.Scale *= float64(int64(1) << shift)
	f.Min, f.Max = p.Min<<shift, p.Max<<shift
	return &f, shift
}
