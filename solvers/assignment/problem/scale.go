package problem

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"sync"
	"sync/atomic"

	"coalesce/solvers/cores"
)

// MaxScaled is the largest magnitude of a scaled cost: a sum of one cost a row
// stays within 2^60.
func MaxScaled(rows int) int64 { return 1 << 60 / int64(max(1, rows)) }

// Normalise brings an instance to the form that engines solve. One pass over
// the costs finds their range and, of floats, the lowest bit that any of them
// has. A cost that is not a number and an infinity that forbids nothing are
// errors that wrap ErrCost. An instance with more rows than columns is
// transposed, in a copy.
func Normalise(inst *Instance) (*Normal, error) {
	if err := inst.Check(); err != nil {
		return nil, err
	}
	p := &Normal{Instance: inst, Rows: inst.Rows, Cols: inst.Cols, Limit: Infinity}
	if p.Transposed = inst.Rows > inst.Cols; p.Transposed {
		p.Rows, p.Cols = inst.Cols, inst.Rows
	}
	err := p.fit(nil)
	if err != nil {
		return nil, err
	}
	if p.Transposed {
		p.Instance = inst.Transpose()
	}
	p.drop()
	return p, nil
}

// drop gives a problem whose integers are too large for engines a copy of them in units of
// 2^Dropped, and keeps the costs as they are in Whole.
func (p *Normal) drop() {
	if p.Dropped == 0 {
		return
	}
	inst := *p.Instance
	p.Whole, inst.Unmap, inst.Every, inst.Unsigned = p.Instance, nil, false, false
	var lost atomic.Int64
	switch inst.Type {
	case Int32:
		inst.I32 = dropped(p.Whole, inst.I32, p.Dropped, &lost)
	case Int64:
		inst.I64 = dropped(p.Whole, inst.I64, p.Dropped, &lost)
	}
	p.Instance, p.Lost = &inst, lost.Load()
}

func dropped[T int32 | int64](inst *Instance, costs []T, shift uint, lost *atomic.Int64) []T {
	forbidden := Forbidden[T](false)
	out := make([]T, len(costs))
	cores.Split(len(costs), 1<<16, func(low, high int) {
		n := int64(0)
		for k, c := range costs[low:high] {
			out[low+k] = c
			if c != forbidden || inst.Every {
				q := roundedShift(int64(c), shift)
				if out[low+k] = T(q); q<<shift != int64(c) {
					n++
				}
			}
		}
		lost.Add(n)
	})
	return out
}

// NormalisePart is Normalise where own holds some rows of a dense instance of so many, at
// most as many as columns: others are with other processes. all brings a list of each of
// these, of one length, to all of them. The normal problem's Instance is own; what it says
// of all costs is the same in all processes.
func NormalisePart(own *Instance, rows int, all func([]uint64) ([][]uint64, error)) (*Normal, error) {
	if err := own.Check(); err != nil {
		return nil, err
	}
	p := &Normal{Instance: own, Rows: rows, Cols: own.Cols, Limit: Infinity}
	if err := p.fit(all); err != nil {
		return nil, err
	}
	p.drop()
	return p, nil
}

// fit finds the scale and range of the costs. all, unless nil, combines the findings of all
// processes.
func (p *Normal) fit(all func([]uint64) ([][]uint64, error)) error {
	switch inst := p.Instance; {
	case inst.Points != nil:
		return p.fitPoints()
	case inst.Type == Int32:
		return fitIntegers(p, inst.I32, all)
	case inst.Type == Int64:
		return fitIntegers(p, inst.I64, all)
	case inst.Type == Float32:
		return fitFloats(p, inst.F32, all)
	default:
		return fitFloats(p, inst.F64, all)
	}
}

// A Span is the result of a pass over costs.
type Span[T Number] struct {
	count          int // allowed costs
	least, largest T   // of them
	grain          int // floats: all are multiples of 2^grain
	Bad            int // index of the first that cannot be solved with, -1: none
}

func (s *Span[T]) join(t Span[T]) {
	switch {
	case s.count == 0:
		s.least, s.largest = t.least, t.largest
	case t.count > 0:
		s.least, s.largest = min(s.least, t.least), max(s.largest, t.largest)
	}
	s.count += t.count
	s.grain = min(s.grain, t.grain)
	if s.Bad < 0 || t.Bad >= 0 && t.Bad < s.Bad {
		s.Bad = t.Bad
	}
}

