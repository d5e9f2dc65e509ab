package host

import (
	"cmp"
	"slices"

	"coalesce/solvers/assignment/problem"
)

// A search is the workspace of searches for shortest augmenting paths.
type search struct {
	dist    []int64 // of columns, problem.Infinity: not reached
	from    []int32 // the row before a column on the path
	depth   []int64 // of rows that were visited: their distance
	seen    []int32 // of columns: the last search by depth that saw it
	cursor  []int32 // of rows: the next edge to look at
	mark    int32
	heap    []item
	ready   []item  // at the distance reached: no need to sort them
	touched []int32 // columns with a distance
	visited []int32 // rows
	done    []int32 // columns whose distance is final
	closed  []bool
	ends    []int64 // distances at which free columns were first reached
	more    []Edge
	reach   []int64
	stack   []int32
	grown   []int32 // of rows: the last search that read more of them
	number  int32   // of this search
	count   int     // free columns it is to find
	whole   bool    // its paths may use pairs that are not kept
	now     int64   // distance that it has come to
	cut     int64   // from where on distances do not matter
	leave   int32   // the row that is left unmatched at cut, -1: none
}

// An item of the queue is a column, or the pairs of a row beyond its bound
// (its number's complement).
type item struct {
	key int64
	id  int32
}

func (s *search) init(h *core) {
	s.dist = slices.Repeat([]int64{problem.Infinity}, h.cols)
	s.from = make([]int32, h.cols)
	s.seen = make([]int32, h.cols)
	s.closed = make([]bool, h.cols)
	s.depth = make([]int64, h.rows)
	s.grown = make([]int32, h.rows)
	s.cursor = make([]int32, h.rows)
}

// augmentTightPairs augments along disjoint paths of pairs with c = u + v, found by depth
// (Pothen and Fan 1990), until a round finds few. It returns the rows that
// stay free.
func (h *core) augmentTightPairs(free []int32) []int32 {
	for len(free) > 0 {
		h.scratch.mark++
		before := len(free)
		free = slices.DeleteFunc(free, h.dive)
		found := before - len(free)
		h.counts.Paths += int64(found)
		h.counts.Phases++
		if found*8 < before {
			break
		}
	}
	return free
}

// dive looks for a path of tight pairs from a free row by depth.
func (h *core) dive(root int32) bool {
	s := &h.scratch
	stack := append(s.stack[:0], root)
	defer func() { s.stack = stack }()
	s.cursor[root] = 0
	fresh := true
	for len(stack) > 0 {
		i := stack[len(stack)-1]
		edges, u := h.known[i].edges, h.u[i]
		if fresh {
			for _, e := range edges {
				if e.least > u {
					break
				}
				if h.row[e.Col] < 0 && e.Cost-h.v[e.Col] == u {
					h.flip(stack, e.Col)
					return true
				}
			}
		}
		fresh = false
		k := s.cursor[i]
		for ; int(k) < len(edges) && edges[k].least <= u; k++ {
			e := edges[k]
			if e.Cost-h.v[e.Col] == u && s.seen[e.Col] != s.mark {
				s.seen[e.Col] = s.mark
				fresh = true
				next := h.row[e.Col]
				stack = append(stack, next)
				s.cursor[next] = 0
				break
			}
		}
		s.cursor[i] = k + 1
		if !fresh {
			stack = stack[:len(stack)-1]
		}
	}
	return false
}

// flip matches the rows of a path, each to the column of the next, the last
// to a free column.
func (h *core) flip(path []int32, j int32) {
	for k := len(path) - 1; k >= 0; k-- {
		i := path[k]
		h.column[i], j = j, h.column[i]
		h.row[h.column[i]] = i
	}
}

// shortestPaths runs Dijkstra's algorithm on reduced costs from the roots, which are free rows, to the
// count-th nearest free column. It raises the duals by the distances found, which makes the paths
// to nearer free columns tight; with count 1 it augments too. Where no free column can be reached,
// spread returns the rows that can.
func (h *core) shortestPaths(roots []int32, count int) []int32 {
	s := &h.scratch
	s.start(count)
	for _, i := range roots {
		h.visit(i, 0)
	}
	end, length := h.settle()
	if length < 0 {
		h.reset()
		return slices.Clone(s.visited)
	}
	for _, i := range s.visited {
		h.u[i] += max(0, length-s.depth[i])
	}
	for _, j := range s.done {
		h.v[j] -= max(0, length-s.dist[j])
	}
	if length > 0 {
		h.counts.Updates++
	}
	if s.whole {
		h.addSearchedPairs()
	}
	if count == 1 {
		h.augment(end)
	}
	h.reset()
	return nil
}

