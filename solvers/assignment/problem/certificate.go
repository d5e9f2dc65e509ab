package problem

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"coalesce/solvers/cores"
	"coalesce/solvers/solve"
)

// ErrCheck is wrapped by the errors of answers that do not check.
var ErrCheck = errors.New("check failed")

// Duals are prices of an instance's rows and columns in units of 1/Scale,
// which is a power of two, negative when the instance maximises:
//
//	U[i] + V[j] <= c(i,j) * Scale, rounded to an integer
//
// for every allowed pair. Where one side is longer, its duals are at most 0;
// with a limit those of the shorter side (the rows of a square) are at most
// the limit and the others' at most 0.
//
// JSON: StatedDuals
type Duals struct {
	U, V  []int64
	Scale float64
}

// StartOf implements solve.Start.
func (*Duals) StartOf() string { return "assignment" }

// A Certificate is the result of checking an answer. Primal and Dual are equal sums in units of
// 1/Scale: Primal of the matched costs, with the limit for every row left unmatched, and Dual of
// the duals. Their equality proves the matching optimal for the scaled costs. Where scaling
// rounded costs, each is off by at most half a unit. Then the pairs whose slack is at most a unit a
// row decide: where they have no alternating cycle, the matching is the only optimum; where they
// have some, the same problem is solved on the residual costs of these pairs, in finer units, which
// Rounds counts. Gap is 0 after that; the matching costs at most Gap more than the best.
//
// Where no full matching exists, and where the cost of the worst pair counts, Hall is the proof.
type Certificate struct {
	By      string  `json:"by"`      // checker: host, or a device and a variant
	Pairs   int64   `json:"pairs"`   // allowed pairs held against the duals
	Primal  string  `json:"primal"`  // sum of the matched costs in units
	Dual    string  `json:"dual"`    // sum of the duals in units
	Scale   float64 `json:"scale"`   // units in 1 of the costs
	Rounded int64   `json:"rounded"` // number of costs, and limits, that scaling rounded
	Exact   bool    `json:"exact"`   // whether no cost was rounded
	Rounds  int     `json:"rounds"`  // solves of residual costs that followed
	Gap     float64 `json:"gap"`     // most that a matching may be better, in the costs
	// proof that no full matching exists
	Hall *Hall `json:"hall,omitempty" none:"one exists"`
	Row  int   `json:"-"` // of the worst pair, where its cost counts
}

// A Hall is a proof that no full matching exists (Hall 1935): the Members, all of the shorter
// side, outnumber their allowed Partners. As a proof of a worst pair it counts as allowed those pairs
// that are better: a full matching has one that is not.
type Hall struct {
	Side     string `json:"side" values:"rows columns"` // side that the members are on
	Members  []int  `json:"members"`                    // rows or columns, from 0
	Partners []int  `json:"partners"`                   // all that they may be matched to, or at better costs; there are too few
}

// An InfeasibleError is an instance without a full matching. The proof has
// been checked against its costs.
type InfeasibleError struct {
	Hall    Hall
	Amounts bool // supplies and capacities count, in place of rows and columns
}

// Error says how many rows or columns have too few partners.
func (e *InfeasibleError) Error() string {
	h := e.Hall
	member, other := "row", "column"
	if h.Side == "columns" {
		member, other = other, member
	}
	if len(h.Members) != 1 {
		member += "s"
	}
	if len(h.Partners) != 1 {
		other += "s"
	}
	if e.Amounts {
		return fmt.Sprintf("no flow: %d %s %s together have more than the %d %s allowed to them", len(h.Members), member, short(h.Members), len(h.Partners), other)
	}
	return fmt.Sprintf("no full matching: only %d %s allowed to %d %s %s together", len(h.Partners), other, len(h.Members), member, short(h.Members))
}

// Unwrap is solve.ErrInfeasible.
func (e *InfeasibleError) Unwrap() error { return solve.ErrInfeasible }

