// Package problem holds what linear assignment is about, apart from any way to solve
// it: the Instance, its points and costs, the Normal form that every algorithm solves
// (minimise, rows <= columns, integer costs), the duals, and the certificate that
// holds an answer against the instance's own costs (Check, CheckHall).
package problem

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"

	"coalesce/runtime/device"
	"coalesce/solvers/solve"
)

// MaxSide is the most rows or columns an instance may have: columns are int32.
const MaxSide = math.MaxInt32

// A Value is the type of an instance's costs.
type Value = device.Value

// The types that kernels exist for.
const (
	Int32   = device.Int32
	Int64   = device.Int64
	Float32 = device.Float32
	Float64 = device.Float64
)

// A Number is the Go side of a Value.
type Number = device.Number

// An Instance holds the costs of Rows x Cols pairs, in one of three forms:
//
//   - dense: the slice that Type names has Rows*Cols costs, row by row;
//   - sparse: Sparse says which pairs are allowed, the slice that Type names
//     has one cost for each of them;
//   - points: Points says how costs are computed, no slice is set.
//
// Forbidden pairs cost the largest number of an integer type, and plus infinity of
// a floating type, minus infinity when it maximises. A sparse instance leaves them
// out; where it lists one all the same, that cost forbids it there too.
type Instance struct {
	Rows, Cols int
	Type       Value
	I32        []int32
	I64        []int64
	F32        []float32
	F64        []float64
	Sparse     *Sparse
	Points     *Points
	Maximize   bool
	// Limit allows rows to stay unmatched. A row and a column left unmatched
	// cost Limit together, so that no pair dearer than it (when maximising: of
	// less worth) is ever matched. A pair of just that cost is as good matched
	// as not: which it is, and with it Value and Matched of a Result, is the
	// solver's choice. nil: a full matching is asked for.
	Limit *float64
	// Supply is what each row ships, Capacity what each column takes at most, from 0, in sum at most MaxTotal; nil: 1 each. Where
	// one of them is set the answer is a Flow, which ships all of the side whose sum is less.
	Supply, Capacity []int64
	RowNames         []string // nil when they have none
	ColNames         []string
	Source           string   // the file, or the drawing
	Notes            []string // changes of the reader, one sentence each

	// Unsigned says that I64 holds unsigned integers less 2^63.
	Unsigned bool
	// Every says that the largest int64 is a cost like others, and forbids nothing.
	Every bool

	Unmap func() error // unmaps the file of the costs, for Close; nil: no file is mapped
}

// A Sparse lists the allowed pairs of a sparse instance, row by row: those of
// row i are Col[Start[i]:Start[i+1]], ascending, each column once.
type Sparse struct {
	Start []int64
	Col   []int32
}

// Forbidden is the cost of a forbidden pair in an integer type, or an infinity.
func Forbidden[T Number](maximize bool) T {
	var c any
	sign := 1
	if maximize {
		sign = -1
	}
	switch any(T(0)).(type) {
	case int32:
		c = int32(math.MaxInt32)
	case int64:
		c = int64(math.MaxInt64)
	case float32:
		c = float32(math.Inf(sign))
	case float64:
		c = math.Inf(sign)
	}
	return c.(T)
}

// NewInstance makes a dense instance of costs, row by row, which it keeps.
func NewInstance[T Number](rows, cols int, costs []T, source string) (*Instance, error) {
	inst := &Instance{Rows: rows, Cols: cols, Source: source}
	SetCosts(inst, costs)
	return inst, inst.Check()
}

// SetCosts makes costs those of an instance, of their type, and keeps them.
func SetCosts[T Number](inst *Instance, costs []T) {
	inst.I32, inst.I64, inst.F32, inst.F64, inst.Type = nil, nil, nil, nil, ValueOf[T]()
	switch c := any(costs).(type) {
	case []int32:
		inst.I32 = c
	case []int64:
		inst.I64 = c
	case []float32:
		inst.F32 = c
	case []float64:
		inst.F64 = c
	}
}

