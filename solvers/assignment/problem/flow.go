package problem

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"

	"coalesce/solvers/solve"
)

// MaxTotal is the largest sum of the supplies of an instance, and of its capacities.
const MaxTotal = 1 << 61

// A Flow ships Amount[k], at least 1, from row Row[k] to column Col[k]. Pairs are in the order of rows and columns, each at most once.
type Flow struct {
	Row, Col []int32
	Amount   []int64
}

// FlowOf is the flow of so much over each of some pairs, in any order.
func FlowOf(pairs []Pair, amount func(Pair) int64) (f Flow) {
	slices.SortFunc(pairs, func(a, b Pair) int { return cmp.Or(cmp.Compare(a.Row, b.Row), cmp.Compare(a.Col, b.Col)) })
	for _, x := range pairs {
		f.Row, f.Col, f.Amount = append(f.Row, x.Row), append(f.Col, x.Col), append(f.Amount, amount(x))
	}
	return f
}

// Transpose exchanges rows and columns.
func (f *Flow) Transpose() Flow {
	cols := int32(0)
	for _, j := range f.Col {
		cols = max(cols, j+1)
	}
	next := make([]int32, cols+1) // where the next of each column goes
	for _, j := range f.Col {
		next[j+1]++
	}
	for j := range cols {
		next[j+1] += next[j]
	}
	out := Flow{Row: make([]int32, len(f.Row)), Col: make([]int32, len(f.Row)), Amount: make([]int64, len(f.Row))}
	for k, j := range f.Col {
		at := next[j]
		out.Row[at], out.Col[at], out.Amount[at] = j, f.Row[k], f.Amount[k]
		next[j]++
	}
	return out
}

// Transports reports whether an instance has supplies or capacities: its answer is a flow then.
func (inst *Instance) Transports() bool { return inst.Supply != nil || inst.Capacity != nil }

// Supplies are the supplies of all rows.
func (inst *Instance) Supplies() []int64 { return amounts(inst.Supply, inst.Rows) }

// Capacities are the capacities of all columns.
func (inst *Instance) Capacities() []int64 { return amounts(inst.Capacity, inst.Cols) }

func amounts(given []int64, count int) []int64 {
	if given == nil {
		return slices.Repeat([]int64{1}, count)
	}
	return given
}

// Total is the sum of amounts that Check has passed.
func Total(amounts []int64) (sum int64) {
	for _, x := range amounts {
		sum += x
	}
	return sum
}

// checkAmounts refuses supplies and capacities that are not one a row and one a column, whole and not negative.
func (inst *Instance) checkAmounts() error {
	if !inst.Transports() {
		return nil
	}
	if inst.Limit != nil {
		return solve.InvalidInput("Limit", "found %v with supplies or capacities, expected none", *inst.Limit)
	}
	for _, side := range []struct {
		field string
		found []int64
		count int
	}{{"Supply", inst.Supply, inst.Rows}, {"Capacity", inst.Capacity, inst.Cols}} {
		if side.found != nil && len(side.found) != side.count {
			return solve.InvalidInput(side.field, "found %d amounts, expected %d", len(side.found), side.count)
		}
		sum := uint64(0)
		for k, x := range side.found {
			if x < 0 {
				return solve.InvalidInput(fmt.Sprintf("%s[%d]", side.field, k), "found %d, expected 0 or more", x)
			}
			if sum += uint64(x); sum > MaxTotal {
				return solve.InvalidInput(side.field, "found amounts that add up to more than 2^61")
			}
		}
	}
	return nil
}

// Shipped is what a flow of the instance ships in all: the lesser of the sums of supplies and capacities.
func (inst *Instance) Shipped() int64 { return min(Total(inst.Supplies()), Total(inst.Capacities())) }

