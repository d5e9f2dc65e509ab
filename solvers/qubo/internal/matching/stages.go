package matching

import (
	"math/bits"
	"slices"
)

// The first solve of a join has stages. Walls divide the graph at first: vertices that no region enters, and that any number of nodes may
// be matched to. So a tree ends at the next wall. At each stage some walls become vertices like others, the nodes matched to them are
// matched anew, and duals stay. Most trees are small so: without walls a tree grows over much of the graph where many edges have no slack.
// Any vertices may be walls.

// Walls are layers of a breadth-first search, every wallWidth until the first stage, every second of these until the next, and vertices
// of more neighbours than mostNeighbours until the last.
const (
	wallWidth      = 8
	mostNeighbours = 64
)

// The walls of a join.
type walls struct {
	stage   int8   // of the first solve
	waiting []bool // terminals, those that are walls at this stage among them; nil: nothing is a wall
}

// layers orders the vertices breadth first, and makes layers walls.
func (g *Graph) layers() {
	n := g.Vertices()
	layer := slices.Repeat([]int32{none}, n)
	g.wall = make([]int8, n)
	isHub := func(v int32) bool { return len(g.at(v)) > mostNeighbours }
	for root := range int32(n) {
		if layer[root] >= 0 || isHub(root) {
			continue
		}
		layer[root] = 0
		g.order = append(g.order, root)
		for k := len(g.order) - 1; k < len(g.order); k++ {
			u := g.order[k]
			if d := layer[u]; d > 0 && d%wallWidth == 0 {
				g.wall[u] = int8(1 + bits.TrailingZeros32(uint32(d/wallWidth)))
				g.last = max(g.last, g.wall[u])
			}
			for _, h := range g.at(u) {
				if v := g.head[h]; layer[v] < 0 && !isHub(v) {
					layer[v] = layer[u] + 1
					g.order = append(g.order, v)
				}
			}
		}
	}
	if len(g.order) == n {
		return
	}
	g.last++
	for v := range int32(n) {
		if isHub(v) {
			g.wall[v] = g.last
			g.order = append(g.order, v)
		}
	}
}

// SetTerminals makes vertices of an empty join terminals. The first solve adds those that are walls in stages.
func (j *Join) SetTerminals(terminal []bool) {
	j.walls = walls{waiting: slices.Clone(terminal)}
	j.admit()
}

// isWall reports whether a vertex is a wall at this stage.
func (j *Join) isWall(v int32) bool { return j.g.wall[v] > j.walls.stage }

// isFree reports whether a node at the top may be matched: it is not, or is to a wall.
func (j *Join) isFree(x int32) bool {
	to := j.nodes[x].mate.to
	return to < 0 || j.isWall(to)
}

// nextStage begins the next stage of a solve: some walls are none any more. It reports whether there was one.
func (j *Join) nextStage() bool {
	if j.walls.waiting == nil {
		return false
	}
	if j.walls.stage == j.g.last {
		j.walls.waiting = nil
		return false
	}
	j.walls.stage++
	j.eachNode(func(x int32) {
		n := &j.nodes[x]
		if n.around < 0 && n.mate.to >= 0 && j.g.wall[n.mate.to] == j.walls.stage {
			j.pending = append(j.pending, n.mate.own)
			n.mate = nowhere
		}
	})
	j.admit()
	return true
}

// endStages leaves no walls.
func (j *Join) endStages() {
	for j.walls.waiting != nil {
		j.nextStage()
	}
}

// admit makes the vertices that are walls until this stage terminals where they are to be. Each begins with the radius at which it meets
// others, or shares the way to a terminal next to it.
func (j *Join) admit() {
	first := len(j.pending)
	for _, v := range j.g.order {
		if !j.walls.waiting[v] || j.g.wall[v] != j.walls.stage {
			continue
		}
		j.toggle(v)
		if len(j.g.at(v)) == 0 {
			continue
		}
		y := int64(farthest)
		for _, h := range j.g.at(v) {
			w, room := j.g.head[h], j.length[h>>1]
			if _, far := j.reach(w); far > 0 {
				room -= far
			} else if j.walls.waiting[w] {
				room /= 2
			}
			y = min(y, room)
		}
		j.nodes[v].y = y
		j.sum += y
	}
	slices.Reverse(j.pending[first:]) // the last is matched first
}
