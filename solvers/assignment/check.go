package assignment

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"

	"coalesce/generated/assignment"
	"coalesce/runtime/collective"
	"coalesce/runtime/device"
)

// A checker holds a solution against the costs on a device, by the kernels of
// assignment/check. They share no code with those that find solutions: costs
// become integers from their bits. What is checked is all that optimality
// needs, in exact integers:
//
//   - every row has a column of its own that is allowed to it, or, where the
//     problem has a limit, none;
//   - u[i]+v[j] <= c(i,j) for every pair, with equality on matched ones;
//   - v[j] <= 0 where columns may stay unmatched, v[j] = 0 where they do;
//     u[i] <= limit, with equality for unmatched rows;
//   - the sum of the matched costs is the sum of the duals;
//   - no cost was rounded on the way to an integer, where the problem says so.
type checker struct {
	kernels    *assignment.CheckKernels
	points     *pointSweep // instead of kernels where costs are distances
	variant    *device.Variant
	name       string // device and variant
	work       device.Buffer
	image      []byte // what is uploaded, then the words that come back
	rows, cols int
}

// Words of the kernels, after u and v.
const (
	wordEntries = iota
	wordRows
	wordColumns
	wordForbidden
	wordRounded
	wordMatched
	wordPrimal
	_
	wordDual
	_
	wordFirstEntry
	wordFirstRow
	wordFirstColumn
	checkWords
)

// newChecker loads a variant and takes memory for rows of a problem with cols
// columns.
func newChecker(d device.Device, v *device.Variant, rows, cols int) (*checker, error) {
	k, err := assignment.LoadCheck(d, v)
	if err != nil {
		return nil, err
	}
	c := &checker{kernels: k, variant: v, name: fmt.Sprintf("%s, %s %s", d.Facts(), assignment.Check.Name, v.Label), rows: rows, cols: cols}
	if err := c.take(d); err != nil {
		return nil, errors.Join(err, k.Close())
	}
	return c, nil
}

// take allocates what is checked and found.
func (c *checker) take(d device.Device) (err error) {
	c.image = make([]byte, 8*(c.rows+c.cols+checkWords)+4*c.rows)
	if c.work, err = d.Alloc(int64(len(c.image) + 4*c.cols)); err != nil {
		return fmt.Errorf("certificate of %d x %d pairs: %w", c.rows, c.cols, err)
	}
	return nil
}

func (c *checker) Close() error {
	if c.points != nil {
		return errors.Join(c.work.Free(), c.points.Close())
	}
	return errors.Join(c.work.Free(), c.kernels.Close())
}

// check certifies that sol is an optimal solution of p and that its duals
// prove it. Otherwise the error wraps ErrCheck, counts what is wrong and names
// the first row, column and pair at fault. m are p's costs.
func (c *checker) check(ctx context.Context, s device.Stream, p *normal, m *matrix, sol *solution) (Certificate, error) {
	return checkShards(ctx, p, []shard{{c, s, m, 0}}, sol)
}

// A shard is a range of rows of a problem, with their costs on a device.
type shard struct {
	*checker
	stream device.Stream
	m      *matrix
	first  int
}

// checkShards is check for costs whose rows are spread over devices. Shards
// are in order and hold every row once.
func checkShards(ctx context.Context, p *normal, shards []shard, sol *solution) (Certificate, error) {
	cert := Certificate{Scale: p.scale}
	if len(shards) > 0 {
		cert.By = shards[0].name
	}
	if err := ctx.Err(); err != nil {
		return cert, err
	}
	if len(sol.column) != p.rows || len(sol.u) != p.rows || len(sol.v) != p.cols {
		return cert, fmt.Errorf("%w: %d columns of rows, %d and %d duals for %d x %d pairs", ErrCheck, len(sol.column), len(sol.u), len(sol.v), p.rows, p.cols)
	}
	next := 0
	for _, h := range shards {
		if h.first != next || h.cols != p.cols || h.first+h.rows > p.rows {
			return cert, fmt.Errorf("certificate: rows %d to %d of %d columns after %d of %d x %d pairs", h.first, h.first+h.rows, h.cols, next, p.rows, p.cols)
		}
		next += h.rows
	}
	if next != p.rows {
		return cert, fmt.Errorf("certificate: %d of %d rows", next, p.rows)
	}
	if err := collective.OnAll(len(shards), func(k int) error { return shards[k].launch(p, sol) }); err != nil {
		return cert, fmt.Errorf("certificate: %w", err)
	}
	total := newFindings()
	for _, h := range shards {
		if err := h.collect(&total); err != nil {
			return cert, fmt.Errorf("certificate: %w", err)
		}
	}
	total.fill(p, &cert)
	return cert, total.judge(p, sol)
}

// findings are the words of the kernels, of all shards together.
type findings [checkWords]uint64

const none = math.MaxUint64

func newFindings() findings {
	return findings{wordFirstEntry: none, wordFirstRow: none, wordFirstColumn: none}
}

