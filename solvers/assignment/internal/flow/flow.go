// Package flow finds exact optimal transport between masses for dense costs that lie in a device's memory, into memory there, in one
// launch a batch (family assignment/flow).
package flow

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"coalesce/autotune/tuned"
	"coalesce/generated/assignment"
	"coalesce/runtime/device"
	"coalesce/solvers/assignment/problem"
)

// Name is the family's name.
const Name = "flow"

// A Shape describes the problems of a batch. Their costs lie one after the other, row after row.
type Shape struct {
	Value      problem.Value
	Count      int
	Rows, Cols int
	AnySums    bool // masses of columns may have any sum: they are scaled
	Blocks     int  // of a problem, where all wait for one another; 0: as many as suit
}

// Nodes are the rows and columns of a problem.
func (s Shape) Nodes() int { return s.Rows + s.Cols }

// An Engine solves problems of a shape: prices by Sinkhorn's iterations, a first flow by bids, and the network simplex method. It belongs to one
// goroutine at a time.
type Engine struct {
	Variant *device.Variant
	form
	kernels *assignment.FlowKernels
	held    device.Scope
	work    device.Buffer
	barrier device.Buffer
}

// Start says how prices of columns are approached.
type Start struct {
	Rounds int     // of Sinkhorn's iterations
	Last   float64 // epsilon, in the costs' mean above the least one
}

// StartFor is a start that took little time for problems of so many nodes (docs/notes/assignment-transport.md).
func StartFor(nodes int) Start {
	if nodes <= 600 {
		return Start{20, 0.005}
	}
	return Start{100, 0.0005}
}

// An Output is where a launch writes: float64 but for the plans, of the costs' type or float64 of integers, and the statuses, int32 (assignment.FlowStatus). Plans lie as
// the costs do; duals are those of rows and of columns.
type Output struct{ Plan, U, V, Cost, Status device.Buffer }

// static is at least the static shared memory of a block.
const static = 3 << 10

// shared is the dynamic shared memory of a block: the tree, 28 bytes a node, or before it a strip of Sinkhorn's sums.
func shared(v *device.Variant, nodes int) int {
	return max(28*nodes, 8*assignment.Flow.Int(v, "team")) + 8
}

// Fits holds a variant against a shape and a device; nil where it solves such problems.
func Fits(v *device.Variant, facts device.Facts, s Shape) error {
	f := &assignment.Flow
	team, each := f.Int(v, "team"), f.Int(v, "each")
	if s.Nodes() > team*each {
		return fmt.Errorf("%d rows and columns, a block holds %d", s.Nodes(), team*each)
	}
	return facts.BlockFits(team, int64(shared(v, s.Nodes())+static))
}

// Workload describes a shape for the choice of a variant. Its prior is the variant with the fewest nodes a thread, of these that with the fewest threads.
func Workload(s Shape, facts device.Facts) tuned.Workload {
	w := tuned.Workload{Fixed: map[string]string{"value": string(s.Value)}, Size: s.Nodes()}
	w.Comparable = func(v *device.Variant, size int) error {
		side := s
		side.Rows, side.Cols = size/2, size-size/2
		return Fits(v, facts, side)
	}
	f := &assignment.Flow
	least := math.MaxInt
	for i := range f.Variants {
		v := &f.Variants[i]
		if f.Value(v, "value") != string(s.Value) || facts.CheckLoadable(f, v) != nil || Fits(v, facts, s) != nil {
			continue
		}
		team, each := f.Int(v, "team"), f.Int(v, "each")
		if work := 2048*each + team; work < least {
			least = work
			w.Prior = tuned.Prior{Variant: v, Why: "the fewest nodes a thread, of " + strconv.Itoa(w.Size)}
		}
	}
	return w
}

// alone says how many problems of so many nodes are solved one after the other by all blocks, rather than by a block each: on an H200 one of
// 512 nodes took 1.5 ms and 64 together 3; of 2,000 nodes one took 10 ms and 16 together 65 (docs/notes/assignment-transport.md).
func alone(nodes int) int { return nodes / 333 }

// Open loads a variant for problems of a shape, and takes its memory.
func Open(d device.Device, v *device.Variant, s Shape) (*Engine, error) {
	facts := d.Facts()
	if err := Fits(v, facts, s); err != nil {
		return nil, fmt.Errorf("%s: %w", v.Label, err)
	}
	e := &Engine{Variant: v, form: formOf(v, facts, s)}
	var err error
	if e.kernels, err = assignment.LoadFlow(d, v); err != nil {
		return nil, err
	}
	e.held.CloseLater(e.kernels)
	if err := e.held.AllocAll(d, device.BufferFor(&e.work, 8*int64(e.workWords())), device.BufferFor(&e.barrier, 8)); err != nil {
		return nil, errors.Join(fmt.Errorf("assignment/flow of %d x %d x %d costs: %w", s.Count, s.Rows, s.Cols, err), e.Close())
	}
	return e, nil
}

// A form is how problems of a shape are launched.
type form struct {
	shape Shape
	Start Start
	grid  device.Grid
	group int // blocks of a problem
	words int // of the memory of a problem, of 8 bytes: struct Problem of flow.cuh
}

func formOf(v *device.Variant, facts device.Facts, s Shape) form {
	f := form{shape: s, Start: StartFor(s.Nodes()), group: max(1, s.Blocks)}
	if s.Blocks == 0 && s.Count <= alone(s.Nodes()) {
		f.group = facts.SMs
	}
	blocks := s.Count
	if f.group > 1 {
		blocks = f.group
	}
	const control = 16
	f.words = 4*f.group + control + 5*s.Rows + 4*s.Cols + (4*s.Rows+3*s.Cols+1)/2
	f.grid = device.Grid{Blocks: int64(blocks), Threads: assignment.Flow.Int(v, "team"), Shared: shared(v, s.Nodes()), Cooperative: f.group > 1}
	return f
}

// workWords are those of the memory of a launch.
func (f *form) workWords() int { return f.words * int(f.grid.Blocks) / f.group }

// Close unloads the kernels and gives back the memory.
func (e *Engine) Close() error { return e.held.Close() }

// Launch solves the problems whose costs and masses, float64, lie in the buffers. It waits for nothing.
func (e *Engine) Launch(s device.Stream, costs, a, b device.Buffer, to Output) error {
	return errors.Join(s.Fill(e.barrier, 0, 8, 0), e.launch(e.kernels, s, costs, a, b, e.work, e.barrier, to))
}

func (f *form) launch(k *assignment.FlowKernels, s device.Stream, costs, a, b, work, barrier device.Buffer, to Output) (err error) {
	launches, anySums := 1, uint64(0)
	if f.group > 1 {
		launches = f.shape.Count
	}
	if f.shape.AnySums {
		anySums = 1
	}
	rows, cols := f.shape.Rows, f.shape.Cols
	bound := problem.MaxScaled(min(4*(min(rows, cols)+1), problem.MaxSide))
	for first := 0; first < launches && err == nil; first++ {
		err = k.Solve(s, f.grid, costs, a, b, uint64(first), uint64(rows), uint64(cols), uint64(f.group), anySums, bound, uint64(f.Start.Rounds), f.Start.Last,
			work, uint64(f.words), barrier, to.Plan, to.U, to.V, to.Cost, to.Status)
	}
	return err
}
