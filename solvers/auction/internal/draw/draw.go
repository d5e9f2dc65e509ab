// Package draw draws combinatorial auctions of the distributions of CATS (Leyton-Brown,
// Pearson and Shoham, "Towards a universal test suite for combinatorial auction
// algorithms", EC 2000), with the parameters that its program has by default and as that
// program reads them. Draws are those of PCG: the same name, sizes and seed give the same
// auction on every machine, and not that of the program.
package draw

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// A Bid asks for goods, 0 to Auction.Goods-1, without order.
type Bid struct {
	Price float64
	Goods []int
	Group int // bids of a group are alternatives of one bidder; -1: none
}

// An Auction is what was drawn.
type Auction struct {
	Goods  int
	Groups int
	Bids   []Bid
}

// A Distribution is named as CATS names it.
type Distribution struct {
	Name  string
	About string // one line
	draw  func(*drawer) error
}

// Distributions are all that are known.
func Distributions() []Distribution {
	list := []Distribution{
		{"arbitrary", "goods with random likenesses; prices as regions", func(d *drawer) error { return d.drawLikeness(true, d.rand.IntN(2) == 1) }},
		{"arbitrary-npv", "private values N(0, 30) a good", func(d *drawer) error { return d.drawLikeness(true, true) }},
		{"arbitrary-upv", "private values U(-50, 50) a good", func(d *drawer) error { return d.drawLikeness(true, false) }},
		{"regions", "plots on a grid with some neighbours cut and some diagonals joined, npv or upv", func(d *drawer) error { return d.drawLikeness(false, d.rand.IntN(2) == 1) }},
		{"regions-npv", "private values N(0, 30) a good", func(d *drawer) error { return d.drawLikeness(false, true) }},
		{"regions-upv", "private values U(-50, 50) a good", func(d *drawer) error { return d.drawLikeness(false, false) }},
		{"paths", "roads between random cities, any of a bidder's 5 shortest ways; the goods are about as many", (*drawer).drawPaths},
		{"matching", "slots to take off and to land at 4 airports; goods are a multiple of 4", (*drawer).drawMatching},
		{"scheduling", "runs of time slots on a machine, worth less after a deadline", (*drawer).drawScheduling},
	}
	for k, about := range []string{
		"1 to all goods, U(0, 1000)", "1 to all goods, U(1, 1000) a good", "3 goods, U(0, 1000)", "one more good with probability 0.55, U(1, 1000) a good",
		"N(4, 1) goods, N(16, 3)", "exponentially many goods of mean 5, U(1, 1000) a good", "each good with probability 0.2, U(1, 1000) a good", "3 goods, price 0: CATS has no prices for it",
	} {
		list = append(list, Distribution{fmt.Sprintf("L%d", k+1), about, func(d *drawer) error { return d.drawLegacy(k + 1) }})
	}
	return list
}

// Largest sizes.
const (
	MaxGoods = 1 << 12
	MaxBids  = 1 << 15
)

// Draw draws at least so many bids; it keeps all bids of the last bidder. A bid is left out if
// another bid of the same group of alternatives, or of none, offers as much or more for the same
// goods or some of them.
func Draw(name string, goods, bids int, seed uint64) (*Auction, error) {
	if goods < 1 || goods > MaxGoods || bids < 0 || bids > MaxBids {
		return nil, fmt.Errorf("found %d goods and %d bids, expected 1 to %d goods and at most %d bids", goods, bids, MaxGoods, MaxBids)
	}
	for _, one := range Distributions() {
		if one.Name != name {
			continue
		}
		d := newDrawer(goods)
		d.rand, d.want = rand.New(rand.NewPCG(seed, 0)), bids
		if err := one.draw(d); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return &d.made, nil
	}
	return nil, fmt.Errorf("found the distribution %.40q, expected one of CATS's", name)
}

