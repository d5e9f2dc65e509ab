package embedding

// lattice finds faces of a graph on a torus; nil where it finds none. The shortest cycles of triangular, square and hexagonal
// lattices are their faces, whatever the numbers of vertices are. Small square lattices, and those without some edges, are known by
// numbers row by row.
func lattice(g *Graph) *Faces {
	for _, k := range []int{3, 4, 6} {
		if f := cycles(g, k); f != nil {
			return f
		}
	}
	return numbered(g)
}

// mostNeighbours is the most edges of a vertex of a lattice whose cycles are looked for.
const mostNeighbours = 8

// cycles are the cycles of k edges as faces: nil unless every edge is in exactly two, and the surface is one with Euler's number 0.
func cycles(g *Graph, k int) *Faces {
	n := g.vertices()
	for v := range int32(n) {
		if d := len(g.at(v)); d < 2 || d > mostNeighbours {
			return nil
		}
	}
	f := &Faces{Sides: make([][2]int32, len(g.ends)), Kind: "a torus"}
	for e := range f.Sides {
		f.Sides[e] = [2]int32{none, none}
	}
	path, on := make([]int32, 0, k), make([]bool, n) // half-edges, and vertices between them
	for e := range int32(len(g.ends)) {
		goal := g.ends[e][0]
		found := 0
		var walk func(v int32) bool
		walk = func(v int32) bool {
			for _, h := range g.at(v) {
				w := g.head(h)
				switch {
				case on[w] || h>>1 == e:
				case len(path) == k-1:
					if w != goal {
						continue
					}
					if found++; found > 2 {
						return false
					}
					first := true
					for _, p := range path {
						first = first && p>>1 >= e
					}
					if first && h>>1 > e {
						for _, p := range append(path, h) {
							if !f.add(p>>1, int32(f.Count)) {
								return false
							}
						}
						f.Count++
					}
				case w != goal:
					on[w] = true
					path = append(path, h)
					ok := walk(w)
					path = path[:len(path)-1]
					on[w] = false
					if !ok {
						return false
					}
				}
			}
			return true
		}
		end := g.ends[e][1]
		path = append(path[:0], 2*e)
		on[end] = true
		ok := walk(end)
		on[end] = false
		if !ok || found != 2 {
			return nil
		}
	}
	if n-len(g.ends)+f.Count != 0 {
		return nil
	}
	return f
}

// add puts a face on a side of an edge that has none; false where both have.
func (f *Faces) add(e, face int32) bool {
	for k := range f.Sides[e] {
		if f.Sides[e][k] == none {
			f.Sides[e][k] = face
			return true
		}
	}
	return false
}

// numbered are the faces of a square lattice on a torus whose vertices have numbers row by row; edges may be missing, and faces on
// both sides of such are one.
func numbered(g *Graph) *Faces {
	n := g.vertices()
	for cols := 3; cols*3 <= n; cols++ {
		if n%cols == 0 {
			if f := inRows(g, n/cols, cols); f != nil {
				return f
			}
		}
	}
	return nil
}

func inRows(g *Graph, rows, cols int) *Faces {
	n := rows * cols
	there := make([]bool, 2*n) // the edge to the right, and that down, of a vertex
	place := make([]int32, len(g.ends))
	for e, end := range g.ends {
		a, b := int(min(end[0], end[1])), int(max(end[0], end[1]))
		p := -1
		switch same := a/cols == b/cols; {
		case same && b == a+1:
			p = 2 * a
		case same && b == a+cols-1:
			p = 2 * b
		case b == a+cols:
			p = 2*a + 1
		case b == a+n-cols:
			p = 2*b + 1
		}
		if p < 0 || there[p] {
			return nil
		}
		there[p], place[e] = true, int32(p)
	}
	// Face v is below and to the right of vertex v.
	sides := func(p int) (int, int) {
		v := p / 2
		if p%2 == 0 {
			return v, (v + n - cols) % n
		}
		return v, v/cols*cols + (v+cols-1)%cols
	}
	face := make([]int32, n)
	for v := range face {
		face[v] = int32(v)
	}
	root := func(v int) int32 {
		r := int32(v)
		for face[r] != r {
			face[r] = face[face[r]]
			r = face[r]
		}
		return r
	}
	for p, is := range there {
		if !is {
			a, b := sides(p)
			face[root(a)] = root(b)
		}
	}
	f := &Faces{Sides: make([][2]int32, len(g.ends)), Kind: "a torus"}
	number := make([]int32, n)
	for v := range n {
		if root(v) == int32(v) {
			number[v] = int32(f.Count)
			f.Count++
		}
	}
	for e, p := range place {
		a, b := sides(int(p))
		f.Sides[e] = [2]int32{number[root(a)], number[root(b)]}
	}
	return f
}
