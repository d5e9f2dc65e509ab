package search

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
)

// briefMoves are bits of the number of moves: where one is set, three times of four, bits of groups are kept for a short time, and else for a long one. Some colourings
// need the one and some the other.
const briefMoves = 3 << 12

// Walk searches until the context ends or the work, in moves, is done, and calls found with each better feasible solution. It returns
// the moves and, where no feasible solution was found, the bits with the fewest violated rows.
func (l *Layout) Walk(ctx context.Context, start []uint8, seed uint64, work int64, limit *atomic.Int64, found func(value int64, x []uint8)) (nearest []uint8, moves int64) {
	f := l.form
	random := rand.New(rand.NewPCG(seed, 63))
	if l.exchange != nil {
		return nil, l.exchange.search(ctx, start, random, work, limit, found)
	}
	x := slices.Clone(start)
	if x == nil {
		x = make([]uint8, f.N)
		for i := range x {
			x[i] = uint8(random.IntN(2))
		}
	}
	s := newState(l, x, random)
	tabu := make([]int64, f.N) // the move until which a bit stays
	fewest, stall, held, best := math.MaxInt, int64(0), 0, int64(math.MaxInt64)
	var bestX []uint8
	var orders *sequence
	if l.packing != nil {
		orders = l.packing.begin(random)
	}
	patience := int64(200 + 25*f.N)
	plan := func() { // by orders, as many as moves without a better solution
		if orders == nil || orders.partial && best < math.MaxInt64 || work > 0 && moves >= work {
			return
		}
		tries := patience
		if work > 0 {
			tries = min(tries, work-moves)
		}
		moves += tries
		if x, value := orders.search(ctx, tries, limit, found); x != nil && value < best {
			best, bestX, fewest = value, x, 0
		}
	}
	if plan(); start == nil && bestX != nil {
		s = newState(l, slices.Clone(bestX), random)
	}
	for ; work <= 0 || moves < work; moves++ {
		if moves&255 == 0 && ctx.Err() != nil {
			break
		}
		if s.broken < fewest {
			fewest, nearest = s.broken, slices.Clone(s.x)
		}
		if s.broken == 0 && s.value < best {
			best, bestX, stall = s.value, slices.Clone(s.x), 0
			if best < limit.Load() {
				found(best, bestX)
			}
		}
		if f.N == 0 {
			break
		}
		move, change := s.choose(tabu, moves, best)
		if move[0] < 0 {
			move[0] = random.IntN(f.N) // all are tabu, or no move is allowed
			if !s.fits(move[0]) {
				move[0], stall = -1, stall+int64(f.N)
			}
		}
		if change >= 0 && move[0] >= 0 { // a local minimum
			if s.broken > 0 {
				for r := range s.rows {
					if violation(&s.rows[r], s.sums[r]) > 0 {
						s.reweigh(r, 1.2)
					}
				}
			}
		}
		if s.broken == 0 {
			if held++; held >= 10 {
				held = 0
				for r := range s.rows {
					s.reweigh(r, 0.8)
				}
			}
		} else {
			held = 0
		}
		stay := moves + 3 + int64(random.IntN(8+min(f.N/20, 40)))
		switch {
		case move[3] >= 0: // a swap's bits may go back to 0, else few swaps would be left
			stay = moves + int64(len(l.keeps)/2+random.IntN(1+len(l.keeps)))
		case move[1] >= 0 && moves&briefMoves != 0 && l.grouped(int32(move[1])): // a group of many has few good bits
			stay = moves + 5 + int64(random.IntN(10))
		}
		for k, b := range move {
			if b >= 0 {
				s.flip(b)
				if k < 2 {
					tabu[b] = stay
				}
			}
		}
		if stall++; stall > patience { // begin anew from the best, a part of it changed
			stall = 0
			plan()
			s = restarted(l, bestX, s, random)
		}
		if moves&0xffff == 0xffff {
			s.recompute() // weights are floats
		}
	}
	if fewest == 0 {
		nearest = nil
	}
	return nearest, moves
}

// restarted is a state from the best bits, some of them changed, or from new ones.
func restarted(l *Layout, best []uint8, s *state, random *rand.Rand) *state {
	x := make([]uint8, len(s.x))
	share := []float64{0.02, 0.1, 0.3, 1}[random.IntN(4)]
	if best == nil {
		best = s.x
	}
	for i := range x {
		x[i] = best[i]
		if random.Float64() < share/2 {
			x[i] ^= 1
		}
	}
	return newState(l, x, random)
}

// A move is the bits that it flips, -1 for none: a bit, two bits of a row that moves keep, or the four bits of a swap, those that
// become 0 first.
type move [4]int

// choose returns the best move that is not tabu, or that leads to a feasible solution better than the best, and the change of the
// score; the move's first bit is -1 where there is none.
func (s *state) choose(tabu []int64, now, best int64) (chosen move, change float64) {
	chosen, change = move{-1, -1, -1, -1}, math.Inf(1)
	ties := 0
	take := func(m move, score float64) {
		switch {
		case score < change:
			chosen, change, ties = m, score, 1
		case score == change:
			if ties++; s.random.IntN(ties) == 0 {
				chosen = m
			}
		}
	}
	for _, at := range s.alone {
		if b := int(at); s.fits(b) && (tabu[b] <= now || s.broken == 0 && s.penalty[b] == 0 && s.value+s.gain[b] < best) {
			take(move{b, -1, -1, -1}, s.score(b))
		}
	}
	s.swaps(func(m move) bool { return tabu[m[2]] <= now || tabu[m[3]] <= now }, best, take)
	for g := range s.keeps {
		on, off := -1, -1
		ons, offs := 0, 0
		for _, b := range s.keeps[g].Bits {
			at, count := &off, &offs
			if s.x[b] == 1 {
				at, count = &on, &ons
			}
			if tabu[b] > now || at == &off && !s.mayMove(g, b) {
				continue
			}
			switch score := s.score(int(b)); {
			case *at < 0 || score < s.score(*at):
				*at, *count = int(b), 1
			case score == s.score(*at):
				if *count++; s.random.IntN(*count) == 0 {
					*at = int(b)
				}
			}
		}
		if on >= 0 && off >= 0 {
			take(move{on, off, -1, -1}, s.score(on)+s.score(off))
		}
	}
	return chosen, change
}
