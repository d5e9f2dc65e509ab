package cliques

import (
	"context"
	"math"
	"math/big"
	"slices"

	"coalesce/solvers/lp"
)

// A Cut is an inequality that all partitions satisfy. For an edge of positive weight let x be 1 where it is inside a block, for one of negative weight
// where it is not, else 0. Without First, the nodes are a path of positive edges whose ends have a negative edge: not all of these edges
// have x = 1 (a conflict). Else the first so many nodes have positive edges to all others, and negative ones among themselves, as the others have:
// the x add up to at most the lesser number of nodes, and the number of negative edges (a 2-partition inequality; Grötschel and Wakabayashi 1990).
// Any prices of at least 0 bound the weights inside blocks: all partitions are worth at most what the cuts allow, times their prices, and what
// each edge weighs beyond the prices of its cuts, less the weights of negative edges.
type Cut struct {
	Nodes []int32 `json:"nodes"`                                   // nodes, from 0
	First int     `json:"first,omitempty" none:"it is a conflict"` // nodes on the side of the first, with positive edges to all others
	Price int64   `json:"price"`                                   // price in 2^-shift of a unit
}

// each calls edge with the ends of each edge of a cut, and whether its weight is positive, and returns the most that they add up to.
func (c *Cut) each(edge func(i, j int32, positive bool)) (allowed int64) {
	k := len(c.Nodes)
	if c.First == 0 {
		for a := 1; a < k; a++ {
			edge(c.Nodes[a-1], c.Nodes[a], true)
		}
		edge(c.Nodes[0], c.Nodes[k-1], false)
		return int64(k - 1)
	}
	allowed = int64(min(c.First, k-c.First))
	for a := range k {
		for b := a + 1; b < k; b++ {
			across := a < c.First && b >= c.First
			if !across {
				allowed++
			}
			edge(c.Nodes[a], c.Nodes[b], across)
		}
	}
	return allowed
}

// isOf reports whether the nodes are some of n, each once, three or more, and the first ones not all of them.
func (c *Cut) isOf(n int) bool {
	if len(c.Nodes) < 3 || c.First < 0 || c.First >= len(c.Nodes) {
		return false
	}
	seen := slices.Clone(c.Nodes)
	slices.Sort(seen)
	return seen[0] >= 0 && int(seen[len(seen)-1]) < n && len(slices.Compact(seen)) == len(c.Nodes)
}

// dense is a graph's weights as a square.
func (g *Graph) dense() []int64 {
	w := make([]int64, g.N*g.N)
	for i := range g.N {
		col, weight := g.Row(i)
		for k, j := range col {
			w[i*g.N+int(j)] = weight[k]
		}
	}
	return w
}

// CutBound is the bound that cuts and their prices prove, rounded down to units, and false if a cut is none of the graph's.
func (g *Graph) CutBound(cuts []Cut, shift uint) (bound int64, ok bool) {
	return boundOf(g.N, g.dense(), cuts, shift)
}

func boundOf(n int, w []int64, cuts []Cut, shift uint) (bound int64, ok bool) {
	if shift > maxShift {
		return 0, false
	}
	left := make(map[int]*big.Int)
	sum, price := new(big.Int), new(big.Int)
	for k := range cuts {
		c := &cuts[k]
		if c.Price < 0 || !c.isOf(n) {
			return 0, false
		}
		ok := true
		price.SetInt64(c.Price)
		allowed := c.each(func(i, j int32, positive bool) {
			at := int(min(i, j))*n + int(max(i, j))
			if ok = ok && w[at] != 0 && w[at] > 0 == positive; !ok {
				return
			}
			if left[at] == nil {
				x := new(big.Int).SetInt64(max(w[at], -w[at]))
				left[at] = x.Lsh(x, shift)
			}
			left[at].Sub(left[at], price)
		})
		if !ok {
			return 0, false
		}
		sum.Add(sum, new(big.Int).Mul(price, big.NewInt(allowed)))
	}
	for i := range n {
		for j := i + 1; j < n; j++ {
			x := w[i*n+j]
			if x == 0 {
				continue
			}
			if rest := left[i*n+j]; rest != nil {
				if rest.Sign() > 0 {
					sum.Add(sum, rest)
				}
			} else if x > 0 || x < 0 {
				all := new(big.Int).SetInt64(max(x, -x))
				sum.Add(sum, all.Lsh(all, shift))
			}
			if x < 0 {
				all := new(big.Int).SetInt64(x)
				sum.Add(sum, all.Lsh(all, shift))
			}
		}
	}
	sum.Rsh(sum, shift) // rounds down
	return sum.Int64(), sum.IsInt64()
}

