package problem

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"sync"
	"unsafe"

	"coalesce/solvers/cores"
	"coalesce/solvers/solve"
)

// Check is an error that says in what an instance is malformed, nil for a well-formed one: a form
// and a sense, one kind of terms, slices of their lengths, finite numbers, and pairs that are in
// range, ascending in each row, and stored from both ends with the same coefficient. The error begins
// with the field and wraps solve.ErrInput. Check takes one pass over the pairs, on all cores.
func (inst *Instance) Check() error {
	if inst == nil {
		return solve.InvalidInput("instance", "found nil, expected one")
	}
	if inst.N < 0 || inst.N > MaxVariables {
		return solve.InvalidInput("N", "found %d variables, expected 0 to %d", inst.N, MaxVariables)
	}
	switch inst.Form {
	case QUBO, Ising, MaxCut:
	default:
		return solve.InvalidInput("Form", "found %.40q, expected %s, %s or %s", string(inst.Form), QUBO, Ising, MaxCut)
	}
	switch inst.Sense {
	case Maximize, Minimize:
	default:
		return solve.InvalidInput("Sense", "found %.40q, expected %s or %s", string(inst.Sense), Maximize, Minimize)
	}
	if err := inst.checkExtras(); err != nil {
		return err
	}
	switch {
	case inst.Int == nil && inst.Real == nil:
		return solve.InvalidInput("Int, Real", "found neither integer nor real terms, expected one of the two")
	case inst.Int != nil && inst.Real != nil:
		return solve.InvalidInput("Int, Real", "found both integer and real terms, expected one of the two")
	case inst.Int != nil:
		return checkTerms(inst, inst.Int)
	}
	return checkTerms(inst, inst.Real)
}

// checkExtras is an error where names or fixed variables are given for another number of variables.
func (inst *Instance) checkExtras() error {
	if inst.Fixed != nil && len(inst.Fixed) != inst.N {
		return solve.InvalidInput("Fixed", "found %d numbers, expected one for each of %d variables", len(inst.Fixed), inst.N)
	}
	if i := slices.IndexFunc(inst.Fixed, func(v int8) bool { return v < -1 || v > 1 }); i >= 0 {
		return solve.InvalidInput(fmt.Sprintf("Fixed[%d]", i), "found %d, expected 0, 1 or -1 where the variable is free", inst.Fixed[i])
	}
	if inst.Names != nil && len(inst.Names) != inst.N {
		return solve.InvalidInput("Names", "found %d names, expected one for each of %d variables", len(inst.Names), inst.N)
	}
	return nil
}

// checkTerms checks the lengths, the numbers, and every row of pairs.
func checkTerms[T Number](inst *Instance, t *Terms[T]) error {
	n, stored := inst.N, int64(len(inst.Col))
	switch {
	case len(inst.Start) != n+1:
		return solve.InvalidInput("Start", "found %d numbers, expected %d: one more than there are variables", len(inst.Start), n+1)
	case inst.Start[0] != 0 || inst.Start[n] != stored:
		return solve.InvalidInput("Start", "found numbers from %d to %d, expected 0 to %d, the length of Col", inst.Start[0], inst.Start[n], stored)
	case len(t.Linear) != n:
		return solve.InvalidInput("Linear", "found %d terms, expected %d: one for each variable", len(t.Linear), n)
	case int64(len(t.Pair)) != stored:
		return solve.InvalidInput("Pair", "found %d coefficients, expected %d: one for each entry of Col", len(t.Pair), stored)
	case !isFinite(t.Offset):
		return solve.InvalidInput("Offset", "%w: found %v, expected a number", ErrCoefficient, t.Offset)
	}
	for i, v := range t.Linear {
		if !isFinite(v) {
			return solve.InvalidInput(fmt.Sprintf("Linear[%d]", i), "%w: found %v, expected a number", ErrCoefficient, v)
		}
		if inst.Form == MaxCut && v != 0 {
			return solve.InvalidInput(fmt.Sprintf("Linear[%d]", i), "found %v, expected 0: a maximum cut has no linear terms", v)
		}
	}
	var mu sync.Mutex
	var balance uint64 // of the fingerprints of entries above the diagonal and below
	first, wrong := n, error(nil)
	cores.Split(n, 64, func(from, to int) {
		part, at, err := uint64(0), n, error(nil)
		for i := from; i < to && err == nil; i++ {
			var row uint64
			if row, err = checkRow(inst, t, i); err != nil {
				at = i
			}
			part += row
		}
		mu.Lock()
		defer mu.Unlock()
		if balance += part; at < first {
			first, wrong = at, err
		}
	})
	if wrong == nil && balance != 0 {
		wrong = oneSided(inst, t)
	}
	return wrong
}

