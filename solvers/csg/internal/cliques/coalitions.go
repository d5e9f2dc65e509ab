package cliques

import (
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
)

// coalitions are those of a graph's nodes in an order, weights being multiplied by a power of two, and the levels proven so far.
type coalitions struct {
	n      int
	w      []int64
	near   []set // the nodes to which each has edges of positive weight; nil where most have
	shift  uint
	cores  int
	levels [][]int64
	stop   func() bool
	looked int64 // by the last search
}

func newCoalitions(g *Graph, order []int32, shift uint, cores int) *coalitions {
	n, dense := g.N, g.dense()
	s := &coalitions{n: n, w: make([]int64, n*n), shift: shift, cores: max(1, cores), stop: func() bool { return false }}
	for a, i := range order {
		for b, j := range order {
			s.w[a*n+b] = dense[int(i)*n+int(j)] << shift
		}
	}
	near, positive := make([]set, n), 0
	for i := range n {
		for j, w := range s.w[i*n : (i+1)*n] {
			if w > 0 {
				near[i].add(j)
				positive++
			}
		}
	}
	if positive < n*n/4 {
		s.near = near
	}
	return s
}

// value is the sum of the weights inside a coalition.
func (s *coalitions) value(in set) (sum int64) {
	for i := range s.n {
		if in.has(i) {
			for j, w := range s.w[i*s.n : i*s.n+i] {
				if in.has(j) {
					sum += w
				}
			}
		}
	}
	return sum
}

// derive returns prices of level k that hold as those of the level below do: the last node is free, and each other one pays for its edge to it.
func (s *coalitions) derive(k int) []int64 {
	prices := make([]int64, k)
	if k > 1 {
		for i, y := range s.levels[k-2] {
			prices[i] = y + max(0, s.w[(k-1)*s.n+i])
		}
	}
	return prices
}

// exceed lists coalitions of the first len(prices) nodes whose weights exceed their prices by low or more, up to most of them and of those that were looked at up to limit, and reports whether that are all.
//
// The search decides the nodes in turn from the last to the first. While the first k are open, coalitions are worth at most what the chosen ones weigh beyond their prices, and for each open node, if that is
// more than 0, its edges to the chosen ones less its price plus its price of level k: level k bounds the edges among open nodes. Nodes that this bound needs, or that it does not allow, are decided at once.
//
// Of sparse graphs, only coalitions that edges of positive weight connect are listed: others consist of parts among which edges add up to 0 at most, so that a part exceeds its prices if the whole does, and
// parts as blocks are worth as much.
func (s *coalitions) exceed(prices []int64, low int64, most int, limit int64) (found []set, all bool) {
	k := len(prices)
	levels := append(slices.Clone(s.levels[:k-1]), s.derive(k))
	gain := make([]int64, k)
	for i, y := range prices {
		gain[i] = -y
	}
	run := &exploration{low: low, most: most, limit: limit, stop: s.stop}
	root := s.explorer(run, levels)
	root.split = splits
	root.visit(k, firstNodes(k), set{}, 0, 0, gain)
	root.split = 0
	run.looked.Add(root.looked)
	var next atomic.Int64
	var wait sync.WaitGroup
	for range min(s.cores, len(root.tasks)) {
		wait.Go(func() {
			e := s.explorer(run, levels)
			for !run.over.Load() {
				at := int(next.Add(1)) - 1
				if at >= len(root.tasks) {
					break
				}
				t := &root.tasks[at]
				e.visit(t.k, t.free, t.in, 0, t.excess, t.gain)
			}
			run.looked.Add(e.looked)
		})
	}
	wait.Wait()
	s.looked = run.looked.Load()
	return run.found, !run.over.Load()
}

// splits is how many nodes are decided one after the other before the cores share the rest.
const splits = 9

// An exploration is one search, of several cores.
type exploration struct {
	low    int64
	most   int
	limit  int64
	stop   func() bool
	over   atomic.Bool
	looked atomic.Int64
	mu     sync.Mutex
	found  []set
}

