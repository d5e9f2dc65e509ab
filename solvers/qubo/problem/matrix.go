package problem

import (
	"math"
	"slices"
)

// FromPairs makes an instance of an n x n matrix: at(i, j) is the coefficient of the product of
// variables i and j > i, and at(i, i) the linear coefficient of i. Several goroutines call at, for
// a square of one triangle and then for its mirror image, so that the parts of a matrix and of its
// transpose that at reads stay in the cache.
func FromPairs[T Number](n int, at func(i, j int) T) *Instance {
	inst := &Instance{N: n, Form: QUBO, Sense: Maximize, Start: make([]int64, n+1)}
	t := &Terms[T]{Linear: make([]T, n)}
	const side = 8
	rows := func(each func(i, j int, v T)) {
		parallel(n, func(from, to int) {
			for top := from; top < to; top += side {
				for left := 0; left < n; left += side {
					for i := top; i < min(top+side, to); i++ {
						for j := left; j < min(left+side, n); j++ {
							if v := at(min(i, j), max(i, j)); v != 0 && j != i {
								each(i, j, v)
							}
						}
					}
				}
			}
		})
	}
	for i := range n {
		t.Linear[i] = at(i, i)
	}
	rows(func(i, _ int, _ T) { inst.Start[i+1]++ })
	for i := range n {
		inst.Start[i+1] += inst.Start[i]
	}
	inst.Col, t.Pair = make([]int32, inst.Start[n]), make([]T, inst.Start[n])
	next := slices.Clone(inst.Start[:n])
	rows(func(i, j int, v T) {
		k := next[i]
		inst.Col[k], t.Pair[k] = int32(j), v
		next[i]++
	})
	inst.setTerms(t)
	return inst
}

// setTerms sets Int or Real to t, which is one of the two.
func (inst *Instance) setTerms(t any) {
	inst.Int, _ = t.(*Terms[int64])
	inst.Real, _ = t.(*Terms[float64])
}

// PreferIntegers makes real coefficients that are all whole numbers integers.
func (inst *Instance) PreferIntegers() {
	t := inst.Real
	if takeCensus(t).grain < 0 || sumMagnitudes(t)+math.Abs(t.Offset) > 1<<53 || t.Offset != math.Trunc(t.Offset) {
		return
	}
	u := &Terms[int64]{Offset: int64(t.Offset), Pair: make([]int64, len(t.Pair)), Linear: make([]int64, len(t.Linear))}
	for k, v := range t.Pair {
		u.Pair[k] = int64(v)
	}
	for i, v := range t.Linear {
		u.Linear[i] = int64(v)
	}
	inst.Int, inst.Real = u, nil
}
