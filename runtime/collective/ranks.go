package collective

import (
	"errors"
	"fmt"
	"sync"
)

// Ranks are the processes that work together, each on its own host memory: package mpi
// has those that a launcher started, Threads some of one process. Operations of all
// ranks are called in the same order on each; they return when they are done.
type Ranks interface {
	Rank() int // this process, from 0
	Size() int // all of them
	// Broadcast brings the root's bytes to all.
	Broadcast(p []byte, root int) error
	// AllReduce combines the values of all, value by value, in all.
	AllReduce(p []byte, t Type, op Op) error
	// AllGather gives all the parts of all: rank i brings bytes bounds[i] to bounds[i+1].
	AllGather(p []byte, bounds []int64) error
}

// A Threads is a number of goroutines that are ranks for one another.
type Threads struct {
	mu     sync.Mutex
	came   *sync.Cond
	parts  [][]byte // what each rank brings to the operation that goes on
	number int      // of operations that all have come to
	here   int      // ranks that have come to the next
	gone   bool
}

// NewThreads makes ranks of one process, one for each goroutine that is to be one.
func NewThreads(n int) []Ranks {
	t := &Threads{parts: make([][]byte, n)}
	t.came = sync.NewCond(&t.mu)
	list := make([]Ranks, n)
	for k := range list {
		list[k] = &thread{t, k, 0}
	}
	return list
}

type thread struct {
	all  *Threads
	rank int
	sent int64
}

func (t *thread) Rank() int { return t.rank }
func (t *thread) Size() int { return len(t.all.parts) }

// Sent is how many bytes this rank brought to operations: see mpi.World.Sent.
func (t *thread) Sent() int64 { return t.sent }

// Leave fails the operations of all ranks, as the end of a process does.
func (t *thread) Leave() {
	t.all.mu.Lock()
	defer t.all.mu.Unlock()
	t.all.gone = true
	t.all.came.Broadcast()
}

// meet waits until all ranks have come to this point.
func (t *Threads) meet() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	number := t.number
	if t.here++; t.here == len(t.parts) {
		t.here = 0
		t.number++
		t.came.Broadcast()
	}
	for number == t.number && !t.gone {
		t.came.Wait()
	}
	if number == t.number {
		return errors.New("a rank has left")
	}
	return nil
}

// exchange shows every rank a copy of what all bring, one after the other.
func (t *thread) exchange(p []byte, take func(rank int, p []byte)) error {
	t.all.parts[t.rank] = append([]byte(nil), p...)
	if err := t.all.meet(); err != nil {
		return err
	}
	for k, part := range t.all.parts {
		take(k, part)
	}
	return t.all.meet()
}

func (t *thread) Broadcast(p []byte, root int) error {
	var mine []byte
	if t.rank == root {
		mine = p
		t.sent += int64(len(p))
	}
	var short error
	err := t.exchange(mine, func(rank int, part []byte) {
		if rank == root && copy(p, part) != len(part) {
			short = fmt.Errorf("rank %d has room for %d bytes of %d", t.rank, len(p), len(part))
		}
	})
	return errors.Join(err, short)
}

func (t *thread) AllReduce(p []byte, kind Type, op Op) error {
	t.sent += int64(len(p))
	if len(p) == 0 {
		return nil
	}
	return t.exchange(p, func(rank int, part []byte) {
		if rank == 0 {
			copy(p, part)
		} else {
			combine(p, part, kind, op)
		}
	})
}

func (t *thread) AllGather(p []byte, bounds []int64) error {
	mine := p[bounds[t.rank]:bounds[t.rank+1]]
	t.sent += int64(len(mine))
	return t.exchange(mine, func(rank int, part []byte) { copy(p[bounds[rank]:], part) })
}
