package hungarian

import (
	"context"
	"errors"
	"fmt"

	"coalesce/generated/assignment"
	"coalesce/runtime/device"
	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/problem"
)

// tree runs assignment/tree, the alternating tree variant of the Hungarian
// method (Date and Nagi, "GPU-accelerated Hungarian algorithms for the Linear
// Assignment Problem", Parallel Computing 57, 2016):
//
//  1. Rows are reduced by their minima, then columns (only where all columns
//     get matched).
//  2. The zeros of the column minima are matched, a row's first; where there
//     are more columns than rows, none.
//  3. A forest of alternating trees grows from all free rows at once. Its rows
//     are scanned; every column keeps its minimum slack and the row that gave it.
//     Columns without slack join the tree of that row, and the rows matched to
//     them join with them. A free column ends an augmenting path.
//  4. When all rows of the forest were scanned and no path was found, the
//     minimum positive column slack is added to the duals of the forest's rows
//     and taken from those of its columns, and the search goes on from the
//     columns that lost their slack.
//  5. When paths were found, the trees race: each has one winner, the paths of
//     the winners are vertex-disjoint and are augmented together. The next phase
//     starts from the rows still free.
//
// No slack matrix is kept. These things are arranged differently:
//
//   - Each row has a list of zeros, assignment.TreeZeros at most: those that a pass after
//     the reduction finds, and the edges of all trees. They remain zeros while
//     their rows gain what their columns lose. Before anything is scanned, one
//     block grows the forest over these lists (a closure), level after level
//     without a barrier of all blocks; the rows that joined are scanned together
//     then. A list may lack zeros: the scan finds them.
//   - A phase ends as soon as a closure has found paths. Rows of its forest that
//     were not scanned do not matter, since no dual moves after they join.
//   - Trees without a path stay in the forest, and are scanned with it again.
//   - The dual updates of a phase are added up and applied at its end (slacks are
//     kept relative to the sum).
//   - Of each row in the forest, the row before it is known and one that lies several rows
//     nearer the root. A warp augments along a path in parts, from one of these to the
//     next, a lane each, so that the lanes' loads run at the same time.
//   - With matchedtrees=stop a tree whose path is found stops growing. The paths of other
//     trees stay as they would be.
//
// Of the rows of a level that have a zero in the same column, the one that takes
// it in a closure depends on timing; so do the paths, and of several optimal
// assignments the one that is found. The duals are right for all of them.
//
// A block owns some columns, their slacks and their places in the forest. Rows
// are scanned by all blocks, each for its columns, from two batches of loads of
// which one is on its way while the other is reduced; a step ends at a barrier of
// all blocks. So a phase costs its forest's share of the matrix's bandwidth, some
// barriers, and its closures' levels, whose latency is that of one block. Counts:
// Steps has the steps, Levels the levels of the closures, Cycles what block 0 saw
// of the steps before each stage, dual updates at that of SEARCH (barrier=grid, and
// the first member of barrier=peers).
//
// A whole solve is one persistent kernel, or, with barrier=host, a launch for
// each step; barrier=peers is for several devices (TreePeers), and runs on one.
// Duals to start from are used where all columns get matched: their v, with u
// reduced again. Other problems start cold.
type tree struct {
	engine.Reporter
	family     *device.Family
	variant    *device.Variant
	kernels    *assignment.TreeKernels
	rows, cols int
	width      int // columns of a block
	work       device.Buffer
	u, v       int64 // offsets in work, bytes
	column     int64
	tree       int64
	peers      *TreePeers // barrier=peers: itself, alone
	limit      uint64     // steps after which a solve gives up; treeSteps: never
}

// OpenTree loads a variant and takes memory for problems of one size. The
// blocks of the launch share the columns evenly.
func OpenTree(d device.Device, v *device.Variant, rows, cols int) (*tree, error) {
	return newTreeOf(d, v, rows, cols, treeWidth(d, cols))
}

// treeWidth is the number of columns of a block: a block a multiprocessor,
// where there are enough columns.
func treeWidth(d device.Device, cols int) int {
	blocks := max(1, d.Facts().SMs)
	each := (cols + blocks - 1) / blocks
	return max(32, (each+7)/8*8)
}

