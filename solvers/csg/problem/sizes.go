package problem

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"

	"coalesce/solvers/solve"
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
			return 0, solve.AsInputError(fmt.Errorf("found the sizes %q, expected numbers from 1 to %d and ranges of them, such as 1-3,5", part, MaxAgents))
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

// MarshalText is String.
func (s Sizes) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText is ParseSizes; an empty text allows every size.
func (s *Sizes) UnmarshalText(text []byte) (err error) {
	*s = 0
	if len(text) > 0 {
		*s, err = ParseSizes(string(text))
	}
	return err
}

// Allows reports whether a block may be a coalition.
func (s Sizes) Allows(mask uint64) bool {
	return s == 0 || mask == 0 || s>>bits.OnesCount64(mask)&1 == 1
}

// ReachableSums are how many agents can be divided into blocks of these sizes.
func (s Sizes) ReachableSums() Sizes {
	reached := Sizes(1)
	for k := range MaxAgents + 1 {
		if reached>>k&1 == 1 {
			reached |= s &^ 1 << k
		}
	}
	return reached &^ 1 & (1<<(MaxAgents+1) - 1)
}

// CanDivide reports whether n agents can be divided into blocks of these sizes.
func (s Sizes) CanDivide(n int) bool { return s == 0 || n == 0 || s.ReachableSums()>>n&1 == 1 }

// List are the sizes, ascending.
func (s Sizes) List() []uint8 {
	var list []uint8
	for k := range uint8(MaxAgents + 1) {
		if s>>k&1 == 1 {
			list = append(list, k)
		}
	}
	return list
}

// Restrict forbids the coalitions of other sizes, in place. Of floats their values become
// minus infinity. Of integers they become a - b - 1, where disjoint coalitions of these sizes
// are worth a at least, and b at most beside a forbidden one, none of them included: every
// structure with a forbidden block is then worth less than every structure without one. Two of
// these values stay within the type, and a solver adds up no more, as it keeps no sum that is less than the
// coalition's own value; int32 becomes int64 where n of them do not fit, int16 becomes int32
// where two do not, with a note, and an int64 below -2^62 is an error. A restricted instance is
// an error too. No sizes restrict nothing.
func (inst *Instance) Restrict(s Sizes) error {
	if inst == nil {
		return inst.Check()
	}
	if s == 0 {
		return nil
	}
	if inst.isRestricted() {
		return solve.InvalidInput("Sizes", "found an instance that is restricted already, expected one that is not")
	}
	if err := inst.restrict(filter{sizes: s}); err != nil {
		return err
	}
	inst.Note("blocks have %s members: no other coalition is allowed", s)
	return nil
}

// restrict is Restrict to the coalitions that a filter allows, without a note of it.
func (inst *Instance) restrict(only filter) error {
	if s := only.sizes; s&1 != 0 || s>>(MaxAgents+1) != 0 {
		return solve.InvalidInput("sizes", "found some beyond 1 to %d, expected what ParseSizes gives", MaxAgents)
	}
	if err := inst.Check(); err != nil {
		return err
	}
	if !inst.HoldsValues() {
		return solve.AsInputError(errors.New("values that are not held cannot be restricted"))
	}
	x, fits := int64(0), true
	switch inst.Type {
	case Int16:
		if x, fits = forbidding(inst.I16, only, inst.N); x < math.MinInt16/2 {
			inst.Note("values are promoted from int16 to int32: those of forbidden coalitions need it")
			SetValues(inst, Convert[int16, int32](inst.I16))
		}
	case Int32:
		if x, fits = forbidding(inst.I32, only, inst.N); float64(x)*float64(inst.N) < math.MinInt32 {
			inst.Note("values are promoted from int32 to int64: those of forbidden coalitions need it")
			SetValues(inst, Convert[int32, int64](inst.I32))
		}
	case Int64:
		x, fits = forbidding(inst.I64, only, inst.N)
	}
	if !fits {
		return errRestricted
	}
	inst.Law, inst.Sizes, inst.set = nil, only.sizes, only.set
	inst.forbidValue(x)
	return nil
}

var errRestricted = fmt.Errorf("%w: found integers too large to tell forbidden coalitions by, expected smaller ones, or floats", ErrValue)

// forbidding is the value of forbidden coalitions among integers; false where two such
// values exceed 64 bits.
func forbidding[T int16 | int32 | int64](values []T, only filter, n int) (int64, bool) {
	type extent struct { // by the members of a coalition; 0 among them
		least, largest [MaxAgents + 1]int64
		forbidden      int // members of the smallest forbidden coalition
	}
	found := make([]extent, ParallelRanges(uint64(len(values))))
	InParallel(uint64(len(values)), func(part int, from, to uint64) {
		e := &found[part]
		e.forbidden = n
		for mask := from; mask < to; mask++ {
			k := bits.OnesCount64(mask)
			if only.allows(mask) {
				v := int64(values[mask])
				e.least[k], e.largest[k] = min(e.least[k], v), max(e.largest[k], v)
			} else {
				e.forbidden = min(e.forbidden, k)
			}
		}
	})
	var low, high [MaxAgents + 1]int64 // of disjoint coalitions with so many members together
	for m := 1; m <= n; m++ {
		for k := 1; k <= m; k++ {
			for _, e := range found {
				low[m] = min(low[m], e.least[k]+low[m-k])
				high[m] = max(high[m], e.largest[k]+high[m-k])
			}
		}
	}
	least := n
	for _, e := range found {
		least = min(least, e.forbidden)
	}
	below := uint64(-low[n]) + uint64(high[n-least]) + 1
	return -int64(below), below <= 1<<62
}

// forbidValue gives the coalitions that are forbidden a value, among floats minus infinity.
func (inst *Instance) forbidValue(x int64) {
	switch inst.Type {
	case Int16:
		forbid(inst.I16, inst.filter(), int16(x))
	case Int32:
		forbid(inst.I32, inst.filter(), int32(x))
	case Int64:
		forbid(inst.I64, inst.filter(), x)
	case Float32:
		forbid(inst.F32, inst.filter(), float32(math.Inf(-1)))
	default:
		forbid(inst.F64, inst.filter(), math.Inf(-1))
	}
	inst.safe = inst.prepared()
}

func forbid[T Number](values []T, only filter, x T) {
	InParallel(uint64(len(values)), func(_ int, from, to uint64) {
		for mask := from; mask < to; mask++ {
			if !only.allows(mask) {
				values[mask] = x
			}
		}
	})
}
