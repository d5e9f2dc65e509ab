package matching

import (
	"cmp"
	"slices"
)

// Sets calls back the cuts that the duals stand for: each has a positive weight, and edges, ascending. The vertices on one side
// include an odd number of terminals, so that the join has an odd number of the edges. The weights of the cuts that an edge is in
// add up to at most its length, but for edges that were removed. All weights add up to the sum of the duals. only, ascending, are the
// nodes whose cuts are called back; nil: all are.
func (j *Join) Sets(only []int32, each func(node int32, y int64, edges []int32)) {
	inside := make([]int32, j.g.Vertices())
	turn := int32(0)
	type arrival struct {
		at int64
		v  int32
	}
	var shell []arrival
	var list, edges []int32
	j.eachNode(func(x int32) {
		n := &j.nodes[x]
		if n.y <= 0 {
			return
		}
		if only != nil {
			if _, is := slices.BinarySearch(only, x); !is {
				return
			}
		}
		turn++
		list, shell = list[:0], shell[:0]
		take := func(v int32) {
			list = append(list, v)
			inside[v] = turn
		}
		j.eachInside(x, func(c int32) {
			for v := j.nodes[c].shell; v >= 0; v = j.below[v] {
				if c != x {
					take(v)
				} else {
					shell = append(shell, arrival{j.dist[v] - j.within(j.source[v], x), v})
				}
			}
		})
		slices.SortStableFunc(shell, func(a, b arrival) int { return cmp.Compare(a.at, b.at) })
		for k, at := 0, int64(0); at < n.y; {
			for ; k < len(shell) && shell[k].at <= at; k++ {
				take(shell[k].v)
			}
			end := n.y
			if k < len(shell) {
				end = min(end, shell[k].at)
			}
			edges = edges[:0]
			for _, v := range list {
				for _, h := range j.g.at(v) {
					if inside[j.g.head[h]] != turn {
						edges = append(edges, h>>1)
					}
				}
			}
			slices.Sort(edges)
			each(x, end-at, edges)
			at = end
		}
	})
}

// within is the sum of the duals of the nodes around a terminal that are in a node.
func (j *Join) within(s, x int32) (sum int64) {
	for c := s; c != x; c = j.nodes[c].around {
		sum += j.nodes[c].y
	}
	return sum
}

// Deadlock are edges that were removed, and the join has to have an odd number of: those at a component with an odd number of
// terminals, ascending. There has to be one.
func (j *Join) Deadlock() []int32 {
	met := make([]bool, j.g.Vertices())
	for root := range met {
		if met[root] || !j.terminal[root] {
			continue
		}
		met[root] = true
		list := []int32{int32(root)}
		odd := false
		var edges []int32
		for k := 0; k < len(list); k++ {
			odd = odd != j.terminal[list[k]]
			for _, h := range j.g.at(list[k]) {
				v := j.g.head[h]
				if j.gone[h>>1] {
					edges = append(edges, h>>1)
				} else if !met[v] {
					met[v] = true
					list = append(list, v)
				}
			}
		}
		if !odd {
			continue
		}
		slices.Sort(edges)
		var once []int32 // those with both ends in the component are there twice
		for k, e := range edges {
			if (k == 0 || edges[k-1] != e) && (k+1 == len(edges) || edges[k+1] != e) {
				once = append(once, e)
			}
		}
		return once
	}
	return nil
}
