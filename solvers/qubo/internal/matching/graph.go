// Package matching finds lightest T-joins: sets of edges that meet every terminal an odd, and every other vertex an even number of
// times. It matches terminals at least distance by Edmonds' algorithm, which it runs on the graph itself: regions grow and shrink
// around terminals, and odd cycles of regions become regions. Region sizes are duals, and bound the weight from below at any moment.
//
// A Join is changed and solved again in few steps: terminals come and go, and edges go.
package matching

// A Graph has vertices, numbered from 0, and edges between them, loops and parallel edges among them. Edge e has the
// half-edges 2e and 2e+1.
type Graph struct {
	head  []int32 // of half-edges
	start []int32 // the half-edges from vertex v are from[start[v]:start[v+1]]
	from  []int32
	order []int32 // vertices, neighbours near each other
	wall  []int8  // of vertices: the stage at which they are no walls any more
	last  int8    // the last stage
}

// NewGraph makes a graph of n vertices and of edges with two ends each. Loops are in no lightest join, and are left out.
func NewGraph(n int, ends [][2]int32) *Graph {
	g := &Graph{head: make([]int32, 2*len(ends)), start: make([]int32, n+1), order: make([]int32, 0, n)}
	for e, end := range ends {
		g.head[2*e], g.head[2*e+1] = end[1], end[0]
		if end[0] != end[1] {
			g.start[end[0]+1]++
			g.start[end[1]+1]++
		}
	}
	for v := range n {
		g.start[v+1] += g.start[v]
	}
	g.from = make([]int32, g.start[n])
	at := append([]int32(nil), g.start[:n]...)
	for h := range g.head {
		if u := g.head[h^1]; u != g.head[h] {
			g.from[at[u]] = int32(h)
			at[u]++
		}
	}
	g.layers()
	return g
}

// Vertices is the number of vertices.
func (g *Graph) Vertices() int { return len(g.start) - 1 }

// Edges is the number of edges.
func (g *Graph) Edges() int { return len(g.head) / 2 }

// Ends are the two ends of an edge.
func (g *Graph) Ends(e int32) (int32, int32) { return g.head[2*e+1], g.head[2*e] }

// at are the half-edges from a vertex.
func (g *Graph) at(v int32) []int32 { return g.from[g.start[v]:g.start[v+1]] }
