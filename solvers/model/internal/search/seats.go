package search

import (
	"math/rand/v2"
	"slices"

	"coalesce/solvers/model/problem"
)

// seats are a second family of rows without common bits, all of whose bits are in one-hot groups: the columns of an assignment beside
// its rows. A bit puts its group on a seat. Moves keep these rows too: a group changes to a seat with room, or two groups swap seats.
type seats struct {
	rows []problem.Row
	of   []int32   // of each bit; -1: it needs none
	bits [][]int32 // bits[group][seat]; -1: none
}

// mostPlaces is the largest product of groups and seats.
const mostPlaces = 1 << 24

// seat moves rows that can be seats into l.seats, and returns the others. Where no solution keeps groups and seats together there are none.
func (l *Layout) seat(rows []problem.Row) (others []problem.Row) {
	l.seats.of = slices.Repeat([]int32{-1}, l.form.N)
	for r := range rows {
		row := &rows[r]
		misfit := func(b int32) bool {
			return l.seats.of[b] >= 0 || l.group[b] < 0 || l.keeps[l.group[b]].Low != 1 || l.keeps[l.group[b]].High != 1
		}
		if len(row.Bits) < 2 || row.Low > int64(len(row.Bits)) || row.High < max(0, row.Low) || !row.Cardinality() || slices.ContainsFunc(row.Bits, misfit) {
			others = append(others, *row)
			continue
		}
		for _, b := range row.Bits {
			l.seats.of[b] = int32(len(l.seats.rows))
		}
		l.seats.rows = append(l.seats.rows, *row)
	}
	if len(l.seats.rows) > 0 && len(l.seats.rows)*len(l.keeps) <= mostPlaces {
		l.seats.bits = make([][]int32, len(l.keeps))
		for g := range l.seats.bits {
			l.seats.bits[g] = slices.Repeat([]int32{-1}, len(l.seats.rows))
		}
		for b, seat := range l.seats.of {
			if seat >= 0 {
				l.seats.bits[l.group[b]][seat] = int32(b)
			}
		}
		if on, _ := l.sit(make([]uint8, l.form.N), rand.New(rand.NewPCG(1, 1))); on != nil {
			return others
		}
	}
	l.seats = seats{of: slices.Repeat([]int32{-1}, l.form.N)}
	return rows
}

// sit changes bits, which keep the groups, so that they keep the seats' rows too: augmenting paths find a seat for groups without one,
// then groups for seats with too few. on is the bit of each one-hot group, and nil where no bits do that.
func (l *Layout) sit(x []uint8, random *rand.Rand) (on []int32, seated []int64) {
	on = slices.Repeat([]int32{-1}, len(l.keeps))
	if len(l.seats.rows) == 0 {
		return on, nil
	}
	seated = make([]int64, len(l.seats.rows))
	var left []int32
	put := func(b, by int32) {
		if seat := l.seats.of[b]; seat >= 0 {
			seated[seat] += int64(by)
		}
	}
	for _, g := range random.Perm(len(l.keeps)) {
		row := &l.keeps[g]
		if row.Low != 1 || row.High != 1 {
			continue
		}
		for _, b := range row.Bits {
			if seat := l.seats.of[b]; x[b] == 1 && on[g] < 0 && (seat < 0 || seated[seat] < l.seats.rows[seat].High) {
				on[g] = b
				put(b, 1)
			} else {
				x[b] = 0
			}
		}
		if on[g] < 0 {
			left = append(left, int32(g))
		}
	}
	var seen []bool
	var place func(g int32) bool
	place = func(g int32) bool { // a seat for the group, others move up
		bits := l.keeps[g].Bits
		first := random.IntN(len(bits))
		for k := range bits {
			b := bits[(first+k)%len(bits)]
			seat := l.seats.of[b]
			if seat >= 0 {
				if seen[seat] {
					continue
				}
				seen[seat] = true
				if seated[seat] >= l.seats.rows[seat].High && !slices.ContainsFunc(l.seats.rows[seat].Bits, func(other int32) bool {
					h := l.group[other]
					return on[h] == other && place(h)
				}) {
					continue
				}
			}
			if on[g] >= 0 {
				put(on[g], -1)
			}
			on[g] = b
			put(b, 1)
			return true
		}
		return false
	}
	for _, g := range left {
		seen = make([]bool, len(l.seats.rows))
		if !place(g) {
			return nil, nil
		}
	}
	var fill func(seat int32) bool
	fill = func(seat int32) bool { // a group for the seat, from one that can lose it
		seen[seat] = true
		for _, b := range l.seats.rows[seat].Bits {
			g := l.group[b]
			from := l.seats.of[on[g]]
			if from == seat || from >= 0 && seated[from] <= l.seats.rows[from].Low && (seen[from] || !fill(from)) || l.seats.of[on[g]] != from {
				continue
			}
			put(on[g], -1)
			on[g] = b
			put(b, 1)
			return true
		}
		return false
	}
	for seat := range l.seats.rows {
		for seated[seat] < l.seats.rows[seat].Low {
			seen = make([]bool, len(l.seats.rows))
			if !fill(int32(seat)) {
				return nil, nil
			}
		}
	}
	for g, b := range on {
		if b >= 0 {
			for _, other := range l.keeps[g].Bits {
				x[other] = 0
			}
			x[b] = 1
		}
	}
	return on, seated
}

