// Package problem is coalition structure generation without its solvers: the
// instance (a value for every coalition), how values are made safe to add up,
// structures, their certificates, and the bound that rounding leaves.
//
// Agent i is bit i-1 of a coalition's number, everywhere: coalition 5 = 101b
// is {1, 3}, and values are stored by coalition number.
package problem

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
	"unsafe"

	"coalesce/runtime/device"
	"coalesce/solvers/solve"
)

// MaxAgents is the most agents an instance may have: 2^40 values are eight
// tebibytes, and coalition numbers stay exact in a float64.
const MaxAgents = 40

// A Value is the type of an instance's values.
type Value = device.Value

// The types that kernels exist for.
const (
	Int16   = device.Int16
	Int32   = device.Int32
	Int64   = device.Int64
	Float32 = device.Float32
	Float64 = device.Float64
)

// A Number is a Go type that a Value names, from int16 to float64.
type Number = device.Number

// An Instance is a characteristic function: the value of every coalition of N
// agents. Exactly one of the slices is set, the one that Type names, with 2^N
// entries by coalition number; entry 0, the empty coalition, is 0. With a Law there may
// be none: then the values are not held, and GPUs draw them.
//
// A value of minus infinity (floats only) forbids a coalition.
type Instance struct {
	N      int      // agents
	Names  []string // of agents 1..N, nil when they have none
	Type   Value
	I16    []int16
	I32    []int32
	I64    []int64
	F32    []float32
	F64    []float64
	Law    Law   // that all values follow; nil: they are what the slice says
	Places int   // of float64 alone: a value stands for the decimal of so many places that it is nearest to; 0: values are binary
	Sizes  Sizes // of blocks, which Restrict sets; other coalitions are forbidden

	Source string   // the file, or the distribution and seed
	Notes  []string // what was changed on the way in, one sentence each

	safe    preparedState
	largest float64 // magnitude of decimals, when they were read; 0: not known

	minimized   bool         // Minimize has negated the values
	constraints *Constraints // that Constrain set besides the smallest value and sizes; nil: there are none
	set         []uint64     // coalitions that they allow, a bit each; nil: all
}

// preparedState is the values that Promote has looked at: whoever sets another slice has them looked at again.
type preparedState struct {
	first *byte
	n     int
	as    Value
	sizes Sizes
	set   *uint64
}

func (inst *Instance) prepared() preparedState {
	return preparedState{unsafe.SliceData(inst.Bytes()), inst.N, inst.Type, inst.Sizes, unsafe.SliceData(inst.set)}
}

// NewInstance makes an instance of values, which it keeps, and promotes it.
// The length has to be a power of two.
func NewInstance[T Number](values []T, source string) (*Instance, error) {
	n, err := AgentsOf(uint64(len(values)))
	if err != nil {
		return nil, solve.InvalidInput("values", "found %w", err)
	}
	inst := &Instance{N: n, Source: source}
	SetValues(inst, values)
	if err := inst.Promote(); err != nil {
		return nil, err
	}
	return inst, nil
}

// AgentsOf is the number of agents of a characteristic function of so many
// values.
func AgentsOf(values uint64) (int, error) {
	if values == 0 || values&(values-1) != 0 {
		return 0, fmt.Errorf("%d values: expected a power of two, one value for each coalition", values)
	}
	n := bits.TrailingZeros64(values)
	if n > MaxAgents {
		return 0, fmt.Errorf("2^%d values: expected at most 2^%d", n, MaxAgents)
	}
	return n, nil
}

func SetValues[T Number](inst *Instance, values []T) {
	inst.I16, inst.I32, inst.I64, inst.F32, inst.F64 = nil, nil, nil, nil, nil
	inst.SetPlaces(0, 0)
	switch v := any(values).(type) {
	case []int16:
		inst.Type, inst.I16 = Int16, v
	case []int32:
		inst.Type, inst.I32 = Int32, v
	case []int64:
		inst.Type, inst.I64 = Int64, v
	case []float32:
		inst.Type, inst.F32 = Float32, v
	case []float64:
		inst.Type, inst.F64 = Float64, v
	}
}

// Len is the number of values, 2^N.
func (inst *Instance) Len() uint64 { return 1 << uint(inst.N) }

