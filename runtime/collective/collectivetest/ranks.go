// Package collectivetest has goroutines be the ranks of tests.
package collectivetest

import (
	"errors"
	"fmt"
	"sync"

	"coalesce/runtime/collective"
)

// A group is some goroutines that are ranks for one another.
type group struct {
	mu     sync.Mutex
	came   *sync.Cond
	parts  [][]byte // what each rank brings to the operation that goes on
	number int      // of operations that all have come to
	here   int      // ranks that have come to the next
	gone   bool
}

// Ranks makes ranks of one process, one for each goroutine that is to be one.
func Ranks(n int) []collective.Ranks {
	t := &group{parts: make([][]byte, n)}
	t.came = sync.NewCond(&t.mu)
	list := make([]collective.Ranks, n)
	for k := range list {
		list[k] = &thread{t, k, 0}
	}
	return list
}

type thread struct {
	all  *group
	rank int
	sent int64
}

func (t *thread) Rank() int { return t.rank }
func (t *thread) Size() int { return len(t.all.parts) }

// BytesSent is how many bytes this rank brought to operations: see mpi.World.BytesSent.
func (t *thread) BytesSent() int64 { return t.sent }

// FailAll fails the operations of all ranks, as the end of a process does.
func (t *thread) FailAll() {
	t.all.mu.Lock()
	defer t.all.mu.Unlock()
	t.all.gone = true
	t.all.came.Broadcast()
}

// meet waits until all ranks have come to this point.
func (t *group) meet() error {
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

func (t *thread) AllReduce(p []byte, kind collective.Type, op collective.Op) error {
	t.sent += int64(len(p))
	if len(p) == 0 {
		return nil
	}
	return t.exchange(p, func(rank int, part []byte) {
		if rank == 0 {
			copy(p, part)
		} else {
			collective.Combine(p, part, kind, op)
		}
	})
}

func (t *thread) AllGather(p []byte, bounds []int64) error {
	mine := p[bounds[t.rank]:bounds[t.rank+1]]
	t.sent += int64(len(mine))
	return t.exchange(mine, func(rank int, part []byte) { copy(p[bounds[rank]:], part) })
}