// checkRow checks the columns and numbers of row i, and returns the sum of the
// fingerprints of its pairs: added where the column is above i, subtracted where
// it is below. Over all rows of a symmetric matrix they cancel; where a pair or
// its coefficient differs, the chance that they do is about 2^-60.
func checkRow[T Number](inst *Instance, t *Terms[T], i int) (sum uint64, err error) {
	low, high := inst.Start[i], inst.Start[i+1]
	if low < 0 || high < low || high > int64(len(inst.Col)) {
		return 0, solve.InvalidInput(fmt.Sprintf("Start[%d]", i+1), "found %d after %d, expected numbers that rise up to %d, the length of Col", high, low, len(inst.Col))
	}
	if low == high {
		return 0, nil
	}
	col := inst.Col[low:high]
	if sum, ok := fingerprints(i, col, patterns(t.Pair[low:high]), inst.Real != nil); ok && int(col[len(col)-1]) < inst.N {
		return sum, nil
	}
	at := func(k int, format string, args ...any) error {
		return solve.InvalidInput(fmt.Sprintf("Col[%d]", low+int64(k)), format, args...)
	}
	last := int32(-1)
	for k, j := range col {
		switch v := t.Pair[low+int64(k)]; {
		case j < 0 || int(j) >= inst.N:
			return 0, at(k, "variable %d has a pair with variable %d, expected 0 to %d", i, j, inst.N-1)
		case int(j) == i:
			return 0, at(k, "variable %d has a pair with itself, expected that coefficient among the linear terms", i)
		case j <= last:
			return 0, at(k, "variable %d has a pair with variable %d after one with %d, expected each once and in ascending order", i, j, last)
		case !isFinite(v):
			return 0, solve.InvalidInput(fmt.Sprintf("Pair[%d]", low+int64(k)), "%w: found %v for variables %d and %d, expected a number", ErrCoefficient, v, i, j)
		}
		last = j
	}
	return 0, solve.InvalidInput("Col", "the pairs of variable %d are malformed", i)
}

// fingerprints adds up those of row i, whose coefficients have these bits; false
// where columns are not ascending, one is i, or a number is infinite or NaN.
func fingerprints(i int, col []int32, pair []uint64, real bool) (sum uint64, ok bool) {
	const exponent = 0x7ff << 52
	pair = pair[:len(col)]
	self, last := int32(i), int32(-1)
	for k, j := range col {
		v := pair[k]
		if j <= last || j == self {
			return 0, false
		}
		if real {
			if v&exponent == exponent {
				return 0, false
			}
			if v<<1 == 0 { // 0 and -0 are the same
				v = 0
			}
		}
		if last = j; j > self {
			sum += fingerprint(uint64(i), uint64(j), v)
		} else {
			sum -= fingerprint(uint64(j), uint64(i), v)
		}
	}
	return sum, true
}

// patterns are the bits of numbers; not a copy.
func patterns[T Number](list []T) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(list))), len(list))
}

// fingerprint mixes a pair and its coefficient: the product of 128 bits of what
// tells them apart and an odd constant, folded.
func fingerprint(i, j, v uint64) uint64 {
	high, low := bits.Mul64((i<<32|j)*0x9e3779b97f4a7c15^v, 0xbf58476d1ce4e5b9)
	return high ^ low
}

// isFinite reports whether v is neither infinite nor NaN.
func isFinite[T Number](v T) bool { return v-v == 0 }

// oneSided finds a pair that is stored from one end alone, or with two
// coefficients.
func oneSided[T Number](inst *Instance, t *Terms[T]) error {
	for i := range inst.N {
		for k := inst.Start[i]; k < inst.Start[i+1]; k++ {
			j := inst.Col[k]
			first := inst.Start[j]
			at, found := slices.BinarySearchFunc(inst.Col[first:inst.Start[j+1]], int32(i), cmp.Compare[int32])
			if !found {
				return solve.InvalidInput("Col", "the pair of variables %d and %d is stored with variable %d alone, expected it with both", i, j, i)
			}
			if other := t.Pair[first+int64(at)]; other != t.Pair[k] {
				return solve.InvalidInput("Pair", "the pair of variables %d and %d has the coefficient %v with variable %d and %v with variable %d, expected the same", i, j, t.Pair[k], i, other, j)
			}
		}
	}
	return solve.InvalidInput("Col, Pair", "the pairs are not stored from both ends alike")
}
