package equations

import (
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
)

// A quarter is the different sums of keys of the subsets of a quarter of the variables, ascending by their low bits.
type quarter struct {
	sums  []uint64
	start []int32 // of the sums with given low bits
	mask  uint64
}

func newQuarter(sums []uint64, width int) quarter {
	q := quarter{make([]uint64, len(sums)), make([]int32, 1<<width+1), 1<<width - 1}
	for _, s := range sums {
		q.start[s&q.mask+1]++
	}
	for k := range q.mask + 1 {
		q.start[k+1] += q.start[k]
	}
	next := slices.Clone(q.start)
	for _, s := range sums {
		at := &next[s&q.mask]
		q.sums[*at] = s
		*at++
	}
	return q
}

// subsetSums are the sums of keys: bit k of the index is whether key k is in.
func subsetSums(keys []uint64) []uint64 {
	sums := make([]uint64, 1, 1<<len(keys))
	for _, k := range keys {
		for _, s := range sums {
			sums = append(sums, s+k)
		}
	}
	return sums
}

// Filters have so many bits.
const (
	filterBits  = 18
	filterWords = 1 << filterBits / 64
)

type filter [filterWords]uint64

func (f *filter) set(k uint64)      { f[k>>6&(filterWords-1)] |= 1 << (k & 63) }
func (f *filter) has(k uint64) bool { return f[k>>6&(filterWords-1)]>>(k&63)&1 != 0 }

// Solve looks for a solution of all equations: bit i is variable i. complete reports whether all solutions were visited, so that there is
// none where found is false.
//
// Subsets of the variables' four quarters are visited by the residue of the first two quarters' sum modulo a power of two (R. Schroeppel
// and A. Shamir, SIAM J. Comput. 10, 1981; N. Howgrave-Graham and A. Joux, EUROCRYPT 2010, section 2.2): 2^(n/2) steps in memory for
// 2^(n/4) sums, in pieces that workers share.
func (m *Model) Solve(workers int, stop func() bool) (x uint64, found, complete bool) {
	if !m.attainable {
		return 0, false, true
	}
	var sums [4][]uint64
	for k := range sums {
		sums[k] = subsetSums(m.keys[m.n*k/4 : m.n*(k+1)/4])
		slices.Sort(sums[k])
		sums[k] = slices.Compact(sums[k])
	}
	width := max(1, bits.Len(uint(len(sums[1])))-2)
	var quarters [4]quarter
	for k := range quarters {
		quarters[k] = newQuarter(sums[k], width)
	}
	var next, ended atomic.Uint64
	var mu sync.Mutex
	var team sync.WaitGroup
	pieces := uint64(1) << width
	for range min(uint64(workers), pieces) {
		team.Go(func() {
			p := piece{quarters: &quarters, key: m.key}
			for at := next.Add(1) - 1; at < pieces; at = next.Add(1) - 1 {
				if ended.Load() != 0 {
					return
				}
				if stop() || !p.visit(at, func(left uint64) (over bool) {
					mu.Lock()
					defer mu.Unlock()
					if y := m.subset(left, 0) | m.subset(m.key-left, 2); m.meets(y) {
						x, found = y, true
					}
					return found
				}) {
					ended.Store(1)
					return
				}
			}
		})
	}
	team.Wait()
	return x, found, found || ended.Load() == 0
}

// subset is a subset of the quarters first and first+1 whose keys add up to a sum.
func (m *Model) subset(sum uint64, first int) (x uint64) {
	low, middle, high := m.n*first/4, m.n*(first+1)/4, m.n*(first+2)/4
	index := map[uint64]int{}
	for k, s := range subsetSums(m.keys[low:middle]) {
		index[s] = k
	}
	for k, s := range subsetSums(m.keys[middle:high]) {
		if at, ok := index[sum-s]; ok {
			return uint64(at)<<low | uint64(k)<<middle
		}
	}
	return 0
}

// A piece is the solutions with a given residue of the first two quarters' sum. It is visited as two lists, of which filters of single
// bits leave in turn those members that may be in the other.
type piece struct {
	quarters    *[4]quarter
	key         uint64
	filter      filter
	left, right []uint64
}

// mostSums of a piece fit its memory, 256 MB. Keys are alike where there are more.
const mostSums = 1 << 25

// visit calls each with the sums of the first two quarters for which those of the others complete the key, until it returns true. It is
// false where it did, or where there are too many sums.
func (p *piece) visit(residue uint64, each func(left uint64) (over bool)) bool {
	q := p.quarters
	count := 0
	for _, a := range q[0].sums {
		at := (residue - a) & q[1].mask
		count += int(q[1].start[at+1] - q[1].start[at])
	}
	if count > mostSums {
		return false
	}
	p.left = slices.Grow(p.left[:0], count)
	for _, a := range q[0].sums {
		at := (residue - a) & q[1].mask
		for _, b := range q[1].sums[q[1].start[at]:q[1].start[at+1]] {
			p.left = append(p.left, a+b)
		}
	}
	const width, other = filterBits, 64 - filterBits
	p.filter = filter{}
	for _, s := range p.left {
		p.filter.set(s >> other)
	}
	p.right = p.right[:0]
	for _, c := range q[2].sums {
		rest := p.key - c
		at := (rest - residue) & q[3].mask
		for _, d := range q[3].sums[q[3].start[at]:q[3].start[at+1]] {
			if s := rest - d; p.filter.has(s >> other) {
				p.right = append(p.right, s)
			}
		}
	}
	p.filter = filter{}
	for _, s := range p.right {
		p.filter.set(s >> (other - width))
	}
	kept := p.left[:0]
	for _, s := range p.left {
		if p.filter.has(s >> (other - width)) {
			kept = append(kept, s)
		}
	}
	p.left = kept
	p.filter = filter{}
	for _, s := range p.left {
		p.filter.set(mix(s))
	}
	for _, s := range p.right {
		if p.filter.has(mix(s)) && slices.Contains(p.left, s) && each(s) {
			return false
		}
	}
	return true
}

// mix spreads all bits of a sum over the low ones.
func mix(s uint64) uint64 { return s * 0x9e3779b97f4a7c15 >> (64 - filterBits) }