// over joins the spans of all processes, of which s is this process's; none has a bad cost.
func (s Span[T]) over(all func([]uint64) ([][]uint64, error)) (Span[T], error) {
	if all == nil {
		return s, nil
	}
	bits := func(x T) uint64 { // of integers as they are, of floats those of float64
		if T(1)/2 == 0 {
			return uint64(int64(x))
		}
		return math.Float64bits(float64(x))
	}
	value := func(x uint64) T {
		if T(1)/2 == 0 {
			return T(int64(x))
		}
		return T(math.Float64frombits(x))
	}
	lists, err := all([]uint64{uint64(s.count), bits(s.least), bits(s.largest), uint64(s.grain)})
	whole := Span[T]{grain: math.MaxInt32, Bad: -1}
	for _, w := range lists {
		whole.join(Span[T]{count: int(w[0]), least: value(w[1]), largest: value(w[2]), grain: int(w[3]), Bad: -1})
	}
	return whole, err
}

// Scan calls look for parts of the costs, on all cores, and joins the results.
func Scan[T Number](costs []T, look func([]T) Span[T]) Span[T] {
	whole := Span[T]{grain: math.MaxInt32, Bad: -1}
	var mu sync.Mutex
	cores.Split(len(costs), 1<<16, func(low, high int) {
		s := look(costs[low:high])
		if s.Bad >= 0 {
			s.Bad += low
		}
		mu.Lock()
		defer mu.Unlock()
		whole.join(s)
	})
	return whole
}

func fitIntegers[T int32 | int64](p *Normal, costs []T, all func([]uint64) ([][]uint64, error)) error {
	forbidden, every := Forbidden[T](false), p.Instance.Every
	s := Scan(costs, func(part []T) Span[T] {
		s := Span[T]{Bad: -1, least: forbidden, largest: -forbidden - 1}
		for _, c := range part {
			if c != forbidden || every {
				s.count++
				s.least, s.largest = min(s.least, c), max(s.largest, c)
			}
		}
		return s
	})
	s, err := s.over(all)
	if err != nil {
		return err
	}
	if s.count == 0 {
		s.least, s.largest = 0, 0
	}
	return p.FitIntegers(int64(s.least), int64(s.largest))
}

// FitIntegers sets the scale and range of integer costs from least to largest. Costs or a limit
// beyond 2^60/rows lose their last bits, Dropped of them.
func (p *Normal) FitIntegers(least, largest int64) error {
	p.Scale, p.Exact = 1, true
	bound, limit := MaxScaled(p.Instance.SumRows(p.Rows)), 0.0
	if p.Instance.Limit != nil {
		var err error
		if limit, err = p.Instance.scaledLimit(p.Rows, float64(least), float64(largest)); err != nil {
			return err
		}
		p.limit, p.Exact = limit, limit == math.Trunc(limit)
		limit -= math.Copysign(p.Instance.costBase(), p.sign())
	}
	for roundedShift(least, p.Dropped) < -bound || roundedShift(largest, p.Dropped) > bound || math.Ldexp(math.Abs(limit), -int(p.Dropped)) > float64(bound) {
		p.Dropped++
	}
	p.Exact = p.Exact && p.Dropped == 0
	p.Min, p.Max = roundedShift(least, p.Dropped), roundedShift(largest, p.Dropped)
	p.orient()
	return nil
}

// orient negates what is to be maximised, and sets the limit.
func (p *Normal) orient() {
	if p.Instance.Maximize {
		p.Scale, p.Min, p.Max = -p.Scale, -p.Max, -p.Min
	}
	if p.Instance.Limit != nil {
		p.Limit, _ = p.SplitLimit()
	}
}

// scaledLimit is the cost of leaving a row unmatched that has the same optimal matchings as the
// instance's Limit, in the same order, of costs from least to largest, negated where the instance
// maximises. Where the limit is so far beyond the costs that every row that can be matched is, or
// that none is, a nearer number does the same. An infinite one that no float64 replaces is an ErrCost.
func (inst *Instance) scaledLimit(rows int, least, largest float64) (float64, error) {
	l := *inst.Limit
	least, largest = least+inst.costBase(), largest+inst.costBase()
	if inst.Maximize {
		l, least, largest = -l, -largest, -least
	}
	size := max(math.Abs(least), math.Abs(largest))
	margin := max(math.Ldexp(size, -20), math.SmallestNonzeroFloat64)
	if inst.Type.Integer() || size == 0 {
		margin = math.Ceil(margin) + 1
	}
	// The costs of k+1 pairs and of k others differ by least - k*(largest-least) to largest + k*(largest-least).
	spread := float64(rows)*(largest-least) + margin
	most, fewest := largest+spread, least-spread
	if inst.Type.Integer() {
		most, fewest = math.Ceil(most), math.Floor(fewest)
	}
	const far = 16
	switch x := min(max(l, fewest), most); {
	case math.Abs(l) <= far*max(math.Abs(most), math.Abs(fewest)) && !math.IsInf(l, 0):
		return l, nil
	case math.IsInf(x, 0):
		return 0, fmt.Errorf("%w: the limit %v with costs from %v to %v: expected a finite limit for costs of that size", ErrCost, *inst.Limit, least, largest)
	default:
		return x, nil
	}
}

