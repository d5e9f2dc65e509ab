package packing

import "slices"

// An enumerator searches all packings of a few bids, depth first, without a linear
// program: as the search for a maximum weight clique of those that do not conflict.
// Bounds are cliques of conflicts that share out the prices (Held, Cook and Sewell,
// Mathematical Programming Computation 4, 2012); all is integer.
type enumerator struct {
	g      *graph
	prices []int64
	rest   []int64 // of the prices, not yet shared out
	left   int     // steps before giving up
	best   int64
	chosen []int32
	path   []int32
	log    *proofLog
}

func newEnumerator(t *tree) *enumerator {
	return &enumerator{g: t.g, prices: t.prices, rest: make([]int64, t.g.n), log: t.log}
}

// run searches the packings of a node for one that is worth more than best. False: the
// steps did not suffice.
func (e *enumerator) run(n *node, best int64, steps int) bool {
	e.left, e.best, e.chosen = steps, best, nil
	e.path = append(e.path[:0], n.taken...)
	var step *Step
	if n.step != nil {
		step = &Step{}
	}
	done := e.visit(n.live, n.fixed, step)
	if done && step != nil {
		n.step.Stages = append(n.step.Stages, step.Stages...)
		n.step.Branch, n.step.Kids = step.Branch, step.Kids
	}
	return done
}

func (e *enumerator) visit(live set, value int64, step *Step) bool {
	if e.left--; e.left < 0 {
		return false
	}
	if value > e.best {
		e.best = value
		e.chosen = append(e.chosen[:0], e.path...)
	}
	// Cliques pay for bids until what is left of the bound is used up; packings of
	// bids that are paid for in full are worth no more than best.
	room := e.best - value
	if step != nil {
		step.Stages = []Stage{{}}
	}
	open := e.g.empty()
	copy(open, live)
	live.each(func(j int) { e.rest[j] = e.prices[j] })
	common := e.g.empty()
	clique := make([]int, 0, 64)
	for {
		first, most := -1, int64(0)
		open.each(func(j int) {
			if e.rest[j] > most {
				first, most = j, e.rest[j]
			}
		})
		if first < 0 {
			return true
		}
		copy(common, e.g.conflict[first])
		clique = append(clique[:0], first)
		least := e.rest[first]
		for k := range common {
			common[k] &= open[k]
			for common[k] != 0 {
				j := -1
				set{common[k]}.each(func(b int) {
					if i := k<<6 + b; j < 0 || e.rest[i] > e.rest[j] {
						j = i
					}
				})
				clique = append(clique, j)
				least = min(least, e.rest[j])
				for q, w := range e.g.conflict[j] {
					common[q] &= w
				}
			}
		}
		if least > room {
			break
		}
		room -= least
		if step != nil {
			paid := make([]int32, len(clique))
			for k, j := range clique {
				paid[k] = int32(j)
			}
			slices.Sort(paid)
			step.Stages[0].Prices = append(step.Stages[0].Prices, RowPrice{e.log.numberRows([]row{{Bids: paid}})[0], least})
		}
		for _, j := range clique {
			if e.rest[j] -= least; e.rest[j] == 0 {
				open.remove(j)
			}
		}
	}
	// A better packing holds a bid that is still open.
	var branch []int
	open.each(func(j int) { branch = append(branch, j) })
	below := e.g.empty()
	inner := e.g.empty()
	copy(below, live)
	below.subtract(open)
	for _, j := range branch {
		copy(inner, below)
		inner.subtract(e.g.conflict[j])
		e.path = append(e.path, int32(j))
		var kid *Step
		if step != nil { // the last branch is the first of the proof: it may hold all others
			kid = &Step{}
			step.Branch = slices.Insert(step.Branch, 0, int32(j))
			step.Kids = slices.Insert(step.Kids, 0, kid)
		}
		ok := e.visit(inner, value+e.prices[j], kid)
		e.path = e.path[:len(e.path)-1]
		if !ok {
			return false
		}
		below.add(j)
	}
	return true
}