// What a relaxation takes at most.
const (
	maxShift = 30
	mostCuts = 4000 // rows at once
	newCuts  = 150  // rows a round
	rowsKept = 12   // times the nodes: more rows, and those that bind nothing go

	violated = 1e-4
	useful   = 1e-7 // prices of cuts that are kept
	cutNodes = 7    // of a 2-partition inequality
)

// A Relaxation is a linear program whose cuts are added round by round, and the best proof of a bound so far.
type Relaxation struct {
	n     int
	w     []int64
	edge  []int32 // column of each pair of nodes, -1: no edge
	pairs [][2]int32
	lp    *lp.Solver
	cuts  []Cut // of the rows
	known map[string]bool
	loss  float64 // weights of negative edges
	shift uint

	Bound int64 // the best so far
	Best  []Cut // whose prices prove it
	done  bool
}

// NewRelaxation is the linear program of a graph without cuts.
func NewRelaxation(g *Graph) *Relaxation { return newRelaxation(g.N, g.dense()) }

func newRelaxation(n int, w []int64) *Relaxation {
	r := &Relaxation{n: n, w: w, edge: make([]int32, n*n), known: map[string]bool{}}
	var prices []float64
	total := 0.0
	for i := range n {
		for j := range n {
			r.edge[i*n+j] = -1
			if x := w[i*n+j]; i < j && x != 0 {
				r.edge[i*n+j] = int32(len(prices))
				r.pairs = append(r.pairs, [2]int32{int32(i), int32(j)})
				prices = append(prices, math.Abs(float64(x)))
				total += math.Abs(float64(x))
				if x < 0 {
					r.loss -= float64(x)
				}
			} else if i > j {
				r.edge[i*n+j] = r.edge[j*n+i]
			}
		}
	}
	for r.shift < maxShift && total*math.Ldexp(1, int(r.shift)) < 1<<50 {
		r.shift++
	}
	r.lp = lp.New(&lp.Matrix{Columns: make([][]int32, len(prices))}, prices)
	r.Bound, _ = boundOf(n, w, nil, r.shift)
	return r
}

// Shift is that of the prices of Best.
func (r *Relaxation) Shift() uint { return r.shift }

// value is that of a partition in whose blocks an edge is to the extent of the solution, from 0 to 1.
func (r *Relaxation) inside(i, j int) float64 {
	e := r.edge[i*r.n+j]
	switch {
	case e < 0:
		return 0
	case r.w[i*r.n+j] > 0:
		return r.lp.Value(int(e))
	}
	return 1 - r.lp.Value(int(e))
}

// Round solves the program and adds cuts that its solution violates. It reports whether there may be more to do. A bound of at most enough ends it.
func (r *Relaxation) Round(ctx context.Context, enough int64) bool {
	if r.done {
		return false
	}
	solved := r.lp.Solve(ctx, float64(enough)+0.5+r.loss, 0)
	r.takeBound()
	if !solved || r.Bound <= enough {
		r.done = ctx.Err() == nil
		return !r.done
	}
	if r.lp.Length() > rowsKept*r.n {
		kept := r.lp.RemoveRows(func(int) bool { return true })
		cuts := make([]Cut, len(kept))
		for k, i := range kept {
			cuts[k] = r.cuts[i]
		}
		r.cuts = cuts
		clear(r.known)
		for k := range cuts {
			r.known[keyOf(&cuts[k])] = true
		}
	}
	r.done = !r.separate()
	return !r.done
}

// takeBound keeps the prices of the rows if they prove a better bound.
func (r *Relaxation) takeBound() {
	var cuts []Cut
	for i := range r.cuts {
		if price := r.lp.Price(i); price > useful {
			c := r.cuts[i]
			if c.Price = int64(math.Ldexp(price, int(r.shift))); c.Price > 0 {
				cuts = append(cuts, c)
			}
		}
	}
	if bound, ok := boundOf(r.n, r.w, cuts, r.shift); ok && (bound < r.Bound || r.Best == nil) {
		r.Bound, r.Best = bound, cuts
	}
}

