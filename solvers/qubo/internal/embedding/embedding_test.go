package embedding

import (
	"math/rand/v2"
	"testing"

	"coalesce/solvers/solve/inputtest"
)

// check holds faces of a connected graph against their definition: each meets every vertex evenly, and Euler's number is right.
func check(t *testing.T, n int, ends [][2]int32, f *Faces, euler int) {
	t.Helper()
	met := make([]map[int32]int, f.Count)
	for e, s := range f.Sides {
		for _, face := range s {
			if met[face] == nil {
				met[face] = map[int32]int{}
			}
			met[face][ends[e][0]]++
			met[face][ends[e][1]]++
		}
	}
	for face, vertices := range met {
		for v, times := range vertices {
			if times%2 == 1 {
				t.Fatalf("face %d meets vertex %d %d times", face, v, times)
			}
		}
	}
	if got := n - len(ends) + f.Count; got != euler && len(ends) > 0 {
		t.Fatalf("%d vertices, %d edges, %d faces: Euler's number %d, want %d", n, len(ends), f.Count, got, euler)
	}
}

func shuffle(r *rand.Rand, n int, ends [][2]int32) {
	number := r.Perm(n)
	for e := range ends {
		for k, v := range ends[e] {
			ends[e][k] = int32(number[v])
		}
		if r.IntN(2) == 0 {
			ends[e][0], ends[e][1] = ends[e][1], ends[e][0]
		}
	}
	r.Shuffle(len(ends), func(a, b int) { ends[a], ends[b] = ends[b], ends[a] })
}

// triangulation draws a planar graph with the most edges: vertices come into faces, and edges are flipped.
func triangulation(r *rand.Rand, n int) [][2]int32 {
	faces := [][3]int32{{0, 1, 2}, {0, 1, 2}}
	ends := [][2]int32{{0, 1}, {1, 2}, {0, 2}}
	for v := int32(3); v < int32(n); v++ {
		k := r.IntN(len(faces))
		a, b, c := faces[k][0], faces[k][1], faces[k][2]
		faces[k] = [3]int32{a, b, v}
		faces = append(faces, [3]int32{b, c, v}, [3]int32{a, c, v})
		ends = append(ends, [2]int32{a, v}, [2]int32{b, v}, [2]int32{c, v})
	}
	return ends
}

func components(n int, ends [][2]int32) int {
	group := make([]int32, n)
	for v := range group {
		group[v] = int32(v)
	}
	var root func(v int32) int32
	root = func(v int32) int32 {
		if group[v] != v {
			group[v] = root(group[v])
		}
		return group[v]
	}
	count := n
	for _, end := range ends {
		if a, b := root(end[0]), root(end[1]); a != b {
			group[a] = b
			count--
		}
	}
	return count
}

// Random planar graphs without some of their edges have faces in each component's plane.
func TestPlanar(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 3000 {
		n := 3 + r.IntN(40)
		ends := triangulation(r, n)
		share := r.Float64() * 1.2
		kept := ends[:0:0]
		for _, end := range ends {
			if r.Float64() < share {
				kept = append(kept, end)
			}
		}
		shuffle(r, n, kept)
		f := planar(NewGraph(n, kept))
		if f == nil {
			t.Fatalf("round %d: %d vertices, %d edges: not planar", round, n, len(kept))
		}
		single := 0 // vertices without edges have no face here
		seen := make([]bool, n)
		for _, end := range kept {
			seen[end[0]], seen[end[1]] = true, true
		}
		for _, s := range seen {
			if !s {
				single++
			}
		}
		check(t, n-single, kept, f, 2*(components(n, kept)-single))
	}
}

// Graphs with a subdivision of K5 or K3,3 are not planar.
func TestNotPlanar(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 3))
	for round := range inputtest.Draws(2000) {
		var ends [][2]int32
		n := 6
		if round%2 == 0 {
			n = 5
		}
		for a := range int32(n) {
			for b := range a {
				if n == 5 || (a < 3) != (b < 3) {
					ends = append(ends, [2]int32{a, b})
				}
			}
		}
		for range r.IntN(12) { // a vertex on an edge
			k := r.IntN(len(ends))
			ends = append(ends, [2]int32{int32(n), ends[k][1]})
			ends[k][1] = int32(n)
			n++
		}
		for range r.IntN(12) { // a vertex with two neighbours
			a := r.IntN(n)
			b := (a + 1 + r.IntN(n-1)) % n
			ends = append(ends, [2]int32{int32(n), int32(a)}, [2]int32{int32(n), int32(b)})
			n++
		}
		shuffle(r, n, ends)
		if planar(NewGraph(n, ends)) != nil {
			t.Fatalf("round %d: planar", round)
		}
	}
}

// torus draws a lattice of rows and columns, closed in both directions: of squares, triangles or hexagons.
func torus(rows, cols, corners int) (int, [][2]int32) {
	at := func(i, k int) int32 { return int32((i+rows)%rows*cols + (k+cols)%cols) }
	var ends [][2]int32
	for i := range rows {
		for k := range cols {
			ends = append(ends, [2]int32{at(i, k), at(i, k+1)})
			if corners != 6 || (i+k)%2 == 0 {
				ends = append(ends, [2]int32{at(i, k), at(i+1, k)})
			}
			if corners == 3 {
				ends = append(ends, [2]int32{at(i, k), at(i+1, k+1)})
			}
		}
	}
	return rows * cols, ends
}

// Lattices on tori are found whatever the numbers of their vertices are; small ones, and those with missing edges, by their numbers.
func TestTori(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 4))
	for _, corners := range []int{3, 4, 6} {
		for round := range 30 {
			n, ends := torus(2*(4+r.IntN(5)), 2*(4+r.IntN(5)), corners)
			shuffle(r, n, ends)
			f := Find(NewGraph(n, ends))
			if f == nil {
				t.Fatalf("%d corners, round %d: no torus", corners, round)
			}
			check(t, n, ends, f, 0)
		}
	}
	for rows := 3; rows < 7; rows++ {
		for cols := 3; cols < 7; cols++ {
			n, ends := torus(rows, cols, 4)
			f := Find(NewGraph(n, ends))
			if f == nil {
				t.Fatalf("%d x %d: no torus", rows, cols)
			}
			check(t, n, ends, f, 0)
			r.Shuffle(len(ends), func(a, b int) { ends[a], ends[b] = ends[b], ends[a] })
			if f := numbered(NewGraph(n, ends[:len(ends)*3/4])); f == nil {
				t.Fatalf("%d x %d: no torus with missing edges", rows, cols)
			}
		}
	}
	n, ends := torus(8, 8, 4)
	if Find(NewGraph(n, append(ends, [2]int32{0, 20}))) != nil {
		t.Fatal("a torus with an edge across")
	}
}
