package paths

import (
	"math"
	"math/bits"
)

// sum is the sum of costs without rounding, rounded once; false where 128 bits do not hold it, or no float64 does.
func sum(list []float64) (float64, bool) {
	most := 0.0
	for _, x := range list {
		most = max(most, math.Abs(x))
	}
	if most == 0 {
		return 0, true
	}
	_, e := math.Frexp(most)
	low := e + bits.Len(uint(len(list))) - 126 // exponent of the last bit
	if e < -800 || e > 1000 {
		return 0, false
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
	sign := 1.0
	if int64(high) < 0 {
		var borrow uint64
		sign = -1
		rest, borrow = bits.Sub64(0, rest, 0)
		high, _ = bits.Sub64(0, high, borrow)
	}
	if high == 0 {
		return math.Ldexp(sign*float64(rest), low), true
	}
	shift := bits.LeadingZeros64(high)
	top := high<<shift | rest>>1>>(63-shift)
	if rest<<shift != 0 {
		top |= 1 // the last bit stands for those below
	}
	return math.Ldexp(sign*float64(top), low+64-shift), true
}
