package packing

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
)

// A swapper improves packings by exchanges (Andrade, Resende and Werneck, Journal of Heuristics 18, 2012; with prices,
// Nogueira, Pinheiro and Subramanian, Optimization Letters 12, 2018): a bid comes in where it is worth more than the
// winners that it conflicts with, and two bids come in for one winner where they are worth more. From a packing that no exchange improves,
// it forces random bids in and exchanges again. Packings of the same value are kept, which lets it wander among equal prices.
type swapper struct {
	g      *graph
	prices []int64
	live   set       // bids that take part
	bids   []int32   // the same
	rivals [][]int32 // of each, those that conflict with it
	rand   *rand.Rand
	chosen []int32 // the packing
	place  []int32 // of a bid in chosen; -1: it is out
	lost   []int64 // prices of the winners that conflict with a bid
	count  []int32 // how many they are
	value  int64
	left   []int64 // round in which a bid left the packing
	round  int64
	queue  []int32 // bids out of the packing whose winners have changed
	queued []bool
	wanted set     // scratch
	leaves []int32 // scratch
	work   int     // conflicts that were looked at
}

const (
	mostRivals   = 1 << 25 // conflicts of a graph that lists hold
	worsening    = 50      // packings that are worse by one in so many of a winner's mean price are rarely kept
	conflictCost = 4       // of a conflict, in units of a linear program's work
	choices      = 4       // bids of which the one that has been out for the longest is forced in
)

// newSwapper is a swapper of some of the bids; nil if they have too many conflicts.
func newSwapper(g *graph, prices []int64, live set, seed uint64) *swapper {
	s := &swapper{g: g, prices: prices, live: slices.Clone(live), bids: live.members(), rivals: make([][]int32, g.n), rand: rand.New(rand.NewPCG(seed, 7)), place: slices.Repeat([]int32{-1}, g.n),
		lost: make([]int64, g.n), count: make([]int32, g.n), left: make([]int64, g.n), queued: make([]bool, g.n), wanted: g.empty()}
	total := 0
	for _, j := range s.bids {
		for k, w := range g.conflict[j] {
			total += set{w & live[k]}.count()
		}
		if total > mostRivals {
			return nil
		}
	}
	all := make([]int32, 0, total)
	for _, j := range s.bids {
		from := len(all)
		for k, w := range g.conflict[j] {
			set{w & live[k]}.each(func(b int) { all = append(all, int32(k<<6+b)) })
		}
		s.rivals[j] = all[from:len(all):len(all)]
	}
	return s
}

func (s *swapper) enter(j int32) {
	s.place[j] = int32(len(s.chosen))
	s.chosen = append(s.chosen, j)
	s.value += s.prices[j]
	s.work += len(s.rivals[j])
	for _, i := range s.rivals[j] {
		s.lost[i] += s.prices[j]
		s.count[i]++
	}
}

func (s *swapper) leave(j int32) {
	at, last := s.place[j], s.chosen[len(s.chosen)-1]
	s.chosen[at], s.place[last] = last, at
	s.chosen, s.place[j] = s.chosen[:len(s.chosen)-1], -1
	s.value -= s.prices[j]
	s.left[j] = s.round
	s.work += len(s.rivals[j])
	for _, i := range s.rivals[j] {
		s.lost[i] -= s.prices[j]
		s.count[i]--
		s.enqueue(i)
	}
}

func (s *swapper) enqueue(j int32) {
	if !s.queued[j] && s.place[j] < 0 {
		s.queued[j] = true
		s.queue = append(s.queue, j)
	}
}

// winnersAgainst lists the winners that conflict with a bid.
func (s *swapper) winnersAgainst(j int32) []int32 {
	s.leaves = s.leaves[:0]
	for _, i := range s.rivals[j] {
		if len(s.leaves) == int(s.count[j]) {
			break
		}
		if s.place[i] >= 0 {
			s.leaves = append(s.leaves, i)
		}
	}
	return s.leaves
}