// CheckMarginals holds a flow against the supplies and capacities. The side whose sum is less ships or takes all it has, the other
// side at most that. Errors wrap ErrCheck.
func CheckMarginals(inst *Instance, f *Flow) error {
	supply, capacity := slices.Clone(inst.Supplies()), slices.Clone(inst.Capacities())
	has, takes := Total(supply), Total(capacity)
	if len(f.Row) != len(f.Col) || len(f.Row) != len(f.Amount) {
		return fmt.Errorf("%w: found %d rows, %d columns and %d amounts of a flow", ErrCheck, len(f.Row), len(f.Col), len(f.Amount))
	}
	for k, i := range f.Row {
		j, x := f.Col[k], f.Amount[k]
		switch {
		case i < 0 || int(i) >= inst.Rows || j < 0 || int(j) >= inst.Cols:
			return fmt.Errorf("%w: found a flow from row %d to column %d, expected numbers below %d and %d", ErrCheck, i, j, inst.Rows, inst.Cols)
		case k > 0 && (f.Row[k-1] > i || f.Row[k-1] == i && f.Col[k-1] >= j):
			return fmt.Errorf("%w: found the flow from row %d to column %d after that from row %d to column %d, expected the order of rows and columns", ErrCheck, i, j, f.Row[k-1], f.Col[k-1])
		case x < 1:
			return fmt.Errorf("%w: row %d, column %d: found the amount %d, expected 1 or more", ErrCheck, i, j, x)
		case !inst.Allowed(int(i), int(j)):
			return fmt.Errorf("%w: row %d: found a flow to column %d, which is forbidden to it", ErrCheck, i, j)
		case x > supply[i]:
			return fmt.Errorf("%w: row %d ships more than its supply", ErrCheck, i)
		case x > capacity[j]:
			return fmt.Errorf("%w: column %d takes more than its capacity", ErrCheck, j)
		}
		supply[i] -= x
		capacity[j] -= x
	}
	full, side := supply, "row"
	if has > takes {
		full, side = capacity, "column"
	}
	if k := slices.IndexFunc(full, func(x int64) bool { return x > 0 }); k >= 0 {
		return fmt.Errorf("%w: %s %d: found %d left, expected 0", ErrCheck, side, k, full[k])
	}
	return nil
}

// CheckFlow holds a flow and duals against an instance's own costs. The duals bound every allowed pair's scaled cost, those of the
// side with the larger sum are at most 0, and the amounts times the duals add up to the amounts times the costs. It shares no
// code with solvers. near lists the pairs without a flow whose slack is at most width units; Rounded and Gap of the certificate
// are those of Check. Errors wrap ErrCheck.
func CheckFlow(inst *Instance, f *Flow, d Duals, width int64) (Certificate, []Pair, error) {
	cert := Certificate{By: "host", Scale: d.Scale}
	if err := inst.Check(); err != nil {
		return cert, nil, err
	}
	if err := CheckMarginals(inst, f); err != nil {
		return cert, nil, err
	}
	c := &certificateCheck{inst: inst, column: slices.Repeat([]int32{-1}, inst.Rows), price: make([]int64, inst.Rows), Duals: d, cert: cert, lists: true, width: width, most: math.MaxInt, near: []Pair{}}
	if err := c.shape(); err != nil {
		return cert, nil, fmt.Errorf("%w: %w", ErrCheck, err)
	}
	if err := c.pairs(); err != nil {
		return cert, nil, fmt.Errorf("%w: %w", ErrCheck, err)
	}
	primal, dual := new(big.Int), new(big.Int)
	add := func(sum *big.Int, amount, units int64) {
		sum.Add(sum, new(big.Int).Mul(big.NewInt(amount), big.NewInt(units)))
	}
	for k, i := range f.Row {
		add(primal, f.Amount[k], c.unitsOf(int(i), int(f.Col[k])))
	}
	supply, capacity := inst.Supplies(), inst.Capacities()
	has, takes := Total(supply), Total(capacity)
	for i, u := range d.U {
		if has > takes && u > 0 {
			return cert, nil, fmt.Errorf("%w: row %d: found the dual %d, expected at most 0, as supplies are left", ErrCheck, i, u)
		}
		add(dual, supply[i], u)
	}
	for j, v := range d.V {
		if has < takes && v > 0 {
			return cert, nil, fmt.Errorf("%w: column %d: found the dual %d, expected at most 0, as capacities are left", ErrCheck, j, v)
		}
		add(dual, capacity[j], v)
	}
	c.cert.Primal, c.cert.Dual = primal.String(), dual.String()
	if primal.Cmp(dual) != 0 {
		return c.cert, nil, fmt.Errorf("%w: the flow costs %s units, the duals add up to %s", ErrCheck, c.cert.Primal, c.cert.Dual)
	}
	if !c.cert.Exact {
		c.cert.Gap = float64(inst.Shipped()) / math.Abs(d.Scale)
	}
	carried := make(map[Pair]bool, len(f.Row))
	for k, i := range f.Row {
		carried[Pair{i, f.Col[k]}] = true
	}
	return c.cert, slices.DeleteFunc(c.near, func(x Pair) bool { return carried[x] }), nil
}

