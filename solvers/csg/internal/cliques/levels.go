package cliques

import (
	"cmp"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// Levels are prices that bound what every partition of a graph is worth. Of the first k nodes of an order, level k has a price for each, and no coalition
// of these nodes has edges that weigh more than its nodes' prices. So the prices of the last level bound partitions of all nodes. A search of all coalitions proves each level, and
// the levels below bound that search (coalitions.go). Nested subproblems that bound one another are Russian doll search (Verfaillie, Lemaître and Schiex, 1996).
type Levels struct {
	Order  []int32   `json:"order"`            // nodes, from 0
	Prices [][]int64 `json:"prices"`           // prices of each level in 2^-shift of a unit, by place in the order
	Shift  uint      `json:"shift,omitempty"`  // see prices
	Closed bool      `json:"closed,omitempty"` // a search of the coalitions that lose little found no better structure
}

// MostPriced is the most nodes of Levels.
const MostPriced = 64 * len(set{})

// sum is the sum of the last level's prices, in 2^-Shift of a unit.
func (l *Levels) sum() (sum int64) {
	for _, y := range l.Prices[len(l.Prices)-1] {
		sum += y
	}
	return sum
}

// Bound is the bound in units.
func (l *Levels) Bound() int64 { return l.sum() >> l.Shift }

// Proves reports whether the levels are those of a graph and every one holds; and if they are closed, that no partition is worth more than value, which one is.
func (l *Levels) Proves(g *Graph, value int64, cores int) bool {
	order, shift := g.order()
	if g.N == 0 || g.N > MostPriced || shift != l.Shift || !slices.Equal(order, l.Order) || len(l.Prices) != g.N {
		return false
	}
	for k, level := range l.Prices {
		if len(level) != k+1 || slices.Min(level) < 0 || slices.Max(level) > mostPrice {
			return false
		}
	}
	s := newCoalitions(g, order, shift, cores)
	for k, level := range l.Prices {
		derived := s.derive(k + 1)
		for i, y := range level {
			if y < derived[i] {
				if found, ended := s.exceed(level, 1, 1, math.MaxInt64); len(found) > 0 || !ended {
					return false
				}
				break
			}
		}
		s.levels = l.Prices[:k+1]
	}
	if !l.Closed {
		return true
	}
	better, ended := s.partition(value, math.MaxInt64)
	return ended && better == nil
}

// order is the order of a graph's nodes in levels, and their shift: each node has the least squares of weights to those before it, so that edges among nodes that a search decides last weigh little.
func (g *Graph) order() (order []int32, shift uint) {
	all, before, total := make([]float64, g.N), make([]float64, g.N), 0.0
	for i := range g.N {
		_, weight := g.Row(i)
		for _, w := range weight {
			all[i] += float64(w) * float64(w)
			total += math.Abs(float64(w))
		}
	}
	left := singletons(g.N)
	for len(left) > 0 {
		best := 0
		for a, i := range left {
			if c := cmp.Compare(before[i], before[left[best]]); c < 0 || c == 0 && all[i] < all[left[best]] {
				best = a
			}
		}
		i := left[best]
		left = slices.Delete(left, best, best+1)
		order = append(order, i)
		col, weight := g.Row(int(i))
		for k, j := range col {
			before[j] += float64(weight[k]) * float64(weight[k])
		}
	}
	for shift < maxShift && math.Ldexp(total, int(shift)) < 1<<50 {
		shift++
	}
	return order, shift
}

// mostPrice bounds a price: the sum of all is below 2^62.
const mostPrice = 1 << 53

// A Leveler finds levels, and takes their prices down pass by pass.
type Leveler struct {
	*coalitions
	Levels  Levels
	Work    int64 // coalitions looked at
	random  *rand.Rand
	above   []float64 // shares by which prices of each level are above those of its linear program
	columns []column  // coalitions, without single nodes
	known   map[set]bool
	limit   int64 // nodes that a level's search may take in this pass
}

// NewLeveler begins without levels.
func NewLeveler(g *Graph, cores int, seed uint64) *Leveler {
	order, shift := g.order()
	x := &Leveler{coalitions: newCoalitions(g, order, shift, cores), random: rand.New(rand.NewPCG(seed, 3)), known: map[set]bool{}, limit: firstLimit}
	x.Levels.Order, x.Levels.Shift = order, shift
	return x
}

// What a pass takes: a level's search takes at most firstLimit coalitions in the first pass, and more by a factor in each later one. Where that is too few, the prices are
// raised by a share, from leastRaise on.
const (
	firstLimit = 1 << 16
	factor     = 4
	leastRaise = 1.0 / 64
)

// Add takes blocks of a known partition as coalitions of linear programs.
func (x *Leveler) Add(label []int32) {
	blocks := map[int32]set{}
	for at, node := range x.Levels.Order {
		s := blocks[label[node]]
		s.add(at)
		blocks[label[node]] = s
	}
	for _, s := range blocks {
		x.addColumn(s)
	}
}

func (x *Leveler) addColumn(s set) {
	if s.count() > 1 && !x.known[s] {
		x.known[s] = true
		x.columns = append(x.columns, column{s, x.value(s)})
	}
}

// Pass finds prices of all levels, or lower ones of the levels whose prices are above those of their linear program. It returns false if stop ended it.
func (x *Leveler) Pass(stop func() bool) bool {
	x.stop = stop
	first := len(x.above) == 0
	var basis []column
	for k := range x.n {
		if first {
			x.levels, x.above = append(x.levels, nil), append(x.above, math.Inf(1))
		}
		if x.derived(k + 1) {
			x.levels[k], x.above[k] = x.derive(k+1), 0
			continue
		}
		if !first && x.above[k] == 0 {
			basis = nil
			continue
		}
		prices, above, list := x.level(k+1, basis, x.above[k])
		if prices == nil {
			return false
		}
		x.levels[k], x.above[k], basis = prices, above, list
	}
	x.Levels.Prices = slices.Clone(x.levels)
	x.limit *= factor
	return true
}

// derived reports whether level k follows from the one below. A search of every third large level is less work than of all of them.
func (x *Leveler) derived(k int) bool { return k > 24 && (x.n-k)%3 != 0 }

// Exact reports whether no price is above those of its linear program.
func (x *Leveler) Exact() bool { return len(x.above) == x.n && slices.Max(x.above) == 0 }

// level finds prices of the first k nodes that no coalition of them exceeds: those of the linear program over the coalitions known, to which a search adds coalitions that
// exceed them, or prices above them by a share, less than the one before.
func (x *Leveler) level(k int, basis []column, before float64) (prices []int64, above float64, last []column) {
	m := newMaster(k, basis)
	for _, c := range x.columns {
		if c.set.within(k) {
			m.add(c)
		}
	}
	for !x.stop() {
		m.solve()
		prices = m.prices(above)
		found := x.descents(k, m, prices)
		if len(found) == 0 {
			var ended bool
			found, ended = x.exceed(prices, 1, mostFound, x.limit)
			x.Work += x.looked
			if len(found) == 0 {
				switch {
				case ended:
					return prices, above, m.places
				case x.stop():
					return nil, 0, nil
				case max(2*above, leastRaise) >= before: // no lower than before
					return x.levels[k-1], before, m.places
				}
				above = max(2*above, leastRaise)
				continue
			}
		}
		for _, s := range found {
			if !x.known[s] {
				x.addColumn(s)
				m.add(x.columns[len(x.columns)-1])
			}
		}
	}
	return nil, 0, nil
}

// mostFound is the most coalitions that a search adds to a linear program at once.
const mostFound = 500

// descents are coalitions that exceed prices, found from random ones and from the columns nearest to their prices by moving nodes in and out as long as that gains.
func (x *Leveler) descents(k int, m *master, prices []int64) (found []set) {
	gain := make([]int64, k)
	met := map[set]bool{}
	begin := m.nearest(8 * k)
	for start := range k + len(begin) {
		var s set
		share := x.random.Float64()
		for i := range k {
			in := x.random.Float64() < share*share
			if start >= k {
				in = m.columns[begin[start-k]].has(i) != (x.random.IntN(k) < 2)
			}
			if gain[i] = -prices[i]; in {
				s.add(i)
			}
		}
		excess := int64(0)
		for i := range k {
			if s.has(i) {
				excess += gain[i]
				for j, w := range x.w[i*x.n : i*x.n+k] {
					gain[j] += w
				}
			}
		}
		for {
			best, most := -1, int64(0)
			for i, d := range gain {
				if s.has(i) {
					d = -d
				}
				if d > most {
					best, most = i, d
				}
			}
			if best < 0 {
				break
			}
			excess += most
			row := x.w[best*x.n : best*x.n+k]
			if s.has(best) {
				for j, w := range row {
					gain[j] -= w
				}
			} else {
				for j, w := range row {
					gain[j] += w
				}
			}
			s.flip(best)
		}
		if excess > 0 && !met[s] {
			met[s] = true
			found = append(found, s)
		}
	}
	return found
}

// Close looks for a partition that is worth more than value, among the coalitions whose prices exceed their weights by less than the bound exceeds value. It returns the best partition that it
// finds, as blocks of nodes, nil if there is none, and whether it is proven that none is better than it, or than value.
func (x *Leveler) Close(value int64, stop func() bool) (label []int32, closed bool) {
	x.stop = stop
	blocks, closed := x.partition(value, closeLimit)
	x.Work += x.looked
	x.Levels.Closed = closed
	if blocks == nil {
		return nil, closed
	}
	label = make([]int32, x.n)
	for b, s := range blocks {
		for at, node := range x.Levels.Order {
			if s.has(at) {
				label[node] = int32(b)
			}
		}
	}
	return label, closed
}

// closeLimit is the most coalitions that Close looks at in each of its two searches.
const closeLimit = 1 << 34

// A set is a set of nodes, by their places in an order.
type set [4]uint64

func (s *set) add(i int)      { s[i>>6] |= 1 << (i & 63) }
func (s *set) flip(i int)     { s[i>>6] ^= 1 << (i & 63) }
func (s *set) has(i int) bool { return s[i>>6]>>(i&63)&1 == 1 }

func (s *set) count() (n int) {
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// within reports whether a set has none but the first k nodes.
func (s *set) within(k int) bool {
	for b, w := range s {
		if w != 0 && 64*b+bits.Len64(w) > k {
			return false
		}
	}
	return true
}

func (s *set) meets(t *set) bool {
	return s[0]&t[0]|s[1]&t[1]|s[2]&t[2]|s[3]&t[3] != 0
}

func (s *set) or(t *set) set { return set{s[0] | t[0], s[1] | t[1], s[2] | t[2], s[3] | t[3]} }

func firstNodes(k int) (s set) {
	for i := range k {
		s.add(i)
	}
	return s
}
