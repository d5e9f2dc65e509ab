// Package lns is a large neighbourhood search: it improves partitions of up to 63 agents, whose coalitions' values a
// function gives, by solving parts of a partition exactly, again and again. A part is a few blocks in pieces of one agent
// or more; the best way to put the pieces together is found by dynamic programming over all sets of pieces,
// so that no part becomes worse.
//
// The package knows neither distributions nor files.
package lns

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// A Search improves one partition. Value gives a coalition's value, minus infinity where it
// is forbidden.
type Search struct {
	n      int
	value  func(mask uint64) float64
	random *rand.Rand

	blocks []uint64
	worth  []float64 // values of the blocks
	total  float64
	pieces int // how many the next part has
	vain   int // parts solved since the partition last became better

	masks []uint64  // of all sets of pieces
	own   []float64 // their values as one block
	best  []float64 // of their best partitions
	first []uint32  // the block of the lowest piece in it
}

// A part has fewPieces pieces at first, and one more after every `patience` parts that did not
// improve the partition. When manyPieces do not improve it either, the search begins a new
// partition.
const (
	fewPieces, manyPieces = 8, 14
	patience              = 40
	rounding              = 1e-12 // a share of a value by which sums in another order may differ
)

// New begins with every agent alone.
func New(n int, value func(mask uint64) float64, random *rand.Rand) *Search {
	s := &Search{n: n, value: value, random: random, masks: make([]uint64, 1<<manyPieces), own: make([]float64, 1<<manyPieces),
		best: make([]float64, 1<<manyPieces), first: make([]uint32, 1<<manyPieces)}
	for i := range n {
		s.blocks = append(s.blocks, 1<<i)
	}
	s.begin()
	return s
}

// Begin goes on from other blocks, a partition of the agents.
func (s *Search) Begin(blocks []uint64) {
	s.blocks = slices.Clone(blocks)
	s.begin()
}

// begin computes the values of the blocks.
func (s *Search) begin() {
	s.worth = s.worth[:0]
	for _, b := range s.blocks {
		s.worth = append(s.worth, s.value(b))
	}
	s.sum()
	s.pieces, s.vain = fewPieces, 0
}

// sum adds up in the order of the blocks, which moves keep.
func (s *Search) sum() {
	s.total = 0
	for _, w := range s.worth {
		s.total += w
	}
}

// Best is the partition, which the caller must not change, and its value, added up in an order that
// is not specified.
func (s *Search) Best() ([]uint64, float64) { return s.blocks, s.total }

// Step solves one part, and reports whether the partition is worth more than before. After
// parts in vain it begins anew, with agents in random blocks: Best is another partition then.
func (s *Search) Step() bool {
	if s.n == 0 {
		return false
	}
	if s.vain >= patience {
		s.vain = 0
		if s.pieces++; s.pieces > manyPieces {
			s.restart()
			return false
		}
	}
	before := s.total
	pieces := s.part()
	s.solve(pieces)
	better := s.total > before+rounding*math.Abs(before)
	if s.vain++; better {
		s.vain = 0
	}
	return better
}

// restart puts each agent in one of a random number of blocks.
func (s *Search) restart() {
	blocks := make([]uint64, 1+s.random.IntN(s.n))
	for i := range s.n {
		blocks[s.random.IntN(len(blocks))] |= 1 << i
	}
	s.blocks = slices.DeleteFunc(blocks, func(b uint64) bool { return b == 0 })
	s.begin()
}

// part takes blocks out of the partition until they have at least as many agents as the part is to
// have pieces, and returns the pieces. Where the agents are more, some pieces have several agents.
func (s *Search) part() []uint64 {
	var taken []uint64
	agents := 0
	for len(s.blocks) > 0 && (agents < s.pieces || len(taken) < 2) && len(taken) < s.pieces {
		k := s.random.IntN(len(s.blocks))
		taken = append(taken, s.blocks[k])
		agents += bits.OnesCount64(s.blocks[k])
		last := len(s.blocks) - 1
		s.blocks[k], s.worth[k] = s.blocks[last], s.worth[last]
		s.blocks, s.worth = s.blocks[:last], s.worth[:last]
	}
	pieces := taken // each cut in two at random, the larger ones sooner
	for len(pieces) < s.pieces {
		k := s.random.IntN(len(pieces))
		for range 2 {
			if l := s.random.IntN(len(pieces)); bits.OnesCount64(pieces[l]) > bits.OnesCount64(pieces[k]) {
				k = l
			}
		}
		p := pieces[k]
		size := bits.OnesCount64(p)
		if size == 1 {
			if !slices.ContainsFunc(pieces, func(m uint64) bool { return m&(m-1) != 0 }) {
				break
			}
			continue
		}
		cut := uint64(0)
		for want := 1 + s.random.IntN(size-1); want > 0; {
			if i := uint64(1) << s.random.IntN(s.n); p&i != 0 && cut&i == 0 {
				cut |= i
				want--
			}
		}
		pieces[k] = p &^ cut
		pieces = append(pieces, cut)
	}
	return pieces
}

// solve appends the best partition of the union of pieces.
func (s *Search) solve(pieces []uint64) {
	all := uint32(1)<<len(pieces) - 1
	s.best[0], s.masks[0] = 0, 0
	for set := uint32(1); set <= all; set++ {
		low := set & -set
		s.masks[set] = s.masks[set&^low] | pieces[bits.TrailingZeros32(low)]
		s.own[set] = s.value(s.masks[set])
		s.best[set], s.first[set] = math.Inf(-1), set
		rest := set &^ low
		for sub := rest; ; sub = (sub - 1) & rest { // the block of the piece `low` is low and sub
			if x := s.own[low|sub] + s.best[rest&^sub]; x > s.best[set] {
				s.best[set], s.first[set] = x, low|sub
			}
			if sub == 0 {
				break
			}
		}
	}
	for set := all; set != 0; set &^= s.first[set] {
		s.blocks = append(s.blocks, s.masks[s.first[set]])
		s.worth = append(s.worth, s.own[s.first[set]])
	}
	s.sum()
}
