package search

import (
	"context"
	"math"
	"slices"
	"sync/atomic"

	"coalesce/solvers/lp"
	"coalesce/solvers/model/problem"
)

// Multipliers are Lagrangian multipliers of a form's rows (Geoffrion 1974): Scale times the objective, plus each row's multiplier times what
// its sum lacks of a bound, is at most Scale times the objective of any solution. A multiplier above 0 is of the lower bound, one below 0
// of the upper bound.
//
// With Shares, products of rows and bits have multipliers too, and Shares are of each pair what is its first bit's, times Scale.
type Multipliers struct {
	Scale    int64
	Rows     []int64
	Shares   []int64
	Products []RowProduct
}

// mostSum is the most that the sizes of all terms of a bound may add up to, so that sums fit int64.
const mostSum = 1 << 61

// Bound is the bound that multipliers prove, in values of the form; false: they do not fit the form.
func (l *Layout) Bound(m Multipliers) (int64, bool) {
	if m.Shares != nil {
		return l.productBound(m)
	}
	t := newTree(context.Background(), l, m, new(atomic.Int64), nil, nil)
	if t == nil {
		return 0, false
	}
	bound, _ := t.bound()
	return ceiling(bound, t.scale), true
}

func ceiling(a, b int64) int64 {
	q := a / b
	if a%b > 0 {
		q++
	}
	return q
}

// sides are a row's bounds, wider by what rounding may do.
func sides(r *problem.Row) (low, high int64) { return r.Low - 2*r.Slack, r.High + 2*r.Slack }

// price subtracts the rows' parts from the tree's terms; false: a multiplier has no bound, or sums could be too large.
func (t *tree) price(m Multipliers) bool {
	if m.Scale < 1 || len(m.Rows) != len(t.rows) && m.Rows != nil {
		return false
	}
	f := t.form
	total := math.Abs(float64(f.Offset))
	for _, c := range f.Linear {
		total += math.Abs(float64(c))
	}
	for _, p := range f.Pairs {
		total += math.Abs(float64(p.Coefficient))
	}
	for k := range f.Products {
		total += math.Abs(float64(f.Products[k].Coefficient))
	}
	total *= float64(m.Scale)
	t.scale, t.offset, t.linear = m.Scale, m.Scale*f.Offset, make([]int64, f.N)
	for r, y := range m.Rows {
		low, high := sides(&t.rows[r])
		side := low
		if y < 0 {
			side = high
		}
		if y != 0 && (side >= problem.Unbounded-2*t.rows[r].Slack || side <= 2*t.rows[r].Slack-problem.Unbounded) {
			return false
		}
		size := math.Abs(float64(y))
		total += size * math.Abs(float64(side))
		for _, a := range t.rows[r].Coefficients {
			total += size * math.Abs(float64(a))
		}
		if total > mostSum {
			return false
		}
		t.offset += y * side
		for j, b := range t.rows[r].Bits {
			t.linear[b] -= y * t.rows[r].Coefficients[j]
		}
	}
	for i, c := range f.Linear {
		t.linear[i] += m.Scale * c
	}
	return total <= mostSum
}

// mostSteps is the most steps of the subgradient method, mostWork what they may take in all, in terms of rows.
const (
	mostSteps = 3000
	mostWork  = 100_000_000
)

