package search

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// all runs the phases. errBudget, or the context's error, ends them early.
func (s *search) all() error {
	if len(s.order) == 0 || len(s.Sizes) == 0 {
		return nil
	}
	survivors := s.order
	if s.Strategy != Exhaustive {
		var err error
		if survivors, err = s.screen(); err != nil {
			return err
		}
	}
	for i, size := range s.Sizes {
		end := s.share(0.95 / float64(len(s.Sizes)-i)) // the rest is for cross
		if err := s.one(size, survivors, end); err != nil {
			return err
		}
		if o, ok := s.decide(size); ok && s.Decided != nil {
			s.Decided(o)
		}
	}
	return s.cross()
}

// screen times every candidate briefly at the middle size and returns those
// worth more: the best quarter, the safe point, earlier winners, and those that
// the middle size does not fit.
func (s *search) screen() ([]*state, error) {
	mid := s.Sizes[len(s.Sizes)/2]
	end := s.share(screenShare)
	s.phase, s.done, s.total = PhaseScreen, 0, len(s.order)
	for i := range s.order {
		if s.past(end) {
			break
		}
		if i > 0 && i%baseline == 0 {
			if err := s.rebase(mid); err != nil {
				return nil, err
			}
		}
		if i >= s.known && (i-s.known)%2 == 0 {
			s.advance(i, mid)
		}
		c := s.order[i]
		s.done = i + 1
		if err := s.try(c, mid, Ask{Brief: true, Bound: s.bound(mid)}); err != nil {
			return nil, err
		}
	}
	ranked := s.ranking(mid)
	keep := ranked[:min(len(ranked), max(keepLeast, (len(ranked)+keepOne-1)/keepOne))]
	var out []*state
	for _, c := range s.order {
		unscreened := c.barred[mid] && !c.dead
		if c == s.safe || s.wonBefore(c.v) || unscreened || slices.Contains(keep, c) {
			out = append(out, c)
		}
	}
	return out, nil
}

// advance puts at place i of the order, of those from there on, the one that differs in
// the fewest parameters from the best so far at a size.
func (s *search) advance(i, size int) {
	best, ok := s.best(size)
	if !ok {
		return
	}
	differ := func(c *state) int {
		n := 0
		for k, value := range c.v.Values {
			if value != best.Variant.Values[k] {
				n++
			}
		}
		return n
	}
	for k := i + 1; k < len(s.order); k++ {
		if differ(s.order[k]) < differ(s.order[i]) {
			s.order[i], s.order[k] = s.order[k], s.order[i]
		}
	}
}

// rebase measures the safe point again, to see whether the device drifts, and
// takes its newer time.
func (s *search) rebase(size int) error {
	if s.safe == nil {
		return nil
	}
	before, ok := s.safe.at(size)
	if !ok {
		return nil
	}
	if err := s.try(s.safe, size, Ask{Brief: true}); err != nil {
		return err
	}
	if after, ok := s.safe.at(size); ok {
		change := math.Abs(float64(after.Sample.Median)/float64(before.Sample.Median) - 1)
		if change > driftLimit {
			s.out.Drift = max(s.out.Drift, change)
		}
	}
	return nil
}

// bound is the time of a sample beyond which a variant is hopeless at a size.
func (s *search) bound(size int) time.Duration {
	if m, ok := s.best(size); ok {
		return hopeless * time.Duration(m.Sample.Median)
	}
	return 0
}

// ranking lists the candidates measured at a size, fastest first.
func (s *search) ranking(size int) []*state {
	var out []*state
	for _, c := range s.order {
		if _, ok := c.at(size); ok {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b *state) int {
		x, _ := a.at(size)
		y, _ := b.at(size)
		return cmp.Or(cmp.Compare(x.Sample.Median, y.Sample.Median), cmp.Compare(a.v.Label, b.v.Label))
	})
	return out
}

