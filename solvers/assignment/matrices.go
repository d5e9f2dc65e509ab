package assignment

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
	"unsafe"

	"coalesce/autotune/tuned"
	"coalesce/generated/assignment"
	"coalesce/runtime/device"
	"coalesce/solvers/assignment/internal/fused"
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/solve"
)

// Matrices solves small dense matrices of one shape in a device's memory, in one launch, into memory there. It belongs to one
// goroutine at a time.
type Matrices struct {
	layout       Layout
	inst         *problem.Instance // each matrix, without its costs
	rows         int               // of a matrix or its columns, whichever are fewer
	options      Options
	engine       *fused.Engine // nil where there are no costs
	late, status device.Buffer // for solves that wait; nil until the first
	word         *uint64       // late's memory, where the host has it
	ended        device.Buffer // of few matrices, with the next two
	end          *uint64       // its memory
	solved       device.Buffer
	stamp        uint64 // of the last solve that waited
	held         device.Scope
}

// Ties says which matching is given where several are optimal.
type Ties int

// Ties. SciPy's sums are of float64: where these are exact, SciPyTies is the matching of SciPy's linear_sum_assignment.
const (
	AnyTies Ties = iota
	SciPyTies
)

// Placed are buffers of the device for the answers about all matrices; nil is not asked for. Late is not for callers.
type Placed = fused.Output

// ErrShape is wrapped where no kernel solves matrices of a shape in one launch. A Resident may.
var ErrShape = errors.New("no kernel solves matrices of this shape in one launch")

// OpenMatrices chooses the kernel for a layout on one device, and loads it. The error wraps ErrShape where there is none.
func OpenMatrices(l Layout, ties Ties, o Options) (_ *Matrices, err error) {
	m := &Matrices{layout: l, options: o}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("open matrices on a device: %w", err), m.Close())
		}
	}()
	if len(o.Devices) != 1 {
		return nil, solve.InvalidInput("Devices", "found %d, expected one: the costs are on it", len(o.Devices))
	}
	d := o.Devices[0]
	var p *problem.Normal
	if m.inst, p, err = l.normal(nil); err != nil {
		return m, err
	}
	if m.rows = p.Rows; m.rows == 0 || l.Count == 0 {
		return m, nil
	}
	facts := d.Facts()
	s := fused.Shape{Value: l.Type, Count: l.Count, Rows: l.Rows, Cols: l.Cols, Maximize: l.Maximize, SciPy: ties == SciPyTies, Unchecked: o.Unchecked}
	c, err := o.Choose(&assignment.Fused, facts, fused.Workload(s, facts), func(v *device.Variant) error { return fused.Fits(v, facts, s) })
	if errors.Is(err, tuned.ErrNoVariant) {
		err = fmt.Errorf("%w: %w", ErrShape, err)
	}
	if err != nil {
		return m, err
	}
	if m.engine, err = fused.Open(d, c.Variant, s); err != nil {
		return m, err
	}
	m.held.CloseLater(m.engine)
	return m, nil
}

// Close gives back the kernel and the memory.
func (m *Matrices) Close() error {
	err := m.held.Close()
	if m.word != nil {
		err = errors.Join(err, m.late.Free())
		m.word, m.late = nil, nil
	}
	if m.end != nil {
		err = errors.Join(err, m.ended.Free())
		m.end, m.ended = nil, nil
	}
	return err
}

// Enqueue launches the solve on a stream and returns: nothing is waited for or allocated, so that a caller may be capturing
// the stream into a graph. to.Status says what became of each matrix, and nothing else does.
func (m *Matrices) Enqueue(s device.Stream, costs device.Buffer, to Placed) error {
	to.Late, to.Ended, to.Solved = nil, nil, nil
	if m.engine == nil {
		return m.empty(s, to)
	}
	return m.launch(s, costs, to, 0)
}

// empty writes the answers about matrices without rows or columns: no row has a column.
func (m *Matrices) empty(s device.Stream, to Placed) (err error) {
	if l := m.layout; to.Columns != nil && l.Count > 0 && l.Rows > 0 {
		err = s.Fill(to.Columns, 0, 8*int64(l.Count)*int64(l.Rows), 0xff)
	}
	if to.Status != nil && m.layout.Count > 0 {
		err = errors.Join(err, s.Fill(to.Status, 0, 4*int64(m.layout.Count), assignment.FusedStatusProven))
	}
	return err
}

func (m *Matrices) launch(s device.Stream, costs device.Buffer, to Placed, stamp uint64) error {
	l := m.layout
	all, pairs := int64(l.Count)*int64(l.Rows), int64(l.Count)*int64(m.rows)
	for _, b := range []struct {
		name   string
		buffer device.Buffer
		bytes  int64
	}{
		{"costs", costs, all * int64(l.Cols) * int64(l.Type.Size())},
		{"rows of pairs", to.PairRows, 8 * pairs}, {"columns of pairs", to.PairColumns, 8 * pairs}, {"columns", to.Columns, 8 * all}, {"statuses", to.Status, 4 * int64(l.Count)},
	} {
		if b.buffer != nil && b.buffer.Len() < b.bytes {
			return fmt.Errorf("%s on a device: found %d bytes, expected %d", b.name, b.buffer.Len(), b.bytes)
		}
	}
	if err := m.engine.Launch(s, costs, to, stamp); err != nil {
		return fmt.Errorf("solve matrices: %w", err)
	}
	return nil
}

