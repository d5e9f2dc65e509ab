package main

import (
	"math/big"
	"math/bits"
)

// splittingCount is the number of splittings that DP evaluates for n agents:
// 2^(|C|-1) - 1 of every coalition C.
func splittingCount(n int) float64 {
	three := new(big.Int).Exp(big.NewInt(3), big.NewInt(int64(n)), nil)
	three.Sub(three, big.NewInt(1)).Rsh(three, 1)
	two := new(big.Int).Lsh(big.NewInt(1), uint(n))
	two.Sub(two, big.NewInt(1))
	f, _ := new(big.Float).SetInt(three.Sub(three, two)).Float64()
	return f
}

// choose is the binomial coefficient, for n below 62.
func choose(n, k int) int64 {
	if k < 0 || k > n {
		return 0
	}
	return new(big.Int).Binomial(int64(n), int64(k)).Int64()
}

// launchCount is how many a run takes that evaluates alpha coalitions of one
// size a launch.
func launchCount(n, alpha int) int64 {
	var sum int64
	for k := 2; k <= n; k++ {
		sum += (choose(n, k) + int64(alpha) - 1) / int64(alpha)
	}
	return sum
}

// wrongCardinality is the share, in percent, of subsets of wrong cardinality
// among those that the report's integer subset construction makes for n
// assets: C' = (¬C + ψ) ∩ C has more than half of C's members (report, section
// 0.4.1 line 5, and figure 2). ψ runs from 0 through C as the mended kernel's
// does, or, printed, below 2^(|C|-1).
func wrongCardinality(n int, printed bool) float64 {
	var made, wrong int64
	for c := uint32(1); c < 1<<n; c++ {
		size := bits.OnesCount32(c)
		if size < 2 {
			continue
		}
		end := c + 1
		if printed {
			end = 1 << (size - 1)
		}
		for psi := range end {
			made++
			if 2*bits.OnesCount32((^c+psi)&c) > size {
				wrong++
			}
		}
	}
	return 100 * float64(wrong) / float64(made)
}

// linesPerLoad is the expected number of 128-byte lines that a warp of neighbours
// reads in one load of 4-byte values, over coalitions of size k of n agents:
// the lanes number the 5 lowest members, and 2^(5-m) lines hold them when m of
// the 5 lowest agents are members.
func linesPerLoad(n, k int) float64 {
	var sum float64
	for m := 0; m <= 5; m++ {
		sum += float64(choose(5, m)) * float64(choose(n-5, k-m)) * float64(int(1)<<(5-m))
	}
	return sum / float64(choose(n, k))
}

// meanLines weighs lines by the splittings of each size.
func meanLines(n int) float64 {
	var sum, weight float64
	for k := 6; k <= n; k++ {
		w := float64(choose(n, k)) * float64(int64(1)<<(k-1)-1)
		sum, weight = sum+w*linesPerLoad(n, k), weight+w
	}
	return sum / weight
}
