package search

import (
	"slices"
	"sync"
)

// An exchange passes elites between the searches of a team.
type exchange struct {
	mu    sync.Mutex
	posts [][]uint64
	from  []int // who gave each
}

// postsMost is how many are kept: what nobody took by then is old.
const postsMost = 64

// member is how search k gives, and takes what others gave last.
func (e *exchange) member(k int) (give func(x []uint64), take func() []uint64) {
	var seen []uint64 // the last that was taken; posts are never written to
	give = func(x []uint64) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.posts, e.from = append(e.posts, slices.Clone(x)), append(e.from, k)
		if extra := len(e.posts) - postsMost; extra > 0 {
			e.posts, e.from = slices.Delete(e.posts, 0, extra), slices.Delete(e.from, 0, extra)
		}
	}
	take = func() []uint64 {
		e.mu.Lock()
		defer e.mu.Unlock()
		for i := len(e.posts) - 1; i >= 0; i-- {
			x := e.posts[i]
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
