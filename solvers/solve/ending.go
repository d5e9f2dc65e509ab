package solve

import (
	"context"
	"errors"
	"slices"
)

// One rule of ending holds for every solver. The end of a solve's context ends the solve, whether the caller, a signal or
// the time limit ended it. With an answer in hand the solve returns that and no error: MarkStopped marks the answer, and it is
// proven only where its own certificate proves it. Without an answer the solve returns NoAnswerError. Other errors
// are failures, that of a lost device among them, beside which a result may have the best so far.

// IsInterrupted reports whether err comes from the end of ctx, and is not an error of the work itself.
func IsInterrupted(ctx context.Context, err error) bool {
	return err != nil && ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx)))
}

// MarkStopped marks an answer that cause has cut short: stopped becomes true, and a note says what ended the solve and which
// answer it left, such as "the matching is the best so far". A nil cause ended nothing, and MarkStopped changes nothing.
// The cause is mostly context.Cause of a solve's context, whose time limit is part of it (Settings.WithTimeLimit).
func MarkStopped[N ~[]string](cause error, stopped *bool, notes *N, answer string) {
	if cause == nil {
		return
	}
	*stopped = true
	*notes = append(slices.Clip(*notes), ending(cause)+": "+answer)
}

// InterruptedError is the error of an attempt that cause ended before its work was done, and that has left what it found so far. The
// context may go on: another rank may have ended the attempt, or a search before the last of its time was over.
func InterruptedError(cause error) error { return cut{cause} }

type cut struct{ cause error }

func (c cut) Error() string { return ending(c.cause) }

// cutBy returns the cause that ended an attempt which returned err, nil where err has other reasons.
func cutBy(ctx context.Context, err error) error {
	var c cut
	switch {
	case errors.As(err, &c):
		return c.cause
	case IsInterrupted(ctx, err):
		return context.Cause(ctx)
	}
	return nil
}

// Cause is the reason why a solve was cut short: the cause of ctx or, while that goes on, the end of another rank that solves with this one.
func Cause(ctx context.Context) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return context.Canceled
}

// NoAnswerError is the error of a solve that the end of ctx ended before there was an answer. It wraps ctx's error.
func NoAnswerError(ctx context.Context) error {
	return &unanswered{ending(context.Cause(ctx)), ctx.Err()}
}

// ending names the cause that ended a solve.
func ending(cause error) string {
	if errors.Is(cause, ErrTimeLimit) || errors.Is(cause, context.DeadlineExceeded) {
		return "the time limit ended the solve"
	}
	return "the solve was interrupted"
}

// unanswered keeps the context's error, whose text says nothing more.
type unanswered struct {
	how string
	err error
}

func (u *unanswered) Error() string { return u.how + " before there was an answer" }

func (u *unanswered) Unwrap() error { return u.err }
