// Package fused solves small matrices of one shape that lie in a device's memory, each from its costs to its proven
// columns, in one launch (family assignment/fused).
package fused

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
const Name = "fused"

// A Shape describes the matrices of a launch. They lie one after the other, row after row.
type Shape struct {
	Value      problem.Value
	Count      int
	Rows, Cols int // of a matrix, as it lies
	Maximize   bool
	SciPy      bool // of matchings of equal sums, SciPy's own
	Unchecked  bool
}

// sides are those of the problem, rows <= cols.
func (s Shape) sides() (rows, cols int64) {
	return int64(min(s.Rows, s.Cols)), int64(max(s.Rows, s.Cols))
}

// An Engine solves matrices of a shape: a team of threads each, from the range of the costs to the check. Column minima are
// the first duals of square matrices. Where a team has several warps, free rows bid for columns (augmenting row reduction), then shortest augmenting
// paths match the rows that are left free (Jonker and Volgenant, Computing 38, 1987). With costs in global memory and up to 512 threads both read lists of the columns that cost a
// row least, unless there are many ties or columns, and paths are found by labels that many rows correct at once. A single warp
// searches paths at once: a bid would take it as long as a step of a path, of which there are fewer (31 for 20 x 20 uniform costs, 46 bids).
// An engine holds no memory of the device, so that several launches of one may be under way at once.
type Engine struct {
	Variant *device.Variant
	kernels *assignment.FusedKernels
	shape   Shape
	grid    device.Grid
	memory  uint64 // shared, of a team
	near    uint64
	slots   uint64
}

// An Output is where a launch writes: buffers of the device, nil for what is not asked for. Of each matrix, with the fewer
// of rows and columns as pairs: the matched rows, ascending, and their columns; the column of each row, -1 where
// it has none; int64 all. Statuses are int32, assignment.FusedStatus. All columns and pairs of a matrix without a matching
// are -1. A launch with a matrix that is not proven writes its stamp to Late, a word. Once all matrices are solved and their answers written, it writes it to
// Ended, a word, by means of Solved, a word that is 0 before the first launch with the two.
type Output struct {
	PairRows, PairColumns, Columns, Status, Late, Ended, Solved device.Buffer
}

// listSlots is the most columns of a row's list.
const listSlots = 16

// memoryOf is the shared memory of a team in bytes with lists of so many columns a row, and with the pairs within rounding, which take the place of the
// lists, if they are asked for.
func memoryOf(v *device.Variant, s Shape, slots int64, near bool) int64 {
	rows, cols := s.sides()
	team, shared := assignment.Fused.Int(v, "team"), assignment.Fused.Value(v, "costs") == "shared"
	bids, lists := team > 32, int64(0)
	least, pairs := 12*rows+8*cols, int64(0)
	if bids {
		least += 12*rows + 32*cols
	}
	if shared {
		least += 8 * rows * cols
	}
	if bids && !shared && team <= 512 {
		least += 16 * rows
		lists = rows * slots * int64(s.Value.Size()+2)
	}
	if near {
		pairs = 4 * (rows + 2) * (rows/32 + 1)
	}
	return (least + max(lists, pairs) + 15) / 16 * 16
}

// static is at least the static shared memory of a block.
const static = 2 << 10

// Fits holds a variant against a shape and a device; nil where it solves such matrices.
func Fits(v *device.Variant, facts device.Facts, s Shape) error {
	f := &assignment.Fused
	team, columns, teams := f.Int(v, "team"), f.Int(v, "columns"), f.Int(v, "teams")
	if _, cols := s.sides(); cols > int64(team*columns) {
		return fmt.Errorf("%d columns, a team holds %d", cols, team*columns)
	}
	return facts.BlockFits(team*teams, int64(teams)*memoryOf(v, s, 0, false)+static)
}

