package problem

import (
	"cmp"
	"math"
	"math/big"
	"slices"
	"sync"

	"coalesce/solvers/cores"
)

// A scale says which integers stand for real coefficients.
//
// Without bands a coefficient c becomes c·ten·2^shift, rounded where that is no integer.
// A band brings magnitudes nearer to each other that are far apart, such as those of
// penalties and of what they guard. With a unit G every coefficient is a·G + rest, a
// being an integer. Where the absolute rests add up to less than G, a solution with a
// larger sum of a is better whatever its rests are. So is it when G becomes any step
// that is larger than all rests together: the order of all solutions stays the same.
// Rests are divided by finer units in the same way.
type scale struct {
	ten   float64 // 1, or a power of ten
	shift int
	bands []band  // the coarsest first
	over  float64 // rounding: the terms of a solution are worth up to so many integer units more,
	under float64 // or less
	lost  int64   // coefficients that are not 0 and became 0
}

type band struct {
	unit float64 // of the coefficients
	step int64   // which stands for it
	span int64   // the integers of the rests add up to at most this; step is more than twice as much
}

// value is the number that an integer stands for, the sum of a solution's terms. For other
// integers it is the largest that a solution below may have.
func (s *scale) value(v int64) *big.Float {
	sum := newExact()
	for _, b := range s.bands {
		a := (v + b.span) / b.step
		if a*b.step > v+b.span {
			a--
		}
		v = min(v-a*b.step, b.span)
		sum.Add(sum, times(b.unit, a))
	}
	return sum.Add(sum, s.units(newExact().SetInt64(v)))
}

// units is x integer units.
func (s *scale) units(x *big.Float) *big.Float {
	if s.ten > 1 {
		x.Quo(x, new(big.Float).SetFloat64(s.ten))
	}
	return x.SetMantExp(x, -s.shift)
}

func times(unit float64, a int64) *big.Float {
	x := newExact().SetInt64(a)
	return x.Mul(x, new(big.Float).SetFloat64(unit))
}

// scaleBits: the absolute integers add up to less than 2^scaleBits, and one for each coefficient
// that is rounded.
const scaleBits = 54

// scaleToIntegers makes integers of real coefficients. The offset stays behind. What is not exact is
// rounded down where worse is 1, up where worse is -1, and to the nearest where worse is 0.
func scaleToIntegers(t *Terms[float64], worse float64) (*Terms[int64], scale) {
	s := scale{ten: 1}
	c := takeCensus(t)
	switch {
	case c.top == none:
	case c.bits()-min(c.grain, 0) <= scaleBits:
		s.shift = -min(c.grain, 0)
	case c.bits()-c.grain <= scaleBits:
		s.shift = -c.grain
	case c.bits() <= scaleBits && decimals(t, c, &s):
		worse = 0
	default:
		return s.divided(t, c, worse)
	}
	return s.rounded(t, worse), s
}

// decimals sets ten to the least power of ten of which all coefficients are fractions.
func decimals(t *Terms[float64], c *census, s *scale) bool {
	sum := math.Ldexp(c.sum, c.top)
	for ten := 10.0; ten <= 1e15 && sum*ten <= 1<<scaleBits; ten *= 10 {
		if decimal(t.Pair, ten) && decimal(t.Linear, ten) {
			s.ten = ten
			return true
		}
	}
	return false
}

// decimal reports whether every value is the float64 nearest to a multiple of
// 1/ten.
func decimal(values []float64, ten float64) bool {
	for _, v := range values {
		if m := math.RoundToEven(v * ten); math.Abs(m) > 1<<53 || m/ten != v {
			return false
		}
	}
	return true
}

