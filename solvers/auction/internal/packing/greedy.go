package packing

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// An improver builds packings and improves them.
type improver struct {
	g      *graph
	prices []int64
	order  []int32
	in     set
	key    []float64
	rand   *rand.Rand
	words  [][]uint16 // of each bid's conflicts, those that are not 0; nil in graphs of few bids
}

// longSets is how many bids make sets so long that improvers list the words of theirs that are not 0.
const longSets = 1 << 12

func newImprover(g *graph, prices []int64, seed uint64) *improver {
	h := &improver{g: g, prices: prices, in: g.empty(), key: make([]float64, g.n), rand: rand.New(rand.NewPCG(seed, 0))}
	if g.n >= longSets && g.n < MaxBids {
		h.words = make([][]uint16, g.n)
		for j, conflict := range g.conflict {
			for k, w := range conflict {
				if w != 0 {
					h.words[j] = append(h.words[j], uint16(k))
				}
			}
		}
	}
	return h
}

// lost is the price of the bids in the packing that conflict with one.
func (h *improver) lost(j int32) (sum int64) {
	conflict := h.g.conflict[j]
	add := func(k int, w uint64) {
		if w != 0 {
			set{w}.each(func(b int) { sum += h.prices[k<<6+b] })
		}
	}
	if h.words == nil {
		for k, w := range conflict {
			add(k, w&h.in[k])
		}
		return sum
	}
	for _, k := range h.words[j] {
		add(int(k), conflict[k]&h.in[k])
	}
	return sum
}

// fits reports whether a bid conflicts with none in the packing.
func (h *improver) fits(j int32) bool {
	if h.words == nil {
		return !h.in.intersects(h.g.conflict[j])
	}
	for _, k := range h.words[j] {
		if h.g.conflict[j][k]&h.in[k] != 0 {
			return false
		}
	}
	return true
}

// fill adds live bids greedily to those taken, the largest key first, and then lets a single bid
// replace all bids that it conflicts with, as long as that raises the sum of the prices.
func (h *improver) fill(live set, taken []int32) ([]int32, int64) {
	h.order = h.order[:0]
	clear(h.in)
	for _, j := range taken {
		h.in.add(int(j))
	}
	live.each(func(j int) { h.order = append(h.order, int32(j)) })
	slices.SortFunc(h.order, func(a, b int32) int {
		if c := cmp.Compare(h.key[b], h.key[a]); c != 0 {
			return c
		}
		return cmp.Compare(a, b)
	})
	h.complete()
	for changed := true; changed; {
		changed = false
		for _, j := range h.order {
			if h.in.has(int(j)) {
				continue
			}
			if h.lost(j) < h.prices[j] {
				h.in.subtract(h.g.conflict[j])
				h.in.add(int(j))
				h.complete()
				changed = true
			}
		}
	}
	var chosen []int32
	value := int64(0)
	h.in.each(func(j int) {
		chosen = append(chosen, int32(j))
		value += h.prices[j]
	})
	return chosen, value
}

func (h *improver) complete() {
	for _, j := range h.order {
		if !h.in.has(int(j)) && h.fits(j) {
			h.in.add(int(j))
		}
	}
}

// start offers many greedy packings, whose keys are the price over a power of the number of conflicts,
// with noise. When ctx ends it offers one packing at least.
func (h *improver) start(ctx context.Context, live set, tries int, offer func([]int32, int64)) {
	degree := make([]float64, h.g.n)
	for j := range degree {
		count := 0
		for _, w := range h.g.conflict[j] {
			count += bits.OnesCount64(w)
		}
		degree[j] = float64(1 + count)
	}
	for try := range tries {
		power := []float64{0.5, 1, 0, 0.25, 0.75}[try%5]
		for j := range h.key {
			h.key[j] = float64(h.prices[j]) / math.Pow(degree[j], power)
			if try >= 5 {
				h.key[j] *= 1 + 0.3*h.rand.Float64()
			}
		}
		if offer(h.fill(live, nil)); ctx.Err() != nil {
			return
		}
	}
}
