package assignment

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/solve"
)

// A Result is the answer to an instance, and how it came about. Value is the sum of the matched costs, with Bottleneck the
// worst of them: every digit of integers, of floats their exact sum, rounded once; empty where no full matching exists. Where
// it is proven, the certificate's duals prove that no matching is better by more than the gap. Seconds.Prepare is the pass
// that finds the range of the costs, and moving them to the device.
type Result struct {
	solve.Report
	Rows, Cols int  `json:"-"`
	Maximize   bool `json:"-"`
	Bottleneck bool `json:"-"` // the cost of the worst pair counts, in place of the sum
	// column of each row, -1 where it is unmatched
	Column []int32 `json:"solution" none:"no full matching exists, or the answer is a flow"`
	// matched pairs, or pairs with a flow
	Matched int `json:"matched"`
	// amounts that rows ship to columns, in the order of rows and columns
	Flow []Shipment `json:"flow,omitzero" none:"the instance has neither supplies nor capacities"`
	// names of the rows
	RowNames []string `json:"row_names,omitempty" none:"they have none"`
	// names of the columns
	ColNames []string `json:"col_names,omitempty" none:"they have none"`
	// prices of rows and columns that prove the matching optimal
	Duals *problem.Duals `json:"duals,omitempty" none:"nobody asked for them"`
	// type of the costs
	Type problem.Value `json:"type"`
	// work of the solve
	Counts engine.Counts `json:"counts"`
	// best matchings, the best first, the solution among them: none is missing between two of them, and those of equal value stand in any order
	Best []Ranked `json:"best,omitempty" none:"nobody asked for several"`
	// Complete says that Best has all matchings of the instance.
	Complete bool `json:"-"`
	// Certificate is nil where checking was switched off.
	Certificate *problem.Certificate `json:"-"`

	inst *problem.Instance
}

func newResult(inst *problem.Instance) *Result {
	return &Result{
		Report: solve.Report{Problem: "assignment", Instance: inst.Source, Size: map[string]int{"rows": inst.Rows, "columns": inst.Cols}, Notes: inst.Notes},
		Rows:   inst.Rows, Cols: inst.Cols, Type: inst.Type, Maximize: inst.Maximize, RowNames: inst.RowNames, ColNames: inst.ColNames, inst: inst,
	}
}

// solvedBy sets where a result came from: the devices, the family with the label of its variant, and why that one.
func (r *Result) solvedBy(device, variant, reason string) {
	r.Device, r.Variant, r.Reason = device, variant, reason
	r.Algorithm, _, _ = strings.Cut(strings.TrimPrefix(variant, "assignment/"), " ")
}

// setSolution takes over a solution of the instance's normal problem, in the
// instance's own rows and columns, and adds its costs up. A sum that no float64
// holds is an ErrCost.
func (r *Result) setSolution(inst *problem.Instance, p *problem.Normal, s *engine.Solution) (*problem.Duals, error) {
	r.Counts, r.Column = s.Counts, s.Column
	if p.Transposed {
		r.Column = slices.Repeat([]int32{-1}, inst.Rows)
		for j, i := range s.Column {
			if i >= 0 && int(i) < inst.Rows {
				r.Column[i] = int32(j)
			}
		}
	}
	d := dualsOf(p, s)
	r.Value, r.Matched = totalCost(inst, r.Column)
	return &d, r.checkValue()
}

// checkValue is an ErrCost where no float64 holds the value.
func (r *Result) checkValue() error {
	if math.IsInf(r.Value.Float(), 0) {
		return fmt.Errorf("%w: the best matching's add up to more than the largest float64", problem.ErrCost)
	}
	return nil
}

// dualsOf are the duals of a solution in the instance's own rows and columns.
func dualsOf(p *problem.Normal, s *engine.Solution) problem.Duals {
	if s.Low != nil { // of a square problem
		exact, _ := s.Joined(p.Finer)
		return problem.Duals{U: exact.U, V: exact.V, Scale: math.Ldexp(p.Unit(), int(p.Finer))}
	}
	if p.Transposed {
		return problem.Duals{U: s.V, V: s.U, Scale: p.Unit()}
	}
	return problem.Duals{U: s.U, V: s.V, Scale: p.Unit()}
}

// totalCost adds the costs of matched pairs up without rounding; of floats, the
// sum is rounded once, to float64.
func totalCost(inst *problem.Instance, column []int32) (value solve.Number, matched int) {
	sum, matched := sumOf(inst, column)
	return formatValue(sum, inst.Type.Integer() && inst.Points == nil), matched
}

// formatValue are those of a sum of integers, or the shortest of the float64 next to a sum of floats.
func formatValue(sum *big.Float, whole bool) solve.Number {
	if whole {
		return solve.Number(sum.Text('f', 0))
	}
	x, _ := sum.Float64()
	return solve.Number(problem.FormatFloat(x, 64))
}

