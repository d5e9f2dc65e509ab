package problem

import "math"

// A Pair is an allowed pair of a row and a column.
type Pair struct{ Row, Col int32 }

// Split writes a cost as units*2^-shift + rest without rounding: units is the nearest integer,
// ties to even, and |rest| is at most half a unit. It needs |c|*2^shift below 2^63.
func Split(c float64, shift int) (units int64, rest float64) {
	x := math.Ldexp(c, shift) // exact, or so small that it rounds to 0
	whole := math.RoundToEven(x)
	if whole == 0 {
		return 0, c
	}
	return int64(whole), math.Ldexp(x-whole, -shift)
}

// Split is the scaled cost of an allowed pair and what rounding left of it: the cost, negated where
// the instance maximises, is units/|p.Unit()| + rest exactly.
func (p *Normal) Split(i, j int) (units int64, rest float64) {
	inst := p.Original()
	if p.Source != nil {
		return p.split(p.Source.Cost(i, j))
	}
	if inst.Points != nil {
		return p.split(inst.Points.Cost(i, j))
	}
	switch k := inst.CostIndex(i, j); inst.Type {
	case Int32:
		return int64(p.Scale) * int64(inst.I32[k]), 0
	case Int64:
		c := inst.I64[k]
		q := roundedShift(c, p.Dropped)
		return int64(p.Scale) * q, p.Scale * float64(c-q<<p.Dropped)
	case Float32:
		return p.split(float64(inst.F32[k]))
	default:
		return p.split(inst.F64[k])
	}
}

// SplitLimit is Split for the cost of leaving a row unmatched, where the problem has a limit.
func (p *Normal) SplitLimit() (units int64, rest float64) {
	units, rest = Split(p.limit, p.shift())
	if inst := p.Original(); inst.Unsigned {
		units -= int64(p.sign()) << (63 - p.Dropped)
	}
	return units, rest
}

// sign is -1 where the instance maximises, else 1.
func (p *Normal) sign() float64 {
	if p.Instance.Maximize {
		return -1
	}
	return 1
}

// LeftOut is what leaving a row of the shorter side unmatched costs, in the instance's sense: the
// limit, or a number that has the same optimal matchings.
func (p *Normal) LeftOut() float64 {
	if p.Instance.Maximize {
		return -p.limit
	}
	return p.limit
}

func (p *Normal) split(c float64) (units int64, rest float64) {
	if p.Scale < 0 {
		c = -c
	}
	return Split(c, p.shift())
}

// shift is the exponent of |p.Unit()|.
func (p *Normal) shift() int { return math.Ilogb(p.Scale) - int(p.Dropped) }

// Unit is the number of units in 1 of the instance's costs, negative where it maximises. It is
// Scale, but for integers that lost their last bits.
func (p *Normal) Unit() float64 { return math.Ldexp(p.Scale, -int(p.Dropped)) }

// Original is the instance before its integers lost their last bits, in the orientation of the
// problem.
func (p *Normal) Original() *Instance {
	if p.Whole != nil {
		return p.Whole
	}
	return p.Instance
}

// roundedShift is c / 2^shift, rounded to the nearest integer, ties to even.
func roundedShift(c int64, shift uint) int64 {
	if shift == 0 {
		return c
	}
	q, half := c>>shift, int64(1)<<(shift-1)
	if rest := c - q<<shift; rest > half || rest == half && q&1 == 1 {
		q++
	}
	return q
}
