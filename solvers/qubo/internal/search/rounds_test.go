package search

import (
	"context"
	"errors"
	"slices"
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

// A search ends with its context, its deadline, its target, its work, or by End, which halt a round under way. The error
// of the halt arrives with that of the method.
func TestRoundsEnd(t *testing.T) {
	broken := errors.New("broken")
	target := int64(3)
	for name, c := range map[string]struct {
		o      Options
		rounds int64
		end    func(r *Rounds, cancel func())
	}{
		"deadline":        {Options{Deadline: time.Now()}, 0, nil},
		"later":           {Options{Deadline: time.Now().Add(time.Hour)}, 2, func(r *Rounds, _ func()) { r.End() }},
		"context":         {Options{}, 2, func(_ *Rounds, cancel func()) { cancel() }},
		"target":          {Options{Target: &target}, 2, func(r *Rounds, _ func()) { r.Improve(3, []uint64{1}) }},
		"work":            {Options{Work: 5}, 2, func(r *Rounds, _ func()) { r.Spent = 5 }},
		"work of a round": {Options{Work: 10}, 5, func(*Rounds, func()) {}},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		r := c.o.NewRounds(ctx, nil)
		made := int64(0)
		did, err := r.Run(Method{Halt: func() error { return broken }, Round: func() error {
			made++
			r.Did.Flips++
			if r.Spent += 2; made == 2 {
				c.end(r, cancel)
			}
			return nil
		}})
		if !errors.Is(err, broken) || made != c.rounds || did.Flips != made {
			t.Errorf("%s: %d rounds, %d flips, halted by %v; expected %d rounds", name, made, did.Flips, err, c.rounds)
		}
	}
}

// Rounds take what others give before each round, begin anew after rounds without a better value, report work now and
// then, and keep the best solution.
func TestRounds(t *testing.T) {
	var found []int64
	took, reports, restarted := 0, 0, []int64{}
	o := Options{Work: 20, Take: func() []uint64 { return []uint64{7} }, Progress: func(Work) { reports++ }}
	r := o.NewRounds(t.Context(), func(v int64, x []uint64, _ time.Duration) { found = append(found, v) })
	_, err := r.Run(Method{
		Patience: 4,
		Take:     func([]uint64) error { took++; return nil },
		Restart:  func() error { restarted = append(restarted, r.Spent); return nil },
		Round: func() error {
			r.Spent++
			x := []uint64{uint64(r.Spent)}
			if better := r.Improve(-max(1, 5-r.Spent), x); better != (r.Spent < 5) {
				t.Errorf("round %d: better is %v", r.Spent, better)
			}
			x[0] = 99 // the caller's memory
			r.EndRound(-max(1, 5-r.Spent))
			return nil
		},
	})
	if err != nil || took != 20 || reports != 1 || r.Best != -1 || r.X[0] != 4 || !slices.Equal(found, []int64{-4, -3, -2, -1}) {
		t.Errorf("took %d times, %d reports, best %d of %v, found %v: %v", took, reports, r.Best, r.X, found, err)
	}
	if !slices.Equal(restarted, []int64{9, 17}) || r.Restarts != 2 || r.Number != 3 {
		t.Errorf("restarts after %v rounds, %d in all, round %d", restarted, r.Restarts, r.Number)
	}
	fail := errors.New("no round")
	if _, err := (Options{}).NewRounds(t.Context(), nil).Run(Method{Round: func() error { return fail }}); err != fail {
		t.Errorf("a round failed, and the search with %v", err)
	}
}