// Workload describes a shape for the choice of a variant. Its prior is the variant with the fewest columns to spare, of these
// that with the fewest a thread, with costs in shared memory where there is room. Winners were found on squares.
func Workload(s Shape, facts device.Facts) tuned.Workload {
	rows, cols := s.sides()
	sides := Square
	if cols > 2*rows {
		sides = "wide"
	}
	w := tuned.Workload{Fixed: map[string]string{"value": string(s.Value), "sides": sides}, Size: int(cols)}
	w.Comparable = func(v *device.Variant, size int) error {
		side := s
		side.Rows, side.Cols = size, size
		return Fits(v, facts, side)
	}
	f := &assignment.Fused
	least := math.MaxInt
	for i := range f.Variants {
		v := &f.Variants[i]
		if f.Value(v, "value") != string(s.Value) || f.Int(v, "teams") > 1 || facts.CheckLoadable(f, v) != nil || Fits(v, facts, s) != nil {
			continue
		}
		room := 16*f.Int(v, "team")*f.Int(v, "columns") + 2*f.Int(v, "columns")
		if f.Value(v, "costs") == "global" {
			room++
		}
		if room < least {
			least = room
			w.Prior = tuned.Prior{Variant: v, Why: "the fewest columns to spare, " + strconv.Itoa(w.Size) + " needed"}
		}
	}
	return w
}

// Square is the value of "sides" for matrices that are less than twice as wide as high.
const Square = "square"

// Open loads a variant for matrices of a shape.
func Open(d device.Device, v *device.Variant, s Shape) (*Engine, error) {
	facts, f := d.Facts(), &assignment.Fused
	if err := Fits(v, facts, s); err != nil {
		return nil, fmt.Errorf("%s: %w", v.Label, err)
	}
	kernels, err := assignment.LoadFused(d, v)
	if err != nil {
		return nil, err
	}
	e := &Engine{Variant: v, kernels: kernels, shape: s}
	teams, threads := f.Int(v, "teams"), f.Int(v, "team")*f.Int(v, "teams")
	fits := func(slots int64, near bool) bool {
		return facts.BlockFits(threads, int64(teams)*memoryOf(v, s, slots, near)+static) == nil
	}
	slots := int64(listSlots)
	for slots > 0 && !fits(slots, false) {
		slots /= 2
	}
	near := (!s.Value.Integer() || s.SciPy && f.Int(v, "team") <= 512) && fits(slots, true)
	if near {
		e.near = 1
	}
	e.memory, e.slots = uint64(memoryOf(v, s, slots, near)), uint64(slots)
	e.grid = device.Grid{Blocks: (int64(s.Count) + int64(teams) - 1) / int64(teams), Threads: threads, Shared: teams * int(e.memory)}
	return e, nil
}

// Close unloads the kernels.
func (e *Engine) Close() error { return e.kernels.Close() }

// Launch solves the matrices that lie in costs. It waits for nothing and takes no memory.
func (e *Engine) Launch(s device.Stream, costs device.Buffer, to Output, stamp uint64) error {
	shape := e.shape
	if (to.PairRows == nil) != (to.PairColumns == nil) {
		return errors.New("rows of pairs without their columns, or columns without their rows")
	}
	if (to.Ended == nil) != (to.Solved == nil) {
		return errors.New("a word for the end without the count of matrices, or the count without the word")
	}
	asks := uint64(0)
	if shape.Maximize {
		asks |= assignment.FusedAskMaximize
	}
	if shape.SciPy {
		asks |= assignment.FusedAskScipy
	}
	if !shape.Unchecked {
		asks |= assignment.FusedAskChecked
	}
	rows, _ := shape.sides()
	return e.kernels.Solve(s, e.grid, costs, uint64(shape.Count), uint64(shape.Rows), uint64(shape.Cols), asks, problem.MaxScaled(int(rows)), e.memory, e.near, e.slots,
		to.PairRows, to.PairColumns, to.Columns, to.Status, to.Late, to.Ended, to.Solved, stamp)
}
