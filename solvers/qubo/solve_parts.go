package qubo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"coalesce/runtime/device"
	"coalesce/solvers/qubo/internal/host"
	"coalesce/solvers/qubo/internal/preprocess"
	"coalesce/solvers/qubo/internal/reference"
	"coalesce/solvers/qubo/internal/search"
	"coalesce/solvers/qubo/problem"
)

// A run is one solve under way.
type run struct {
	ctx    context.Context
	device device.Device
	inst   *problem.Instance
	o      Options
	plan   plan
	began  time.Time
	// deadline is when searches end, so that the limit is met; zero: there is no
	// limit.
	deadline time.Time
	patience time.Time // when a search that has not ended is left behind
	p        *problem.Normal
	red      *preprocess.Reduction
	target   *int64 // objective of p

	mu      sync.Mutex // what a search tells while it runs
	ended   bool       // no more is taken
	best    []int64    // objective of each part's best, of all zeros at first
	bestX   [][]uint64
	proven  []bool
	visited []bool // every solution of the part was
	history []Improvement
	met     *float64
	work    search.Work
	several solutions
	used    map[string]search.Rules // of the component that was searched last, the largest
}

// exhaustible reports whether there is time to visit every solution of p: it
// takes about a nanosecond for each, and for each pair of the variable flipped.
func (r *run) exhaustible(p *problem.Normal) bool {
	if p.N > reference.ExhaustLimit || r.o.Solutions > 1 {
		return false
	}
	left := 4 * time.Second
	if !r.deadline.IsZero() {
		left = time.Until(r.deadline)
	}
	each := 4 + len(p.Col)/max(1, p.N)
	return time.Duration(each<<p.N) < left/8
}

func (r *run) solve() (*Result, error) {
	late := func() bool {
		return r.ctx.Err() != nil || !r.deadline.IsZero() && time.Now().After(r.deadline)
	}
	r.red = preprocess.Reduce(r.p, r.inst.Fixed, r.o.Unreduced || r.o.Solutions > 1, late)
	if r.o.Target != nil {
		t := r.p.Objective(*r.o.Target)
		r.target = &t
	}
	r.several = solutions{most: r.o.Solutions, apart: max(1, r.o.Distance), n: r.inst.N, mirror: r.inst.Mirrored()}
	left := r.red.Left()
	r.o.log("%d of %d variables are left in %d components: the others are fixed or follow", left, r.inst.N, len(r.red.Parts))
	r.begin()
	variant := ""
	for k := len(r.red.Parts) - 1; k >= 0; k-- { // small ones first
		c := r.red.Parts[k]
		switch {
		case r.proven[k]:
		case late() || r.reached():
		case r.exhaustible(c.Problem):
			v, x := reference.Exhaust(c.Problem)
			r.improve(k, v, x, time.Since(r.began))
			r.proven[k], r.visited[k] = true, true
		default:
			share := float64(c.Problem.N) / float64(r.open(k))
			if r.o.Solutions > 1 {
				share /= 2 // the other half is for solutions unlike the best
			}
			label, err := r.search(k, share)
			if err != nil {
				return nil, err
			}
			variant = label
		}
	}
	if variant == "" {
		variant, r.plan.reason = "qubo/preprocessing", "nothing was left to search"
	}
	if err := r.diversify(late); err != nil {
		return nil, err
	}
	return r.result(variant)
}

// begin sets every part's best to all zeros, or to its part of the hint.
func (r *run) begin() {
	parts := len(r.red.Parts)
	r.best, r.bestX = make([]int64, parts), make([][]uint64, parts)
	r.proven, r.visited = make([]bool, parts), make([]bool, parts)
	for k, c := range r.red.Parts {
		r.bestX[k] = make([]uint64, problem.Words(c.Problem.N))
		if r.inst.Hint != nil {
			x := r.red.Project(k, r.inst.Hint)
			if v := c.Problem.Value(x); v > 0 {
				r.best[k] = v
				copy(r.bestX[k], x)
			}
		}
		r.proven[k] = c.Problem.N == 0 || c.Bound == r.best[k]
	}
	r.record(time.Since(r.began))
}

// open is the number of variables of the parts up to k that are not proven.
func (r *run) open(k int) (n int) {
	for l, c := range r.red.Parts[:k+1] {
		if !r.proven[l] {
			n += c.Problem.N
		}
	}
	return max(n, 1)
}

