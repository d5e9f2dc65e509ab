package qubo

import (
	"sync"

	"coalesce/solvers/qubo/problem"
)

// An Exchange passes solutions between a solve and another search of the same instance,
// while both run. Its methods are called by one goroutine at a time and must return quickly.
type Exchange interface {
	Send(x problem.Bits)   // called with good solutions of the solve, in any order of value
	Receive() problem.Bits // a solution that the other search found since the last call; without variables where there is none
}

// exchange gives solutions of part k to another search of the instance, completed by the best of
// the other parts, and takes the part k of the other's solutions. Searches of a team may call both
// at once.
func (r *run) exchange(k int) (give func(x []uint64), take func() []uint64) {
	var mu sync.Mutex
	give = func(x []uint64) {
		r.mu.Lock()
		whole := r.bests.solution(k, x)
		r.mu.Unlock()
		mu.Lock()
		defer mu.Unlock()
		r.o.Exchange.Send(problem.NewBits(whole, r.inst.N))
	}
	take = func() []uint64 {
		mu.Lock()
		defer mu.Unlock()
		if x := r.o.Exchange.Receive(); x.Len() == r.inst.N {
			return r.bests.red.Project(k, x.Words())
		}
		return nil
	}
	return give, take
}
