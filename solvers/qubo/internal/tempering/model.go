package tempering

import (
	"math"
	"math/bits"

	"coalesce/generated/qubo"
	"coalesce/solvers/qubo/internal/draw"
	"coalesce/solvers/qubo/problem"
)

// A model is a plain Go version of a block of qubo/temper, for tests: it gives the same words, bit
// by bit.
type model struct {
	p      *problem.Normal
	form   temperForm
	layout *temperLayout
	place  []int32 // of a variable
	x      []uint32
	kept   []uint32
	best   int64
	value  [replicas]int64
	flips  int64
	grown  [2]int64 // variables exchanged by cluster moves, and those that differed
	random [][replicas]lcg
	turn   int
}

// lcg is the device's generator of random numbers, Random.
type lcg struct{ state, step uint32 }

func (r *lcg) next() uint32 {
	r.state = r.state*1664525 + r.step
	return r.state
}

// cost is -log2 of a number drawn from (0, 1), times 2^26, with the logarithm replaced by its
// chords between powers of 2.
func (r *lcg) cost() uint32 {
	d := r.next() | 1
	zeros := bits.LeadingZeros32(d)
	return uint32(zeros+1)<<26 - d<<zeros<<1>>6
}

func newModel(p *problem.Normal, f temperForm, l *temperLayout) *model {
	m := &model{p: p, form: f, layout: l, place: make([]int32, p.N), x: make([]uint32, p.N), kept: make([]uint32, (p.N+31)/32)}
	for k, i := range l.order {
		m.place[i] = int32(k)
	}
	return m
}

// round is the work of one of blocks blocks in a launch.
func (m *model) round(seed uint64, number, block, blocks, sweeps, every int, ladder []int64) {
	key := draw.Splitmix(draw.Splitmix(seed) + uint64(number*blocks+block))
	m.random = make([][replicas]lcg, m.form.block/32)
	for w := range m.random {
		for k := range m.random[w] {
			h := draw.Splitmix(key + uint64(32*w+k))
			m.random[w][k] = lcg{uint32(h), uint32(h>>32) | 1}
		}
	}
	if number == 0 {
		m.best = math.MinInt64
		for i := range m.x {
			m.x[i] = uint32(draw.Splitmix(key + uint64(m.form.block+i)))
		}
	}
	m.turn, m.flips, m.grown = 0, 0, [2]int64{}
	m.measure()
	m.settle(ladder)
	for done := range sweeps {
		for k := range replicas {
			from, to := ladder[qubo.TemperLadderFrom+k], ladder[qubo.TemperLadderTo+k]
			m.sweep(k, uint32(from+(to-from)*int64(done)/int64(sweeps)))
		}
		if every > 0 && (done+1)%every == 0 {
			m.cluster(ladder)
			m.measure()
		}
		m.settle(ladder)
	}
}

// solution is x of replica k.
func (m *model) solution(k int) []uint64 {
	x := make([]uint64, problem.Words(m.p.N))
	for i, at := range m.place {
		x[i>>6] |= uint64(m.x[at]>>k&1) << (i & 63)
	}
	return x
}

func (m *model) measure() {
	for k := range replicas {
		m.value[k] = m.p.Value(m.solution(k)) << m.form.shift
	}
}

// gain is the gain of flipping variable i in replica k, scaled as on the device.
func (m *model) gain(i, k int) int64 {
	g := m.p.Diag[i]
	col, weight := m.p.Row(i)
	for e, j := range col {
		g += weight[e] * int64(m.x[m.place[j]]>>k&1)
	}
	if m.x[m.place[i]]>>k&1 != 0 {
		g = -g
	}
	return g << m.form.shift
}

// sweep visits every variable of replica k, in the order of the warps, as if one warp ran after
// the other.
func (m *model) sweep(k int, temperature uint32) {
	l := m.layout
	for c := range len(l.colours) - 1 {
		for w := range m.random {
			for t := int(l.colours[c]) + w; t < int(l.colours[c+1]); t += len(m.random) {
				for _, v := range l.visits[l.chunks[l.tasks[t]]:l.chunks[l.tasks[t+1]]] {
					if v.place&qubo.TemperLast == 0 {
						continue
					}
					at := v.place &^ qubo.TemperLast
					gain := m.gain(int(l.order[at]), k)
					high, _ := bits.Mul32(m.random[w][k].cost(), temperature)
					if gain+int64(high) >= 0 {
						m.x[at] ^= 1 << k
						m.value[k] += gain
						m.flips++
					}
				}
			}
		}
	}
}

func (m *model) settle(ladder []int64) {
	top := 0
	for k, v := range m.value {
		if v > m.value[top] {
			top = k
		}
	}
	if m.value[top] > m.best {
		m.best = m.value[top]
		clear(m.kept)
		for i, w := range m.x {
			m.kept[i/32] |= w >> top & 1 << (i % 32)
		}
	}
	for k := m.turn % 2; k+1 < replicas; k += 2 {
		cool := math.Float64frombits(uint64(ladder[qubo.TemperLadderCool+k]))
		if cool*float64(m.value[k+1]-m.value[k]) < -float64(m.random[0][k].cost()) {
			continue
		}
		m.value[k], m.value[k+1] = m.value[k+1], m.value[k]
		for i, w := range m.x {
			differ := (w ^ w>>1) & (1 << k)
			m.x[i] = w ^ differ ^ differ<<1
		}
	}
	m.turn++
}

// cluster exchanges a cluster in each pair of replicas of one temperature.
func (m *model) cluster(ladder []int64) {
	for k := 0; k < replicas; k += 2 {
		if ladder[qubo.TemperLadderFrom+k] != ladder[qubo.TemperLadderFrom+k+1] {
			continue
		}
		differs := func(at int) bool { return (m.x[at]^m.x[at]>>1)>>k&1 != 0 }
		for at := range m.x {
			if differs(at) {
				m.grown[1]++
			}
		}
		var reached []int
		for range 32 {
			high, _ := bits.Mul32(m.random[0][k].next(), uint32(m.p.N))
			if differs(int(high)) {
				reached = append(reached, int(high))
				break
			}
		}
		seen := make([]bool, m.p.N)
		for _, at := range reached {
			seen[at] = true
		}
		for next := 0; next < len(reached); next++ {
			col, _ := m.p.Row(int(m.layout.order[reached[next]]))
			for _, j := range col {
				if at := int(m.place[j]); !seen[at] && differs(at) {
					seen[at] = true
					reached = append(reached, at)
				}
			}
		}
		for _, at := range reached {
			m.x[at] ^= 3 << k
		}
		m.grown[0] += int64(len(reached))
	}
}