// Footprint is the number of bytes that the values of n agents take. A caller compares it with the
// machine's memory before values are drawn or read: Go ends the program when an allocation fails.
func Footprint(n int, as Value) int64 {
	if n < 0 || n > MaxAgents {
		return math.MaxInt64
	}
	return int64(as.Size()) << n
}

// GrandCoalition is the coalition of all agents.
func (inst *Instance) GrandCoalition() uint64 { return inst.Len() - 1 }

// Value64 is a coalition's value as a float64: exact unless it is an int64
// beyond 2^53. It is minus infinity for a coalition that sizes or constraints forbid.
func (inst *Instance) Value64(mask uint64) float64 {
	if !inst.filter().allows(mask) {
		return math.Inf(-1)
	}
	switch {
	case !inst.HoldsValues():
		return inst.Law.Value(mask)
	case inst.Type == Int16:
		return float64(inst.I16[mask])
	case inst.Type == Int32:
		return float64(inst.I32[mask])
	case inst.Type == Int64:
		return float64(inst.I64[mask])
	case inst.Type == Float32:
		return float64(inst.F32[mask])
	}
	return inst.F64[mask]
}

// ValueDecimals is a coalition's value in decimals: every digit of an integer, the
// shortest decimals that give the same float, -inf of a coalition that sizes or constraints forbid.
func (inst *Instance) ValueDecimals(mask uint64) string {
	if !inst.filter().allows(mask) {
		return "-inf"
	}
	switch {
	case inst.Type == Int64 && inst.HoldsValues():
		return strconv.FormatInt(inst.I64[mask], 10)
	case inst.Type.Integer():
		return strconv.FormatInt(int64(inst.Value64(mask)), 10)
	}
	return FormatFloat(inst.Value64(mask), 8*inst.Type.Size())
}

// FormatFloat writes values of ordinary size without an exponent, and minus
// infinity as sums and files do.
func FormatFloat(x float64, size int) string {
	if math.IsInf(x, -1) {
		return "-inf"
	}
	if a := math.Abs(x); a == 0 || a >= 1e-6 && a < 1e21 {
		return strconv.FormatFloat(x, 'f', -1, size)
	}
	return strconv.FormatFloat(x, 'g', -1, size)
}

// FormatNumber writes a number in the fewest decimals that read back as the same number.
func FormatNumber[T Number](x T) string {
	switch x := any(x).(type) {
	case float32:
		return FormatFloat(float64(x), 32)
	case float64:
		return FormatFloat(x, 64)
	}
	return fmt.Sprint(x)
}

// Bytes is the memory of the values as the machine holds it: little-endian on
// every platform that Go builds this program for. It is not a copy.
func (inst *Instance) Bytes() []byte {
	switch inst.Type {
	case Int16:
		return device.Bytes(inst.I16)
	case Int32:
		return device.Bytes(inst.I32)
	case Int64:
		return device.Bytes(inst.I64)
	case Float32:
		return device.Bytes(inst.F32)
	}
	return device.Bytes(inst.F64)
}

// Name is the name of an agent, 1..N, or its number.
func (inst *Instance) Name(agent int) string {
	if agent >= 1 && agent <= len(inst.Names) {
		return inst.Names[agent-1]
	}
	return strconv.Itoa(agent)
}

// Coalition writes a coalition's agents: "{1, 3}", by name where agents have
// names.
func (inst *Instance) Coalition(mask uint64) string {
	var b strings.Builder
	b.WriteByte('{')
	for m := mask; m != 0; m &= m - 1 {
		if m != mask {
			b.WriteString(", ")
		}
		b.WriteString(inst.Name(bits.TrailingZeros64(m) + 1))
	}
	b.WriteByte('}')
	return b.String()
}

// Agents are the agents of a coalition, ascending, as numbers 1..N.
func Agents(mask uint64) []int {
	list := make([]int, 0, bits.OnesCount64(mask))
	for ; mask != 0; mask &= mask - 1 {
		list = append(list, bits.TrailingZeros64(mask)+1)
	}
	return list
}

// Note appends a sentence to the instance's notes.
func (inst *Instance) Note(format string, args ...any) {
	inst.Notes = append(inst.Notes, fmt.Sprintf(format, args...))
}