// force lets a bid in for the winners that it conflicts with.
func (s *swapper) force(j int32) {
	for _, i := range s.winnersAgainst(j) {
		s.leave(i)
	}
	s.enter(j)
}

// exchange lets bids in for winners as long as that raises the value.
func (s *swapper) exchange() {
	for len(s.queue) > 0 {
		j := s.queue[len(s.queue)-1]
		s.queue = s.queue[:len(s.queue)-1]
		if s.queued[j] = false; s.place[j] >= 0 {
			continue
		}
		if s.lost[j] < s.prices[j] {
			s.force(j)
			continue
		}
		if s.count[j] != 1 {
			continue
		}
		winner := s.winnersAgainst(j)[0]
		s.work += len(s.rivals[winner])
		for _, i := range s.rivals[winner] {
			if s.count[i] == 1 && s.prices[i]+s.prices[j] > s.prices[winner] && i != j && !s.g.conflict[j].has(int(i)) {
				s.leave(winner)
				s.enter(j)
				s.enter(i)
				break
			}
		}
	}
}

// run searches from a packing until one is worth `enough` or the conflicts that were looked at exceed `work`, and calls offer with the packings
// that are better than those before.
func (s *swapper) run(ctx context.Context, from []int32, enough int64, work int, offer func([]int32, int64)) {
	work += s.work
	s.restore(slices.DeleteFunc(slices.Clone(from), func(j int32) bool { return !s.live.has(int(j)) }))
	for _, j := range s.bids {
		s.enqueue(j)
	}
	s.exchange()
	offer(s.chosen, s.value)
	best, held, heldValue := s.value, slices.Clone(s.chosen), s.value
	for ; best < enough && s.work < work && len(s.chosen) < len(s.bids) && ctx.Err() == nil; s.round++ { // a packing is not empty, nor all bids
		forced := 1
		if s.rand.IntN(2*len(s.chosen)) == 0 {
			for forced = 2; s.rand.IntN(2) == 0; {
				forced++
			}
		}
		for range forced {
			pick := int32(-1)
			for range choices {
				if j := s.bids[s.rand.IntN(len(s.bids))]; s.place[j] < 0 && (pick < 0 || cmp.Or(cmp.Compare(s.lost[j]-s.prices[j], s.lost[pick]-s.prices[pick]), cmp.Compare(s.left[j], s.left[pick])) < 0) {
					pick = j
				}
			}
			if pick >= 0 {
				s.force(pick)
			}
		}
		s.exchange()
		if s.value > best {
			best = s.value
			offer(s.chosen, best)
		}
		unit := float64(best) / float64(worsening*len(held))
		if s.value < heldValue && s.rand.Float64()*(1+float64(heldValue-s.value)/unit*float64(best-s.value)/unit) >= 1 {
			s.restore(held)
			continue
		}
		held, heldValue = append(held[:0], s.chosen...), s.value
	}
}

// restore goes back to a packing.
func (s *swapper) restore(packing []int32) {
	clear(s.wanted)
	for _, j := range packing {
		s.wanted.add(int(j))
	}
	for k := 0; k < len(s.chosen); {
		if j := s.chosen[k]; s.wanted.has(int(j)) {
			k++
		} else {
			s.leave(j)
		}
	}
	for _, j := range packing {
		if s.place[j] < 0 {
			s.enter(j)
		}
	}
	for _, j := range s.queue {
		s.queued[j] = false
	}
	s.queue = s.queue[:0]
}

// searchSwaps exchanges bids of the best packing below a node.
func (t *tree) searchSwaps(ctx context.Context, s *swapper, n *node, work int) {
	t.mu.Lock()
	from := t.chosen
	t.mu.Unlock()
	s.run(ctx, from, n.bound-n.fixed, work, func(chosen []int32, value int64) {
		if value += n.fixed; value > t.incumbent() {
			t.offer(slices.Concat(n.taken, chosen), value)
		}
	})
}
