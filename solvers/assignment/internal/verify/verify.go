// Package verify checks a solution against the costs on their device. Its kernels (families
// assignment/check and pointcheck) share no code with the solvers' kernels.
package verify

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"coalesce/generated/assignment"
	"coalesce/runtime/collective"
	"coalesce/runtime/device"
	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/problem"
)

// A Checker holds a solution against the costs on a device, by the kernels of
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
type Checker struct {
	kernels    *assignment.CheckKernels
	points     *pointSweep // instead of kernels where costs are distances
	variant    *device.Variant
	name       string // device and variant
	Words      device.Buffer
	scope      device.Scope // holds the memory and the module
	image      []byte       // the upload: duals and matching, words and the counts of near pairs
	found      []uint64     // the download: words, the counts of near pairs, and the first of these
	Rows, Cols int
	Meanwhile  func()        // work of the host's while the kernels run, nil for none
	MatchedOn  device.Stream // on which MatchedCosts come to the host while the kernels run, nil: they are not asked for
}

// Open loads a variant and takes memory for rows of a problem with cols
// columns.
func Open(d device.Device, v *device.Variant, rows, cols int) (*Checker, error) {
	k, err := assignment.LoadCheck(d, v)
	if err != nil {
		return nil, err
	}
	c := &Checker{kernels: k, variant: v, name: fmt.Sprintf("%s, %s %s", d.Facts(), assignment.Check.Name, v.Label), Rows: rows, Cols: cols}
	c.scope.CloseLater(k)
	if err := c.allocate(d); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// allocate allocates the memory for the answer and the findings.
func (c *Checker) allocate(d device.Device) (err error) {
	c.image = make([]byte, c.wordsOffset()+8*(assignment.CheckWordWords+2))
	c.found = make([]uint64, assignment.CheckWordWords+2+c.Rows+c.Rows/4) // most problems have fewer near pairs than one a row
	if c.Words, err = c.scope.Alloc(d, c.ownersOffset()+4*(int64(c.Cols)+assignment.CheckNear*int64(c.Rows))); err != nil {
		return fmt.Errorf("certificate of %d x %d pairs: %w", c.Rows, c.Cols, err)
	}
	return nil
}

// wordsOffset is where the findings stand in Words, behind duals and matching; near pairs follow them.
func (c *Checker) wordsOffset() int64 { return 8 * int64(c.Rows+c.Cols+(c.Rows+1)/2) }

// ownersOffset is where the columns' rows stand in Words.
func (c *Checker) ownersOffset() int64 { return c.matchedOffset() + 8*int64(c.Rows) }

// matchedOffset is where the costs of matched pairs stand in Words.
func (c *Checker) matchedOffset() int64 {
	return int64(len(c.image)) + 8*assignment.CheckNear*int64(c.Rows)
}

// MatchedCosts copies the costs of the matched pairs, which must be stored floats, from the device to out, one a row: those of the check under
// way, for Meanwhile.
func (c *Checker) MatchedCosts(out []float64) error {
	return c.MatchedOn.Download(device.Bytes(out), c.Words, c.matchedOffset())
}

// Close gives back the memory and the module.
func (c *Checker) Close() error { return c.scope.Close() }

// Check certifies that sol is an optimal solution of p's scaled costs and that its duals prove it. If scaling rounded costs, it lists the pairs with a slack of at most
// p.Rows+1 units: nil if there is no room for them, none if the device found no alternating cycle among them. Otherwise the error wraps ErrCheck, counts what is wrong and
// names the first row, column and pair at fault. m are p's costs.
func (c *Checker) Check(ctx context.Context, s device.Stream, p *problem.Normal, m *engine.Matrix, sol *engine.Solution) (problem.Certificate, []problem.Pair, error) {
	return CheckShards(ctx, p, []Shard{{c, s, m, 0}}, sol)
}

// A Shard is a range of rows of a problem, with their costs on a device.
type Shard struct {
	*Checker
	Stream device.Stream
	M      *engine.Matrix
	First  int
}

// CheckShards is Check for costs whose rows are spread over devices. Shards
// are in order and hold every row once.
func CheckShards(ctx context.Context, p *problem.Normal, shards []Shard, sol *engine.Solution) (problem.Certificate, []problem.Pair, error) {
	next := 0
	for _, h := range shards {
		if h.First != next || h.First+h.Rows > p.Rows {
			return problem.Certificate{}, nil, fmt.Errorf("certificate: rows %d to %d after %d of %d rows", h.First, h.First+h.Rows, next, p.Rows)
		}
		next += h.Rows
	}
	if next != p.Rows {
		return problem.Certificate{}, nil, fmt.Errorf("certificate: %d of %d rows", next, p.Rows)
	}
	return CheckParts(ctx, p, shards, sol, func(found Findings) (Findings, error) { return found, nil })
}

// CheckParts is CheckShards for shards that hold some of the rows: join adds the findings on all
// other rows; near pairs are those of the shards.
func CheckParts(ctx context.Context, p *problem.Normal, shards []Shard, sol *engine.Solution, join func(Findings) (Findings, error)) (problem.Certificate, []problem.Pair, error) {
	cert := problem.Certificate{Scale: p.Unit()}
	if len(shards) > 0 {
		cert.By = shards[0].name
	}
	if err := ctx.Err(); err != nil {
		return cert, nil, err
	}
	if len(sol.Column) != p.Rows || len(sol.U) != p.Rows || len(sol.V) != p.Cols {
		return cert, nil, fmt.Errorf("%w: %d columns of rows, %d and %d duals for %d x %d pairs", problem.ErrCheck, len(sol.Column), len(sol.U), len(sol.V), p.Rows, p.Cols)
	}
	for _, h := range shards {
		if h.Cols != p.Cols {
			return cert, nil, fmt.Errorf("certificate: %d columns of %d", h.Cols, p.Cols)
		}
	}
	if err := collective.OnAll(len(shards), func(k int) error { return shards[k].Launch(p, sol) }); err != nil {
		return cert, nil, fmt.Errorf("certificate: %w", err)
	}
	for _, h := range shards {
		if h.Meanwhile != nil {
			h.Meanwhile()
		}
	}
	total := NewFindings()
	for _, h := range shards {
		if err := h.CollectFindings(p, &total); err != nil {
			return cert, nil, fmt.Errorf("certificate: %w", err)
		}
	}
	total, err := join(total)
	if err != nil {
		return cert, nil, fmt.Errorf("certificate: %w", err)
	}
	total.FillCertificate(p, &cert)
	if err := total.CheckOptimal(p, sol); err != nil || cert.Rounded == 0 || !listsNear(p) {
		return cert, nil, err
	}
	near := []problem.Pair{}
	for _, h := range shards {
		if near, err = h.listed(p, near); err != nil || near == nil {
			return cert, nil, err
		}
	}
	return cert, near, nil
}

// Findings are the words of the kernels, of all shards together.
type Findings [assignment.CheckWordWords]uint64

const none = math.MaxUint64

// NewFindings are those of no shard.
func NewFindings() Findings {
	return Findings{assignment.CheckWordFirstEntry: none, assignment.CheckWordFirstRow: none, assignment.CheckWordFirstColumn: none}
}

// listsNear reports whether near pairs are listed: those of floats that scaling rounds.
func listsNear(p *problem.Normal) bool { return !p.Exact && !p.Instance.Type.Integer() }

// findsCycles reports whether the device finds out if near pairs have alternating cycles: where it has all rows, and every
// row and column is matched.
func (h *Shard) findsCycles(p *problem.Normal) bool {
	return listsNear(p) && h.Rows == p.Rows && p.Rows == p.Cols && p.Limit == problem.Infinity
}

// cycleKernels find alternating cycles of near pairs. Forest proves that there are none if the pairs make no cycle in any direction. Cycles
// decides the rest.
type cycleKernels interface {
	Forest(s device.Stream, g device.Grid, work device.Buffer, rows, cols uint64) error
	Cycles(s device.Stream, g device.Grid, work device.Buffer, rows, cols uint64) error
}

// launchCycles enqueues both after a sweep, if the device looks for cycles.
func (h *Shard) launchCycles(p *problem.Normal, k cycleKernels, threads int) error {
	m := uint64(h.Rows)
	if !h.findsCycles(p) || m == 0 {
		return nil
	}
	if err := k.Forest(h.Stream, device.Grid{Blocks: int64((h.Rows + threads - 1) / threads), Threads: threads}, h.Words, m, m); err != nil {
		return err
	}
	return k.Cycles(h.Stream, device.Grid{Blocks: 1, Threads: assignment.CheckCycleThreads}, h.Words, m, m)
}

// upload copies the solution to the device, and clears the findings.
func (h *Shard) upload(p *problem.Normal, sol *engine.Solution) error {
	at := 0
	last := h.First + h.Rows
	for _, list := range [][]int64{sol.U[h.First:last], sol.V} {
		at += copy(h.image[at:], device.Bytes(list))
	}
	copy(h.image[at:], device.Bytes(sol.Column[h.First:last]))
	at = int(h.wordsOffset())
	for w := range assignment.CheckWordWords + 2 { // the last are counts of near pairs
		start := uint64(0)
		if w >= assignment.CheckWordFirstEntry && w < assignment.CheckWordWords {
			start = none
		}
		binary.NativeEndian.PutUint64(h.image[at+8*w:], start)
	}
	if err := h.Stream.Upload(h.Words, 0, h.image); err != nil {
		return err
	}
	return h.owners(p, sol)
}

// signAndShift are those of a scale, sign * 2^shift.
func signAndShift(scale float64) (sign, shift int64) {
	if scale < 0 {
		return -1, int64(math.Ilogb(scale))
	}
	return 1, int64(math.Ilogb(scale))
}

// Launch uploads the solution and enqueues the two kernels.
func (h *Shard) Launch(p *problem.Normal, sol *engine.Solution) error {
	if err := h.upload(p, sol); err != nil {
		return err
	}
	sign, shift := signAndShift(p.Scale)
	var limited, rules uint64
	if p.Limit != problem.Infinity {
		limited = 1
	}
	if limited != 0 || p.Rows < p.Cols {
		rules |= assignment.CheckRuleLoose
	}
	if h.First > 0 {
		rules |= assignment.CheckRuleElsewhere
	}
	width := int64(-1)
	if listsNear(p) {
		width = int64(p.Rows) + 1
	}
	if h.points != nil {
		if err := h.points.launch(h, sign, shift, limited, rules, p.Limit, width); err != nil {
			return err
		}
		return h.launchCycles(p, h.points.kernels, h.points.threads)
	}
	m, n := uint64(h.Rows), uint64(h.Cols)
	pairs, sweep := h.grids()
	if h.Rows > 0 {
		if err := h.kernels.Pairs(h.Stream, pairs, h.M.Costs, h.Words, m, n, sign, shift, limited, p.Limit); err != nil {
			return err
		}
		if h.MatchedOn != nil {
			found, err := h.Stream.Record()
			if err == nil {
				err = h.MatchedOn.Wait(found)
			}
			if err != nil {
				return err
			}
		}
	}
	if h.Cols == 0 {
		return nil
	}
	if err := h.kernels.Sweep(h.Stream, sweep, h.M.Costs, h.Words, m, n, sign, shift, rules, width); err != nil {
		return err
	}
	return h.launchCycles(p, h.kernels, sweep.Threads)
}

// grids are those of the kernels that look at matched pairs and at all.
func (h *Shard) grids() (pairs, sweep device.Grid) {
	f := &assignment.Check
	block, rows := f.Int(h.variant, "block"), f.Int(h.variant, "rows")
	span := block * 16 / problem.Value(f.Value(h.variant, "value")).Size()
	groups, tiles := max(1, (h.Rows+rows-1)/rows), (h.Cols+span-1)/span
	return device.Grid{Blocks: int64((h.Rows + block - 1) / block), Threads: block}, device.Grid{Blocks: int64(groups) * int64(tiles), Threads: block}
}

// owners marks the columns that rows of other shards have; the others are free.
func (h *Shard) owners(p *problem.Normal, sol *engine.Solution) error {
	if h.Rows == p.Rows {
		return h.Stream.Fill(h.Words, h.ownersOffset(), int64(4*h.Cols), 0xff)
	}
	owner := slices.Repeat([]int32{-1}, h.Cols)
	for i, j := range sol.Column {
		if (i < h.First || i >= h.First+h.Rows) && j >= 0 && int(j) < h.Cols {
			owner[j] = int32(i)
		}
	}
	return h.Stream.Upload(h.Words, h.ownersOffset(), device.Bytes(owner))
}

// CollectFindings adds a shard's words to those of all, and keeps what came with them of near pairs.
func (h *Shard) CollectFindings(p *problem.Normal, total *Findings) error {
	words := h.found
	switch {
	case !listsNear(p):
		words = words[:assignment.CheckWordWords]
	case h.findsCycles(p): // mostly there are none, and no pair is asked for
		words = words[:assignment.CheckWordWords+2]
	}
	if err := h.Stream.Download(device.Bytes(words), h.Words, h.wordsOffset()); err != nil {
		return err
	}
	own := Findings(words[:assignment.CheckWordWords])
	if x := &own[assignment.CheckWordFirstEntry]; *x != none {
		*x += uint64(h.First) * uint64(h.Cols)
	}
	if x := &own[assignment.CheckWordFirstRow]; *x != none {
		*x += uint64(h.First) * assignment.CheckRowFaultRowFaults
	}
	total.Merge(own)
	return nil
}

// listed adds a shard's near pairs, after CollectFindings, to others; nil where they are more than there is room for. Where
// they have no alternating cycle it adds none.
func (h *Shard) listed(p *problem.Normal, near []problem.Pair) ([]problem.Pair, error) {
	left, words := h.found[assignment.CheckWordWords], h.found[assignment.CheckWordWords+1:]
	count := words[0]
	switch {
	case count > assignment.CheckNear*uint64(h.Rows):
		return nil, nil
	case h.findsCycles(p) && left == 0:
		return near, nil
	case h.findsCycles(p) || count >= uint64(len(words)):
		words = make([]uint64, 1+count)
		if err := h.Stream.Download(device.Bytes(words), h.Words, h.wordsOffset()+8*(assignment.CheckWordWords+1)); err != nil {
			return nil, fmt.Errorf("certificate: near pairs: %w", err)
		}
	}
	near = slices.Grow(near, int(count))
	for _, x := range words[1 : 1+count] {
		near = append(near, problem.Pair{Row: int32(h.First) + int32(x), Col: int32(x >> 32)})
	}
	return near, nil
}

// Merge adds the findings on other rows.
func (found *Findings) Merge(others Findings) {
	for w, x := range others {
		if w < assignment.CheckWordFirstEntry {
			found[w] += x
		} else {
			found[w] = min(found[w], x)
		}
	}
}

// FillCertificate writes the counts into a certificate.
func (found *Findings) FillCertificate(p *problem.Normal, cert *problem.Certificate) {
	cert.Pairs = int64(p.Rows)*int64(p.Cols) - int64(found[assignment.CheckWordForbidden])
	cert.Primal, cert.Dual = sumText(found[assignment.CheckWordPrimal:]), sumText(found[assignment.CheckWordDual:])
	cert.Rounded = int64(found[assignment.CheckWordRounded]) + p.Lost
	if p.LimitRounded() {
		cert.Rounded++
	}
	if cert.Exact = cert.Rounded == 0; !cert.Exact {
		cert.Gap = float64(p.Rows) / math.Abs(p.Unit())
	}
}

// Faults of rows and columns, in words.
var (
	rowFaults = [assignment.CheckRowFaultRowFaults]string{
		assignment.CheckRowFaultBadDual:       "its dual is out of range",
		assignment.CheckRowFaultNoColumn:      "its column does not exist",
		assignment.CheckRowFaultColumnTaken:   "its column is another row's too",
		assignment.CheckRowFaultForbiddenPair: "its pair is forbidden",
		assignment.CheckRowFaultSlackPair:     "its pair has slack",
		assignment.CheckRowFaultNotLimit:      "it is unmatched and its dual is not the limit",
		assignment.CheckRowFaultBeyondLimit:   "its dual is beyond the limit",
	}
	columnFaults = [assignment.CheckColumnFaultColumnFaults]string{
		assignment.CheckColumnFaultBadPrice:      "its dual is out of range",
		assignment.CheckColumnFaultPositivePrice: "its dual is positive",
		assignment.CheckColumnFaultFreePrice:     "it is unmatched and its dual is not zero",
	}
)

// CheckOptimal is nil where the findings prove sol optimal. Else its error wraps ErrCheck and names the
// first violation.
func (found *Findings) CheckOptimal(p *problem.Normal, sol *engine.Solution) error {
	var wrong []string
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	row, column := "row", "column"
	if p.Transposed {
		row, column = column, row
	}
	rows, cols := uint64(p.Rows), uint64(p.Cols)
	for _, x := range []struct{ wrong, first, end uint64 }{
		{found[assignment.CheckWordRowsWrong], found[assignment.CheckWordFirstRow], assignment.CheckRowFaultRowFaults * rows},
		{found[assignment.CheckWordColumnsWrong], found[assignment.CheckWordFirstColumn], assignment.CheckColumnFaultColumnFaults * cols},
		{found[assignment.CheckWordEntries], found[assignment.CheckWordFirstEntry], rows * cols},
	} {
		if x.wrong > 0 && x.first >= x.end {
			return fmt.Errorf("%w: the check itself is wrong: found %d errors, the first at %d of %d places", problem.ErrCheck, x.wrong, x.first, x.end)
		}
	}
	if n := found[assignment.CheckWordRowsWrong]; n > 0 {
		i, fault := found[assignment.CheckWordFirstRow]/assignment.CheckRowFaultRowFaults, found[assignment.CheckWordFirstRow]%assignment.CheckRowFaultRowFaults
		say("%d %ss, the first %d (from 0, column %d, dual %d): %s", n, row, i, sol.Column[i], sol.U[i], rowFaults[fault])
	}
	if n := found[assignment.CheckWordColumnsWrong]; n > 0 {
		j, fault := found[assignment.CheckWordFirstColumn]/assignment.CheckColumnFaultColumnFaults, found[assignment.CheckWordFirstColumn]%assignment.CheckColumnFaultColumnFaults
		say("%d %ss, the first %d (from 0, dual %d): %s", n, column, j, sol.V[j], columnFaults[fault])
	}
	if n := found[assignment.CheckWordEntries]; n > 0 {
		i, j := int(found[assignment.CheckWordFirstEntry]/uint64(p.Cols)), int(found[assignment.CheckWordFirstEntry]%uint64(p.Cols))
		say("%d pairs cost less than their duals, the first %s %d, %s %d (from 0): duals %d and %d, scaled cost %d", n, row, i, column, j, sol.U[i], sol.V[j], p.Cost(i, j))
	}
	if p.Exact && found[assignment.CheckWordRounded] != 0 {
		say("costs were rounded that were said to be exact")
	}
	if primal, dual := sumText(found[assignment.CheckWordPrimal:]), sumText(found[assignment.CheckWordDual:]); primal != dual {
		say("the matched costs add up to %s, the duals to %s", primal, dual)
	}
	if p.Limit == problem.Infinity && found[assignment.CheckWordMatched] != uint64(p.Rows) {
		say("%d of %d %ss are matched", found[assignment.CheckWordMatched], p.Rows, row)
	}
	if len(wrong) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s", problem.ErrCheck, strings.Join(wrong, "; "))
}

// sumText is a sum of two words, high*2^32 + low, in decimals; low may be
// beyond 2^32.
func sumText(sum []uint64) string {
	x := new(big.Int).Lsh(big.NewInt(int64(sum[0])), 32)
	return x.Add(x, new(big.Int).SetUint64(sum[1])).String()
}
