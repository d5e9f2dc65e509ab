package planar

import (
	"math/rand/v2"

	"coalesce/solvers/qubo/internal/matching"
)

// disks are how many disks of a surface other than the plane are looked at for clusters.
const disks = 4

// Clusters calls back sets of vertices, until it returns false: the best solution of a surface that is solved stays as good where one of
// them is flipped. They are from the best solutions in which one edge, in random order, has the other value: the join without it is
// solved anew. Edges that the duals leave room have no such solution. Surfaces other than the plane are also cut open along loops,
// which stay as they are: the join may be of no solution else.
func (s *Surface) Clusters(a *Answer, seed uint64, stop func() bool, each func(cluster []int32) bool) {
	if stop() {
		return
	}
	random := rand.New(rand.NewPCG(seed, 3))
	in := s.unsatisfied(a.Up)
	if !s.clustersOf(a.root, in, nil, a.Up, random, stop, each) || s.Kind == "planar" {
		return
	}
	for range disks {
		j, value := a.root.Clone(), map[int32]bool{}
		for _, k := range s.loops(random.IntN(s.m.N)) {
			value[k] = in[k]
			s.fix(j, k, in[k])
		}
		if j.Solve(nil, stop) != matching.Solved || !s.clustersOf(j, in, value, a.Up, random, stop, each) {
			return
		}
	}
}

// unsatisfiedOf are the edges of a join.
func (s *Surface) unsatisfiedOf(j *matching.Join) []bool {
	in := make([]bool, len(s.edge))
	for _, k := range j.Edges() {
		in[k] = true
	}
	return in
}

// clustersOf is Clusters for solutions that have some values, which are fixed in a join. It is false where it was ended.
func (s *Surface) clustersOf(base *matching.Join, in []bool, value map[int32]bool, up []bool, random *rand.Rand, stop func() bool, each func(cluster []int32) bool) bool {
	loads := newBranching(s, base, Options{}).proof.Loads(len(s.m.Ends))
	best := s.weight(in)
	left := best // of the join
	for k, is := range value {
		if is {
			left -= s.length[k]
		}
	}
	j := new(matching.Join)
	for _, at := range random.Perm(len(s.edge)) {
		k := int32(at)
		if _, is := value[k]; is || !in[k] && s.length[k]-loads[s.edge[k]] > left-base.Sum() {
			continue
		}
		if stop() {
			return false
		}
		j.Become(base)
		limit := left + 1 - s.fix(j, k, !in[k])
		if j.Solve(&limit, stop) != matching.Solved {
			continue
		}
		other := s.unsatisfiedOf(j)
		other[k] = !in[k]
		for e, is := range value {
			other[e] = is
		}
		y, wrong := s.spins(other)
		if len(wrong) > 0 || s.weight(other) != best {
			continue
		}
		for _, cluster := range s.differences(up, y) {
			if !each(cluster) {
				return false
			}
		}
	}
	return true
}

// differences are the vertices in which two solutions differ, in sets of neighbours. Of two solutions that are as good as any, the
// first is so with each flipped.
func (s *Surface) differences(x, y []bool) (lists [][]int32) {
	met := make([]bool, s.m.N)
	for root := range int32(s.m.N) {
		if met[root] || x[root] == y[root] {
			continue
		}
		met[root] = true
		list := []int32{root}
		for k := 0; k < len(list); k++ {
			for _, h := range s.at[list[k]] {
				if v := s.head(h); !met[v] && x[v] != y[v] {
					met[v] = true
					list = append(list, v)
				}
			}
		}
		lists = append(lists, list)
	}
	return lists
}
