package problem

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"slices"
	"strconv"
	"unsafe"
)

// A Recast is an instance with the values of another, as integers in units of a power of
// two, or of ten. Structures are ranked as before.
type Recast struct {
	*Instance
	of      *Instance
	unit    int     // values were multiples of 2^unit, decimals of 2^unit 10^-Places
	Forbids bool    // some coalition is forbidden, and worth less than what it was
	least   float64 // in units: totals below are those of structures with a forbidden block
}

// ConvertTo is the instance with its values as integers of the first of some types that is no
// wider than its own and proven to hold every sum; values of floats must be multiples of a
// power of two, or decimals (Instance.Places). It is the instance itself where there is none, where its own type comes
// first, and where sums of float64 suffice and int64 alone would hold them. Values of int16 become
// wider where types begin with a wider one.
//
// A type of w bits holds every sum where blocks of a structure add up to 2^(w-1)-1 at most,
// in magnitude. With forbidden coalitions, which are worth -2^(w-2) then, they may add up
// to 2^(w-3)-1: a structure with a forbidden block is worth less than every one without,
// and two values of a solver's table add up to -2^(w-1) at least, as none is less than
// the coalition's own.
func (inst *Instance) ConvertTo(types ...Value) *Recast {
	switch {
	case !inst.HoldsValues() && inst.Type == Int16 && types[0] != Int16:
		x := *inst
		x.Type, x.Law, x.Notes = types[0], inst.Law.AsType(types[0]), nil
		return &Recast{Instance: &x, of: inst, least: math.Inf(-1)}
	case !inst.HoldsValues():
		return unchanged(inst)
	case inst.Type == Int16:
		return recast(inst, inst.I16, types)
	case inst.Type == Int32:
		return recast(inst, inst.I32, types)
	case inst.Type == Int64:
		return recast(inst, inst.I64, types)
	case inst.Type == Float32:
		return recast(inst, inst.F32, types)
	}
	return recast(inst, inst.F64, types)
}

// Widen is the instance as a type that all algorithms have, which int16 is not, decimals as the binary numbers that stand for them.
func (inst *Instance) Widen() *Recast {
	switch {
	case inst.Type == Int16:
		return inst.ConvertTo(Int32)
	case inst.Places > 0:
		x := *inst
		x.SetPlaces(0, 0)
		return unchanged(&x)
	}
	return unchanged(inst)
}

func unchanged(inst *Instance) *Recast {
	return &Recast{Instance: inst, of: inst, least: math.Inf(-1)}
}

func recast[T Number](inst *Instance, values []T, types []Value) *Recast {
	if types[0] == inst.Type {
		return unchanged(inst)
	}
	s := spanOf(values[:min(len(values), 1<<12)], inst.filter(), inst.Places)
	if s.fits(inst.N, Int64) { // else a few values tell that no type holds all
		s = spanOf(values, inst.filter(), inst.Places)
	}
	k := slices.IndexFunc(types, func(t Value) bool {
		switch {
		case t == inst.Type:
			return true
		case !t.Integer() || t.Size() > inst.Type.Size() && inst.Type != Int16 || t == Int64 && s.floatsSuffice(inst.N):
			return false
		}
		return s.fits(inst.N, t)
	})
	if k < 0 || types[k] == inst.Type {
		return unchanged(inst)
	}
	r := &Recast{Instance: &Instance{N: inst.N, Names: inst.Names, Source: inst.Source, Sizes: inst.Sizes, constraints: inst.constraints, set: inst.set}, of: inst, unit: s.unit, Forbids: s.forbids, least: -s.largestSumInUnits(inst.N)}
	switch types[k] {
	case Int16:
		SetValues(r.Instance, units[T, int16](values, s, inst.filter()))
	case Int32:
		SetValues(r.Instance, units[T, int32](values, s, inst.filter()))
	default:
		SetValues(r.Instance, units[T, int64](values, s, inst.filter()))
	}
	return r
}

// units are values in units, and in a fourth of the type's range below 0 what is forbidden.
func units[F Number, T int16 | int32 | int64](values []F, s valueRange, only filter) []T {
	to := make([]T, len(values))
	scale := math.Ldexp(1, -s.unit)
	forbidden := T(math.Ldexp(-1, int(8*unsafe.Sizeof(to[0]))-2))
	InParallel(uint64(len(values)), func(_ int, a, b uint64) {
		for mask := a; mask < b; mask++ {
			if x := float64(values[mask]); math.IsInf(x, -1) || !only.allows(mask) {
				to[mask] = forbidden
			} else {
				if s.factor != 1 {
					x = math.RoundToEven(x * s.factor)
				}
				to[mask] = T(x * scale)
			}
		}
	})
	return to
}

// Total is what a solver's total, in decimals, is in the values that the instance had:
// minus infinity of a structure with a forbidden block.
func (r *Recast) Total(claimed string) string {
	x, err := strconv.ParseInt(claimed, 10, 64)
	switch {
	case r.Instance == r.of || err != nil:
		return claimed
	case float64(x) < r.least:
		return "-inf"
	case r.of.Type.Integer():
		return claimed
	}
	return r.inValues(x)
}

