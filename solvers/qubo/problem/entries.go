package problem

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"

	"coalesce/solvers/formats"
)

// trailingZeros is the number of zero bits at the end of m's magnitude.
func trailingZeros(m int64) int { return bits.TrailingZeros64(uint64(m)) }

// Entries collect the coefficients of an instance in any order: as integers
// while all are, then as floats.
type Entries struct {
	i, j  []int32 // i == j: linear
	whole []int64
	real  []float64
	limit int64 // bytes that may be held
	// Twice says that a pair's coefficient counts twice, as that of (i,j) and of (j,i).
	Twice bool
}

// EntryBytes is the memory of an entry in bytes: 16 as an entry, 16 sorted, and 2*12 in the
// instance.
const EntryBytes = 56

// NewEntries begins a list of entries. The list and the instance made of it may take memory bytes
// together.
func NewEntries(memory int64) *Entries { return &Entries{limit: memory} }

// Expect allocates room for entries entries, but for no more than 2^22 beyond the number that is
// proven to come.
func (e *Entries) Expect(entries, proven int64) error {
	if entries > math.MaxInt32 {
		return fmt.Errorf("found %d coefficients, expected at most %d", entries, math.MaxInt32)
	}
	if entries > e.limit/EntryBytes {
		return fmt.Errorf("%d coefficients take %w", entries, formats.MemoryShortage(float64(entries)*EntryBytes, e.limit))
	}
	k := int(min(entries, max(proven, 1<<22)))
	e.i, e.j, e.whole = make([]int32, 0, k), make([]int32, 0, k), make([]int64, 0, k)
	return nil
}

// Add adds an integer coefficient.
func (e *Entries) Add(i, j int, v int64) error {
	if err := e.room(1); err != nil {
		return err
	}
	e.i, e.j = append(e.i, int32(i)), append(e.j, int32(j))
	if e.real != nil {
		e.real = append(e.real, float64(v))
		return nil
	}
	e.whole = append(e.whole, v)
	return nil
}

// AddReal adds a real coefficient; all become real.
func (e *Entries) AddReal(i, j int, v float64) error {
	if e.real == nil && v == math.Trunc(v) && math.Abs(v) < 1<<53 {
		return e.Add(i, j, int64(v))
	}
	if e.real == nil {
		e.real = make([]float64, len(e.whole), cap(e.whole)+1)
		for k, w := range e.whole {
			e.real[k] = float64(w)
		}
		e.whole = nil
	}
	if err := e.Add(i, j, 0); err != nil {
		return err
	}
	e.real[len(e.real)-1] = v
	return nil
}