// short writes a few numbers of a list.
func short(list []int) string {
	if len(list) > 8 {
		return fmt.Sprintf("%v…", list[:8])
	}
	return fmt.Sprint(list)
}

// Check holds an answer against an instance's own costs. column has the column of each row, -1 for
// none. Check shares no code with the solvers: it makes integers of the bits of costs, adds
// without rounding, and looks at every allowed pair. Errors wrap ErrCheck and name the first row
// or pair at fault.
func Check(inst *Instance, column []int32, d Duals) (Certificate, error) {
	cert, _, err := (&certificateCheck{inst: inst, column: column, Duals: d, cert: Certificate{By: "host", Scale: d.Scale}}).run()
	return cert, err
}

// CheckNear is Check that lists the unmatched pairs whose slack is at most width units, in any order. The list is nil where there
// are more than `most`.
func CheckNear(inst *Instance, column []int32, d Duals, width int64, most int) (Certificate, []Pair, error) {
	c := &certificateCheck{inst: inst, column: column, Duals: d, cert: Certificate{By: "host", Scale: d.Scale}, width: width, lists: true, most: most, near: []Pair{}}
	return c.run()
}

func (c *certificateCheck) run() (Certificate, []Pair, error) {
	if err := c.inst.Check(); err != nil {
		return c.cert, nil, err
	}
	for _, step := range []func() error{c.shape, c.matching, c.sides, c.pairs, c.sums} {
		if err := step(); err != nil {
			return c.cert, nil, fmt.Errorf("%w: %w", ErrCheck, err)
		}
	}
	return c.cert, c.near, nil
}

// A certificateCheck is one certificate in the making.
type certificateCheck struct {
	inst   *Instance
	column []int32
	row    []int32 // of each column, -1: none
	price  []int64 // of each row: units that its matched pair costs
	Duals
	shift int   // |Scale| is 2^shift
	sign  int64 // of Scale
	limit int64 // units that an unmatched row costs
	cut   bool  // whether scaling rounded the limit
	cert  Certificate
	lists bool // whether near pairs are wanted, whose slack is at most width
	width int64
	near  []Pair      // of all goroutines' shares that are done
	most  int         // near pairs that are kept
	full  atomic.Bool // there are more, and none is kept
}

// A scan is a goroutine's share of the pairs.
type scan struct {
	pairs, rounded int64
	room           []float64 // for costs that are distances
	near           []Pair
}

// most magnitude of a dual: sums of two, less a cost, stay within int64.
const MaxDual = 1 << 61

func (c *certificateCheck) shape() error {
	inst := c.inst
	if len(c.column) != inst.Rows || len(c.U) != inst.Rows || len(c.V) != inst.Cols {
		return fmt.Errorf("found %d columns of rows, %d and %d duals, expected %d, %d and %d", len(c.column), len(c.U), len(c.V), inst.Rows, inst.Rows, inst.Cols)
	}
	fraction, exponent := math.Frexp(math.Abs(c.Scale))
	c.shift, c.sign = exponent-1, 1
	if c.Scale < 0 {
		c.sign = -1
	}
	if fraction != 0.5 || c.Scale < 0 != inst.Maximize || inst.Type.Integer() && (c.shift > 0 || inst.Points != nil && c.shift != 0) {
		return fmt.Errorf("found the scale %v, expected a power of two for %s costs, negative only to maximise", c.Scale, inst.Type)
	}
	for i, u := range c.U {
		if u > MaxDual || u < -MaxDual {
			return fmt.Errorf("row %d: found the dual %d, expected at most 2^61 in magnitude", i, u)
		}
	}
	for j, v := range c.V {
		if v > MaxDual || v < -MaxDual {
			return fmt.Errorf("column %d: found the dual %d, expected at most 2^61 in magnitude", j, v)
		}
	}
	return nil
}

