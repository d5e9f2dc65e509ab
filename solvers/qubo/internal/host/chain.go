package host

import (
	"cmp"
	"math"
	"slices"

	"coalesce/solvers/qubo/internal/draw"
	"coalesce/solvers/qubo/problem"
)

// Chains of flips serve problems with constraints as penalties, whose one-flip neighbours break a constraint.
const (
	chainsFrom  = 16   // times the median of the weights that the largest is, from which chains are made
	slacksFrom  = 4    // and from which slacks are looked for, with which they are made, too
	chainLength = 128  // flips of a chain, at most
	chainPast   = 3    // of its flips past its best end
	chainSweeps = 4    // chains a variable in the shortest walk
	chainLow    = 0.05 // share of the losses of chains below the unit of temperatures
	chainRate   = 0.2  // at which the unit follows losses
	chainBroken = 20   // units from which a loss is a penalty
	leastDigits = 3    // of a number: two variables of which one has twice the weights are chance
	mostDigits  = 62
	chainRests  = 6 // binary orders of the chains that a variable rests for whose chains end with a penalty
)

// penaltiesOf reports whether p, whose largest weight is given, has weights that are far larger than most, as penalties are, or large ones
// and slacks, which it returns.
func penaltiesOf(p *problem.Normal, largest int64) (*slacks, bool) {
	if len(p.Weight) == 0 {
		return nil, false
	}
	const look = 512 // weights, spread over all
	step := max(1, len(p.Weight)/look)
	var sample []int64
	for k := 0; k < len(p.Weight); k += step {
		sample = append(sample, max(p.Weight[k], -p.Weight[k]))
	}
	slices.Sort(sample)
	most := max(1, sample[len(sample)/2])
	if largest < slacksFrom*most {
		return nil, false
	}
	s := newSlacks(p)
	return s, largest >= chainsFrom*most || len(s.numbers) > 0
}

// chain anneals chains of flips (Glover 1996, ejection chains): a variable, drawn at random, flips, and the best flip of one that has
// not flipped follows, until chainPast flips have found no better end. The chain up to its best end is accepted by Metropolis' rule, or
// taken back. Temperatures are multiples of a loss that few chains stay below, which penalties do not enter. Variables whose chains end
// with a penalty are drawn less often: those that others decide.
func (s *searcher[S]) chain() bool {
	if !s.ascend() {
		return false
	}
	n := s.p.N
	step, add := s.m.flipCosts()
	s.setBits(s.free)
	chains := chainSweeps * n << (2 * s.course.length)
	high := math.Exp2(7*float64(s.random.Uint64()>>11)/(1<<53) - 4)
	unit, up, down := 1.0, math.Exp(chainRate*chainLow), math.Exp(chainRate*(chainLow-1))
	rest := make([]uint8, n)
	for k := range chains {
		first := int(s.random.Uint64() >> 32 * uint64(n) >> 32)
		if r := rest[first]; r > 0 && s.random.Uint64()>>(64-r) != 0 {
			if !s.countWork(1, 0) {
				return false
			}
			continue
		}
		before := s.value
		if s.group = append(s.group[:0], int32(first)); s.random.Uint64()&1 != 0 {
			s.group = s.slacks.follow(s.group, s.x)
		}
		end := s.grow()
		flips := 2*len(s.group) - end
		s.shorten(end)
		if lost := float64(before - s.value); lost > 0 {
			if lost > unit {
				unit *= up
			} else {
				unit *= down
			}
			if lost > chainBroken*unit {
				rest[first] = min(rest[first]+1, chainRests)
			} else {
				rest[first] = 0
			}
			if -lost < unit*high*(1-float64(k)/float64(chains))*s.logs[s.random.Uint64()>>52] {
				s.shorten(0)
				flips += end
			}
		}
		if s.value > s.best {
			s.keepBest()
		}
		if !s.countWork(step*float64(len(s.group))+add*float64(flips), int64(flips)) {
			return false
		}
	}
	return s.ascend()
}

