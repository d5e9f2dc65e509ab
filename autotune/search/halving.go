package search

import (
	"cmp"
	"math"
	"slices"
	"time"

	"coalesce/runtime/device"
)

// runPhases runs the phases. errBudget, or the context's error, ends them early.
func (s *search) runPhases() error {
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
	order, parts := sizeSchedule(s.Sizes)
	if s.Turn > 0 {
		size := order[s.Turn-1]
		if err := s.decideOne(size, survivors, s.budgetShareEnd(1)); err != nil {
			return err
		}
		return s.crossTo(size)
	}
	for i, size := range order {
		end := s.budgetShareEnd(0.95 * parts[i]) // the rest is for measureCrossSizes
		if err := s.decideOne(size, survivors, end); err != nil {
			return err
		}
	}
	return s.measureCrossSizes()
}

// decideOne decides a size and tells.
func (s *search) decideOne(size int, survivors []*candidate, end time.Time) error {
	err := s.one(size, survivors, end)
	if o, ok := s.decideSize(size); err == nil && ok && s.Decided != nil {
		s.Decided(o)
	}
	return err
}

// SizeOrder is the order in which a search decides sizes.
func SizeOrder(sizes []int) []int {
	order, _ := sizeSchedule(sizes)
	return order
}

// sizeSchedule are the sizes in the order in which they are decided, and for each the part that it
// gets of the time left by then. The middle size comes first: it is the one that most is
// known about. Parts are in proportion to a size's place among all, because trials of large
// sizes take longer.
func sizeSchedule(sizes []int) (order []int, parts []float64) {
	mid, left := len(sizes)/2, 0
	places := []int{mid}
	for i := range sizes {
		if left += i + 1; i != mid {
			places = append(places, i)
		}
	}
	for _, i := range places {
		order, parts = append(order, sizes[i]), append(parts, float64(i+1)/float64(left))
		left -= i + 1
	}
	return order, parts
}

// screen times every candidate briefly at the middle size and returns those
// worth more: the best quarter, the safe point, earlier winners, and those that
// the middle size does not fit.
func (s *search) screen() ([]*candidate, error) {
	mid := s.Sizes[len(s.Sizes)/2]
	end := s.budgetShareEnd(screenShare)
	s.phase, s.done, s.total = PhaseScreen, 0, 0
	err := s.measureBriefly(mid, func() (bool, error) {
		if s.Screened > 0 && s.done >= s.Screened || s.Screened == 0 && s.timeIsUp(end, s.done < leastScreened) {
			return false, nil
		}
		if s.done > 0 && s.done%baseline == 0 {
			return true, s.rebase(mid)
		}
		return true, nil
	})
	if err != nil {
		return nil, err
	}
	ranked := s.ranking(mid)
	keep := ranked[:min(len(ranked), max(keepLeast, (len(ranked)+keepOne-1)/keepOne))]
	var out []*candidate
	for _, c := range s.order {
		unscreened := c.barred[mid] && !c.dead
		if c == s.safe || s.wonBefore(c.v) || unscreened || slices.Contains(keep, c) {
			out = append(out, c)
		}
	}
	return out, nil
}

// rebase measures the safe point again, to see whether the device drifts, and
// takes its newer time.
func (s *search) rebase(size int) error {
	if s.safe == nil {
		return nil
	}
	before, ok := s.safe.timeAt(size)
	if !ok {
		return nil
	}
	if err := s.runTrial(s.safe, size, TrialRequest{Brief: true}); err != nil {
		return err
	}
	if after, ok := s.safe.timeAt(size); ok {
		change := math.Abs(float64(after.Sample.Median)/float64(before.Sample.Median) - 1)
		if change > driftLimit {
			s.out.Drift = max(s.out.Drift, change)
		}
	}
	return nil
}

// hopelessTime is the time of a sample beyond which a variant is hopeless at a size.
func (s *search) hopelessTime(size int) time.Duration {
	if m, ok := s.fastestAt(size); ok {
		return hopeless * time.Duration(m.Sample.Median)
	}
	return 0
}

// ranking lists the candidates measured at a size, fastest first.
func (s *search) ranking(size int) []*candidate {
	var out []*candidate
	median := map[*candidate]int64{}
	for _, c := range s.order {
		if m, ok := c.timeAt(size); ok {
			out = append(out, c)
			median[c] = m.Sample.Median
		}
	}
	slices.SortStableFunc(out, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(median[a], median[b]), cmp.Compare(a.v.Label, b.v.Label))
	})
	return out
}