// matching checks that no column is taken twice and counts the matched.
func (c *certificateCheck) matching() error {
	c.row, c.price = slices.Repeat([]int32{-1}, c.inst.Cols), make([]int64, c.inst.Rows)
	matched := 0
	for i, j := range c.column {
		switch {
		case j == -1:
			continue
		case j < 0 || int(j) >= c.inst.Cols:
			return fmt.Errorf("row %d: found column %d, expected one below %d", i, j, c.inst.Cols)
		case c.row[j] >= 0:
			return fmt.Errorf("column %d: found rows %d and %d matched to it", j, c.row[j], i)
		}
		c.row[j] = int32(i)
		matched++
	}
	if full := min(c.inst.Rows, c.inst.Cols); c.inst.Limit == nil && matched != full {
		return fmt.Errorf("found %d matched pairs, expected %d", matched, full)
	}
	return nil
}

// sides checks the duals of the rows and columns that may stay unmatched.
func (c *certificateCheck) sides() error {
	names, partners, duals := [2]string{"row", "column"}, [2][]int32{c.column, c.row}, [2][]int64{c.U, c.V}
	lesser := 0
	if c.inst.Rows > c.inst.Cols {
		lesser = 1
	}
	bounded := [2]bool{}
	bounded[1-lesser] = c.inst.Rows != c.inst.Cols || c.inst.Limit != nil
	if c.inst.Limit != nil {
		if err := c.fitLimit(); err != nil {
			return err
		}
		bounded[lesser] = true
	}
	for side := range 2 {
		if !bounded[side] {
			continue
		}
		at := int64(0)
		if side == lesser {
			at = c.limit
		}
		for k, x := range duals[side] {
			if x > at || partners[side][k] < 0 && x != at {
				return fmt.Errorf("%s %d: found the dual %d, expected at most %d, and that where it is unmatched", names[side], k, x, at)
			}
		}
	}
	return nil
}

// fitLimit sets the units of the limit, or of the number that replaces one that is very large or
// small: see Instance.scaledLimit.
func (c *certificateCheck) fitLimit() error {
	least, largest := c.inst.costRange()
	limit, err := c.inst.scaledLimit(min(c.inst.Rows, c.inst.Cols), least, largest)
	if err != nil {
		return err
	}
	units, rest := Split(limit, c.shift)
	c.limit, c.cut = units-c.sign*int64(math.Ldexp(c.inst.costBase(), c.shift)), rest != 0
	return nil
}

// pairs checks the duals of every allowed pair, on all cores.
func (c *certificateCheck) pairs() error {
	type fault struct {
		row int
		err error
	}
	var mu sync.Mutex
	var faults []fault
	cores.Split(c.inst.Rows, max(1, 1<<14/max(1, c.inst.Cols)), func(low, high int) {
		var own scan
		if c.inst.Points != nil {
			own.room = make([]float64, c.inst.Cols)
		}
		for i := low; i < high; i++ {
			if err := c.pairsOf(i, &own); err != nil {
				mu.Lock()
				faults = append(faults, fault{i, err})
				mu.Unlock()
				return
			}
			if c.full.Load() || len(own.near) > c.most {
				c.full.Store(true)
				own.near = own.near[:0]
			}
		}
		mu.Lock()
		c.cert.Pairs += own.pairs
		c.cert.Rounded += own.rounded
		if c.full.Load() || len(c.near)+len(own.near) > c.most {
			c.full.Store(true)
			own.near = nil
		}
		c.near = append(c.near, own.near...)
		mu.Unlock()
	})
	if c.full.Load() {
		c.near = nil
	}
	if len(faults) > 0 {
		return slices.MinFunc(faults, func(a, b fault) int { return cmp.Compare(a.row, b.row) }).err
	}
	if c.cut {
		c.cert.Rounded++
	}
	if c.cert.Exact = c.cert.Rounded == 0; !c.cert.Exact {
		c.cert.Gap = float64(min(c.inst.Rows, c.inst.Cols)) / math.Abs(c.Scale)
	}
	return nil
}

