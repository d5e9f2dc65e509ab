package qubo

import "math/rand/v2"

// splitmix is the finaliser of splitmix64 (Steele, Lea, Flood 2014).
func splitmix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// coins are 64 random bits of a solution's word.
func coins(seed, solution, word uint64) uint64 { return splitmix(seed + splitmix(solution<<32|word)) }

// trim clears what is no variable.
func trim(x []uint64, n int) {
	if n%64 != 0 {
		x[len(x)-1] &= 1<<(n%64) - 1
	}
}

// randomBits draws a solution.
func randomBits(r *rand.Rand, n int) []uint64 {
	x := make([]uint64, words(n))
	for i := range x {
		x[i] = r.Uint64()
	}
	if n%64 != 0 {
		x[len(x)-1] &= 1<<(n%64) - 1
	}
	return x
}