// ValueOf is the type of costs of a Go type.
func ValueOf[T Number]() Value {
	switch any(T(0)).(type) {
	case int32:
		return Int32
	case int64:
		return Int64
	case float32:
		return Float32
	}
	return Float64
}

// Dense reports whether the instance holds a cost for every pair.
func (inst *Instance) Dense() bool { return inst.Sparse == nil && inst.Points == nil }

// Len is the number of costs held: of all pairs, of the allowed ones of a
// sparse instance, or none of points.
func (inst *Instance) Len() int {
	return len(inst.I32) + len(inst.I64) + len(inst.F32) + len(inst.F64)
}

// Bytes is the memory of the costs as the machine holds it. It is not a copy.
func (inst *Instance) Bytes() []byte {
	switch inst.Type {
	case Int32:
		return device.Bytes(inst.I32)
	case Int64:
		return device.Bytes(inst.I64)
	case Float32:
		return device.Bytes(inst.F32)
	}
	return device.Bytes(inst.F64)
}

// CostIndex is the index of the cost of a pair in the slice, -1 for a pair that a
// sparse instance does not have.
func (inst *Instance) CostIndex(i, j int) int {
	if inst.Sparse == nil {
		return i*inst.Cols + j
	}
	low, high := inst.Sparse.Start[i], inst.Sparse.Start[i+1]
	row := inst.Sparse.Col[low:high]
	if k, ok := slices.BinarySearch(row, int32(j)); ok {
		return int(low) + k
	}
	return -1
}

// Pair is the pair whose cost stands at an index of the slice.
func (inst *Instance) Pair(index int) (i, j int) {
	if inst.Sparse == nil {
		return index / inst.Cols, index % inst.Cols
	}
	start := inst.Sparse.Start
	i = sort.Search(inst.Rows, func(i int) bool { return start[i+1] > int64(index) })
	return i, int(inst.Sparse.Col[index])
}

// CostDecimals is the cost of a pair in decimals: every digit of an integer, the
// shortest decimals that give the same float; "forbidden" of a forbidden pair.
func (inst *Instance) CostDecimals(i, j int) string {
	if inst.Points != nil {
		return FormatFloat(inst.Points.Cost(i, j), 64)
	}
	k := inst.CostIndex(i, j)
	switch {
	case k < 0:
		return "forbidden"
	case !inst.Allowed(i, j):
		return "forbidden"
	case inst.Type == Int32:
		return strconv.FormatInt(int64(inst.I32[k]), 10)
	case inst.Type == Int64 && inst.Unsigned:
		return strconv.FormatUint(uint64(inst.I64[k])^1<<63, 10)
	case inst.Type == Int64:
		return strconv.FormatInt(inst.I64[k], 10)
	case inst.Type == Float32:
		return FormatFloat(float64(inst.F32[k]), 32)
	}
	return FormatFloat(inst.F64[k], 64)
}

// costBase is the number that the costs are kept less of.
func (inst *Instance) costBase() float64 {
	if inst.Unsigned {
		return 1 << 63
	}
	return 0
}

// CostFloat is the cost of an allowed pair as the nearest float64.
func (inst *Instance) CostFloat(i, j int) float64 {
	if inst.Points != nil {
		return inst.Points.Cost(i, j)
	}
	switch k := inst.CostIndex(i, j); inst.Type {
	case Int32:
		return float64(inst.I32[k])
	case Int64:
		return float64(inst.I64[k]) + inst.costBase()
	case Float32:
		return float64(inst.F32[k])
	default:
		return inst.F64[k]
	}
}

// FormatFloat writes costs of ordinary size without an exponent.
func FormatFloat(x float64, size int) string {
	if a := math.Abs(x); a == 0 || a >= 1e-6 && a < 1e21 {
		return strconv.FormatFloat(x, 'f', -1, size)
	}
	return strconv.FormatFloat(x, 'g', -1, size)
}

// Note appends a sentence to the instance's notes.
func (inst *Instance) Note(format string, args ...any) {
	inst.Notes = append(inst.Notes, fmt.Sprintf(format, args...))
}