// pairsOf checks one row and counts the pairs that are allowed, and those whose
// costs were rounded.
func (c *certificateCheck) pairsOf(i int, s *scan) error {
	inst := c.inst
	if inst.Points != nil {
		inst.Points.Costs(i, s.room)
		return checkFloats(c, i, nil, s.room, s)
	}
	low, high := int64(i)*int64(inst.Cols), int64(i+1)*int64(inst.Cols)
	var cols []int32
	if inst.Sparse != nil {
		low, high = inst.Sparse.Start[i], inst.Sparse.Start[i+1]
		cols = inst.Sparse.Col[low:high]
	}
	switch inst.Type {
	case Int32:
		return checkIntegers(c, i, cols, inst.I32[low:high], s)
	case Int64:
		return checkIntegers(c, i, cols, inst.I64[low:high], s)
	case Float32:
		return checkFloats(c, i, cols, inst.F32[low:high], s)
	}
	return checkFloats(c, i, cols, inst.F64[low:high], s)
}

// checkIntegers checks a row; where it is dense and its costs have all their bits, by its least
// slack first.
func checkIntegers[T int32 | int64](c *certificateCheck, i int, cols []int32, costs []T, s *scan) error {
	forbidden := Forbidden[T](false)
	if j := c.column[i]; cols == nil && c.shift == 0 && !c.lists && !c.inst.Every {
		v, flip := c.V[:len(costs)], (c.sign-1)/2 // -1 to negate
		worst, largest, least, pairs := int64(math.MinInt64), T(0), T(0), int64(0)
		for k, x := range costs {
			if x == forbidden {
				continue
			}
			pairs++
			largest, least = max(largest, x), min(least, x)
			worst = max(worst, v[k]-(int64(x)^flip-flip))
		}
		small := int64(largest) <= MaxDual && int64(least) >= -MaxDual
		if small && worst <= -c.U[i] && (j < 0 || costs[j] != forbidden && v[j]+c.U[i] == c.sign*int64(costs[j])) {
			if j >= 0 {
				c.price[i] = c.sign * int64(costs[j])
			}
			s.pairs += pairs
			return nil
		}
	}
	lost := uint(-c.shift)
	return checkRow(c, i, cols, costs, s, func(x T) (int64, int64, bool) {
		units := roundedShift(int64(x), lost)
		rounded := int64(0)
		if units<<lost != int64(x) {
			rounded = 1
		}
		return c.sign * units, rounded, x != forbidden || c.inst.Every
	})
}

// checkFloats checks a row; where it is dense by its least slack first, with
// costs made integers by arithmetic. What that cannot do is beyond all duals.
func checkFloats[T float32 | float64](c *certificateCheck, i int, cols []int32, costs []T, s *scan) error {
	forbidden := Forbidden[T](c.inst.Maximize)
	if j := c.column[i]; cols == nil && (j < 0 || costs[j] != forbidden) {
		v, worst := c.V[:len(costs)], int64(math.MinInt64)
		bar := 1 - c.U[i] // v less the cost is at least that at a fault, or, where they are listed, at a near pair
		if c.lists {
			bar = -c.U[i] - c.width
		}
		listed, pairs, rounded := len(s.near), int64(0), int64(0)
		for k := 0; ; k++ {
			n := passing(costs[k:], v[k:], c.Scale, bar, forbidden)
			k, pairs, rounded = k+n.costs, pairs+n.pairs, rounded+n.rounded
			if k == len(costs) {
				break
			}
			whole, r := wholeUnits(costs[k], c.Scale)
			if pairs, rounded = pairs+1, rounded+r; !(math.Abs(whole) <= MaxDual) {
				worst = math.MaxInt64
				break
			}
			worst = max(worst, v[k]-int64(whole))
			if c.lists && k != int(j) {
				s.near = append(s.near, Pair{int32(i), int32(k)})
			}
		}
		matched := int64(0)
		if j >= 0 {
			matched, _ = c.units(float64(costs[j]))
		}
		if worst <= -c.U[i] && (j < 0 || v[j]+c.U[i] == matched) {
			c.price[i] = matched
			s.pairs, s.rounded = s.pairs+pairs, s.rounded+rounded
			return nil
		}
		s.near = s.near[:listed]
	}
	return checkRow(c, i, cols, costs, s, func(x T) (int64, int64, bool) { return c.float(float64(x)) })
}

