// Package draw makes random problems and random solutions: the generators of the
// literature, and numbers that depend on a seed and an index alone, as kernels
// draw them.
package draw

import (
	"math"
	"math/rand/v2"

	"coalesce/solvers/qubo/problem"
)

// Splitmix is the finaliser of splitmix64 (Steele, Lea, Flood 2014).
func Splitmix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Coins are 64 random bits of a solution's word.
func Coins(seed, solution, word uint64) uint64 { return Splitmix(seed + Splitmix(solution<<32|word)) }

// Strides is how many strides Turn runs through on n variables.
func Strides(n int) uint64 { return uint64(max(1, math.Sqrt(float64(n))/2)) }

// Turn turns over every h-th of n variables of x from the q-th on, as Glover's generator of 0-1 vectors
// does (1998): with counter i, from 1 on, h runs through 2 to Strides+1, and q steps when h has run through.
func Turn(x []uint64, n int, i, strides uint64) {
	stride := 2 + (i-1)%strides
	for j := (i - 1) / strides % stride; j < uint64(n); j += stride {
		x[j>>6] ^= 1 << (j & 63)
	}
}

// Trim clears the bits that are no variables.
func Trim(x []uint64, n int) {
	if n%64 != 0 {
		x[len(x)-1] &= 1<<(n%64) - 1
	}
}

// Bits draws a solution.
func Bits(r *rand.Rand, n int) []uint64 {
	x := make([]uint64, problem.Words(n))
	for i := range x {
		x[i] = r.Uint64()
	}
	Trim(x, n)
	return x
}
