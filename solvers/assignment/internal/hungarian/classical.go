// Package hungarian has the two published variants of the Hungarian method with many
// augmenting paths a phase (Date and Nagi 2016), classical and alternating tree, on
// one device or several, and both in plain Go on one core.
package hungarian

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"coalesce/generated/assignment"
	"coalesce/runtime/device"
	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/problem"
)

// classical runs assignment/classical, the classical variant of the Hungarian
// method (Date and Nagi, "GPU-accelerated Hungarian algorithms for the Linear
// Assignment Problem", Parallel Computing 57, 2016):
//
//  1. Columns are reduced by their minima (only where all columns get matched),
//     then rows by theirs. The zeros of the slack matrix are gathered, by row
//     and by chunk of columns: the compressed matrix.
//  2. Zeros are matched greedily.
//  3. Rows that are free are the roots of a forest; level by level, its rows
//     reach columns over zeros, and the rows matched to those columns join
//     (they are covered, in the words of the classical algorithm). Rows race
//     for a column, so that trees are disjoint. A tree that reaches a free
//     column has its augmenting path and grows no further.
//  4. When no row is left to expand and no path was found, one pass over the
//     uncovered entries, rows in the forest and columns out of it, finds the
//     least slack of each chunk and where it lies. The least of all, d, is
//     added to the duals of the forest's rows and taken from those of its
//     columns. Entries that had the slack d are zeros now; zeros of other
//     rows in the forest's columns are zeros no longer. The search goes on
//     over the new zeros.
//  5. When no row is left to expand and paths were found, all of them are
//     augmented at once. The next phase starts from the trees without one, whose
//     rows look again for columns that the others gave back (forest=kept; tree
//     grafting, Azad, Buluç and Pothen 2017), or from the rows still free
//     (forest=anew).
//
// The paper does not print its kernels; the missing steps follow the descriptions in its
// successors (Lopes et al. 2019, Kawtikwar and Nagi 2024). A dual update is one pass, although d is known only after it:
// the least slacks of a chunk stay in a warp's registers, so that their places
// are written before anyone knows whether they matter. Slacks are recomputed
// from the costs and the duals (slack=recomputed), or from the matrix that the
// reduction left (slack=stored), in 32 bits where they fit: no entry is ever
// rewritten.
//
// With slack=bounded the pass reads only what can matter. The duals v of columns never rise, so
// that the least c - v of a part of a row, 256 columns, is not above what it is later: less the
// row's u, it bounds the part's slacks from below. A block reads a part unless the bound exceeds
// the least slack found by any block so far; reading tightens the bound again; d is the same. Of
// 20,000 rows and costs up to 10n all dual updates together read the matrix 1.1 to 1.5 times, not
// 38 (bench/results/assignment-race.json, an H200; the same at commit 7608d43). Where rows have
// many zeros, bounds are 0 and rule out little.
//
// Zeros are a bit an entry, or lists of 31 a row (zeros=lists). What a list has no
// room for is left out: an uncovered zero that the search does not know of is the
// least slack of the next pass, d = 0. With lists, levels of few rows are left to
// one block, which has the reached columns, the frontier and, where there is
// room, the matching in shared memory. Paths are augmented along in parts, as those
// of assignment/tree are.
//
// A whole solve is one persistent kernel or, with barrier=host, a launch for
// each step. Which of several optimal matchings is found depends on the races.
// Duals to start from are used where all columns get matched: their v, with u
// reduced again. Other problems start cold.
type classical struct {
	engine.Reporter
	device     device.Device
	family     *device.Family
	variant    *device.Variant
	kernels    *assignment.ClassicalKernels
	rows, cols int
	Grid       device.Grid
	work       device.Buffer
	stored     device.Buffer // nil until a problem needs it
	v, base, u int64         // offsets in work, bytes
	reached    int64
	column     int64
	queue      int64
	words      int64  // of a set of columns
	parts      int64  // of a row: a least slack is kept of each
	passLimit  uint64 // passes after which a solve gives up, counting rows of the forest in dual updates, read or not; 0: never
}

