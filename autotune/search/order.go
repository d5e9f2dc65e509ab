package search

import (
	"cmp"
	"slices"

	"coalesce/runtime/device"
)

// moveNearestToFront puts at place i of the order, of those from there on, the one that differs in
// the fewest parameters from the best so far at a size.
func (s *search) moveNearestToFront(i, size int) {
	best, ok := s.fastestAt(size)
	if !ok {
		return
	}
	for k := i + 1; k < len(s.order); k++ {
		if parameterDistance(s.order[k].v, best.Variant) < parameterDistance(s.order[i].v, best.Variant) {
			s.order[i], s.order[k] = s.order[k], s.order[i]
		}
	}
}

// parameterDistance counts the parameters in which two variants differ.
func parameterDistance(a, b *device.Variant) int {
	n := 0
	for k, value := range a.Values {
		if value != b.Values[k] {
			n++
		}
	}
	return n
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
	var list, screened, others []*candidate
	for _, c := range survivors {
		switch _, ok := c.timeAt(mid); {
		case c == s.safe || s.wonBefore(c.v):
			list = append(list, c)
		case ok:
			screened = append(screened, c)
		default:
			others = append(others, c)
		}
	}
	slices.SortStableFunc(screened, func(a, b *candidate) int {
		x, _ := a.timeAt(mid)
		y, _ := b.timeAt(mid)
		return cmp.Compare(x.Sample.Median, y.Sample.Median)
	})
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