// Solve launches the solve on a stream and waits for it. Matrices that rounding leaves open, and integers beyond 2^60 over the rows,
// are solved with costs of the host; no others come there. unmatched are the matrices without a full matching, whose columns and
// pairs are -1. Costs that cannot be solved with are an ErrCost.
func (m *Matrices) Solve(ctx context.Context, s device.Stream, costs device.Buffer, to Placed) (unmatched []int, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if m.engine == nil {
		return nil, errors.Join(m.empty(s, to), s.Sync())
	}
	count := m.layout.Count
	if m.late == nil {
		if err := m.takeWords(s); err != nil {
			return nil, err
		}
	}
	m.stamp++
	if to.Late, to.Ended, to.Solved = m.late, m.ended, m.solved; to.Status == nil {
		to.Status = m.status
	}
	if err := m.launch(s, costs, to, m.stamp); err != nil {
		return nil, err
	}
	if late, err := m.isLate(s); err != nil || !late {
		return nil, err
	}
	statuses := make([]int32, count)
	if err := s.Download(device.Bytes(statuses), to.Status, 0); err != nil {
		return nil, err
	}
	for k, status := range statuses {
		switch {
		case status == assignment.FusedStatusProven:
		case status == assignment.FusedStatusUnmatched:
			unmatched = append(unmatched, k)
		case status == assignment.FusedStatusInvalidCost && !m.layout.Type.Integer():
			return nil, fmt.Errorf("solve matrices: matrix %d: %w: found one that is not a number, or an infinity that forbids nothing", k, problem.ErrCost)
		case status == assignment.FusedStatusRefuted:
			return nil, fmt.Errorf("solve matrices: matrix %d: %w", k, problem.ErrCheck)
		default:
			full, err := m.solveSingly(ctx, s, costs, to, k)
			if err != nil {
				return nil, fmt.Errorf("solve matrices: matrix %d: %w", k, err)
			}
			if !full {
				unmatched = append(unmatched, k)
			}
		}
	}
	return unmatched, s.Sync()
}

// watched is the most matrices whose end the host waits for by looking at a word, and watchFor the longest that it does.
const (
	watched  = 256
	watchFor = 200 * time.Microsecond
)

// takeWords takes the memory by which a solve that waits learns what became of the matrices.
func (m *Matrices) takeWords(s device.Stream) (err error) {
	d := m.options.Devices[0]
	if m.status, err = m.held.Alloc(d, 4*int64(m.layout.Count)); err != nil {
		return err
	}
	mapper, ok := device.WithoutCache(d).(device.Mapper)
	if !ok {
		if m.late, err = m.held.Alloc(d, 8); err != nil {
			return err
		}
		return s.Fill(m.late, 0, 8, 0)
	}
	if m.word, m.late, err = mapWord(mapper); err != nil || m.layout.Count > watched {
		return err
	}
	if m.end, m.ended, err = mapWord(mapper); err != nil {
		return err
	}
	if m.solved, err = m.held.Alloc(d, 8); err != nil {
		return err
	}
	return s.Fill(m.solved, 0, 8, 0)
}

// mapWord takes a word of the host's memory that kernels write, which is 0.
func mapWord(m device.Mapper) (*uint64, device.Buffer, error) {
	memory, b, err := m.Map(8)
	if err != nil {
		return nil, nil, err
	}
	clear(memory)
	return (*uint64)(unsafe.Pointer(&memory[0])), b, nil
}

// isLate waits for the last launch and says whether some matrix was not proven. The end of few matrices shows in a word before the
// stream says so.
func (m *Matrices) isLate(s device.Stream) (bool, error) {
	if m.word == nil {
		word := []uint64{0}
		err := s.Download(device.Bytes(word), m.late, 0)
		return word[0] == m.stamp, err
	}
	var err error
	if m.end == nil || !seen(m.end, m.stamp) {
		err = s.Sync()
	}
	return atomic.LoadUint64(m.word) == m.stamp, err
}

// seen looks at a word until it has a value, and gives up after a while.
func seen(word *uint64, value uint64) bool {
	for start := time.Now(); time.Since(start) < watchFor; {
		for range 64 {
			if atomic.LoadUint64(word) == value {
				return true
			}
		}
	}
	return false
}

// solveSingly solves matrix k with costs of the host, and writes the answer to the device; false: it has no full matching.
func (m *Matrices) solveSingly(ctx context.Context, s device.Stream, costs device.Buffer, to Placed, k int) (full bool, err error) {
	inst := *m.inst
	makeCosts(&inst, inst.Rows*inst.Cols)
	if err := s.Download(inst.Bytes(), costs, int64(k)*int64(len(inst.Bytes()))); err != nil {
		return false, err
	}
	if inst.Type.Integer() {
		allowEvery(&inst)
	}
	r, err := Solve(ctx, &inst, m.options)
	var none *problem.InfeasibleError
	if err != nil && !errors.As(err, &none) {
		return false, err
	}
	columns, pairRows, pairColumns := make([]int64, inst.Rows), make([]int64, 0, m.rows), make([]int64, 0, m.rows)
	status := []int32{assignment.FusedStatusUnmatched}
	for i := range columns {
		columns[i] = -1
	}
	if r != nil && r.Column != nil {
		status[0] = assignment.FusedStatusProven
		for i, j := range r.Column {
			if columns[i] = int64(j); j >= 0 {
				pairRows, pairColumns = append(pairRows, int64(i)), append(pairColumns, int64(j))
			}
		}
	}
	for len(pairRows) < m.rows {
		pairRows, pairColumns = append(pairRows, -1), append(pairColumns, -1)
	}
	for _, part := range []struct {
		to    device.Buffer
		bytes []byte
	}{{to.Columns, device.Bytes(columns)}, {to.PairRows, device.Bytes(pairRows)}, {to.PairColumns, device.Bytes(pairColumns)}, {to.Status, device.Bytes(status)}} {
		if part.to != nil {
			err = errors.Join(err, s.Upload(part.to, int64(k)*int64(len(part.bytes)), part.bytes))
		}
	}
	return status[0] == assignment.FusedStatusProven, err
}
