package problem

import (
	"fmt"
	"math"
	"math/big"

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
//
// Of decimals the ceiling is DecimalCeiling of that.
func Ceiling(inst *Instance, claimed, sum string) (solve.Number, error) {
	if inst.Type.Integer() || inst.N < 2 {
		return solve.Number(sum), nil
	}
	u := 0x1p-53
	if inst.Type == Float32 {
		u = 0x1p-24
	}
	var s valueRange
	switch {
	case !inst.HoldsValues():
		s = valueRange{least: inst.Law.LeastValue(), unit: -1074}
		s.largest[1] = 1 // sums may be rounded
	case inst.Type == Float32:
		s = spanOf(inst.F32, inst.filter(), 0)
	default:
		s = spanOf(inst.F64, inst.filter(), 0)
	}
	if inst.Places == 0 && s.largestSumInUnits(inst.N) < 1/u {
		return solve.Number(sum), nil
	}
	total, ok := inst.ParseExact(claimed)
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
	if inst.Places > 0 {
		return inst.DecimalCeiling(exact), nil
	}
	bound, _ := up().SetRat(exact).Float64()
	bound = math.Nextafter(bound, math.Inf(1))
	return solve.NumberOf(bound), nil
}