func newTreeOf(d device.Device, v *device.Variant, rows, cols, width int) (*tree, error) {
	if assignment.Tree.Value(v, "barrier") == "peers" {
		peers, err := newTreePeers([]device.Device{d}, []device.Stream{nil}, v, rows, cols, []int{0, rows}, width)
		if err != nil {
			return nil, err
		}
		t := *peers.Members[0].tree
		t.peers = peers
		return &t, nil
	}
	return allocTree(d, v, rows, cols, width)
}

// allocTree loads a variant and takes its workspace.
func allocTree(d device.Device, v *device.Variant, rows, cols, width int) (*tree, error) {
	if limit := 1 << assignment.TreeRowBits; rows >= limit {
		return nil, fmt.Errorf("assignment/tree of %d x %d pairs: expected fewer than %d rows", rows, cols, limit)
	}
	k, err := assignment.LoadTree(d, v)
	if err != nil {
		return nil, err
	}
	t := &tree{family: &assignment.Tree, variant: v, kernels: k, rows: rows, cols: cols, width: width, limit: treeSteps}
	m, n := int64(rows), int64(cols)
	t.u = 8*assignment.TreeHeadWords + 2*assignment.TreeEntrySize*m + 8*assignment.TreeZeros*m + 8*n + 3*8*m + 8*n + 8*m // lists of rows, of zeros and of frontier rows; ways; gains
	t.v = t.u + 8*m
	t.column = t.v + 8*n + 8*n + 8*m + 2*4*m
	t.tree = t.column + 4*4*m + 2*4*n
	size := (t.tree + 4*n + 4*((n+31)/32) + 7) / 8 * 8
	size += 2 * 8 * t.Blocks() * int64(t.blockSize()/32)
	if t.work, err = d.Alloc(size); err != nil {
		return nil, errors.Join(fmt.Errorf("assignment/tree of %d x %d pairs: %w", rows, cols, err), k.Close())
	}
	return t, nil
}

func (t *tree) Close() error {
	if t.peers != nil {
		return t.peers.Close()
	}
	return errors.Join(t.work.Free(), t.kernels.Close())
}

func (t *tree) blockSize() int { return t.family.Int(t.variant, "block") }

func (t *tree) Blocks() int64 { return int64((t.cols + t.width - 1) / t.width) }

// A treeHead is the beginning of the workspace.
type treeHead struct{ assignment.TreeHead }

// lastTurn is where the solve stands, in the last of the slots.
func (h *treeHead) lastTurn() *assignment.TreeTurn { return &h.Slot[len(h.Slot)-1].Turn }

const (
	treeBatch     = 16      // steps launched between two looks of the host, barrier=host
	treeSteps     = 1 << 16 // steps of a persistent kernel between two looks of the host
	treeToldSteps = 1 << 12 // the same, for a solve that reports its progress
)

// Solve implements engine.
func (t *tree) Solve(ctx context.Context, s device.Stream, p *problem.Normal, m *engine.Matrix, start *problem.Prices) (*engine.Solution, error) {
	if p.Limit != problem.Infinity || p.Rows != t.rows || p.Cols != t.cols || p.Rows > p.Cols {
		return nil, fmt.Errorf("assignment/tree: %d x %d pairs with limit %d: expected %d x %d without a limit", p.Rows, p.Cols, p.Limit, t.rows, t.cols)
	}
	if t.peers != nil {
		t.peers.streams[0], t.peers.limit = s, t.limit
		t.peers.SetReporter(t.Reporter)
		return t.peers.Solve(ctx, p, []*engine.Matrix{m}, start)
	}
	sol := &engine.Solution{Column: make([]int32, t.rows), Prices: problem.Prices{U: make([]int64, t.rows), V: make([]int64, t.cols)}}
	if t.rows == 0 {
		return sol, nil
	}
	if err := t.initialise(s, start); err != nil {
		return nil, err
	}
	last, err := t.run(ctx, s, p, m, start)
	if err != nil {
		return nil, err
	}
	if err := s.Download(device.Bytes(sol.Column), t.work, t.column); err != nil {
		return nil, err
	}
	if last.lastTurn().Stage == assignment.TreeStageStuck {
		return nil, t.infeasibleError(s, sol.Column)
	}
	sol.Counts = last.counts(last.Read, t.rows, t.cols)
	return sol, errors.Join(s.Download(device.Bytes(sol.U), t.work, t.u), s.Download(device.Bytes(sol.V), t.work, t.v))
}

