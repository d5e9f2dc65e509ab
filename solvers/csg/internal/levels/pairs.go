package levels

import "math"

// PairsOf is the number of pairs of tiles that a target tile with so many high members is split into.
func PairsOf(size int) int64 { return 1<<(size-1) - 1 }

// pairsOfAll is the number of pairs of all targets of so many high agents, with the one pair of
// each target that has tile 0: the sum of binomial(high, size) 2^(size-1).
func pairsOfAll(high int) float64 { return (math.Pow(3, float64(high)) - 1) / 2 }

// PairsBefore is the number of these pairs that belong to levels below `from`.
func PairsBefore(high, from int) float64 {
	done := 0.0
	for p := 1; p < min(from, high+1); p++ {
		done += float64(Binomial(high, p)) * float64(PairsOf(p)+1)
	}
	return done
}

// ShareOf divides a number of pairs by the number of all pairs; it is 1 where there are none.
func ShareOf(pairs float64, high int) float64 {
	if high == 0 {
		return 1
	}
	return pairs / pairsOfAll(high)
}

// BlocksPerTarget is the number of blocks that share the pairs of each target of a level, on a device that
// runs so many blocks at once: the number with which the level ends soonest, if a block takes as
// long to fill its pipeline and to merge its slots as for two pairs.
func BlocksPerTarget(targets, pairs, blocks int64) int64 {
	const overhead = 2
	best, least := int64(1), int64(math.MaxInt64)
	for parts := int64(1); parts <= min(pairs, 1+16*blocks/targets); parts++ {
		waves := (targets*parts + blocks - 1) / blocks
		if cost := waves * ((pairs+parts-1)/parts + overhead); cost < least {
			best, least = parts, cost
		}
	}
	return best
}
