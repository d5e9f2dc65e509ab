package search

import (
	"context"
	"fmt"
	"math"

	"coalesce/autotune/tuned"
	"coalesce/runtime/device"
	"coalesce/solvers/qubo/problem"
)

// Until returns a context that ends with ctx or at the deadline, and calls halt when it ends, which
// stops what runs on devices. end ends the context. finish ends it too, waits for halt and returns
// its error.
func (o Options) Until(ctx context.Context, halt func() error) (stop context.Context, end func(), finish func() error) {
	if o.Deadline.IsZero() {
		stop, end = context.WithCancel(ctx)
	} else {
		stop, end = context.WithDeadline(ctx, o.Deadline)
	}
	halted := make(chan error, 1)
	context.AfterFunc(stop, func() { halted <- halt() })
	return stop, end, func() error {
		end()
		return <-halted
	}
}

// Continues reports whether a search makes another round: the context of Until goes on, the best
// value is below the target, and so much work is below the limit.
func (o Options) Continues(stop context.Context, best, work int64) bool {
	return stop.Err() == nil && !o.TargetMet(best) && (o.Work == 0 || work < o.Work)
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
	if _, err := o.First(); err != nil {
		return nil, c, err
	}
	q = p
	if p.Roundable() { // coefficients are rounded already: fewer bits, which the fast types hold
		q = p.Coarse(Int32Deltas)
	}
	c, err = choose(o.Weakest(), q, o)
	for _, limit := range limits {
		if err != nil && p.Spans().Delta > limit {
			q = p.Coarse(limit)
			c, err = choose(o.Weakest(), q, o)
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