// Close gives back a mapped file; the costs are gone then.
func (inst *Instance) Close() error {
	unmap := inst.Unmap
	if unmap == nil {
		return nil
	}
	inst.Unmap, inst.I32, inst.I64, inst.F32, inst.F64 = nil, nil, nil, nil, nil
	return unmap()
}

// ErrCost is wrapped by the errors of costs that cannot be solved with: not a
// number, an infinity of the wrong sign, sums beyond 64 bits.
var ErrCost = errors.New("cost")

// An EntryError is a cost that cannot be solved with. It unwraps to ErrCost.
type EntryError struct {
	Row, Col int // from 0
	Found    string
	Want     string
}

// Error says where the cost is, what was found and what was expected.
func (e *EntryError) Error() string {
	return fmt.Sprintf("cost of row %d, column %d (from 0): found %s, expected %s", e.Row, e.Col, e.Found, e.Want)
}

// Unwrap is ErrCost.
func (e *EntryError) Unwrap() error { return ErrCost }

// fields are the names of the slices of costs.
var fields = map[Value]string{Int32: "I32", Int64: "I64", Float32: "F32", Float64: "F64"}

// Check is an error where the shape of an instance is malformed: its size, its type and slice, the
// order of a sparse instance's columns, the number of coordinates and of names. The error begins with the
// field and wraps solve.ErrInput. Check does not look at the costs.
func (inst *Instance) Check() error {
	if inst == nil {
		return solve.InvalidInput("instance", "found nil, expected one")
	}
	if inst.Rows < 0 || inst.Cols < 0 || inst.Rows > MaxSide || inst.Cols > MaxSide {
		return solve.InvalidInput("Rows, Cols", "found %d x %d pairs, expected 0 to %d rows and columns", inst.Rows, inst.Cols, MaxSide)
	}
	if inst.Type.Size() == 0 {
		return solve.InvalidInput("Type", "found %.20q, expected int32, int64, float32 or float64", string(inst.Type))
	}
	if l := inst.Limit; l != nil && math.IsNaN(*l) {
		return solve.InvalidInput("Limit", "found %v, expected a number", *l)
	}
	if err := inst.checkAmounts(); err != nil {
		return err
	}
	if inst.Type != Int64 || inst.Points != nil {
		switch {
		case inst.Unsigned:
			return solve.InvalidInput("Unsigned", "found true with costs of type %s, expected int64", inst.Type)
		case inst.Every:
			return solve.InvalidInput("Every", "found true with costs of type %s, expected int64", inst.Type)
		}
	}
	field := fields[inst.Type]
	if len(inst.Bytes()) != inst.Len()*inst.Type.Size() {
		return solve.InvalidInput("I32, I64, F32, F64", "found costs in another slice than %s, that of the type %s", field, inst.Type)
	}
	if inst.Sparse != nil && inst.Points != nil {
		return solve.InvalidInput("Sparse, Points", "found both, expected one of them")
	}
	for _, names := range []struct {
		of    string
		found []string
		want  int
	}{{"RowNames", inst.RowNames, inst.Rows}, {"ColNames", inst.ColNames, inst.Cols}} {
		if names.found != nil && len(names.found) != names.want {
			return solve.InvalidInput(names.of, "found %d, expected %d", len(names.found), names.want)
		}
	}
	want := inst.Rows * inst.Cols // both below 2^31
	switch {
	case inst.Sparse != nil:
		if err := inst.Sparse.check(inst.Rows, inst.Cols); err != nil {
			return err
		}
		want = len(inst.Sparse.Col)
	case inst.Points != nil:
		if err := inst.Points.check(inst); err != nil {
			return err
		}
		want = 0
	}
	if inst.Len() != want {
		return solve.InvalidInput(field, "found %d costs, expected %d", inst.Len(), want)
	}
	return nil
}

