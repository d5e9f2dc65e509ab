package qubo

import (
	"cmp"
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"time"

	"coalesce/runtime/device"
	"coalesce/solvers/qubo/internal/oddcycle"
	"coalesce/solvers/qubo/internal/semidefinite"
	"coalesce/solvers/qubo/problem"
	"coalesce/solvers/solve"
)

// A BoundKind is a method that gives bounds.
type BoundKind string

// The kinds of bounds.
const (
	BoundCoefficients BoundKind = "coefficients" // sum of absolute coefficients as an Ising model, of what preprocessing left
	BoundExact        BoundKind = "exact"        // every solution was visited, or shown to be no better
	BoundSemidefinite BoundKind = "semidefinite" // certificate.dual proves it
	BoundFrustration  BoundKind = "frustration"  // certificate.frustration proves it
	BoundEquations    BoundKind = "equations"    // the objective is a constant less squares of what equations miss
)

// A bound is a value that no solution beats.
type bound struct {
	objective int64 // of the normal form
	value     problem.Amount
	kind      BoundKind
	visited   bool // every solution of every proven part was visited
}

// objectiveBound is the best bound on objectives that is known; its value is not set.
func (r *run) objectiveBound() bound {
	objective, visited := r.bests.bound()
	switch {
	case r.frustrated != nil && r.frustrated.objective <= objective && (r.dual == nil || r.frustrated.objective <= r.dualBound):
		return bound{objective: r.frustrated.objective, kind: BoundFrustration}
	case r.dual != nil && r.dualBound < objective:
		return bound{objective: r.dualBound, kind: BoundSemidefinite}
	case visited && r.bests.finished():
		return bound{objective: objective, kind: BoundExact, visited: true}
	case r.bests.missed:
		return bound{objective: objective, kind: BoundEquations}
	}
	return bound{objective: objective, kind: BoundCoefficients, visited: visited}
}

// bound is the best bound that is known.
func (r *run) bound() bound {
	b := r.searchBound()
	if s := r.frustrated; s != nil && (b.kind == BoundFrustration || r.inst.Better(b.value, s.value)) {
		b.value, b.kind = s.value, BoundFrustration
	}
	return b
}

// searchBound is the best bound on objectives, as a value.
func (r *run) searchBound() bound {
	b := r.objectiveBound()
	if b.value = r.inst.BoundOf(r.p, b.objective); r.p.Over == 0 {
		return b
	}
	switch {
	case r.bests.isExact():
		b.value, b.kind = r.inst.Bound(r.bests.solution(-1, nil)), BoundExact
	case b.objective == r.bests.total(): // nothing but rounding is between them
		if sum := r.inst.SignBound(); r.inst.Better(b.value, sum) {
			b.value, b.kind = sum, BoundCoefficients
		}
	}
	return b
}

// isMet reports whether the best solution meets the bound.
func (r *run) isMet() bool { return r.objectiveBound().objective <= r.bests.total() }

// Limits of the bound beside a search.
const (
	boundShare  = 0.03    // of the cores' time until the deadline, where a search on the host keeps all of them busy
	boundMemory = 1 << 30 // bytes, unless the user gave another limit
)

// improveBound looks for better bounds while a search runs, until it is stopped. Beside a search that keeps all cores busy it takes its turn for a
// share of the time. Elsewhere it gives way to each goroutine that waits for a core, such as the one that drives a GPU. A bound that the best
// solution meets ends the search.
func (r *run) improveBound() (stop func()) {
	var endSearch context.CancelFunc
	r.searching, endSearch = context.WithCancel(r.ctx)
	o := &r.o
	r.workers = o.Threads
	if !r.mayImproveBound() {
		return endSearch
	}
	r.endSearch = endSearch
	ctx, cancel := context.WithCancel(r.ctx)
	all := runtime.GOMAXPROCS(0)
	facts := o.Devices[0].Facts()
	busy := facts.Kind == device.Host && cmp.Or(o.Threads, facts.SMs, all) >= all
	end := r.deadline
	switch {
	case facts.Kind != device.Host && o.Threads == 0 && all > 3:
		r.workers = all - 2 // one core for the thread that drives the device, and one for the bound
	case busy:
		end = time.Now().Add(time.Duration(boundShare * float64(all) * float64(time.Until(end))))
	}
	pause := func() error {
		if ctx.Err() != nil || time.Now().After(end) {
			return context.Canceled
		}
		if !busy {
			runtime.Gosched()
		}
		return nil
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.improveDual(pause)
		r.proveByCycles(ctx, !busy, pause)
	}()
	return func() {
		cancel()
		<-done
		endSearch()
	}
}

// improveDual looks for better and better semidefinite bounds until pause returns an error.
func (r *run) improveDual(pause func() error) {
	if !r.dualFits() {
		return
	}
	m, err := semidefinite.NewModel(r.p, r.inst.Fixed)
	if err != nil {
		return
	}
	err = m.NewSearch(pause).Run(func(objective int64, dual []float64) error {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.ended {
			return context.Canceled
		}
		r.dual, r.dualBound = dual, objective
		r.progress(r.elapsed(), r.told.history[len(r.told.history)-1].Value)
		r.endIfMet()
		return nil
	})
	if err != nil && !errors.Is(err, context.Canceled) {
		r.o.Logf("no better semidefinite bound: %v", err)
	}
}

