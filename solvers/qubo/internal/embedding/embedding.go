// Package embedding finds surfaces that graphs are drawn on without crossings: the plane, by the left-right test, and tori and
// other closed surfaces of lattices, by their shortest cycles.
package embedding

// A Graph is simple: no edge joins a vertex to itself, no two edges the same vertices. Edge e has the half-edges 2e, from its first
// end to its second, and 2e+1.
type Graph struct {
	ends  [][2]int32
	start []int32 // the half-edges from vertex v are from[start[v]:start[v+1]]
	from  []int32
}

// NewGraph makes a graph of n vertices.
func NewGraph(n int, ends [][2]int32) *Graph {
	g := &Graph{ends: ends, start: make([]int32, n+1), from: make([]int32, 2*len(ends))}
	for _, end := range ends {
		g.start[end[0]+1]++
		g.start[end[1]+1]++
	}
	for v := range n {
		g.start[v+1] += g.start[v]
	}
	at := append([]int32(nil), g.start[:n]...)
	for e, end := range ends {
		for k, v := range end {
			g.from[at[v]] = int32(2*e + k)
			at[v]++
		}
	}
	return g
}

func (g *Graph) vertices() int { return len(g.start) - 1 }

// tail and head are the ends of a half-edge.
func (g *Graph) tail(h int32) int32 { return g.ends[h>>1][h&1] }
func (g *Graph) head(h int32) int32 { return g.ends[h>>1][h&1^1] }

// at are the half-edges from a vertex.
func (g *Graph) at(v int32) []int32 { return g.from[g.start[v]:g.start[v+1]] }

// Faces are the regions into which a graph divides a surface.
type Faces struct {
	Count int
	Sides [][2]int32 // of each edge: the faces on its two sides, which may be one
	Kind  string     // "planar" or "a torus"
}

// Find finds faces of a graph, nil where it finds none.
func Find(g *Graph) *Faces {
	if f := planar(g); f != nil {
		return f
	}
	return lattice(g)
}

// planar are the faces of a planar graph, in each component's own plane; nil where the graph is not planar.
func planar(g *Graph) *Faces {
	next := rotation(g)
	if next == nil {
		return nil
	}
	f := &Faces{Sides: make([][2]int32, len(g.ends)), Kind: "planar"}
	side := make([]int32, 2*len(g.ends))
	for h := range side {
		side[h] = none
	}
	for h := range side {
		if side[h] != none {
			continue
		}
		for k := int32(h); side[k] == none; k = next[k^1] {
			side[k] = int32(f.Count)
		}
		f.Count++
	}
	for e := range f.Sides {
		f.Sides[e] = [2]int32{side[2*e], side[2*e+1]}
	}
	return f
}
