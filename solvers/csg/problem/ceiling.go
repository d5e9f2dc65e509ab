package problem

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"

	"coalesce/solvers/solve"
)

// Ceiling is a value that no structure exceeds, where the structure found adds up to
// sum and claimed is what the solver computed of it. Of integers the ceiling is the
// sum. Of floats it is the sum too where no sum is rounded: where all values are multiples
// of a power of two of which sums of N values fit the type's bits (24 or 53).
//
// Where sums may be rounded, let u be 2^-24 or 2^-53 and g = (N-1)u/(1-(N-1)u). A
// structure's values, added in any order, give at least their sum less g times the
// sum of their magnitudes (Higham, Accuracy and Stability of Numerical Algorithms,
// 2nd edition, section 4.2). Rounding keeps order, so the solver's total is no less
// than the optimal structure's, added in some order. The magnitudes add up to the
// optimum and twice its negative values, of which there are at most N:
//
//	optimum <= (claimed + 2 g N max(0, -least value)) / (1 - g)
func Ceiling(inst *Instance, claimed, sum string) (solve.Number, error) {
	if inst.Type.Integer() || inst.N < 2 {
		return solve.Number(sum), nil
	}
	var s span
	u := 0x1p-53
	if inst.Type == Float32 {
		u = 0x1p-24
	}
	switch {
	case !inst.Held(): // sums may be rounded
		s = span{inst.Law.Least(), 1, -1074}
	case inst.Type == Float32:
		s = spanOf(inst.F32)
	default:
		s = spanOf(inst.F64)
	}
	if s.largest == 0 || float64(inst.N)*math.Ldexp(s.largest, -s.unit) < 1/u {
		return solve.Number(sum), nil
	}
	total, ok := ParseExact(claimed, inst.Type)
	if !ok || total == nil {
		return "", fmt.Errorf("%w: found the total %q, expected a number", ErrCheck, claimed)
	}
	up := func() *big.Float { return NewExact().SetMode(big.ToPositiveInf) }
	e := new(big.Rat).Mul(big.NewRat(int64(inst.N-1), 1), new(big.Rat).SetFloat64(u))
	g := new(big.Rat).Quo(e, new(big.Rat).Sub(big.NewRat(1, 1), e))
	room := new(big.Rat).Mul(g, big.NewRat(2*int64(inst.N), 1))
	room.Mul(room, new(big.Rat).SetFloat64(max(0, -s.least)))
	exact, _ := total.Rat(nil)
	exact.Add(exact, room).Quo(exact, new(big.Rat).Sub(big.NewRat(1, 1), g))
	bound, _ := up().SetRat(exact).Float64()
	bound = math.Nextafter(bound, math.Inf(1))
	return solve.NumberOf(bound), nil
}

// A span is what is known of the finite values of an instance: the least, the
// largest magnitude, and the exponent of the largest power of two that all of them
// are multiples of.
type span struct {
	least, largest float64
	unit           int
}

// spanOf reads all values, on all cores.
func spanOf[T float32 | float64](values []T) span {
	found := make([]span, Parts(uint64(len(values))))
	Spread(uint64(len(values)), func(part int, from, to uint64) {
		s := span{unit: math.MaxInt32}
		for _, v := range values[from:to] {
			x := float64(v)
			if x == 0 || math.IsInf(x, 0) {
				continue
			}
			s.least, s.largest = min(s.least, x), max(s.largest, math.Abs(x))
			s.unit = min(s.unit, lowestBit(x))
		}
		found[part] = s
	})
	s := found[0]
	for _, x := range found[1:] {
		s = span{min(s.least, x.least), max(s.largest, x.largest), min(s.unit, x.unit)}
	}
	return s
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
