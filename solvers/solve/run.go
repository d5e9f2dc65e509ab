package solve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"coalesce/runtime/device"
)

// An Answer is a pointer to a result that embeds a Report.
type Answer interface {
	comparable
	Head() *Report
}

// Head is the report itself: results that embed it are Answers.
func (r *Report) Head() *Report { return r }

// A Work is the solve of one instance, for Run. R points to the problem's result, F is what the problem's algorithms
// find, its zero value where they find nothing.
type Work[R Answer, F any] interface {
	// Plan checks the instance and the settings. It returns a result with the facts of the instance, and the
	// algorithms to try in turn. A result beside an error that ends the context is one that Best may complete, and
	// beside an error that wraps ErrInfeasible the result itself.
	Plan(ctx context.Context) (R, iter.Seq[Attempt[F]], error)

	// Certify makes found the answer of the result: it recomputes the value from the instance and proves what it can.
	// Its error wraps ErrInfeasible where the result says that there is no solution.
	Certify(ctx context.Context, found F) error

	// Best makes the best solution so far the answer, where the last attempt was ended and left found. The text
	// describes the answer for a note, such as "the matching is the best so far"; empty: there is no answer.
	Best(ctx context.Context, found F) (answer string, err error)
}

// Run solves one instance within the time limit: it plans, runs the attempts in turn until one does not give up, has the answer
// certified, and completes the result's report. Every solve ends by the one rule above IsInterrupted. Seconds.Prepare grows by
// the time of Plan. Seconds.Solve is the time of all attempts, less their additions to Prepare. Seconds.Verify is the time of
// Certify or Best.
func Run[R Answer, F any](ctx context.Context, s *Settings, w Work[R, F]) (R, error) {
	var none R
	var tried Relayed[F]
	began := time.Now()
	ctx, cancel := s.WithTimeLimit(ctx)
	defer cancel()
	r, attempts, err := w.Plan(ctx)
	if r == none {
		return none, err
	}
	planned := time.Now()
	if err == nil {
		tried, err = Relay(attempts)
	}
	solved := time.Now()
	answer, cause, failure := "", cutBy(ctx, err), err
	switch {
	case err == nil:
		err = w.Certify(ctx, tried.Answer)
	case cause != nil || errors.Is(err, device.ErrLost):
		answer, err = w.Best(ctx, tried.Answer)
		switch {
		case err != nil:
			answer = ""
		case cause == nil:
			err = failure
		case answer == "":
			err = NoAnswerError(ctx)
		}
	}
	if err != nil && answer == "" && !errors.Is(err, ErrInfeasible) {
		return none, err
	}
	head := r.Head()
	head.Target = s.Target
	head.Device = cmp.Or(head.Device, s.DeviceNames())
	head.Seconds.Solve = solved.Sub(planned).Seconds() - head.Seconds.Prepare
	head.Seconds.Prepare += planned.Sub(began).Seconds()
	head.Seconds.Verify = time.Since(solved).Seconds()
	if tried.After != "" {
		head.Notes = append(slices.Clip(head.Notes), fmt.Sprintf("%s, after %.2g s", tried.After, tried.Spent.Seconds()))
	}
	switch {
	case answer == "" || head.Proven:
	case cause == nil:
		head.Notes = append(slices.Clip(head.Notes), "a device was lost: "+answer)
	default:
		MarkStopped(cause, &head.Stopped, &head.Notes, answer)
	}
	return r, err
}