// one decides a size: the survivors briefly, then the best of them in rounds
// that interleave them, so that drift meets all alike.
func (s *search) one(size int, survivors []*candidate, end time.Time) error {
	var briefEnd time.Time
	if !end.IsZero() {
		now := s.Now()
		briefEnd = now.Add(end.Sub(now) * 6 / 10)
	}
	list := s.promisingFirst(size, s.bestFirst(survivors))
	s.phase, s.done, s.total = PhaseSize, 0, len(list)
	complete, tried := true, 0
	for i, c := range list {
		s.done = i + 1
		for _, next := range list[i:min(len(list), i+1+s.Ahead)] {
			s.prepare(next)
		}
		if _, ok := c.brief[size]; ok || c.dead || c.barred[size] {
			continue
		}
		if c != s.safe && c.v.Label != s.Previous[size] && s.timeIsUp(briefEnd, s.Turn > 1 && tried < leastTried) {
			complete = false
			continue
		}
		tried++
		if err := s.runTrial(c, size, TrialRequest{Brief: true, Bound: s.hopelessTime(size)}); err != nil {
			return err
		}
	}
	if s.Strategy != Exhaustive && s.Only == nil && !briefEnd.IsZero() { // as planned: these are beyond what halving promises
		if err := s.measureBriefly(size, func() (bool, error) { return s.Now().Before(briefEnd), nil }); err != nil {
			return err
		}
	}
	final := s.finalists(size, end)
	if len(final) == 0 || len(final) == 1 && len(s.ranking(size)) == 1 && s.steady(final[0], size) { // nothing to compare it with
		s.complete[size] = complete
		return nil
	}
	s.phase, s.done, s.total = PhaseFinal, 0, rounds*len(final)
	if late, err := s.runFinalRounds(size, final, end); late || err != nil {
		return err
	}
	s.complete[size] = complete
	return nil
}

// steady reports whether a candidate's samples scatter by no more than Plan.Noise.
func (s *search) steady(c *candidate, size int) bool {
	m, ok := c.timeAt(size)
	return ok && m.Scatter <= s.Noise
}

// runFinalRounds measures candidates of a size in rounds, until they are decided or the end has come, which it reports.
func (s *search) runFinalRounds(size int, final []*candidate, end time.Time) (late bool, err error) {
	enough, instances, must := rounds+moreRounds, leastInstances, rounds
	if s.Varied {
		enough, instances, must = rounds+variedRounds, MostInstances, 2*rounds
	}
	for round := range enough + doubtRounds {
		best, tooSlow := math.Inf(1), alsoRan
		var leader Measured
		for _, c := range final {
			if m, ok := c.timeAt(size); ok && float64(m.Sample.Median) < best {
				best, leader = float64(m.Sample.Median), m
			}
		}
		var open []*device.Variant
		if round >= rounds {
			open = s.undecided(size, &leader)
		}
		if s.Varied && round < leastRounds {
			tooSlow = hopeless // an instance that suits others
		}
		var in []*candidate
		for _, c := range final {
			m, ok := c.timeAt(size)
			stays := c == s.safe || c.v.Label == s.Previous[size]
			switch {
			case !ok || len(c.rounds[size]) < round: // failed, or dropped out before
			case round >= enough && !slices.Contains(open, c.v):
			case round >= rounds && leader.beats(&m):
			case round > 0 && float64(m.Sample.Median) > tooSlow*best && !stays:
			default:
				in = append(in, c)
			}
		}
		if round >= rounds && len(in) < 2 {
			break
		}
		s.total = max(s.total, s.done+len(in))
		for _, c := range in {
			s.done++
			if late = s.timeIsUp(end, round < must || open != nil && !s.Varied); late {
				break
			}
			if err = s.runTrial(c, size, TrialRequest{Rounds: rounds, Instance: round % instances}); err != nil {
				break
			}
		}
		if round > 0 { // a round that was cut short too: the variants that it reached were timed on another instance
			rescaleRound(final, size, round)
		}
		if late || err != nil {
			return late, err
		}
	}
	return false, nil
}

// undecided returns the variants that more rounds may decide between, nil where they need not: a winner and those that it may be
// slower than (undecidedVariants), or, where times depend on the instance, the incumbent and a leader that seems faster by more than
// sameSpeed.
func (s *search) undecided(size int, leader *Measured) []*device.Variant {
	if !s.Varied {
		o, _ := s.decideSize(size)
		return o.undecidedVariants(s.Noise)
	}
	holder := s.safe
	if at := slices.IndexFunc(s.order, func(c *candidate) bool { return c.v.Label == s.Previous[size] }); at >= 0 {
		holder = s.order[at]
	}
	if holder == nil {
		return nil
	}
	m, _ := holder.timeAt(size)
	if mean, _, ok := meanLogRatio(leader, &m, math.Inf(1)); !ok || mean > -math.Log1p(sameSpeed) || leader.beats(&m) {
		return nil
	}
	return []*device.Variant{holder.v, leader.Variant}
}

// timeIsUp reports whether t has come, and for what must be done within the grace whether that has.
func (s *search) timeIsUp(t time.Time, must bool) bool {
	if s.Grace > 0 && must {
		t = s.hard
	}
	return s.deadlinePassed(t)
}