// Footprint is about how many bytes Draw takes at most.
func Footprint(name string, goods, bids int) int64 {
	each := 8
	switch name {
	case "L1", "L2":
		each = goods / 2
	case "L7":
		each = goods / 5
	}
	bytes := int64(bids) * int64(goods/8+16*each+512)
	if strings.HasPrefix(name, "arbitrary") || strings.HasPrefix(name, "regions") {
		bytes += 8 * int64(goods) * int64(goods) // how alike goods are
	}
	return bytes
}

type drawer struct {
	rand  *rand.Rand
	goods int
	want  int // bids
	words int // of a set of goods
	made  Auction
	sets  [][]uint64 // of the goods of made.Bids
	idle  int        // how many bidders in a row have added no bid
}

func newDrawer(goods int) *drawer {
	return &drawer{rand: rand.New(rand.NewPCG(0, 0)), goods: goods, words: (goods + 63) / 64, made: Auction{Goods: goods}}
}

// hasEnough reports whether there are enough bids, or returns an error if further bidders add none.
func (d *drawer) hasEnough() (bool, error) {
	if len(d.made.Bids) >= d.want {
		return true, nil
	}
	if d.idle > 20000 {
		return false, fmt.Errorf("found %d bids of which none replaces another, expected %d: ask for fewer bids or for more goods", len(d.made.Bids), d.want)
	}
	return false, nil
}

// addBidder adds a bidder's bids: alternatives, or one bid alone.
func (d *drawer) addBidder(bids []Bid) {
	group := -1
	if len(bids) > 1 {
		group = d.made.Groups
	}
	before := len(d.made.Bids)
	for _, b := range bids {
		b.Group = group
		d.add(b)
	}
	if d.idle++; len(d.made.Bids) > before {
		d.idle = 0
	}
	if group >= 0 {
		d.made.Groups++
	}
}

// add adds a bid unless another bid replaces it, and removes the bids that it replaces.
func (d *drawer) add(b Bid) {
	set := make([]uint64, d.words)
	for _, g := range b.Goods {
		set[g>>6] |= 1 << (g & 63)
	}
	kept := 0
	for k, other := range d.made.Bids {
		if other.Price >= b.Price && (other.Group < 0 || other.Group == b.Group) && within(d.sets[k], set) {
			return // b replaces no bid that remains, as `other` would have replaced that bid too
		}
		if b.Price >= other.Price && (b.Group < 0 || b.Group == other.Group) && within(set, d.sets[k]) {
			continue
		}
		d.made.Bids[kept], d.sets[kept] = other, d.sets[k]
		kept++
	}
	d.made.Bids, d.sets = append(d.made.Bids[:kept], b), append(d.sets[:kept], set)
}

func within(a, b []uint64) bool {
	for k, w := range a {
		if w&^b[k] != 0 {
			return false
		}
	}
	return true
}

// uniform is U(low, high).
func (d *drawer) uniform(low, high float64) float64 { return low + d.rand.Float64()*(high-low) }

// drawLegacy are the distributions L1 to L8, of papers before CATS.
func (d *drawer) drawLegacy(which int) error {
	if (which == 3 || which == 8) && d.goods < 3 {
		return fmt.Errorf("found %d goods, expected at least 3", d.goods)
	}
	for {
		if full, err := d.hasEnough(); full || err != nil {
			return err
		}
		count := d.bundleSize(which)
		price := 0.0
		switch which {
		case 1, 3:
			price = d.uniform(0, 1000)
		case 2, 4, 6, 7:
			price = float64(count) * d.uniform(1, 1000)
		case 5:
			price = 16 + 3*d.rand.NormFloat64()
		}
		d.addBidder([]Bid{{Price: price, Goods: slices.Clone(d.rand.Perm(d.goods)[:count])}})
	}
}

