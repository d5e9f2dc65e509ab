package paths

import (
	"coalesce/runtime/host/kernels/assignment/lapjv"
)

// fine is how many parts of a unit residual costs are counted in.
const fine = 1 << 24

// A graph is one of rows, in whose cycles of negative weight another matching is better: row i leads to the row that has the
// column of a near pair of i, or to nobody where it is free, and nobody leads to the rows whose column may become free.
type graph struct {
	start  []int32 // of each row: its edges
	to     []int32
	weight []int64 // residual cost of the pair, less that of the other row's own, in 1/fine of a unit
	own    []int64 // residual cost of each row's pair
	dist   []int64
	hops   []int32 // edges of the path that gave the distance
	queue  []int32
	queued []bool
}

// isBest reports whether no matching of the near pairs is better than that of the search, by exact residual costs: the search for
// shortest paths of Bellman, Ford and Moore finds no negative cycle. It is false where it cannot say so.
func isBest[T lapjv.Cost](s *Matcher, costs []T, width int64) bool {
	q, g := &s.search, &s.graph
	column, owner := q.Columns(), q.Owners()
	u, v := q.Duals()
	_, scale, _ := q.Slack()
	rows, cols := len(column), len(owner)
	residual := func(i, j int32) (int64, bool) {
		c := float64(costs[int(i)*cols+int(j)])
		x, _ := lapjv.Units(c, scale)
		rest := (c*scale - float64(x)) * fine
		part := int64(rest)
		return (x-u[i]-v[j])*fine + part, float64(part) == rest
	}
	g.open(rows)
	for i, j := range column {
		var ok bool
		if g.own[i], ok = residual(int32(i), j); !ok {
			return false
		}
	}
	nobody := int32(rows)
	i := int32(0)
	for _, x := range s.near {
		for ; i <= x.Row; i++ {
			g.start[i] = int32(len(g.to))
		}
		e, ok := residual(x.Row, x.Col)
		if !ok {
			return false
		}
		k := owner[x.Col]
		if k < 0 {
			k = nobody
		} else {
			e -= g.own[k]
		}
		g.add(k, e)
	}
	for ; i <= nobody; i++ {
		g.start[i] = int32(len(g.to))
	}
	if rows < cols {
		for i, j := range column {
			if -v[j] <= width {
				g.add(int32(i), -v[j]*fine-g.own[i])
			}
		}
	}
	g.start[rows+1] = int32(len(g.to))
	return !g.improves()
}

// open makes room for so many rows, without edges.
func (g *graph) open(rows int) {
	g.own, g.start = resize(g.own, rows), resize(g.start, rows+2)
	g.to, g.weight = g.to[:0], g.weight[:0]
}

func (g *graph) add(to int32, weight int64) {
	g.to, g.weight = append(g.to, to), append(g.weight, weight)
}

// improves reports whether a cycle has a negative weight, or the search of Bellman, Ford and Moore takes too long to say that none has.
func (g *graph) improves() bool {
	n := len(g.start) - 1
	g.dist, g.hops, g.queued = resize(g.dist, n), resize(g.hops, n), resize(g.queued, n)
	g.queue = g.queue[:0]
	for k := range n {
		g.dist[k], g.hops[k], g.queued[k] = 0, 0, true
		g.queue = append(g.queue, int32(k))
	}
	budget := 40*len(g.to) + 100
	for at := 0; at < len(g.queue); at++ {
		k := g.queue[at]
		g.queued[k] = false
		d := g.dist[k]
		low, high := g.start[k], g.start[k+1]
		if budget -= int(high - low); budget < 0 {
			return true
		}
		for e, to := range g.to[low:high] {
			x := d + g.weight[int(low)+e]
			if x >= g.dist[to] {
				continue
			}
			g.dist[to] = x
			if g.hops[to] = g.hops[k] + 1; int(g.hops[to]) >= n {
				return true
			}
			if !g.queued[to] {
				g.queued[to] = true
				g.queue = append(g.queue, to)
			}
		}
	}
	return false
}

// tighten lowers the duals v, which rounding in the search left some units too high, until no matched pair has slack, given the near pairs whose
// slack is at most the sum of that of the matched ones: by longest paths over these, as no dual falls more. Where the
// rounded costs have a better matching there are no such duals: it is false then, and the duals are as they were.
func tighten[T lapjv.Cost](s *Matcher, k *lapjv.Kernels, costs []T) bool {
	q, g := &s.search, &s.graph
	column, owner := q.Columns(), q.Owners()
	u, v := q.Duals()
	slack, scale, _ := q.Slack()
	rows, cols := len(column), len(owner)
	residual := func(i, j int32) int64 {
		x, _ := lapjv.Units(float64(costs[int(i)*cols+int(j)]), scale)
		return x - u[i] - v[j]
	}
	// If the price of a row's own column falls, the prices of columns near the row must fall too: by as much, plus the slack of the row's own
	// pair, less that of the near pair.
	g.dist, g.queued, g.start = resize(g.dist, rows), resize(g.queued, rows), resize(g.start, rows+1)
	g.queue, g.to, g.weight = g.queue[:0], g.to[:0], g.weight[:0]
	near := s.near
	for i, j := range column {
		own := residual(int32(i), j)
		if g.dist[i], g.queued[i] = 0, own > 0; own > 0 {
			g.queue = append(g.queue, int32(i))
		}
		for g.start[i] = int32(len(g.to)); len(near) > 0 && int(near[0].Row) == i; near = near[1:] {
			g.to, g.weight = append(g.to, owner[near[0].Col]), append(g.weight, own-residual(int32(i), near[0].Col))
		}
	}
	g.start[rows] = int32(len(g.to))
	budget := 40*len(g.to) + 100
	for at := 0; at < len(g.queue); at++ {
		i := g.queue[at]
		g.queued[i] = false
		low, high := g.start[i], g.start[i+1]
		if budget -= int(high - low); budget < 0 {
			return false
		}
		for e, to := range g.to[low:high] {
			x := g.dist[i] + g.weight[int(low)+e]
			switch {
			case x <= 0 || to >= 0 && x <= g.dist[to]:
				continue
			case to < 0 || x > slack: // a free column, or a cycle
				return false
			}
			g.dist[to] = x
			if !g.queued[to] {
				g.queued[to] = true
				g.queue = append(g.queue, to)
			}
		}
	}
	for i, j := range column {
		v[j] -= g.dist[i]
	}
	pass := func(raise int) bool {
		for i := range column {
			q.SetDual(i, 0, false)
		}
		if s.listed {
			s.byLists()
		}
		return k.Check(q, raise) == 0
	}
	if pass(1) && feasible(q) {
		if slack, _, _ = q.Slack(); slack == 0 {
			return true
		}
	}
	pass(0)
	return false
}
