package solve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"
)

// What ends a context is what an answer's note, and the error without an answer, tell.
func TestEndings(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	caused, end := context.WithCancelCause(t.Context())
	end(errors.New("nobody reads the answer"))
	s := Settings{TimeLimit: time.Nanosecond}
	limited, stop := s.WithTimeLimit(t.Context())
	defer stop()
	<-limited.Done()
	late, over := context.WithTimeout(t.Context(), time.Nanosecond)
	defer over()
	<-late.Done()
	for _, c := range []struct {
		ctx  context.Context
		says string
	}{
		{cancelled, "the solve was interrupted"},
		{caused, "the solve was interrupted"},
		{limited, "the time limit ended the solve"},
		{late, "the time limit ended the solve"},
	} {
		r := Report{Notes: slices.Clip(Notes{"of the instance"})}
		MarkStopped(context.Cause(c.ctx), &r.Stopped, &r.Notes, "the best so far")
		if !r.Stopped || len(r.Notes) != 2 || r.Notes[1] != c.says+": the best so far" {
			t.Errorf("%v: found stopped %t and the notes %q, expected %q", context.Cause(c.ctx), r.Stopped, r.Notes, c.says)
		}
		if err := NoAnswerError(c.ctx); err.Error() != c.says+" before there was an answer" || !errors.Is(err, c.ctx.Err()) {
			t.Errorf("%v: found the error %v", context.Cause(c.ctx), err)
		}
		for _, err := range []error{c.ctx.Err(), context.Cause(c.ctx), fmt.Errorf("solve: %w", c.ctx.Err())} {
			if !IsInterrupted(c.ctx, err) || IsInterrupted(t.Context(), err) {
				t.Errorf("%v is the end of a context that has ended, and of no other", err)
			}
		}
		if IsInterrupted(c.ctx, errors.New("a wrong answer")) || IsInterrupted(c.ctx, nil) {
			t.Errorf("%v: found an end in errors of other kinds", context.Cause(c.ctx))
		}
	}
	if Cause(t.Context()) != context.Canceled || Cause(limited) != ErrTimeLimit {
		t.Errorf("found the causes %v and %v", Cause(t.Context()), Cause(limited))
	}
	var r Report
	if MarkStopped(context.Cause(t.Context()), &r.Stopped, &r.Notes, "the best so far"); r.Stopped || r.Notes != nil {
		t.Errorf("a context that goes on: found stopped %t and the notes %q", r.Stopped, r.Notes)
	}
}
