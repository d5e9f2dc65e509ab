package search

import (
	"context"
	"math"
	"slices"
	"sync/atomic"

	"coalesce/solvers/model/problem"
)

// A RowProduct is a multiplier of a row times a bit.
type RowProduct struct {
	Row, Bit int32
	Value    int64
}

// mostShares is the most pairs, mostProducts the most multipliers of rows times bits, and mostProductWork what the steps may take in all, in
// terms, of which at least fewestSteps are worth their time.
const (
	mostShares      = 1 << 17
	mostProducts    = 1 << 17
	mostProductWork = 8_000_000_000
	fewestSteps     = 100
)

// A relaxation is a Lagrangian one of an objective of pairs: each bit j has a problem of its own, the least sum over bits k of what is j's of
// the pairs (j, k), and of the rows times j with their multipliers; then the bits with their sums are solved as linear terms. It is the
// decomposition of Caprara, Pisinger and Toth ("Exact solution of the quadratic knapsack problem", INFORMS J. Computing 11, 1999), for
// any linear rows, and in its best point the first level of the reformulation-linearization technique (Adams and Sherali 1986).
type relaxation struct {
	*Layout
	rows   []int       // those that are multiplied with bits
	offset float64     // with what products of more than two are at least
	shares []float64   // of each pair what is its first bit's
	y      []float64   // multipliers of rows
	u      [][]float64 // of rows times bits, by the place in rows
	near   [][]neighbour
	slope  []float64 // scratch: of a bit's problem
	taken  []float64 // scratch: its solution
}

// A neighbour is a bit with which a bit has a pair.
type neighbour struct {
	at, pair int32
	first    bool // of the pair is the bit whose neighbour it is
}

func (l *Layout) relax(m Multipliers) *relaxation {
	f := l.form
	r := &relaxation{Layout: l, offset: float64(f.Offset), shares: make([]float64, len(f.Pairs)), y: make([]float64, len(f.Rows)), near: make([][]neighbour, f.N),
		slope: make([]float64, f.N), taken: make([]float64, f.N)}
	for k, p := range f.Pairs {
		r.shares[k] = float64(p.Coefficient) / 2
		r.near[p.I] = append(r.near[p.I], neighbour{p.J, int32(k), true})
		r.near[p.J] = append(r.near[p.J], neighbour{p.I, int32(k), false})
	}
	for k := range f.Products {
		r.offset += leastProduct(&f.Products[k])
	}
	for k, v := range m.Rows {
		r.y[k] = float64(v) / float64(m.Scale)
	}
	entries := 0
	for k := range f.Rows {
		if row := &f.Rows[k]; len(row.Bits) > 0 && !l.groupRow(row) && entries+len(row.Bits)*f.N <= 32*mostProducts && (len(r.rows)+1)*f.N <= mostProducts {
			entries += len(row.Bits) * f.N
			r.rows = append(r.rows, k)
			r.u = append(r.u, make([]float64, f.N))
		}
	}
	return r
}

// groupRow reports whether a row is one that each bit's problem keeps as it is.
func (l *Layout) groupRow(row *problem.Row) bool {
	g := l.group[row.Bits[0]]
	return g >= 0 && l.keeps[g].Constraint == row.Constraint && l.keeps[g].High == 1
}

// leastProduct is the smallest value of a product whose bits are free.
func leastProduct(p *problem.Product) float64 {
	if p.Spins {
		return -math.Abs(float64(p.Coefficient))
	}
	return float64(min(0, p.Coefficient))
}

// side is the bound of a row that a multiplier is of.
func side(row *problem.Row, multiplier float64) float64 {
	low, high := sides(row)
	if multiplier < 0 {
		return float64(high)
	}
	return float64(low)
}

// solveBit makes the problem of bit j, and returns its least sum with j's own terms; taken has the solution.
func (r *relaxation) solveBit(j int) (sum float64) {
	w := r.slope
	clear(w)
	for _, n := range r.near[j] {
		if n.first {
			w[n.at] = r.shares[n.pair]
		} else {
			w[n.at] = float64(r.form.Pairs[n.pair].Coefficient) - r.shares[n.pair]
		}
	}
	sum = float64(r.form.Linear[j])
	for k, at := range r.rows {
		u := r.u[k][j]
		if u == 0 {
			continue
		}
		row := &r.form.Rows[at]
		sum += u * side(row, u)
		for i, b := range row.Bits {
			w[b] -= u * float64(row.Coefficients[i])
		}
	}
	sum += w[j]
	w[j] = 0
	if g := r.group[j]; g >= 0 && r.keeps[g].High == 1 { // the others of its group are 0
		for _, b := range r.keeps[g].Bits {
			w[b] = 0
		}
	}
	sum += r.leastOf(w, r.taken)
	if g := r.group[j]; g >= 0 && r.keeps[g].High == 1 {
		for _, b := range r.keeps[g].Bits {
			r.taken[b] = 0
		}
	}
	r.taken[j] = 1
	return sum
}