func (s *search) start(count int) {
	s.heap, s.ready, s.touched, s.visited, s.done, s.ends = s.heap[:0], s.ready[:0], s.touched[:0], s.visited[:0], s.done[:0], s.ends[:0]
	s.number++
	s.count, s.whole = count, false
	s.now, s.cut, s.leave = 0, problem.Infinity, -1
}

// settle takes items from the queue until count free columns are settled, or until the search
// knows which row stays unmatched. It returns the last of the columns, unmatched for such a row,
// and the distance to it; the distance is -1 where no free column can be reached.
func (h *core) settle() (end int32, length int64) {
	s := &h.scratch
	end, length = unmatched, -1
	for found := 0; ; {
		it, ok := s.next()
		if !ok {
			break
		}
		s.now = it.key
		if it.id < 0 {
			if it.key < s.cut {
				h.more(^it.id)
			}
			continue
		}
		j := it.id
		if s.closed[j] || it.key > s.dist[j] {
			continue
		}
		if it.key > s.cut || it.key == s.cut && s.leave >= 0 {
			break
		}
		s.closed[j] = true
		s.done = append(s.done, j)
		if h.row[j] >= 0 {
			h.visit(h.row[j], it.key)
			continue
		}
		end, length = j, it.key
		if found++; found == s.count {
			break
		}
	}
	if length < 0 && s.leave >= 0 {
		length = s.cut
	}
	return end, length
}

// visit adds a row to the search, at a distance.
func (h *core) visit(i int32, d int64) {
	h.counts.Steps++
	s := &h.scratch
	s.visited = append(s.visited, i)
	s.depth[i], s.cursor[i] = d, 0
	if d += h.limit - h.u[i]; h.limit != problem.Infinity && d < s.cut {
		s.cut, s.leave = d, i
	}
	h.more(i)
}

// relax looks at pairs of a row; base is its distance less its dual.
func (h *core) relax(i int32, base int64, edges []Edge) {
	s := &h.scratch
	for k := range edges {
		e := &edges[k]
		d, old := base+e.Cost-h.v[e.Col], s.dist[e.Col]
		if d >= old || d >= s.cut {
			continue
		}
		if old == problem.Infinity {
			s.touched = append(s.touched, e.Col)
		}
		if h.row[e.Col] < 0 {
			s.reached(d, old == problem.Infinity)
		}
		s.dist[e.Col], s.from[e.Col] = d, i
		if d == s.now {
			s.ready = append(s.ready, item{d, e.Col})
		} else {
			s.push(item{d, e.Col})
		}
	}
}

// reached lowers cut, the distance from which on nothing matters: a free column is at distance d at
// most.
func (s *search) reached(d int64, first bool) {
	switch {
	case s.count == 1:
		s.cut, s.leave = d, -1
	case first:
		if s.ends = append(s.ends, d); len(s.ends) == 2*s.count {
			slices.Sort(s.ends)
			s.ends = s.ends[:s.count]
			s.cut = min(s.cut, s.ends[s.count-1]+1)
		}
	}
}

// augment flips the path to a column, or to the row that is left unmatched.
func (h *core) augment(j int32) {
	s := &h.scratch
	i := s.leave
	if j >= 0 {
		i = s.from[j]
	}
	for {
		h.column[i], j = j, h.column[i]
		if h.column[i] >= 0 {
			h.row[h.column[i]] = i
		}
		if j < 0 {
			break
		}
		i = s.from[j]
	}
	h.counts.Paths++
	h.counts.Phases++
}

func (h *core) reset() {
	s := &h.scratch
	for _, j := range s.touched {
		s.dist[j] = problem.Infinity
		s.closed[j] = false
	}
}

const (
	// chunk is how many pairs of a row a search looks at together.
	chunk = 16
	// heavyRow is core.heavy but for tests.
	heavyRow = 200
)

