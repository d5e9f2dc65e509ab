// Package search looks for good bits of a model's form, and proves small ones. Cardinality rows without common bits are kept by all
// moves once they hold; other rows have weights that grow while they are violated and fall while all hold, in the manner of weighting
// in constraint satisfaction and of strategic oscillation (Gendreau, Hertz and Laporte 1994). Gains of products of any degree are
// updated with each flip.
package search

import (
	"math"
	"math/rand/v2"
	"slices"

	"coalesce/solvers/model/problem"
)

// A link is a neighbour in the objective, or a row with a bit's coefficient, or a bit of a row.
type link struct {
	at          int32
	coefficient int64
}

// A triple is the other bits of a product of three, or spins, and a quad of one of four.
type triple struct {
	a, b        int32
	coefficient int64
}

type quad struct {
	a, b, c     int32
	coefficient int64
}

// A Layout is a form with the lists that walks and the tree share.
type Layout struct {
	form     *problem.Form
	pairs    [][]link      // of each bit, those whose product may be 1 while moves keep the rows of keeps and seats
	triples  [2][][]triple // of each bit, its products of three bits, and of three spins
	quads    [2][][]quad   // the same of four
	products [][]int32     // of each bit, those of more
	rows     []problem.Row
	memberOf [][]link // of each bit, rows that moves do not keep
	keeps    []problem.Row
	group    []int32 // of each bit, the row of keeps that it is in; -1: none
	alone    []int32 // bits that may flip without another
	seats    seats
	exchange *permutation // the model is one; nil: it is not
	packing  *orders      // solutions are made from orders of groups; nil: the model is of another kind
}

// New makes the lists of a form.
func New(f *problem.Form) *Layout {
	l := &Layout{form: f, pairs: make([][]link, f.N), products: make([][]int32, f.N), memberOf: make([][]link, f.N), group: slices.Repeat([]int32{-1}, f.N)}
	l.addProducts()
	order := make([]int, len(f.Rows)) // equations first, as their moves are swaps alone
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return rank(&f.Rows[a]) - rank(&f.Rows[b]) })
	for _, k := range order {
		row := &f.Rows[k]
		free := func(b int32) bool { return l.group[b] < 0 }
		fits := row.Low <= int64(len(row.Bits)) && row.High >= 0 && row.Low <= row.High
		if len(row.Bits) > 1 && fits && row.Cardinality() && !slices.ContainsFunc(row.Bits, func(b int32) bool { return !free(b) }) {
			for _, b := range row.Bits {
				l.group[b] = int32(len(l.keeps))
			}
			l.keeps = append(l.keeps, *row)
			continue
		}
		l.rows = append(l.rows, *row)
	}
	l.rows = l.seat(l.rows)
	for _, p := range f.Pairs {
		if !l.exclusive(p.I, p.J) {
			l.pairs[p.I] = append(l.pairs[p.I], link{p.J, p.Coefficient})
			l.pairs[p.J] = append(l.pairs[p.J], link{p.I, p.Coefficient})
		}
	}
	for b, g := range l.group {
		if g < 0 || l.keeps[g].Low < l.keeps[g].High {
			l.alone = append(l.alone, int32(b))
		}
	}
	for r := range l.rows {
		l.memberOf = addRow(l.memberOf, &l.rows[r], r)
	}
	l.exchange = l.permutation()
	l.packing = l.orders()
	return l
}

// exclusive reports whether moves keep one of two bits 0, as those of a one-hot group: their product is 0.
func (l *Layout) exclusive(a, b int32) bool {
	g, seat := l.group[a], l.seats.of[a]
	return g >= 0 && g == l.group[b] && l.keeps[g].High == 1 || seat >= 0 && seat == l.seats.of[b] && l.seats.rows[seat].High == 1
}

// addProducts lists the products of each bit.
func (l *Layout) addProducts() {
	for kind := range 2 {
		l.triples[kind], l.quads[kind] = make([][]triple, l.form.N), make([][]quad, l.form.N)
	}
	for k := range l.form.Products {
		p := &l.form.Products[k]
		kind := 0
		if p.Spins {
			kind = 1
		}
		for j, b := range p.Bits {
			others := slices.Concat(p.Bits[:j], p.Bits[j+1:])
			switch len(others) {
			case 2:
				l.triples[kind][b] = append(l.triples[kind][b], triple{others[0], others[1], p.Coefficient})
			case 3:
				l.quads[kind][b] = append(l.quads[kind][b], quad{others[0], others[1], others[2], p.Coefficient})
			default:
				l.products[b] = append(l.products[b], int32(k))
			}
		}
	}
}

