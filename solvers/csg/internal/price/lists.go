package price

import (
	"cmp"
	"math/bits"
	"slices"
	"sync/atomic"
)

// piece is how many entries of a list a core takes at a time.
const piece = 1 << 12

// buffers are lists of a solve that each pass writes anew. A large list costs more to allocate than to write,
// as one core clears memory that was in use before, and fresh memory costs a fault of some microseconds a page.
type buffers struct {
	spare          []pricedCoalition
	columns, other []column
}

// resize returns a buffer's first n entries, which hold anything; where they are too few the buffer grows.
func resize[T any](buffer *[]T, n int) []T {
	if cap(*buffer) < n {
		*buffer = make([]T, n)
	}
	return (*buffer)[:n]
}

// filterMap applies f to the places and entries of a list, on some cores, and returns in their order the
// results that f keeps, in out, which has room for all. out may be the list itself.
func filterMap[T, U any](cores int, list []T, out []U, f func(int, T) (U, bool)) []U {
	kept := make([]int, (len(list)+piece-1)/piece)
	forEach(cores, len(kept), func(k int) {
		at := k * piece
		for i := at; i < min((k+1)*piece, len(list)); i++ {
			if y, ok := f(i, list[i]); ok {
				out[at] = y
				at++
			}
		}
		kept[k] = at - k*piece
	})
	end := 0
	for k, n := range kept {
		if end < k*piece {
			copy(out[end:], out[k*piece:][:n])
		}
		end += n
	}
	return out[:end]
}

// intoBuckets sorts the entries of a list into buckets, on some cores: f returns what a bucket holds of an entry,
// and the bucket. The entries of a bucket keep their order. The buckets follow one another in out, which
// has as much room as the list.
func intoBuckets[T, U any](cores int, list []T, out []U, buckets int, f func(T) (U, int)) [][]U {
	parts := max(1, min(4*cores, (len(list)+piece-1)/piece))
	part := func(k int) []T { return list[len(list)*k/parts : len(list)*(k+1)/parts] }
	at := make([][]int, parts) // of a part and a bucket: how many entries, then the place of the next
	forEach(cores, parts, func(k int) {
		count := make([]int, buckets)
		for _, x := range part(k) {
			_, b := f(x)
			count[b]++
		}
		at[k] = count
	})
	lists, place := make([][]U, buckets), 0
	for b := range buckets {
		start := place
		for k := range parts {
			at[k][b], place = place, place+at[k][b]
		}
		lists[b] = out[start:place:place]
	}
	forEach(cores, parts, func(k int) {
		next := at[k]
		for _, x := range part(k) {
			y, b := f(x)
			out[next[b]] = y
			next[b]++
		}
	})
	return lists
}

// sortByKey sorts a list by keys below 2^62 that are not negative, on some cores: spare, which has as much room,
// gets the entries in buckets of the highest bits of their keys, and each bucket is sorted. Entries of one
// key keep their order.
func sortByKey[T any](cores int, list, spare []T, key func(T) int64) {
	const most, fill = 12, 7 // at most 2^most buckets, of some 2^fill entries where the list is short
	parts := (len(list) + piece - 1) / piece
	used := make([]int64, parts) // by part of the list: the bits of its keys
	forEach(cores, parts, func(k int) {
		own := int64(0)
		for _, x := range list[k*piece : min((k+1)*piece, len(list))] {
			own |= key(x)
		}
		used[k] = own
	})
	all := int64(0)
	for _, x := range used {
		all |= x
	}
	digit := max(0, min(most, bits.Len(uint(len(list)))-fill))
	low := max(0, bits.Len64(uint64(all))-digit) // bits of keys that a bucket leaves open
	lists := intoBuckets(cores, list, spare, 1<<digit, func(x T) (T, int) { return x, int(key(x) >> low) })
	start := make([]int, len(lists)+1)
	for b, bucket := range lists {
		start[b+1] = start[b] + len(bucket)
	}
	const run = 16 // buckets that a core sorts at a time
	forEach(cores, (len(lists)+run-1)/run, func(k int) {
		var words []uint64
		for b := k * run; b < min((k+1)*run, len(lists)); b++ {
			words = sortByLowBits(lists[b], list[start[b]:], key, low, words)
		}
	})
}

// sortByLowBits copies a list to another in the order of the low bits of its keys. Machine words are
// sorted that hold these bits and the place of an entry, as far as both fit in one. They are in words, which
// sortByLowBits returns to be used again.
func sortByLowBits[T any](list, sorted []T, key func(T) int64, low int, words []uint64) []uint64 {
	place := bits.Len(uint(len(list)))
	if low == 0 {
		copy(sorted, list)
		return words
	}
	if low+place > 64 {
		copy(sorted, list)
		slices.SortStableFunc(sorted[:len(list)], func(a, b T) int { return cmp.Compare(key(a), key(b)) })
		return words
	}
	words = words[:0]
	for i, x := range list {
		words = append(words, uint64(key(x))&(1<<low-1)<<place|uint64(i))
	}
	words = sortWords(words, low+place)
	for k, w := range words {
		sorted[k] = list[w&(1<<place-1)]
	}
	return words
}

// sortWords returns words of so many bits in order. Many words are dealt by their 8 highest bits into the memory
// behind them, which grows where that is too little, and each bucket is sorted there.
func sortWords(words []uint64, width int) []uint64 {
	const few = 64
	n := len(words)
	if n < few || width < 8 {
		slices.Sort(words)
		return words
	}
	words = slices.Grow(words, n)[:2*n]
	from, to, high := words[:n], words[n:], width-8
	var at [256]int
	for _, w := range from {
		at[w>>high]++
	}
	end := 0
	for b, count := range at {
		at[b], end = end, end+count
	}
	for _, w := range from {
		to[at[w>>high]] = w
		at[w>>high]++
	}
	start := 0
	for _, end := range at {
		if end > start+1 {
			slices.Sort(to[start:end])
		}
		start = end
	}
	copy(from, to)
	return from
}

// selectLowest moves the k entries of a list that come first in an order to the front, in any order. No two entries
// are equal in the order, or it does not matter which of them comes first.
func selectLowest[T any](list []T, k int, compare func(a, b T) int) {
	for k > 0 && k < len(list) {
		mid := list[len(list)/2]
		i, j := 0, len(list)-1
		for i <= j {
			for compare(list[i], mid) < 0 {
				i++
			}
			for compare(mid, list[j]) < 0 {
				j--
			}
			if i <= j {
				list[i], list[j] = list[j], list[i]
				i, j = i+1, j-1
			}
		}
		switch { // entries up to j come before those from i on, and one between them may be mid
		case k <= j:
			list = list[:j+1]
		case k < i:
			return
		default:
			list, k = list[i:], k-i
		}
	}
}

// countWhere counts the entries of a list that f holds of, on some cores.
func countWhere[T any](cores int, list []T, f func(T) bool) int {
	var all atomic.Int64
	forEach(cores, (len(list)+piece-1)/piece, func(k int) {
		count := 0
		for _, x := range list[k*piece : min((k+1)*piece, len(list))] {
			if f(x) {
				count++
			}
		}
		all.Add(int64(count))
	})
	return int(all.Load())
}
