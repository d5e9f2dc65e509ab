package search

import (
	"cmp"
	"slices"

	"coalesce/runtime/device"
)

// advance puts at place i of the order, of those from there on, the one that differs in
// the fewest parameters from the best so far at a size.
func (s *search) advance(i, size int) {
	best, ok := s.best(size)
	if !ok {
		return
	}
	for k := i + 1; k < len(s.order); k++ {
		if differ(s.order[k].v, best.Variant) < differ(s.order[i].v, best.Variant) {
			s.order[i], s.order[k] = s.order[k], s.order[i]
		}
	}
}

// differ counts the parameters in which two variants differ.
func differ(a, b *device.Variant) int {
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
func (s *search) bestFirst(survivors []*state) []*state {
	if s.Turn < 2 {
		return survivors
	}
	mid := s.Sizes[len(s.Sizes)/2]
	var list, screened, others []*state
	for _, c := range survivors {
		switch _, ok := c.at(mid); {
		case c == s.safe || s.wonBefore(c.v):
			list = append(list, c)
		case ok:
			screened = append(screened, c)
		default:
			others = append(others, c)
		}
	}
	slices.SortStableFunc(screened, func(a, b *state) int {
		x, _ := a.at(mid)
		y, _ := b.at(mid)
		return cmp.Compare(x.Sample.Median, y.Sample.Median)
	})
	slices.SortStableFunc(others, func(a, b *state) int { return cmp.Compare(a.sizes(), b.sizes()) })
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
func (s *search) promisingFirst(size int, list []*state) []*state {
	var first, promising []*state
	for _, c := range list {
		if c == s.safe || s.wonBefore(c.v) {
			first = append(first, c)
		}
	}
	for _, label := range s.Promising[size] {
		at := slices.IndexFunc(s.order, func(c *state) bool { return c.v.Label == label })
		if at >= 0 && !slices.Contains(first, s.order[at]) {
			promising = append(promising, s.order[at])
		}
	}
	rest := slices.DeleteFunc(slices.Clone(list), func(c *state) bool { return slices.Contains(first, c) || slices.Contains(promising, c) })
	return slices.Concat(first, promising, rest)
}

// sizes is the number of sizes at which the candidate can run.
func (c *state) sizes() (n int) {
	for _, barred := range c.barred {
		if !barred {
			n++
		}
	}
	return n
}