// Multipliers looks for multipliers with a large bound: the row prices of the linear relaxation where all rows pack (solvers/lp), then
// steps along subgradients (Held, Wolfe and Crowder 1974; directions by Camerini, Fratta and Maffioli 1975). limit is the best value
// that is known, math.MaxInt64: none.
func (l *Layout) Multipliers(ctx context.Context, limit *atomic.Int64) Multipliers {
	f := l.form
	base, offset, total := make([]float64, f.N), float64(f.Offset), math.Abs(float64(f.Offset)) // what the objective is at least, linear
	for i, c := range f.Linear {
		base[i] = float64(c)
		total += math.Abs(float64(c))
	}
	for _, p := range f.Pairs {
		if c := float64(p.Coefficient); c < 0 {
			base[p.I], base[p.J] = base[p.I]+c/2, base[p.J]+c/2
		}
		total += math.Abs(float64(p.Coefficient))
	}
	for k := range f.Products {
		c := math.Abs(float64(f.Products[k].Coefficient))
		total += c
		if f.Products[k].Spins || f.Products[k].Coefficient < 0 {
			offset -= c
		}
	}
	none := Multipliers{Scale: 1}
	work := 1 + f.N
	for r := range f.Rows {
		work += len(f.Rows[r].Bits)
	}
	if len(f.Rows) == 0 {
		return none
	}
	y := l.packingPrices(ctx, base)
	best, bestY := math.Inf(-1), slices.Clone(y)
	x, slope, along, last := make([]float64, f.N), make([]float64, f.N), make([]float64, len(f.Rows)), make([]float64, len(f.Rows))
	pace, still := 1.0, 0
	for step := 0; step < min(mostSteps, mostWork/work+1) && pace > 1e-4; step++ {
		if step&15 == 0 && ctx.Err() != nil {
			break
		}
		value := offset
		copy(slope, base)
		for r := range f.Rows {
			low, high := sides(&f.Rows[r])
			switch {
			case y[r] > 0:
				value += y[r] * float64(low)
			case y[r] < 0:
				value += y[r] * float64(high)
			default:
				continue
			}
			for j, b := range f.Rows[r].Bits {
				slope[b] -= y[r] * float64(f.Rows[r].Coefficients[j])
			}
		}
		value += l.leastOf(slope, x)
		if value > best+1e-9*math.Abs(best) || math.IsInf(best, -1) {
			best, still = value, 0
			copy(bestY, y)
		} else if still++; still >= 15 {
			pace, still = pace/1.5, 0
			copy(y, bestY)
			clear(last)
			continue
		}
		target := best + max(1, math.Abs(best)/50)
		if known := limit.Load(); known < math.MaxInt64 {
			if target = float64(known); best > target-1+1e-6 {
				break // proven
			}
		}
		length := 0.0
		for r := range f.Rows {
			row := &f.Rows[r]
			sum := 0.0
			for j, b := range row.Bits {
				sum += x[b] * float64(row.Coefficients[j])
			}
			low, high := sides(row)
			g := 0.0
			if lack := float64(low) - sum; row.Low > -problem.Unbounded && (y[r] > 0 || y[r] == 0 && lack > 0) {
				g = lack
			}
			if lack := float64(high) - sum; row.High < problem.Unbounded && (y[r] < 0 || y[r] == 0 && lack < 0) {
				g = lack
			}
			along[r] = g + 0.7*last[r]
			length += along[r] * along[r]
		}
		if length == 0 {
			break
		}
		copy(last, along)
		size := pace * (target - value) / length
		for r := range f.Rows {
			next := y[r] + size*along[r]
			if next > 0 && f.Rows[r].Low <= -problem.Unbounded || next < 0 && f.Rows[r].High >= problem.Unbounded {
				next = 0
			}
			y[r] = next
		}
	}
	m := Multipliers{Scale: int64(max(1, min(1<<12, mostSum/16/(total+1)))), Rows: make([]int64, len(f.Rows))}
	for r, v := range bestY {
		m.Rows[r] = int64(math.Round(v * float64(m.Scale)))
	}
	plain, _ := l.Bound(none)
	if bound, ok := l.Bound(m); !ok || bound <= plain {
		return none
	}
	return m
}

// leastOf is the least sum of slopes over bits that keep the groups, and the bits.
func (l *Layout) leastOf(slope, x []float64) (sum float64) {
	for i, c := range slope {
		if x[i] = 0; c < 0 && !l.grouped(int32(i)) {
			x[i] = 1
			sum += c
		}
	}
	for g := range l.keeps {
		row := &l.keeps[g]
		if row.High != 1 {
			continue
		}
		at := slices.MinFunc(row.Bits, func(a, b int32) int {
			if slope[a] < slope[b] {
				return -1
			}
			return 1
		})
		if row.Low == 1 || slope[at] < 0 {
			x[at] = 1
			sum += slope[at]
		}
	}
	return sum
}

// grouped reports whether a bit is in a row that moves keep, of which one bit is 1 at most.
func (l *Layout) grouped(b int32) bool { return l.group[b] >= 0 && l.keeps[l.group[b]].High == 1 }

// mostPacking is the most rows of a relaxation, whose inverse is kept whole.
const mostPacking = 1000

// packingPrices are multipliers from the linear relaxation where all rows are upper bounds of cardinalities, else zeros.
func (l *Layout) packingPrices(ctx context.Context, base []float64) []float64 {
	f := l.form
	y := make([]float64, len(f.Rows))
	a := &lp.Matrix{Columns: make([][]int32, f.N), Rows: len(f.Rows), Most: make([]float64, len(f.Rows))}
	if len(f.Rows) > mostPacking {
		return y
	}
	for r := range f.Rows {
		row := &f.Rows[r]
		if row.Low > 0 || row.High < 0 || !row.Cardinality() {
			return y
		}
		a.Most[r] = float64(min(row.High, int64(len(row.Bits))))
		for _, b := range row.Bits {
			a.Columns[b] = append(a.Columns[b], int32(r))
		}
	}
	prices := make([]float64, f.N)
	for i, c := range base {
		prices[i] = -c
	}
	s := lp.New(a, prices)
	if s.Solve(ctx, math.Inf(-1), mostSteps) {
		for r := range y {
			y[r] = -s.Price(r)
		}
	}
	return y
}