// Float is a number of units in the values that the instance had, rounded.
func (r *Recast) Float(units float64) float64 {
	return math.Ldexp(units, r.unit) / r.of.factor()
}

// inValues writes a number of units.
func (r *Recast) inValues(units int64) string {
	if r.of.Places > 0 {
		x := big.NewInt(units)
		return decimal(x.Lsh(x, uint(r.unit)), r.of.Places)
	}
	return FormatFloat(math.Ldexp(float64(units), r.unit), 8*r.of.Type.Size())
}

// Reason says which integers the values became, and why these hold every sum.
func (r *Recast) Reason() string {
	if r.of.Type == Int16 {
		return fmt.Sprintf("%s: there are no kernels of int16 here", r.Type)
	}
	unit := fmt.Sprint(math.Ldexp(1, r.unit))
	if r.of.Places > 0 {
		unit = r.inValues(1)
	}
	return fmt.Sprintf("%s: values are multiples of %s, of which structures add up to at most %.0f", r.Type, unit, -r.least)
}

// Changed reports whether the values are not those that the instance had.
func (r *Recast) Changed() bool { return r.Instance != r.of }

// A valueRange is what is known of the finite values of allowed coalitions, each times a factor.
type valueRange struct {
	factor  float64                // 10^places of decimals, else 1
	odd     bool                   // some value is no decimal of so many places
	least   float64                // of them and 0
	largest [MaxAgents + 1]float64 // magnitude, by the members of a coalition
	unit    int                    // all are multiples of 2^unit; 0 of integers
	forbids bool                   // some coalition
}

// spanOf reads all values, on all cores. With places above 0 they are decimals.
func spanOf[T Number](values []T, only filter, places int) valueRange {
	factor := math.Pow10(places)
	found := make([]valueRange, ParallelRanges(uint64(len(values))))
	InParallel(uint64(len(values)), func(part int, from, to uint64) {
		var s valueRange
		grains := 1.0 // 2^-unit, where that is a number
		if T(1)/2 != 0 {
			s.unit, grains = math.MaxInt32, math.NaN()
		}
		for mask := from; mask < to; mask++ {
			x := float64(values[mask])
			if math.IsInf(x, 0) || !only.allows(mask) {
				s.forbids = true
				continue
			}
			if factor != 1 {
				units, ok := decimalUnits(x, factor)
				x, s.odd = units, s.odd || !ok
			}
			size := bits.OnesCount64(mask)
			s.least, s.largest[size] = min(s.least, x), max(s.largest[size], math.Abs(x))
			// A product of 0 has lost a value too small for the unit.
			if y := x * grains; (y != math.Trunc(y) || y == 0) && x != 0 {
				if s.unit = min(s.unit, lowestBit(x)); s.unit > -1000 {
					grains = math.Ldexp(1, -s.unit)
				} else {
					grains = math.NaN()
				}
			}
		}
		found[part] = s
	})
	s := found[0]
	for _, x := range found[1:] {
		s.least, s.unit, s.forbids, s.odd = min(s.least, x.least), min(s.unit, x.unit), s.forbids || x.forbids, s.odd || x.odd
		for k := range s.largest {
			s.largest[k] = max(s.largest[k], x.largest[k])
		}
	}
	if s.unit == math.MaxInt32 { // all are 0
		s.unit = 0
	}
	s.factor = factor
	return s
}

// largestSum is no less than the magnitude of any sum of the values of disjoint coalitions.
func (s valueRange) largestSum(n int) float64 {
	var most [MaxAgents + 1]float64 // of so many agents
	for m := 1; m <= n; m++ {
		for k := 1; k <= m; k++ {
			most[m] = max(most[m], s.largest[k]+most[m-k])
		}
	}
	return most[n]
}

// largestSumInUnits is most as multiples of 2^unit.
func (s valueRange) largestSumInUnits(n int) float64 { return math.Ldexp(s.largestSum(n), -s.unit) }

// floatsSuffice reports whether sums of float64 tell the best structures: binary ones that are exact, and those of decimals where the ceiling
// (DecimalCeiling) is less than a unit above the value. With magnitudes that add up to S units at most that is 2^-53 (2 n + 2 n^2 + 2) S at most.
func (s valueRange) floatsSuffice(n int) bool {
	if s.factor == 1 {
		return s.largestSumInUnits(n) < 1<<53
	}
	return s.largestSum(n)*float64(4*(n+1)*(n+1)) < 1<<53
}

// fits reports whether a type holds every sum of values in units.
func (s valueRange) fits(n int, t Value) bool {
	room := 8*t.Size() - 1
	if s.forbids {
		room -= 2
	}
	if t == Int64 { // most is rounded
		room--
	}
	return !s.odd && s.unit > -1000 && s.largestSumInUnits(n) < math.Ldexp(1, room)
}

// lowestBit is the exponent of the lowest bit that is set in x, which is not 0.
func lowestBit(x float64) int {
	word := math.Float64bits(x)
	fraction, exponent := word&(1<<52-1), int(word>>52&2047)
	if exponent == 0 {
		return bits.TrailingZeros64(fraction) - 1074
	}
	return exponent - 1075 + bits.TrailingZeros64(fraction|1<<52)
}
