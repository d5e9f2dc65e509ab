package search

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"coalesce/autotune/propose"
)

// measureBriefly measures variants briefly at a size while more allows it, in the order of package propose: the safe point and earlier winners,
// what won elsewhere, the most often first, then what the times at this size and the others promise.
func (s *search) measureBriefly(size int, more func() (bool, error)) error {
	values, wins := make([][]string, len(s.order)), make([]float64, len(s.order))
	var first, winners []int
	for i, c := range s.order {
		values[i], wins[i] = c.v.Values, float64(s.wins[c.v.Label])
		switch {
		case i < s.sure:
			first = append(first, i)
		case wins[i] > 0:
			winners = append(winners, i)
		}
	}
	features := [][]float64{wins}
	for _, other := range s.Sizes {
		if rates := s.timesAt(other); other != size {
			for i, t := range rates {
				if t > 0 {
					rates[i] = 1 / t // what has no time is like the slowest
				}
			}
			features = append(features, rates)
		}
	}
	p := propose.New(values, features, rand.New(rand.NewPCG(s.Seed, uint64(size))))
	p.Begin(first, winners)
	for i, t := range s.timesAt(size) {
		switch {
		case t > 0 || s.order[i].dead:
			p.Learn(i, t)
		case s.order[i].barred[size]:
			p.Remove(i)
		}
	}
	s.total += p.Remaining()
	for next := []int(nil); ; next = next[1:] {
		for len(next) <= s.Ahead {
			at := p.Next()
			if at < 0 {
				break
			}
			s.prepare(s.order[at])
			next = append(next, at)
		}
		if len(next) == 0 {
			return nil
		}
		if ok, err := more(); err != nil || !ok {
			return err
		}
		at := next[0]
		s.done++
		if err := s.runTrial(s.order[at], size, TrialRequest{Brief: true, Bound: s.hopelessTime(size)}); err != nil {
			return err
		}
		m, _ := s.order[at].timeAt(size)
		p.Learn(at, float64(m.Sample.Median))
	}
}

// prepare has a candidate made ready, unless it was.
func (s *search) prepare(c *candidate) {
	if s.Prepare != nil && !c.tried && !c.dead {
		s.Prepare(c.v)
	}
}

// timesAt are the times of all candidates at a size, 0 where there is none.
func (s *search) timesAt(size int) []float64 {
	list := make([]float64, len(s.order))
	for i, c := range s.order {
		m, _ := c.timeAt(size)
		list[i] = float64(m.Sample.Median)
	}
	return list
}

// bestFirst are survivors in the order in which a size after the middle one tries them, where that one has
// been decided before: the safe point and earlier winners, then by turns the best of the middle size and
// those that cannot run there, the fewer sizes they can run at the earlier. What runs at few sizes is made
// for them.
func (s *search) bestFirst(survivors []*candidate) []*candidate {
	if s.Turn < 2 {
		return survivors
	}
	mid := s.Sizes[len(s.Sizes)/2]
	var list, others []*candidate
	for _, c := range survivors {
		if _, ok := c.timeAt(mid); c == s.safe || s.wonBefore(c.v) {
			list = append(list, c)
		} else if !ok {
			others = append(others, c)
		}
	}
	screened := slices.DeleteFunc(s.ranking(mid), func(c *candidate) bool { return !slices.Contains(survivors, c) || slices.Contains(list, c) })
	slices.SortStableFunc(others, func(a, b *candidate) int { return cmp.Compare(a.sizes(), b.sizes()) })
	for i := range max(len(screened), len(others)) {
		if i < len(screened) {
			list = append(list, screened[i])
		}
		if i < len(others) {
			list = append(list, others[i])
		}
	}
	return list
}

// promisingFirst puts what promises most at a size behind the safe point and earlier winners, whether the
// middle size kept it or not.
func (s *search) promisingFirst(size int, list []*candidate) []*candidate {
	var first, promising []*candidate
	for _, c := range list {
		if c == s.safe || s.wonBefore(c.v) {
			first = append(first, c)
		}
	}
	for _, label := range s.Promising[size] {
		at := slices.IndexFunc(s.order, func(c *candidate) bool { return c.v.Label == label })
		if at >= 0 && !slices.Contains(first, s.order[at]) {
			promising = append(promising, s.order[at])
		}
	}
	rest := slices.DeleteFunc(slices.Clone(list), func(c *candidate) bool { return slices.Contains(first, c) || slices.Contains(promising, c) })
	return slices.Concat(first, promising, rest)
}

// sizes is the number of sizes at which the candidate can run.
func (c *candidate) sizes() (n int) {
	for _, barred := range c.barred {
		if !barred {
			n++
		}
	}
	return n
}
