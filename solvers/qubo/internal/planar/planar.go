// Package planar solves binary quadratic programs whose graph is planar, or a lattice on a torus, and proves their optimum.
//
// The edges that a solution leaves unsatisfied are a set that meets each frustrated face an odd, and each other face an even number of
// times: a T-join of the dual graph. On a plane each T-join is of a solution, so that the lightest is of the best one. On other surfaces
// it also has to be right on loops, which branching decides: where it is wrong on a loop, one of the loop's edges is not as in it.
package planar

import (
	"math/big"

	"coalesce/solvers/qubo/internal/embedding"
	"coalesce/solvers/qubo/internal/frustration"
	"coalesce/solvers/qubo/internal/matching"
)

// A Surface is a graph with signs that has faces.
type Surface struct {
	Kind string // planar, or a torus

	m      *frustration.Model
	edge   []int32    // of the model: those with a magnitude
	ends   [][2]int32 // of these
	at     [][]int32  // of vertices: half-edges, 2k from the first end of edge k, 2k+1 from the second
	sides  [][2]int32
	faces  int
	dual   *matching.Graph
	length []int64 // twice the magnitudes, over 2^coarse
	coarse int
}

// mostEdges is the most edges per vertex of graphs whose faces are looked for.
const mostEdges = 3

// Find finds the faces of a model's graph, nil where it finds none.
func Find(m *frustration.Model) *Surface {
	if len(m.Ends) > mostEdges*m.N {
		return nil
	}
	s := &Surface{m: m}
	for e, c := range m.Cap {
		if c > 0 {
			s.edge = append(s.edge, int32(e))
			s.ends = append(s.ends, m.Ends[e])
		}
	}
	f := embedding.Find(embedding.NewGraph(m.N, s.ends))
	if f == nil {
		return nil
	}
	s.Kind, s.sides, s.faces = f.Kind, f.Sides, f.Count
	s.at = make([][]int32, m.N)
	degree := make([]int32, m.N)
	for _, end := range s.ends {
		degree[end[0]]++
		degree[end[1]]++
	}
	room := make([]int32, 2*len(s.ends))
	for v, d := range degree {
		s.at[v], room = room[:0:d], room[d:]
	}
	for k, end := range s.ends {
		s.at[end[0]] = append(s.at[end[0]], int32(2*k))
		s.at[end[1]] = append(s.at[end[1]], int32(2*k+1))
	}
	s.dual = matching.NewGraph(s.faces, s.sides)
	return s
}

func (s *Surface) head(h int32) int32 { return s.ends[h>>1][h&1^1] }

// An Answer is what is known of a surface. Where Solved is set, Up is optimal, up to rounding.
type Answer struct {
	Up     []bool // spins; nil: none are known
	Proof  *frustration.Proof
	Solved bool

	root *matching.Join
}

// Options of a solve.
type Options struct {
	Workers int
	Stop    func() bool     // ends a solve early
	Found   func(up []bool) // is told of each better solution
}

// Solve looks for the best solution. A solve that is ended early has a proof of a weaker bound.
func (s *Surface) Solve(o Options) *Answer {
	for s.coarse = 0; ; s.coarse += 12 {
		if a := s.solve(o); a != nil {
			return a
		}
	}
}

// solve is Solve with magnitudes over 2^coarse; nil where these are too large.
func (s *Surface) solve(o Options) *Answer {
	s.length = make([]int64, len(s.edge))
	terminal := make([]bool, s.faces)
	for k, e := range s.edge {
		s.length[k] = 2 * (s.m.Cap[e] >> s.coarse)
		if s.m.Odd[e] {
			for _, f := range s.sides[k] {
				terminal[f] = !terminal[f]
			}
		}
	}
	j := matching.New(s.dual, s.length)
	j.SetTerminals(terminal)
	status := j.Solve(nil, o.Stop)
	if status == matching.Overflow {
		return nil
	}
	j.Mark()
	b := newBranching(s, j, o)
	a := &Answer{Proof: b.proof, root: j}
	if status != matching.Solved {
		return a
	}
	a.Solved = b.run()
	a.Up = b.up
	return a
}

// fix fixes an edge of a join. It returns the weight that comes outside of the join.
func (s *Surface) fix(j *matching.Join, k int32, unsatisfied bool) int64 {
	if unsatisfied {
		for _, f := range s.sides[k] {
			j.Toggle(f)
		}
	}
	j.Remove(k)
	if unsatisfied {
		return s.length[k]
	}
	return 0
}

// spins follow from the edges that are unsatisfied, along a breadth-first forest. wrong are the edges that contradict them.
func (s *Surface) spins(unsatisfied []bool) (up []bool, wrong []int32) {
	up = make([]bool, s.m.N)
	met := make([]bool, s.m.N)
	queue := make([]int32, 0, s.m.N)
	for root := range int32(s.m.N) {
		if met[root] {
			continue
		}
		met[root], up[root] = true, true
		queue = append(queue[:0], root)
		for len(queue) > 0 {
			v := queue[0]
			queue = queue[1:]
			for _, h := range s.at[v] {
				w, k := s.head(h), h>>1
				to := up[v] != (s.m.Odd[s.edge[k]] != unsatisfied[k])
				switch {
				case !met[w]:
					met[w], up[w] = true, to
					queue = append(queue, w)
				case up[w] != to && h&1 == 0:
					wrong = append(wrong, k)
				}
			}
		}
	}
	return up, wrong
}

// unsatisfied are the edges that spins leave unsatisfied.
func (s *Surface) unsatisfied(up []bool) []bool {
	list := make([]bool, len(s.edge))
	for k, e := range s.edge {
		list[k] = (up[s.ends[k][0]] != up[s.ends[k][1]]) != s.m.Odd[e]
	}
	return list
}

// weight is the sum of magnitudes of edges, in units of the join's, modulo 2^64.
func (s *Surface) weight(unsatisfied []bool) (sum int64) {
	for k, is := range unsatisfied {
		if is {
			sum += s.length[k]
		}
	}
	return sum
}

// exponent is that of a proof in the units of joins.
func (s *Surface) exponent() int { return s.m.Shift - s.coarse + 1 }

// Loss is the sum of magnitudes of the edges that spins leave unsatisfied, over 2^shift.
func (s *Surface) Loss(up []bool) (loss *big.Int, shift int) {
	loss = new(big.Int)
	for e, end := range s.m.Ends {
		if (up[end[0]] != up[end[1]]) != s.m.Odd[e] {
			loss.Add(loss, big.NewInt(s.m.Cap[e]))
		}
	}
	return loss, s.m.Shift
}

// step is the least difference of two solutions' weights.
func (s *Surface) step() int64 {
	if !s.m.Whole {
		return 1
	}
	_, modulus := s.m.Step()
	return 2 * modulus
}
