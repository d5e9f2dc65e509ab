package paths

import (
	"math"
	"math/bits"
)

// sum is the sum of costs without rounding, rounded once; false where 128 bits do not hold it, or no float64 does.
func sum(list []float64) (float64, bool) {
	most := uint64(0) // bits of the largest magnitude
	for _, x := range list {
		most = max(most, math.Float64bits(x)&^(1<<63))
	}
	if most == 0 {
		return 0, true
	}
	_, e := math.Frexp(math.Float64frombits(most))
	low := e + bits.Len(uint(len(list))) - 126 // exponent of the last bit
	if e < -800 || e > 1000 {
		return 0, false
	}
	if e <= 62 {
		if high, rest, ok := sumOfUnits(list, math.Ldexp(1, 62-e)); ok {
			return rounded128(high, rest, e-62), true
		}
	}
	var high, rest uint64
	for _, x := range list {
		b := math.Float64bits(x)
		mantissa, exponent := b&(1<<52-1)|1<<52, int(b>>52&0x7ff)-1075-low
		if x == 0 {
			continue
		}
		var p, q uint64
		switch {
		case b>>52&0x7ff == 0:
			return 0, false
		case exponent >= 64:
			p = mantissa << (exponent - 64)
		case exponent >= 0:
			p, q = mantissa>>1>>(63-exponent), mantissa<<exponent
		case exponent > -53 && mantissa&(1<<-exponent-1) == 0:
			q = mantissa >> -exponent
		default:
			return 0, false
		}
		var carry uint64
		if int64(b) < 0 {
			rest, carry = bits.Sub64(rest, q, 0)
			high, _ = bits.Sub64(high, p, carry)
		} else {
			rest, carry = bits.Add64(rest, q, 0)
			high, _ = bits.Add64(high, p, carry)
		}
	}
	return rounded128(high, rest, low), true
}

// sumOfUnits is the sum of numbers in units of 1/scale, below 2^62 each, in two halves; false where a unit rounds one.
func sumOfUnits(list []float64, scale float64) (high, rest uint64, ok bool) {
	var upper, lower int64 // of 2^32 units and of units
	for _, x := range list {
		x *= scale
		units := int64(x)
		if float64(units) != x {
			return 0, 0, false
		}
		upper += units >> 32
		lower += units & (1<<32 - 1)
	}
	rest, carry := bits.Add64(uint64(upper)<<32, uint64(lower), 0)
	return uint64(upper>>32) + carry, rest, true
}

// rounded128 is a number of 128 bits times 2^low, rounded once.
func rounded128(high, rest uint64, low int) float64 {
	sign := 1.0
	if int64(high) < 0 {
		var borrow uint64
		sign = -1
		rest, borrow = bits.Sub64(0, rest, 0)
		high, _ = bits.Sub64(0, high, borrow)
	}
	if high == 0 {
		return math.Ldexp(sign*float64(rest), low)
	}
	shift := bits.LeadingZeros64(high)
	top := high<<shift | rest>>1>>(63-shift)
	if rest<<shift != 0 {
		top |= 1 // the last bit stands for those below
	}
	return math.Ldexp(sign*float64(top), low+64-shift)
}
