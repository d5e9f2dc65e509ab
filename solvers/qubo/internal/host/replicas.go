package host

import (
	"cmp"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"sync"

	"coalesce/solvers/qubo/problem"
)

// Replica exchange (K. Hukushima and K. Nemoto, J. Phys. Soc. Jpn. 65, 1996) of 64 replicas: bit k of a word is the value of replica k. Weights
// are small multiples of one, so that what a flip gains follows from a count of bits, which is made for all replicas at once (multi-spin
// coding).
const (
	rungs         = 32 // of a ladder of temperatures, of which there are two: bits 0 to 31, the coldest first, and 32 to 63
	draws         = 1 << 10
	fewSlots      = 48 // of a variable: with the largest allowance still a number of six bits
	mostSlots     = 1 << 15
	allowance     = 15 // that a draw gives, at most
	slotsEach     = 2  // of a pair in the mean, at most
	exchangeEvery = 2  // sweeps
	lookEverySo   = 32 // sweeps after which good replicas are looked at
	coldRungs     = 8  // replicas of a ladder, one of which is looked at beside the best
	replicaSweeps = 64 // of the shortest walk
)

// ladderSpans are the coldest and the hottest temperature of both ladders, as multiples of a typical field: of few neighbours, and of more.
var ladderSpans = [2][2][2]float64{{{0.07, 0.29}, {0.09, 0.25}}, {{0.06, 0.40}, {0.06, 0.46}}}

// drawGroups are the replicas that have random numbers of their own: those next to each other on a ladder are in different ones.
var drawGroups = [4]uint64{0x0000000055555555, 0x00000000aaaaaaaa, 0x5555555500000000, 0xaaaaaaaa00000000}

// replicaRows are a problem's pairs as slots. With half a unit for each slot, a solution's value is the number of slots at complements less
// that of slots whose bits differ, x(j) ^ x(i) or x(i) and the complement of x(j). The flip of i gains what slots of i differ, and loses the others.
type replicaRows struct {
	n     int
	unit  int64
	order []int32   // variables, by their number of slots
	runs  []slotRun // of order
	start []int32   // of the slots of order[k], made even by one of the variable itself, which does not differ
	slots []uint32  // 2j, or 2j+1 for the complement; variable n is 0
	pairs []uint32  // the slots and their variables, 2i, each pair once, and made a multiple of 8 by some that do not differ
	above int64     // slots at complements
	field float64   // of a typical variable: half the root of the sum of its squared weights, in the mean

	once  sync.Once
	allow *allowed // set once replicas are made
}

// A slotRun is variables of so many slots, from the end of the run before.
type slotRun struct{ end, slots int }

// newReplicaRows lays a problem out; nil where its weights do not suit, or a variable has too many.
func newReplicaRows(p *problem.Normal) *replicaRows {
	var unit, size int64
	for _, w := range p.Weight {
		for w = max(w, -w); w != 0; {
			unit, w = w, unit%w
		}
	}
	for _, w := range p.Weight {
		size += max(w, -w) / max(1, unit)
	}
	if unit == 0 || size > slotsEach*int64(len(p.Col)) || len(p.Col) > fewSlots*p.N {
		return nil
	}
	r := &replicaRows{n: p.N, unit: unit, start: make([]int32, 1, p.N+1)}
	lists := make([][]uint32, p.N)
	for i := range p.N {
		col, weight := p.Row(i)
		twice := 2 * p.Diag[i] // a linear term beside the pairs, which count where they differ
		add := func(to uint32, positive bool, many int64, counts bool) {
			if !positive {
				to++
			}
			for range min(many, mostSlots+1) {
				lists[i] = append(lists[i], to)
				if counts {
					r.pairs, r.above = append(r.pairs, 2*uint32(i), to), r.above+int64(to&1)
				}
			}
		}
		squares := 0.0
		for k, j := range col {
			twice += weight[k]
			squares += float64(weight[k]) * float64(weight[k])
			add(2*uint32(j), weight[k] > 0, max(weight[k], -weight[k])/unit, int(j) > i)
		}
		r.field += math.Sqrt(squares) / 2 / float64(p.N)
		if add(2*uint32(p.N), twice < 0, max(twice, -twice)/unit, true); len(lists[i]) > mostSlots || twice%unit != 0 {
			return nil
		}
		r.order = append(r.order, int32(i))
	}
	slices.SortStableFunc(r.order, func(a, b int32) int { return cmp.Compare(len(lists[a]), len(lists[b])) })
	for k, i := range r.order {
		many := len(lists[i])
		if r.slots = append(r.slots, lists[i]...); many%2 != 0 {
			r.slots = append(r.slots, 2*uint32(i))
		}
		r.start = append(r.start, int32(len(r.slots)))
		if last := len(r.runs) - 1; last >= 0 && r.runs[last].slots == many {
			r.runs[last].end = k + 1
		} else {
			r.runs = append(r.runs, slotRun{k + 1, many})
		}
	}
	for len(r.pairs)%16 != 0 {
		r.pairs = append(r.pairs, 0)
	}
	return r
}

