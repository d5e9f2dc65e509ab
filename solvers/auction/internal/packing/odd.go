package packing

import (
	"cmp"
	"context"
	"slices"
)

// A row of a relaxation is bids of which at most one can win, or, of an odd number 2k+1 of
// cliques, the bids that are in two of them or more: at most k of these can win, since each
// uses up two of the 2k+1 bids that the cliques allow. Odd holes of conflicts are such rows
// (Padberg, Mathematical Programming 5, 1973), and so are all sums of cliques, halved and
// rounded down (Caprara and Fischetti, Mathematical Programming 74, 1996).
type row struct {
	Bids []int32
	Odd  [][]int32 // the cliques; nil: the bids are one

	// Cover is how many cliques of which one has to win the row is; 0: none has to.
	Cover int
}

// maxWinners is the number of a row's bids that can win.
func (r row) maxWinners() int64 {
	if r.Odd == nil {
		return 1
	}
	return int64(len(r.Odd) / 2)
}

// oddRow is the row of an odd number of cliques.
func (g *graph) oddRow(cliques [][]int32) row {
	r, once, twice := row{Odd: cliques}, g.empty(), g.empty()
	for _, c := range cliques {
		for _, j := range c {
			if once.has(int(j)) {
				twice.add(int(j))
			}
			once.add(int(j))
		}
	}
	r.Bids = twice.members()
	return r
}

// A cliqueSum is the sum of some of a relaxation's cliques.
type cliqueSum struct {
	parts set     // of the rows
	odd   set     // bids with fractions that are in an odd number of the cliques
	slack float64 // of the cliques, together
}

// oddRows finds violated rows of odd numbers of a relaxation's cliques, at most limit, those
// that are violated most first. The sum of 2k+1 cliques, halved and rounded down, is violated if
// their slacks and the fractions of the bids in an odd number of them are less than 1 together:
// bids are eliminated from sums, by arithmetic modulo 2, those of large fractions first (Koster,
// Zymolka and Kutschka, Algorithmica 55, 2009).
func (g *graph) oddRows(ctx context.Context, rows []row, x []float64, limit int) []row {
	fractions, sums := g.empty(), []cliqueSum(nil)
	for i, r := range rows {
		if r.Odd != nil {
			continue
		}
		s := cliqueSum{make(set, (len(rows)+63)/64), g.empty(), 1}
		s.parts.add(i)
		for _, j := range r.Bids {
			if s.slack -= x[j]; x[j] > 1e-6 && x[j] < 1-1e-6 {
				s.odd.add(int(j))
				fractions.add(int(j))
			}
		}
		s.slack = max(0, s.slack)
		sums = append(sums, s)
	}
	order := fractions.members()
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(x[b], x[a]) })
	type cut struct {
		parts set
		room  float64 // upper bound on twice the violation of the row of the sum
	}
	var cuts []cut
	for _, j := range order {
		if ctx.Err() != nil {
			return nil
		}
		pivot := -1
		for k, s := range sums {
			if s.odd.has(int(j)) && (pivot < 0 || s.slack < sums[pivot].slack) {
				pivot = k
			}
		}
		if pivot < 0 {
			continue
		}
		p, left := sums[pivot], sums[:0]
		for k, s := range sums {
			if k != pivot && s.odd.has(int(j)) {
				s.parts.xor(p.parts)
				s.odd.xor(p.odd)
				s.slack += p.slack
				room := 1 - s.slack
				s.odd.each(func(j int) { room -= x[j] })
				if room > 2*tight && s.parts.count()%2 == 1 && s.parts.count() <= maxOdd {
					cuts = append(cuts, cut{slices.Clone(s.parts), room})
				}
			}
			if k != pivot && s.slack < 1-2*tight && s.parts.count() <= maxOdd {
				left = append(left, s)
			}
		}
		sums = left
	}
	slices.SortStableFunc(cuts, func(a, b cut) int { return cmp.Compare(b.room, a.room) })
	var found []row
	seen := map[string]bool{}
	for _, c := range cuts[:min(len(cuts), 4*limit)] {
		var cliques [][]int32
		c.parts.each(func(i int) { cliques = append(cliques, rows[i].Bids) })
		r := g.oddRow(cliques)
		over := -float64(r.maxWinners())
		for _, j := range r.Bids {
			over += x[j]
		}
		if text := string(appendCliqueKey(nil, r.Bids)); over > tight && !seen[text] {
			seen[text] = true
			if found = append(found, r); len(found) == limit {
				break
			}
		}
	}
	return found
}

const (
	tight  = 1e-2 // least violation of an odd row that is added
	maxOdd = 19   // most cliques of an odd row: rows of more cliques allow many bids, and seldom bind
)
