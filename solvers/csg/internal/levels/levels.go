// Package levels is the dynamic program of the papers on a host's cores, and the order of coalitions
// and splittings that it shares with the kernels: sets of one size in the order of their numbers.
package levels

import (
	"context"
	"math/bits"
	"sync"
	"sync/atomic"

	"coalesce/runtime/device"
)

// Raise raises the values f of all coalitions, stored by their numbers, to the values of their best
// partitions. It evaluates every splitting, or those of IDP alone, one size of coalitions after the
// other, on a number of cores. It calls told with the share of the work done, 0 to 1; ctx ends it.
func Raise[T device.Number](ctx context.Context, f []T, idp bool, workers int, told func(share float64)) error {
	n := bits.Len(uint(len(f) - 1))
	work := make([]float64, n+1)
	all, done := 0.0, 0.0
	for size := 2; size <= n; size++ {
		work[size] = float64(Binomial(n, size)) * float64(uint64(1)<<(size-1)-1)
		if low, high := Sizes(n, size); idp && low > high {
			work[size] = 0
		}
		all += work[size]
	}
	for size := 2; size <= n; size++ {
		low, high := 1, size/2
		if idp {
			low, high = Sizes(n, size)
		}
		if low > high {
			continue
		}
		var list []uint32 // nil: all below 2^(size-1)
		if low > 1 {
			list = Numbers(size, low)
		}
		count := Binomial(n, size)
		piece := max(1, min(256, int64(1)<<24>>size)) // coalitions that a core takes between two looks at ctx
		var next atomic.Int64
		var wait sync.WaitGroup
		for range workers {
			wait.Go(func() {
				parts := new(deposits)
				for ctx.Err() == nil {
					from := (next.Add(1) - 1) * piece
					if from >= count {
						return
					}
					c := Unrank(from, size)
					for range min(piece, count-from) {
						parts.of(c, size)
						f[c] = raised(parts, f, c, list)
						c = Next(c)
					}
				}
			})
		}
		wait.Wait()
		if err := ctx.Err(); err != nil {
			return err
		}
		done += work[size]
		told(done / all)
	}
	return nil
}

// deposits maps the number of a part of a coalition, whose bits stand for the coalition's members in
// order, to the part (initialSplit of GPU-CSG), by two look-ups.
type deposits struct {
	low, high [1 << 16]uint64
	bits      int // of low
	size      int
}

// of sets the tables for a coalition.
func (d *deposits) of(c uint64, size int) {
	d.size, d.bits = size, (size+1)/2
	for k := range size {
		member := c & -c
		c ^= member
		to, at := &d.low, k
		if k >= d.bits {
			to, at = &d.high, k-d.bits
		}
		for i := range 1 << at {
			to[1<<at|i] = to[i] | member
		}
	}
}

// raised is the largest of f(c) and the values of c's splittings: those whose parts a list numbers,
// or where the list is nil all splittings, each by its part without the highest member.
func raised[T device.Number](d *deposits, f []T, c uint64, list []uint32) T {
	best := f[c]
	if list == nil {
		from := 1 // number 0 is no part
		for _, h := range d.high[:1<<(d.size-1)>>d.bits] {
			rest := c ^ h
			for _, l := range d.low[from : 1<<d.bits] {
				if x := f[h|l] + f[rest^l]; x > best {
					best = x
				}
			}
			from = 0
		}
		return best
	}
	mask := uint32(1)<<d.bits - 1
	for _, number := range list {
		part := d.low[number&mask] | d.high[number>>d.bits]
		if x := f[part] + f[c^part]; x > best {
			best = x
		}
	}
	return best
}

// Sizes are the sizes [low, size/2] of the smaller part of the splittings
// that IDP evaluates for coalitions of a size: max(|T|, |S\T|) <= n - |S|, and
// every splitting of all agents. Empty (low > size/2) above 2n/3.
func Sizes(n, size int) (low, high int) {
	low, high = max(1, 2*size-n), size/2
	if size == n {
		low = 1
	}
	return low, high
}

// Numbers lists the splittings of a coalition of a size whose smaller part has
// low to size/2 members, as subsets of the members by index, ascending. Of two
// equal parts the one without the highest member stands.
func Numbers(size, low int) []uint32 {
	var list []uint32
	for m := range uint32(1) << size {
		k := bits.OnesCount32(m)
		if k < low || 2*k > size || 2*k == size && m>>(size-1) != 0 {
			continue
		}
		list = append(list, m)
	}
	return list
}

// Unrank is the set of a rank among those of so many members, in the order of their
// numbers.
func Unrank(rank int64, members int) uint64 {
	set := uint64(0)
	for ; members > 0; members-- {
		top := members - 1
		for Binomial(top+1, members) <= rank {
			top++
		}
		set |= 1 << top
		rank -= Binomial(top, members)
	}
	return set
}

// Next is the next set of as many members in the order of their numbers.
func Next(set uint64) uint64 {
	if set == 0 {
		return 0
	}
	low := set & -set
	next := set + low
	return next | (set^next)>>(2+bits.TrailingZeros64(low))
}

// Binomial is the number of sets of p of n members, exact where it fits.
func Binomial(n, p int) int64 {
	c := int64(1)
	for i := 1; i <= p; i++ {
		c = c * int64(n-p+i) / int64(i)
	}
	return c
}
