package host

import (
	"math"

	"coalesce/runtime/host/kernels/qubo"
	"coalesce/solvers/cores"
	"coalesce/solvers/qubo/problem"
)

// logTable are log((k+1/2)/4096): draws of the logarithm of a uniform number.
type logTable [4096]float64

func newLogs() *logTable {
	var l logTable
	for k := range l {
		l[k] = math.Log((float64(k) + 0.5) / float64(len(l)))
	}
	return &l
}

// fieldSpread is the typical size of a field around its mean where x is random: the
// root mean square over variables of ½ sqrt(Σ weight²). Temperatures are
// measured in it. Where the time ends before all rows were read, the number is meaningless.
func fieldSpread(p *problem.Normal, end *deadline) float64 {
	squares := make([]float64, p.N)
	cores.Split(p.N, 64, func(from, to int) {
		for i := from; i < to && !end.passed(); i++ {
			_, weight := p.Row(i)
			var sum float64
			for _, w := range weight {
				sum += float64(w) * float64(w) / 4
			}
			squares[i] = sum
		}
	})
	var sum float64
	for _, s := range squares {
		sum += s
	}
	if sum == 0 {
		return 1
	}
	return math.Sqrt(sum / float64(p.N))
}

// anneal is simulated annealing (Kirkpatrick, Gelatt and Vecchi 1983): sweeps
// over the variables in order with Metropolis' rule, at temperatures that fall
// linearly from hot to cold, then ascent to a local maximum.
func (s *searcher[S]) anneal(hot, cold float64, sweeps int) bool {
	_, add := s.m.flipCosts()
	block := max(64, min(4096, int(lookEvery/add))) // variables between two looks at the limits
	state := s.random.Uint64() | 1
	for k := range sweeps {
		temperature := hot + (cold-hot)*float64(k)/float64(max(1, sweeps-1))
		bottom := S(max(temperature*s.logs[0], float64(qubo.FillerField[S]())))
		for from := 0; from < s.p.N; from += block {
			var flips int64
			to := min(from+block, s.p.N)
			for i, gain := range s.field[from:to] {
				i += from
				if problem.Bit(s.x, i) != 0 {
					gain = -gain
				}
				if gain < bottom {
					continue
				}
				if gain < 0 {
					state ^= state << 13
					state ^= state >> 7
					state ^= state << 17
					if float64(gain) < temperature*s.logs[state>>52] {
						continue
					}
				}
				s.flip(i)
				flips++
			}
			if !s.countWork(1.5*float64(to-from)+add*float64(flips), flips) {
				return false
			}
		}
		if s.value > s.best {
			s.keepBest()
		}
	}
	return s.ascend()
}

// ascend flips, in order, variables whose flip raises the value, until no such variable is left.
// It is false where the search ends before.
func (s *searcher[S]) ascend() bool {
	_, add := s.m.flipCosts()
	for flips := int64(1); flips > 0; {
		flips = 0
		for i := range s.p.N {
			if s.gain(i) > 0 {
				s.flip(i)
				flips++
			}
		}
		if !s.countWork(float64(s.p.N)+add*float64(flips), flips) {
			return false
		}
	}
	if s.value > s.best {
		s.keepBest()
	}
	return true
}