// dualFits reports whether there is memory for semidefinite bounds.
func (r *run) dualFits() bool {
	bytes, fits := semidefinite.Fits(r.p)
	return fits && bytes <= r.mostBoundMemory()
}

// mostBoundMemory is the most memory of the work on bounds, in bytes.
func (r *run) mostBoundMemory() int64 {
	if o := &r.o; o.Memory > 0 {
		return o.Memory - r.inst.Memory()
	}
	return boundMemory
}

// mayImproveBound reports whether bounds are looked for beside a search: not where the user asks for a target or limits the work, where several ranks
// share a search, for few variables, or without memory.
func (r *run) mayImproveBound() bool {
	o := &r.o
	return o.Target == nil && o.Work == 0 && o.RankCount() <= 1 && !r.deadline.IsZero() && !slices.Contains(o.Without, boundPart) && r.hasMany() &&
		(r.dualFits() || oddcycle.MayFit(r.inst.N, r.inst.Pairs()))
}

// endIfMet ends the search if the best solution meets a bound that was found beside it, unless several are asked for.
func (r *run) endIfMet() {
	if (r.dual != nil || r.frustrated != nil) && r.isMet() && r.o.Solutions <= 1 {
		r.endSearch()
	}
}

// hasMany reports whether a part that is to be searched has many variables.
func (r *run) hasMany() bool {
	for k, c := range r.bests.red.Parts {
		if !r.bests.part[k].proven && c.Problem.N > problem.FewVariables && c.Exact == nil {
			return true
		}
	}
	return false
}

// prove sets the bound, and whether it is met.
func (r *run) prove(out *Result) {
	b := r.bound()
	if math.IsInf(b.value.Float(), 0) {
		out.Proof = "no bound within the range of float64 is known"
		return
	}
	if out.SetBound(solve.Number(b.value.String())); out.Bound != "" {
		out.BoundKind = b.kind
	}
	switch b.kind {
	case BoundSemidefinite:
		out.Dual = r.dual
	case BoundFrustration:
		if r.o.Certificate {
			out.Frustration = r.frustrated.proof
		}
	}
	met := b.objective <= out.objective
	if met && isGapClosed(&out.Report) {
		out.SetProvenBound(out.Bound)
	}
	switch {
	case !met:
		out.Proof = "the value does not meet the bound"
	case !out.Proven:
		out.Proof = "real coefficients were rounded to integers: the solution is the best for these, and the gap is what rounding may hide"
	case b.kind == BoundSemidefinite:
		out.Proof = "the value meets a semidefinite bound"
	case b.kind == BoundFrustration:
		out.Proof = "the value meets the bound of frustrated sets of edges: " + r.frustrated.reason
	case r.bests.red.VariablesLeft() == 0:
		out.Proof = "every variable is fixed or follows from others"
	case b.visited:
		out.Proof = "every solution of what preprocessing left was visited, or shown to be no better"
	default:
		out.Proof = "the value meets a bound"
	}
}

// A statedProof is the part of a result that proves its bound.
type statedProof struct {
	Exact       bool         `json:"exact"`
	Dual        []float64    `json:"dual"`
	Frustration *Frustration `json:"frustration"`
}

// checkBound holds the stated bound against the instance, where the result carries a proof.
func checkBound(v *solve.Verdict, inst *problem.Instance, p *problem.Normal, fixed map[int]int, kind BoundKind, proof statedProof) {
	if (proof.Dual != nil && kind != BoundSemidefinite) || (proof.Frustration != nil && kind != BoundFrustration) {
		v.Refute("the result has a proof of another kind of bound than its own, %q", kind)
	}
	given := slices.Repeat([]int8{-1}, inst.N)
	for i, value := range fixed {
		given[i] = int8(value)
	}
	switch {
	case kind == BoundSemidefinite:
		checkDual(v, inst, p, given, proof.Dual)
	case kind == BoundFrustration && proof.Frustration != nil:
		checkFrustration(v, inst, given, proof.Frustration)
	default:
		v.NoteUnchecked()
	}
}

// checkDual holds the stated bound against the numbers that prove a semidefinite bound.
func checkDual(v *solve.Verdict, inst *problem.Instance, p *problem.Normal, given []int8, dual []float64) {
	m, err := semidefinite.NewModel(p, given)
	var objective int64
	ok := false
	if err == nil {
		objective, ok, err = m.Prove(dual)
	}
	switch {
	case err != nil:
		v.Note("bound not checked: %v", err)
	case !ok:
		v.Refute("the %d numbers of the certificate prove no bound: expected as many as spins, %d, and no negative eigenvalue of the matrix with them on its diagonal", len(dual), m.N)
	default:
		v.CheckBound(solve.Number(inst.BoundOf(p, objective).String()))
		v.BoundChecked = true
		v.Note("bound: the matrix with %d numbers on its diagonal has no negative eigenvalue", len(dual))
	}
}
