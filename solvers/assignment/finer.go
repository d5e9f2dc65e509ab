package assignment

import (
	"math/bits"
)

// approaches reports whether a problem of points is solved from coarse to fine.
// Few rows have costs of so many bits that prices have no room to fall.
func (p *normal) approaches() bool {
	const few = 64
	return p.rows == p.cols && p.limit == far && p.rows >= few
}

// finer is a problem of whole costs multiplied by as large a power of two as
// there is room for, so that auctions tell ties apart; shift is the power.
func (p *normal) finer() (_ *normal, shift uint) {
	if !p.inst.Points.Floor || !p.approaches() {
		return p, 0
	}
	room := bits.Len64(uint64(maxScaled(p.rows))) - bits.Len64(uint64(max(p.most, -p.least, 1)))
	shift = uint(max(0, min(room-1, 20)))
	f := *p
	f.scale *= float64(int64(1) << shift)
	f.least, f.most = p.least<<shift, p.most<<shift
	return &f, shift
}
