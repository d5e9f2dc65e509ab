// Package attempt runs one algorithm of a plan on an instance: prices, the dynamic program of a host's
// cores, or kernels. Each gives a structure and the total that it claims, which the caller certifies.
package attempt

import (
	"context"
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
	Claimed    string        // the structure's total by the algorithm, in decimals
	Refuted    string        // what an error of the certificate begins with; empty: nothing
	Solved     problem.Value // type of the integers that were added in place of the instance's values; empty: the values were
	Prices     *price.Result // the proof by prices; nil: another algorithm
	Splittings float64       // that were evaluated
	Sent       int64         // bytes that this process's devices, or its rank, sent to others
	Prepare    float64       // seconds
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

// sharesAfter is when a dynamic program gets a bound, which takes a pass over the values.
const sharesAfter = time.Second

// shareReporter returns a function that reports the finished share of the work since start, and the best structure
// so far, to the progress of the task's settings. After a while without a bound, it has one of the agents' shares.
func (t *Task) shareReporter(start time.Time) func(share float64) {
	tried := t.Instance.N > problem.SharesAgents
	return func(share float64) {
		if t.Settings.Progress == nil {
			return
		}
		if !tried && t.Incumbent.Bound == "" && time.Since(start) > sharesAfter {
			tried = true
			t.Incumbent.Bound = t.Instance.ShareBound()
		}
		now := solve.NewIncumbent(time.Since(start).Seconds(), t.Incumbent.Value, t.Incumbent.Bound, 0)
		now.Share = share
		t.Settings.Progress(now)
	}
}
