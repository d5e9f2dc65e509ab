package solve

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"coalesce/runtime/device"
)

// A count is a toy problem: its solution is 3, its best so far may be 2.
type count struct{ Report }

type counting struct {
	result *count
	open   func(ctx context.Context) error        // the error of Plan
	end    func(ctx context.Context) (int, error) // of the algorithm
	best   int                                    // so far; 0: none
}

func (c *counting) Plan(ctx context.Context) (*count, iter.Seq[Attempt[int]], error) {
	c.result = &count{}
	if err := c.open(ctx); err != nil {
		return c.result, nil, err
	}
	tired := Attempt[int]{"ants", func() (int, error) { return 0, GaveUp("tired") }}
	return c.result, slices.Values([]Attempt[int]{tired, {"bees", func() (int, error) { return c.end(ctx) }}}), nil
}

func (c *counting) Certify(_ context.Context, found int) error {
	switch found {
	case 0:
		c.result.ProveInfeasible()
		return ErrInfeasible
	case 3:
		c.result.Value = "3"
		c.result.SetProvenBound("3")
		return nil
	}
	return errors.New("found a wrong count")
}

func (c *counting) Best(_ context.Context, found int) (string, error) {
	switch best := max(found, c.best); best {
	case 0:
		return "", nil
	case 3:
		return "the count is the best so far", c.Certify(context.Background(), best)
	}
	c.result.Value = "2"
	c.result.SetBound("3")
	return "the count is the best so far", nil
}

// Every way in which a solve can end gives an answer, an error or, of infeasible instances and lost devices, both.
func TestRunEnds(t *testing.T) {
	waits := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	opens := func(context.Context) error { return nil }
	ends := func(found int, err error) func(context.Context) (int, error) {
		return func(ctx context.Context) (int, error) { return found, err }
	}
	late := func(ctx context.Context) (int, error) { return 0, waits(ctx) }
	for _, c := range []struct {
		name      string
		work      counting
		cancelled bool // else the time limit ends the solve
		value     Number
		proven    bool
		stopped   string // the note says so; empty: not stopped
		err       error
	}{
		{"answered", counting{open: opens, end: ends(3, nil)}, false, "3", true, "", nil},
		{"infeasible", counting{open: opens, end: ends(0, nil)}, false, "", true, "", ErrInfeasible},
		{"the limit, with an answer", counting{open: opens, end: late, best: 2}, false, "2", false, "the time limit ended the solve: the count", nil},
		{"the limit, without", counting{open: opens, end: late}, false, "", false, "", context.DeadlineExceeded},
		{"cancelled, with an answer", counting{open: opens, end: late, best: 2}, true, "2", false, "the solve was interrupted: the count", nil},
		{"cancelled, without", counting{open: opens, end: late}, true, "", false, "", context.Canceled},
		{"cancelled, with a proof", counting{open: opens, end: late, best: 3}, true, "3", true, "", nil},
		{"cancelled before an algorithm ran", counting{open: waits, best: 2}, true, "2", false, "the solve was interrupted: the count", nil},
		{"cut by itself", counting{open: opens, end: ends(2, InterruptedError(ErrTimeLimit))}, false, "2", false, "the time limit ended the solve: the count", nil},
		{"lost, with an answer", counting{open: opens, end: ends(0, device.ErrLost), best: 2}, false, "2", false, "", device.ErrLost},
		{"lost, without", counting{open: opens, end: ends(0, device.ErrLost)}, false, "", false, "", device.ErrLost},
		{"refuted", counting{open: opens, end: ends(4, nil), best: 2}, false, "", false, "", errors.New("found a wrong count")},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		s := Settings{TimeLimit: 20 * time.Millisecond}
		if c.cancelled {
			s.TimeLimit = 0
			time.AfterFunc(20*time.Millisecond, cancel)
		}
		r, err := Run(ctx, &s, &c.work)
		cancel()
		if !errors.Is(err, c.err) && (c.err == nil || err == nil || err.Error() != c.err.Error()) {
			t.Errorf("%s: found the error %v, expected %v", c.name, err, c.err)
		}
		if r == nil {
			if c.value != "" || c.proven {
				t.Errorf("%s: found no result", c.name)
			}
			continue
		}
		notes := strings.Join(r.Notes, "; ")
		if r.Value != c.value || r.Proven != c.proven || r.Stopped != (c.stopped != "") || !strings.Contains(notes, c.stopped) || r.CheckClaims() != nil {
			t.Errorf("%s: found %+v", c.name, r.Report)
		}
		if c.err == device.ErrLost && !strings.Contains(notes, "a device was lost: the count is the best so far") {
			t.Errorf("%s: found the notes %q", c.name, notes)
		}
		if c.work.end != nil && !strings.Contains(notes, "ants: tired, after ") {
			t.Errorf("%s: found the notes %q, expected one on the algorithm that gave up", c.name, notes)
		}
		if s := r.Seconds; s.Prepare < 0 || s.Solve < 0 || s.Verify < 0 || s.Prepare+s.Solve+s.Verify > 10 {
			t.Errorf("%s: found the seconds %+v", c.name, s)
		}
	}
}