// A run has three counts of consecutive costs: all, the allowed ones, and the rounded ones.
type run struct {
	costs          int
	pairs, rounded int64
}

// passing is the run of costs before the first that needs a look: v less the cost is at least bar, or the cost is
// beyond all duals. A check spends its time in this loop, which calls nothing and so stays in registers.
func passing[T float32 | float64](costs []T, v []int64, scale float64, bar int64, forbidden T) (r run) {
	v = v[:len(costs)]
	skipped := int64(0)
	for k, x := range costs {
		units := float64(x) * scale
		whole := math.RoundToEven(units)
		if !(math.Abs(whole) <= MaxDual) {
			if x == forbidden {
				skipped++
				continue
			}
			return run{k, int64(k) - skipped, r.rounded}
		}
		if v[k]-int64(whole) >= bar {
			return run{k, int64(k) - skipped, r.rounded}
		}
		if whole != units || units == 0 && x != 0 {
			r.rounded++
		}
	}
	return run{len(costs), int64(len(costs)) - skipped, r.rounded}
}

// wholeUnits is a cost in units, rounded to an integer, and 1 where that loses anything.
func wholeUnits[T float32 | float64](x T, scale float64) (whole float64, rounded int64) {
	units := float64(x) * scale
	if whole = math.RoundToEven(units); whole != units || units == 0 && x != 0 {
		rounded = 1
	}
	return whole, rounded
}

// checkRow checks the pairs of row i one by one, whose columns are cols, nil
// for all. The matched pair has to be among the allowed ones.
func checkRow[T Number](c *certificateCheck, i int, cols []int32, costs []T, s *scan, scaled func(T) (cost, rounded int64, allowed bool)) error {
	u, v, match := c.U[i], c.V, int(c.column[i])
	tight := match < 0
	for k, x := range costs {
		cost, round, allowed := scaled(x)
		if !allowed {
			continue
		}
		j := k
		if cols != nil {
			j = int(cols[k])
		}
		s.pairs, s.rounded = s.pairs+1, s.rounded+round
		sum := u + v[j]
		if sum > cost || j == match && sum != cost {
			return c.fault(i, j, cost)
		}
		if j == match {
			tight, c.price[i] = true, cost
		}
		if c.lists && cost-c.width <= sum && j != match {
			s.near = append(s.near, Pair{int32(i), int32(j)})
		}
	}
	if !tight {
		return fmt.Errorf("row %d: found it matched to column %d, which is forbidden to it", i, match)
	}
	return nil
}

func (c *certificateCheck) fault(i, j int, cost int64) error {
	want := "at most"
	if int(c.column[i]) == j {
		want = "exactly, as they are matched,"
	}
	return fmt.Errorf("row %d, column %d: found duals %d and %d, expected them to add up to %s the cost %s (%d units)", i, j, c.U[i], c.V[j], want, c.inst.CostDecimals(i, j), cost)
}

// float is a cost in units, whether it was rounded (1), and whether it is
// allowed. Not a number is a cost below all duals, which no answer passes.
func (c *certificateCheck) float(x float64) (units, rounded int64, allowed bool) {
	if math.IsInf(x, 1) && c.sign > 0 || math.IsInf(x, -1) && c.sign < 0 {
		return 0, 0, false
	}
	units, rounded = c.units(x)
	return units, rounded, true
}

