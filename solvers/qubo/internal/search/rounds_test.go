package search

import (
	"context"
	"errors"
	"testing"
	"time"
)

// A search restarts after so many rounds without a better value, and later each time.
func TestStagnation(t *testing.T) {
	var s Stagnation
	s.Reset()
	s.EndRound(-7) // any value is better than none
	due := func() (rounds int) {
		for !s.RestartDue(4) {
			s.EndRound(-7)
			rounds++
		}
		return rounds
	}
	if got := due(); got != 5 {
		t.Errorf("the first restart is due after %d idle rounds, expected 5", got)
	}
	s.EndRound(-6)
	if s.RestartDue(4) {
		t.Error("a restart is due after a better value")
	}
	for restart, want := range []int{8, 10} { // a first round that finds a value, and idle ones
		s.Reset()
		s.Restarts++
		if got := due(); got != want {
			t.Errorf("restart %d is due after %d rounds, expected %d", restart+2, got, want)
		}
	}
	if s.RestartDue(Never) {
		t.Error("a search that never restarts restarts")
	}
}

// The context of a search ends with its deadline or its own end, and halt's error arrives once it has run.
func TestUntil(t *testing.T) {
	broken := errors.New("broken")
	for name, o := range map[string]Options{"end": {}, "deadline": {Deadline: time.Now()}, "later": {Deadline: time.Now().Add(time.Hour)}} {
		stop, end, finish := o.Until(context.Background(), func() error { return broken })
		if name == "deadline" {
			<-stop.Done()
		} else if !o.Continues(stop, 0, 0) {
			t.Errorf("%s: ended at once", name)
		}
		if name == "end" {
			end()
		}
		if err := finish(); err != broken {
			t.Errorf("%s: halt gave %v", name, err)
		}
		if o.Continues(stop, 0, 0) {
			t.Errorf("%s: goes on after its end", name)
		}
	}
	if target := int64(3); (Options{Target: &target}).Continues(context.Background(), 3, 0) || (Options{Work: 5}).Continues(context.Background(), 3, 5) {
		t.Error("goes on after its target or its work")
	}
}
