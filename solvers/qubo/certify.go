package qubo

import (
	"fmt"
	"slices"
	"time"

	"coalesce/solvers/qubo/problem"
	"coalesce/solvers/solve"
)

// result verifies: the value is recomputed from the instance's own coefficients,
// and what the search said of it is compared, for real coefficients in the
// normal form.
func (r *run) result(variant string) (*Result, error) {
	start := time.Now()
	r.mu.Lock()
	r.ended = true
	r.mu.Unlock()
	red, x := r.bests.red, r.bests.solution(-1, nil)
	inst := r.inst
	value, told := inst.Amount(x), r.bests.total()
	if inst.Int != nil && value != inst.AmountOf(r.p, told) {
		return nil, fmt.Errorf("%w: %s says the value is %s, recomputed it is %s", ErrCheck, variant, inst.AmountOf(r.p, told), value)
	}
	if inst.Real != nil {
		if v := r.p.Value(x); v != told {
			return nil, fmt.Errorf("%w: %s says the objective is %d, recomputed it is %d", ErrCheck, variant, told, v)
		}
	}
	fixed := map[int]int{}
	for i, v := range inst.Fixed {
		if v >= 0 {
			fixed[i] = int(v)
		}
		if v >= 0 && problem.Bit(x, i) != uint64(v) {
			return nil, fmt.Errorf("%w: variable %d is %d, fixed was %d", ErrCheck, i, problem.Bit(x, i), v)
		}
	}
	out := &Result{Instance: inst.Source, Format: inst.Format, Form: inst.Form, Sense: inst.Sense, N: inst.N, Pairs: inst.Pairs(),
		Value: value, Solution: problem.NewBits(x, inst.N), Target: r.o.Target, Met: r.told.met, History: r.told.history,
		Device: r.o.Where(), Variant: variant, Reason: r.plan.reason, Seed: r.o.Seed, Rules: r.o.Rules, Used: r.told.used, Work: r.told.work,
		Reduced: red.Left(), Parts: len(red.Parts), Exact: r.p.Exact, Fixed: fixed, Notes: inst.Notes, objective: told}
	if lost := r.p.Lost; lost > 0 {
		out.Notes = append(slices.Clip(out.Notes), fmt.Sprintf("coefficients so small beside the others that the search takes them for 0: %d", lost))
	}
	r.prove(out)
	r.several.add(told, x, r.elapsed())
	for _, s := range r.several.list {
		if v := r.p.Value(s.Bits.Words()); v != s.objective {
			return nil, fmt.Errorf("%w: %s says the objective of a solution is %d, recomputed it is %d", ErrCheck, variant, s.objective, v)
		}
		s.Value = inst.Amount(s.Bits.Words())
		out.Solutions = append(out.Solutions, s)
	}
	if found := len(out.Solutions); found < r.o.Solutions {
		out.Notes = append(slices.Clip(out.Notes), fmt.Sprintf("%d of the %d solutions asked for were found", found, r.o.Solutions))
	}
	out.Seconds.Verify = time.Since(start).Seconds()
	out.Seconds.Solve = r.elapsed().Seconds()
	return out, nil
}

// stop marks a result that over, or the time limit, has cut short.
func (r *run) stop(out *Result, over error) {
	if r.bests.finished() || r.reached() {
		return
	}
	if over == nil && r.o.Work == 0 && r.o.Starts.Iterations == 0 { // searches on devices end before a launch that would be late
		over = solve.ErrTimeLimit
	}
	solve.Stop(over, &out.Stopped, &out.Notes, "the solution is the best so far")
}

// prove sets the bound, and whether it is met.
func (r *run) prove(out *Result) {
	bound, visited := r.bests.bound()
	if !r.p.Exact {
		return // of rounded coefficients
	}
	out.Proven = bound == out.objective
	value := r.inst.AmountOf(r.p, bound)
	if out.Proven {
		value = out.Value
	}
	out.Bound = &value
	out.Proven = out.Report().Proven
	switch {
	case !out.Proven:
	case r.bests.red.Left() == 0:
		out.Proof = "every variable is fixed or follows from others"
	case visited:
		out.Proof = "every solution of what preprocessing left was visited"
	default:
		out.Proof = "the value meets a bound"
	}
}
