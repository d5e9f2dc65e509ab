package qubo

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"coalesce/runtime/device"
	"coalesce/solvers/algorithms"
	"coalesce/solvers/qubo/internal/host"
	"coalesce/solvers/qubo/internal/preprocess"
	"coalesce/solvers/qubo/internal/search"
	"coalesce/solvers/qubo/internal/stableset"
	"coalesce/solvers/qubo/problem"
	"coalesce/solvers/solve"
)

// A run is one solve under way. Its search finds the best solutions of all parts, and names the variant that ran.
type run struct {
	limits
	inst   *problem.Instance
	o      Options
	start  []uint64 // a solution to begin with; nil: none
	plan   plan
	p      *problem.Normal
	target *int64 // objective of p; nil: none
	out    *Result

	mu      sync.Mutex // guards the fields below, which a running search changes
	ended   bool       // solutions that come now are ignored
	bests   *bestSolutions
	told    solveProgress
	several solutions

	frustrated *frustrationBound // nil: none is known
	dual       []float64         // proof of dualBound; nil: none yet
	dualBound  int64             // objectives are at most that

	searching context.Context // ends when searches are to end: with ctx, or where a bound is met
	endSearch context.CancelFunc
	workers   int // goroutines of a search on the host; 0: its cores
}

// solveProgress is the progress of a solve, from which its incumbents and its result are made.
type solveProgress struct {
	history []Improvement
	met     *float64 // seconds to the target; nil: not met yet
	work    Work
	used    map[string]Rules // of the component that was searched last, the largest
}

// solve searches all parts. Its error says if the search was cut short.
func (r *run) solve() (variant string, err error) {
	if r.p, err = r.inst.Normal(); err != nil {
		return "", err
	}
	late := r.isOverdue
	if r.o.RankCount() > 1 { // all ranks reduce alike
		late = func() bool { return false }
	}
	red := preprocess.Reduce(r.p, r.inst.Fixed, r.o.Unreduced || r.o.Solutions > 1, r.inst.Rows, late)
	if r.loosens(red) {
		if kept := preprocess.ReducePenalties(r.p, r.inst.Fixed, r.inst.Rows, late); 4*red.VariablesLeft() > 3*kept.VariablesLeft() {
			red = kept
		}
	}
	if r.o.Target != nil {
		t := r.p.Objective(*r.o.Target)
		r.target = &t
	}
	r.several = solutions{limit: r.o.Solutions, apart: max(1, r.o.Distance), n: r.inst.N, mirror: r.inst.IsSymmetric()}
	r.o.Logf("%d of %d variables are left in %d components: the others are fixed or follow", red.VariablesLeft(), r.inst.N, len(red.Parts))
	r.setZeros(red)
	if r.solveSurface() {
		if err := r.diversify(); err != nil {
			return "", err
		}
		return "qubo/planar", nil
	}
	stop := sync.OnceFunc(r.improveBound())
	defer stop()
	var lost error // the end of a device
	ended := false // before a part was searched

	for k := len(red.Parts) - 1; k >= 0; k-- { // small ones first
		c, top := red.Parts[k], &r.bests.part[k]
		way, err := r.broadcastWord(r.way())
		if err == nil && way == searching && r.solveEquations(k) {
			variant = "qubo/equations"
			continue
		}
		if err == nil && way == searching && r.isFew(k) && r.solveExactly(k) {
			continue
		}
		switch {
		case err != nil:
			return "", err
		case top.proven:
		case lost != nil:
		case way == over:
			ended = true
		default:
			share := float64(c.Problem.N) / float64(r.bests.openVariables(k))
			if r.o.Solutions > 1 {
				share /= 2 // the other half is for solutions unlike the best
			}
			label, err := r.search(k, share)
			switch {
			case errors.Is(err, device.ErrLost) && label != "" && r.o.RankCount() == 1:
				lost = err
			case err != nil:
				return "", err
			}
			variant = label
		}
	}
	if variant == "" {
		variant, r.plan.reason = "qubo/preprocessing", "nothing was left to search"
		if ended {
			r.plan.reason = "the solve ended before a search began"
		}
	}
	stop()
	if lost != nil {
		return variant, lost
	}
	if err := r.diversify(); err != nil {
		return "", err
	}
	return variant, r.cut()
}

// loosens reports whether a reduction has left pairs that gain in a problem of maximum stable sets, which is then searched as any other.
func (r *run) loosens(red *preprocess.Reduction) bool {
	return !r.o.Unreduced && stableset.Is(r.p) && slices.ContainsFunc(red.Parts, func(c preprocess.Part) bool {
		return c.Problem.N > problem.BranchedVariables && !stableset.Is(c.Problem)
	})
}

// cut is the error of a search that the limits have cut short.
func (r *run) cut() error {
	over := r.endCause()
	if over == nil && r.o.Work == 0 && r.o.Starts.Iterations == 0 { // searches on devices end before a launch that would be late
		over = solve.ErrTimeLimit
	}
	if over == nil || r.bests.finished() || r.reached() || r.isMet() {
		return nil
	}
	return solve.InterruptedError(over)
}

// Best implements solve.Work.
func (r *run) Best(ctx context.Context, variant string) (string, error) {
	if r.bests == nil {
		return "", nil
	}
	r.ascendParts()
	return "the solution is the best so far", r.Certify(ctx, variant)
}

// Ways to go on with a part.
const (
	searching = iota
	over      // to leave the part as it is: no time is left, or the target or the bound is met
)

