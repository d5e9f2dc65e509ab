package problem

import (
	"math"
	"math/big"
	"strings"

	"coalesce/solvers/solve"
)

// Decimals among float64 are whole numbers of 10^-Places. Those below mostUnits have no other float64 nearest to them, which
// has 15 digits, and their quotient by the power of ten is correctly rounded.
const (
	mostUnits = 1e15
	maxPlaces = 15
)

// factor is 10^Places.
func (inst *Instance) factor() float64 { return math.Pow10(inst.Places) }

// decimalUnits is a number times a power of ten, and whether it is the float64 nearest to such a decimal.
func decimalUnits(x, factor float64) (float64, bool) {
	units := math.RoundToEven(x * factor)
	return units, math.Abs(units) < mostUnits && units/factor == x
}

// NearestDecimal is the float64 of the decimal of Places that is nearest to a sum of values; of other values it is the sum.
func (inst *Instance) NearestDecimal(sum float64) float64 {
	if units := math.RoundToEven(sum * inst.factor()); inst.Places > 0 && math.Abs(units) < mostUnits {
		return units / inst.factor()
	}
	return sum
}

// SetPlaces sets Places of values that need so many digits behind the point, of magnitudes up to the largest: 0 where that takes more digits than a
// float64 has.
func (inst *Instance) SetPlaces(digits int, largest float64) {
	inst.Places, inst.largest = 0, 0
	if digits <= maxPlaces && largest*math.Pow10(digits) < mostUnits {
		inst.Places, inst.largest = digits, largest
	}
}

// FloatsSuffice reports whether the largest magnitude alone shows that sums of the float64 tell the best structures of decimals.
func (inst *Instance) FloatsSuffice() bool {
	s := valueRange{factor: inst.factor()}
	for k := range s.largest {
		s.largest[k] = inst.largest * s.factor
	}
	return inst.largest > 0 && s.floatsSuffice(inst.N)
}

// decimalRange is the range of decimals in units, or where some values are none, that of the binary numbers.
func (inst *Instance) decimalRange() valueRange {
	if s := spanOf(inst.F64, inst.filter(), inst.Places); !s.odd {
		return s
	}
	return spanOf(inst.F64, inst.filter(), 0)
}

// DecimalError is the most by which the decimals of a structure's blocks add up to more than the float64 that stand for them, 0 of other values: each is
// off by its 2^-53rd part at most.
func (inst *Instance) DecimalError() float64 {
	if inst.Places == 0 {
		return 0
	}
	if inst.largest > 0 {
		return float64(inst.N) * inst.largest * 0x1p-52
	}
	s := inst.decimalRange()
	return s.largestSum(inst.N) / s.factor * 0x1p-52
}

// DecimalCeiling is a whole number of 10^-Places that no structure of decimals exceeds, where no sum of the float64 that stand for them exceeds x.
func (inst *Instance) DecimalCeiling(x *big.Rat) solve.Number {
	s := inst.decimalRange()
	most := new(big.Rat).Mul(new(big.Rat).SetFloat64(s.factor), x)
	most.Add(most, new(big.Rat).Mul(new(big.Rat).SetFloat64(s.largestSum(inst.N)), big.NewRat(1, 1<<52)))
	if s.factor == 1 { // not all are decimals
		bound, _ := NewExact().SetMode(big.ToPositiveInf).SetRat(most).Float64()
		return solve.NumberOf(math.Nextafter(bound, math.Inf(1)))
	}
	return solve.Number(decimal(new(big.Int).Div(most.Num(), most.Denom()), inst.Places)) // rounded down
}

// units is a sum of values in units of 10^-Places, false where it is no sum of decimals.
func (inst *Instance) units(x *big.Float) (*big.Int, bool) {
	scaled := NewExact().Mul(x, NewExact().SetFloat64(inst.factor()))
	half := big.NewFloat(math.Copysign(0.5, float64(x.Sign())))
	whole, _ := NewExact().Add(scaled, half).Int(nil)
	off := NewExact().Sub(scaled, NewExact().SetInt(whole))
	return whole, off.Abs(off).Cmp(big.NewFloat(0x1p-1000)) < 0
}

// decimal writes a number of units of 10^-places.
func decimal(units *big.Int, places int) string {
	digits := new(big.Int).Abs(units).String()
	if pad := places + 1 - len(digits); pad > 0 {
		digits = strings.Repeat("0", pad) + digits
	}
	whole, part := digits[:len(digits)-places], strings.TrimRight(digits[len(digits)-places:], "0")
	if part != "" {
		whole += "." + part
	}
	if units.Sign() < 0 {
		whole = "-" + whole
	}
	return whole
}
