// Package cores spreads work over the cores of this machine.
package cores

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Split cuts 0..n-1 into ranges of least items and more, one for each core at
// most, and works on all of them at once. work gets every range's first item and
// the one after its last; where there is nothing to cut it is called once.
func Split(n, least int, work func(from, to int)) {
	parts := max(1, min(runtime.GOMAXPROCS(0), n/least))
	if parts == 1 {
		work(0, n)
		return
	}
	var wg sync.WaitGroup
	for k := range parts {
		wg.Go(func() { work(n*k/parts, n*(k+1)/parts) })
	}
	wg.Wait()
}

// Pieces works on 0..n-1 one after the other, each on the core that is free next:
// for pieces of work that take unequal times.
func Pieces(n int, work func(k int)) {
	parts := min(runtime.GOMAXPROCS(0), n)
	if parts == 1 {
		for k := range n {
			work(k)
		}
		return
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range parts {
		wg.Go(func() {
			for k := int(next.Add(1) - 1); k < n; k = int(next.Add(1) - 1) {
				work(k)
			}
		})
	}
	wg.Wait()
}