func keyOf(c *Cut) string {
	key := []byte{byte(c.First)}
	for _, v := range c.Nodes {
		key = append(key, byte(v), byte(v>>8), byte(v>>16))
	}
	return string(key)
}

// A candidate is a cut that the solution violates by so much.
type candidate struct {
	cut Cut
	by  float64
}

// separate adds cuts that the solution violates, and reports whether there are some.
func (r *Relaxation) separate() bool {
	found := r.conflicts()
	if len(found) < newCuts/4 {
		found = append(found, r.stars()...)
	}
	slices.SortStableFunc(found, func(a, b candidate) int {
		switch {
		case a.by > b.by:
			return -1
		case a.by < b.by:
			return 1
		}
		return 0
	})
	var rows [][]int32
	var most []float64
	for _, c := range found {
		key := keyOf(&c.cut)
		if r.known[key] || len(rows) == newCuts || r.lp.Length()+len(rows) >= mostCuts {
			continue
		}
		r.known[key] = true
		var row []int32
		allowed := c.cut.each(func(i, j int32, _ bool) { row = append(row, r.edge[int(i)*r.n+int(j)]) })
		slices.Sort(row)
		rows, most = append(rows, row), append(most, float64(allowed))
		r.cuts = append(r.cuts, c.cut)
	}
	if len(rows) > 0 {
		r.lp.AddRows(rows, most)
	}
	return len(rows) > 0
}

// conflicts are, for each negative edge, the shortest path of positive edges between its ends, if the solution violates the conflict.
func (r *Relaxation) conflicts() (found []candidate) {
	n := r.n
	length := make([]float64, n*n) // 1 - x of positive edges
	for k, p := range r.pairs {
		i, j := int(p[0]), int(p[1])
		x := math.Inf(1)
		if r.w[i*n+j] > 0 {
			x = max(0, 1-r.lp.Value(k))
		}
		length[i*n+j], length[j*n+i] = x, x
	}
	distance, from, closed := make([]float64, n), make([]int32, n), make([]bool, n)
	for s := range n {
		for v := range n {
			distance[v], closed[v], from[v] = math.Inf(1), false, -1
		}
		distance[s] = 0
		for {
			u := -1
			for v := range n {
				if !closed[v] && distance[v] < 1-violated && (u < 0 || distance[v] < distance[u]) {
					u = v
				}
			}
			if u < 0 {
				break
			}
			closed[u] = true
			for v := range n {
				if r.w[u*n+v] > 0 && distance[u]+length[u*n+v] < distance[v] {
					distance[v], from[v] = distance[u]+length[u*n+v], int32(u)
				}
			}
		}
		for v := s + 1; v < n; v++ {
			if e := r.edge[s*n+v]; e >= 0 && r.w[s*n+v] < 0 && closed[v] {
				by := r.lp.Value(int(e)) - distance[v]
				if by < violated {
					continue
				}
				var nodes []int32
				for u := int32(v); u >= 0; u = from[u] {
					nodes = append(nodes, u)
				}
				slices.Reverse(nodes)
				found = append(found, candidate{Cut{Nodes: nodes}, by / float64(len(nodes))})
			}
		}
	}
	return found
}

// stars are 2-partition inequalities with one node on the first side, greedily from each node and one of its positive edges.
func (r *Relaxation) stars() (found []candidate) {
	n := r.n
	for s := range n {
		var near []int
		for t := range n {
			if r.w[s*n+t] > 0 && r.inside(s, t) > violated {
				near = append(near, t)
			}
		}
		for _, first := range near {
			side, sum := []int{first}, r.inside(s, first)
			for len(side) < cutNodes-1 {
				best, gain := -1, 0.0
				for _, t := range near {
					g := r.inside(s, t)
					for _, u := range side {
						if r.w[t*n+u] >= 0 {
							g = -1
							break
						}
						g -= r.inside(t, u)
					}
					if g > gain+1e-9 {
						best, gain = t, g
					}
				}
				if best < 0 {
					break
				}
				side, sum = append(side, best), sum+gain
			}
			if len(side) < 3 || sum < 1+violated {
				continue
			}
			slices.Sort(side)
			nodes := []int32{int32(s)}
			for _, t := range side {
				nodes = append(nodes, int32(t))
			}
			found = append(found, candidate{Cut{Nodes: nodes, First: 1}, (sum - 1) / float64(len(nodes))})
		}
	}
	return found
}