// launch uploads the solution and enqueues the two kernels.
func (h *shard) launch(p *normal, sol *solution) error {
	at := 0
	last := h.first + h.rows
	for _, list := range [][]int64{sol.u[h.first:last], sol.v} {
		at += copy(h.image[at:], bytesOf(list))
	}
	for w := range checkWords {
		start := uint64(0)
		if w >= wordFirstEntry {
			start = none
		}
		binary.NativeEndian.PutUint64(h.image[at+8*w:], start)
	}
	copy(h.image[at+8*checkWords:], bytesOf(sol.column[h.first:last]))
	if err := h.stream.Upload(h.work, 0, h.image); err != nil {
		return err
	}
	if err := h.owners(p, sol); err != nil {
		return err
	}
	sign := int64(1)
	if p.scale < 0 {
		sign = -1
	}
	shift := int64(math.Ilogb(p.scale))
	var limited, rules uint64
	if p.limit != far {
		limited = 1
	}
	if limited != 0 || p.rows < p.cols {
		rules |= 1
	}
	if h.first > 0 {
		rules |= 2
	}
	if h.points != nil {
		return h.points.launch(h, sign, shift, limited, rules, p.limit)
	}
	f := &assignment.Check
	block, rows := f.Int(h.variant, "block"), f.Int(h.variant, "rows")
	span := block * 16 / Value(f.Value(h.variant, "value")).Size()
	m, n := uint64(h.rows), uint64(h.cols)
	if h.rows > 0 {
		g := device.Grid{Blocks: int64((h.rows + block - 1) / block), Threads: block}
		if err := h.kernels.Pairs(h.stream, g, h.m.costs, h.work, m, n, sign, shift, limited, p.limit); err != nil {
			return err
		}
	}
	if h.cols == 0 {
		return nil
	}
	groups, tiles := max(1, (h.rows+rows-1)/rows), (h.cols+span-1)/span
	g := device.Grid{Blocks: int64(groups) * int64(tiles), Threads: block}
	return h.kernels.Sweep(h.stream, g, h.m.costs, h.work, m, n, sign, shift, rules)
}

// owners marks the columns that rows of other shards have; the others are free.
func (h *shard) owners(p *normal, sol *solution) error {
	off := int64(len(h.image))
	if h.rows == p.rows {
		return h.stream.Fill(h.work, off, int64(4*h.cols), 0xff)
	}
	owner := make([]int32, h.cols)
	for j := range owner {
		owner[j] = -1
	}
	for i, j := range sol.column {
		if (i < h.first || i >= h.first+h.rows) && j >= 0 && int(j) < h.cols {
			owner[j] = int32(i)
		}
	}
	return h.stream.Upload(h.work, off, bytesOf(owner))
}

// collect adds a shard's words to those of all.
func (h *shard) collect(total *findings) error {
	words := make([]byte, 8*checkWords)
	if err := h.stream.Download(words, h.work, int64(8*(h.rows+h.cols))); err != nil {
		return err
	}
	for w := range total {
		x := binary.NativeEndian.Uint64(words[8*w:])
		switch {
		case w < wordFirstEntry:
			total[w] += x
			continue
		case x == none:
			continue
		case w == wordFirstEntry:
			x += uint64(h.first) * uint64(h.cols)
		case w == wordFirstRow:
			x += uint64(h.first) * 8
		}
		total[w] = min(total[w], x)
	}
	return nil
}

// fill writes what was counted into a certificate.
func (found *findings) fill(p *normal, cert *Certificate) {
	cert.Pairs = int64(p.rows)*int64(p.cols) - int64(found[wordForbidden])
	cert.Primal, cert.Dual = sumText(found[wordPrimal:]), sumText(found[wordDual:])
	cert.Rounded = int64(found[wordRounded])
	if cert.Exact = cert.Rounded == 0; !cert.Exact {
		cert.Gap = float64(p.rows) / math.Abs(p.scale)
	}
}

// Reasons of the kernels.
var (
	rowReasons = []string{"", "its dual is out of range", "its column does not exist", "its column is another row's too",
		"its pair is forbidden", "its pair has slack", "it is unmatched and its dual is not the limit", "its dual is beyond the limit"}
	columnReasons = []string{"", "its dual is out of range", "its dual is positive", "it is unmatched and its dual is not zero"}
)

func (found *findings) judge(p *normal, sol *solution) error {
	var wrong []string
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	row, column := "row", "column"
	if p.transposed {
		row, column = column, row
	}
	if n := found[wordRows]; n > 0 {
		i, reason := found[wordFirstRow]/8, found[wordFirstRow]%8
		say("%d %ss, the first %d (from 0, column %d, dual %d): %s", n, row, i, sol.column[i], sol.u[i], rowReasons[reason])
	}
	if n := found[wordColumns]; n > 0 {
		j, reason := found[wordFirstColumn]/4, found[wordFirstColumn]%4
		say("%d %ss, the first %d (from 0, dual %d): %s", n, column, j, sol.v[j], columnReasons[reason])
	}
	if n := found[wordEntries]; n > 0 {
		i, j := int(found[wordFirstEntry]/uint64(p.cols)), int(found[wordFirstEntry]%uint64(p.cols))
		say("%d pairs cost less than their duals, the first %s %d, %s %d (from 0): duals %d and %d, scaled cost %d", n, row, i, column, j, sol.u[i], sol.v[j], p.cost(i, j))
	}
	if p.exact && found[wordRounded] != 0 {
		say("costs were rounded that were said to be exact")
	}
	if primal, dual := sumText(found[wordPrimal:]), sumText(found[wordDual:]); primal != dual {
		say("the matched costs add up to %s, the duals to %s", primal, dual)
	}
	if p.limit == far && found[wordMatched] != uint64(p.rows) {
		say("%d of %d %ss are matched", found[wordMatched], p.rows, row)
	}
	if len(wrong) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrCheck, strings.Join(wrong, "; "))
}

// sumText is a sum of two words, high*2^32 + low, in decimals; low may be
// beyond 2^32.
func sumText(sum []uint64) string {
	x := new(big.Int).Lsh(big.NewInt(int64(sum[0])), 32)
	return x.Add(x, new(big.Int).SetUint64(sum[1])).String()
}
