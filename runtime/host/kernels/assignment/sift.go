// Package assignment holds what all generated host kernels of assignment/hostscan
// share: the choice of the few pairs of a row with the least cost above the
// columns' duals, and the same search in AVX-512 assembly, used where the
// processor has it.
//
// Costs are scaled: int64(round(c * scale)), scale being 1 or -1 for integers.
// The largest number of an integer type and floating infinities forbid a pair.
package assignment

import (
	"math"
	"sync"
)

// Value is a type of costs.
type Value interface {
	int32 | int64 | float32 | float64
}

// Infinity is above the scaled cost of every allowed pair.
const Infinity = int64(1) << 61

// turn is the number of costs that vector kernels look at together.
const turn = 32

// Hits are pairs of one row that passed: their columns, and c - v.
type Hits struct {
	Index, Value []int64
	N            int
	room         int
	sorted       []int64
}

// Reset makes room for at least room hits.
func (h *Hits) Reset(room int) {
	h.N, h.room = 0, room
	if room += turn + 8; len(h.Index) < room {
		h.Index, h.Value = make([]int64, room), make([]int64, room)
	}
}

// Add appends a hit.
func (h *Hits) Add(j int, d int64) {
	h.Index[h.N], h.Value[h.N] = int64(j), d
	h.N++
}

// Full reports whether another turn of hits could be one too many.
func (h *Hits) Full() bool { return h.N > h.room }

// A Filter appends to h, in order, the columns in [from, to) with an allowed cost and
// c - v < limit. It may stop when h is full, and returns the first column that it has not
// looked at.
type Filter[T Value] func(c []T, v []int64, scale float64, limit int64, from, to int, h *Hits) int

// SelectLeast selects the allowed pairs of a row with the least c - v: k to 2k of them, in no
// order, or all where the row has fewer. It leaves them in h and returns a lower bound on
// c - v of the other pairs, Infinity where there are no others. The scan begins at column
// first; of equal pairs those scanned earlier win. room is how many pairs h keeps between
// two selections. guess is a bound to try first: where enough pairs or more lie below it,
// SelectLeast selects among these alone, which saves time when they are not many more; Infinity
// makes no guess.
func SelectLeast[T Value](filter Filter[T], c []T, v []int64, scale float64, first, k, enough int, guess int64, room int, h *Hits) int64 {
	room = max(room, 2*k)
	if guess < farthest {
		if bound := least(filter, c, v, scale, first, k, guess, room, h); h.N >= enough {
			return bound
		}
	}
	bound := least(filter, c, v, scale, first, k, farthest, room, h)
	if bound == farthest {
		return Infinity
	}
	return bound
}

// farthest is more than c - v of any allowed pair.
const farthest = Infinity - Infinity/4

// least is SelectLeast with pairs below limit only, which is the bound then.
func least[T Value](filter Filter[T], c []T, v []int64, scale float64, first, k int, limit int64, room int, h *Hits) int64 {
	h.Reset(room)
	from, to := first, len(c)
	for range 2 {
		for from < to {
			if from = filter(c, v, scale, limit, from, to, h); h.Full() {
				limit = h.choose(k)
			}
		}
		from, to = 0, first
	}
	if h.N > 2*k {
		limit = h.choose(k)
	}
	return limit
}

// FilterBelow leaves in h all allowed pairs of a row with a scaled cost below v.
func FilterBelow[T Value](filter Filter[T], c []T, v []int64, scale float64, h *Hits) {
	h.Reset(len(c))
	for from := 0; from < len(c); {
		from = filter(c, v, scale, 0, from, len(c), h)
	}
}

var scratch = sync.Pool{New: func() any { return new(Hits) }}

// LeastRow is the entry least of assignment/hostscan, block of it.
func LeastRow[T Value](filter Filter[T], costs []T, cols int, scale float64, row, block int, v []int64,
	first, k, enough int, guess int64, room int, col []int32, value, state []int64) {
	h := scratch.Get().(*Hits)
	defer scratch.Put(h)
	row += block
	if cols > 0 {
		first = row * first % cols
	}
	state[2*block+1] = SelectLeast(filter, costs[row*cols:][:cols], v, scale, first, k, enough, guess, room, h)
	state[2*block] = int64(h.N)
	h.store(v, col[2*block*k:], value[2*block*k:])
}

// BelowRow is the entry below of assignment/hostscan.
func BelowRow[T Value](filter Filter[T], costs []T, cols int, scale float64, row int, limit []int64, col []int32, value, state []int64) {
	h := scratch.Get().(*Hits)
	defer scratch.Put(h)
	FilterBelow(filter, costs[row*cols:][:cols], limit, scale, h)
	state[0] = int64(h.N)
	h.store(limit, col, value)
}

// store writes columns and costs.
func (h *Hits) store(v []int64, col []int32, value []int64) {
	for i, j := range h.Index[:h.N] {
		col[i], value[i] = int32(j), h.Value[i]+v[j]
	}
}

// LowerRows is the entry lower of assignment/hostscan.
func LowerRows[T Value](costs []T, cols int, scale float64, rows int, block, blocks int64, u, v []int64) {
	v = v[int(block)*cols:][:cols]
	for i := rows * int(block) / int(blocks); i < rows*int(block+1)/int(blocks); i++ {
		LowerDuals(costs[i*cols:][:cols], v, scale, u[i])
	}
}

// choose keeps the k least hits, of equal ones the first, in their order, and
// returns the value of the next.
func (h *Hits) choose(k int) int64 {
	h.sorted = append(h.sorted[:0], h.Value[:h.N]...)
	limit := rank(h.sorted, k)
	less := 0
	for _, x := range h.Value[:h.N] {
		if x < limit {
			less++
		}
	}
	equal, n := k-less, 0
	for i, x := range h.Value[:h.N] {
		if x > limit || x == limit && equal == 0 {
			continue
		}
		if x == limit {
			equal--
		}
		h.Index[n], h.Value[n] = h.Index[i], x
		n++
	}
	h.N = n
	return limit
}

// rank is the value that sorting would put at k. It reorders a.
func rank(a []int64, k int) int64 {
	low, high := 0, len(a)-1
	for low < high {
		x := a[(low+high)/2]
		i, j := low, high
		for i <= j {
			for a[i] < x {
				i++
			}
			for a[j] > x {
				j--
			}
			if i <= j {
				a[i], a[j] = a[j], a[i]
				i++
				j--
			}
		}
		switch {
		case k <= j:
			high = j
		case k >= i:
			low = i
		default:
			return a[k]
		}
	}
	return a[k]
}

// LowerDuals makes v[j] the lesser of v[j] and the scaled c[j] - u.
func LowerDuals[T Value](c []T, v []int64, scale float64, u int64) {
	from := lowerVector(c, v, scale, u)
	v = v[:len(c)]
	for j := from; j < len(c); j++ {
		v[j] = min(v[j], ScaleCost(c[j], scale)-u)
	}
}

// ScaleCost is a cost's scaled cost, Infinity of a forbidden pair.
func ScaleCost[T Value](c T, scale float64) int64 {
	switch c := any(c).(type) {
	case int32:
		if c == math.MaxInt32 {
			return Infinity
		}
		return int64(scale) * int64(c)
	case int64:
		if c == math.MaxInt64 {
			return Infinity
		}
		return int64(scale) * c
	case float32:
		return scaledFloat(float64(c), scale)
	case float64:
		return scaledFloat(c, scale)
	}
	return Infinity
}

func scaledFloat(c, scale float64) int64 {
	if c-c != 0 {
		return Infinity
	}
	return int64(math.RoundToEven(c * scale))
}
