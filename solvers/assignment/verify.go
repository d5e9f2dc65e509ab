package assignment

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"coalesce/solvers/assignment/internal/formats"
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/solve"
)

// Verify holds a result, the JSON object that MarshalJSON writes, against an instance:
// each row has at most one column, of its own and allowed to it, as many are matched
// as there have to be, and the costs add up to the stated value. Duals, those of the
// result or the text of a file as ReadDuals takes it (nil: none), are held against
// every cost (Check), with the unit that the result's certificate states: they prove
// the bound. That no full matching exists is proven by the result's certificate
// (CheckHall). Errors are those of objects that cannot be read.
func Verify(inst *Instance, result, duals []byte) (*solve.Verdict, error) {
	var x readBack
	if err := json.Unmarshal(result, &x); err != nil {
		return nil, fmt.Errorf("result: %w", err)
	}
	v, err := solve.NewVerdict("assignment", &x.Report)
	if err != nil {
		return nil, err
	}
	if err := inst.Check(); err != nil {
		return nil, err
	}
	if !v.SameSize(map[string]int{"rows": inst.Rows, "columns": inst.Cols}) {
		return v, nil
	}
	sense := solve.Same(v, "sense", x.Sense, senseOf(inst.Maximize), " (--maximize says so)")
	same := solve.Same(v, "type", x.Type, inst.Type, "")
	if !slices.Equal(x.RowNames, inst.RowNames) || !slices.Equal(x.ColNames, inst.ColNames) {
		v.Refute("the names of rows or columns differ from the instance's")
	}
	if !sense || !same {
		return v, nil
	}
	if x.Solution == nil {
		x.infeasible(inst, v)
		return v, nil
	}
	if err := matching(inst, x.Solution); err != nil {
		v.Refute("%w", err)
		return v, nil
	}
	exact, value, matched := total(inst, x.Solution)
	v.Note("feasible: a matching of %d allowed pairs", matched)
	solve.Same(v, "number of matched pairs", x.Matched, matched, "")
	v.Recomputed(solve.Number(exact), inst.Maximize)
	if x.Certificate == nil {
		if x.Proven || duals != nil {
			v.Refute("the result has no certificate: nothing is proven, and duals have no unit")
		}
		v.Unchecked()
		return v, nil
	}
	if duals == nil {
		duals = x.Duals
	}
	if duals == nil {
		if c := x.Certificate; c.Primal != c.Dual || c.Exact != (c.Gap == 0) {
			v.Refute("the certificate contradicts itself: costs of %s and duals of %s units, exact %t, gap %v", c.Primal, c.Dual, c.Exact, c.Gap)
		}
		v.Certified((&Result{Exact: exact, Value: value, Maximize: inst.Maximize, Certificate: x.Certificate}).bound())
		v.Unchecked()
		return v, nil
	}
	d, err := formats.ParseDuals(duals, "the duals", inst, x.Certificate.Scale)
	if err != nil && !errors.Is(err, ErrCheck) {
		return nil, err
	}
	var c Certificate
	if err == nil {
		c, err = problem.Check(inst, x.Solution, *d)
	}
	if err != nil {
		v.Refute("the duals are no proof: %w", err)
		return v, nil
	}
	if c.By = x.Certificate.By; c != *x.Certificate {
		v.Refute("the certificate differs from that of the duals, which leave a gap of %v with %d costs rounded", c.Gap, c.Rounded)
	}
	v.Certified((&Result{Exact: exact, Value: value, Maximize: inst.Maximize, Certificate: &c}).bound())
	v.BoundChecked = true
	v.Note("bound: proof carried: duals that bound %d costs add up to that of the matching, %s units of %v", c.Pairs, c.Dual, 1/c.Scale)
	return v, nil
}

// readBack is a result as it was printed.
type readBack struct {
	solve.Report
	Sense       string               `json:"sense"`
	Solution    []int32              `json:"solution"`
	Matched     int                  `json:"matched"`
	RowNames    []string             `json:"row_names"`
	ColNames    []string             `json:"col_names"`
	Duals       json.RawMessage      `json:"duals"`
	Type        problem.Value        `json:"type"`
	Certificate *problem.Certificate `json:"certificate"`
}

// infeasible checks the proof that no full matching exists.
func (x *readBack) infeasible(inst *Instance, v *solve.Verdict) {
	if !x.Proven || x.Value != "" || x.Certificate == nil || x.Certificate.Hall == nil || inst.Limit != nil {
		v.Refute("the result has no solution, and no proof that none is feasible")
		return
	}
	members := make([]int32, len(x.Certificate.Hall.Members))
	for k, member := range x.Certificate.Hall.Members {
		members[k] = int32(max(-1, min(member, MaxSide)))
	}
	h, err := problem.CheckHall(inst, members)
	if err != nil {
		v.Refute("%w", err)
		return
	}
	if stated := x.Certificate.Hall; stated.Side != h.Side || !slices.Equal(stated.Members, h.Members) || !slices.Equal(stated.Partners, h.Partners) {
		v.Refute("the proof names other %s or partners than the instance: %w", h.Side, &problem.InfeasibleError{Hall: h})
		return
	}
	v.BoundChecked = true
	v.Note("proof carried: %v", &problem.InfeasibleError{Hall: h})
}

// matching checks the columns of all rows, -1 where one is unmatched.
func matching(inst *Instance, column []int32) error {
	if len(column) != inst.Rows {
		return fmt.Errorf("found %d columns, one a row, expected %d", len(column), inst.Rows)
	}
	taken, matched := make([]bool, inst.Cols), 0
	for i, j := range column {
		switch {
		case j == -1:
			continue
		case j < 0 || int(j) >= inst.Cols:
			return fmt.Errorf("row %d: found column %d, expected one below %d", i, j, inst.Cols)
		case taken[j]:
			return fmt.Errorf("column %d: found two rows matched to it, the second is %d", j, i)
		case !inst.Allowed(i, int(j)):
			return fmt.Errorf("row %d: found it matched to column %d, which is forbidden to it", i, j)
		}
		taken[j] = true
		matched++
	}
	if full := min(inst.Rows, inst.Cols); inst.Limit == nil && matched != full {
		return fmt.Errorf("found %d matched pairs, expected %d (--limit leaves rows unmatched)", matched, full)
	}
	return nil
}

// senseOf is what the JSON object calls the sense.
func senseOf(maximize bool) string {
	if maximize {
		return "maximize"
	}
	return "minimize"
}
