package csg

import (
	"errors"
	"testing"

	"coalesce/solvers/solve"
)

func TestLargest(t *testing.T) {
	takes := func(n int) error {
		if n > 30 {
			return errors.New("too many")
		}
		return nil
	}
	if err := withLargest(34, takes); err == nil || err.Error() != "too many: at most 30 agents fit" {
		t.Errorf("34 of 30: found %v", err)
	}
	if err := withLargest(30, takes); err != nil {
		t.Errorf("30 of 30: found %v", err)
	}
	none := errors.New("none")
	if err := withLargest(2, func(int) error { return none }); err != none {
		t.Errorf("none fits: found %v", err)
	}
}

// The time left follows the pace since the solve went on, and leaves out earlier work.
func TestEstimate(t *testing.T) {
	say := describeProgress()
	if got := say(solve.Incumbent{Seconds: 1, Share: 0.5}); got != "50 % done" {
		t.Errorf("at first: found %q", got)
	}
	now := solve.NewIncumbent(11, "5", "7", 0)
	now.Share = 0.75
	if got, want := say(now), "75 % done, about 10s left, 5, the bound is 7, the gap 2"; got != want {
		t.Errorf("found %q, expected %q", got, want)
	}
}