func (s *Sparse) check(rows, cols int) error {
	if len(s.Start) != rows+1 || s.Start[0] != 0 || s.Start[rows] != int64(len(s.Col)) {
		return solve.InvalidInput("Sparse.Start", "found %d numbers, expected %d, from 0 to %d", len(s.Start), rows+1, len(s.Col))
	}
	for i := range rows {
		if s.Start[i] > s.Start[i+1] || s.Start[i+1] > int64(len(s.Col)) {
			return solve.InvalidInput(fmt.Sprintf("Sparse.Start[%d]", i+1), "found %d after %d, expected numbers that rise up to %d", s.Start[i+1], s.Start[i], len(s.Col))
		}
		last := int32(-1)
		for k, j := range s.Col[s.Start[i]:s.Start[i+1]] {
			if j <= last || int(j) >= cols {
				return solve.InvalidInput(fmt.Sprintf("Sparse.Col[%d]", s.Start[i]+int64(k)), "row %d: found column %d after %d, expected ascending columns below %d", i, j, last, cols)
			}
			last = j
		}
	}
	return nil
}

// costRange is the least and the largest cost of an allowed pair, 0 and 0 where none is allowed.
func (inst *Instance) costRange() (least, largest float64) {
	switch {
	case inst.Points != nil:
		return 0, inst.Points.largest()
	case inst.Type == Int32:
		return spanOf(inst, inst.I32)
	case inst.Type == Int64:
		return spanOf(inst, inst.I64)
	case inst.Type == Float32:
		return spanOf(inst, inst.F32)
	}
	return spanOf(inst, inst.F64)
}

func spanOf[T Number](inst *Instance, costs []T) (least, largest float64) {
	forbidden := Forbidden[T](inst.Maximize)
	s := Scan(costs, func(part []T) Span[T] {
		s := Span[T]{Bad: -1}
		for _, c := range part {
			switch {
			case c == forbidden && !inst.Every || c != c:
			case s.count == 0:
				s.count, s.least, s.largest = 1, c, c
			default:
				s.least, s.largest = min(s.least, c), max(s.largest, c)
			}
		}
		return s
	})
	return float64(s.least), float64(s.largest)
}

// RowRange is rows low to high-1 of a dense instance, whose costs it shares.
func (inst *Instance) RowRange(low, high int) *Instance {
	part := *inst
	part.Rows, part.Unmap = high-low, nil
	if part.RowNames != nil {
		part.RowNames = part.RowNames[low:high]
	}
	from, to := low*inst.Cols, high*inst.Cols
	switch inst.Type {
	case Int32:
		part.I32 = inst.I32[from:to]
	case Int64:
		part.I64 = inst.I64[from:to]
	case Float32:
		part.F32 = inst.F32[from:to]
	default:
		part.F64 = inst.F64[from:to]
	}
	return &part
}

// ColumnRange are columns low to high-1 of a dense instance as rows, in memory of their own.
func (inst *Instance) ColumnRange(low, high int) *Instance {
	part := *inst
	part.Cols, part.Unmap = high-low, nil
	if part.ColNames != nil {
		part.ColNames = part.ColNames[low:high]
	}
	switch inst.Type {
	case Int32:
		part.I32 = columns(inst.I32, inst.Cols, low, high)
	case Int64:
		part.I64 = columns(inst.I64, inst.Cols, low, high)
	case Float32:
		part.F32 = columns(inst.F32, inst.Cols, low, high)
	default:
		part.F64 = columns(inst.F64, inst.Cols, low, high)
	}
	return part.Transpose()
}

func columns[T Number](costs []T, cols, low, high int) (part []T) {
	for row := range slices.Chunk(costs, max(1, cols)) {
		part = append(part, row[low:high]...)
	}
	return part
}

// Forbid forbids the pair at an index of the costs.
func (inst *Instance) Forbid(k int) {
	switch inst.Type {
	case Int32:
		inst.I32[k] = Forbidden[int32](inst.Maximize)
	case Int64:
		inst.I64[k] = Forbidden[int64](inst.Maximize)
	case Float32:
		inst.F32[k] = Forbidden[float32](inst.Maximize)
	case Float64:
		inst.F64[k] = Forbidden[float64](inst.Maximize)
	}
}
