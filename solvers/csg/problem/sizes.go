package problem

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// Sizes are how many members a block may have: bit k stands for k members. The zero
// value allows every size.
type Sizes uint64

// ParseSizes reads sizes and ranges of them, such as "1-3,5" or "2-", which has no end.
func ParseSizes(text string) (Sizes, error) {
	var s Sizes
	for _, part := range strings.Split(text, ",") {
		low, high, isRange := strings.Cut(strings.TrimSpace(part), "-")
		from, err := strconv.Atoi(low)
		to := from
		if err == nil && isRange {
			if to = MaxAgents; high != "" {
				to, err = strconv.Atoi(high)
			}
		}
		if err != nil || from < 1 || to < from || to > MaxAgents {
			return 0, fmt.Errorf("found the sizes %q, expected numbers from 1 to %d and ranges of them, such as 1-3,5", part, MaxAgents)
		}
		s |= (1<<(to-from+1) - 1) << from
	}
	return s, nil
}

// String is what ParseSizes reads; empty where every size is allowed.
func (s Sizes) String() string {
	var parts []string
	for k := 1; k <= MaxAgents; k++ {
		if s>>k&1 == 0 {
			continue
		}
		from := k
		for s>>(k+1)&1 == 1 {
			k++
		}
		if k > from {
			parts = append(parts, fmt.Sprintf("%d-%d", from, k))
		} else {
			parts = append(parts, strconv.Itoa(k))
		}
	}
	return strings.Join(parts, ",")
}

// Allow reports whether a block may be a coalition.
func (s Sizes) Allow(mask uint64) bool {
	return s == 0 || mask == 0 || s>>bits.OnesCount64(mask)&1 == 1
}

// Divide reports whether n agents can be divided into blocks of these sizes.
func (s Sizes) Divide(n int) bool {
	reached := uint64(1) // bit k: k agents can be
	for k := range n + 1 {
		if reached>>k&1 == 1 {
			reached |= uint64(s) &^ 1 << k
		}
	}
	return s == 0 || reached>>n&1 == 1
}

// Restrict forbids the coalitions of other sizes, in place. Of floats their values become
// minus infinity. Of integers with values from a to b they become
//
//	n min(a, 0) - (n-1) max(b, 0) - 1,
//
// so that every structure with such a block is worth less than every structure without
// one, which is worth n min(a, 0) at least; int32 becomes int64 where n of these values
// need it, int16 becomes int32 where two of them do (a solver never adds up more, as it
// keeps no sum that is less than the coalition's own value), with a note, and what n values
// of int64 do not hold is an error. A restricted
// instance is an error too.
func (inst *Instance) Restrict(s Sizes) error {
	if inst.Sizes != 0 {
		return fmt.Errorf("blocks are restricted to sizes %s already", inst.Sizes)
	}
	if s == 0 {
		return nil
	}
	if !inst.Held() {
		return errors.New("values that are not held cannot be restricted")
	}
	inst.Law = nil
	switch inst.Type {
	case Int16:
		x, _ := forbidding(inst.I16, s, inst.N)
		if x < math.MinInt16/2 {
			inst.Note("values are promoted from int16 to int32: those of forbidden coalitions need it")
			SetValues(inst, Convert[int16, int32](inst.I16))
			forbid(inst.I32, s, int32(x))
		} else {
			forbid(inst.I16, s, int16(x))
		}
	case Int32:
		x, fits := forbidding(inst.I32, s, inst.N)
		if !fits {
			return errRestricted
		}
		if float64(x)*float64(inst.N) < math.MinInt32 {
			inst.Note("values are promoted from int32 to int64: those of forbidden coalitions need it")
			SetValues(inst, Convert[int32, int64](inst.I32))
			forbid(inst.I64, s, x)
		} else {
			forbid(inst.I32, s, int32(x))
		}
	case Int64:
		x, fits := forbidding(inst.I64, s, inst.N)
		if !fits {
			return errRestricted
		}
		forbid(inst.I64, s, x)
	case Float32:
		forbid(inst.F32, s, float32(math.Inf(-1)))
	default:
		forbid(inst.F64, s, math.Inf(-1))
	}
	inst.Sizes = s
	inst.Note("blocks have %s members: no other coalition is allowed", s)
	return nil
}

var errRestricted = fmt.Errorf("%w: found integers too large to tell forbidden coalitions by, expected smaller ones, or floats", ErrValue)

// forbidding is the value of forbidden coalitions among integers; false where sums of
// n such values exceed 64 bits.
func forbidding[T int16 | int32 | int64](values []T, s Sizes, n int) (int64, bool) {
	type extent struct{ low, high T }
	found := make([]extent, Parts(uint64(len(values))))
	Spread(uint64(len(values)), func(part int, from, to uint64) {
		var e extent
		for mask := from; mask < to; mask++ {
			if s.Allow(mask) {
				e.low, e.high = min(e.low, values[mask]), max(e.high, values[mask])
			}
		}
		found[part] = e
	})
	var low, high T
	for _, e := range found {
		low, high = min(low, e.low), max(high, e.high)
	}
	x := float64(n)*float64(low) - float64(n-1)*float64(high) - 1
	if !(x*float64(n) > -(1 << 62)) {
		return 0, false
	}
	return int64(n)*int64(low) - int64(n-1)*int64(high) - 1, true
}

func forbid[T Number](values []T, s Sizes, x T) {
	Spread(uint64(len(values)), func(_ int, from, to uint64) {
		for mask := from; mask < to; mask++ {
			if !s.Allow(mask) {
				values[mask] = x
			}
		}
	})
}
