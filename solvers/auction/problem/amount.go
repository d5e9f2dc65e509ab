package problem

import (
	"math/big"
	"slices"
	"strconv"
	"strings"

	"coalesce/solvers/formats"
)

// MaxDigits is the most digits of a price, before and after the point.
const MaxDigits = 40

// An Amount is a decimal price: Whole times 10^-Scale.
type Amount struct {
	Whole *big.Int
	Scale int
}

// ParseAmount reads a decimal such as 12.5 or 1e+06, of bounded length.
func ParseAmount(s string) (Amount, bool) {
	mantissa, exp := s, 0
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		e, err := strconv.Atoi(s[i+1:])
		if err != nil || e < -MaxDigits || e > MaxDigits {
			return Amount{}, false
		}
		mantissa, exp = s[:i], e
	}
	whole, part, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole, "+-") + part
	if len(digits) == 0 || len(digits) > MaxDigits || strings.Trim(digits, "0123456789") != "" || len(whole)-len(strings.TrimLeft(whole, "+-")) > 1 {
		return Amount{}, false
	}
	n, ok := new(big.Int).SetString(digits, 10)
	if !ok {
		return Amount{}, false
	}
	if strings.HasPrefix(whole, "-") {
		n.Neg(n)
	}
	scale := len(part) - exp
	ten := big.NewInt(10)
	for scale > 0 { // 2.50 is 2.5
		q, r := new(big.Int).QuoRem(n, ten, new(big.Int))
		if r.Sign() != 0 {
			break
		}
		n, scale = q, scale-1
		if n.Sign() == 0 {
			scale = 0
		}
	}
	if scale < 0 {
		n.Mul(n, new(big.Int).Exp(ten, big.NewInt(int64(-scale)), nil))
		scale = 0
	}
	return Amount{n, scale}, true
}

// InUnits is the amount in units of 10^-scale; scale is at least the amount's own.
func (x Amount) InUnits(scale int) *big.Int {
	up := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale-x.Scale)), nil)
	return up.Mul(up, x.Whole)
}

// String is the amount as a decimal, without zeros at the end.
func (x Amount) String() string {
	digits := new(big.Int).Abs(x.Whole).String()
	if pad := x.Scale + 1 - len(digits); pad > 0 {
		digits = strings.Repeat("0", pad) + digits
	}
	whole, part := digits[:len(digits)-x.Scale], strings.TrimRight(digits[len(digits)-x.Scale:], "0")
	if part != "" {
		whole += "." + part
	}
	if x.Whole.Sign() < 0 {
		whole = "-" + whole
	}
	return whole
}

// SetPrices sets the prices of all bids and reserves, in the smallest unit that any needs. Errors name
// the line of a price that needs more than 63 bits then, in the file that name is.
func (a *Auction) SetPrices(name string, bids, reserves []Amount) error {
	for _, p := range append(slices.Clone(bids), reserves...) {
		a.Scale = max(a.Scale, p.Scale)
	}
	units := func(p Amount, line int) (int64, error) {
		up := p.InUnits(a.Scale)
		if !up.IsInt64() {
			return 0, formats.Errorf(name, line, "found the price %s, expected less than 2^63 units of %s, the smallest that some price needs", p, Amount{big.NewInt(1), a.Scale})
		}
		return up.Int64(), nil
	}
	var err error
	for i, p := range bids {
		if a.Bids[i].Price, err = units(p, a.Bids[i].Line); err != nil {
			return err
		}
	}
	for k, p := range reserves {
		if a.Reserves[k].Price, err = units(p, a.Reserves[k].Line); err != nil {
			return err
		}
	}
	return nil
}
