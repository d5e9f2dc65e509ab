// Package search holds what all searches share: their contract (Searcher, Options),
// the rules that a user gives them, how an engine is opened and its variant chosen,
// and searches made of others (a team, a problem with rounded coefficients).
package search

import (
	"context"
	"time"

	"coalesce/solvers/qubo/problem"
)

// A Searcher looks for good solutions of a problem in normal form until a limit
// is met. It calls found, from one goroutine at a time, on every improvement
// of its best; the values rise. x is the caller's to read during the call only.
//
// A search without an error is one that met a limit, its target, or the end of
// ctx: what it found is what found was told.
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
	Rules    Rules    // those that the search has; 0: its choice
	Workers  int      // goroutines of a host search; 0: all cores

	// Elite is told of solutions that enter the pool, good and not all alike,
	// in any order of value; nil: none is asked for. Calls do not overlap.
	Elite func(value int64, x []uint64)
	// Give and take exchange elites with other searches of the problem: one that
	// enters the pool is given, and take returns one that others gave and this
	// search has not seen, or nil. Both are nil where there are no other searches, and
	// with a limit on work.
	Give func(x []uint64)
	Take func() []uint64
	// Progress is told the work done so far a few times a second; nil: it is not asked for.
	Progress func(Work)
}

// Work is what a search did.
type Work struct {
	Flips    int64 `json:"flips"`    // one-flip moves made
	Restarts int64 `json:"restarts"` // walks begun from a new start
}

// Met reports whether objective v ends a search.
func (o Options) Met(v int64) bool { return o.Target != nil && v >= *o.Target }
