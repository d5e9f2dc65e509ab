package price

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"sync"
	"sync/atomic"

	"coalesce/runtime/device"
)

// Prices, losses and bounds are integers: multiples of 2^-unit of a value. Integer
// values are multiples themselves (unit >= 0); float values are rounded down to one.
//
// largest is the limit on the sum of the prices' magnitudes and on every budget, in units, so that
// sums of a few of these stay within 64 bits.
const largest = 1 << 60

// grain divides all prices of float values: sums of prices are then multiples of
// grain below 2^53 grain, which a float64 holds, and so are the tables of a pass.
const grain = 1 << 8

// forbidden is the value, in units, of a coalition of value minus infinity.
const forbidden = math.MinInt64

// forEach calls work with 0 to n-1 in this order, each call on the next free one of so many cores.
func forEach(cores, n int, work func(k int)) {
	if n == 1 || cores == 1 {
		for k := range n {
			work(k)
		}
		return
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(cores, n) {
		wg.Go(func() {
			for k := int(next.Add(1) - 1); k < n; k = int(next.Add(1) - 1) {
				work(k)
			}
		})
	}
	wg.Wait()
}

// An extent is the largest magnitude of the finite values, from which unitFor computes the unit.
func extent[T device.Number](values []T, cores int) float64 {
	const piece = 1 << 16
	most := 0.0
	var lock sync.Mutex
	forEach(cores, (len(values)+piece-1)/piece, func(k int) {
		var low, high T
		for _, v := range values[k*piece : min((k+1)*piece, len(values))] {
			if v > high {
				high = v
			}
			if v < low && !math.IsInf(float64(v), 0) {
				low = v
			}
		}
		lock.Lock()
		most = max(most, math.Abs(float64(low)), math.Abs(float64(high)))
		lock.Unlock()
	})
	return most
}

// unitFor is the finest unit for n agents and values of at most a magnitude: 32 n of
// them stay below largest. Of integers that is 0 at least, and an error where even
// that is too fine.
func unitFor[T device.Number](most float64, n int) (int, error) {
	if most == 0 {
		return 0, nil
	}
	_, exponent := math.Frexp(most)
	unit := bits.Len64(largest) - 1 - exponent - bits.Len(uint(32*n))
	if isInteger[T]() {
		unit = min(unit, 30)
		if unit < 0 {
			if exponent > 62 {
				return 0, fmt.Errorf("values up to %g: %w", most, ErrCostly)
			}
			return 0, nil
		}
	}
	return unit, nil
}

func isInteger[T device.Number]() bool {
	var half T = 1
	return half/2 == 0
}

// inUnits returns a value in units, rounded down; forbidden for minus infinity.
func inUnits[T device.Number](v T, unit int) int64 {
	if isInteger[T]() {
		return int64(v) << unit
	}
	x := float64(v)
	if math.IsInf(x, -1) {
		return forbidden
	}
	return int64(math.Floor(math.Ldexp(x, unit)))
}

// A priceSums is a table of the sums of some prices: [k] of the agents 8k to 8k+7, by their subset.
type priceSums [][256]int64

func sumsOf(prices []int64) priceSums {
	t := make(priceSums, (len(prices)+7)/8)
	for k := range t {
		t.fill(k, prices)
	}
	return t
}

// fill makes row k of the table.
func (t priceSums) fill(k int, prices []int64) {
	for i, y := range prices[8*k : min(8*k+8, len(prices))] {
		for s := range 1 << i {
			t[k][1<<i|s] = t[k][s] + y
		}
	}
}

// sumOf is y(S).
func (t priceSums) sumOf(mask uint64) int64 {
	y := int64(0)
	for k := range t {
		y += t[k][mask&255]
		mask >>= 8
	}
	return y
}

// sumPrices is y(S): the prices of a coalition's agents.
func sumPrices(prices []int64, mask uint64) int64 {
	y := int64(0)
	for ; mask != 0; mask &= mask - 1 {
		y += prices[bits.TrailingZeros64(mask)]
	}
	return y
}

// grainOf divides all prices of values of a type.
func grainOf[T device.Number]() int64 {
	if isInteger[T]() {
		return 1
	}
	return grain
}

// An onHost answers the passes of a search on the cores of this machine.
type onHost[T device.Number] struct {
	values []T
	unit   int
	cores  int
}

func (h *onHost[T]) valueAt(mask uint64) int64 { return inUnits(h.values[mask], h.unit) }

func (h *onHost[T]) largestMagnitude() (float64, error) { return extent(h.values, h.cores), nil }

// setUnit sets the unit of prices, losses and bounds from now on.
func (h *onHost[T]) setUnit(unit int) { h.unit = unit }

func (h *onHost[T]) pass(ctx context.Context, prices []int64, limit int64, keep int) (passResult, error) {
	if isInteger[T]() {
		return scan(ctx, h, prices, limit, keep, int64(1)<<h.unit, func(x int64) int64 { return x })
	}
	return scan(ctx, h, prices, limit, keep, 1.0, func(x int64) float64 { return math.Ldexp(float64(x), -h.unit) })
}

// A multiple tells the multiples of an integer m = odd * 2^twos without a division: by Warren, Hacker's Delight,
// 2nd edition, section 10-17.
type multiple struct {
	inverse uint64 // of odd, modulo 2^64
	twos    int
	most    uint64 // the largest k with k m below 2^64
}

func multipleOf(m int64) multiple {
	twos := bits.TrailingZeros64(uint64(m))
	odd := uint64(m) >> twos
	inverse := odd // to 3 bits; each step doubles them
	for range 5 {
		inverse *= 2 - odd*inverse
	}
	return multiple{inverse, twos, math.MaxUint64 / uint64(m)}
}

// divides reports whether x or -x is a multiple.
func (m multiple) divides(x int64) bool {
	return bits.RotateLeft64(uint64(max(x, -x))*m.inverse, -m.twos) <= m.most
}

// inValues converts a number of units to what findNonMultiple divides. An integer value v is v * 2^unit units, and these are a
// multiple of `units` where v is one of the result. A float is converted to units, and the result is `units`.
func inValues[T device.Number](units int64, unit int) int64 {
	if isInteger[T]() {
		return units >> min(unit, bits.TrailingZeros64(uint64(units)))
	}
	return units
}

// findNonMultiple is the largest coalition whose value is no multiple of a number of units, 0 where there is none.
// Minus infinity is a multiple.
func (h *onHost[T]) findNonMultiple(units int64) (uint64, error) {
	by := inValues[T](units, h.unit)
	if by == 1 {
		return 0, nil // of integers all are; a float stands for itself rounded down to a whole number of units
	}
	m := multipleOf(by)
	// Two factors, as 2^unit may be above the largest float64.
	first, second := math.Ldexp(1, h.unit/2), math.Ldexp(1, h.unit-h.unit/2)
	even := func(v T) bool {
		if isInteger[T]() {
			return m.divides(int64(v))
		}
		x := float64(v) * first * second
		return x == math.Floor(x) && m.divides(int64(x)) || math.IsInf(x, -1)
	}
	const run = 1 << 16
	var end atomic.Uint64 // one more than the coalition
	pieces := (len(h.values) + run - 1) / run
	forEach(h.cores, pieces, func(k int) {
		from := (pieces - 1 - k) * run
		if uint64(from) < end.Load() {
			return
		}
		part := h.values[from:min(from+run, len(h.values))]
		for j := len(part) - 1; j >= 0; j-- {
			if even(part[j]) {
				continue
			}
			for at := uint64(from + j + 1); ; {
				if was := end.Load(); was >= at || end.CompareAndSwap(was, at) {
					return
				}
			}
		}
	})
	return max(end.Load(), 1) - 1, nil
}

// gcd is the greatest common divisor of the magnitudes of two integers.
func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return max(a, -a)
}