// mayMove reports whether group g may change to bit b alone, for its seats.
func (s *state) mayMove(g int, b int32) bool {
	to := s.seats.of[b]
	if s.on[g] < 0 {
		return true
	}
	from := s.seats.of[s.on[g]]
	return from == to || (to < 0 || s.seated[to] < s.seats.rows[to].High) && (from < 0 || s.seated[from] > s.seats.rows[from].Low)
}

// swaps offers exchanges of the seats of two groups that are free, or better than the best: all of a small model, of a large one those
// of some groups.
func (s *state) swaps(free func(move) bool, best int64, take func(move, float64)) {
	if len(s.seats.rows) == 0 {
		return
	}
	count := len(s.on)
	firsts := min(count, 1+(1000+2*len(s.x))/(8*count))
	all, begin := firsts == count, s.random.IntN(count)
	for k := range firsts {
		g := (begin + k) % count
		if s.on[g] < 0 || s.seats.of[s.on[g]] < 0 {
			continue
		}
		from := s.seats.of[s.on[g]]
		for h := range count {
			if all && h <= g || h == g || s.on[h] < 0 || s.seats.of[s.on[h]] < 0 || s.seats.of[s.on[h]] == from {
				continue
			}
			m := move{int(s.on[g]), int(s.on[h]), int(s.seats.bits[g][s.seats.of[s.on[h]]]), int(s.seats.bits[h][from])}
			if m[2] < 0 || m[3] < 0 {
				continue
			}
			gain, penalty, holds := s.weigh(m)
			if free(m) || holds && s.value+gain < best {
				take(m, float64(gain)+penalty)
			}
		}
	}
}

// weigh is the change of the objective and of the weighted violations by a move, and whether all rows hold then. The objective's is
// exact but for products of three bits and more.
func (s *state) weigh(m move) (gain int64, penalty float64, holds bool) {
	broken := s.broken
	for k, b := range m {
		gain += s.gain[b]
		for _, other := range m[:k] {
			if !s.exclusive(int32(b), int32(other)) {
				gain += s.coefficient(b, other) * s.step(b) * s.step(other)
			}
		}
		for _, link := range s.memberOf[b] {
			s.change[link.at] += link.coefficient * s.step(b)
		}
	}
	for _, b := range m {
		for _, link := range s.memberOf[b] {
			change := s.change[link.at]
			if change == 0 {
				continue
			}
			s.change[link.at] = 0
			row := &s.rows[link.at]
			now, then := violation(row, s.sums[link.at]), violation(row, s.sums[link.at]+change)
			penalty += s.weights[link.at] * float64(then-now)
			if now > 0 {
				broken--
			}
			if then > 0 {
				broken++
			}
		}
	}
	return gain, penalty, broken == 0
}

// coefficient is that of the product of two bits.
func (l *Layout) coefficient(a, b int) int64 {
	if len(l.pairs[a]) > len(l.pairs[b]) {
		a, b = b, a
	}
	if k, ok := slices.BinarySearchFunc(l.pairs[a], int32(b), func(p link, at int32) int { return int(p.at - at) }); ok {
		return l.pairs[a][k].coefficient
	}
	return 0
}