// way decides how to go on with a part.
func (r *run) way() uint64 {
	if r.isOverdue() || r.reached() || r.searching.Err() != nil {
		return over
	}
	return searching
}

// setZeros sets the best solution of every part to all zeros, or to the part's share of the solution to begin with
// where that is better.
func (r *run) setZeros(red *preprocess.Reduction) {
	r.bests = newBests(red, r.start)
	r.record(r.elapsed())
}

// reached reports whether the target is met.
func (r *run) reached() bool { return r.target != nil && r.bests.total() >= *r.target }

// record adds the total to the history where it is better than before.
func (r *run) record(at time.Duration) {
	v, t := r.bests.total(), &r.told
	amount := r.inst.AmountOf(r.p, v)
	if n := len(t.history); n == 0 || r.inst.Better(amount, t.history[n-1].Value) {
		t.history = append(t.history, Improvement{at.Seconds(), amount})
	} else {
		amount = t.history[n-1].Value
	}
	if r.target != nil && t.met == nil && v >= *r.target {
		s := at.Seconds()
		t.met = &s
	}
	r.progress(at, amount)
}

// progress reports the state of the solve to the user.
func (r *run) progress(at time.Duration, best problem.Amount) {
	if r.o.Progress == nil {
		return
	}
	bound := solve.Number(r.bound().value.String())
	r.o.Progress(solve.NewIncumbent(at.Seconds(), solve.Number(best.String()), bound, r.told.work.Flips))
}

// improve takes a better solution of part k. Where several solutions are asked for, it takes every
// solution: there is one part then.
func (r *run) improve(k int, v int64, x []uint64, at time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return
	}
	top := &r.bests.part[k]
	if r.several.limit > 0 {
		r.several.add(r.bests.total()-top.value+v, r.bests.solution(k, x), at)
	}
	if v > top.value {
		top.value = v
		copy(top.x, x)
		r.record(at)
		r.endIfMet()
	}
}

// search runs the engine on part k for a share of the time and of the work that are left.
func (r *run) search(k int, share float64) (label string, err error) {
	part, top := r.bests.red.Parts[k], &r.bests.part[k]
	p := part.Problem
	e, label, err := r.open(p)
	if err != nil {
		return "", err
	}
	r.o.Logf("%s: %s", label, r.plan.reason)
	goal := part.Bound
	if r.target != nil {
		goal = min(goal, *r.target-(r.bests.total()-top.value))
	}
	before := r.told.work
	o := search.Options{Began: r.began, Deadline: r.deadlineFor(share), Target: &goal, Seed: r.o.Seed, Workers: r.workers, Rules: r.o.Rules}
	if r.start != nil {
		o.Start = r.bests.red.Project(k, r.start)
	}
	if r.o.Work > 0 {
		o.Work = max(1, int64(min(share*float64(max(0, r.o.Work-before.Flips)), 1<<62)))
	}
	o.Progress = func(w Work) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.ended {
			return
		}
		t := &r.told
		t.work = Work{Flips: before.Flips + w.Flips, Restarts: before.Restarts + w.Restarts}
		r.progress(r.elapsed(), t.history[len(t.history)-1].Value)
	}
	if r.o.Solutions > 0 {
		o.Elite = func(v int64, x []uint64) { r.improve(k, v, x, r.elapsed()) }
	}
	if r.o.Exchange != nil && r.o.Work == 0 {
		o.Give, o.Take = r.exchange(k)
	}
	err = r.wait(func() error {
		found := func(v int64, x []uint64, at time.Duration) { r.improve(k, v, x, at) }
		e.Ranks = r.o.Ranks
		did, err := e.Search(r.searching, p, o, found)
		if e.Close != nil {
			err = errors.Join(err, e.Close())
		}
		o.Progress(did)
		return err
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	top.proven = top.value >= part.Bound
	return label, err
}

// open opens an engine for p and returns the names of the engine and of its variant. The engine is
// the plan's, or the one that tuning favours for p. Where it cannot hold p and the user named
// nothing, open takes the host's engine.
func (r *run) open(p *problem.Normal) (e search.OpenedEngine, label string, err error) {
	way, chosen, err := r.chooseEngine(p)
	if err != nil {
		return e, "", err
	}
	e, err = chosen.open(p, r.o.setup())
	name := chosen.name
	if errors.Is(err, search.ErrUnfit) && r.o.Algorithm == "" && r.o.Variant == "" {
		r.plan.reason = err.Error()
		e, err = host.Open(p, r.o.setup())
		name = "host"
	}
	if err != nil {
		return e, "", err
	}
	if err := r.o.Rules.RefusedBy(e.Used); err != nil {
		if e.Close != nil {
			err = errors.Join(err, e.Close())
		}
		return e, "", err
	}
	if r.told.used = e.Used; r.o.Rules.ForSize(p.N) != r.o.Rules {
		r.o.Logf("a component of %d variables has the default tenure, spread or distance: %s is for more", p.N, r.o.Rules)
	}
	label = "qubo/" + name
	if e.Label != "" {
		label += " " + e.Label
		r.plan.reason = e.Reason
	}
	r.plan.reason = algorithms.PrefixReason(ways, way, r.plan.reason)
	return e, label, nil
}

// wait runs a search and waits for its end. A search on the host that goes on after the limit is
// left running, and its later solutions are ignored.
func (r *run) wait(work func() error) error {
	if r.o.Devices[0].Facts().Kind != device.Host || r.o.RankCount() > 1 {
		return work()
	}
	ended, err := r.await(work)
	if !ended {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.ended = true
	}
	return err
}