func fitFloats[T float32 | float64](p *Normal, costs []T, all func([]uint64) ([][]uint64, error)) error {
	forbidden := Forbidden[T](p.Instance.Maximize)
	s := Scan(costs, func(part []T) Span[T] {
		s := Span[T]{Bad: -1, grain: math.MaxInt32, least: T(math.Inf(1)), largest: T(math.Inf(-1))}
		grains := math.NaN() // 2^grain in 1; not a number: none is known; infinite: no scale holds such costs
		for k, c := range part {
			if c-c != 0 { // an infinity, or not a number
				if c != forbidden && s.Bad < 0 {
					s.Bad = k
				}
				continue
			}
			s.count++
			if c < s.least {
				s.least = c
			}
			if c > s.largest {
				s.largest = c
			}
			x := float64(c)
			if y := x * grains; x != 0 && (y != math.Trunc(y) || y == 0) { // 0: x is too small for 2^grain
				s.grain = min(s.grain, LowestBit(x))
				grains = math.Ldexp(1, -s.grain)
			}
		}
		return s
	})
	if s.Bad >= 0 {
		i, j := p.Instance.Pair(s.Bad)
		want := "a number, or +inf to forbid the pair"
		if p.Instance.Maximize {
			want = "a number, or -inf to forbid the pair"
		}
		return &EntryError{i, j, strconv.FormatFloat(float64(costs[s.Bad]), 'g', -1, 64), want}
	}
	s, err := s.over(all)
	if err != nil {
		return err
	}
	if s.count == 0 {
		s.least, s.largest = 0, 0
	}
	return p.FitFloats(float64(s.least), float64(s.largest), s.grain)
}

// LowestBit is the exponent of the lowest bit set in x, large for 0.
func LowestBit(x float64) int {
	b := math.Float64bits(x)
	m, e := b&(1<<52-1), int(b>>52&0x7ff)
	if e == 0 {
		if m == 0 {
			return math.MaxInt32
		}
		e = 1
	} else {
		m |= 1 << 52
	}
	return e - 1075 + bits.TrailingZeros64(m)
}

// FitFloats sets the scale and range of floating costs from least to most, all
// multiples of 2^grain. Costs become the smallest integers that keep all their
// bits, where those are small enough, and the largest that are small enough
// otherwise. An infinite limit that has no equal is an ErrCost.
func (p *Normal) FitFloats(least, largest float64, grain int) error {
	size := max(math.Abs(least), math.Abs(largest))
	if p.Instance.Limit != nil {
		var err error
		if p.limit, err = p.Instance.scaledLimit(p.Rows, least, largest); err != nil {
			return err
		}
		size = max(size, math.Abs(p.limit))
		grain = min(grain, LowestBit(p.limit))
	}
	shift := 0
	p.Exact = true
	if size > 0 {
		shift = FinestShift(size, p.Instance.SumRows(p.Rows))
		if p.Exact = -grain <= shift; p.Exact {
			shift = -grain
		} else {
			p.hidden = -grain - shift
		}
	}
	p.Scale = math.Ldexp(1, shift)
	p.Min, p.Max = ToScaled(least, p.Scale), ToScaled(largest, p.Scale)
	p.orient()
	return nil
}

// ExactBits is Finer for units in which every one of the floats is whole, 0 where none was rounded, or they have more than `most` bits behind a unit.
func (p *Normal) ExactBits(most int) uint {
	if p.hidden > most {
		return 0
	}
	return uint(p.hidden)
}

// FinestShift is the largest power of two of which units hold sums of so many costs, one a row, of at most a size above 0: their scale is
// 2^shift.
func FinestShift(size float64, rows int) int {
	_, e := math.Frexp(size)
	shift := min(60-e, 1000)
	for ToScaled(size, math.Ldexp(1, shift)) > MaxScaled(rows) {
		shift--
	}
	return shift
}

// LimitRounded reports whether scaling rounded the limit. A matching that leaves rows out is then
// as uncertain as one of rounded costs.
func (p *Normal) LimitRounded() bool {
	if p.Instance.Limit == nil {
		return false
	}
	_, rest := p.SplitLimit()
	return rest != 0
}

