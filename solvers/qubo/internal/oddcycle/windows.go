package oddcycle

import (
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"

	"coalesce/solvers/qubo/internal/frustration"
)

// A packing of odd cycles is a graph's that is too large for one linear program. It is improved window by window: the cycles within some hundreds of edges are
// taken out, and the program of these edges, with the room that they have then, packs others.
type packing struct {
	*relaxation // of no rows: edges, and what they carry
	sets        [][]int32
	weight      []int64
	visits      []int32 // of vertices, by windows
	place       []int32 // of edges in the window, -1: outside
	vertex      []int32 // of vertices in the window, -1: outside
	total       *big.Int
	rand        *rand.Rand
}

const (
	mostPacked   = 200_000 // edges
	windowEdges  = 700
	windowRounds = 30
	fewRows      = 1e-3 // a round that gains less than this share of the loss ends a window
)

// Pack looks for better and better bounds, until ctx ends, or until they hardly improve.
func Pack(ctx context.Context, m *frustration.Model, bound func(proof *frustration.Proof)) {
	r := newRelaxation(m)
	if r == nil {
		return
	}
	p := &packing{relaxation: r, visits: make([]int32, m.N), place: make([]int32, len(r.edges)), vertex: make([]int32, m.N), total: new(big.Int), rand: rand.New(rand.NewPCG(1, 4))}
	copy(r.room, r.most)
	for k := range p.place {
		p.place[k] = -1
	}
	for v := range p.vertex {
		p.vertex[v] = -1
	}
	shown := 0.0
	show := func(least float64) bool {
		total, _ := new(big.Float).SetInt(p.total).Float64()
		if total <= shown*(1+least) {
			return false
		}
		shown = total
		bound(&frustration.Proof{Exponent: r.exponent(), Sets: p.proof()})
		return true
	}
	each := max(1, len(r.edges)/windowEdges)
	for count := 1; ctx.Err() == nil; count++ {
		p.improve(ctx)
		if count%each == 0 && !show(1e-4) && count > 4*each {
			return
		}
	}
	show(0)
}

// proof is the packing in the form of a proof.
func (p *packing) proof() (sets [][]int64) {
	for i, cycle := range p.sets {
		set := append(make([]int64, 0, 1+len(cycle)), p.weight[i])
		for _, k := range cycle {
			set = append(set, int64(p.edges[k]))
		}
		sets = append(sets, set)
	}
	return sets
}

// improve packs the cycles of a window again, around a vertex that few windows had.
func (p *packing) improve(ctx context.Context) {
	root := int32(p.rand.IntN(p.m.N))
	for range 16 {
		if v := int32(p.rand.IntN(p.m.N)); p.visits[v] < p.visits[root] {
			root = v
		}
	}
	if p.m.Hub && int(root) == p.m.N-1 {
		root = 0
	}
	edges, vertices := p.window(root)
	defer func() {
		for _, k := range edges {
			p.place[k] = -1
		}
		for _, v := range vertices {
			p.vertex[v] = -1
		}
	}()
	inside := func(cycle []int32) bool {
		for _, k := range cycle {
			if p.place[k] < 0 {
				return false
			}
		}
		return true
	}
	sub := &frustration.Model{N: len(vertices), Whole: true}
	for _, k := range edges {
		end := p.ends[k]
		sub.Ends = append(sub.Ends, [2]int32{p.vertex[end[0]], p.vertex[end[1]]})
		sub.Odd = append(sub.Odd, p.isOdd(k))
		sub.Cap = append(sub.Cap, p.room[k])
	}
	var out []int
	var cycles [][]int32
	released := new(big.Int)
	for i, cycle := range p.sets {
		if !inside(cycle) {
			continue
		}
		out = append(out, i)
		released.Add(released, big.NewInt(p.weight[i]))
		for _, k := range cycle {
			sub.Cap[p.place[k]] += p.weight[i]
		}
	}
	r := newRelaxation(sub)
	if r == nil {
		return
	}
	number := make([]int32, len(edges)) // of the window's edges as columns
	for c, e := range r.edges {
		number[e] = int32(c)
	}
	for _, i := range out {
		var cycle []int32
		for _, k := range p.sets[i] {
			cycle = append(cycle, number[p.place[k]])
		}
		slices.Sort(cycle)
		cycles = append(cycles, cycle)
	}
	r.add(cycles)
	before := math.Inf(-1)
	for range windowRounds {
		r.solve(ctx, math.Inf(1))
		loss := r.loss()
		if loss-before < fewRows*loss {
			break
		}
		before = loss
		if r.clean(); !r.cut(ctx) {
			break
		}
	}
	weight, total := r.packing()
	if total.Rsh(total, uint(r.shift)); total.Cmp(released) <= 0 {
		return
	}
	for n := len(out) - 1; n >= 0; n-- { // from the last, which takes the place of each
		i, last := out[n], len(p.sets)-1
		for _, k := range p.sets[i] {
			p.room[k] += p.weight[i]
		}
		p.total.Sub(p.total, big.NewInt(p.weight[i]))
		p.sets[i], p.weight[i] = p.sets[last], p.weight[last]
		p.sets, p.weight = p.sets[:last], p.weight[:last]
	}
	for i, w := range weight {
		if w >>= r.shift; w > 0 {
			cycle := make([]int32, 0, len(r.rows[i]))
			for _, c := range r.rows[i] {
				k := edges[r.edges[c]]
				p.room[k] -= w
				cycle = append(cycle, k)
			}
			p.sets, p.weight = append(p.sets, cycle), append(p.weight, w)
			p.total.Add(p.total, big.NewInt(w))
		}
	}
}

// window lists edges around a vertex, and the vertices that they join, and numbers them.
func (p *packing) window(root int32) (edges, vertices []int32) {
	p.vertex[root] = 0
	vertices = append(vertices, root)
	for at := 0; at < len(vertices) && len(edges) < windowEdges; at++ {
		v := vertices[at]
		p.visits[v]++
		for _, h := range p.find.at[v] {
			w := p.ends[h>>1][h&1^1]
			if int(w) == p.m.N-1 && p.m.Hub { // is in every window, and leads to no other vertex
				continue
			}
			if p.vertex[w] < 0 {
				p.vertex[w] = int32(len(vertices))
				vertices = append(vertices, w)
			}
			if p.place[h>>1] < 0 {
				p.place[h>>1] = int32(len(edges))
				edges = append(edges, h>>1)
			}
		}
	}
	if !p.m.Hub {
		return edges, vertices
	}
	hub := int32(p.m.N - 1)
	number := p.vertex[hub]
	if number < 0 {
		number = int32(len(vertices))
		vertices = append(vertices, hub)
		p.vertex[hub] = number
	}
	for _, h := range p.find.at[hub] {
		if k := h >> 1; p.vertex[p.ends[k][h&1^1]] >= 0 && p.place[k] < 0 {
			p.place[k] = int32(len(edges))
			edges = append(edges, k)
		}
	}
	return edges, vertices
}
