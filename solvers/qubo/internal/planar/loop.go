package planar

import (
	"slices"

	"coalesce/solvers/qubo/internal/embedding"
)

// closed is the cost of an edge that no loop takes.
const closed = -1

// loop is the cheapest cycle along which the unsatisfied edges contradict each other; nil: there is none. Costs are at least 0.
//
// Spins that follow from the unsatisfied edges along a forest contradict some edges. A cycle is wrong where it has an odd number of
// these: it is a path in the twofold cover of the graph, from a vertex to its other copy. The search from the other copy mirrors that from the
// vertex, so that one serves as both, and ends halfway.
func (s *Surface) loop(unsatisfied []bool, cost func(k int32) int32) []int32 {
	_, wrong := s.spins(unsatisfied)
	if len(wrong) == 0 {
		return nil
	}
	n := int32(s.m.N)
	across := make([]bool, len(s.edge))
	for _, k := range wrong {
		across[k] = true
	}
	costs := make([]int32, len(s.edge))
	most := int32(1)
	for k := range costs {
		costs[k] = cost(int32(k))
		most = max(most, costs[k])
	}
	dist, came, turn := make([]int32, 2*n), make([]int32, 2*n), make([]int32, 2*n)
	round := int32(0)
	buckets := make([][]int32, most+1) // by distance, modulo their number
	best := int32(1<<31 - 1)
	var loop []int32
	tried := make([]bool, n)
	for _, k := range wrong {
		source := s.ends[k][0]
		if tried[source] || costs[k] == closed {
			continue
		}
		tried[source] = true
		round++
		left := 1
		for i := range buckets {
			buckets[i] = buckets[i][:0]
		}
		turn[source], dist[source] = round, 0
		buckets[0] = append(buckets[0], source)
		before, meeting, other := best, int32(embedding.None), int32(0)
		for d := int32(0); left > 0 && d < best-d; d++ {
			list := &buckets[d%(most+1)]
			for at := 0; at < len(*list); at++ {
				x := (*list)[at]
				left--
				if dist[x] != d {
					continue
				}
				v, copy := x%n, x/n
				for _, h := range s.at[v] {
					k := h >> 1
					if costs[k] == closed {
						continue
					}
					y, mirror := s.head(h), s.head(h)
					if across[k] != (copy == 1) {
						y += n
					} else {
						mirror += n
					}
					to := d + costs[k]
					if turn[mirror] == round && to+dist[mirror] < best {
						best, meeting, other = to+dist[mirror], h, mirror
					}
					if to < best && (turn[y] != round || to < dist[y]) {
						turn[y], dist[y], came[y] = round, to, h
						buckets[to%(most+1)] = append(buckets[to%(most+1)], y)
						left++
					}
				}
			}
			*list = (*list)[:0]
		}
		if best == before {
			continue
		}
		odd := map[int32]bool{meeting >> 1: true}
		back := func(x int32) {
			for x != source {
				h := came[x]
				odd[h>>1] = !odd[h>>1]
				y := s.ends[h>>1][h&1]
				if across[h>>1] != (x >= n) {
					y += n
				}
				x = y
			}
		}
		back(other)
		start := s.ends[meeting>>1][meeting&1]
		if across[meeting>>1] != (other < n) { // the meeting edge leads from start to the mirror's mirror
			start += n
		}
		back(start)
		loop = loop[:0]
		for k, is := range odd {
			if is {
				loop = append(loop, k)
			}
		}
		slices.Sort(loop)
	}
	return loop
}

// loops are edges without which the surface is a disk: those of cycles that a forest from a root, and one of the faces, leave.
func (s *Surface) loops(root int) []int32 {
	parent := make([]int32, s.m.N) // half-edges towards vertices
	for v := range parent {
		parent[v] = embedding.None
	}
	met := make([]bool, s.m.N)
	inForest := make([]bool, len(s.edge))
	grow := func(root int32) {
		if met[root] {
			return
		}
		met[root] = true
		queue := []int32{root}
		for len(queue) > 0 {
			v := queue[0]
			queue = queue[1:]
			for _, h := range s.at[v] {
				if w := s.head(h); !met[w] {
					met[w], parent[w], inForest[h>>1] = true, h, true
					queue = append(queue, w)
				}
			}
		}
	}
	grow(int32(root))
	for v := range int32(s.m.N) {
		grow(v)
	}
	group := make([]int32, s.faces)
	for f := range group {
		group[f] = int32(f)
	}
	find := func(f int32) int32 {
		for group[f] != f {
			group[f] = group[group[f]]
			f = group[f]
		}
		return f
	}
	odd := map[int32]bool{}
	up := func(v int32) {
		for parent[v] != embedding.None {
			h := parent[v]
			odd[h>>1] = true
			v = s.ends[h>>1][h&1]
		}
	}
	for k := range int32(len(s.edge)) {
		if inForest[k] {
			continue
		}
		a, b := find(s.sides[k][0]), find(s.sides[k][1])
		if a != b {
			group[a] = b
			continue
		}
		odd[k] = true
		up(s.ends[k][0])
		up(s.ends[k][1])
	}
	list := make([]int32, 0, len(odd))
	for k := range odd {
		list = append(list, k)
	}
	slices.Sort(list)
	return list
}