// classicalControl is the beginning of the workspace.
type classicalControl = assignment.ClassicalControl

const (
	classicalBudget = 256 // augmentations and dual updates of a launch
	classicalShort  = 12  // the same, for a solve that may give up
)

// OpenClassical loads a variant and takes memory for problems of one size.
func OpenClassical(d device.Device, v *device.Variant, rows, cols int) (*classical, error) {
	if limit := 1 << assignment.ClassicalRowBits; rows >= limit {
		return nil, fmt.Errorf("assignment/classical of %d x %d pairs: expected fewer than %d rows", rows, cols, limit)
	}
	k, err := assignment.LoadClassical(d, v)
	if err != nil {
		return nil, err
	}
	c := &classical{device: d, family: &assignment.Classical, variant: v, kernels: k, rows: rows, cols: cols}
	items := c.family.Int(v, "items")
	span := 32 * items
	m, n, chunks := int64(rows), int64(cols), int64((cols+span-1)/span)
	c.words = 32 * chunks
	if c.parts = chunks; c.hasParam("slack", "bounded") {
		c.parts = chunks * int64(items/assignment.ClassicalPartItems)
	}
	c.v = 8 * assignment.ClassicalControlWords
	c.base = c.v
	if c.hasParam("slack", "stored") {
		c.base += 8 * n
	}
	c.reached = c.v + 2*8*n
	c.u = c.reached + 3*32*4*chunks
	c.column = c.u + 8*(m+m+m*c.parts)
	c.queue = c.column + 4*(m+n)
	size := c.queue + 4*4*m + 128 + 32*4*chunks*m
	if c.hasParam("zeros", "bits") {
		size += 32 * 4 * chunks * m
	} else {
		size += 32 * 4 * m
	}
	if c.work, err = d.Alloc(size); err != nil {
		return nil, errors.Join(fmt.Errorf("assignment/classical of %d x %d pairs: %w", rows, cols, err), k.Close())
	}
	block := c.family.Int(v, "block")
	warps := int64(block / 32)
	c.Grid = device.Grid{Blocks: max(1, min(c.atOnce(), (m*chunks+warps-1)/warps)), Threads: block, Cooperative: c.hasParam("barrier", "grid")}
	return c, nil
}

// atOnce is the number of blocks that the device runs at once.
func (c *classical) atOnce() int64 {
	return int64(max(1, c.device.Facts().SMs) * c.family.Int(c.variant, "resident"))
}

func (c *classical) hasParam(param, value string) bool {
	return c.family.Value(c.variant, param) == value
}

func (c *classical) Close() error {
	var err error
	if c.stored != nil {
		err = c.stored.Free()
	}
	return errors.Join(err, c.work.Free(), c.kernels.Close())
}

// A classicalRun is one solve: the arguments of every launch.
type classicalRun struct {
	*classical
	s     device.Stream
	costs device.Buffer
	scale float64
	full  bool  // all columns get matched
	floor int64 // every row's dual before the reduction
	flags uint64
	apart bool // a kernel of its own runs the search; the passes are others'
}