// An explorer is a core's part of a search.
type explorer struct {
	*exploration
	n, split   int
	w          []int64
	near       []set
	levels     [][]int64
	kept, with [][]int64 // memory by the number of open nodes
	looked     int64
	tasks      []task
}

type task struct {
	k        int
	free, in set
	excess   int64
	gain     []int64
}

func (s *coalitions) explorer(run *exploration, levels [][]int64) *explorer {
	e := &explorer{exploration: run, n: s.n, w: s.w, near: s.near, levels: levels}
	for k := range len(levels) + 1 {
		e.kept, e.with = append(e.kept, make([]int64, k)), append(e.with, make([]int64, k))
	}
	return e
}

// visit looks at all coalitions that have the nodes in, which exceed their prices by excess, and some of the free ones, which are among the first k; gain is what each of these adds to excess.
func (e *explorer) visit(k int, free, in set, depth int, excess int64, gain []int64) {
	if e.looked++; e.looked == 64 {
		if e.exploration.looked.Add(64) > e.limit || e.stop() {
			e.over.Store(true)
		}
		e.looked = 0
	}
	if e.over.Load() {
		return
	}
	words, own := (k+63)>>6, false
	for k > 0 {
		level := e.levels[k-1][:k]
		gain = gain[:k]
		spare := excess - e.low
		for b := range words {
			for f := free[b]; f != 0; f &= f - 1 {
				i := b<<6 + bits.TrailingZeros64(f)
				if x := gain[i] + level[i]; x > 0 {
					spare += x
				}
			}
		}
		if spare < 0 {
			return
		}
		var need set
		some := false
		for b := range words {
			for f := free[b]; f != 0; f &= f - 1 {
				i := b<<6 + bits.TrailingZeros64(f)
				if x := gain[i] + level[i]; x > spare {
					need[b] |= f & -f
					some = true
				} else if x < -spare {
					free[b] &^= f & -f
				}
			}
		}
		if !some {
			break
		}
		if !own {
			copy(e.kept[k], gain)
			gain, own = e.kept[k], true
		}
		for b := range words {
			free[b] &^= need[b]
			in[b] |= need[b]
			for f := need[b]; f != 0; f &= f - 1 {
				i := b<<6 + bits.TrailingZeros64(f)
				excess += gain[i]
				for j, w := range e.w[i*e.n : i*e.n+k] {
					gain[j] += w
				}
			}
		}
	}
	if e.near != nil && in != (set{}) {
		reached := e.connected(&in, &free)
		for b := range reached {
			if in[b]&^reached[b] != 0 {
				return
			}
			free[b] &= reached[b]
		}
	}
	last := -1
	for b := words - 1; b >= 0 && last < 0; b-- {
		last = max(last, b<<6+63-bits.LeadingZeros64(free[b]))
		if free[b] == 0 {
			last = -1
		}
	}
	if last < 0 {
		if excess >= e.low {
			e.list(in)
		}
		return
	}
	free.flip(last)
	if depth < e.split {
		depth++
		if depth == e.split {
			for _, side := range []bool{true, false} {
				t := task{last, free, in, excess, slices.Clone(gain[:last])}
				if side == (gain[last] >= 0) {
					t.in.add(last)
					t.excess += gain[last]
					for j, w := range e.w[last*e.n : last*e.n+last] {
						t.gain[j] += w
					}
				}
				e.tasks = append(e.tasks, t)
			}
			return
		}
	}
	join := func() {
		with := e.with[last]
		for j, w := range e.w[last*e.n : last*e.n+last] {
			with[j] = gain[j] + w
		}
		more := in
		more.add(last)
		e.visit(last, free, more, depth, excess+gain[last], with)
	}
	if gain[last] >= 0 {
		join()
		e.visit(last, free, in, depth, excess, gain)
	} else {
		e.visit(last, free, in, depth, excess, gain)
		join()
	}
}

