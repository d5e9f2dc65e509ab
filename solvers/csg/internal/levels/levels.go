// Package levels is the order of coalitions and splittings that dynamic programs and kernels share: a level
// is the sets of one size, in the order of their numbers.
package levels

import "math/bits"

// IDPSizes are the sizes [low, size/2] of the smaller part of the splittings
// that IDP evaluates for coalitions of a size: max(|T|, |S\T|) <= n - |S|, and
// every splitting of all agents. Empty (low > size/2) above 2n/3.
func IDPSizes(n, size int) (low, high int) {
	low, high = max(1, 2*size-n), size/2
	if size == n {
		low = 1
	}
	return low, high
}

// IDPSplittings lists the splittings of a coalition of a size whose smaller part has
// low to size/2 members, as subsets of the members by index, ascending. Of two
// equal parts the one without the highest member stands.
func IDPSplittings(size, low int) []uint32 {
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

// NextSet is the next set of as many members in the order of their numbers.
func NextSet(set uint64) uint64 {
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
