package ranks

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"

	"coalesce/runtime/mpi"
)

// Tags of messages: a free rank sends the outcome of its last item to rank 0, and rank 0 sends it the
// number of the next item.
const (
	tagFree = 1
	tagNext = 2
)

// An Outcome is the result of solving one instance.
type Outcome struct {
	Text []byte // the answer; empty where there is none
	Code int    // exit code
	Talk string // why it failed
}

// ShareItems gives items, in their order, to ranks as these become free, and calls done on rank 0 with each
// outcome as it comes, one call at a time. On rank 0 it returns when all items are done, on the other
// ranks when no item is left for them. An error of done and the end of ctx end it. Without a world
// this process does all items.
func ShareItems(ctx context.Context, w *mpi.World, items []int, do func(item int) Outcome, done func(item int, o Outcome) error) error {
	if w != nil && w.Rank() > 0 {
		return work(ctx, w, do)
	}
	h := &workList{left: items, done: done}
	var served sync.WaitGroup
	var failed error
	if w != nil {
		served.Go(func() { failed = h.serve(ctx, w) })
	}
	err := h.solve(ctx, do)
	served.Wait()
	return errors.Join(err, failed)
}

// A workList is rank 0's list of the items that are left.
type workList struct {
	mu   sync.Mutex
	left []int
	done func(int, Outcome) error
}

// next takes the next item, or -1.
func (h *workList) next() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.left) == 0 {
		return -1
	}
	item := h.left[0]
	h.left = h.left[1:]
	return item
}

func (h *workList) finish(item int, o Outcome) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	err := h.done(item, o)
	if err != nil {
		h.left = nil
	}
	return err
}

// solve takes items from the list and solves them on this rank, until none is left.
func (h *workList) solve(ctx context.Context, do func(int) Outcome) error {
	for {
		item := h.next()
		if item < 0 {
			return nil
		}
		o := do(item)
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := h.finish(item, o); err != nil {
			return err
		}
	}
}

// OnRankZero calls do on rank 0, with all cores of its host, while the other ranks wait, and prints the
// reason.
func OnRankZero(w *mpi.World, talk io.Writer, why string, do func() error) error {
	line, err := Describe(w, nil, false)
	if err != nil {
		return err
	}
	fmt.Fprintf(talk, "coalesce: %s: rank 0 solves, the others wait, since %s\n", line, why)
	if w.Rank() > 0 {
		return poll(func() (bool, error) {
			_, from, err := w.Receive(tagNext)
			return from >= 0, err
		})
	}
	runtime.GOMAXPROCS(runtime.NumCPU())
	err = do()
	for to := 1; to < w.Size(); to++ {
		err = errors.Join(err, w.Send(nil, to, tagNext))
	}
	return err
}

// A report is the message of a free rank.
type report struct {
	Item    int // -1: the first time
	Outcome Outcome
}

// serve hands out items to the other ranks and ends when each has been told that none is left.
func (h *workList) serve(ctx context.Context, w *mpi.World) error {
	for told := 1; told < w.Size(); {
		var text []byte
		from := -1
		err := poll(func() (bool, error) {
			var err error
			text, from, err = w.Receive(tagFree)
			return from >= 0, errors.Join(err, ctx.Err())
		})
		if err != nil {
			return err
		}
		var r report
		if err := json.Unmarshal(text, &r); err != nil {
			return err
		}
		if r.Item >= 0 {
			if err := h.finish(r.Item, r.Outcome); err != nil {
				return err
			}
		}
		item := h.next()
		if item < 0 {
			told++
		}
		if err := w.Send(binary.LittleEndian.AppendUint64(nil, uint64(item)), from, tagNext); err != nil {
			return err
		}
	}
	return nil
}

// work runs the items that rank 0 hands to this rank.
func work(ctx context.Context, w *mpi.World, do func(int) Outcome) error {
	r := report{Item: -1}
	for {
		text, err := json.Marshal(r)
		if err != nil {
			return err
		}
		if err := w.Send(text, 0, tagFree); err != nil {
			return err
		}
		err = poll(func() (bool, error) {
			var from int
			text, from, err = w.Receive(tagNext)
			return from >= 0, errors.Join(err, ctx.Err())
		})
		if err != nil {
			return err
		}
		item := int(int64(binary.LittleEndian.Uint64(text)))
		if item < 0 {
			return nil
		}
		r = report{item, do(item)}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}