// finalists are the best of a size, the safe point and the incumbent, in the order of their times, without those
// that are slower beyond doubt. Where the time does not suffice for the least rounds of all of them, they are
// fewer: only the best, where no variant that it has to beat is close.
func (s *search) finalists(size int, end time.Time) []*candidate {
	limit, least := finalists, leastInstances
	if s.Varied {
		least = leastRounds
	}
	if n := s.timed[size].n; !end.IsZero() && n > 0 {
		each := longer * s.timed[size].wall / time.Duration(n)
		limit = max(1, min(limit, int(end.Sub(s.Now())/(time.Duration(least)*max(each, 1)))-1))
		if s.Grace > 0 {
			limit = max(limit, 2) // which are finished in any case
		}
	}
	best, _ := s.fastestAt(size)
	slower := float64(beyondDoubt)
	if s.Alone {
		slower = behind
	}
	var list, stay []*candidate
	for i, c := range s.ranking(size) {
		m, _ := c.timeAt(size)
		near := float64(m.Sample.Median) <= alsoRan*float64(best.Sample.Median)
		switch {
		case i == 0:
			list = append(list, c)
		case float64(m.Sample.Median) > slower*float64(best.Sample.Median) && !s.Varied:
		case (c == s.safe || c.v.Label == s.Previous[size]) && (near || limit == finalists || s.Varied || m.Sample.N < leastSamples):
			stay = append(stay, c)
		case i < limit:
			list = append(list, c)
		}
	}
	return slices.Insert(list, min(1, len(list)), stay...)
}

// decideAllSizes decides every size from what is known, and counts.
func (s *search) decideAllSizes() {
	for _, size := range s.Sizes {
		if s.Turn > 0 && size != SizeOrder(s.Sizes)[s.Turn-1] {
			continue
		}
		switch o, ok := s.decideSize(size); {
		case ok:
			s.out.Sizes = append(s.out.Sizes, o)
		case o.Noisy:
			s.out.Noisy = append(s.out.Noisy, size)
		}
	}
	for _, c := range s.order {
		if c.tried {
			s.out.Tried++
		}
		if !c.dead && len(c.brief)+len(c.rounds) > 0 {
			s.out.Timed++
		}
	}
}

// decideSize picks the winner of a size. It reports false when nothing is proven: the safe
// point or the size's earlier winner is still to be measured, only one variant was
// measured although others could have been tried, or pickWinner says so.
func (s *search) decideSize(size int) (SizeOutcome, bool) {
	o := SizeOutcome{Size: size, Complete: s.complete[size]}
	incumbent := ""
	for _, c := range s.order {
		isSafe, isPrevious := c == s.safe, c.v.Label == s.Previous[size]
		if c.dead || c.barred[size] || !isSafe && !isPrevious {
			continue
		}
		if _, ok := c.timeAt(size); !ok {
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
		m, _ := c.timeAt(size)
		o.Results = append(o.Results, m)
	}
	if len(o.Results) == 0 || len(o.Results) == 1 && !o.Complete {
		return o, false
	}
	return o, s.pickWinner(&o, incumbent)
}

// pickWinner picks the winner of an outcome's results, which are of more variants than one unless no other can run. It reports
// false where they prove none: the winner, or a variant that was faster when measured briefly, has too few measurements; it
// was not compared with variants as fast; its samples scatter; only scattered samples keep the incumbent, or leave open if
// another is faster; or other processes took the cores. Outcome.Noisy says that more of the same measurements may not help.
func (s *search) pickWinner(o *SizeOutcome, incumbent string) bool {
	if len(o.Results) == 0 {
		return false
	}
	list := contenders(o.Results, incumbent)
	o.Winner, o.Why, o.Noisy = PickWinner(list, incumbent, s.Noise)
	winner := &list[slices.IndexFunc(list, func(m Measured) bool { return m.Variant == o.Winner })]
	proven, open := len(o.Results) == 1 && o.Complete || winner.isProven(), o.undecidedVariants(s.Noise)
	if len(winner.Rounds) < leastRounds { // more of them may prove it
		proven, open = proven && open == nil, nil
	}
	if o.Noisy = o.Noisy || open != nil || proven && winner.Scatter > s.Noise || machineBusy(o.Results, o.Winner, s.Noise); o.Noisy || !proven {
		return false
	}
	return o.Complete || !slices.ContainsFunc(o.Results, func(m Measured) bool { return !m.isProven() && faster(&m.Sample, &winner.Sample) })
}

// contenders are the incumbent and the results that are proven; all where neither is
// there, as where a single variant can run.
func contenders(results []Measured, incumbent string) []Measured {
	held := slices.ContainsFunc(results, func(m Measured) bool { return m.Variant.Label == incumbent })
	list := slices.DeleteFunc(slices.Clone(results), func(m Measured) bool {
		return !m.isProven() && (!held || m.Variant.Label != incumbent)
	})
	if len(list) == 0 {
		return results
	}
	return list
}
