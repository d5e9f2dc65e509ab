package price

import (
	"cmp"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// sampleColumns adds coalitions of all sizes to the master, and draws the random ones.
func (s *solver) sampleColumns() {
	const most = 512 // the most coalitions of each size
	grand := uint64(1)<<s.n - 1
	masks := make([]uint64, min(grand, uint64(most*(s.n-1)+1)))
	masks[0] = grand
	if grand <= uint64(most*(s.n-1)+1) {
		for k := range masks {
			masks[k] = uint64(k) + 1
		}
	} else {
		forEach(s.limits.Cores, s.n-1, func(k int) {
			size := k + 1
			r := rand.New(rand.NewPCG(2, uint64(s.n)<<8|uint64(size)))
			for i := range most {
				mask := uint64(0)
				for bits.OnesCount64(mask) < min(size, s.n-size) {
					mask |= 1 << r.IntN(s.n)
				}
				if size > s.n-size {
					mask ^= grand
				}
				masks[k*most+i+1] = mask
			}
		})
	}
	sortByKey(s.limits.Cores, masks, make([]uint64, len(masks)), func(mask uint64) int64 { return int64(mask) })
	s.master.add(s.valued(slices.Compact(masks)), s.scale)
	r := rand.New(rand.NewPCG(3, uint64(s.n)))
	masks = masks[:0]
	for range randomColumns {
		masks = append(masks, r.Uint64N(grand)+1)
	}
	s.random = s.valued(masks)
}

// addToMaster adds what a pass has found to the master; the losses are those at some prices.
func (s *solver) addToMaster(items []pricedCoalition, prices []int64) {
	y := sumsOf(prices)
	columns := filterMap(s.limits.Cores, items, resize(&s.lists.columns, len(items)), func(_ int, x pricedCoalition) (column, bool) {
		return column{x.mask, y.sumOf(x.mask) - x.loss}, true
	})
	sortByKey(s.limits.Cores, columns, resize(&s.lists.other, len(columns)), func(x column) int64 { return int64(x.mask) })
	s.master.add(columns, s.scale)
}

// valued are coalitions with their values, without those that are forbidden.
func (s *solver) valued(masks []uint64) []column {
	const few = 256 // to draw a value takes up to a microsecond
	list := make([]column, len(masks))
	forEach(s.limits.Cores, (len(masks)+few-1)/few, func(k int) {
		for i := k * few; i < min((k+1)*few, len(masks)); i++ {
			list[i] = column{masks[i], s.valueAt(masks[i])}
		}
	})
	return slices.DeleteFunc(list, func(x column) bool { return x.value == forbidden })
}

// losses of the random coalitions, but for those that are forbidden.
func (s *solver) losses(prices []int64) []int64 {
	y := sumsOf(prices)
	losses := make([]int64, len(s.random))
	for k, x := range s.random {
		losses[k] = min(y.sumOf(x.mask)-x.value, largest/2)
	}
	return losses
}

// estimateLimit returns a loss that about `keep` coalitions do not exceed.
func (s *solver) estimateLimit(prices []int64, keep int) int64 {
	at := math.Ldexp(float64(keep)*randomColumns, -s.n)
	losses := s.losses(prices)
	if at >= float64(len(losses)) {
		return largest / 2
	}
	selectLowest(losses, int(at)+1, cmp.Compare)
	return max(slices.Max(losses[:int(at)+1]), 0)
}

// estimateCount returns about how many coalitions have losses below a limit.
func (s *solver) estimateCount(prices []int64, below int64) int {
	count := 0
	for _, loss := range s.losses(prices) {
		if loss < below {
			count++
		}
	}
	return count << s.n / randomColumns
}

// refineMultiple makes Multiple the greatest common divisor of all values, in units. That of the random coalitions,
// which a pass refutes at most a few times, is nearly always the one; values without one cost no pass.
func (s *solver) refineMultiple() error {
	common := int64(0)
	for _, x := range s.random {
		if common = gcd(common, x.value); common == s.Multiple {
			return nil
		}
	}
	for common > s.Multiple {
		mask, err := s.findNonMultiple(common)
		if err != nil {
			return err
		}
		if mask == 0 {
			s.Multiple = common
			return nil
		}
		next := gcd(common, s.valueAt(mask))
		if next == common {
			return nil // a float that is no whole number of units
		}
		common = next
	}
	return nil
}
