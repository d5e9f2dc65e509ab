package search

import (
	"slices"
	"time"

	"coalesce/runtime/device"
)

// A DecidedSize has the results of a size that was decided before.
type DecidedSize struct {
	Winner string
	Time   time.Duration // the winner's median
	Labels []string      // of all results
}

// measureCrossSizes measures each size's winner at the other sizes, for the selection between them, and decides a size
// again where that of another is faster.
func (s *search) measureCrossSizes() error {
	var winners []*candidate
	won := map[int]*candidate{}
	for _, size := range s.Sizes {
		o, ok := s.decideSize(size)
		if !ok {
			continue
		}
		won[size] = s.of(o.Winner)
		if !slices.Contains(winners, won[size]) {
			winners = append(winners, won[size])
		}
	}
	s.phase, s.done, s.total = PhaseCross, 0, len(winners)*len(s.Sizes)
	for _, size := range s.Sizes {
		var faster []*candidate
		for _, c := range winners {
			s.done++
			if len(c.rounds[size]) > 0 {
				continue
			}
			if _, ok := c.brief[size]; !ok {
				if err := s.runTrial(c, size, TrialRequest{Brief: true}); err != nil {
					return err
				}
			}
			if own := won[size]; own != nil {
				there, ok := c.timeAt(size)
				if m, _ := own.timeAt(size); ok && quicker(&there, time.Duration(m.Sample.Median)) {
					faster = append(faster, c)
				}
			}
		}
		if len(faster) > 0 {
			if _, err := s.contest(size, won[size], faster); err != nil {
				return err
			}
		}
	}
	return nil
}

// crossTo measures the fastest variants of a decided size at the sizes next to it, where these were decided
// before and have no result of them, for the selection between the two. Where one of them is faster than the
// winner there, that size is decided again.
func (s *search) crossTo(size int) error {
	o, ok := s.decideSize(size)
	if !ok {
		return nil
	}
	at := slices.Index(s.Sizes, size)
	s.phase, s.done, s.total = PhaseCross, 0, 0
	for _, next := range []int{at - 1, at + 1} {
		if next < 0 || next >= len(s.Sizes) {
			continue
		}
		to := s.Sizes[next]
		held, decided := s.Have[to]
		if !decided {
			continue
		}
		var all, faster []*candidate
		for _, m := range o.Results[:min(crossed, len(o.Results))] {
			if float64(m.Sample.Median) > (1+sameSpeed)*float64(o.Results[0].Sample.Median) || slices.Contains(held.Labels, m.Variant.Label) {
				continue
			}
			c := s.of(m.Variant)
			if err := s.runTrial(c, to, TrialRequest{Brief: true, Bound: s.hopelessTime(to)}); err != nil {
				return err
			}
			all = append(all, c)
			if there, ok := c.timeAt(to); ok && quicker(&there, held.Time) {
				faster = append(faster, c)
			}
		}
		again := SizeOutcome{Size: to}
		if holder := s.of(s.Family.Variant(held.Winner)); holder != nil && len(faster) > 0 {
			done, err := s.contest(to, holder, faster)
			if err != nil {
				return err
			}
			all = append(all, holder)
			if again.Results = results(all, to); !done || !s.pickWinner(&again, held.Winner) {
				again.Winner = nil
			}
		}
		if again.Results = results(all, to); len(again.Results) > 0 {
			s.out.Crossed = append(s.out.Crossed, again)
		}
	}
	return nil
}

// results are what candidates took at a size, of those that have a time there.
func results(list []*candidate, size int) (all []Measured) {
	for _, c := range list {
		if m, ok := c.timeAt(size); ok {
			all = append(all, m)
		}
	}
	return all
}

// quicker reports whether a glance takes less than a winner's time by more than samples are off by.
func quicker(m *Measured, winner time.Duration) bool {
	return (1+sameSpeed)*float64(m.Sample.Median) < float64(winner)
}

// contest measures the winner of a size in rounds with variants that a crossing found faster, unless a glance
// at the winner says otherwise. It reports whether that proved anything; else all is as it was.
func (s *search) contest(size int, winner *candidate, faster []*candidate) (done bool, err error) {
	had := winner.rounds[size]
	delete(winner.rounds, size)
	defer func() {
		if !done {
			for _, c := range faster {
				delete(c.rounds, size)
			}
			winner.rounds[size] = had
		}
	}()
	if err := s.runTrial(winner, size, TrialRequest{Brief: true}); err != nil {
		return false, err
	}
	m, ok := winner.timeAt(size)
	faster = slices.DeleteFunc(slices.Clone(faster), func(c *candidate) bool {
		there, can := c.timeAt(size)
		return !ok || !can || !quicker(&there, time.Duration(m.Sample.Median))
	})
	if len(faster) == 0 {
		return false, nil
	}
	_, err = s.runFinalRounds(size, append([]*candidate{winner}, faster...), s.budgetShareEnd(1))
	m, ok = winner.timeAt(size)
	return err == nil && (!ok || m.isProven()), err
}

// of is the candidate of a variant; nil for none.
func (s *search) of(v *device.Variant) *candidate {
	if at := slices.IndexFunc(s.order, func(c *candidate) bool { return c.v == v }); at >= 0 {
		return s.order[at]
	}
	return nil
}
