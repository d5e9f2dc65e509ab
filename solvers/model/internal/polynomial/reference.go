package polynomial

import (
	"math"
	"math/bits"
)

// A reference is the walks of one launch on the host, step by step as a kernel makes them, but with the change of the value by a flip from
// the monomials themselves.
type reference struct {
	n         int
	monomials []monomial
	elite     [][]uint8
	values    []int64
}

func splitmix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func mix(a, b uint32) uint32 {
	a = (a ^ b*0x9e3779b9) * 0x85ebca6b
	a = (a ^ a>>15) * 0x2c1b3c6d
	return a ^ a>>13
}

// A generator is a linear congruential one, mixed.
type generator struct{ state, step uint32 }

func newGenerator(key uint64) *generator {
	h := splitmix(key)
	return &generator{uint32(h), uint32(h>>32) | 1}
}

func (g *generator) next() uint32 {
	g.state = g.state*1664525 + g.step
	x := g.state
	x = (x ^ x>>15) * 0x2c1b3c6d
	return x ^ x>>12
}

func (g *generator) below(k int) int { return int(uint64(g.next()) * uint64(uint32(k)) >> 32) }

// value is the polynomial's.
func (m *reference) value(x []uint8) (sum int64) {
	for k := range m.monomials {
		p := &m.monomials[k]
		ones := 0
		for _, i := range p.variables {
			ones += int(x[i])
		}
		switch {
		case p.spins && (len(p.variables)-ones)%2 == 1:
			sum -= p.coefficient
		case p.spins || ones == len(p.variables):
			sum += p.coefficient
		}
	}
	return sum
}

// start makes the bits with which a run of walk k begins.
func (m *reference) start(k int, random *generator) []uint8 {
	kind, coins := random.next()>>29, random.next()
	var pick [2]int
	for e := range pick {
		a, b := random.below(len(m.elite)), random.below(len(m.elite))
		if pick[e] = a; m.values[b] < m.values[a] {
			pick[e] = b
		}
	}
	rare := 2 + random.below(4)
	if kind < 6 {
		rare = bits.Len32(uint32(m.n))
	}
	x := make([]uint8, m.n)
	for i := range x {
		w, b := uint32(i/32), i%32
		drawn, change := uint8(mix(coins, w)>>b&1), uint8(1)
		for r := 1; r <= rare; r++ {
			change &= uint8(mix(coins+uint32(r), w) >> b & 1)
		}
		switch {
		case kind == 0:
			x[i] = drawn
		case kind < 6 && drawn == 1:
			x[i] = m.elite[pick[0]][i] ^ change
		case kind < 6:
			x[i] = m.elite[pick[1]][i] ^ change
		default:
			x[i] = m.elite[k][i] ^ change
		}
	}
	return x
}

// run makes the steps of walk k, and returns the best bits and their value.
func (m *reference) run(k, steps int, seed, round uint64) (bestX []uint8, top int64) {
	random := newGenerator(splitmix(seed) + splitmix(round<<32|uint64(k)))
	top = math.MaxInt64
	if k%2 == 0 {
		top, bestX = m.values[k], append([]uint8(nil), m.elite[k]...)
	}
	var x []uint8
	var value, best int64
	until := make([]int, m.n)
	keep := func() {
		best = min(best, value)
		if value < top {
			top, bestX = value, append([]uint8(nil), x...)
		}
	}
	stay, more := 2+min(m.n, 200)/12, 2+min(m.n, 400)/25
	now, end := 0, 0
	for range steps {
		if now == end {
			x = m.start(k, random)
			value = m.value(x)
			best, now = value, 0
			clear(until)
			end = (1 + m.n/2 + random.below(m.n)) << (2 * (k % 4))
			keep()
		}
		salt := random.next()
		v, least, key := -1, int64(math.MaxInt64), uint32(0)
		for i := range x {
			x[i] ^= 1
			change := m.value(x) - value
			x[i] ^= 1
			if until[i] > now && value+change >= best {
				continue
			}
			if own := mix(salt, uint32(i))<<16 | uint32(i); change < least || change == least && own < key {
				v, least, key = i, change, own
			}
		}
		if v < 0 {
			v = random.below(m.n)
		}
		x[v] ^= 1
		value = m.value(x)
		now++
		until[v] = now + stay + random.below(more)
		keep()
	}
	return bestX, top
}
