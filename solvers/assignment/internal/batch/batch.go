// Package batch solves many dense problems of one type in one launch, a block a
// problem (family assignment/batch).
package batch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"coalesce/autotune/tuned"
	"coalesce/generated/assignment"
	"coalesce/runtime/device"
	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/internal/verify"
	"coalesce/solvers/assignment/problem"
)

// Engine runs assignment/batch: many problems of one type in one launch. A
// block solves a problem, by shortest augmenting paths (Jonker and Volgenant,
// "A shortest augmenting path algorithm for dense and sparse linear assignment
// problems", Computing 38, 1987) with fewer dependent steps:
//
//  1. Columns are reduced by their minima, where all of them get matched.
//  2. Rows without a column bid for the column of their least reduced cost,
//     all at once, a warp a row: by what they would lose with their second one
//     (augmenting row reduction; an auction with epsilon 0). The largest gain
//     wins, the owner before loses its column. Some rounds of that.
//  3. Paths of reduced costs are searched from all free rows at once. A turn
//     takes from every warp the nearest column that it has not searched from,
//     and relaxes the rows matched to them: one barrier. Distances are
//     corrected later where a warp was hasty; the nearest of all is final, so
//     that a search has at most as many turns as there are columns.
//  4. A search ends when every warp's nearest free column is within reach: duals
//     are raised to the farthest of those, and of the tight paths a set from
//     different roots, which are disjoint, is augmented. Then from 3 again.
//
// Where columns stay unmatched they must keep the dual 0: steps 3 and 4 then
// take one row at a time, and end at the nearest free column.
//
// The hardware starts blocks in order, so problems are launched in descending
// size. A tall instance is transposed by its block.
type Engine struct {
	Variant *device.Variant // of assignment/batch
	kernels *assignment.BatchKernels
	Shapes  []DenseLayout // of the problems, in their order
	block   []int         // of each problem
	answer  []int64       // word at which each problem's answer begins
	words   int64         // of all answers
	checked bool
	grid    device.Grid
	back    []byte       // all answers and the findings of their checks; of a fitted engine the parts that the caller wants
	fitted  *fittedState // for costs that the device alone holds; else nil

	scope                          device.Scope
	table, copies, States, Answers device.Buffer
}

// A DenseLayout says where a dense instance lies in device memory: its first
// cost at element first, stride from one row to the next.
type DenseLayout struct {
	First, Stride int64   // in costs
	Rows, Cols    int     // as they lie there
	Scale         float64 // of the normal problem
}

// sides are the problem's, rows <= cols.
func (b DenseLayout) sides() (rows, cols int64) {
	return int64(min(b.Rows, b.Cols)), int64(max(b.Rows, b.Cols))
}

// What is found of an answer is read as package verify reads it.
var _ = [1]struct{}{}[assignment.BatchWordWords-assignment.CheckWordWords]

// StateBytes is the memory of a problem's state in bytes.
func StateBytes(rows, cols int64) int64 { return 20*rows + 24*cols }

// Open loads a variant, takes memory for problems of the given shapes, and
// tells the device about them. checked asks for the kernel that checks, too.
func Open(d device.Device, v *device.Variant, shapes []DenseLayout, checked bool) (_ *Engine, err error) {
	f := &assignment.Batch
	b := &Engine{Variant: v, Shapes: shapes, checked: checked, answer: make([]int64, len(shapes)), block: make([]int, len(shapes))}
	b.grid = device.Grid{Blocks: int64(len(shapes)), Threads: f.Int(v, "block")}
	if b.kernels, err = assignment.LoadBatch(d, v); err != nil {
		return nil, err
	}
	b.scope.CloseLater(b.kernels)
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("%d problems at once: %w", len(shapes), err), b.Close())
		}
	}()
	copies, states, table := b.lay(f.Value(v, "state") == "shared")
	if err := CheckFits(v, d.Facts(), b.grid.Shared); err != nil {
		return nil, err
	}
	whole := b.words // words brought back, and taken
	if checked {
		whole += assignment.BatchWordWords * int64(len(shapes))
	}
	b.back = make([]byte, 8*whole)
	if checked {
		whole += b.words
	}
	size := problem.Value(f.Value(v, "value")).Size()
	if err := b.scope.AllocAll(d, device.BufferFor(&b.table, int64(len(shapes))*assignment.BatchProblemSize), device.BufferFor(&b.copies, copies*int64(size)), device.BufferFor(&b.States, states), device.BufferFor(&b.Answers, 8*whole)); err != nil {
		return nil, err
	}
	return b, b.describe(d, table)
}

