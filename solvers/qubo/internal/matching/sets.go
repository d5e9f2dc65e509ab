package matching

import (
	"cmp"
	"slices"
)

// Sets calls back the cuts that the duals stand for: each has a positive weight, and edges, ascending. The vertices on one side
// include an odd number of terminals, so that the join has an odd number of the edges. The weights of the cuts that an edge is in
// add up to at most its length, but for edges that were removed. All weights add up to the sum of the duals.
func (j *Join) Sets(each func(y int64, edges []int32)) {
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
			each(end-at, edges)
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