// Solve implements engine.
func (c *classical) Solve(ctx context.Context, s device.Stream, p *problem.Normal, m *engine.Matrix, start *problem.Prices) (*engine.Solution, error) {
	if p.Limit != problem.Infinity || p.Rows != c.rows || p.Cols != c.cols || p.Rows > p.Cols {
		return nil, fmt.Errorf("assignment/classical: %d x %d pairs with limit %d: expected %d x %d without a limit", p.Rows, p.Cols, p.Limit, c.rows, c.cols)
	}
	sol := &engine.Solution{Column: make([]int32, c.rows), Prices: problem.Prices{U: make([]int64, c.rows), V: make([]int64, c.cols)}}
	if c.rows == 0 {
		return sol, nil
	}
	r := &classicalRun{classical: c, s: s, costs: m.Costs, scale: p.Scale, full: p.Rows == p.Cols}
	if err := r.initialise(p, start); err != nil {
		return nil, err
	}
	run := r.persistent
	if !c.Grid.Cooperative {
		run = r.solveByLaunches
	}
	last, err := run(ctx)
	if err != nil {
		return nil, err
	}
	if last.Stage == assignment.ClassicalStageStuck {
		return nil, r.infeasibleError(last)
	}
	sol.Counts = engine.Counts{
		Passes:  1 + r.columnReductions() + r.updatePasses(last),
		Steps:   int64(last.Levels),
		Phases:  int64(last.Phases),
		Paths:   int64(last.Paths),
		Updates: int64(last.Updates),
	}
	return sol, r.collect(sol)
}

// columnReductions is the number of times that the reduction of columns reads the matrix.
func (r *classicalRun) columnReductions() float64 {
	if r.flags&assignment.ClassicalFlagReduce != 0 {
		return 1
	}
	return 0
}

// updatePasses is the number of times that dual updates read the matrix.
func (r *classicalRun) updatePasses(x *classicalControl) float64 {
	if r.hasParam("slack", "bounded") {
		return float64(x.Read) / float64(int64(r.rows)*r.parts)
	}
	return float64(x.Scanned) / float64(r.rows)
}

// initialise writes the control words and the duals of the columns. With v as it
// starts, no slack c - v - floor is negative, and none exceeds bound.
func (r *classicalRun) initialise(p *problem.Normal, start *problem.Prices) error {
	n := int64(r.cols)
	bound := p.Max - p.Min
	var err error
	switch {
	case r.warm(start, bound):
		low, high := slices.Min(start.V), slices.Max(start.V)
		r.floor = p.Min - high
		bound += high - low
		err = r.s.Upload(r.work, r.base, device.Bytes(start.V))
	case !r.full:
		r.floor = p.Min
		err = r.s.Fill(r.work, r.base, 8*n, 0)
	default:
		r.flags |= assignment.ClassicalFlagReduce
		err = r.s.Fill(r.work, r.base, 8*n, 0x7f) // beyond problem.Infinity
	}
	if err != nil {
		return err
	}
	size := p.Instance.Type.Size()
	if r.cols*size%16 == 0 {
		r.flags |= assignment.ClassicalFlagAligned
	}
	if r.hasParam("slack", "stored") {
		if err := r.store(bound); err != nil {
			return err
		}
	}
	control := classicalControl{Least: [2]int64{problem.Infinity, problem.Infinity}, Bound: bound}
	return r.s.Upload(r.work, 0, control.Bytes())
}

// warm reports whether the solve starts from duals: not where they are so
// large that slacks could come near problem.Infinity.
func (r *classicalRun) warm(start *problem.Prices, bound int64) bool {
	if start == nil || !r.full {
		return false
	}
	low, high := slices.Min(start.V), slices.Max(start.V)
	return low > -problem.Infinity/4 && high < problem.Infinity/4 && bound < problem.Infinity/4
}

// store allocates memory for slacks up to bound. Duals count from these slacks then.
func (r *classicalRun) store(bound int64) error {
	entry := int64(4)
	if bound >= assignment.ClassicalNarrow {
		entry, r.flags = 8, r.flags|assignment.ClassicalFlagWide
	}
	if err := r.s.Fill(r.work, r.v, 8*int64(r.cols), 0); err != nil {
		return err
	}
	size := int64(r.rows) * int64((r.cols+3)/4*4) * entry
	if r.stored != nil && r.stored.Len() >= size {
		return nil
	}
	if r.stored != nil {
		err := r.stored.Free()
		if r.stored = nil; err != nil {
			return err
		}
	}
	var err error
	if r.stored, err = r.device.Alloc(size); err != nil {
		return fmt.Errorf("assignment/classical: slacks of %d x %d pairs: %w", r.rows, r.cols, err)
	}
	return nil
}