// Append adds a coefficient for each pair of variables i[k] and j[k]: whole[k], or
// real[k] where real has any.
func (e *Entries) Append(i, j []int32, whole []int64, real []float64) error {
	if e.real != nil || len(real) > 0 {
		for k := range i {
			var err error
			if len(real) > 0 {
				err = e.AddReal(int(i[k]), int(j[k]), real[k])
			} else {
				err = e.Add(int(i[k]), int(j[k]), whole[k])
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	if err := e.room(int64(len(i))); err != nil {
		return err
	}
	e.i, e.j, e.whole = append(e.i, i...), append(e.j, j...), append(e.whole, whole...)
	return nil
}

// room refuses more entries than may be held.
func (e *Entries) room(more int64) error {
	k := int64(len(e.i)) + more
	if k > math.MaxInt32 {
		return fmt.Errorf("found %d coefficients, expected at most %d", k, math.MaxInt32)
	}
	if k > e.limit/EntryBytes {
		return fmt.Errorf("%d coefficients and more take %w", len(e.i), formats.MemoryShortage(float64(k)*EntryBytes, e.limit))
	}
	return nil
}

// A RepeatedError is a coefficient that came twice: entries First and Again of
// the list, from 0.
type RepeatedError struct{ First, Again int }

// Error says which of the two entries came first.
func (e *RepeatedError) Error() string {
	return fmt.Sprintf("entry %d is of the same variables as entry %d", e.Again+1, e.First+1)
}

// Instance sorts the entries into an instance of n variables. Entries (i,j) and (j,i) are of the
// same pair. Entries of one pair are added up where sum is set, else a RepeatedError.
func (e *Entries) Instance(n int, sum bool) (*Instance, error) {
	if int64(n) > e.limit/32 {
		return nil, fmt.Errorf("%d variables take %w", n, formats.MemoryShortage(float64(n)*32, e.limit))
	}
	inst := &Instance{N: n, Form: QUBO, Sense: Maximize}
	err := e.large()
	switch {
	case err != nil:
	case e.real != nil:
		if inst.Real, err = termsOf(e, inst, e.real, sum); err == nil {
			err = inst.overflow()
		}
	default:
		inst.Int, err = termsOf(e, inst, e.whole, sum)
	}
	if err != nil {
		return nil, err
	}
	return inst, nil
}

// large makes integers real that are too large to be doubled and added up in int64, as penalties
// may be. A float64 has to hold every one.
func (e *Entries) large() error {
	total, share := 0.0, 1.0
	if e.Twice {
		share = 2
	}
	for k, v := range e.whole {
		if e.i[k] == e.j[k] {
			total += math.Abs(float64(v))
		} else {
			total += share * math.Abs(float64(v))
		}
	}
	if total <= SumLimit/64 {
		return nil
	}
	real := make([]float64, len(e.whole))
	for k, v := range e.whole {
		if real[k] = float64(v); new(big.Float).SetInt64(v).Cmp(big.NewFloat(real[k])) != 0 {
			return fmt.Errorf("%w: absolute values add up to %.3g, expected at most 2^56, or numbers that float64 holds: found %d", ErrCoefficient, total, v)
		}
	}
	e.real, e.whole = real, nil
	return nil
}

// overflow is an error where doubling or adding up has left the range of float64.
func (inst *Instance) overflow() error {
	for _, list := range [][]float64{inst.Real.Linear, inst.Real.Pair} {
		for _, v := range list {
			if !isFinite(v) {
				return fmt.Errorf("%w: the sum of a pair's entries is beyond the range of float64", ErrCoefficient)
			}
		}
	}
	return nil
}

// KeepUpper keeps the entries above the diagonal, and wants those below to be the
// same.
func (e *Entries) KeepUpper() error {
	type pair struct{ i, j int32 }
	value := func(k int) float64 {
		if e.real != nil {
			return e.real[k]
		}
		return float64(e.whole[k])
	}
	sum := map[pair]float64{}
	for k, i := range e.i {
		if j := e.j[k]; i < j {
			sum[pair{i, j}] += value(k)
		} else {
			sum[pair{j, i}] -= value(k)
		}
	}
	for at, v := range sum {
		if v != 0 {
			return fmt.Errorf("nodes %d and %d: found two different coefficients, expected a symmetric matrix for %s", at.i+1, at.j+1, MaxCut)
		}
	}
	kept := &Entries{limit: e.limit, Twice: e.Twice}
	for k, i := range e.i {
		if i > e.j[k] {
			continue
		}
		var err error
		if e.real != nil {
			err = kept.AddReal(int(i), int(e.j[k]), e.real[k])
		} else {
			err = kept.Add(int(i), int(e.j[k]), e.whole[k])
		}
		if err != nil {
			return err
		}
	}
	*e = *kept
	return nil
}

// LastAsOffset makes the offset of the last variable, which has no pairs.
func (inst *Instance) LastAsOffset() {
	inst.N--
	inst.Start = inst.Start[:inst.N+1]
	if t := inst.Int; t != nil {
		t.Offset, t.Linear = t.Linear[inst.N], t.Linear[:inst.N]
	}
	if t := inst.Real; t != nil {
		t.Offset, t.Linear = t.Linear[inst.N], t.Linear[:inst.N]
	}
}
