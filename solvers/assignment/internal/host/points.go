package host

import (
	"math"
	"slices"

	"coalesce/solvers/assignment/problem"
)

// places are the pairs of a problem of points: a tree of the columns' points
// finds those with the least c - v.
type places struct {
	p    *problem.Normal
	tree *PlaceTree
}

func newPlaces(p *problem.Normal) *places {
	q := p.Instance.Points
	return &places{p, NewPlaceTree(p, q.Col, p.Cols)}
}

// DualsChanged updates the tree with duals that have risen.
func (s *places) DualsChanged(v []int64) { s.tree.weigh(v) }

func (s *places) Reader() RowReader { return &placeReader{s: s} }

// ColumnMinima asks a tree of the rows' points that have u below problem.Infinity.
func (s *places) ColumnMinima(u, v []int64, threads int) {
	q := s.p.Instance.Points
	tree := NewPlaceTree(s.p, q.Row, s.p.Rows)
	tree.weigh(u)
	ParallelParts(threads, len(v), func() func(low, high int) {
		var found []Edge
		return func(low, high int) {
			for j := low; j < high; j++ {
				v[j] = problem.Infinity
				found, _ = tree.appendLeast(q.Col[j*q.Dim:(j+1)*q.Dim], u, 1, problem.Infinity-problem.Infinity/4, found[:0])
				for _, e := range found {
					v[j] = min(v[j], e.least)
				}
			}
		}
	})
}

type placeReader struct{ s *places }

func (r *placeReader) AppendLeast(i int, v []int64, k, enough int, guess int64, out []Edge) ([]Edge, int64) {
	q := r.s.p.Instance.Points
	point := q.Row[i*q.Dim : (i+1)*q.Dim]
	if guess < problem.Infinity/2 {
		if found, bound := r.s.tree.appendLeast(point, v, k, guess, out); len(found)-len(out) >= enough {
			return found, bound
		}
	}
	found, bound := r.s.tree.appendLeast(point, v, k, problem.Infinity-problem.Infinity/4, out)
	if bound == problem.Infinity-problem.Infinity/4 {
		bound = problem.Infinity
	}
	return found, bound
}

func (r *placeReader) AppendBelow(i int, limit []int64, out []Edge) []Edge {
	for j, l := range limit {
		if c := r.s.p.Cost(i, j); c < l {
			out = append(out, Edge{c, c, int32(j)})
		}
	}
	return out
}

// A PlaceTree is a k-d tree (Bentley 1975) of points with weights. A node is a
// box around its points and the most that any of them weighs. Weights that
// fall leave it right, only slower.
type PlaceTree struct {
	q      *problem.Points
	scale  float64
	coords []float64
	Order  []int32 // of points: those of a node stand together
	nodes  []placeNode
	boxes  []float64 // of nodes: Dim lowest, Dim highest coordinates
}

// A placeNode holds the points order[from:to]. Its first child is the next
// node.
type placeNode struct {
	from, to int32
	second   int32 // child, 0: a leaf
	weight   int64
}

// leafPoints is the most points of a leaf.
const leafPoints = 8

// NewPlaceTree puts n points of p in an order in which near ones stand together.
func NewPlaceTree(p *problem.Normal, coords []float64, n int) *PlaceTree {
	t := &PlaceTree{q: p.Instance.Points, scale: p.Scale, coords: coords, Order: make([]int32, n)}
	for k := range t.Order {
		t.Order[k] = int32(k)
	}
	if n > 0 {
		t.build(0, int32(n))
	}
	return t
}

func (t *PlaceTree) build(from, to int32) {
	dim := t.q.Dim
	id := len(t.nodes)
	t.nodes = append(t.nodes, placeNode{from: from, to: to})
	low, high := slices.Repeat([]float64{math.Inf(1)}, dim), slices.Repeat([]float64{math.Inf(-1)}, dim)
	for _, j := range t.Order[from:to] {
		for d, x := range t.coords[int(j)*dim : (int(j)+1)*dim] {
			low[d], high[d] = min(low[d], x), max(high[d], x)
		}
	}
	t.boxes = append(append(t.boxes, low...), high...)
	if to-from > leafPoints {
		wide := 0
		for d := range dim {
			if high[d]-low[d] > high[wide]-low[wide] {
				wide = d
			}
		}
		middle := from + (to-from)/2
		t.split(from, to, middle, wide)
		t.build(from, middle)
		t.nodes[id].second = int32(len(t.nodes))
		t.build(middle, to)
	}
}

