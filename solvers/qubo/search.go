package qubo

import (
	"context"
	"time"
)

// A search looks for good solutions of a problem in normal form until a limit
// is met. It calls found, from one goroutine at a time, on every improvement
// of its best; the values rise. x is the caller's to read during the call only.
//
// A search without an error is one that met a limit, its target, or the end of
// ctx: what it found is what found was told.
type search interface {
	search(ctx context.Context, p *normal, o searchOptions, found func(value int64, x []uint64, at time.Duration)) (work, error)
}

// searchOptions are the limits of a search and where it begins.
type searchOptions struct {
	began    time.Time // `at` counts from here
	deadline time.Time // zero: none
	work     int64     // flips of all searches together; 0: no limit. With it the run depends on the seed alone
	target   *int64    // stop at this objective or above; nil: none
	seed     uint64
	start    []uint64 // one of the first solutions; nil: none
	rules    Rules    // those that the search has; 0: its choice
	workers  int      // goroutines of a host search; 0: all cores

	// elite is told of solutions that enter the pool, good and not all alike,
	// in no order of value; nil: nobody asks. Calls do not overlap.
	elite func(value int64, x []uint64)
	// give and take exchange elites with other searches of the problem: one that
	// enters the pool is given, and take returns one that others gave and this
	// search has not seen, or nil. nil, and with a limit on work: there is nobody.
	give func(x []uint64)
	take func() []uint64
	// progress is told the work done so far a few times a second; nil: nobody asks.
	progress func(work)
}

// work is what a search did.
type work struct {
	Flips    int64 `json:"flips"`    // one-flip moves made
	Restarts int64 `json:"restarts"` // walks begun from a new start
}

// met reports whether objective v ends a search.
func (o searchOptions) met(v int64) bool { return o.target != nil && v >= *o.target }