// more looks at the next pairs of a row that a search has visited, and puts
// the rest of the row into the queue, by the least that it can be.
func (h *core) more(i int32) {
	s := &h.scratch
	k := &h.known[i]
	base := s.depth[i] - h.u[i]
	at := int(s.cursor[i])
	if at == len(k.edges) {
		if k.bound == problem.Infinity {
			return
		}
		if s.grown[i] == s.number && len(k.edges) >= h.heavy {
			h.scanWholeRow(i, base)
			return
		}
		h.grow(i)
		at = 0
	}
	end := min(at+chunk, len(k.edges))
	h.relax(i, base, k.edges[at:end])
	s.cursor[i] = int32(end)
	rest := k.bound
	if end < len(k.edges) {
		rest = k.edges[end].least
	}
	if rest != problem.Infinity && base+rest < s.cut {
		s.push(item{max(s.depth[i], base+rest), ^i})
	}
}

// grow reads more of a row.
func (h *core) grow(i int32) {
	s := &h.scratch
	k := &h.known[i]
	h.countReread()
	s.grown[i], s.whole = s.number, true // a pair that is dropped may be on a path
	k.width = min(2*k.width, problem.Infinity/8)
	k.edges, k.bound = sortByReducedCost(h.reader.AppendLeast(int(i), h.v, h.heavy, 0, k.bound+k.width, nil))
	if len(k.edges) >= h.heavy {
		k.width = max(1, k.width/4)
	}
	if j := h.column[i]; j >= 0 {
		h.know(i, j)
	}
}

// scanWholeRow looks at all pairs of a row that shorten a path.
func (h *core) scanWholeRow(i int32, base int64) {
	s := &h.scratch
	h.countReread()
	s.whole = true
	if s.reach == nil {
		s.reach = make([]int64, h.cols)
	}
	for j, d := range s.dist {
		s.reach[j] = h.v[j] + min(d, problem.Infinity/2) - base
	}
	s.more = h.reader.AppendBelow(int(i), s.reach, s.more[:0])
	h.relax(i, base, s.more)
}

// know adds a tight pair to those known of its row.
func (h *core) know(i, j int32) {
	k := &h.known[i]
	if !slices.ContainsFunc(k.edges, func(e Edge) bool { return e.Col == j }) {
		e := Edge{h.u[i] + h.v[j], h.u[i], j}
		at, _ := slices.BinarySearchFunc(k.edges, e.least, func(e Edge, least int64) int { return cmp.Compare(e.least, least) })
		k.edges = slices.Insert(k.edges, at, e)
	}
}

// addSearchedPairs adds pairs to the known pairs of their rows: those on the paths to free columns, which a
// search found by reading whole rows.
func (h *core) addSearchedPairs() {
	s := &h.scratch
	for _, j := range s.done {
		if h.row[j] >= 0 {
			continue
		}
		for j >= 0 {
			i := s.from[j]
			h.know(i, j)
			j = h.column[i]
		}
	}
}

// push and pop keep a heap of four children a node.
func (s *search) push(it item) {
	s.heap = append(s.heap, it)
	a := s.heap
	k := len(a) - 1
	for k > 0 {
		up := (k - 1) / 4
		if a[up].key <= it.key {
			break
		}
		a[k] = a[up]
		k = up
	}
	a[k] = it
}

// next is the nearest item.
func (s *search) next() (item, bool) {
	if n := len(s.ready); n > 0 {
		it := s.ready[n-1]
		s.ready = s.ready[:n-1]
		return it, true
	}
	if len(s.heap) > 0 {
		return s.pop(), true
	}
	return item{}, false
}

func (s *search) pop() item {
	a := s.heap
	top := a[0]
	n := len(a) - 1
	it := a[n]
	a = a[:n]
	s.heap = a
	if n == 0 {
		return top
	}
	k := 0
	for {
		c := 4*k + 1
		if c >= n {
			break
		}
		m := c
		for q := c + 1; q < min(c+4, n); q++ {
			if a[q].key < a[m].key {
				m = q
			}
		}
		if a[m].key >= it.key {
			break
		}
		a[k] = a[m]
		k = m
	}
	a[k] = it
	return top
}
