package problem

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// A Decimal is Digits times ten to the power of Exponent, exactly.
type Decimal struct {
	Digits   int64
	Exponent int32
}

// DecimalOfInteger is the decimal of an integer.
func DecimalOfInteger(x int64) Decimal { return Decimal{Digits: x} }

// maxExponent is the largest exponent of ten, with either sign: float64 has none beyond.
const maxExponent = 400

// ParseDecimal reads a number of at most 18 digits, with a fraction or an exponent or without; false for all else.
func ParseDecimal(text string) (Decimal, bool) {
	mantissa, exponent := text, 0
	if at := strings.IndexAny(text, "eE"); at >= 0 {
		e, err := strconv.Atoi(text[at+1:])
		if err != nil || e > maxExponent || e < -maxExponent {
			return Decimal{}, false
		}
		mantissa, exponent = text[:at], e
	}
	if whole, fraction, ok := strings.Cut(mantissa, "."); ok {
		if fraction != "" && (fraction[0] == '+' || fraction[0] == '-') {
			return Decimal{}, false
		}
		fraction = strings.TrimRight(fraction, "0")
		if mantissa, exponent = whole+fraction, exponent-len(fraction); fraction == "" && strings.Trim(whole, "+-") == "" {
			return Decimal{}, false
		}
	}
	bare := strings.TrimLeft(strings.TrimLeft(mantissa, "+-"), "0")
	if cut := strings.TrimRight(bare, "0"); len(bare) > 18 && len(cut) <= 18 {
		exponent += len(bare) - len(cut)
		mantissa = mantissa[:len(mantissa)-(len(bare)-len(cut))]
	}
	digits, err := strconv.ParseInt(mantissa, 10, 64)
	if err != nil || digits > 1e18 || digits < -1e18 {
		return Decimal{}, false
	}
	return Decimal{digits, int32(exponent)}.reduced(), true
}

// DecimalOf returns the shortest decimal that rounds to a float64, and false for infinities and NaN.
func DecimalOf(x float64) (Decimal, bool) {
	return ParseDecimal(strconv.FormatFloat(x, 'e', -1, 64))
}

// reduced is the same number without zeros at the end of its digits.
func (d Decimal) reduced() Decimal {
	if d.Digits == 0 {
		return Decimal{}
	}
	for d.Digits%10 == 0 {
		d.Digits, d.Exponent = d.Digits/10, d.Exponent+1
	}
	return d
}

// Float is the nearest float64, up to one rounding more.
func (d Decimal) Float() float64 { return float64(d.Digits) * math.Pow10(int(d.Exponent)) }

// Rat is the number itself.
func (d Decimal) Rat() *big.Rat {
	var s Sum
	s.Add(d)
	return s.Rat()
}

func (d Decimal) String() string {
	if d.Exponent >= 0 && d.Exponent < 19 {
		return strconv.FormatInt(d.Digits, 10) + strings.Repeat("0", int(d.Exponent))
	}
	return RatText(d.Rat())
}

// RatText writes a rational number whose denominator has no factors but 2 and 5 with all its digits.
func RatText(x *big.Rat) string {
	places, _ := x.FloatPrec()
	return x.FloatString(places)
}

// A Sum is an exact sum of decimals.
type Sum struct {
	small map[int32]int64
	large map[int32]*big.Int // what does not fit small
}

// Add adds a decimal.
func (s *Sum) Add(d Decimal) {
	if s.small == nil {
		s.small = map[int32]int64{}
	}
	before := s.small[d.Exponent]
	after := before + d.Digits
	if (after > before) == (d.Digits > 0) {
		s.small[d.Exponent] = after
		return
	}
	s.addLarge(big.NewInt(before), d.Exponent)
	s.small[d.Exponent] = d.Digits
}

// AddTimes adds a decimal times an integer.
func (s *Sum) AddTimes(d Decimal, times int64) {
	if product := d.Digits * times; times == 0 || product/times == d.Digits && product > -1<<62 && product < 1<<62 {
		s.Add(Decimal{product, d.Exponent})
		return
	}
	s.addLarge(new(big.Int).Mul(big.NewInt(d.Digits), big.NewInt(times)), d.Exponent)
}

func (s *Sum) addLarge(x *big.Int, exponent int32) {
	if s.large == nil {
		s.large = map[int32]*big.Int{}
	}
	if before := s.large[exponent]; before != nil {
		x.Add(x, before)
	}
	s.large[exponent] = x
}

// Rat is the sum.
func (s *Sum) Rat() *big.Rat {
	total, ten := new(big.Rat), big.NewInt(10)
	add := func(x *big.Int, exponent int32) {
		power := new(big.Int).Exp(ten, big.NewInt(int64(max(exponent, -exponent))), nil)
		if exponent >= 0 {
			total.Add(total, new(big.Rat).SetInt(power.Mul(power, x)))
			return
		}
		total.Add(total, new(big.Rat).SetFrac(x, power))
	}
	for exponent, x := range s.small {
		add(big.NewInt(x), exponent)
	}
	for exponent, x := range s.large {
		add(x, exponent)
	}
	return total
}
