// Package attempt runs one algorithm of a plan on an instance: prices, the dynamic program of a host's
// cores, or kernels. Each gives a structure and the total that it claims, which the caller certifies.
package attempt

import (
	"context"
	"sync/atomic"
	"time"

	"coalesce/runtime/device"
	"coalesce/solvers/csg/internal/price"
	"coalesce/solvers/csg/internal/reference"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// An Algorithm solves a task. The outcome is kept with an error too: what ran, and for how long.
// Errors of an algorithm that met a bound on its work wrap solve.ErrGaveUp.
type Algorithm interface {
	Solve(ctx context.Context, t *Task, out *Outcome) error
}

// EmptyInstance is the algorithm of no agents.
type EmptyInstance struct{}

// Solve implements Algorithm.
func (EmptyInstance) Solve(_ context.Context, _ *Task, out *Outcome) error {
	out.Structure, out.Claimed, out.Reason = problem.Structure{}, "0", "no agents, nothing to solve"
	return nil
}

// A Task is an instance, and how it is to be solved.
type Task struct {
	Instance  *problem.Instance
	Settings  *solve.Settings
	Facts     device.Facts       // of the weakest device
	Incumbent *problem.Incumbent // gets what algorithms find on their way

	passed atomic.Pointer[solve.Number] // the bound of BoundBeside; nil: there is none yet
}

// PassDelays are when a pass over the values of n agents begins beside an algorithm, and how long the end of a solve waits for it: after a second
// where it takes a second or less, and the end needs none.
func PassDelays(n int) (after, wait time.Duration) {
	if n <= problem.PassAgents {
		return time.Second, 0
	}
	return 0, 500 * time.Millisecond
}

// BoundBeside makes the bound of a pass over the values beside an algorithm, by these delays. The caller calls the returned function once the algorithm
// has ended, which waits if ctx has ended too, and gives the incumbent its bound.
func (t *Task) BoundBeside(ctx context.Context, after, wait time.Duration) (finish func()) {
	if t.Incumbent.Bound != "" || !t.Instance.HoldsValues() {
		return func() {}
	}
	passing, end := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-time.After(after):
		case <-passing.Done():
			return
		}
		if bound := t.Instance.PassBound(passing); bound != "" {
			t.passed.Store(&bound)
		}
	}()
	return func() {
		if ctx.Err() != nil {
			select {
			case <-done:
			case <-time.After(wait):
			}
		}
		end()
		<-done
		if bound := t.passed.Load(); bound != nil {
			t.Incumbent.Offer(nil, *bound)
		}
	}
}

// Met reports whether the incumbent is worth the target of the settings.
func (t *Task) Met() bool {
	target, value := t.Settings.Target, t.Incumbent.Value
	return target != nil && value != "" && value.Float() >= *target
}

// An Outcome is what an algorithm found, and how.
type Outcome struct {
	Algorithm  reference.Method // that the caller named, or that was run in its place
	Infeasible bool             // no structure is allowed; there is none here
	Met        bool             // the incumbent, which is worth the target, ended the solve; there is no structure here
	Variant    string           // that ran, with its family
	Reason     string           // why the variant was chosen, or what was done
	Structure  problem.Structure
	Claimed    string              // the structure's total by the algorithm, in decimals
	Refuted    string              // what an error of the certificate begins with; empty: nothing
	Solved     problem.Value       // type of the integers that were added in place of the instance's values; empty: the values were
	Prices     *price.Result       // the proof by prices; nil: another algorithm
	BlockPrice *problem.BlockPrice // at which the prices prove it; nil: blocks cost nothing
	Splittings float64             // that were evaluated
	Sent       int64               // bytes that this process's devices, or its rank, sent to others
	Prepare    float64             // seconds
	Notes      []string
}

// setClaim keeps the total that a solver claims of the integers that it added up in place of the instance's values.
func (out *Outcome) setClaim(as *problem.Recast, claimed string) {
	out.Claimed = as.Total(claimed)
	if as.Changed() {
		out.Solved = as.Type
		out.Notes = append(out.Notes, "solved in "+as.Reason())
	}
}

// shareReporter returns a function that reports the finished share of the work since start, and the best structure
// so far, to the progress of the task's settings, with the bound of BoundBeside where there is no other.
func (t *Task) shareReporter(start time.Time) func(share float64) {
	return func(share float64) {
		if t.Settings.Progress == nil {
			return
		}
		bound := t.Incumbent.Bound
		if passed := t.passed.Load(); passed != nil && bound == "" {
			bound = *passed
		}
		now := solve.NewIncumbent(time.Since(start).Seconds(), t.Incumbent.Value, bound, 0)
		now.Share = share
		t.Settings.Progress(now)
	}
}
