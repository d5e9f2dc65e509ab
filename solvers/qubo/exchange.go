package qubo

import (
	"sync"

	"coalesce/solvers/qubo/problem"
)

// An Exchange passes solutions between a solve and another search of the same instance,
// while both run. Its methods are called by one goroutine at a time and must return quickly.
type Exchange interface {
	Give(x Bits) // one that the solve has come to, good and not always better than those before
	Take() Bits  // one that the other has come to since it was asked last; of no variables: none
}

// exchange is how a search of part k gives solutions of the instance to another search,
// and takes its own part of those of the other. Searches of a team may do so at once.
func (r *run) exchange(k int) (give func(x []uint64), take func() []uint64) {
	var mu sync.Mutex
	give = func(x []uint64) {
		r.mu.Lock()
		whole := r.bests.solution(k, x)
		r.mu.Unlock()
		mu.Lock()
		defer mu.Unlock()
		r.o.Exchange.Give(problem.NewBits(whole, r.inst.N))
	}
	take = func() []uint64 {
		mu.Lock()
		defer mu.Unlock()
		if x := r.o.Exchange.Take(); x.Len() == r.inst.N {
			return r.bests.red.Project(k, x.Words())
		}
		return nil
	}
	return give, take
}