// connected is the nodes among in and free that edges of positive weight connect with the first of in.
func (e *explorer) connected(in, free *set) (reached set) {
	var next set
	for b, w := range in {
		if w != 0 {
			next[b] = w & -w
			break
		}
	}
	for next != (set{}) {
		var met set
		for b, w := range next {
			reached[b] |= w
			for ; w != 0; w &= w - 1 {
				near := &e.near[b<<6+bits.TrailingZeros64(w)]
				for c := range met {
					met[c] |= near[c]
				}
			}
		}
		for b := range next {
			next[b] = met[b] & (in[b] | free[b]) &^ reached[b]
		}
	}
	return reached
}

// list adds a coalition to those found.
func (e *explorer) list(in set) {
	if in == (set{}) {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.found = append(e.found, in)
	if len(e.found) >= e.most {
		e.over.Store(true)
	}
}

// partition looks for the best partition that is worth more than value, by two searches of at most so many steps each: of the coalitions whose losses, what their prices exceed their weights by, are less than the bound exceeds
// value; and of partitions of these. It returns the blocks, nil if there are none, and whether the searches ended, so that no partition is better.
func (s *coalitions) partition(value, limit int64) (blocks []set, ended bool) {
	prices := s.levels[s.n-1]
	budget := -value<<s.shift - 1<<s.shift // a better partition is worth a unit more
	for _, y := range prices {
		budget += y
	}
	if budget < 0 {
		return nil, true
	}
	found, all := s.exceed(prices, -budget, mostSurvivors, limit)
	if !all {
		return nil, false
	}
	p := partitioner{n: s.n, limit: limit, stop: s.stop, budget: budget, unit: 1 << s.shift, of: make([][]survivor, s.n)}
	loss := make([]survivor, len(found))
	rarest := make([]int, s.n)
	for k, c := range found {
		loss[k] = survivor{c, -s.value(c)}
		for i, y := range prices {
			if c.has(i) {
				loss[k].loss += y
				rarest[i]++
			}
		}
	}
	p.order = make([]int, s.n)
	for i := range p.order {
		p.order[i] = i
	}
	slices.SortStableFunc(p.order, func(a, b int) int { return rarest[a] - rarest[b] })
	slices.SortStableFunc(loss, func(a, b survivor) int {
		switch {
		case a.loss < b.loss:
			return -1
		case a.loss > b.loss:
			return 1
		}
		return 0
	})
	for _, c := range loss {
		for _, i := range p.order { // a coalition is tried at its rarest node
			if c.has(i) {
				p.of[i] = append(p.of[i], c)
				break
			}
		}
	}
	p.search(0, set{}, 0)
	return p.best, !p.over
}

// mostSurvivors is the most coalitions of which partition makes partitions.
const mostSurvivors = 1 << 20

type survivor struct {
	set
	loss int64
}

// A partitioner looks for partitions whose blocks' losses add up to at most a budget, depth first, the node of the fewest coalitions first.
type partitioner struct {
	n            int
	order        []int
	of           [][]survivor // by their first node in the order, ascending by loss
	budget, unit int64
	steps, limit int64
	stop         func() bool
	over         bool
	blocks, best []set
}

func (p *partitioner) search(at int, covered set, loss int64) {
	for at < p.n && covered.has(p.order[at]) {
		at++
	}
	if at == p.n {
		p.best = slices.Clone(p.blocks)
		p.budget = loss - p.unit
		return
	}
	for _, c := range p.of[p.order[at]] {
		if p.steps++; p.steps&1023 == 0 && (p.steps > p.limit || p.stop()) {
			p.over = true
		}
		if p.over || loss+c.loss > p.budget {
			return
		}
		if !c.meets(&covered) {
			p.blocks = append(p.blocks, c.set)
			p.search(at+1, covered.or(&c.set), loss+c.loss)
			p.blocks = p.blocks[:len(p.blocks)-1]
		}
	}
}