// divided finds bands, and rounds the rest as finely as there is room.
func (s scale) divided(t *Terms[float64], c *census, worse float64) (*Terms[int64], scale) {
	rest, room := t, scaleBits
	least := 8 + int(math.Ceil(math.Log2(1+c.terms))) // bits for the rests, which are rounded one by one
	var counts []float64                              // of each band, the absolute a added up
	for c.top != none && c.bits()-c.grain > room {
		unit, count := c.unit(rest, room-least)
		if unit == 0 {
			break
		}
		s.bands, counts = append(s.bands, band{unit: unit}), append(counts, count)
		room -= int(math.Ceil(math.Log2(2*count + 2)))
		rest = rests(rest, unit)
		c = takeCensus(rest)
	}
	switch {
	case c.top == none:
	case c.bits()-c.grain <= room:
		s.shift = -c.grain
	default:
		s.shift = room - c.bits()
	}
	out := s.rounded(rest, worse)
	span := int64(0)
	for _, v := range out.Linear {
		span += abs(v)
	}
	twice := int64(0)
	for _, v := range out.Pair {
		twice += abs(v)
	}
	span += twice / 2
	for k := len(s.bands) - 1; k >= 0; k-- {
		s.bands[k].span, s.bands[k].step = span, 2*span+1
		span += int64(counts[k]) * s.bands[k].step
	}
	add := func(values []float64, whole []int64) {
		parallel(len(values), func(from, to int) {
			for k, v := range values[from:to] {
				for _, b := range s.bands {
					a := math.RoundToEven(v / b.unit)
					v = math.FMA(-a, b.unit, v)
					whole[from+k] += int64(a) * b.step
				}
			}
		})
	}
	if len(s.bands) > 0 {
		add(t.Linear, out.Linear)
		add(t.Pair, out.Pair)
	}
	return out, s
}

// rounded are the integers of coefficients without bands. It counts the losses of rounding.
func (s *scale) rounded(t *Terms[float64], worse float64) *Terms[int64] {
	var mu sync.Mutex
	round := func(values []float64, share float64) []int64 {
		whole := make([]int64, len(values))
		parallel(len(values), func(from, to int) {
			over, under, lost := 0.0, 0.0, 0.0
			for k, v := range values[from:to] {
				x := math.Ldexp(v*s.ten, s.shift)
				loss := 0.0
				if s.ten > 1 {
					loss = math.FMA(v, s.ten, -x)
				}
				if x == 0 && v != 0 { // it is too small for a float64
					x = math.Copysign(math.SmallestNonzeroFloat64, v)
				}
				r := math.RoundToEven(x)
				if worse != 0 {
					r = worse * math.Floor(worse*x)
				}
				const error = 0x1p-60 // more than those of x and of these sums
				switch loss += x - r; {
				case loss > 0:
					over += loss + error
				case loss < 0:
					under += error - loss
				}
				if whole[from+k] = int64(r); r == 0 && v != 0 {
					lost++
				}
			}
			mu.Lock()
			defer mu.Unlock()
			const up = 1 + 0x1p-20 // for sums of up to 2^31
			s.over, s.under, s.lost = s.over+share*over*up, s.under+share*under*up, s.lost+int64(2*share*lost)
		})
		return whole
	}
	out := &Terms[int64]{Linear: round(t.Linear, 1), Pair: round(t.Pair, 0.5)}
	return out
}

// none is the exponent of 0.
const none = -1 << 20

// A census counts coefficients by magnitude, pairs once.
type census struct {
	terms  float64 // that are not 0
	top    int     // all magnitudes are below 2^top; none where all are 0
	grain  int     // all are multiples of 2^grain
	sum    float64 // of magnitudes, as a multiple of 2^top
	octave [2098]octave
}

// An octave are magnitudes from 2^(e-1) to 2^e; e is -1073 for the first.
type octave struct {
	least, most float64 // 0 where there are none
	sum         float64 // as a multiple of 2^e
}

const firstOctave = -1073

func takeCensus(t *Terms[float64]) *census {
	c := &census{top: none, grain: math.MaxInt32}
	var mu sync.Mutex
	count := func(values []float64, share float64) {
		const piece = 1 << 16
		cores.Pieces((len(values)+piece-1)/piece, func(p int) {
			own := &census{top: none, grain: math.MaxInt32}
			for _, v := range values[p*piece : min((p+1)*piece, len(values))] {
				own.count(math.Abs(v), share)
			}
			mu.Lock()
			defer mu.Unlock()
			c.join(own)
		})
	}
	count(t.Linear, 1)
	count(t.Pair, 0.5)
	for k, o := range c.octave {
		if o.most > 0 {
			c.sum += math.Ldexp(o.sum, k+firstOctave-c.top)
		}
	}
	return c
}

func (c *census) count(v, share float64) {
	if v == 0 {
		return
	}
	fraction, e := math.Frexp(v)
	c.terms += share
	c.top = max(c.top, e)
	c.grain = min(c.grain, e-53+trailingZeros(int64(math.Ldexp(fraction, 53))))
	c.octave[e-firstOctave].join(octave{v, v, fraction * share})
}