// lack is the slope of the bound along a multiplier of a row with a sum.
func lack(row *problem.Row, multiplier, sum float64) float64 {
	low, high := sides(row)
	if d := float64(low) - sum; row.Low > -problem.Unbounded && (multiplier > 0 || multiplier == 0 && d > 0) {
		return d
	}
	if d := float64(high) - sum; row.High < problem.Unbounded && (multiplier < 0 || multiplier == 0 && d < 0) {
		return d
	}
	return 0
}

// within is a multiplier, 0 where its row has no bound of that side.
func within(row *problem.Row, multiplier float64) float64 {
	if multiplier > 0 && row.Low <= -problem.Unbounded || multiplier < 0 && row.High >= problem.Unbounded {
		return 0
	}
	return multiplier
}

// Products looks for multipliers of rows, of rows times bits and for shares of the pairs with a large bound, from multipliers of rows on,
// by steps along subgradients. limit is the best value that is known. Where there are no pairs, or nothing better is found, the result is m.
func (l *Layout) Products(ctx context.Context, m Multipliers, limit *atomic.Int64) Multipliers {
	f := l.form
	if len(f.Pairs) == 0 || len(f.Pairs) > mostShares || len(f.Rows) == 0 {
		return m
	}
	r := l.relax(m)
	work, size := 2*len(f.Pairs)+f.N*f.N, make([]float64, len(f.Rows))
	for k := range f.Rows {
		for _, a := range f.Rows[k].Coefficients {
			size[k] += float64(a) * float64(a)
		}
		size[k] = max(1, size[k]/float64(max(1, len(f.Rows[k].Bits))))
	}
	for _, at := range r.rows {
		work += f.N * len(f.Rows[at].Bits)
	}
	if mostProductWork/work < fewestSteps {
		return m
	}
	best, pace, still := math.Inf(-1), 1.0, 0
	kept := r.clone()
	sums, x := make([]float64, f.N), make([]float64, f.N)
	last := &relaxation{shares: make([]float64, len(r.shares)), y: make([]float64, len(r.y)), u: make([][]float64, len(r.u))}
	for k := range last.u {
		last.u[k] = make([]float64, f.N)
	}
	const keep = 0.7 // of the last direction
	for step := 0; step < min(mostSteps, mostProductWork/work) && pace > 1e-3 && ctx.Err() == nil; step++ {
		value := r.offset
		for k := range f.Rows {
			if r.y[k] != 0 {
				value += r.y[k] * side(&f.Rows[k], r.y[k])
			}
		}
		for j := range sums {
			sums[j] = r.solveBit(j)
		}
		for k := range f.Rows {
			for i, b := range f.Rows[k].Bits {
				sums[b] -= r.y[k] * float64(f.Rows[k].Coefficients[i])
			}
		}
		value += r.leastOf(sums, x)
		if value > best+1e-7*math.Abs(best) || math.IsInf(best, -1) {
			best, still = value, 0
			kept.copy(r)
		} else if still++; still >= 20 {
			pace, still = pace/1.5, 0
			r.copy(kept)
			last.scale(0)
			continue
		}
		target := best + max(1, math.Abs(best)/50)
		if known := limit.Load(); known < math.MaxInt64 {
			if target = float64(known); best > target-1+1e-6 {
				break // proven
			}
		}
		last.scale(keep)
		for k := range f.Rows {
			sum := 0.0
			for i, b := range f.Rows[k].Bits {
				sum += x[b] * float64(f.Rows[k].Coefficients[i])
			}
			last.y[k] += lack(&f.Rows[k], r.y[k], sum) / size[k]
		}
		for j := range x {
			if x[j] == 0 {
				continue
			}
			r.solveBit(j)
			for _, n := range r.near[j] {
				if n.first {
					last.shares[n.pair] += r.taken[n.at]
				} else {
					last.shares[n.pair] -= r.taken[n.at]
				}
			}
			for k, at := range r.rows {
				row, sum := &f.Rows[at], 0.0
				for i, b := range row.Bits {
					sum += r.taken[b] * float64(row.Coefficients[i])
				}
				last.u[k][j] += lack(row, r.u[k][j], sum) / size[at]
			}
		}
		length := 0.0
		for k, g := range last.y {
			length += g * g * size[k]
		}
		for _, g := range last.shares {
			length += g * g
		}
		for k, list := range last.u {
			for _, g := range list {
				length += g * g * size[r.rows[k]]
			}
		}
		if length == 0 {
			break
		}
		r.move(last, pace*(target-value)/length)
	}
	return l.rounded(kept, m)
}

// clone is a copy of the multipliers.
func (r *relaxation) clone() *relaxation {
	c := &relaxation{rows: r.rows, shares: slices.Clone(r.shares), y: slices.Clone(r.y)}
	for _, u := range r.u {
		c.u = append(c.u, slices.Clone(u))
	}
	return c
}

// copy takes the multipliers of another.
func (r *relaxation) copy(from *relaxation) {
	copy(r.shares, from.shares)
	copy(r.y, from.y)
	for k := range r.u {
		copy(r.u[k], from.u[k])
	}
}

// scale multiplies all multipliers.
func (r *relaxation) scale(by float64) {
	for _, list := range append([][]float64{r.shares, r.y}, r.u...) {
		for k := range list {
			list[k] *= by
		}
	}
}