// unitsOf is the scaled cost of an allowed pair.
func (c *certificateCheck) unitsOf(i, j int) int64 {
	inst := c.inst
	if inst.Points != nil {
		units, _ := c.units(inst.Points.Cost(i, j))
		return units
	}
	switch k := inst.CostIndex(i, j); inst.Type {
	case Int32:
		return c.sign * roundedShift(int64(inst.I32[k]), uint(-c.shift))
	case Int64:
		return c.sign * roundedShift(inst.I64[k], uint(-c.shift))
	case Float32:
		units, _ := c.units(float64(inst.F32[k]))
		return units
	default:
		units, _ := c.units(inst.F64[k])
		return units
	}
}

// CheckCut holds a proof that no flow exists against an instance's own costs: members, rows, or columns where these have the
// lesser sum, have more than all their allowed partners together. It fills in the partners. Errors wrap ErrCheck.
func CheckCut(inst *Instance, members []int32) (Hall, error) {
	if err := inst.Check(); err != nil {
		return Hall{}, err
	}
	h, own, others := Hall{Side: "rows"}, inst.Supplies(), inst.Capacities()
	if Total(own) > Total(others) {
		h.Side, own, others = "columns", others, own
	}
	if err := h.fill(len(own), len(others), members, inst.Allowed); err != nil {
		return h, err
	}
	have, room := int64(0), int64(0)
	for _, k := range h.Members {
		have += own[k]
	}
	for _, k := range h.Partners {
		room += others[k]
	}
	if have <= room {
		return h, fmt.Errorf("%w: found %d %s with %d in all, and partners with %d, expected less", ErrCheck, len(h.Members), h.Side, have, room)
	}
	return h, nil
}

// FlowValue is the sum of a flow's amounts times costs, without rounding.
func FlowValue(inst *Instance, f *Flow) *big.Float {
	if inst.Points == nil && inst.Type.Integer() {
		sum, one := new(big.Int), new(big.Int)
		for k, i := range f.Row {
			at := inst.CostIndex(int(i), int(f.Col[k]))
			switch {
			case inst.Type == Int32:
				one.SetInt64(int64(inst.I32[at]))
			case inst.Unsigned:
				one.SetUint64(uint64(inst.I64[at]) ^ 1<<63)
			default:
				one.SetInt64(inst.I64[at])
			}
			sum.Add(sum, one.Mul(one, big.NewInt(f.Amount[k])))
		}
		return new(big.Float).SetPrec(uint(max(64, sum.BitLen()))).SetInt(sum)
	}
	// Every product is a multiple of 2^-1074 and below 2^(1024+62), so that this precision holds any sum.
	sum := new(big.Float).SetPrec(1074 + 1024 + 64 + 32)
	for k, i := range f.Row {
		product := new(big.Float).SetPrec(53 + 64).SetInt64(f.Amount[k])
		sum.Add(sum, product.Mul(product, big.NewFloat(inst.CostFloat(int(i), int(f.Col[k])))))
	}
	return sum
}

// SumRows is a bound on the number of costs that a path of a flow's residual graph adds up, times a margin for its prices. Scaled costs
// times it stay within 2^60.
func (inst *Instance) SumRows(rows int) int {
	if inst.Transports() {
		return min(4*(rows+1), MaxSide)
	}
	return rows
}

// FlowWidth is the slack in units of the pairs from which an optimal flow of rounded costs is decided: a cycle has at most two pairs a
// row of the shorter side, and one more where something is left, each at most half a unit off.
func FlowWidth(p *Normal) int64 { return int64(p.Rows) + 2 }
