package matching

import (
	"cmp"
	"slices"
)

// An EachCut is called back with the cuts of nodes.
type EachCut func(node int32, y int64, edges []int32, relative bool)

// Sets calls back the cuts that the duals stand for: each has a positive weight, and edges. The vertices on one side include an odd
// number of terminals, so that the join has an odd number of the edges. The weights of the cuts that an edge is in add up to at most
// its length, but for edges that were removed. All weights add up to the sum of the duals. A relative cut comes as the edges in which
// it differs from the one before.
func (j *Join) Sets(each EachCut) {
	c := j.newCut(each)
	j.eachNode(func(x int32) {
		if j.nodes[x].around < 0 {
			c.count(x)
			c.visit(x)
		}
	})
}

// SetsOf is Sets for some nodes. It skips nodes that have no set, for example vertices other than terminals.
func (j *Join) SetsOf(nodes []int32, each EachCut) {
	n := int32(j.g.Vertices())
	idle := j.idle()
	c := j.newCut(each)
	c.wanted, c.around = map[int32]bool{}, map[int32]bool{}
	var tops []int32
	for _, x := range nodes {
		if x < n && !j.terminal[x] || x >= n && idle[x-n] || j.nodes[x].y <= 0 {
			continue
		}
		c.wanted[x] = true
		for !c.around[x] {
			c.around[x] = true
			if j.nodes[x].around < 0 {
				tops = append(tops, x)
				break
			}
			x = j.nodes[x].around
		}
	}
	for _, x := range tops {
		c.count(x)
		c.visit(x)
	}
}

// A cut is the edges from some vertices to others.
type cut struct {
	j     *Join
	each  EachCut
	edges []int32
	place []int32 // of edges: in edges
	turn  []int32 // of edges: when place was set
	now   int32
	shell []arrival
	since []int32 // edges that came or went since a cut was called back
	goes  bool    // the cut goes on from one that was called back
	nodes []int32 // numbers of nodes within nodes

	wanted map[int32]bool // nodes whose cuts are called back; nil: all are
	around map[int32]bool // these and the nodes around them
}

// An arrival is a vertex, and the radius of the region at which it came.
type arrival struct {
	at int64
	v  int32
}

func (j *Join) newCut(each EachCut) *cut {
	return &cut{j: j, each: each, place: make([]int32, j.g.Edges()), turn: make([]int32, j.g.Edges()), nodes: make([]int32, len(j.nodes))}
}

// begin begins with no vertices.
func (c *cut) begin() {
	c.now++
	c.edges, c.since, c.goes = c.edges[:0], c.since[:0], false
}

// toggle takes an edge in or out.
func (c *cut) toggle(e int32) {
	c.since = append(c.since, e)
	if c.turn[e] != c.now {
		c.turn[e], c.place[e] = c.now, none
	}
	at := c.place[e]
	if at == none {
		c.place[e] = int32(len(c.edges))
		c.edges = append(c.edges, e)
		return
	}
	last := c.edges[len(c.edges)-1]
	c.edges[at], c.place[last] = last, at
	c.edges, c.place[e] = c.edges[:len(c.edges)-1], none
}

// take takes a vertex in.
func (c *cut) take(v int32) {
	for _, h := range c.j.g.at(v) {
		c.toggle(h >> 1)
	}
}

// count counts the nodes within a node, itself among them.
func (c *cut) count(x int32) int32 {
	c.nodes[x] = 1
	if first := c.j.nodes[x].first; first >= 0 {
		for d := first; ; {
			c.nodes[x] += c.count(d)
			if d = c.j.nodes[d].side; d == first {
				break
			}
		}
	}
	return c.nodes[x]
}

// visit calls back the cuts of a node and of those within, and leaves the edges that leave its region. The largest of the nodes in it comes last, so
// that the cut of the node goes on from there.
func (c *cut) visit(x int32) {
	j := c.j
	largest := int32(none)
	each := func(visit func(d int32)) {
		if first := j.nodes[x].first; first >= 0 {
			for d := first; ; {
				visit(d)
				if d = j.nodes[d].side; d == first {
					break
				}
			}
		}
	}
	isWanted := func(d int32) bool { return c.wanted == nil || c.around[d] }
	each(func(d int32) {
		if isWanted(d) && (largest < 0 || c.nodes[d] > c.nodes[largest]) {
			largest = d
		}
	})
	var others [][]int32
	each(func(d int32) {
		if isWanted(d) && d != largest {
			c.visit(d)
			others = append(others, slices.Clone(c.edges))
		}
	})
	if largest >= 0 {
		c.visit(largest)
	} else {
		c.begin()
	}
	for _, list := range others {
		for _, e := range list {
			c.toggle(e)
		}
	}
	each(func(d int32) {
		if !isWanted(d) {
			j.eachVertex(d, c.take)
		}
	})
	c.levels(x)
}

// levels calls back the cuts of a node, whose nodes' regions are taken in.
func (c *cut) levels(x int32) {
	j := c.j
	n := &j.nodes[x]
	c.shell = c.shell[:0]
	for v := n.shell; v >= 0; v = j.below[v] {
		c.shell = append(c.shell, arrival{j.dist[v] - j.within(j.source[v], x), v})
	}
	slices.SortStableFunc(c.shell, func(a, b arrival) int { return cmp.Compare(a.at, b.at) })
	k := 0
	for at := int64(0); at < n.y; {
		for ; k < len(c.shell) && c.shell[k].at <= at; k++ {
			c.take(c.shell[k].v)
		}
		end := n.y
		if k < len(c.shell) {
			end = min(end, c.shell[k].at)
		}
		if c.wanted == nil || c.wanted[x] {
			c.report(x, end-at)
		}
		at = end
	}
	for ; k < len(c.shell); k++ {
		c.take(c.shell[k].v)
	}
}

// report calls back a cut, as its differences from the last where these are fewer than its edges.
func (c *cut) report(x int32, y int64) {
	list, relative := c.edges, false
	if c.goes {
		slices.Sort(c.since)
		odd := c.since[:0]
		for _, e := range c.since { // pairs cancel out
			if len(odd) > 0 && odd[len(odd)-1] == e {
				odd = odd[:len(odd)-1]
			} else {
				odd = append(odd, e)
			}
		}
		if relative = len(odd) < len(list); relative {
			list = odd
		}
	}
	c.each(x, y, list, relative)
	c.since, c.goes = c.since[:0], true
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