// provenGap is the largest gap of a proven answer, as a part of its value.
const provenGap = 0x1p-50

// setCertificate keeps a certificate and sets Proven by it.
func (r *Result) setCertificate(c *problem.Certificate) {
	r.Certificate = c
	if !r.HasAnswer() {
		r.ProveInfeasible()
	} else {
		r.SetProvenBound(r.leastBound())
	}
	r.Proven = r.Proven && (c.Gap == 0 || !r.Stopped && c.Gap <= provenGap*math.Abs(r.Value.Float()))
}

// leastBound is the value less the gap that the certificate leaves (plus the gap when maximising). It is
// moved by two steps of float64, one for the rounding of Value and one for its own, so that no
// matching is better.
func (r *Result) leastBound() solve.Number {
	if r.Certificate.Gap == 0 {
		return r.Value
	}
	worse, gap := math.Inf(-1), -r.Certificate.Gap
	if r.Maximize {
		worse, gap = -worse, -gap
	}
	return solve.NumberOf(math.Nextafter(math.Nextafter(r.Value.Float(), worse)+gap, worse))
}

// Pairs are the matched pairs as SciPy's linear_sum_assignment gives them: row
// indices, ascending, and their columns.
func (r *Result) Pairs() (rows, cols []int) {
	for i, j := range r.Column {
		if j >= 0 {
			rows, cols = append(rows, i), append(cols, int(j))
		}
	}
	return rows, cols
}

// Cost is the cost of row i's pair in decimals, for matched rows, while the instance is open.
func (r *Result) Cost(i int) string { return r.inst.CostDecimals(i, int(r.Column[i])) }

// RowName is the name of row i, counted from 0, or its number where rows have no names.
func (r *Result) RowName(i int) string { return nameOf(r.RowNames, i) }

// ColName is the name of column j, counted from 0, or its number.
func (r *Result) ColName(j int) string { return nameOf(r.ColNames, j) }

func nameOf(names []string, k int) string {
	if k < len(names) {
		return names[k]
	}
	return strconv.Itoa(k)
}

// String is the matching, a pair a line, and the total.
func (r *Result) String() string {
	var b strings.Builder
	for i, j := range r.Column {
		if j >= 0 {
			fmt.Fprintf(&b, "%s\t%s\n", r.RowName(i), r.ColName(int(j)))
		}
	}
	fmt.Fprintf(&b, "total\t%s\n", r.Value)
	return b.String()
}

// The objectives and the senses as JSON has them.
const (
	worstCost objectiveName = "bottleneck"
	minimize  senseName     = "minimize"
	maximize  senseName     = "maximize"
)

type (
	objectiveName string
	senseName     string
)

// senseOf is the sense of a solve.
func senseOf(maximized bool) senseName {
	if maximized {
		return maximize
	}
	return minimize
}

// A proof is the certificate as JSON has it: of a matching of the least worst cost it is the Hall alone.
type proof struct {
	*problem.Certificate `none:"the value is the worst cost of a pair"`
	*problem.Hall        `none:"the value is the sum of the matched costs"`
}

// proof is the result's certificate, nil where checking was switched off.
func (r *Result) proof() *proof {
	switch {
	case r.Certificate == nil:
		return nil
	case r.Bottleneck && r.Column != nil:
		return &proof{Hall: r.Certificate.Hall}
	}
	return &proof{Certificate: r.Certificate}
}

// stored are the parts of a Result that JSON has as they are.
type stored Result

// A written is the JSON object of a Result.
type written struct {
	*stored
	// bottleneck: the value is the worst cost of a matched pair
	Objective objectiveName `json:"objective,omitempty" none:"the value is the sum of the matched costs"`
	// direction of the objective
	Sense senseName `json:"sense"`
	// findings of the check of the answer
	Certificate *proof `json:"certificate" none:"the check was switched off, or the solve ended before it"`
	// whether the instance has no other matchings than the best
	Complete *bool `json:"complete,omitempty" none:"nobody asked for several"`
}

// written is the result as JSON has it.
func (r *Result) written() written {
	w := written{stored: (*stored)(r), Sense: senseOf(r.Maximize), Certificate: r.proof()}
	if r.Bottleneck {
		w.Objective = worstCost
	}
	if r.Best != nil {
		w.Complete = &r.Complete
	}
	return w
}

// MarshalJSON writes the object of docs/result.schema.json.
func (r *Result) MarshalJSON() ([]byte, error) {
	text, err := json.Marshal(r.written())
	if err != nil {
		return nil, fmt.Errorf("result: %w", err)
	}
	return text, nil
}

// A Summary is the JSON object of a Result without the matching and its duals, which callers have in arrays of their own.
type Summary struct {
	written
	Solution *struct{} `json:"solution,omitempty"`
	Duals    *struct{} `json:"duals,omitempty"`
}

// Summary is the result without its arrays.
func (r *Result) Summary() Summary { return Summary{written: r.written()} }