// units is x * Scale rounded to an integer, ties to even, from x's bits, and 1
// where that rounded. What is beyond 2^62 is less than any sum of duals.
func (c *certificateCheck) units(x float64) (units, rounded int64) {
	b := math.Float64bits(x)
	mantissa, exponent := b&(1<<52-1), int(b>>52&0x7ff)
	if exponent > 0 {
		mantissa |= 1 << 52
	} else {
		exponent = 1
	}
	right := 1075 - exponent - c.shift
	var m uint64
	switch {
	case mantissa == 0:
		return 0, 0
	case exponent == 0x7ff || right < -9:
		return math.MinInt64, 1
	case right <= 0:
		m = mantissa << -right
	case right > 60:
		rounded = 1
	default:
		m = mantissa >> right
		rest, half := mantissa&(1<<right-1), uint64(1)<<(right-1)
		if rest > half || rest == half && m&1 == 1 {
			m++
		}
		if rest != 0 {
			rounded = 1
		}
	}
	units = c.sign * int64(m)
	if b>>63 == 1 {
		units = -units
	}
	return units, rounded
}

// sums adds both sides up.
func (c *certificateCheck) sums() error {
	var primal, dual Int128
	lesser, partners := c.U, c.column
	if c.inst.Rows > c.inst.Cols {
		lesser, partners = c.V, c.row
	}
	for i := range c.column {
		primal.Add(c.price[i])
	}
	for k := range lesser {
		if partners[k] < 0 {
			primal.Add(c.limit)
		}
	}
	for _, u := range c.U {
		dual.Add(u)
	}
	for _, v := range c.V {
		dual.Add(v)
	}
	c.cert.Primal, c.cert.Dual = primal.String(), dual.String()
	if primal != dual {
		return fmt.Errorf("the matching costs %s units, the duals add up to %s", c.cert.Primal, c.cert.Dual)
	}
	return nil
}

// A Int128 is a sum of int64 in 128 bits, two's complement.
type Int128 struct{ high, low uint64 }

// Add adds x.
func (w *Int128) Add(x int64) {
	var carry uint64
	w.low, carry = bits.Add64(w.low, uint64(x), 0)
	w.high, _ = bits.Add64(w.high, uint64(x>>63), carry)
}

// Big is the sum.
func (w *Int128) Big() *big.Int {
	x := new(big.Int).Lsh(big.NewInt(int64(w.high)), 64)
	return x.Add(x, new(big.Int).SetUint64(w.low))
}

// String is the sum in decimals.
func (w *Int128) String() string { return w.Big().String() }

// StatedDuals are duals in the costs' unit: u[i] + v[j] <= c(i,j) for every allowed pair, >= where the solve maximises.
type StatedDuals struct {
	U []json.Number `json:"u"` // dual of each row
	V []json.Number `json:"v"` // dual of each column
}

// MarshalJSON writes duals in the instance's costs: u[i] + v[j] <= c(i,j) for
// every pair, >= when it maximises. Fractions have the digits of a float64, or 20
// where a float64 would not give the units back.
func (d *Duals) MarshalJSON() ([]byte, error) {
	var out StatedDuals
	if d.Scale == 1 || d.Scale == -1 {
		out = StatedDuals{signed(d.U, int64(d.Scale)), signed(d.V, int64(d.Scale))}
	} else {
		out = StatedDuals{fractions(d.U, d.Scale), fractions(d.V, d.Scale)}
	}
	text, err := json.Marshal(out)
	if err != nil {
		return nil, fmt.Errorf("duals: %w", err)
	}
	return text, nil
}

func signed(list []int64, sign int64) []json.Number {
	out := make([]json.Number, len(list))
	for k, x := range list {
		out[k] = json.Number(strconv.FormatInt(x*sign, 10))
	}
	return out
}

func fractions(list []int64, scale float64) []json.Number {
	out := make([]json.Number, len(list))
	for k, x := range list {
		if -1<<53 < x && x < 1<<53 {
			out[k] = json.Number(FormatFloat(float64(x)/scale, 64))
			continue
		}
		f := new(big.Float).SetInt64(x)
		out[k] = json.Number(f.Quo(f, big.NewFloat(scale)).Text('g', 20))
	}
	return out
}
