package oddcycle

import (
	"context"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
)

// A separator finds odd cycles that a point of the relaxation violates, by shortest paths (Barahona and Mahjoub, 1986): in a graph with two
// copies of each vertex, edges that want their ends to be the same run within the copies, others between them. A path between the copies of
// a vertex is an odd closed walk.
type separator struct {
	ends  [][2]int32
	at    [][]int32 // of vertices: half-edges, 2k from the first end of edge k, 2k+1 from the second
	dist  []float64 // of the copies, v and n+v
	from  []int32   // the half-edge by which a copy was reached
	met   []int32   // the copies with a distance
	heap  []reach
	in    []bool // vertices of the cycles found
	order []int32
	rand  *rand.Rand
}

type reach struct {
	dist float64
	copy int32
}

func newSeparator(n int, ends [][2]int32) *separator {
	s := &separator{ends: ends, at: make([][]int32, n), dist: make([]float64, 2*n), from: make([]int32, 2*n), in: make([]bool, n), order: make([]int32, n), rand: rand.New(rand.NewPCG(1, 9))}
	for k, end := range ends {
		s.at[end[0]] = append(s.at[end[0]], int32(2*k))
		s.at[end[1]] = append(s.at[end[1]], int32(2*k+1))
	}
	for v := range s.order {
		s.order[v] = int32(v)
	}
	for c := range s.dist {
		s.dist[c] = math.Inf(1)
	}
	return s
}

// violated is by how much the length of a cycle falls short of 1 before it counts as violated.
const violated = 1e-6

// find finds cycles of an odd number of odd edges whose lengths add up to less than 1, each as its edges, ascending. Where it finds none there is none.
// A vertex that a cycle visits begins no other. It stops where ctx ends.
func (s *separator) find(ctx context.Context, length []float64, odd []bool) (cycles [][]int32) {
	clear(s.in)
	s.rand.Shuffle(len(s.order), func(a, b int) { s.order[a], s.order[b] = s.order[b], s.order[a] })
	for k, v := range s.order {
		if k%64 == 63 && ctx.Err() != nil {
			return cycles
		}
		if s.in[v] {
			continue
		}
		if cycle := s.shortest(v, length, odd); cycle != nil {
			for _, e := range cycle {
				s.in[s.ends[e][0]], s.in[s.ends[e][1]] = true, true
			}
			slices.Sort(cycle)
			cycles = append(cycles, cycle)
		}
	}
	return cycles
}

// shortest is an odd cycle on a shortest odd closed walk through a vertex, where that is shorter than 1.
func (s *separator) shortest(v int32, length []float64, odd []bool) []int32 {
	n := int32(len(s.at))
	for _, c := range s.met {
		s.dist[c] = math.Inf(1)
	}
	s.met, s.heap = append(s.met[:0], v), append(s.heap[:0], reach{0, v})
	s.dist[v] = 0
	for len(s.heap) > 0 {
		top := s.pop()
		if top.dist > s.dist[top.copy] {
			continue
		}
		if top.copy == v+n {
			return s.cycle(v, odd)
		}
		u, other := top.copy, n
		if u >= n {
			u, other = u-n, -n
		}
		for _, h := range s.at[u] {
			k := h >> 1
			d := top.dist + length[k]
			if d >= 1-violated {
				continue
			}
			to := s.ends[k][h&1^1] + top.copy - u
			if odd[k] {
				to += other
			}
			if d < s.dist[to] {
				if math.IsInf(s.dist[to], 1) {
					s.met = append(s.met, to)
				}
				s.dist[to], s.from[to] = d, h
				s.push(reach{d, to})
			}
		}
	}
	return nil
}

// cycle is a simple odd cycle of the walk from v to its other copy: where the walk visits a vertex twice, one of its parts is odd.
func (s *separator) cycle(v int32, odd []bool) []int32 {
	n := int32(len(s.at))
	var walk []int32 // half-edges, from the end of the walk to its beginning
	for c := v + n; c != v; {
		h := s.from[c]
		walk = append(walk, h)
		back := s.ends[h>>1][h&1]
		copied := c >= n
		if odd[h>>1] {
			copied = !copied
		}
		if c = back; copied {
			c += n
		}
	}
	var stack []int32
	var copies []bool // in which copy the walk is before each edge of the stack
	first := map[int32]int{v: 0}
	copied := false
	for _, h := range walk {
		stack, copies = append(stack, h>>1), append(copies, copied)
		copied = copied != odd[h>>1]
		to := s.ends[h>>1][h&1]
		k, seen := first[to]
		if !seen {
			first[to] = len(stack)
			continue
		}
		if copies[k] != copied { // the part since then is odd
			return slices.Clone(stack[k:])
		}
		maps.DeleteFunc(first, func(_ int32, at int) bool { return at > k }) // the part is even, and left out
		stack, copies = stack[:k], copies[:k]
	}
	return nil
}

func (s *separator) push(r reach) {
	s.heap = append(s.heap, r)
	i := len(s.heap) - 1
	for i > 0 {
		p := (i - 1) / 2
		if s.heap[p].dist <= r.dist {
			break
		}
		s.heap[i] = s.heap[p]
		i = p
	}
	s.heap[i] = r
}

func (s *separator) pop() reach {
	top := s.heap[0]
	last := s.heap[len(s.heap)-1]
	s.heap = s.heap[:len(s.heap)-1]
	n := len(s.heap)
	for i := 0; n > 0; {
		c := 2*i + 1
		if c >= n {
			s.heap[i] = last
			break
		}
		if c+1 < n && s.heap[c+1].dist < s.heap[c].dist {
			c++
		}
		if s.heap[c].dist >= last.dist {
			s.heap[i] = last
			break
		}
		s.heap[i] = s.heap[c]
		i = c
	}
	return top
}