// replicas are 64 solutions.
type replicas struct {
	*replicaRows
	x      []uint64 // of variable i at 2i, and its complement
	values [64]int64
	inside [64]float64 // 1/temperature
	state  uint64
	sweeps int
}

// newReplicas draws solutions and makes the tables.
func newReplicas(rows *replicaRows, random *rand.Rand) *replicas {
	r := &replicas{replicaRows: rows, x: make([]uint64, 2*rows.n+2), state: random.Uint64() | 1}
	for i := range rows.n {
		r.x[2*i] = random.Uint64()
		r.x[2*i+1] = ^r.x[2*i]
	}
	r.x[2*rows.n+1] = ^uint64(0)
	few := 1
	if len(rows.pairs) <= 6*rows.n {
		few = 0
	}
	for k := range 64 {
		span := ladderSpans[few][k/rungs]
		r.inside[k] = 1 / (rows.field * (span[0] + (span[1]-span[0])*float64(k%rungs)/(rungs-1)))
	}
	rows.once.Do(func() { rows.allow = allowances(&r.inside, rows.unit) })
	return r
}

// An allowed loss, of a draw and all replicas: the bits of half of its half units, rounded down for even numbers of slots and up for odd ones.
type allowed [2][draws][4]uint64

// allowances are those of temperatures, whose inverses are given.
func allowances(inside *[64]float64, unit int64) *allowed {
	t := &allowed{}
	for d := range draws {
		loss := -2 * math.Log((float64(d)+0.5)/draws) / float64(unit)
		for k, inverse := range inside {
			lost := int(loss / inverse)
			for odd := range 2 {
				a := min(allowance, (lost+odd)/2)
				for b := range 4 {
					t[odd][d][b] |= uint64(a>>b&1) << k
				}
			}
		}
	}
	return t
}

// sweep visits every variable of all replicas once, by Metropolis' rule, and returns the flips made.
func (r *replicas) sweep() (flips int64) {
	x, state, k := r.x, r.state, 0
	g0, g1, g2, g3 := drawGroups[0], drawGroups[1], drawGroups[2], drawGroups[3]
	for _, run := range r.runs {
		least, allow := (run.slots+1)/2, &r.allow[run.slots&1]
		for ; k < run.end; k++ {
			i := r.order[k]
			own := x[2*i]
			state ^= state << 13
			state ^= state >> 7
			state ^= state << 17
			a, b, c, d := &allow[state>>54], &allow[state>>44&(draws-1)], &allow[state>>34&(draws-1)], &allow[state>>24&(draws-1)]
			p0 := a[0]&g0 | b[0]&g1 | c[0]&g2 | d[0]&g3
			p1 := a[1]&g0 | b[1]&g1 | c[1]&g2 | d[1]&g3
			p2 := a[2]&g0 | b[2]&g1 | c[2]&g2 | d[2]&g3
			p3 := a[3]&g0 | b[3]&g1 | c[3]&g2 | d[3]&g3
			var p4, p5 uint64
			row := r.slots[r.start[k]:r.start[k+1]]
			if run.slots > fewSlots {
				flip := acceptMany(x, row, own, [4]uint64{p0, p1, p2, p3}, least)
				flips += int64(bits.OnesCount64(flip))
				own ^= flip
				x[2*i], x[2*i+1] = own, ^own
				continue
			}
			for ; len(row) >= 4; row = row[4:] {
				u, v := x[row[0]]^own, x[row[1]]^own
				w := u ^ v
				c1 := u&v | w&p0
				p0 ^= w
				u, v = x[row[2]]^own, x[row[3]]^own
				w = u ^ v
				c2 := u&v | w&p0
				p0 ^= w
				w = c1 ^ c2
				c4 := c1&c2 | w&p1
				p1 ^= w
				t := p2 & c4
				p2 ^= c4
				c4 = p3 & t
				p3 ^= t
				t = p4 & c4
				p4 ^= c4
				p5 ^= t
			}
			if len(row) == 2 {
				u, v := x[row[0]]^own, x[row[1]]^own
				w := u ^ v
				t := u&v | w&p0
				p0 ^= w
				c4 := p1 & t
				p1 ^= t
				t = p2 & c4
				p2 ^= c4
				c4 = p3 & t
				p3 ^= t
				t = p4 & c4
				p4 ^= c4
				p5 ^= t
			}
			flip := ^uint64(0) // count and allowance are at least so many
			for at, p := range [6]uint64{p0, p1, p2, p3, p4, p5} {
				if least>>at&1 != 0 {
					flip &= p
				} else {
					flip |= p
				}
			}
			flips += int64(bits.OnesCount64(flip))
			own ^= flip
			x[2*i], x[2*i+1] = own, ^own
		}
	}
	r.state = state
	return flips
}

