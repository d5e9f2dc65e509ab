package problem

import (
	"fmt"
	"math"
	"math/bits"
	"runtime"
	"slices"
	"sync"

	"coalesce/solvers/solve"
)

// Promote makes an instance safe to add up. The value of a structure is a sum
// of at most N values, and so is every sum that a solver forms on the way:
//
//   - the empty coalition's value becomes 0, with a note when it was not;
//   - int16 values become int32 where those of a structure could add up to more than
//     2^15-1, by their sizes; int32 values with N max|v| beyond 2^31-1 become int64,
//     float32 values with N max|v| beyond the largest float32 become float64, with a note;
//   - the same beyond int64 or float64 is an error;
//   - so is a value that is not a number, or plus infinity. Minus infinity is
//     allowed: it forbids a coalition.
//
// It checks the instance's shape too, and may be called again.
func (inst *Instance) Promote() error {
	if inst != nil && inst.HoldsValues() {
		inst.clearEmpty()
	}
	if err := inst.Check(); err != nil {
		return err
	}
	if err := inst.widen(); err != nil {
		return err
	}
	inst.safe = inst.prepared()
	return nil
}

// looks is the most values that Prepared looks at in every solve: a few dozen microseconds.
const looks = 1 << 16

// Prepared is an instance that is safe to add up, for a solver to begin with: the instance itself, or where a
// program filled it by hand and its sums need a wider type, a promoted copy, which has a note. Nothing is
// changed in place. Instances of many values are looked at unless Promote has seen the same slice. Its
// errors are those of Check and of Promote; sizes are for Restrict to set.
func (inst *Instance) Prepared() (*Instance, error) {
	if err := inst.Check(); err != nil {
		return nil, err
	}
	if inst.Law != nil || inst.safe == inst.prepared() && (inst.isRestricted() || inst.Len() > looks) {
		return inst, nil
	}
	switch {
	case inst.Sizes != 0:
		return nil, solve.InvalidInput("Sizes", "found %s for values that are not restricted to them, expected none, and a call of Restrict", inst.Sizes)
	case inst.set != nil || inst.constraints != nil && inst.constraints.restricts():
		return nil, solve.InvalidInput("Constraints", "found some for values that are not restricted to them, expected none, and a call of Constrain")
	}
	whole := *inst
	whole.Notes = slices.Clip(whole.Notes)
	if err := whole.widen(); err != nil {
		return nil, err
	}
	if whole.Type == inst.Type {
		return inst, nil
	}
	whole.safe = whole.prepared()
	return &whole, nil
}

// CheckUnchanged is an error where a program has changed values in place since Promote saw them, so that their sums
// exceed the type. Of values that Restrict has forbidden it knows nothing.
func (inst *Instance) CheckUnchanged() error {
	if inst.Law != nil || inst.isRestricted() {
		return nil
	}
	again := *inst
	if err := again.widen(); err != nil {
		return err
	}
	if again.Type != inst.Type {
		return solve.InvalidInput(fields[inst.Type], "found values that were changed in place, whose sums need %s", again.Type)
	}
	return nil
}

// widen gives values a type that holds the sums.
func (inst *Instance) widen() error {
	switch inst.Type {
	case Int16:
		if most := spanOf(inst.I16, filter{}, 0).largestSum(inst.N); most > math.MaxInt16 {
			inst.Note("values are promoted from int16 to int32: those of a structure could add up to %v, beyond 2^15-1", most)
			SetValues(inst, Convert[int16, int32](inst.I16))
		}
	case Int32:
		largest, at := LargestInt(inst.I32)
		if sum, ok := MultiplyWithin64(largest, inst.N); !ok || sum > math.MaxInt32 {
			inst.Note("values are promoted from int32 to int64: up to %d values as large as %d, that of coalition %d, could exceed 2^31-1", inst.N, inst.I32[at], at)
			SetValues(inst, Convert[int32, int64](inst.I32))
		}
	case Int64:
		largest, at := LargestInt(inst.I64)
		if sum, ok := MultiplyWithin64(largest, inst.N); !ok || sum > math.MaxInt64 {
			return &EntryError{at, inst.Coalition(at), fmt.Sprint(inst.I64[at]), fmt.Sprintf("values whose sum over %d agents stays below 2^63", inst.N)}
		}
	case Float32:
		largest, at, err := largestFloat(inst, inst.F32)
		if err != nil {
			return err
		}
		if largest*float64(inst.N) > math.MaxFloat32 {
			inst.Note("values are promoted from float32 to float64: up to %d values as large as %v, that of coalition %d, could exceed %v", inst.N, inst.F32[at], at, float32(math.MaxFloat32))
			SetValues(inst, Convert[float32, float64](inst.F32))
		}
	case Float64:
		largest, at, err := largestFloat(inst, inst.F64)
		if err != nil {
			return err
		}
		if largest*float64(inst.N) > math.MaxFloat64 {
			return &EntryError{at, inst.Coalition(at), inst.ValueDecimals(at), fmt.Sprintf("values whose sum over %d agents stays finite", inst.N)}
		}
	}
	return nil
}

