package text

import (
	"math"
	"math/bits"
)

// A decimal is mantissa times 10^exponent, or the negative of that.
type decimal struct {
	mantissa uint64
	exponent int
	negative bool
}

// powers are those of 10 that 64 bits hold.
var powers = [...]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19}

// parseDecimal reads digits with a point among them or none, behind a sign or none, before an exponent of at
// most 4 digits or none. It returns false for everything else, and where there are more than 19 digits behind
// the zeros at the beginning.
func parseDecimal(word []byte) (d decimal, ok bool) {
	at := 0
	if len(word) > 0 && (word[0] == '-' || word[0] == '+') {
		d.negative, at = word[0] == '-', 1
	}
	from := at
	for at < len(word) && word[at] == '0' {
		at++
	}
	zeros := at
	at = d.digits(word, at)
	seen, count := at-from, at-zeros
	if at < len(word) && word[at] == '.' {
		at++
		point := at
		if count == 0 {
			for at < len(word) && word[at] == '0' {
				at++
			}
		}
		zeros = at
		at = d.digits(word, at)
		seen += at - point
		count += at - zeros
		d.exponent = point - at
	}
	if seen == 0 || count > 19 {
		return d, false
	}
	if at == len(word) {
		return d, true
	}
	if word[at]|0x20 != 'e' {
		return d, false
	}
	at++
	negative := false
	if at < len(word) && (word[at] == '-' || word[at] == '+') {
		negative = word[at] == '-'
		at++
	}
	if len(word)-at < 1 || len(word)-at > 4 {
		return d, false
	}
	e := 0
	for _, c := range word[at:] {
		if c -= '0'; c > 9 {
			return d, false
		}
		e = 10*e + int(c)
	}
	if negative {
		e = -e
	}
	d.exponent += e
	return d, true
}

// digits appends the digits from a place on to the mantissa, and returns where they end. The mantissa wraps round
// beyond 19 digits.
func (d *decimal) digits(word []byte, at int) int {
	for at+8 <= len(word) {
		count, value := leadingDigits(loadWord(word, at))
		d.mantissa = d.mantissa*powers[count] + value
		at += count
		if count < 8 {
			return at
		}
	}
	for ; at < len(word) && word[at]-'0' < 10; at++ {
		d.mantissa = 10*d.mantissa + uint64(word[at]-'0')
	}
	return at
}

// float is the float64 nearest to a decimal, of two equally near ones the even one; false where that takes more than
// the arithmetic of 128 bits, which suffices for exponents from -27 to 27.
func (d decimal) float() (v float64, ok bool) {
	m, e := d.mantissa, d.exponent
	switch {
	case m < 1<<53 && -len(exact) < e && e < len(exact):
		// Both are exact as float64, so that their quotient or product is rounded once (Clinger 1990).
		if v = float64(m); e < 0 {
			v /= exact[-e]
		} else {
			v *= exact[e]
		}
	case m != 0 && -len(fives) < e && e < len(fives):
		v = scaled(m, e)
	default:
		return 0, false
	}
	if d.negative {
		v = -v
	}
	return v, true
}

// exact are the powers of 10 that float64 holds exactly.
var exact = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// fives are the powers of 5 that 64 bits hold.
var fives = [...]uint64{
	1, 5, 25, 125, 625, 3125, 15625, 78125, 390625, 1953125, 9765625, 48828125, 244140625, 1220703125, 6103515625,
	30517578125, 152587890625, 762939453125, 3814697265625, 19073486328125, 95367431640625, 476837158203125,
	2384185791015625, 11920928955078125, 59604644775390625, 298023223876953125, 1490116119384765625, 7450580596923828125,
}

// scaled is m·10^e, m > 0, rounded to the nearest float64. 10^e is 5^e·2^e. The product with or the quotient by the power of
// 5 has its first 62 bits and more in a number of 64, whose lowest bit then says, too, whether the rest is not 0: no bit of
// the rest matters otherwise, as a float64 has 53. The power of 2 is exact.
func scaled(m uint64, e int) float64 {
	shift := bits.LeadingZeros64(m)
	m <<= shift
	two := e - shift // what is left is a power of 2
	five := fives[max(e, -e)]
	more := bits.LeadingZeros64(five)
	five <<= more
	var high, rest uint64
	if e < 0 {
		high, rest = bits.Div64(m>>1, m<<63, five) // m·2^63 by five, both at least 2^63
		two += more - 63
	} else {
		high, rest = bits.Mul64(m, five)
		two += 64 - more
	}
	if rest != 0 {
		high |= 1
	}
	return float64(high) * math.Float64frombits(uint64(1023+two)<<52)
}

// Decimal reads a decimal that is whole times 10^-digits, digits being the fewest that do, at least 0. It returns false for
// everything else, and where whole has more than 18 digits.
func Decimal(word []byte) (whole int64, digits int, ok bool) {
	d, ok := parseDecimal(word)
	if !ok || d.mantissa > 1e18 {
		return 0, 0, false
	}
	for d.mantissa%10 == 0 && d.mantissa != 0 && d.exponent < 0 {
		d.mantissa /= 10
		d.exponent++
	}
	if d.mantissa == 0 {
		d.exponent = 0
	}
	if d.exponent < -18 || d.exponent > 18 || d.exponent > 0 && d.mantissa > 1e18/powers[d.exponent] {
		return 0, 0, false
	}
	if d.exponent > 0 {
		d.mantissa, d.exponent = d.mantissa*powers[d.exponent], 0
	}
	if whole = int64(d.mantissa); d.negative {
		whole = -whole
	}
	return whole, -d.exponent, true
}