// lay gives problems to blocks in descending size, and places to their
// answers, states and transposed costs; it returns the sizes of those.
func (b *Engine) lay(shared bool) (copies, states int64, table []assignment.BatchProblem) {
	order := make([]int, len(b.Shapes))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(x, y int) int {
		m, n := b.Shapes[x].sides()
		p, q := b.Shapes[y].sides()
		return cmp.Or(cmp.Compare(p*q, m*n), cmp.Compare(p, m))
	})
	for at, k := range order {
		s := b.Shapes[k]
		m, n := s.sides()
		p := assignment.BatchProblem{Costs: s.First, Stride: s.Stride, Rows: m, Cols: n, Answer: b.words, Copy: -1, State: states, Scale: s.Scale}
		if s.Rows > s.Cols {
			p.Copy = copies
			copies += m * n
		}
		b.block[k], b.answer[k] = at, b.words
		b.words += assignment.BatchCountCounts + m + n + (m+1)/2
		if shared {
			b.grid.Shared = max(b.grid.Shared, int(StateBytes(m, n)))
		} else {
			states += (StateBytes(m, n) + 7) / 8 * 8
		}
		table = append(table, p)
	}
	return copies, states, table
}

func (b *Engine) describe(d device.Device, table []assignment.BatchProblem) error {
	if len(table) == 0 {
		return nil
	}
	s, err := d.NewStream()
	if err != nil {
		return err
	}
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(&table[0])), len(table)*assignment.BatchProblemSize)
	return errors.Join(s.Upload(b.table, 0, bytes), s.Sync(), s.Close())
}

// Workload adds to the description by which a variant is chosen the waves in which a block's threads take
// the columns, one each, and the sides that it has room for.
func Workload(w tuned.Workload, facts device.Facts) tuned.Workload {
	w.WaveCost = func(v *device.Variant, size, _ int) float64 {
		return tuned.WaveQuantization(size, assignment.Batch.Int(v, "block"))
	}
	w.HasRoom = func(v *device.Variant, size int) bool {
		return CheckFits(v, facts, int(StateBytes(int64(size), int64(size)))) == nil
	}
	return w
}

// CheckFits holds a variant, and the shared memory of its largest problem,
// against a device.
func CheckFits(v *device.Variant, facts device.Facts, shared int) error {
	const static = 4 << 10 // at most
	f, need := &assignment.Batch, int64(0)
	if f.Value(v, "state") == "shared" {
		need = int64(shared + static)
	}
	return facts.BlockFits(f.Int(v, "block"), need)
}

// Close gives back the memory and the module.
func (b *Engine) Close() error { return b.scope.Close() }

// Solve solves all problems, whose costs are on the device, checks them if
// that was asked for, and brings back the answers: see solution and findings.
func (b *Engine) Solve(ctx context.Context, s device.Stream, costs device.Buffer) error {
	if err := ctx.Err(); err != nil || len(b.Shapes) == 0 {
		return err
	}
	if b.fitted != nil {
		if err := b.fitted.computeScales(s, b, costs); err != nil {
			return err
		}
	}
	if err := b.kernels.Solve(s, b.grid, costs, b.table, b.copies, b.States, b.Answers); err != nil {
		return err
	}
	if b.checked {
		g := device.Grid{Blocks: b.grid.Blocks, Threads: b.grid.Threads}
		if err := b.kernels.Check(s, g, costs, b.table, b.Answers, uint64(b.words)); err != nil {
			return err
		}
	}
	if b.fitted != nil {
		return b.fitted.downloadAnswers(s, b)
	}
	return s.Download(b.back, b.Answers, 0)
}

// place is where the answer to problem k stands in back: its counts, columns, duals (nil where
// they were not wanted), and the findings of its check.
func (b *Engine) place(k int) (counts, columns, duals, found []int64) {
	m, n := b.Shapes[k].sides()
	words := wordsOf(b.back)
	if f := b.fitted; f != nil {
		counts = words[int64(k)*f.step+assignment.FitWordWords:]
		found = counts[assignment.BatchCountCounts:]
		columns = found[assignment.BatchWordWords:]
		if f.duals {
			duals = columns[(m+1)/2:][:m+n]
		}
		return counts, columns, duals, found
	}
	counts = words[b.answer[k]:]
	duals, columns = counts[assignment.BatchCountCounts:][:m+n], counts[assignment.BatchCountCounts+m+n:]
	if b.checked {
		found = words[b.words+assignment.BatchWordWords*int64(b.block[k]):]
	}
	return counts, columns, duals, found
}