// acceptMany is the replicas in which so many slots of a variable differ, their allowances included, as least says.
func acceptMany(x []uint64, row []uint32, own uint64, allow [4]uint64, least int) uint64 {
	var planes [18]uint64
	copy(planes[:], allow[:])
	for _, to := range row {
		carry := x[to] ^ own
		for at := 0; carry != 0; at++ {
			planes[at], carry = planes[at]^carry, planes[at]&carry
		}
	}
	flip := ^uint64(0)
	for at, p := range planes {
		if least>>at&1 != 0 {
			flip &= p
		} else {
			flip |= p
		}
	}
	return flip
}

// value computes the values of all replicas.
func (r *replicas) value() {
	var planes [40]uint64
	var ones, twos, fours uint64
	x := r.x
	add := func(a, b, c uint64) (sum, carry uint64) {
		w := a ^ b
		return w ^ c, a&b | w&c
	}
	for q := r.pairs; len(q) >= 16; q = q[16:] {
		var t1, t2, t3, t4 uint64
		ones, t1 = add(ones, x[q[0]]^x[q[1]], x[q[2]]^x[q[3]])
		ones, t2 = add(ones, x[q[4]]^x[q[5]], x[q[6]]^x[q[7]])
		twos, t3 = add(twos, t1, t2)
		ones, t1 = add(ones, x[q[8]]^x[q[9]], x[q[10]]^x[q[11]])
		ones, t2 = add(ones, x[q[12]]^x[q[13]], x[q[14]]^x[q[15]])
		twos, t4 = add(twos, t1, t2)
		fours, t1 = add(fours, t3, t4)
		for at := 3; t1 != 0; at++ {
			planes[at], t1 = planes[at]^t1, planes[at]&t1
		}
	}
	planes[0], planes[1], planes[2] = ones, twos, fours
	for k := range r.values {
		differ := int64(0)
		for at, p := range planes {
			differ |= int64(p>>k&1) << at
		}
		r.values[k] = (r.above - differ) * r.unit / 2
	}
}

// best is the replica of the largest value.
func (r *replicas) best() (best int) {
	for k, v := range r.values {
		if v > r.values[best] {
			best = k
		}
	}
	return best
}

// exchange exchanges replicas next to each other on a ladder, of even or of odd numbers.
func (r *replicas) exchange(random *rand.Rand, logs *logTable) {
	var moved uint64
	for k := r.sweeps / exchangeEvery % 2; k+1 < 64; k += 2 {
		if k%rungs == rungs-1 {
			continue
		}
		if (r.inside[k]-r.inside[k+1])*float64(r.values[k+1]-r.values[k]) >= logs[random.Uint64()>>52] {
			moved |= 1 << k
			r.values[k], r.values[k+1] = r.values[k+1], r.values[k]
		}
	}
	if moved == 0 {
		return
	}
	for i := 0; i < 2*r.n; i += 2 {
		t := (r.x[i] ^ r.x[i]>>1) & moved
		own := r.x[i] ^ t ^ t<<1
		r.x[i], r.x[i+1] = own, ^own
	}
}

// copyTo copies replica k.
func (r *replicas) copyTo(x []uint64, k int) {
	clear(x)
	for i := range r.n {
		x[i>>6] |= r.x[2*i] >> k & 1 << (i & 63)
	}
}

// set makes x replica k.
func (r *replicas) set(x []uint64, k int) {
	for i := range r.n {
		own := r.x[2*i]&^(1<<k) | problem.Bit(x, i)<<k
		r.x[2*i], r.x[2*i+1] = own, ^own
	}
}

// cost is that of a sweep, in units of about a nanosecond.
func (r *replicaRows) cost() float64 { return 12*float64(r.n) + 0.8*float64(len(r.slots)) }

// exchange goes on with the replicas of the searcher for a walk. An elite takes the place of a cold one. The best replica, now and then, and
// a cold one ascend, and are crossed with the best solution of the walk.
func (s *searcher[S]) exchange() bool {
	random := rand.New(s.random)
	if s.replicas == nil {
		s.replicas = newReplicas(s.replicaRows, random)
	}
	r := s.replicas
	if s.course.from != nil {
		r.set(s.course.from, rungs+1)
	}
	rows := s.m.sparse()
	for range replicaSweeps << (2 * s.course.length) {
		flips := r.sweep()
		if r.sweeps++; r.sweeps%exchangeEvery == 0 {
			r.value()
			r.exchange(random, s.logs)
		}
		if !s.countWork(r.cost(), flips) {
			return false
		}
		if r.sweeps%lookEverySo != 0 {
			continue
		}
		for _, k := range [2]int{r.best(), rungs*random.IntN(2) + random.IntN(coldRungs)} {
			copy(s.middle, s.bestX)
			r.copyTo(s.free, k)
			flips := s.flipTowards(s.free)
			_, add := s.m.flipCosts()
			if !s.countWork(add*float64(flips), flips) || !s.ascend() || rows != nil && !s.cross(rows, s.middle) {
				return false
			}
		}
	}
	return s.ascend()
}