func (c *census) join(d *census) {
	c.terms, c.top, c.grain = c.terms+d.terms, max(c.top, d.top), min(c.grain, d.grain)
	for k, o := range d.octave {
		if o.most > 0 {
			c.octave[k].join(o)
		}
	}
}

func (o *octave) join(p octave) {
	if o.most == 0 || p.least < o.least {
		o.least = p.least
	}
	o.most, o.sum = max(o.most, p.most), o.sum+p.sum
}

// bits is the exponent of a power of two above the sum of all magnitudes.
func (c *census) bits() int {
	_, e := math.Frexp(c.sum)
	return c.top + e
}

// unit looks for the unit of a band: the least magnitude above a gap, or what all above it are
// about multiples of. count is the sum of the absolute multiples, at most 2^room. Without a unit
// that leaves small rests it is 0.
func (c *census) unit(t *Terms[float64], room int) (unit, count float64) {
	type gap struct {
		from float64
		wide int
	}
	var gaps []gap
	below, last := 0.0, 0 // the magnitudes below, as a multiple of 2^top; the octave before
	for k, o := range c.octave {
		if o.most == 0 {
			continue
		}
		if below == 0 || math.Ldexp(o.least, -c.top) > 4*below {
			gaps = append(gaps, gap{o.least, k - last})
		}
		below += math.Ldexp(o.sum, k+firstOctave-c.top)
		last = k
	}
	slices.SortStableFunc(gaps, func(a, b gap) int { return cmp.Compare(b.wide, a.wide) })
	const tries, sample = 6, 1 << 10
	few := &Terms[float64]{Linear: t.Linear[:min(sample, len(t.Linear))], Pair: t.Pair[:min(sample, len(t.Pair))]}
	most := math.Ldexp(1, room)
	for _, g := range gaps[:min(tries, len(gaps))] {
		units := []float64{g.from}
		if u := about(few, g.from); u != 0 && u != g.from {
			units = append(units, u)
		}
		smallest := math.Inf(1)
		for _, u := range units {
			const small = 0x1p-6
			if rest, a := divisions(few, u); rest > small || a > most {
				continue
			}
			if rest, a := divisions(t, u); rest < min(small, smallest) && a < most {
				unit, count, smallest = u, a, rest
			}
		}
		if unit != 0 {
			return unit, count
		}
	}
	return 0, 0
}

// about is a number of which the magnitudes from least on are about multiples, found by Euclid's
// algorithm; 0 where they have none.
func about(t *Terms[float64], least float64) float64 {
	const noise, wide = 0x1p-16, 0x1p50
	unit := least
	for _, list := range [][]float64{t.Linear, t.Pair} {
		for _, v := range list {
			if v = math.Abs(v); v < least {
				continue
			}
			if v > wide*unit {
				return 0
			}
			for rest := math.Abs(math.Remainder(v, unit)); rest > noise*unit; {
				unit, rest = rest, math.Abs(math.Remainder(unit, rest))
			}
			if unit < least*noise {
				return 0
			}
		}
	}
	return unit
}

// divisions adds up the rests of the magnitudes after division by a unit, as a multiple of
// the unit, and the absolute quotients.
func divisions(t *Terms[float64], unit float64) (rest, count float64) {
	var mu sync.Mutex
	divide := func(values []float64, share float64) {
		parallel(len(values), func(from, to int) {
			ownRest, ownCount := 0.0, 0.0
			for _, v := range values[from:to] {
				a := math.RoundToEven(v / unit)
				if !(math.Abs(a) < 1<<50) {
					ownCount = math.Inf(1)
					break
				}
				ownRest += math.Abs(math.FMA(-a, unit, v) / unit)
				ownCount += math.Abs(a)
			}
			mu.Lock()
			defer mu.Unlock()
			rest, count = rest+share*ownRest, count+share*ownCount
		})
	}
	divide(t.Linear, 1)
	divide(t.Pair, 0.5)
	return rest, count
}

// rests are those of coefficients after division by a unit, without rounding: a float64
// less the nearest multiple of a smaller one is a float64.
func rests(t *Terms[float64], unit float64) *Terms[float64] {
	divide := func(values []float64) []float64 {
		out := make([]float64, len(values))
		parallel(len(values), func(from, to int) {
			for k := from; k < to; k++ {
				out[k] = math.FMA(-math.RoundToEven(values[k]/unit), unit, values[k])
			}
		})
		return out
	}
	return &Terms[float64]{Linear: divide(t.Linear), Pair: divide(t.Pair)}
}