// Solution is the answer to a problem, in memory that the next solve
// overwrites; full is false when some rows have no column (-1), as no full
// matching exists.
func (b *Engine) Solution(k int) (_ *engine.Solution, full bool) {
	m, n := b.Shapes[k].sides()
	count, columns, duals, _ := b.place(k)
	s := &engine.Solution{Column: []int32{}}
	if duals != nil {
		s.Prices = problem.Prices{U: duals[:m:m], V: duals[m : m+n : m+n]}
	}
	if m > 0 {
		s.Column = unsafe.Slice((*int32)(unsafe.Pointer(&columns[0])), m)
	}
	s.Counts = engine.Counts{
		Passes: float64(count[assignment.BatchCountScans]) / float64(max(1, m)), Steps: count[assignment.BatchCountBids] + count[assignment.BatchCountTurns],
		Phases: count[assignment.BatchCountSearches], Paths: m - count[assignment.BatchCountLeft], Updates: count[assignment.BatchCountSearches],
	}
	if m == n {
		s.Counts.Passes++
	}
	return s, count[assignment.BatchCountLeft] == 0
}

// VerifySolution holds the findings on problem k against p and its solution. Errors wrap ErrCheck.
func (b *Engine) VerifySolution(k int, p *problem.Normal, s *engine.Solution) error {
	found := b.findings(k)
	if found[assignment.BatchWordEntries]|found[assignment.BatchWordRowsWrong]|found[assignment.BatchWordColumnsWrong] == 0 && found[assignment.BatchWordMatched] == uint64(p.Rows) &&
		!(p.Exact && found[assignment.BatchWordRounded] != 0) && carry(found[assignment.BatchWordPrimal:]) == carry(found[assignment.BatchWordDual:]) {
		return nil
	}
	if b.fitted != nil && !b.fitted.duals { // of which CheckOptimal tells
		return fmt.Errorf("%w: problem %d: %v", problem.ErrCheck, k, *found)
	}
	return cmp.Or(found.CheckOptimal(p, s), fmt.Errorf("%w: problem %d: %v", problem.ErrCheck, k, *found))
}

func (b *Engine) findings(k int) *verify.Findings {
	_, _, _, found := b.place(k)
	return (*verify.Findings)(unsafe.Pointer(&found[0]))
}

// carry brings a sum of two words, high*2^32 + low, to one form.
func carry(sum []uint64) [2]uint64 { return [2]uint64{sum[0] + sum[1]>>32, sum[1] & (1<<32 - 1)} }

func wordsOf(b []byte) []int64 {
	return unsafe.Slice((*int64)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/8)
}

// HallViolator is a set of rows of p that may have, all together, fewer columns than there are
// rows in the set (Hall). Given a largest matching that leaves rows free (-1), these are the
// rows that alternating paths from a free row reach.
func HallViolator(p *problem.Normal, column []int32) []int32 {
	owner := slices.Repeat([]int32{-1}, p.Cols)
	for i, j := range column {
		if j >= 0 {
			owner[j] = int32(i)
		}
	}
	var costs []int64
	for root, j := range column {
		if j >= 0 {
			continue
		}
		seen := make([]bool, p.Cols)
		rows, blocked := []int32{int32(root)}, true
		for k := 0; k < len(rows) && blocked; k++ {
			costs = p.Row(int(rows[k]), costs)
			for j, c := range costs {
				if c == problem.Infinity || seen[j] {
					continue
				}
				seen[j] = true
				if blocked = owner[j] >= 0; !blocked {
					break
				}
				rows = append(rows, owner[j])
			}
		}
		if blocked {
			return rows
		}
	}
	return nil
}

// Certificate is the certificate of the findings on problem k.
func (b *Engine) Certificate(k int, p *problem.Normal, by string) *problem.Certificate {
	c := &problem.Certificate{By: by, Scale: p.Unit()}
	b.findings(k).FillCertificate(p, c)
	return c
}

// Name is the family's name in Options.Algorithm.
const Name = "batch"
