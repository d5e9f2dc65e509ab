// Package ranking finds the k best structures of a coalition from the table of the values of all
// coalitions' best partitions.
package ranking

import (
	"cmp"
	"context"
	"math"
	"slices"

	"coalesce/solvers/csg/problem"
)

// A RankedStructure is one of the best.
type RankedStructure struct {
	Structure problem.Structure
	Value     float64 // the sum of its blocks' values, in float64
}

// A partial structure has blocks, a chain, and agents left.
type partial[S int64 | float64] struct {
	bound, sum S // the value of its best completion; the sum of the values of its blocks
	left       uint64
	block      uint64
	before     *partial[S]
}

// query says which structures are wanted: the k best of a coalition whose blocks have allowed
// sizes; sums are the sizes of coalitions that can be divided into such blocks.
type query struct {
	coalition   uint64
	k           int
	sizes, sums problem.Sizes
}

// searchBest finds the k best structures of a coalition, the best first; fewer where fewer have
// allowed blocks alone. v are values, f those of best partitions, by coalition
// number; sums are made in S.
//
// The search keeps partial structures: some blocks, and agents that are left, bounded by
// f of these; it closes the one with the best bound by each block of its lowest agent left.
// Partial structures have no completion in common and each has one that attains its bound,
// so that no more than k of them are kept.
func searchBest[T problem.Number, S int64 | float64](ctx context.Context, v, f []T, a query) ([]RankedStructure, error) {
	var found []RankedStructure
	var kept []*partial[S] // best first
	push := func(o *partial[S]) {
		at, _ := slices.BinarySearchFunc(kept, o, func(a, b *partial[S]) int { return cmp.Compare(b.bound, a.bound) })
		for at < len(kept) && kept[at].bound == o.bound {
			at++
		}
		if at < a.k-len(found) {
			kept = slices.Insert(kept, at, o)
			kept = kept[:min(len(kept), a.k-len(found))]
		}
	}
	if a.sums.Allows(a.coalition) {
		push(&partial[S]{bound: S(f[a.coalition]), left: a.coalition})
	}
	for len(kept) > 0 && len(found) < a.k {
		if err := ctx.Err(); err != nil {
			return found, err
		}
		o := kept[0]
		kept = kept[1:]
		if math.IsInf(float64(o.bound), -1) {
			break
		}
		if o.left == 0 {
			s := problem.Structure{}
			for x := o; x.before != nil; x = x.before {
				s = append(s, x.block)
			}
			s.Sort()
			found = append(found, RankedStructure{s, float64(o.sum)})
			continue
		}
		lowest := o.left & -o.left
		rest := o.left ^ lowest
		for part := rest; ; part = (part - 1) & rest {
			block := part | lowest
			sum, left := o.sum+S(v[block]), o.left&^block
			bound := sum
			if left != 0 {
				bound += S(f[left])
			}
			allowed := a.sizes.Allows(block) && a.sums.Allows(left) // other entries of the tables are marks, whose sums may overflow
			if allowed && (len(kept) < a.k-len(found) || bound > kept[len(kept)-1].bound) {
				push(&partial[S]{bound, sum, left, block, o})
			}
			if part == 0 {
				break
			}
		}
	}
	return found, nil
}
