package formats

import (
	"fmt"
	"math"
	"math/big"
	"strconv"

	"coalesce/solvers/cores"
	"coalesce/solvers/qubo/problem"
)

// multiplyBy multiplies all coefficients and the offset by a number from 0. Integers by an integer stay integers; all else is
// multiplied as the decimals that are written, and rounded once.
func multiplyBy(inst *problem.Instance, by value) error {
	if t := inst.Int; t != nil && !by.float {
		if sum := absolute(t) * by.float64(); sum > problem.SumLimit/16 {
			return fmt.Errorf("%w: absolute values add up to %.3g with the scale, expected at most 2^58", problem.ErrCoefficient, sum)
		}
		inst.Int = mapTerms(t, func(v int64) int64 { return v * by.whole })
		return nil
	}
	factor := decimals(by.float64())
	if t := inst.Int; t != nil {
		inst.Real = mapTerms(t, func(v int64) float64 { return product(new(big.Rat).SetInt64(v), factor) })
		inst.Int = nil
	} else {
		inst.Real = mapTerms(inst.Real, func(v float64) float64 { return product(decimals(v), factor) })
	}
	if sum := absolute(inst.Real); !(sum <= math.MaxFloat64/16) {
		return fmt.Errorf("%w: absolute values add up to more than float64 holds, with the scale", problem.ErrCoefficient)
	}
	inst.PreferIntegers()
	return nil
}

// absolute is the sum of the absolute values of all terms, pairs twice.
func absolute[T problem.Number](t *problem.Terms[T]) float64 {
	sum := math.Abs(float64(t.Offset))
	for _, list := range [][]T{t.Linear, t.Pair} {
		for _, v := range list {
			sum += math.Abs(float64(v))
		}
	}
	return sum
}

// mapTerms are terms with another value for each.
func mapTerms[S, T problem.Number](t *problem.Terms[S], each func(S) T) *problem.Terms[T] {
	list := func(from []S) []T {
		to := make([]T, len(from))
		cores.Split(len(from), 1<<10, func(low, high int) {
			for k := low; k < high; k++ {
				if from[k] != 0 {
					to[k] = each(from[k])
				}
			}
		})
		return to
	}
	return &problem.Terms[T]{Offset: each(t.Offset), Linear: list(t.Linear), Pair: list(t.Pair)}
}

// decimals is the number that the shortest decimals of a float write.
func decimals(v float64) *big.Rat {
	r, _ := new(big.Rat).SetString(strconv.FormatFloat(v, 'g', -1, 64)) // decimals of a finite number always are one
	return r
}

// product is a product, rounded once.
func product(v, factor *big.Rat) float64 {
	p, _ := v.Mul(v, factor).Float64()
	return p
}
