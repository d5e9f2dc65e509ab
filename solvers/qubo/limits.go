package qubo

import (
	"context"
	"time"

	"coalesce/solvers/qubo/internal/reference"
	"coalesce/solvers/qubo/problem"
	"coalesce/solvers/solve"
)

// limits are when a solve ends.
type limits struct {
	ctx      context.Context
	began    time.Time
	deadline time.Time // when searches end, so that the solve ends within the limit; zero: no limit
	patience time.Time // when a search that has not ended is left behind; zero: never
}

// limitsOf are the limits of a solve that began at began and may go on until ctx ends. A part
// of the time is set aside for recomputing the value from entries coefficients.
func limitsOf(ctx context.Context, began time.Time, entries int) limits {
	l := limits{ctx: ctx, began: began}
	if end, limited := ctx.Deadline(); limited {
		const longest = 1 << 61               // ns, 73 years: sums of longer times overflow
		limit := min(end.Sub(began), longest) // a search ends so that its value can be recomputed by then
		verify := min(time.Duration(entries/2), limit/2)
		l.deadline = began.Add(limit - limit/100 - verify)
		l.patience = began.Add(limit + limit/50 - verify)
	}
	return l
}

// elapsed is the time since the solve began.
func (l *limits) elapsed() time.Duration { return time.Since(l.began) }

// endCause is the cause that ended searches: the context's cause, or the time limit; nil: none yet.
func (l *limits) endCause() error {
	switch {
	case l.ctx.Err() != nil:
		return context.Cause(l.ctx)
	case !l.deadline.IsZero() && time.Now().After(l.deadline):
		return solve.ErrTimeLimit
	}
	return nil
}

// isOverdue reports whether searches should have ended.
func (l *limits) isOverdue() bool { return l.endCause() != nil }

// deadlineFor is the deadline of a search that gets a share of the time left; zero where there is no
// limit.
func (l *limits) deadlineFor(share float64) time.Time {
	if l.deadline.IsZero() {
		return l.deadline
	}
	return time.Now().Add(time.Duration(share * float64(time.Until(l.deadline))))
}

// canExhaust reports whether a visit of every solution of p takes at most a quarter of the time left, where each takes a
// nanosecond.
func (l *limits) canExhaust(p *problem.Normal) bool {
	if p.N > reference.ExhaustLimit {
		return false
	}
	left := 8 * time.Second
	if !l.deadline.IsZero() {
		left = time.Until(l.deadline)
	}
	return time.Duration(1)<<p.N < left/4
}

// grace is how long searches have to end once the caller's context has.
const grace = 500 * time.Millisecond

// await runs work and waits for it as long as the limit allows, and for grace after the end of the
// context. ended is false where work was left running.
func (l *limits) await(work func() error) (ended bool, err error) {
	done := make(chan error, 1)
	go func() { done <- work() }()
	var patience <-chan time.Time
	if !l.patience.IsZero() {
		patience = time.After(time.Until(l.patience))
	}
	select {
	case err := <-done:
		return true, err
	case <-patience:
		return false, nil
	case <-l.ctx.Done():
	}
	select {
	case err := <-done:
		return true, err
	case <-patience:
	case <-time.After(grace):
	}
	return false, nil
}
