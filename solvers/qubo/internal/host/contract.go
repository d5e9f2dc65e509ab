package host

import (
	"slices"

	"coalesce/solvers/qubo/problem"
)

// A clustering is a problem of few variables: each is a cluster of the problem's, which flips as a whole. Flipping the clusters y
// changes the value by Σ alone(c) y(c) + Σ weight(c,d) y(c) y(d), over pairs.
type clustering struct {
	of     []int32 // the cluster of a variable
	start  []int32 // cluster c's pairs are col[start[c]:start[c+1]]
	col    []int32
	weight []int64
	field  []int64 // alone(c) + Σ weight(c,d) y(d)
	flips  []bool  // y
	best   []bool
}

// size is the number of clusters.
func (c *clustering) size() int { return len(c.field) }

// flip flips cluster i, and returns what the value gains.
func (c *clustering) flip(i int) (gain int64) {
	gain = c.field[i]
	sign := int64(1)
	if c.flips[i] {
		gain, sign = -gain, -1
	}
	c.flips[i] = !c.flips[i]
	for k := c.start[i]; k < c.start[i+1]; k++ {
		c.field[c.col[k]] += sign * c.weight[k]
	}
	return gain
}

// contract anneals clusters (Houdayer and Martin 1999, genetic renormalization): variables with a pair, which several elites all set
// alike or all set differently, keep this relation. It ends with an ascent of single variables.
func (s *searcher[S]) contract() bool {
	rows := s.m.sparse()
	if len(s.course.parents) < 2 {
		return s.anneal(hot*s.spread, cold*s.spread, annealSweeps)
	}
	c := s.clusters(rows, s.course.parents)
	_, add := s.m.flipCosts()
	if !s.countWork(add*float64(4*s.p.N), 0) {
		return false
	}
	gained, ok := s.annealClusters(c, annealSweeps<<(2*s.course.length))
	flips := int64(0)
	if gained > 0 {
		for i, at := range c.of {
			if c.best[at] {
				s.flip(i)
				flips++
			}
		}
	} else { // an elite as it is helps nobody
		for i, at := range c.of {
			if c.flips[at] {
				s.flip(i)
				flips++
			}
		}
	}
	if s.value > s.best {
		s.keepBest()
	}
	return ok && s.countWork(add*float64(flips), flips) && s.ascend()
}

// clusters are those of the solution x, one of the parents, by what all parents agree on.
func (s *searcher[S]) clusters(rows *sparseRows[S], parents [][]uint64) *clustering {
	n := s.p.N
	mark := make([]uint64, n) // bit k: parent k differs from x
	for k, parent := range parents {
		for i := range n {
			mark[i] |= (problem.Bit(parent, i) ^ problem.Bit(s.x, i)) << k
		}
	}
	c := &clustering{of: make([]int32, n)}
	for i := range c.of {
		c.of[i] = -1
	}
	var members []int32 // of all clusters, one after the other
	first := []int{0}
	for i := range n {
		if c.of[i] >= 0 {
			continue
		}
		at := int32(len(first) - 1)
		c.of[i] = at
		members = append(members, int32(i))
		for next := first[at]; next < len(members); next++ {
			v := int(members[next])
			col, _ := rows.row(v)
			for _, j := range col {
				if c.of[j] < 0 && mark[v] == mark[j] {
					c.of[j] = at
					members = append(members, j)
				}
			}
		}
		first = append(first, len(members))
	}
	size := len(first) - 1
	c.start, c.field, c.flips, c.best = make([]int32, 1, size+1), make([]int64, size), make([]bool, size), make([]bool, size)
	place := make([]int32, size) // of a neighbour's pair, and one more
	turn := func(i int) int64 { return 1 - 2*int64(problem.Bit(s.x, i)) }
	for at := range size {
		began := len(c.col)
		var within int64
		for _, v := range members[first[at]:first[at+1]] {
			i := int(v)
			c.field[at] += int64(s.gain(i))
			col, weight := rows.row(i)
			for k, j := range col {
				w := int64(weight[k]) * turn(i) * turn(int(j))
				switch to := c.of[j]; {
				case int(to) == at:
					within += w
				case place[to] == 0:
					c.col, c.weight = append(c.col, to), append(c.weight, w)
					place[to] = int32(len(c.col))
				default:
					c.weight[place[to]-1] += w
				}
			}
		}
		c.field[at] += within / 2
		for _, to := range c.col[began:] {
			place[to] = 0
		}
		c.start = append(c.start, int32(len(c.col)))
	}
	return c
}

// annealClusters anneals from a high temperature, and returns the largest gain, of c.best.
func (s *searcher[S]) annealClusters(c *clustering, sweeps int) (most int64, ok bool) {
	high, low := s.drawTemperature(hot, hottest), s.drawTemperature(coldest, cold)
	state := s.random.Uint64() | 1
	gained := int64(0)
	cost := 5 + float64(len(c.col))/float64(max(1, c.size()))
	for k := range sweeps {
		temperature := high + (low-high)*float64(k)/float64(max(1, sweeps-1))
		if k == sweeps-1 {
			temperature = 0
		}
		flips := 0
		for i := range c.field {
			gain := c.field[i]
			if c.flips[i] {
				gain = -gain
			}
			if gain < 0 {
				state ^= state << 13
				state ^= state >> 7
				state ^= state << 17
				if float64(gain) < temperature*s.logs[state>>52] {
					continue
				}
			}
			gained += c.flip(i)
			flips++
		}
		if gained > most {
			most = gained
			copy(c.best, c.flips)
		}
		if !s.countWork(3*float64(c.size())+cost*float64(flips), int64(flips)) {
			return most, false
		}
	}
	return most, true
}

// drawParents draws two or more elites, at most 8.
func (f *portfolio) drawParents() (parents [][]uint64) {
	elites := slices.Clone(f.Elites)
	f.random.Shuffle(len(elites), func(i, j int) { elites[i], elites[j] = elites[j], elites[i] })
	for _, e := range elites[:min(len(elites), 2+f.random.IntN(7))] {
		parents = append(parents, e.X)
	}
	return parents
}
