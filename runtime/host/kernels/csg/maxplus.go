// Package csg holds what all generated host kernels of csg/hosttiles
// share: the parts that do not depend on a point, in plain Go, and (max,+)
// subset convolution of tiles in assembly, of AVX-512, AVX2, SSE4.2 or NEON,
// used where the processor has them.
//
// Sets are bit masks. Floating-point values may be -Inf, never NaN or +Inf.
package csg

import "math/bits"

// Value is a type the kernels compute in.
type Value interface {
	int32 | int64 | float32 | float64
}

// Direct makes f[S] = max(f[S], f[T] + f[S\T] over splittings of S) for all
// S below 2^n, in place, one after the other: the plain dynamic program of
// Yun Yeh (1986), 3^n/2 additions. f[0] is not read.
func Direct[T Value](f []T, n int) {
	f = f[:1<<n]
	for s := 3; s < len(f); s++ {
		top := 1 << (bits.Len(uint(s)) - 1)
		rest := s ^ top
		best := f[s]
		for b := rest; b != 0; b = (b - 1) & rest {
			if x := f[b] + f[s^b]; x > best {
				best = x
			}
		}
		f[s] = best
	}
}

// Last is one block's share of the last step: f holds f(S) for coalitions
// without agent n below 2^(n-1) and v above. It returns the greatest
// v(S) + f(A\S) over the block's share of the coalitions S with agent n; for
// S = A that is v(A).
func Last[T Value](f []T, n int, block, blocks int64) T {
	half := 1 << (n - 1)
	v := f[half : 2*half]
	f = f[:half]
	from := int(int64(half) / blocks * block)
	to := int(int64(half) / blocks * (block + 1))
	if block == blocks-1 {
		to = half
	}
	// The grand coalition stands for the start value of every block: a block
	// may have no share, and a greatest value of no value has no meaning.
	best := v[half-1]
	v = v[from:to]
	w := f[half-to : half-from]
	for i, x := range v {
		if from+i == half-1 {
			break
		}
		if x += w[len(w)-1-i]; x > best {
			best = x
		}
	}
	return best
}

// Best puts the greatest of out into out[0].
func Best[T Value](out []T) {
	best := out[0]
	for _, x := range out {
		best = max(best, x)
	}
	out[0] = best
}

// Target decodes a block of a level: block/2^split is the rank of the target
// tile among the p-subsets of high bits, the rest says which slice of its
// chunks, the last first, since they take longest. It returns the tile and
// the slice's range of chunks.
func Target(block int64, high, p, split, chunks int) (tile, from, to int) {
	i := 1<<split - 1 - int(block)&(1<<split-1)
	return Unrank(uint64(block)>>split, high, p), i * chunks >> split, (i + 1) * chunks >> split
}

// Unrank is the p-subset of n elements with the given rank in numeric order
// of the masks.
func Unrank(rank uint64, n, p int) int {
	set := 0
	for ; p > 0; p-- {
		// The greatest c with Choose(c, p) <= rank.
		c, below := p-1, uint64(0)
		for c+1 < n {
			x := Choose(c+1, p)
			if x > rank {
				break
			}
			c, below = c+1, x
		}
		set |= 1 << c
		rank -= below
	}
	return set
}

// Choose is the binomial coefficient, exact for n at most 60.
func Choose(n, p int) uint64 {
	if p < 0 || p > n {
		return 0
	}
	c := uint64(1)
	for i := 1; i <= p; i++ {
		c = c * uint64(n-p+i) / uint64(i)
	}
	return c
}