// grow flips the variables of s.group, then appends those of the chain that follows, and returns the length at which the value was best,
// at least that of the beginning. All are free again.
func (s *searcher[S]) grow() (end int) {
	begin, top := len(s.group), int64(math.MinInt64)
	limit := min(begin+chainLength, s.p.N-1)
	for k := 0; k < len(s.group); k++ {
		at := int(s.group[k])
		s.free[at>>6] &^= 1 << (at & 63)
		next := s.m.step(at, s.flipBit(at), s.field, s.x, s.free, int(s.random.Uint64()&63)).At
		if k+1 < begin {
			continue
		}
		if s.value > top {
			top, end = s.value, k+1
		}
		if k+1 < limit && k+1-end <= chainPast {
			s.group = append(s.group, int32(next))
		}
	}
	for _, i := range s.group {
		s.free[i>>6] |= 1 << (i & 63)
	}
	return end
}

// shorten takes the flips of a chain back down to a length.
func (s *searcher[S]) shorten(length int) {
	for _, i := range slices.Backward(s.group[length:]) {
		s.flip(int(i))
	}
	s.group = s.group[:length]
}

// A number is variables that are the binary digits of one, the lowest first: each has twice the weights of the one before to all others.
type number []int32

// slacks are the numbers that follow a variable, so that the sums stay that penalties hold both in.
type slacks struct {
	of      [][]slack // a variable
	numbers []number
}

// A slack is a number, and by how much it has to grow where a variable becomes 1.
type slack struct {
	number int
	grows  int64
}

// newSlacks finds the numbers of p and the variables that they follow. A penalty of (a x + b y - c)^2 with the number y has weights of
// -2ab of x with the lowest digit and -4bb of the two lowest digits.
func newSlacks(p *problem.Normal) *slacks {
	s := &slacks{of: make([][]slack, p.N), numbers: findNumbers(p)}
	for k, d := range s.numbers {
		col, weight := p.Row(int(d[0]))
		unit := weight[slices.Index(col, d[1])]
		for at, j := range col {
			if w := 2 * weight[at]; unit < 0 && w%unit == 0 && !slices.Contains(d, j) {
				s.of[j] = append(s.of[j], slack{k, -w / unit})
			}
		}
	}
	return s
}

// follow appends to a list of one variable, which is to flip, the digits of the numbers that follow it, as far as these have room.
func (s *slacks) follow(list []int32, x []uint64) []int32 {
	first := int(list[0])
	for _, f := range s.of[first] {
		d := s.numbers[f.number]
		var value int64
		for k, i := range d {
			value |= int64(problem.Bit(x, int(i))) << k
		}
		next := value + f.grows*(1-2*int64(problem.Bit(x, first)))
		for k, i := range d {
			if next >= 0 && next < 1<<len(d) && (value^next)>>k&1 != 0 {
				list = append(list, i)
			}
		}
	}
	return list
}

// findNumbers finds binary numbers by their coefficients, such as slacks of constraints that penalties stand for: variables with pairs of
// the same others, and with each other.
func findNumbers(p *problem.Normal) (numbers []number) {
	keys, heft := make([]uint64, p.N), make([]int64, p.N) // of the neighbours and the variable itself; sums of weights without their signs
	alike := map[uint64]number{}
	for i := range p.N {
		col, weight := p.Row(i)
		keys[i] = draw.Splitmix(uint64(i))
		for k, j := range col {
			keys[i] += draw.Splitmix(uint64(j))
			heft[i] += max(weight[k], -weight[k])
		}
		alike[keys[i]] = append(alike[keys[i]], int32(i))
	}
	for i := range p.N {
		list := alike[keys[i]]
		delete(alike, keys[i])
		slices.SortFunc(list, func(a, b int32) int { return cmp.Or(cmp.Compare(heft[a], heft[b]), cmp.Compare(a, b)) })
		for len(list) > 1 {
			d, rest := number{list[0]}, list[:0]
			for _, j := range list[1:] { // of which a higher digit weighs more
				if len(d) < mostDigits && doubles(p, d[len(d)-1], j) {
					d = append(d, j)
				} else {
					rest = append(rest, j)
				}
			}
			if len(d) >= leastDigits {
				numbers = append(numbers, d)
			}
			list = rest
		}
	}
	return numbers
}

// doubles reports whether j has twice the weights of i to all others.
func doubles(p *problem.Normal, i, j int32) bool {
	first, a := p.Row(int(i))
	second, b := p.Row(int(j))
	for k, l := 0, 0; k < len(first) && l < len(second); {
		switch {
		case first[k] == j:
			k++
		case second[l] == i:
			l++
		case first[k] != second[l] || 2*a[k] != b[l]:
			return false
		default:
			k, l = k+1, l+1
		}
	}
	return len(first) == len(second) && len(first) > 1
}
