package oddcycle

import (
	"cmp"
	"math/big"
	"slices"
)

// spins are solutions that follow from the relaxation's.
type spins struct {
	up    []bool
	least *big.Int // loss of the best, in the model's capacities; nil: none yet
	order []int32  // edges
	root  []int32  // of a forest
	rel   []bool   // a vertex's spin is not its root's
	gain  []int64
}

func newSpins(r *relaxation) *spins {
	s := &spins{order: make([]int32, len(r.edges)), root: make([]int32, r.m.N), rel: make([]bool, r.m.N), gain: make([]int64, r.m.N)}
	for k := range s.order {
		s.order[k] = int32(k)
	}
	return s
}

func (s *spins) find(v int32) (root int32, differs bool) {
	for s.root[v] != v {
		differs = differs != s.rel[v]
		v = s.root[v]
	}
	return v, differs
}

// round makes spins of the relaxation: of the edges, the surest first, each that joins two trees is as the relaxation rounded. Flips that gain follow.
// It reports whether they are better than all before.
func (s *spins) round(r *relaxation) bool {
	sure := make([]float64, len(r.edges))
	for k := range r.edges {
		u := r.unsatisfied(k)
		sure[k] = min(u, 1-u) - 1e-3*r.price[k]
	}
	slices.SortFunc(s.order, func(a, b int32) int { return cmp.Or(cmp.Compare(sure[a], sure[b]), cmp.Compare(a, b)) })
	for v := range s.root {
		s.root[v], s.rel[v] = int32(v), false
	}
	for _, k := range s.order {
		a, x := s.find(r.ends[k][0])
		b, y := s.find(r.ends[k][1])
		if a != b {
			s.root[a] = b
			s.rel[a] = (x != y) != (r.m.Odd[r.edges[k]] != (r.unsatisfied(int(k)) > 0.5))
		}
	}
	up := make([]bool, r.m.N)
	for v := range up {
		_, up[v] = s.find(int32(v))
	}
	clear(s.gain) // what a flip takes from the loss
	wrong := func(k int32) bool { return (up[r.ends[k][0]] != up[r.ends[k][1]]) != r.m.Odd[r.edges[k]] }
	for k := range int32(len(r.edges)) {
		c := r.m.Cap[r.edges[k]]
		if !wrong(k) {
			c = -c
		}
		s.gain[r.ends[k][0]] += c
		s.gain[r.ends[k][1]] += c
	}
	for again := true; again; {
		again = false
		for v := range int32(len(up)) {
			if s.gain[v] <= 0 {
				continue
			}
			again = true
			s.gain[v] = -s.gain[v]
			up[v] = !up[v]
			for _, h := range r.find.at[v] {
				k := h >> 1
				c := 2 * r.m.Cap[r.edges[k]]
				if !wrong(k) {
					c = -c
				}
				s.gain[r.ends[k][h&1^1]] += c
			}
		}
	}
	loss := new(big.Int)
	for k := range int32(len(r.edges)) {
		if wrong(k) {
			loss.Add(loss, big.NewInt(r.m.Cap[r.edges[k]]))
		}
	}
	if s.least != nil && loss.Cmp(s.least) >= 0 {
		return false
	}
	s.least, s.up = loss, up
	return true
}
