package search

import (
	"slices"
	"sync"
)

// An exchange passes elites between the searches of a team.
type exchange struct {
	mu   sync.Mutex
	sent [][]uint64
	from []int // the search that gave each
}

// exchangeLimit is how many solutions are kept, the last ones: a search that has
// not taken older ones by then does without them.
const exchangeLimit = 64

// memberFunctions returns search k's functions: give offers a solution to the others, take returns the
// newest that another gave.
func (e *exchange) memberFunctions(k int) (give func(x []uint64), take func() []uint64) {
	var seen []uint64 // the solution that was taken last
	give = func(x []uint64) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.sent, e.from = append(e.sent, slices.Clone(x)), append(e.from, k)
		if extra := len(e.sent) - exchangeLimit; extra > 0 {
			e.sent, e.from = slices.Delete(e.sent, 0, extra), slices.Delete(e.from, 0, extra)
		}
	}
	take = func() []uint64 {
		e.mu.Lock()
		defer e.mu.Unlock()
		for i := len(e.sent) - 1; i >= 0; i-- {
			x := e.sent[i]
			if len(seen) > 0 && &x[0] == &seen[0] {
				return nil
			}
			if e.from[i] != k {
				seen = x
				return x
			}
		}
		return nil
	}
	return give, take
}