// one decides a size: the survivors briefly, then the best of them in rounds
// that interleave them, so that drift meets all alike.
func (s *search) one(size int, survivors []*state, end time.Time) error {
	var briefEnd time.Time
	if !end.IsZero() {
		now := s.Now()
		briefEnd = now.Add(end.Sub(now) * 6 / 10)
	}
	s.phase, s.done, s.total = PhaseSize, 0, len(survivors)
	complete := true
	for i, c := range survivors {
		s.done = i + 1
		if _, ok := c.brief[size]; ok {
			continue
		}
		if c != s.safe && c.v.Label != s.Previous[size] && s.past(briefEnd) {
			complete = false
			continue
		}
		if err := s.try(c, size, Ask{Brief: true, Bound: s.bound(size)}); err != nil {
			return err
		}
	}
	ranked := s.ranking(size)
	var final []*state
	for i, c := range ranked {
		if i < finalists || c == s.safe || c.v.Label == s.Previous[size] {
			final = append(final, c)
		}
	}
	if len(final) < 2 {
		s.complete[size] = complete
		return nil
	}
	s.phase, s.done, s.total = PhaseFinal, 0, rounds*len(final)
	for round := range rounds {
		best := math.Inf(1)
		for _, c := range final {
			if m, ok := c.at(size); ok {
				best = min(best, float64(m.Sample.Median))
			}
		}
		for _, c := range final {
			s.done++
			m, ok := c.at(size)
			out := round > 0 && float64(m.Sample.Median) > alsoRan*best && c != s.safe && c.v.Label != s.Previous[size]
			if !ok || out {
				continue
			}
			if s.past(end) {
				return nil
			}
			if err := s.try(c, size, Ask{Rounds: rounds}); err != nil {
				return err
			}
		}
	}
	s.complete[size] = complete
	return nil
}

// cross measures each size's winner at the other sizes, for the selection
// between them.
func (s *search) cross() error {
	var winners []*state
	for _, size := range s.Sizes {
		o, ok := s.decide(size)
		if !ok {
			continue
		}
		i := slices.IndexFunc(s.order, func(c *state) bool { return c.v == o.Winner })
		if c := s.order[i]; !slices.Contains(winners, c) {
			winners = append(winners, c)
		}
	}
	s.phase, s.done, s.total = PhaseCross, 0, len(winners)*len(s.Sizes)
	for _, c := range winners {
		for _, size := range s.Sizes {
			s.done++
			if _, ok := c.brief[size]; ok || len(c.rounds[size]) > 0 {
				continue
			}
			if err := s.try(c, size, Ask{Brief: true}); err != nil {
				return err
			}
		}
	}
	return nil
}

// conclude decides every size from what is known, and counts.
func (s *search) conclude() {
	for _, size := range s.Sizes {
		if o, ok := s.decide(size); ok {
			s.out.Sizes = append(s.out.Sizes, o)
		}
	}
	for _, c := range s.order {
		if c.tried {
			s.out.Tried++
		}
	}
}

// decide picks the winner of a size. It reports false when nothing is proven:
// the safe point or the size's earlier winner still stands unmeasured, or there
// was nothing to compare with although more could have been tried.
func (s *search) decide(size int) (SizeOutcome, bool) {
	o := SizeOutcome{Size: size, Complete: s.complete[size]}
	incumbent := ""
	for _, c := range s.order {
		isSafe, isPrevious := c == s.safe, c.v.Label == s.Previous[size]
		if c.dead || c.barred[size] || !isSafe && !isPrevious {
			continue
		}
		if _, ok := c.at(size); !ok {
			return o, false
		}
		if isSafe {
			o.Safe = c.v.Label
		}
		if isPrevious || incumbent == "" {
			incumbent = c.v.Label
		}
	}
	for _, c := range s.ranking(size) {
		m, _ := c.at(size)
		o.Results = append(o.Results, m)
	}
	if len(o.Results) == 0 || len(o.Results) == 1 && !o.Complete {
		return o, false
	}
	o.Winner, o.Why = Decide(s.Family, contenders(o.Results, incumbent), incumbent)
	return o, true
}

// contenders are the results that may win: where the final rounds were run,
// those that were in them.
func contenders(results []Measured, incumbent string) []Measured {
	var final []Measured
	holder := true
	for _, m := range results {
		if m.Final {
			final = append(final, m)
		} else if m.Variant.Label == incumbent {
			holder = false
		}
	}
	if len(final) < 2 || !holder {
		return results
	}
	return final
}