// degree is how many products a bit is in.
func (l *Layout) degree(b int32) int {
	return len(l.triples[0][b]) + len(l.triples[1][b]) + len(l.quads[0][b]) + len(l.quads[1][b]) + len(l.products[b])
}

// addRow adds row r to the rows of its bits.
func addRow(memberOf [][]link, row *problem.Row, r int) [][]link {
	for j, b := range row.Bits {
		memberOf[b] = append(memberOf[b], link{int32(r), row.Coefficients[j]})
	}
	return memberOf
}

func rank(r *problem.Row) int {
	if r.Low == r.High {
		return 0
	}
	return 1
}

// A state is bits with the gain of flipping each.
type state struct {
	*Layout
	x       []uint8
	value   int64
	gain    []int64   // change of the objective if the bit is flipped
	penalty []float64 // change of the weighted violations likewise
	zeros   []int32   // bits of each product that are 0, of those of more than four
	sums    []int64   // of rows
	weights []float64 // of rows
	broken  int       // rows that are violated
	counts  []int64   // of keeps
	seated  []int64   // bits of each seat that are 1
	on      []int32   // the bit of each one-hot group with seats; -1: of other groups
	change  []int64   // of rows' sums, scratch of a swap's weighing
	random  *rand.Rand
}

func violation(r *problem.Row, sum int64) int64 {
	return max(0, r.Low-sum, sum-r.High)
}

// newState begins with bits, which are changed to satisfy the rows that moves keep.
func newState(l *Layout, x []uint8, random *rand.Rand) *state {
	s := &state{Layout: l, x: x, random: random, counts: make([]int64, len(l.keeps)), weights: make([]float64, len(l.rows)), change: make([]int64, len(l.rows))}
	for g := range l.keeps {
		row := &l.keeps[g]
		for _, k := range random.Perm(len(row.Bits)) {
			if b := row.Bits[k]; x[b] == 1 {
				if s.counts[g] == row.High {
					x[b] = 0
				} else {
					s.counts[g]++
				}
			}
		}
		for _, k := range random.Perm(len(row.Bits)) {
			if b := row.Bits[k]; x[b] == 0 && s.counts[g] < row.Low {
				x[b] = 1
				s.counts[g]++
			}
		}
	}
	s.on, s.seated = l.sit(x, random)
	scale := 1.0
	for i, c := range l.form.Linear {
		scale = max(scale, math.Abs(float64(c)))
		for _, p := range l.pairs[i] {
			scale = max(scale, math.Abs(float64(p.coefficient)))
		}
	}
	for r := range l.rows {
		largest := 1.0
		for _, a := range l.rows[r].Coefficients {
			largest = max(largest, math.Abs(float64(a)))
		}
		s.weights[r] = scale / largest
	}
	s.recompute()
	return s
}

// recompute makes all gains from the bits and the weights.
func (s *state) recompute() {
	f := s.form
	s.value = f.Value(s.x)
	s.gain, s.penalty = make([]int64, f.N), make([]float64, f.N)
	s.zeros, s.sums = make([]int32, len(f.Products)), make([]int64, len(s.rows))
	for i := range f.N {
		sum := f.Linear[i]
		for _, p := range s.pairs[i] {
			sum += p.coefficient * int64(s.x[p.at])
		}
		s.gain[i] = sum * s.step(i)
	}
	for k := range f.Products {
		for _, b := range f.Products[k].Bits {
			s.zeros[k] += int32(1 - s.x[b])
		}
		for _, b := range f.Products[k].Bits {
			s.gain[b] += s.productGain(k, b)
		}
	}
	s.broken = 0
	for r := range s.rows {
		row := &s.rows[r]
		for j, b := range row.Bits {
			s.sums[r] += row.Coefficients[j] * int64(s.x[b])
		}
		if violation(row, s.sums[r]) > 0 {
			s.broken++
		}
		s.addPenalties(r, s.weights[r])
	}
}

// step is the change of a bit that is flipped.
func (s *state) step(i int) int64 { return 1 - 2*int64(s.x[i]) }

