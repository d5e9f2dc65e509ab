package problem

import (
	"math"
	"math/big"
	"math/bits"
)

// A Sum adds up float64 numbers without rounding: a fixed-point number of all bits that
// a float64 can have, in digits of 32 bits that carry late. The zero Sum is 0.
type Sum struct {
	digit [68]int64 // digit[0] counts 2^-1074
	added int       // since the last carry
}

// Carries are due before digits, which grow by less than 2^32 each time, leave int64.
const carryEvery = 1 << 30

// Add adds a finite number.
func (s *Sum) Add(v float64) {
	pattern := math.Float64bits(v)
	mantissa, e := pattern&(1<<52-1), int(pattern>>52&0x7ff)
	if e > 0 {
		mantissa |= 1 << 52
		e--
	}
	high, low := bits.Mul64(mantissa, 1<<(e&31))
	sign := int64(pattern) >> 63
	d := s.digit[e>>5:][:3]
	d[0] += (int64(low&(1<<32-1)) ^ sign) - sign
	d[1] += (int64(low>>32) ^ sign) - sign
	d[2] += (int64(high) ^ sign) - sign
	if s.added++; s.added == carryEvery {
		s.carry()
	}
}

// carry leaves every digit but the last between 0 and 2^32.
func (s *Sum) carry() {
	s.added = 1
	for k := range len(s.digit) - 1 {
		s.digit[k+1] += s.digit[k] >> 32
		s.digit[k] &= 1<<32 - 1
	}
}

// Join adds another sum.
func (s *Sum) Join(t *Sum) {
	s.carry()
	t.carry()
	for k, d := range t.digit {
		s.digit[k] += d
	}
}

// Exact is the sum, of which no bit is lost.
func (s *Sum) Exact() *big.Float {
	s.carry()
	whole := new(big.Int)
	for k := len(s.digit) - 1; k >= 0; k-- {
		whole.Add(whole.Lsh(whole, 32), big.NewInt(s.digit[k]))
	}
	x := newExact().SetInt(whole)
	return x.SetMantExp(x, -1074)
}

// Float is the float64 nearest to the sum, infinite where that is beyond all.
func (s *Sum) Float() float64 {
	x, _ := s.Exact().Float64()
	return x
}

// newExact is 0 with room for every bit of such a sum.
func newExact() *big.Float { return new(big.Float).SetPrec(2240) }

// roundOutward rounds to a float64: to the next above where up is set, else below.
func roundOutward(x *big.Float, up bool) float64 {
	f, accuracy := x.Float64()
	switch {
	case up && accuracy == big.Below:
		return math.Nextafter(f, math.Inf(1))
	case !up && accuracy == big.Above:
		return math.Nextafter(f, math.Inf(-1))
	}
	return f
}
