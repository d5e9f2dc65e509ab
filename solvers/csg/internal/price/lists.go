package price

import (
	"cmp"
	"math/bits"
	"slices"
)

// piece is how many entries of a list a core takes at a time.
const piece = 1 << 12

// mapped applies f to the entries of a list, on some cores, and returns in their order the
// results that f keeps.
func mapped[T, U any](cores int, list []T, f func(T) (U, bool)) []U {
	pieces := make([][]U, (len(list)+piece-1)/piece)
	each(cores, len(pieces), func(k int) {
		own := list[k*piece : min((k+1)*piece, len(list))]
		kept := make([]U, 0, len(own))
		for _, x := range own {
			if y, ok := f(x); ok {
				kept = append(kept, y)
			}
		}
		pieces[k] = kept
	})
	if len(pieces) == 1 {
		return pieces[0]
	}
	return slices.Concat(pieces...)
}

// dealt copies the entries of a list into buckets, on some cores: entry x into bucket of(x).
// The entries of a bucket keep their order. The buckets follow one another in one list.
func dealt[T any](cores int, list []T, buckets int, of func(T) int) [][]T {
	parts := min(4*cores, (len(list)+piece-1)/piece)
	part := func(k int) (from, to int) { return len(list) * k / parts, len(list) * (k + 1) / parts }
	bucket := make([]uint16, len(list))
	at := make([][]int, parts) // of a part and a bucket: how many entries, then the place of the next
	each(cores, parts, func(k int) {
		at[k] = make([]int, buckets)
		from, to := part(k)
		for i := from; i < to; i++ {
			b := of(list[i])
			bucket[i] = uint16(b)
			at[k][b]++
		}
	})
	ends, place := make([]int, buckets), 0
	for b := range buckets {
		for k := range parts {
			at[k][b], place = place, place+at[k][b]
		}
		ends[b] = place
	}
	all := make([]T, len(list))
	each(cores, parts, func(k int) {
		from, to := part(k)
		for i := from; i < to; i++ {
			b := bucket[i]
			all[at[k][b]] = list[i]
			at[k][b]++
		}
	})
	lists, start := make([][]T, buckets), 0
	for b, end := range ends {
		lists[b], start = all[start:end:end], end
	}
	return lists
}

// ordered sorts a list by keys below 2^62 that are not negative, on some cores: entries are dealt
// by the highest bits of their keys, and each bucket is sorted. Entries of one key keep their order.
func ordered[T any](cores int, list []T, key func(T) int64) []T {
	const digit = 12
	all := int64(0)
	for _, x := range list {
		all |= key(x)
	}
	low := max(0, bits.Len64(uint64(all))-digit) // bits of keys that a bucket leaves open
	sorted := make([]T, len(list))
	if len(list) < piece {
		rank(list, sorted, key, bits.Len64(uint64(all)))
		return sorted
	}
	lists := dealt(cores, list, 1<<digit, func(x T) int { return int(key(x) >> low) })
	start := make([]int, len(lists))
	for b := 1; b < len(lists); b++ {
		start[b] = start[b-1] + len(lists[b-1])
	}
	each(cores, len(lists), func(b int) { rank(lists[b], sorted[start[b]:], key, low) })
	return sorted
}

// rank copies a list to another in the order of the low bits of its keys. Machine words are
// sorted that hold these bits and the place of an entry, as far as both fit in one.
func rank[T any](list, sorted []T, key func(T) int64, low int) {
	place := bits.Len(uint(len(list)))
	if low == 0 {
		copy(sorted, list)
		return
	}
	if low+place > 64 {
		copy(sorted, list)
		slices.SortStableFunc(sorted[:len(list)], func(a, b T) int { return cmp.Compare(key(a), key(b)) })
		return
	}
	words := make([]uint64, len(list))
	for i, x := range list {
		words[i] = uint64(key(x))&(1<<low-1)<<place | uint64(i)
	}
	slices.Sort(words)
	for k, w := range words {
		sorted[k] = list[w&(1<<place-1)]
	}
}