// productGain is the change of product k if a bit of it is flipped.
func (s *state) productGain(k int, b int32) int64 {
	p := &s.form.Products[k]
	switch {
	case p.Spins:
		return -2 * p.Coefficient * int64(1-2*(s.zeros[k]&1))
	case s.x[b] == 1 && s.zeros[k] == 0:
		return -p.Coefficient
	case s.x[b] == 0 && s.zeros[k] == 1:
		return p.Coefficient
	}
	return 0
}

// addPenalties adds a weight's part of row r to the penalties of its bits.
func (s *state) addPenalties(r int, weight float64) {
	row := &s.rows[r]
	now := violation(row, s.sums[r])
	for j, b := range row.Bits {
		s.penalty[b] += weight * float64(violation(row, s.sums[r]+row.Coefficients[j]*s.step(int(b)))-now)
	}
}

// flip flips a bit.
func (s *state) flip(i int) {
	step := s.step(i)
	s.value += s.gain[i]
	for _, k := range s.products[i] {
		for _, b := range s.form.Products[k].Bits {
			s.gain[b] -= s.productGain(int(k), b)
		}
	}
	for _, link := range s.memberOf[i] {
		r := int(link.at)
		s.addPenalties(r, -s.weights[r])
		if violation(&s.rows[r], s.sums[r]) > 0 {
			s.broken--
		}
	}
	s.flipProducts(i)
	s.x[i] ^= 1
	s.gain[i] = -s.gain[i] // but for products of more than four
	for _, p := range s.pairs[i] {
		s.gain[p.at] += p.coefficient * step * s.step(int(p.at))
	}
	for _, k := range s.products[i] {
		s.zeros[k] -= int32(step)
		for _, b := range s.form.Products[k].Bits {
			s.gain[b] += s.productGain(int(k), b)
		}
	}
	for _, link := range s.memberOf[i] {
		r := int(link.at)
		s.sums[r] += link.coefficient * step
		s.addPenalties(r, s.weights[r])
		if violation(&s.rows[r], s.sums[r]) > 0 {
			s.broken++
		}
	}
	if g := s.group[i]; g >= 0 {
		s.counts[g] += step
		if seat := s.seats.of[i]; seat >= 0 {
			s.seated[seat] += step
		}
		if s.on[g] >= 0 && step > 0 {
			s.on[g] = int32(i)
		}
	}
}

// flipProducts adds what the flip of a bit, which is yet to be, changes of the others' gains by products of three and four.
func (s *state) flipProducts(i int) {
	gain, x, own := s.gain, s.x, s.x[i]
	step := s.step(i)
	for _, t := range s.triples[0][i] {
		d := t.coefficient * step
		gain[t.a] += d * int64(x[t.b]) * (1 - 2*int64(x[t.a]))
		gain[t.b] += d * int64(x[t.a]) * (1 - 2*int64(x[t.b]))
	}
	for _, t := range s.quads[0][i] {
		d := t.coefficient * step
		a, b, c := int64(x[t.a]), int64(x[t.b]), int64(x[t.c])
		gain[t.a] += d * (b & c) * (1 - 2*a)
		gain[t.b] += d * (a & c) * (1 - 2*b)
		gain[t.c] += d * (a & b) * (1 - 2*c)
	}
	for _, t := range s.triples[1][i] { // a product of spins is the coefficient where the number of zeros is even
		d := 4 * t.coefficient * (2*int64(own^x[t.a]^x[t.b]) - 1)
		gain[t.a] += d
		gain[t.b] += d
	}
	for _, t := range s.quads[1][i] {
		d := 4 * t.coefficient * (1 - 2*int64(own^x[t.a]^x[t.b]^x[t.c]))
		gain[t.a] += d
		gain[t.b] += d
		gain[t.c] += d
	}
}

// reweigh changes the weight of row r by a factor.
func (s *state) reweigh(r int, factor float64) {
	more := s.weights[r] * (factor - 1)
	s.weights[r] += more
	s.addPenalties(r, more)
}

// score is the change of the objective and of the weighted violations if a bit is flipped.
func (s *state) score(i int) float64 { return float64(s.gain[i]) + s.penalty[i] }

// fits reports whether flipping a bit alone keeps the row that moves keep.
func (s *state) fits(i int) bool {
	g := s.group[i]
	if g < 0 {
		return true
	}
	count := s.counts[g] + s.step(i)
	return count >= s.keeps[g].Low && count <= s.keeps[g].High
}