// sharedMatchingFlag is the flag for keeping the matching in shared memory. It is set where numbers of rows fit
// 2 bytes and the passes of the same kernel keep enough of the memory as cache.
func (r *classicalRun) sharedMatchingFlag() uint64 {
	need, limit := 2*int64(r.cols)*int64(r.family.Int(r.variant, "resident")), 2*r.device.Facts().SharedPerBlock/5
	if r.apart {
		limit = 3 * r.device.Facts().SharedPerBlock / 5
	}
	if r.hasParam("zeros", "lists") && r.rows < 1<<16-2 && need <= limit {
		return assignment.ClassicalFlagMates
	}
	return 0
}

// gridWithMatching is the grid with shared memory for that matching.
func (r *classicalRun) gridWithMatching() device.Grid {
	g := r.Grid
	if r.sharedMatchingFlag() != 0 {
		g.Shared = 2 * r.cols
	}
	return g
}

// readControl reads the control words.
func (r *classicalRun) readControl() (*classicalControl, error) {
	x := &classicalControl{}
	return x, r.s.Download(x.Bytes(), r.work, 0)
}

// reportMatched reports the number of matched rows: all but the roots of trees.
func (r *classicalRun) reportMatched(x *classicalControl) {
	if x.Stage == assignment.ClassicalStageSearch {
		r.ReportMatched(r.rows - int(x.Roots))
	}
}

// persistent launches the kernel of the whole solve until all rows are matched, the search is
// stuck, or the solve gives up.
func (r *classicalRun) persistent(ctx context.Context) (*classicalControl, error) {
	budget := uint64(classicalBudget)
	if r.passLimit > 0 {
		budget = classicalShort
	}
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		err := r.kernels.Solve(r.s, r.gridWithMatching(), r.costs, r.stored, r.work, r.scale, r.floor, uint64(r.rows), uint64(r.cols), r.flags|r.sharedMatchingFlag(), budget)
		if err != nil {
			return nil, err
		}
		x, err := r.readControl()
		if err != nil || x.Stage >= assignment.ClassicalStageMatched {
			return x, err
		}
		r.reportMatched(x)
		if r.passLimit > 0 && x.Scanned > r.passLimit*uint64(r.rows) {
			return nil, &engine.ExhaustedError{Why: fmt.Sprintf("%d passes", r.passLimit)}
		}
	}
}

// collect downloads the matching and the duals.
func (r *classicalRun) collect(sol *engine.Solution) error {
	if err := errors.Join(
		r.s.Download(device.Bytes(sol.Column), r.work, r.column),
		r.s.Download(device.Bytes(sol.U), r.work, r.u),
		r.s.Download(device.Bytes(sol.V), r.work, r.v),
	); err != nil || r.base == r.v {
		return err
	}
	base := make([]int64, r.cols)
	if err := r.s.Download(device.Bytes(base), r.work, r.base); err != nil {
		return err
	}
	for i := range sol.U {
		sol.U[i] += r.floor
	}
	for j := range sol.V {
		if base[j] < problem.Infinity {
			sol.V[j] += base[j]
		}
	}
	return nil
}

// infeasibleError returns the error of a search that cannot go on: the rows of its forest are more than
// all columns that they are allowed to have.
func (r *classicalRun) infeasibleError(x *classicalControl) error {
	e := &engine.Infeasible{Rows: make([]int32, x.Tail)}
	if err := r.s.Download(device.Bytes(e.Rows), r.work, r.queue+int64(x.Side)*4*int64(r.rows)); err != nil {
		return err
	}
	return e
}

// LimitSteps implements engine: steps are passes over the matrix.
func (e *classical) LimitSteps(passes uint64) { e.passLimit = passes }