// counts are the counts of a solve that read so many entries of the matrix.
func (h *treeHead) counts(read uint64, rows, cols int) engine.Counts {
	end := h.lastTurn()
	return engine.Counts{
		Passes:  float64(read) / (float64(rows) * float64(cols)),
		Steps:   int64(end.Steps),
		Levels:  int64(h.Levels),
		Cycles:  h.Cycles[:],
		Phases:  int64(end.Phases),
		Paths:   int64(end.Paths),
		Updates: int64(end.Updates),
	}
}

// initialise writes the head of the workspace and the duals of the columns.
func (t *tree) initialise(s device.Stream, start *problem.Prices) error {
	head := assignment.TreeHead{First: [2]uint64{1<<64 - 1, 1<<64 - 1}}
	if err := s.Upload(t.work, 0, head.Bytes()); err != nil {
		return err
	}
	if t.isWarmStart(start) {
		return s.Upload(t.work, t.v, device.Bytes(start.V))
	}
	return s.Fill(t.work, t.v, 8*int64(t.cols), 0)
}

func (t *tree) isWarmStart(start *problem.Prices) bool { return start != nil && t.rows == t.cols }

// run takes the steps and returns the head as the last of them left it.
func (t *tree) run(ctx context.Context, s device.Stream, p *problem.Normal, m *engine.Matrix, start *problem.Prices) (*treeHead, error) {
	g := device.Grid{Blocks: t.Blocks(), Threads: t.blockSize()}
	rows, cols, width, warm := uint64(t.rows), uint64(t.cols), uint64(t.width), uint64(0)
	if t.isWarmStart(start) {
		warm = 1
	}
	for now := uint64(0); ; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if t.family.Value(t.variant, "barrier") == "grid" {
			g.Cooperative = true
			if err := t.kernels.Solve(s, g, m.Costs, t.work, rows, cols, width, warm, p.Scale, t.stepsPerLaunch(t.limit)); err != nil {
				return nil, err
			}
		} else {
			for range treeBatch {
				if err := t.kernels.Step(s, g, m.Costs, t.work, rows, cols, width, warm, p.Scale, now); err != nil {
					return nil, err
				}
				now++
			}
		}
		head, err := t.awaitEnd(s)
		if head != nil || err != nil {
			return head, err
		}
		if t.limit < treeSteps {
			return nil, &engine.ExhaustedError{Why: fmt.Sprintf("%d steps", t.limit)}
		}
	}
}

// stepsPerLaunch are those of one launch of a persistent kernel that gives up after limit.
func (t *tree) stepsPerLaunch(limit uint64) uint64 {
	if t.Report != nil && limit >= treeSteps {
		return treeToldSteps
	}
	return min(treeSteps, limit)
}

// awaitEnd waits for the launches and returns the head, nil where the solve has not ended.
func (t *tree) awaitEnd(s device.Stream) (*treeHead, error) {
	head := &treeHead{}
	if err := s.Download(head.Bytes(), t.work, 0); err != nil {
		return nil, err
	}
	if now := head.lastTurn(); now.Stage < assignment.TreeStageSolved {
		if now.Stage > assignment.TreeStageAccept { // free rows are listed
			t.ReportMatched(t.rows - int(now.Left))
		}
		return nil, nil
	}
	return head, nil
}

// infeasibleError returns the error of a search that cannot go on: the rows of its forest are more than
// all columns that they are allowed to have.
func (t *tree) infeasibleError(s device.Stream, column []int32) error {
	forest := make([]int32, t.cols)
	if err := s.Download(device.Bytes(forest), t.work, t.tree); err != nil {
		return err
	}
	e := &engine.Infeasible{}
	for i, j := range column {
		if j < 0 {
			e.Rows = append(e.Rows, int32(i))
		}
	}
	for _, i := range forest {
		if i >= 0 {
			e.Rows = append(e.Rows, i)
		}
	}
	return e
}

// LimitSteps implements engine: steps are levels of a search.
func (t *tree) LimitSteps(steps uint64) {
	t.limit = treeSteps
	if steps > 0 {
		t.limit = steps
	}
}