// bundleSize is the number of goods in a bid of a legacy distribution.
func (d *drawer) bundleSize(which int) int {
	for {
		count := 0
		switch which {
		case 1, 2:
			count = 1 + d.rand.IntN(d.goods)
		case 3, 8:
			count = 3
		case 4:
			for count < d.goods && d.rand.Float64() <= 0.55 {
				count++
			}
		case 5:
			count = int(math.Round(4 + d.rand.NormFloat64()))
		case 6:
			const q = 5
			count = 1 + int(-q*math.Log(1-(1-math.Exp(-float64(d.goods)/q))*d.rand.Float64()))
		case 7:
			for range d.goods {
				if d.rand.Float64() < 0.2 {
					count++
				}
			}
		}
		if count > 0 && count <= d.goods {
			return count
		}
	}
}

// drawScheduling: a bidder needs a machine for a run of slots, by a deadline, or by later ones
// for less. Deadlines are counted from 1 in prices.
func (d *drawer) drawScheduling() error {
	const longest, deviation, again, additivity = 10, 0.5, 0.7, 0.2
	for {
		if full, err := d.hasEnough(); full || err != nil {
			return err
		}
		length := 1 + d.rand.IntN(min(longest, d.goods))
		first := length - 1 + d.rand.IntN(d.goods-length+1)
		worth := d.uniform(1-deviation, 1+deviation) * math.Pow(float64(length), 1+additivity)
		var bids []Bid
		for before, deadline := -1, first; ; {
			for start := max(0, before-length+2); start+length-1 <= deadline; start++ {
				b := Bid{Price: worth * float64(first+1) / float64(deadline+1)}
				for g := start; g < start+length; g++ {
					b.Goods = append(b.Goods, g)
				}
				bids = append(bids, b)
			}
			if before = deadline; before == d.goods-1 {
				break
			}
			deadline = before + 1 + d.rand.IntN(d.goods-before-1)
			if d.rand.Float64() > again {
				break
			}
		}
		d.addBidder(bids)
	}
}

// The airports of matching, by longitude and latitude: Chicago, Washington, Kennedy and
// La Guardia, between the last two of which nobody flies.
var airports = [4][2]float64{{-87.75, 41.98333333}, {-77.03333333, 38.85}, {-73.783333, 40.65}, {-73.8666666, 40.76666666}}

// airportDistance is the distance of two airports, in degrees.
func airportDistance(a, b int) float64 {
	return math.Hypot(airports[a][0]-airports[b][0], airports[a][1]-airports[b][1])
}

// drawMatching: a bidder needs a slot to take off and one to land, of slots by time and
// airport. Landing early is worth more, by the formula that CATS prints and has.
func (d *drawer) drawMatching() error {
	const dearest, early, late, deviation, delayed, amount = 5, 1, 2, 0.5, 0.9, 0.75
	if d.goods%len(airports) != 0 {
		return fmt.Errorf("found %d goods, expected a multiple of %d: the airports", d.goods, len(airports))
	}
	times := d.goods / len(airports)
	var cost [len(airports)]float64
	for k := range cost {
		cost[k] = d.uniform(0, dearest)
	}
	for {
		if full, err := d.hasEnough(); full || err != nil {
			return err
		}
		from, to := d.rand.IntN(len(airports)), d.rand.IntN(len(airports))
		if from == to || from+to == 5 {
			continue
		}
		flight := int(math.Round(float64(min(10, times-1)) * airportDistance(from, to) / airportDistance(0, 2)))
		start := 1
		if times > flight {
			start += d.rand.IntN(times - flight)
		}
		worth := d.uniform(1-deviation, 1+deviation) * (cost[from] + cost[to])
		var bids []Bid
		for off := max(1, start-early); off <= min(times, start+late); off++ {
			for land := off + flight; land <= min(start+flight+late, times); land++ {
				lateness, delay := min(land-start-flight, 0), max(land-off-flight, 0)
				price := worth * math.Pow(delayed, float64(delay)) * math.Pow(amount, float64(lateness))
				goods := []int{(off-1)*len(airports) + from, (land-1)*len(airports) + to}
				bids = append(bids, Bid{Price: price, Goods: goods})
			}
		}
		d.addBidder(bids)
	}
}
