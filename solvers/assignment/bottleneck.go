package assignment

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"coalesce/solvers/assignment/internal/bottleneck"
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/solve"
)

// A BottleneckResult is a matching whose most expensive pair is as cheap as possible. Where the
// instance maximises, its cheapest pair is as expensive as possible.
type BottleneckResult struct {
	solve.Report         // Value is the cost of the worst pair, empty where no full matching exists or the instance has no rows
	Column       []int32 // of each row, -1 where it is unmatched; nil: no full matching exists
	Row          int     // the row of the worst pair; -1: no pair
	Hall         *Hall   // proof of Value: members that have too few partners at a smaller cost; nil: no pairs

	inst *problem.Instance
}

// SolveBottleneck finds a matching whose worst pair is the best that can be (Gross 1959;
// Burkard, Dell'Amico and Martello 2009, section 6.2), on this machine's processor, and
// checks it: CheckBottleneck says how. Costs are compared and never added, so that the
// answer is exact for floats too. Of o it takes TimeLimit alone.
//
// An instance without a full matching is an InfeasibleError, and the result carries the
// proof. A limit is an error. ctx and the time limit end it without an answer.
func SolveBottleneck(ctx context.Context, inst *problem.Instance, o Options) (*BottleneckResult, error) {
	if err := o.Check(); err != nil {
		return nil, fmt.Errorf("bottleneck assignment: %w", err)
	}
	ctx, cancel := o.Limited(ctx)
	defer cancel()
	clock := time.Now()
	p, err := problem.Normalise(inst)
	if err == nil && inst.Every && inst.Type == problem.Int64 && slices.ContainsFunc(inst.I64, func(x int64) bool { return x == math.MaxInt64 || x == math.MinInt64 }) {
		err = fmt.Errorf("%w: found the least or the largest number of 64 bits, which the search for the worst pair has no room for", ErrCost)
	}
	if err == nil && inst.Limit != nil {
		err = solve.Input("Limit", "found %v, expected none: a limit is for sums of costs, and not for the worst of them", *inst.Limit)
	}
	if err != nil {
		return nil, fmt.Errorf("bottleneck assignment: %w", err)
	}
	r := &BottleneckResult{Row: -1, inst: inst, Report: solve.Report{Problem: "assignment", Instance: inst.Source, Notes: inst.Notes,
		Size: map[string]int{"rows": inst.Rows, "columns": inst.Cols}, Device: "host", Algorithm: "bottleneck",
		Variant: "assignment/bottleneck", Reason: "the method for the worst pair"}}
	r.Seconds.Prepare = time.Since(clock).Seconds()
	clock = time.Now()
	s, err := bottleneck.Solve(ctx, p.Instance)
	if solve.Ended(ctx, err) {
		err = solve.Unanswered(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("bottleneck assignment: %w", err)
	}
	r.Seconds.Solve = time.Since(clock).Seconds()
	clock = time.Now()
	if s.Column == nil {
		h, err := problem.CheckHall(inst, s.Rows)
		if err != nil {
			return nil, fmt.Errorf("bottleneck assignment: %w", err)
		}
		r.Hall = &h
		r.ProveInfeasible()
		return r, &problem.InfeasibleError{Hall: h}
	}
	r.Column = s.Column
	if p.Transposed {
		r.Column = slices.Repeat([]int32{-1}, inst.Rows)
		for j, i := range s.Column {
			r.Column[i] = int32(j)
		}
	}
	if len(s.Column) > 0 {
		h, row, err := CheckBottleneck(inst, r.Column, s.Rows)
		if err != nil {
			return nil, fmt.Errorf("bottleneck assignment: %w", err)
		}
		r.Hall, r.Row = &h, row
		r.Value = solve.Number(inst.Exact(row, int(r.Column[row])))
		r.Prove(r.Value)
	}
	r.Seconds.Verify = time.Since(clock).Seconds()
	return r, nil
}

// CheckBottleneck checks a full matching of an instance with pairs against the instance's own
// costs. members are rows, or columns where there are fewer of these, that prove the matching best
// (Hall 1935): together they have fewer partners at costs better than the matching's worst than
// there are members, so that every matching has a pair that is as bad. It returns the proof and the
// row of the worst pair. Errors wrap ErrCheck.
func CheckBottleneck(inst *Instance, column []int32, members []int32) (Hall, int, error) {
	if err := inst.Check(); err != nil {
		return Hall{}, -1, err
	}
	if err := matching(inst, column); err != nil {
		return Hall{}, -1, fmt.Errorf("%w: %w", ErrCheck, err)
	}
	worst := -1
	for i, j := range column {
		if j >= 0 && (worst < 0 || better(inst, worst, int(column[worst]), i, int(j))) {
			worst = i
		}
	}
	if worst < 0 {
		return Hall{}, -1, fmt.Errorf("%w: found no pairs", ErrCheck)
	}
	at := int(column[worst])
	h, err := problem.CheckPartners(inst, members, func(i, j int) bool {
		return inst.Allowed(i, j) && better(inst, i, j, worst, at)
	})
	return h, worst, err
}

// better reports whether an allowed pair (i, j) is better than the allowed pair (k, l).
func better(inst *Instance, i, j, k, l int) bool {
	if inst.Maximize {
		i, j, k, l = k, l, i, j
	}
	if inst.Points != nil {
		return inst.Points.Cost(i, j) < inst.Points.Cost(k, l)
	}
	a, b := inst.Find(i, j), inst.Find(k, l)
	switch inst.Type {
	case problem.Int32:
		return inst.I32[a] < inst.I32[b]
	case problem.Int64:
		return inst.I64[a] < inst.I64[b]
	case problem.Float32:
		return inst.F32[a] < inst.F32[b]
	}
	return inst.F64[a] < inst.F64[b]
}

// MarshalJSON writes the report of every problem with the matching and its proof.
func (r *BottleneckResult) MarshalJSON() ([]byte, error) {
	text, err := json.Marshal(struct {
		solve.Report
		Objective   string        `json:"objective"`
		Sense       string        `json:"sense"`
		Solution    []int32       `json:"solution"`
		RowNames    []string      `json:"row_names,omitempty"`
		ColNames    []string      `json:"col_names,omitempty"`
		Type        problem.Value `json:"type"`
		Certificate *Hall         `json:"certificate"`
	}{r.Report, "bottleneck", senseOf(r.inst.Maximize), r.Column, r.inst.RowNames, r.inst.ColNames, r.inst.Type, r.Hall})
	if err != nil {
		return nil, fmt.Errorf("result: %w", err)
	}
	return text, nil
}