// split orders points from to to so that those before middle have no greater
// coordinate d than those after.
func (t *PlaceTree) split(from, to, middle int32, d int) {
	x := func(k int32) float64 { return t.coords[int(t.Order[k])*t.q.Dim+d] }
	low, high := from, to-1
	for low < high {
		pivot := x((low + high) / 2)
		i, j := low, high
		for i <= j {
			for x(i) < pivot {
				i++
			}
			for x(j) > pivot {
				j--
			}
			if i <= j {
				t.Order[i], t.Order[j] = t.Order[j], t.Order[i]
				i++
				j--
			}
		}
		switch {
		case middle <= j:
			high = j
		case middle >= i:
			low = i
		default:
			return
		}
	}
}

// weigh takes the weights of all points.
func (t *PlaceTree) weigh(weights []int64) {
	for id := len(t.nodes) - 1; id >= 0; id-- {
		n := &t.nodes[id]
		if n.second > 0 {
			n.weight = max(t.nodes[id+1].weight, t.nodes[n.second].weight)
			continue
		}
		n.weight = math.MinInt64
		for _, j := range t.Order[n.from:n.to] {
			n.weight = max(n.weight, weights[j])
		}
	}
}

// atLeast is a lower bound on the scaled cost of a point and any point of a node. Every operation
// is monotone, rounding included.
func (t *PlaceTree) atLeast(point []float64, id int32) int64 {
	box := t.boxes[int(id)*2*t.q.Dim:][:2*t.q.Dim]
	sum := 0.0
	for d, x := range point {
		low, high := box[d], box[t.q.Dim+d]
		gap := max(low-x, x-high, 0)
		if t.scale < 0 {
			gap = max(high-x, x-low)
		}
		if t.q.Metric != problem.Manhattan {
			gap *= gap
		}
		sum += float64(gap)
	}
	return problem.ToScaled(t.q.FromSum(sum), t.scale)
}

// appendLeast appends to out the points with the least cost - weight, below limit,
// k to 2k where there are as many, and returns a bound that all others reach.
func (t *PlaceTree) appendLeast(point []float64, weights []int64, k int, limit int64, out []Edge) ([]Edge, int64) {
	if len(t.nodes) == 0 {
		return out, limit
	}
	s := placeSearch{PlaceTree: t, point: point, weights: weights, k: k, limit: limit, found: out, start: len(out)}
	s.visit(0)
	return s.found, s.limit
}

type placeSearch struct {
	*PlaceTree
	point   []float64
	weights []int64
	k       int
	limit   int64
	found   []Edge
	start   int
}

func (s *placeSearch) visit(id int32) {
	n := &s.nodes[id]
	if n.second > 0 {
		a, b := id+1, n.second
		la, lb := s.atLeast(s.point, a)-s.nodes[a].weight, s.atLeast(s.point, b)-s.nodes[b].weight
		if lb < la {
			a, b, la, lb = b, a, lb, la
		}
		if la < s.limit {
			s.visit(a)
		}
		if lb < s.limit {
			s.visit(b)
		}
		return
	}
	dim := s.q.Dim
	for _, j := range s.Order[n.from:n.to] {
		c := problem.ToScaled(s.q.FromSum(s.q.Sum(s.point, s.coords[int(j)*dim:(int(j)+1)*dim])), s.scale)
		if d := c - s.weights[j]; d < s.limit {
			s.found = append(s.found, Edge{c, d, j})
		}
	}
	if found := s.found[s.start:]; len(found) > 2*s.k {
		selectNth(found, s.k)
		s.limit = found[s.k].least
		s.found = s.found[:s.start+s.k]
	}
}
