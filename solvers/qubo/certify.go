package qubo

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"coalesce/solvers/qubo/problem"
	"coalesce/solvers/solve"
)

// Certify implements solve.Work: the value is recomputed from the instance's own coefficients,
// and what the search said of it is compared, for real coefficients in the
// normal form.
func (r *run) Certify(_ context.Context, variant string) error {
	r.mu.Lock()
	r.ended = true
	r.mu.Unlock()
	red, x := r.bests.red, r.bests.solution(-1, nil)
	inst := r.inst
	value, told := inst.Amount(x), r.bests.total()
	if v := r.p.Value(x); v != told || inst.Int != nil && value != inst.AmountOf(r.p, told) {
		return fmt.Errorf("%w: %s says the objective is %d (value %s), recomputed it is %d (value %s)", problem.ErrCheck, variant, told, inst.AmountOf(r.p, told), v, value)
	}
	if math.IsInf(value.Float(), 0) {
		return fmt.Errorf("%w: the value of the solution that was found is beyond the range of float64", problem.ErrCoefficient)
	}
	r.revalue(value)
	fixed := map[int]int{}
	for i, v := range inst.Fixed {
		if v >= 0 {
			fixed[i] = int(v)
		}
		if v >= 0 && problem.Bit(x, i) != uint64(v) {
			return fmt.Errorf("%w: variable %d is %d, fixed was %d", problem.ErrCheck, i, problem.Bit(x, i), v)
		}
	}
	out := r.out
	out.Algorithm, _, _ = strings.Cut(strings.TrimPrefix(variant, "qubo/"), " ")
	out.Value, out.Variant, out.Reason = solve.Number(value.String()), variant, r.plan.reason
	out.Solution, out.Fixed, out.objective = problem.NewBits(x, inst.N), fixed, told
	out.Met, out.History, out.Used, out.Work = r.told.met, r.told.history, r.told.used, r.told.work
	out.Reduced, out.Parts, out.Exact = red.VariablesLeft(), len(red.Parts), r.p.Exact
	r.prove(out)
	if lost := r.p.Lost; lost > 0 && !out.Proven {
		out.Notes = append(slices.Clip(out.Notes), fmt.Sprintf("coefficients so small beside the others that the search takes them for 0, and the bound does not: %d", lost))
	}
	r.several.add(told, x, r.elapsed())
	for _, s := range r.several.list {
		if v := r.p.Value(s.Bits.Words()); v != s.objective {
			return fmt.Errorf("%w: %s says the objective of a solution is %d, recomputed it is %d", problem.ErrCheck, variant, s.objective, v)
		}
		if s.Value = inst.Amount(s.Bits.Words()); r.p.Over > 0 {
			s.exact = inst.Exact(s.Bits.Words())
		}
		out.Solutions = append(out.Solutions, s)
	}
	if r.p.Over > 0 { // objectives are rounded
		slices.SortStableFunc(out.Solutions, func(a, b Solution) int { return int(r.p.Sense) * b.exact.Cmp(a.exact) })
	}
	if found := len(out.Solutions); found < r.o.Solutions {
		out.Notes = append(slices.Clip(out.Notes), fmt.Sprintf("%d of the %d solutions asked for were found", found, r.o.Solutions))
	}
	return nil
}

// revalue ends the history with the recomputed value, which is better than the reported one where
// coefficients were rounded.
func (r *run) revalue(value problem.Amount) {
	t, at := &r.told, r.elapsed()
	if r.p.Over == 0 || !r.inst.Better(value, t.history[len(t.history)-1].Value) {
		return
	}
	t.history = append(t.history, Improvement{at.Seconds(), value})
	if target := r.o.Target; target != nil && t.met == nil && r.p.Sense*(value.Float()-*target) >= 0 {
		s := at.Seconds()
		t.met = &s
	}
	r.progress(at, value)
}

// proofGap is the largest gap, as a share of a real value, with which the value is proven.
const proofGap = 0x1p-50

// isGapClosed reports whether a report's gap is none, or that of a proven real value.
func isGapClosed(r *solve.Report) bool {
	return r.Gap != nil && *r.Gap <= proofGap*math.Abs(r.Value.Float())
}
