package search

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"coalesce/autotune/tuned"
	"coalesce/runtime/device"
	"coalesce/solvers/qubo/problem"
)

// Rounds is a search under way that makes one round after the other: the loop that all searches share. The
// method of a search makes the rounds, adds to Did and Spent, and reports solutions with Improve.
type Rounds struct {
	Options
	Best int64    // value of X
	X    []uint64 // the best solution; nil: none yet
	Did  Work     // so far
	// Spent is the part of Options.Work that is used up.
	Spent int64
	// Number counts rounds from 0, and again from 0 after a restart.
	Number int64
	Stagnation

	found func(value int64, x []uint64, at time.Duration)
	stop  context.Context // ends with the caller's, at the deadline and by End
	end   context.CancelFunc
}

// A Method makes the rounds of a search.
type Method struct {
	Round func() error
	// Halt ends a round under way; it is called from another goroutine when the search is to end. Nil:
	// rounds look at the clock themselves.
	Halt func() error
	// Restart begins anew after about so many rounds as Patience without a better value; nil: never.
	Restart  func() error
	Patience int
	// Take receives a solution of another search before a round; nil: the method takes none.
	Take func(x []uint64) error
}

// progressEvery is the least time between two calls of Options.Progress.
const progressEvery = 250 * time.Millisecond

// NewRounds begins a search, whose solutions found receives; found may be nil. The caller calls End after the search.
func (o Options) NewRounds(ctx context.Context, found func(int64, []uint64, time.Duration)) *Rounds {
	r := &Rounds{Options: o, found: found}
	if o.Deadline.IsZero() {
		r.stop, r.end = context.WithCancel(ctx)
	} else {
		r.stop, r.end = context.WithDeadline(ctx, o.Deadline)
	}
	r.Stagnation.Reset()
	return r
}

// End ends the search, after the round under way.
func (r *Rounds) End() { r.end() }

// Improve reports a solution if it is better than the best.
func (r *Rounds) Improve(value int64, x []uint64) (better bool) {
	if r.X != nil && value <= r.Best {
		return false
	}
	r.Best, r.X = value, append(r.X[:0], x...)
	if r.found != nil {
		r.found(value, x, time.Since(r.Began))
	}
	return true
}

// Done reports whether the search is to end. Timers alone can be late where goroutines compute without a pause.
func (r *Rounds) Done() bool {
	return r.stop.Err() != nil || r.X != nil && r.TargetMet(r.Best) || r.Work > 0 && r.Spent >= r.Work ||
		!r.Deadline.IsZero() && !time.Now().Before(r.Deadline)
}

// Run makes rounds until the search is over. It returns the work done, and the errors of the method joined.
func (r *Rounds) Run(m Method) (did Work, err error) {
	defer r.end()
	if m.Halt != nil {
		halted := make(chan error, 1)
		context.AfterFunc(r.stop, func() { halted <- m.Halt() })
		defer func() {
			r.end()
			err = errors.Join(err, <-halted)
		}()
	}
	var shown time.Time
	for ; !r.Done(); r.Number++ {
		if m.Restart != nil && r.RestartDue(m.Patience) {
			r.Restarts++
			if err := m.Restart(); err != nil {
				return r.Did, err
			}
			r.Stagnation.Reset()
			r.Number = 0
			if r.stop.Err() != nil {
				break // the restart may have undone what halted the rounds
			}
		}
		if m.Take != nil && r.Take != nil {
			if x := r.Take(); x != nil {
				if err := m.Take(x); err != nil {
					return r.Did, err
				}
			}
		}
		if err := m.Round(); err != nil {
			return r.Did, err
		}
		if r.Progress != nil && time.Since(shown) > progressEvery {
			shown = time.Now()
			r.Progress(r.Did)
		}
	}
	return r.Did, nil
}

// Stagnation counts the rounds of a search since it found its best value, from the last restart on.
type Stagnation struct {
	Restarts int
	best     int64
	idle     int // rounds since best was found
}

// Reset forgets the best value and the rounds.
func (s *Stagnation) Reset() { s.best, s.idle = math.MinInt64, 0 }

// EndRound counts a round with the best value that it ended with.
func (s *Stagnation) EndRound(value int64) {
	s.idle++
	if value > s.best {
		s.best, s.idle = value, 0
	}
}

// RestartDue reports whether a search should restart: after limit rounds without a better value, and
// half as many more for each restart before.
func (s *Stagnation) RestartDue(limit int) bool {
	return limit != Never && s.idle > limit+limit/2*s.Restarts
}

// ChooseRounding picks a variant by choose for a problem, or for a copy whose coefficients are
// rounded: a Roundable problem to Int32Deltas, and others to the first of the limits with which a
// variant holds it. q is p or the copy. The error wraps ErrUnfit where no variant holds any of them.
func ChooseRounding(p *problem.Normal, o Setup, choose func(device.Facts, *problem.Normal, Setup) (tuned.Choice, error), limits ...int64) (q *problem.Normal, c tuned.Choice, err error) {
	if _, err := o.LeadDevice(); err != nil {
		return nil, c, err
	}
	q = p
	if p.IsRoundable() { // coefficients are rounded already: fewer bits, which the fast types hold
		q = p.Coarsened(Int32Deltas)
	}
	c, err = choose(o.WeakestFacts(), q, o)
	for _, limit := range limits {
		if err != nil && p.Spans().Delta > limit {
			q = p.Coarsened(limit)
			c, err = choose(o.WeakestFacts(), q, o)
		}
	}
	if err != nil {
		return nil, c, fmt.Errorf("%w: %w", ErrUnfit, err)
	}
	return q, c, nil
}

// For makes an engine that was opened for q search p, of which q may be a rounded copy.
func (e OpenedEngine) For(p, q *problem.Normal) OpenedEngine {
	if q != p {
		e.Reason += "; its coefficients are rounded"
		for k, s := range e.Members {
			e.Members[k] = Rounded{Inner: s, Problem: q}
		}
	}
	return e
}