// total is the objective of p that the parts' bests make.
func (r *run) total() int64 {
	sum := r.red.Constant
	for _, v := range r.best {
		sum += v
	}
	return sum
}

// reached reports whether the target is met.
func (r *run) reached() bool { return r.target != nil && r.total() >= *r.target }

// record adds the total to the history where it is better than before.
func (r *run) record(at time.Duration) {
	v := r.total()
	amount := r.inst.AmountOf(r.p, v)
	if n := len(r.history); n == 0 || r.history[n-1].Value != amount {
		r.history = append(r.history, Improvement{at.Seconds(), amount})
	}
	if r.target != nil && r.met == nil && v >= *r.target {
		s := at.Seconds()
		r.met = &s
	}
	if r.o.Progress != nil {
		r.o.Progress(Progress{at.Seconds(), amount, r.work.Flips})
	}
}

// improve takes a better solution of part k.
func (r *run) improve(k int, v int64, x []uint64, at time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return
	}
	if r.several.most > 0 {
		r.collect(k, v, x, at)
	}
	if v > r.best[k] {
		r.best[k] = v
		copy(r.bestX[k], x)
		r.record(at)
	}
}

// collect keeps one of several solutions of the whole: there is one part.
func (r *run) collect(k int, v int64, x []uint64, at time.Duration) {
	parts := append([][]uint64(nil), r.bestX...)
	parts[k] = x
	r.several.add(r.total()-r.best[k]+v, r.red.Restore(parts), at)
}

// search runs the engine on part k for a share of what time and work are left.
func (r *run) search(k int, share float64) (label string, err error) {
	p := r.red.Parts[k].Problem
	e, err := r.plan.engine.open(r.device, p, r.o.setup())
	name := r.plan.engine.name
	if errors.Is(err, search.ErrUnfit) && r.o.Engine == "" && r.o.Variant == "" {
		r.plan.reason = err.Error()
		e, err = host.Open(r.device, p, r.o.setup())
		name = "host"
	}
	if err != nil {
		return "", err
	}
	if err := r.o.Rules.RefusedBy(e.Used); err != nil {
		if e.Close != nil {
			err = errors.Join(err, e.Close())
		}
		return "", err
	}
	if r.used = e.Used; r.o.Rules.Within(p.N) != r.o.Rules {
		r.o.log("a component of %d variables has the default tenure, spread or distance: %s is for more", p.N, r.o.Rules)
	}
	label = "qubo/" + name
	if e.Label != "" {
		label += " " + e.Label
		r.plan.reason = e.Reason
	}
	r.o.log("%s: %s", label, r.plan.reason)
	bound := r.red.Parts[k].Bound
	goal := bound
	if r.target != nil {
		goal = min(goal, *r.target-(r.total()-r.best[k]))
	}
	before := r.work
	o := search.Options{Began: r.began, Deadline: until(r.deadline, share), Target: &goal, Seed: r.o.Seed, Workers: r.workers(), Rules: r.o.Rules}
	if r.inst.Hint != nil {
		o.Start = r.red.Project(k, r.inst.Hint)
	}
	if r.o.Work > 0 {
		o.Work = max(1, int64(share*float64(max(0, r.o.Work-before.Flips))))
	}
	o.Progress = func(w search.Work) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.ended {
			return
		}
		r.work = search.Work{Flips: before.Flips + w.Flips, Restarts: before.Restarts + w.Restarts}
		if r.o.Progress != nil {
			r.o.Progress(Progress{time.Since(r.began).Seconds(), r.history[len(r.history)-1].Value, r.work.Flips})
		}
	}
	if r.o.Solutions > 0 {
		o.Elite = func(v int64, x []uint64) { r.improve(k, v, x, time.Since(r.began)) }
	}
	err = r.await(func() error {
		did, err := e.Searcher.Search(r.ctx, p, o, func(v int64, x []uint64, at time.Duration) { r.improve(k, v, x, at) })
		if e.Close != nil {
			err = errors.Join(err, e.Close())
		}
		o.Progress(did)
		return err
	})
	r.proven[k] = r.best[k] >= bound
	return label, err
}

