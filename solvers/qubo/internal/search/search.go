// Package search holds what all searches share: their contract (Searcher, Options),
// the rules that a user gives them, how an engine is opened and its variant chosen,
// and searches made of others (a team, a problem with rounded coefficients).
package search

import (
	"context"
	"time"

	"coalesce/solvers/qubo/problem"
)

// A Searcher looks for good solutions of a problem in normal form until a limit is met. It calls
// found on every improvement of its best solution, from one goroutine at a time, with rising
// values. The caller may read x during the call only.
//
// A search ends without an error when it meets a limit or its target, or when ctx ends. Its answer
// is the solution with which found was last called.
type Searcher interface {
	Search(ctx context.Context, p *problem.Normal, o Options, found func(value int64, x []uint64, at time.Duration)) (Work, error)
}

// Options are the limits of a search and where it begins.
type Options struct {
	Began    time.Time // `at` counts from here
	Deadline time.Time // zero: none
	Work     int64     // flips of all searches together; 0: no limit. With it the run depends on the seed alone
	Target   *int64    // stop at this objective or above; nil: none
	Seed     uint64
	Start    []uint64 // one of the first solutions; nil: none
	Rules    Rules    // a search ignores rules that it lacks; 0: its default
	Workers  int      // goroutines of a host search; 0: all cores

	// Elite, unless nil, is called with good solutions that enter the pool, in any order of value.
	// Calls do not overlap.
	Elite func(value int64, x []uint64)
	// Give and Take exchange elites with other searches of the problem. Give is called with a
	// solution that enters the pool; Take returns a solution of another search that this one has
	// not seen, or nil. Both are nil where there is no other search, and where a limit on work
	// makes the run depend on the seed alone.
	Give func(x []uint64)
	Take func() []uint64
	// Progress, unless nil, is called with the work done so far a few times a second.
	Progress func(Work)
}

// Work is the work of a search.
type Work struct {
	Flips    int64 `json:"flips"`    // moves that flip one variable
	Restarts int64 `json:"restarts"` // walks begun from a new start
}

// TargetMet reports whether objective v ends a search.
func (o Options) TargetMet(v int64) bool { return o.Target != nil && v >= *o.Target }