// move goes a step along a direction.
func (r *relaxation) move(along *relaxation, step float64) {
	for k, g := range along.shares {
		r.shares[k] += step * g
	}
	for k, g := range along.y {
		r.y[k] = within(&r.form.Rows[k], r.y[k]+step*g)
	}
	for k, list := range along.u {
		row := &r.form.Rows[r.rows[k]]
		for j, g := range list {
			if g != 0 {
				r.u[k][j] = within(row, r.u[k][j]+step*g)
			}
		}
	}
}

// rounded are the multipliers in whole numbers, or m where their bound is not better.
func (l *Layout) rounded(r *relaxation, m Multipliers) Multipliers {
	for scale := int64(1 << 12); scale > 0; scale /= 16 {
		out := Multipliers{Scale: scale}
		whole := func(v float64) int64 { return int64(math.Round(v * float64(scale))) }
		for _, v := range r.y {
			out.Rows = append(out.Rows, whole(v))
		}
		for _, v := range r.shares {
			out.Shares = append(out.Shares, whole(v))
		}
		for k, list := range r.u {
			for j, v := range list {
				if w := whole(v); w != 0 {
					out.Products = append(out.Products, RowProduct{int32(r.rows[k]), int32(j), w})
				}
			}
		}
		if bound, ok := l.Bound(out); ok {
			if plain, _ := l.Bound(m); bound > plain {
				return out
			}
			return m
		}
	}
	return m
}

// productBound is the bound of multipliers with shares, exact; false: they do not fit the form, or sums could be too large.
func (l *Layout) productBound(m Multipliers) (int64, bool) {
	f := l.form
	if m.Scale < 1 || len(m.Shares) != len(f.Pairs) || len(m.Rows) != len(f.Rows) {
		return 0, false
	}
	scale, total := float64(m.Scale), math.Abs(float64(f.Offset))*float64(m.Scale)
	constant, linear := m.Scale*f.Offset, make([]int64, f.N)
	terms := make([]map[int32]int64, f.N) // of each bit's problem
	for i, c := range f.Linear {
		total += scale * math.Abs(float64(c))
		terms[i] = map[int32]int64{}
		linear[i] = m.Scale * c
	}
	for k := range f.Products {
		total += scale * math.Abs(float64(f.Products[k].Coefficient))
		constant += m.Scale * int64(leastProduct(&f.Products[k]))
	}
	for k, p := range f.Pairs {
		total += scale*math.Abs(float64(p.Coefficient)) + 2*math.Abs(float64(m.Shares[k]))
		terms[p.I][p.J] += m.Shares[k]
		terms[p.J][p.I] += m.Scale*p.Coefficient - m.Shares[k]
	}
	of := func(row *problem.Row, v int64) (int64, bool) { // the bound of a multiplier
		low, high := sides(row)
		fits := v >= 0 && row.Low > -problem.Unbounded || v <= 0 && row.High < problem.Unbounded
		s := low
		if v < 0 {
			s = high
		}
		size := math.Abs(float64(s))
		for _, a := range row.Coefficients {
			size += math.Abs(float64(a))
		}
		total += size * math.Abs(float64(v))
		return s, fits && total <= mostSum
	}
	for k, v := range m.Rows {
		if v == 0 {
			continue
		}
		s, ok := of(&f.Rows[k], v)
		if !ok {
			return 0, false
		}
		constant += v * s
		for i, b := range f.Rows[k].Bits {
			linear[b] -= v * f.Rows[k].Coefficients[i]
		}
	}
	for _, p := range m.Products {
		if p.Row < 0 || int(p.Row) >= len(f.Rows) || p.Bit < 0 || int(p.Bit) >= f.N {
			return 0, false
		}
		row := &f.Rows[p.Row]
		s, ok := of(row, p.Value)
		if !ok {
			return 0, false
		}
		linear[p.Bit] += p.Value * s
		for i, b := range row.Bits {
			terms[p.Bit][b] -= p.Value * row.Coefficients[i]
		}
	}
	if total > mostSum {
		return 0, false
	}
	w := make([]int64, f.N)
	for j := range f.N {
		clear(w)
		for b, c := range terms[j] {
			w[b] = c
		}
		linear[j] += w[j]
		w[j] = 0
		if g := l.group[j]; g >= 0 && l.keeps[g].High == 1 {
			for _, b := range l.keeps[g].Bits {
				w[b] = 0
			}
		}
		linear[j] += l.leastSum(w)
	}
	return ceiling(constant+l.leastSum(linear), m.Scale), true
}

// leastSum is leastOf in whole numbers.
func (l *Layout) leastSum(slope []int64) (sum int64) {
	for i, c := range slope {
		if !l.grouped(int32(i)) {
			sum += min(0, c)
		}
	}
	for g := range l.keeps {
		row := &l.keeps[g]
		if row.High != 1 {
			continue
		}
		least := int64(math.MaxInt64)
		for _, b := range row.Bits {
			least = min(least, slope[b])
		}
		if row.Low < 1 {
			least = min(least, 0)
		}
		sum += least
	}
	return sum
}