// await waits for a search; for one on the host that is late, not beyond what
// the limit allows: it ends on its own then, and what it finds is not taken any more.
func (r *run) await(search func() error) error {
	if r.patience.IsZero() || r.device.Facts().Kind != device.Host {
		return search()
	}
	done := make(chan error, 1)
	go func() { done <- search() }()
	patience := time.NewTimer(time.Until(r.patience))
	defer patience.Stop()
	select {
	case err := <-done:
		return err
	case <-patience.C:
		r.mu.Lock()
		defer r.mu.Unlock()
		r.ended = true
		return nil
	}
}

// where names the devices.
func (r *run) where() string {
	names := []string{r.device.Facts().String()}
	for _, d := range r.o.Others {
		names = append(names, d.Facts().String())
	}
	return strings.Join(names, ",")
}

func (r *run) workers() int {
	if r.o.Threads > 0 {
		return r.o.Threads
	}
	if f := r.device.Facts(); f.Kind == device.Host {
		return f.SMs
	}
	return 0
}

// result verifies: the value is recomputed from the instance's own coefficients,
// and what the search said of it is compared, for real coefficients in the
// normal form.
func (r *run) result(variant string) (*Result, error) {
	start := time.Now()
	r.mu.Lock()
	r.ended = true
	r.mu.Unlock()
	x := r.red.Restore(r.bestX)
	inst := r.inst
	value, told := inst.Amount(x), r.total()
	if inst.Int != nil && value != inst.AmountOf(r.p, told) {
		return nil, fmt.Errorf("%w: %s says the value is %s, recomputed it is %s", problem.ErrCheck, variant, inst.AmountOf(r.p, told), value)
	}
	if inst.Real != nil {
		if v := r.p.Value(x); v != told {
			return nil, fmt.Errorf("%w: %s says the objective is %d, recomputed it is %d", problem.ErrCheck, variant, told, v)
		}
	}
	for i, v := range inst.Fixed {
		if v >= 0 && problem.Bit(x, i) != uint64(v) {
			return nil, fmt.Errorf("%w: variable %d is %d, fixed was %d", problem.ErrCheck, i, problem.Bit(x, i), v)
		}
	}
	out := &Result{Instance: inst.Source, Format: inst.Format, Form: inst.Form, Sense: inst.Sense, N: inst.N, Pairs: inst.Pairs(),
		Value: value, Solution: problem.NewBits(x, inst.N), Target: r.o.Target, Met: r.met, History: r.history,
		Device: r.where(), Variant: variant, Reason: r.plan.reason, Seed: r.o.Seed, Rules: r.o.Rules, Used: r.used, Work: r.work,
		Reduced: r.red.Left(), Parts: len(r.red.Parts), Exact: r.p.Exact, Stopped: r.ctx.Err() != nil, Notes: inst.Notes, objective: told}
	r.prove(out)
	r.several.add(told, x, time.Since(r.began))
	for _, s := range r.several.list {
		if v := r.p.Value(s.Bits.Words()); v != s.objective {
			return nil, fmt.Errorf("%w: %s says the objective of a solution is %d, recomputed it is %d", problem.ErrCheck, variant, s.objective, v)
		}
		s.Value = inst.Amount(s.Bits.Words())
		out.Solutions = append(out.Solutions, s)
	}
	if found := len(out.Solutions); found < r.o.Solutions {
		out.Notes = append(slices.Clip(out.Notes), fmt.Sprintf("%d of the %d solutions asked for were found", found, r.o.Solutions))
	}
	out.Seconds.Verify = time.Since(start).Seconds()
	out.Seconds.Solve = time.Since(r.began).Seconds()
	return out, nil
}

// prove sets the bound, and whether it is met.
func (r *run) prove(out *Result) {
	bound, visited := r.red.Constant, true
	for k, c := range r.red.Parts {
		if r.proven[k] {
			bound += r.best[k]
			visited = visited && r.visited[k]
			continue
		}
		bound += c.Bound
	}
	if !r.p.Exact {
		return // of rounded coefficients
	}
	out.Proven = bound == out.objective
	value := r.inst.AmountOf(r.p, bound)
	if out.Proven {
		value = out.Value
	}
	out.Bound = &value
	switch {
	case !out.Proven:
	case r.red.Left() == 0:
		out.Proof = "every variable is fixed or follows from others"
	case visited:
		out.Proof = "every solution of what preprocessing left was visited"
	default:
		out.Proof = "the value meets a bound"
	}
}
