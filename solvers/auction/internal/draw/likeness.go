package draw

import (
	"cmp"
	"math"
	"slices"
)

// The parameters of arbitrary and regions.
const (
	maxCommonValue = 100.0 // a good's common value is U(1, maxCommonValue)
	deviation      = 0.5   // of uniform private values, in maxCommonValue
	stdev          = 30.0  // of normal private values
	oneMoreGood    = 0.9   // probability of one more good
	jump           = 0.05  // probability that the next good is any good, in regions
	unjoined       = 0.1   // probability that two neighbours are not joined
	diagonal       = 0.2   // probability that two diagonal neighbours are joined
	additivity     = 0.2   // a bundle of k goods is worth k^1.2 more than the goods by themselves
	budget         = 1.5   // an alternative's price is at most so many times that of the first bid
	resale         = 0.5   // an alternative's common value is at least this share of the first bid's
	substitutes    = 5     // most alternatives of a bidder
)

// A market has goods, and the private values of one bidder.
type market struct {
	*drawer
	like    [][]float64 // of each pair of goods
	jumps   float64
	common  []float64
	private []float64
	weight  []float64 // of a good, for the bidder; they add up to 1
	drawn   []float64 // weights of the goods that a bundle may take
	lowest  float64   // of the normal private values so far
}

// A bundle is goods in the order in which they were taken.
type bundle struct {
	goods  []int
	set    []uint64
	likes  []float64 // of each good, added up over the goods that were taken
	value  float64
	common float64
}

// drawLikeness is arbitrary and regions: a bidder likes a good, and others the more the more
// they are like those it has; alternatives begin with each of the goods of its first bid.
func (d *drawer) drawLikeness(arbitrary, normal bool) error {
	m := &market{drawer: d, common: make([]float64, d.goods), private: make([]float64, d.goods), weight: make([]float64, d.goods), drawn: make([]float64, d.goods), lowest: 1000 * stdev}
	if arbitrary {
		m.strangers()
	} else {
		m.jumps = jump
		m.plots()
	}
	for g := range m.common {
		m.common[g] = d.uniform(1, maxCommonValue)
	}
	for {
		if full, err := d.hasEnough(); full || err != nil {
			return err
		}
		m.opinion(normal)
		first := m.bundle(m.pick(m.weight))
		for d.rand.Float64() <= oneMoreGood {
			m.grow(first)
		}
		if m.price(first); first.value <= 0 {
			continue
		}
		var others []*bundle
		for _, g := range first.goods {
			b := m.bundle(g)
			for len(b.goods) < len(first.goods) {
				m.grow(b)
			}
			m.price(b)
			others = append(others, b)
		}
		slices.SortStableFunc(others, func(a, b *bundle) int { return cmp.Compare(b.value, a.value) })
		chosen := []*bundle{first}
		for _, b := range others {
			known := slices.ContainsFunc(chosen, func(c *bundle) bool { return slices.Equal(b.set, c.set) })
			if !known && len(chosen) <= substitutes && b.value >= 0 && b.value <= budget*first.value && b.common >= resale*first.common {
				chosen = append(chosen, b)
			}
		}
		var bids []Bid
		for _, b := range chosen {
			bids = append(bids, Bid{Price: b.value, Goods: b.goods})
		}
		d.addBidder(bids)
	}
}

// strangers are goods that are alike at random.
func (m *market) strangers() {
	m.like = make([][]float64, m.goods)
	for a := range m.like {
		m.like[a] = make([]float64, m.goods)
		for b := range a {
			m.like[a][b] = 1 - m.rand.Float64() // in (0, 1]
			m.like[b][a] = m.like[a][b]
		}
	}
}

// plots places goods on the largest square grid that they fill; the remaining goods have no neighbours.
func (m *market) plots() {
	side := int(math.Sqrt(float64(m.goods)))
	for {
		m.like = make([][]float64, m.goods)
		for a := range m.like {
			m.like[a] = make([]float64, m.goods)
		}
		join := func(r, c, x, y int) {
			if r < side && c < side && x < side && y < side {
				m.like[r*side+c][x*side+y], m.like[x*side+y][r*side+c] = 1, 1
			}
		}
		for r := range side {
			for c := range side {
				if m.rand.Float64() > unjoined {
					join(r, c, r+1, c)
				}
				if m.rand.Float64() > unjoined {
					join(r, c, r, c+1)
				}
				if m.rand.Float64() < diagonal {
					if m.rand.IntN(2) == 0 {
						join(r, c, r+1, c+1)
					} else {
						join(r+1, c, r, c+1)
					}
				}
			}
		}
		lonely := slices.ContainsFunc(m.like[:side*side], func(row []float64) bool { return !slices.Contains(row, 1) })
		if !lonely || side == 1 {
			return
		}
	}
}

// opinion draws a bidder's private values.
func (m *market) opinion(normal bool) {
	total := 0.0
	for g := range m.private {
		if normal {
			m.private[g] = stdev * m.rand.NormFloat64()
			m.lowest = min(m.lowest, m.private[g])
		} else {
			m.private[g] = m.uniform(-deviation*maxCommonValue, deviation*maxCommonValue)
		}
	}
	low := -deviation * maxCommonValue
	if normal {
		low = m.lowest
	}
	for g, p := range m.private {
		m.weight[g] = p - low
		total += m.weight[g]
	}
	for g := range m.weight {
		if m.weight[g] /= total; total == 0 { // there is one good alone
			m.weight[g] = 1 / float64(m.goods)
		}
	}
}

// pick draws a good by weights, of which one is above 0.
func (m *market) pick(weights []float64) int {
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	at, last := m.rand.Float64()*sum, 0
	for g, w := range weights {
		if w > 0 {
			if last = g; at < w {
				return g
			}
		}
		at -= w
	}
	return last
}

func (m *market) bundle(good int) *bundle {
	b := &bundle{set: make([]uint64, m.words), likes: make([]float64, m.goods)}
	m.take(b, good)
	return b
}

func (b *bundle) has(g int) bool { return b.set[g>>6]>>(g&63)&1 != 0 }

func (m *market) take(b *bundle, good int) {
	b.goods = append(b.goods, good)
	b.set[good>>6] |= 1 << (good & 63)
	for g, like := range m.like[good] {
		b.likes[g] += like
	}
	for _, g := range b.goods {
		b.likes[g] = 0
	}
}

// grow adds a good to the bundle, if some good outside is like those inside.
func (m *market) grow(b *bundle) {
	if len(b.goods) == m.goods {
		return
	}
	if m.rand.Float64() < m.jumps {
		for {
			if g := m.rand.IntN(m.goods); !b.has(g) {
				m.take(b, g)
				return
			}
		}
	}
	some := false
	for g, like := range b.likes {
		m.drawn[g] = m.weight[g] * like
		some = some || m.drawn[g] > 0
	}
	if some {
		m.take(b, m.pick(m.drawn))
	}
}

// price sets the bundle's value to the bidder, and its common value.
func (m *market) price(b *bundle) {
	for _, g := range b.goods {
		b.value += m.common[g] + m.private[g]
		b.common += m.common[g]
	}
	b.value += math.Pow(float64(len(b.goods)), 1+additivity)
}