func (inst *Instance) clearEmpty() {
	if inst.Type.Size() == 0 || len(inst.Bytes()) == 0 {
		return // Check says so
	}
	old := inst.ValueDecimals(0)
	clear(inst.Bytes()[:inst.Type.Size()])
	if old != "0" && old != "-0" {
		inst.Note("the empty coalition's value, %s, is taken as 0", old)
	}
}

// MultiplyWithin64 is largest*n, false when that is beyond 64 bits.
func MultiplyWithin64(largest uint64, n int) (uint64, bool) {
	hi, lo := bits.Mul64(largest, uint64(n))
	return lo, hi == 0
}

// LargestInt is the largest magnitude and the first coalition that has it.
func LargestInt[T int32 | int64](values []T) (uint64, uint64) {
	type best struct{ largest, at uint64 }
	found := make([]best, ParallelRanges(uint64(len(values))))
	InParallel(uint64(len(values)), func(part int, from, to uint64) {
		b := best{at: from}
		for i := from; i < to; i++ {
			x := uint64(int64(values[i]))
			if values[i] < 0 {
				x = -x
			}
			if x > b.largest {
				b = best{x, i}
			}
		}
		found[part] = b
	})
	b := found[0]
	for _, x := range found[1:] {
		if x.largest > b.largest {
			b = x
		}
	}
	return b.largest, b.at
}

// largestFloat is the largest finite magnitude and the first coalition that
// has it; an error names the first value that is NaN or plus infinity.
func largestFloat[T float32 | float64](inst *Instance, values []T) (float64, uint64, error) {
	type best struct {
		largest float64
		at      uint64
		bad     bool
	}
	found := make([]best, ParallelRanges(uint64(len(values))))
	InParallel(uint64(len(values)), func(part int, from, to uint64) {
		b := best{at: from}
		for i := from; i < to; i++ {
			x := math.Abs(float64(values[i]))
			if x <= b.largest {
				continue
			}
			if x <= math.MaxFloat64 {
				b = best{x, i, false}
			} else if float64(values[i]) != math.Inf(-1) {
				b = best{x, i, true}
				break
			}
		}
		found[part] = b
	})
	b := found[0]
	for _, x := range found {
		if x.bad {
			want := "a number, or -inf for a forbidden coalition"
			return 0, 0, &EntryError{x.at, inst.Coalition(x.at), inst.ValueDecimals(x.at), want}
		}
		if x.largest > b.largest {
			b = x
		}
	}
	return b.largest, b.at, nil
}

// Convert widens values on all cores.
func Convert[F, T Number](from []F) []T {
	to := make([]T, len(from))
	InParallel(uint64(len(from)), func(_ int, a, b uint64) {
		for i := a; i < b; i++ {
			to[i] = T(from[i])
		}
	})
	return to
}

// ParallelRanges is the number of ranges into which InParallel cuts n items.
func ParallelRanges(n uint64) int {
	p := uint64(runtime.GOMAXPROCS(0))
	return int(max(1, min(p, n>>12)))
}

// InParallel runs work on consecutive ranges of 0..n-1, one for each core, in
// order of their first item.
func InParallel(n uint64, work func(part int, from, to uint64)) {
	p := uint64(ParallelRanges(n))
	if p == 1 {
		work(0, 0, n)
		return
	}
	var wg sync.WaitGroup
	for i := range p {
		wg.Go(func() { work(int(i), n/p*i+min(i, n%p), n/p*(i+1)+min(i+1, n%p)) })
	}
	wg.Wait()
}
