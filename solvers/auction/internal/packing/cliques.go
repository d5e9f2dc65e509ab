package packing

import (
	"cmp"
	"slices"
)

// extend adds live bids to a clique until none conflicts with all of its members; those
// with large keys come first.
func (g *graph) extend(live set, clique []int32, key []float64) []int32 {
	common := slices.Clone(live)
	for _, j := range clique {
		for k, w := range g.conflict[j] {
			common[k] &= w
		}
	}
	var list []int32
	common.each(func(j int) { list = append(list, int32(j)) })
	slices.SortStableFunc(list, func(a, b int32) int { return cmp.Compare(key[b], key[a]) })
	clique = slices.Clone(clique)
	for _, j := range list {
		if common.has(int(j)) {
			clique = append(clique, j)
			for k, w := range g.conflict[j] {
				common[k] &= w
			}
		}
	}
	slices.Sort(clique)
	return clique
}

// violatedCliques finds cliques of live bids whose columns add up to more than 1, at most limit, those
// with the largest sums first. Each begins with one fractional bid and grows by the
// largest.
func (g *graph) violatedCliques(live set, x []float64, key []float64, limit int) [][]int32 {
	var support []int32
	live.each(func(j int) {
		if x[j] > 1e-5 {
			support = append(support, int32(j))
		}
	})
	slices.SortFunc(support, func(a, b int32) int {
		if c := cmp.Compare(x[b], x[a]); c != 0 {
			return c
		}
		return cmp.Compare(a, b)
	})
	type cut struct {
		members []int32
		sum     float64
	}
	var cuts []cut
	seen := map[string]bool{}
	for _, seed := range support {
		// Two cliques grow from each seed: one by the largest fraction first, one by the fraction that
		// leaves the most of the other fractional bids as candidates.
		for _, far := range []bool{false, true} {
			members := []int32{seed}
			sum := x[seed]
			left := make([]int32, 0, len(support))
			for _, j := range support {
				if g.conflict[seed].has(int(j)) {
					left = append(left, j)
				}
			}
			for len(left) > 0 {
				pick := 0
				if far {
					best := -1.0
					for k, j := range left {
						reach := x[j]
						for _, i := range left {
							if g.conflict[j].has(int(i)) {
								reach += x[i]
							}
						}
						if reach > best {
							best, pick = reach, k
						}
					}
				}
				j := left[pick]
				members = append(members, j)
				sum += x[j]
				next := left[:0]
				for _, i := range left {
					if g.conflict[j].has(int(i)) {
						next = append(next, i)
					}
				}
				left = next
			}
			if sum > 1+1e-3 {
				members = g.extend(live, members, key)
				if text := string(appendCliqueKey(nil, members)); !seen[text] {
					seen[text] = true
					cuts = append(cuts, cut{members, sum})
				}
			}
		}
	}
	slices.SortStableFunc(cuts, func(a, b cut) int { return cmp.Compare(b.sum, a.sum) })
	var found [][]int32
	for _, c := range cuts[:min(limit, len(cuts))] {
		found = append(found, c.members)
	}
	return found
}
