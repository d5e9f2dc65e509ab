// Package cancel lets a solve end with its context: what is sent to a device goes in pieces, a
// stream launches nothing more, and work that cannot be interrupted, such as a pass over all values
// or a launch on a host, is left running.
package cancel

import (
	"context"
	"time"
)

// Grace is how long WithGrace waits for work after the end of its context.
const Grace = 500 * time.Millisecond

// FewAgents are so few that a pass over the values of all their coalitions takes less than the start of a goroutine for it.
const FewAgents = 10

// WithGrace returns work's error. If work runs on for longer than Grace after the end of ctx, WithGrace
// returns ctx's error, and true: work has been left running.
func WithGrace(ctx context.Context, work func() error) (left bool, err error) {
	done := make(chan error, 1)
	go func() { done <- work() }()
	select {
	case err := <-done:
		return false, err
	case <-ctx.Done():
	}
	select {
	case err := <-done:
		return false, err
	case <-time.After(Grace):
		return true, ctx.Err()
	}
}

// AtOnce returns what work returns, or at the end of ctx that one's error. Work that has been left
// hands what it returns to late, unless that is nil.
func AtOnce[T any](ctx context.Context, work func() (T, error), late func(T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	done, left := make(chan outcome), make(chan struct{})
	go func() {
		value, err := work()
		select {
		case done <- outcome{value, err}:
		case <-left:
			if late != nil {
				late(value, err)
			}
		}
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
		close(left)
		var none T
		return none, ctx.Err()
	}
}