// ErrValue is wrapped by the errors of values that no solver takes: NaN, plus infinity, and values whose
// sums exceed the type.
var ErrValue = errors.New("value")

// An EntryError is a value that cannot be solved with. It unwraps to
// ErrValue.
type EntryError struct {
	Mask  uint64 // the coalition
	Name  string // its agents, "{1, 3}"
	Found string
	Want  string
}

func (e *EntryError) Error() string {
	return fmt.Sprintf("coalition %d %s: found %s, expected %s", e.Mask, e.Name, e.Found, e.Want)
}

// Unwrap is ErrValue.
func (e *EntryError) Unwrap() error { return ErrValue }

// fields are the names of the slices of values.
var fields = map[Value]string{Int16: "I16", Int32: "I32", Int64: "I64", Float32: "F32", Float64: "F64"}

// Check returns an error if an instance's shape is wrong: the number of agents, the slice and its length,
// the names, the sizes, or the value of the empty coalition. Its errors wrap solve.ErrInput and begin with the
// field, or are an EntryError. Values that a Law gives and nothing holds have no slice.
func (inst *Instance) Check() error {
	switch {
	case inst == nil:
		return solve.InvalidInput("instance", "found nil, expected one")
	case inst.N < 0 || inst.N > MaxAgents:
		return solve.InvalidInput("N", "found %d agents, expected 0 to %d", inst.N, MaxAgents)
	case inst.Type.Size() == 0:
		return solve.InvalidInput("Type", "found %.20q, expected int16, int32, int64, float32 or float64", string(inst.Type))
	case inst.Places < 0 || inst.Places > maxPlaces || inst.Places > 0 && inst.Type != Float64:
		return solve.InvalidInput("Places", "found %d, expected 0 to %d, and 0 where values are not float64", inst.Places, maxPlaces)
	case inst.Sizes&1 != 0 || inst.Sizes>>(MaxAgents+1) != 0:
		return solve.InvalidInput("Sizes", "found sizes beyond 1 to %d, expected what ParseSizes gives", MaxAgents)
	}
	if err := inst.checkNames(); err != nil {
		return err
	}
	if inst.Law != nil && !inst.HoldsValues() {
		return nil
	}
	for of, length := range map[Value]int{Int16: len(inst.I16), Int32: len(inst.I32), Int64: len(inst.I64), Float32: len(inst.F32), Float64: len(inst.F64)} {
		switch {
		case of != inst.Type && length > 0:
			return solve.InvalidInput(fields[of], "found %d values, expected none: Type is %s", length, inst.Type)
		case of == inst.Type && uint64(length) != inst.Len():
			return solve.InvalidInput(fields[of], "found %d values, expected 2^%d, one for each coalition of N agents", length, inst.N)
		}
	}
	if inst.Value64(0) != 0 {
		return &EntryError{0, "{}", inst.ValueDecimals(0), "0"}
	}
	return nil
}

func (inst *Instance) checkNames() error {
	if inst.Names == nil {
		return nil
	}
	if len(inst.Names) != inst.N {
		return solve.InvalidInput("Names", "found %d, expected %d, one for each agent", len(inst.Names), inst.N)
	}
	seen := map[string]int{}
	for k, name := range inst.Names {
		if other, ok := seen[name]; ok {
			return solve.InvalidInput(fmt.Sprintf("Names[%d]", k), "found %.40q, which Names[%d] is too, expected different names", name, other)
		}
		seen[name] = k
	}
	return nil
}

// Values64 has Value64 of consecutive coalitions from first on.
func (inst *Instance) Values64(into []float64, first uint64) {
	switch {
	case inst.isRestricted() || !inst.HoldsValues():
		for k := range into {
			into[k] = inst.Value64(first + uint64(k))
		}
	case inst.Type == Int16:
		asFloats(into, inst.I16[first:])
	case inst.Type == Int32:
		asFloats(into, inst.I32[first:])
	case inst.Type == Int64:
		asFloats(into, inst.I64[first:])
	case inst.Type == Float32:
		asFloats(into, inst.F32[first:])
	default:
		copy(into, inst.F64[first:])
	}
}

func asFloats[T Number](into []float64, values []T) {
	for k := range into {
		into[k] = float64(values[k])
	}
}
