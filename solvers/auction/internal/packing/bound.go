package packing

import (
	"math"
	"math/bits"
)

// A priceScale takes prices of the linear program to integers: a price unit is 2^shift, so
// that sums over all rows and columns stay below 2^62.
type priceScale struct {
	unit  float64 // price units of 1 in the linear program
	base  int64   // what each clique of which a bid has to win adds to its price
	most  int64   // the largest price
	shift uint
}

func newScale(prices []int64, rows int) priceScale {
	most := int64(1)
	sum := uint64(0)
	for _, p := range prices {
		most = max(most, p)
		sum += uint64(p)
	}
	s := priceScale{unit: float64(most), most: most}
	hi, lo := bits.Mul64(uint64(most), uint64(rows+1))
	lo, carry := bits.Add64(lo, sum, 0)
	if hi+carry == 0 {
		s.shift = uint(min(20, max(0, bits.LeadingZeros64(lo)-3)))
	}
	return s
}

// toUnits converts the prices of rows to integers. The sum of the prices, each counted as often as
// its row allows bids, stays below 2^62: larger prices are lowered, which weakens the bound and keeps
// it valid.
func (s priceScale) toUnits(price func(row int) float64, rows []row, into []int64) []int64 {
	into = into[:0]
	room := int64(1) << 61
	for i := range rows {
		y := math.Round(price(i)*s.unit*float64(uint64(1)<<s.shift)) + float64(s.base*int64(rows[i].Cover)<<s.shift)
		whole := int64(0)
		if y > 0 {
			if y < float64(s.most<<s.shift) {
				whole = int64(y)
			} else {
				whole = s.most << s.shift
			}
		}
		whole = min(whole, room/rows[i].maxWinners())
		room -= whole * rows[i].maxWinners()
		into = append(into, whole)
	}
	return into
}
