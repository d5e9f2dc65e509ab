package search

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
)

// Walk searches until the context ends or the work, in moves, is done, and calls found with each better feasible solution. It returns
// the moves and, where no feasible solution was found, the bits with the fewest violated rows.
func (l *Layout) Walk(ctx context.Context, start []uint8, seed uint64, work int64, limit *atomic.Int64, found func(value int64, x []uint8)) (nearest []uint8, moves int64) {
	f := l.form
	random := rand.New(rand.NewPCG(seed, 63))
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
		i, j, change := s.choose(tabu, moves, best)
		if i < 0 {
			i = random.IntN(f.N) // all are tabu, or no move is allowed
			if !s.fits(i) {
				continue
			}
		}
		if change >= 0 { // a local minimum
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
		for _, b := range []int{i, j} {
			if b >= 0 {
				s.flip(b)
				tabu[b] = moves + 3 + int64(random.IntN(8+min(f.N/20, 40)))
			}
		}
		if stall++; stall > int64(2000+20*f.N) { // begin anew from the best, a part of it changed
			stall = 0
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

// choose returns the best move that is not tabu, or that leads to a feasible solution better than the best: a bit, or two bits of a row
// that moves keep, the second -1 of one; -1 if there is none.
func (s *state) choose(tabu []int64, now, best int64) (i, j int, change float64) {
	i, j, change = -1, -1, math.Inf(1)
	ties := 0
	take := func(a, b int, score float64) {
		switch {
		case score < change:
			i, j, change, ties = a, b, score, 1
		case score == change:
			if ties++; s.random.IntN(ties) == 0 {
				i, j = a, b
			}
		}
	}
	for b := range s.x {
		if s.fits(b) && (tabu[b] <= now || s.broken == 0 && s.penalty[b] == 0 && s.value+s.gain[b] < best) {
			take(b, -1, s.score(b))
		}
	}
	for g := range s.keeps {
		on, off := -1, -1
		ons, offs := 0, 0
		for _, b := range s.keeps[g].Bits {
			at, count := &off, &offs
			if s.x[b] == 1 {
				at, count = &on, &ons
			}
			if tabu[b] > now {
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
			take(on, off, s.score(on)+s.score(off))
		}
	}
	return i, j, change
}
