package qubo

import (
	"time"

	"coalesce/solvers/qubo/problem"
)

// ascendParts gives each part that a search has not improved beyond all zeros the solution of one pass over its coefficients: a
// solve that ended before its search found anything has an answer then. It takes half of grace at most.
func (r *run) ascendParts() {
	end := time.Now().Add(grace / 2)
	for k, c := range r.bests.red.Parts {
		r.mu.Lock()
		zeros := !r.bests.part[k].proven && r.bests.part[k].value == 0
		r.mu.Unlock()
		if !zeros {
			continue
		}
		v, x := greedy(c.Problem, func() bool { return time.Now().After(end) })
		r.mu.Lock()
		if top := &r.bests.part[k]; v > top.value {
			top.value = v
			top.proven = v >= c.Bound
			copy(top.x, x)
			r.record(r.elapsed())
		}
		r.mu.Unlock()
	}
}

// greedy decides the variables of p in their order, once, and returns the better one of two solutions. The first takes what
// gains beside the variables taken before. The second counts the variables to come as taken with probability one half, so
// that it is worth no less than the mean of all solutions. stop ends the pass, and leaves the other variables 0.
func greedy(p *problem.Normal, stop func() bool) (value int64, x []uint64) {
	const rows = 16 // between two calls of stop
	var sure, likely struct {
		value int64
		x     []uint64
	}
	sure.x, likely.x = make([]uint64, problem.Words(p.N)), make([]uint64, problem.Words(p.N))
	for i := range p.N {
		if i%rows == 0 && stop() {
			break
		}
		gain, other, rest := p.Diag[i], p.Diag[i], int64(0)
		col, weight := p.Row(i)
		for k, j := range col {
			w := weight[k]
			if int(j) > i {
				rest += w
				continue
			}
			gain += w & -int64(problem.Bit(sure.x, int(j)))
			other += w & -int64(problem.Bit(likely.x, int(j)))
		}
		if gain > 0 {
			sure.value += gain
			sure.x[i>>6] |= 1 << (i & 63)
		}
		if 2*other+rest > 0 {
			likely.value += other
			likely.x[i>>6] |= 1 << (i & 63)
		}
	}
	if likely.value > sure.value {
		return likely.value, likely.x
	}
	return sure.value, sure.x
}