// ToScaled rounds to the nearest integer, ties to even, as kernels do.
func ToScaled(c, scale float64) int64 { return int64(math.RoundToEven(c * scale)) }

// fitPoints bounds distances by the box of all points. They are exact where
// no operation rounds: sums of |d| or d² of coordinates with few bits.
func (p *Normal) fitPoints() error {
	q := p.Instance.Points
	largest := q.largest()
	if q.Floor {
		if largest >= 1<<62 {
			return fmt.Errorf("%w: distances up to %g: expected at most %d, so that sums over %d rows stay below 2^60", ErrCost, largest, MaxScaled(p.Rows), p.Rows)
		}
		if err := p.FitIntegers(0, int64(largest)); err != nil || p.Dropped == 0 {
			return err
		}
		return fmt.Errorf("%w: distances up to %g, the limit %v: expected at most %d, so that sums over %d rows stay below 2^60", ErrCost, largest, p.Instance.Limit, MaxScaled(p.Rows), p.Rows)
	}
	if math.IsInf(largest, 0) {
		return fmt.Errorf("%w: distances beyond the largest float64", ErrCost)
	}
	grain := math.MaxInt32
	for _, list := range [][]float64{q.Row, q.Col} {
		for _, x := range list {
			grain = min(grain, LowestBit(x))
		}
	}
	if q.Metric == Squared && grain != math.MaxInt32 {
		grain *= 2
	}
	if q.Metric == Euclidean && largest > 0 || grain != math.MaxInt32 && largest >= math.Ldexp(1, grain+53) {
		grain = math.MinInt32
	}
	return p.FitFloats(0, largest, grain)
}

// Cost is the scaled cost of a pair, Infinity when it is forbidden. Sparse
// instances search for it.
func (p *Normal) Cost(i, j int) int64 {
	inst := p.Instance
	if p.Source != nil {
		return p.Source.Scaled(p.Scale, i, j)
	}
	if inst.Points != nil {
		return ToScaled(inst.Points.Cost(i, j), p.Scale)
	}
	k := inst.CostIndex(i, j)
	if k < 0 {
		return Infinity
	}
	if inst.Type == Float64 {
		if c := inst.F64[k]; c-c == 0 {
			return ToScaled(c, p.Scale)
		}
		return Infinity
	}
	var one [1]int64
	return p.Scaled(k, k+1, one[:])[0]
}

// Row is a whole row of scaled costs, in buf where it has room for p.cols.
func (p *Normal) Row(i int, buf []int64) []int64 {
	if cap(buf) < p.Cols {
		buf = make([]int64, p.Cols)
	}
	buf = buf[:p.Cols]
	inst := p.Instance
	switch {
	case inst.Points != nil:
		q := inst.Points
		point := q.Row[i*q.Dim : (i+1)*q.Dim]
		for j := range buf {
			buf[j] = ToScaled(q.FromSum(q.Sum(point, q.Col[j*q.Dim:(j+1)*q.Dim])), p.Scale)
		}
	case inst.Sparse != nil:
		for j := range buf {
			buf[j] = Infinity
		}
		for k := inst.Sparse.Start[i]; k < inst.Sparse.Start[i+1]; k++ {
			var one [1]int64
			buf[inst.Sparse.Col[k]] = p.Scaled(int(k), int(k)+1, one[:])[0]
		}
	default:
		p.Scaled(i*p.Cols, (i+1)*p.Cols, buf)
	}
	return buf
}

// Scaled fills buf with the scaled costs at indices low to high of the slice.
func (p *Normal) Scaled(low, high int, buf []int64) []int64 {
	switch inst := p.Instance; inst.Type {
	case Int32:
		scaleIntegers(inst.I32[low:high], int64(p.Scale), buf)
	case Int64:
		scaleIntegers(inst.I64[low:high], int64(p.Scale), buf)
	case Float32:
		scaleFloats(inst.F32[low:high], p.Scale, buf)
	default:
		scaleFloats(inst.F64[low:high], p.Scale, buf)
	}
	return buf
}

func scaleIntegers[T int32 | int64](costs []T, sign int64, buf []int64) {
	forbidden := Forbidden[T](false)
	for k, c := range costs {
		buf[k] = sign * int64(c)
		if c == forbidden {
			buf[k] = Infinity
		}
	}
}

func scaleFloats[T float32 | float64](costs []T, scale float64, buf []int64) {
	for k, c := range costs {
		if c-c != 0 {
			buf[k] = Infinity
			continue
		}
		buf[k] = ToScaled(float64(c), scale)
	}
}
