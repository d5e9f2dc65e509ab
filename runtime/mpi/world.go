package mpi

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"slices"
	"time"
	"unsafe"

	"coalesce/runtime/collective"
)

// A World is all processes that a launcher has started, seen from one of them. Its
// methods may be called from several goroutines; operations of all ranks have to be
// called in the same order on each.
type World struct {
	Launch
	rank, size, local, hosts int
	Library                  string        // of MPI, with its version
	Limit                    time.Duration // that an operation waits for other ranks
	lib                      *library
	calls                    chan func()
	sent                     int64 // bytes, see Sent
}

// Join loads the library for the launcher and joins the other processes. Call it once, before
// anything that may fail: a launcher may wait for ever for a process that never joined. Where this
// process has joined, Join returns a world beside an error too, for EndProgram.
func Join(l Launch) (*World, error) {
	path, err := l.libraryPath()
	if err != nil {
		return nil, err
	}
	w := &World{Launch: l, calls: make(chan func())}
	// UCX would take the signals by which Go turns a nil dereference into a panic.
	if err := os.Setenv("UCX_ERROR_SIGNALS", ""); err != nil {
		return nil, err
	}
	if w.lib, err = load(path); err != nil {
		return nil, err
	}
	go func() {
		runtime.LockOSThread()
		for call := range w.calls {
			call()
		}
	}()
	var out [4]int64
	late := l.joinTimer()
	err = w.call("join", func() int32 { return w.lib.init(&out[0]) })
	if late.Stop(); err != nil {
		return nil, err
	}
	w.rank, w.size, w.local, w.hosts = int(out[0]), int(out[1]), int(out[2]), int(out[3])
	w.Limit = DefaultLimit
	text := make([]byte, w.lib.most()+1)
	if err := w.call("ask for its version", func() int32 { return w.lib.library(&text[0]) }); err != nil {
		return w, err
	}
	first, _, _ := bytes.Cut(text[:bytes.IndexByte(text, 0)], []byte("\n"))
	w.Library = string(bytes.TrimSpace(first))
	if joined := int(out[1]); joined != l.Size {
		w.size = joined
		return w, l.JoinFailure(fmt.Errorf("%s has started %d processes, of which %d joined through %s (%s): the library is another MPI's than the launcher", l.Launcher, l.Size, joined, path, w.Library))
	}
	w.Limit, err = joinTimeout()
	return w, err
}

// joinTimer ends this process where the others do not join within the limit; before they have joined,
// only the launcher can end them. Ranks other than the first print nothing about this.
func (l Launch) joinTimer() *time.Timer {
	within, err := joinTimeout()
	if err != nil || os.Getenv(LimitVariable) == "" {
		within = JoinLimit // the error is printed when all have joined
	}
	after := within
	if l.Rank > 0 {
		after += grace
	}
	return time.AfterFunc(after, func() {
		fmt.Fprintf(os.Stderr, "coalesce: rank %d of %d: join: %v within %v (%s)\n", l.Rank, l.Size, ErrLate, within, LimitVariable)
		os.Exit(1)
	})
}

// A library has the functions that shim/shim.c exports.
type library struct {
	init      func(out *int64) int32
	library   func(text *byte) int32
	most      func() int64
	broadcast func(p unsafe.Pointer, n, root int64, r *uintptr) int32
	reduce    func(p unsafe.Pointer, n, t, op int64, r *uintptr) int32
	gather    func(p unsafe.Pointer, counts, offsets *int32, r *uintptr) int32
	send      func(p unsafe.Pointer, n, to, tag int64, r *uintptr) int32
	receive   func(p unsafe.Pointer, n, from, tag int64, r *uintptr) int32
	agree     func(p *int64, r *uintptr) int32
	probe     func(tag int64, out *int64) int32
	wait      func(r uintptr, waited, microseconds int64, done *int32) int32
	message   func(code int64, text *byte) int32
	abort     func(code int64)
	exit      func(code int64)
}

// Rank is the number of this process, from 0; Size that of all; LocalRank that of those
// before this one on its host; HostCount the number of hosts.
func (w *World) Rank() int      { return w.rank }
func (w *World) Size() int      { return w.size }
func (w *World) LocalRank() int { return w.local }
func (w *World) HostCount() int { return w.hosts }

// BytesSent is how many bytes this rank has handed to others: of a broadcast the root's, of a
// reduction the rank's values, of a gather the rank's part, of a message its bytes. How
// often they go over a network is the implementation's choice.
func (w *World) BytesSent() (n int64) {
	w.do(func() { n = w.sent })
	return n
}

// do runs work on the world's thread and waits for it.
func (w *World) do(work func()) {
	done := make(chan struct{})
	w.calls <- func() {
		work()
		close(done)
	}
	<-done
}

// call makes one call of the library.
func (w *World) call(what string, f func() int32) (err error) {
	w.do(func() {
		if code := f(); code != 0 {
			text := make([]byte, w.lib.most()+1)
			w.lib.message(int64(code), &text[0])
			err = fmt.Errorf("rank %d of %d: %s: MPI says %s", w.rank, w.Size(), what, text[:bytes.IndexByte(text, 0)])
		}
	})
	return err
}

// slice is how long one call of the library waits at most.
const slice = 50 * time.Millisecond

// wait starts an operation and waits until it is done, or for a limit.
func (w *World) wait(what string, limit time.Duration, start func(request *uintptr) int32) error {
	var request uintptr
	if err := w.call(what, func() int32 { return start(&request) }); err != nil {
		return err
	}
	began := time.Now()
	for {
		var done int32
		waited := time.Since(began)
		err := w.call(what, func() int32 {
			return w.lib.wait(request, waited.Microseconds(), min(slice, limit).Microseconds(), &done)
		})
		if err != nil || done != 0 {
			return err
		}
		if time.Since(began) > limit {
			return fmt.Errorf("rank %d of %d: %s: %w within %v (%s)", w.rank, w.Size(), what, ErrLate, limit, LimitVariable)
		}
	}
}

// pinned keeps a list in its place while work runs, and hands out its address.
func pinned(p []byte, work func(at unsafe.Pointer) error) error {
	if len(p) == 0 {
		var none [8]byte
		p = none[:]
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(&p[0])
	return work(unsafe.Pointer(&p[0]))
}

// maxCount is the most bytes of one operation of MPI, whose counts are ints.
const maxCount = 1 << 30

// count adds n bytes to those sent.
func (w *World) count(n int) { w.do(func() { w.sent += int64(n) }) }

// Broadcast brings the root's bytes to all ranks, which have room for as many.
func (w *World) Broadcast(p []byte, root int) error {
	if w.rank == root {
		w.count(len(p))
	}
	for part := range slices.Chunk(p, maxCount) {
		err := pinned(part, func(at unsafe.Pointer) error {
			return w.wait(fmt.Sprintf("broadcast of %d bytes", len(p)), w.Limit, func(r *uintptr) int32 {
				return w.lib.broadcast(at, int64(len(part)), int64(root), r)
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// AllReduce combines the values of all ranks, value by value, in all of them.
func (w *World) AllReduce(p []byte, t collective.Type, op collective.Op) error {
	w.count(len(p))
	for part := range slices.Chunk(p, maxCount) {
		err := pinned(part, func(at unsafe.Pointer) error {
			return w.wait(fmt.Sprintf("reduction of %d bytes", len(p)), w.Limit, func(r *uintptr) int32 {
				return w.lib.reduce(at, int64(len(part))/t.Size(), int64(t), int64(op), r)
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// AllGather gives every rank the parts of all: rank i brings bytes bounds[i] to
// bounds[i+1] of p.
func (w *World) AllGather(p []byte, bounds []int64) error {
	if bounds[w.Size()]-bounds[0] > maxCount {
		for k := range w.Size() {
			if err := w.Broadcast(p[bounds[k]:bounds[k+1]], k); err != nil {
				return err
			}
		}
		return nil
	}
	w.count(int(bounds[w.rank+1] - bounds[w.rank]))
	counts, offsets := make([]int32, w.Size()), make([]int32, w.Size())
	for k := range counts {
		counts[k], offsets[k] = int32(bounds[k+1]-bounds[k]), int32(bounds[k]-bounds[0])
	}
	var pin runtime.Pinner // MPI reads both while the operation runs
	defer pin.Unpin()
	pin.Pin(&counts[0])
	pin.Pin(&offsets[0])
	return pinned(p[bounds[0]:bounds[w.Size()]], func(at unsafe.Pointer) error {
		return w.wait(fmt.Sprintf("gather of %d bytes", bounds[w.Size()]-bounds[0]), w.Limit, func(r *uintptr) int32 {
			return w.lib.gather(at, &counts[0], &offsets[0], r)
		})
	})
}

// Send hands a message of at most 2^30 bytes to a rank, and waits until p may be used again.
func (w *World) Send(p []byte, to, tag int) error {
	w.count(len(p))
	return pinned(p, func(at unsafe.Pointer) error {
		return w.wait(fmt.Sprintf("message of %d bytes to rank %d", len(p), to), w.Limit, func(r *uintptr) int32 {
			return w.lib.send(at, int64(len(p)), int64(to), int64(tag), r)
		})
	})
}

// Receive takes a message with a tag from any rank, if one is there; from is -1 where
// none is. One goroutine at a time may receive messages of a tag.
func (w *World) Receive(tag int) (p []byte, from int, err error) {
	var out [3]int64
	if err := w.call("look for a message", func() int32 { return w.lib.probe(int64(tag), &out[0]) }); err != nil || out[0] == 0 {
		return nil, -1, err
	}
	p = make([]byte, out[2])
	err = pinned(p, func(at unsafe.Pointer) error {
		return w.wait(fmt.Sprintf("message of %d bytes from rank %d", len(p), out[1]), w.Limit, func(r *uintptr) int32 {
			return w.lib.receive(at, int64(len(p)), out[1], int64(tag), r)
		})
	})
	return p, int(out[1]), err
}

// Watch implements collective.Limiter, for waits outside MPI.
func (w *World) Watch(what string) (done func()) {
	late := time.AfterFunc(w.Limit, func() {
		fmt.Fprintf(os.Stderr, "coalesce: rank %d of %d: %s: %v within %v (%s)\n", w.rank, w.size, what, ErrLate, w.Limit, LimitVariable)
		w.Abort(1)
	})
	return func() { late.Stop() }
}

// grace is how long a rank that failed waits for others to fail too.
const grace = time.Second

// EndProgram ends the program, on all ranks, with the exit code of the lowest rank whose code
// is not 0; that rank calls say before. Where the others do not come to their end too,
// because they wait for this rank, say is called and they are ended. End does not return.
func (w *World) EndProgram(code int, say func()) {
	word, limit := int64(0), w.Limit
	if code != 0 {
		word, limit = int64(1<<20-w.rank)<<8|int64(code), grace
	}
	var pin runtime.Pinner
	defer pin.Unpin() // never: it keeps pin, whose collection without an Unpin ends the program
	pin.Pin(&word)
	err := w.wait("end", limit, func(r *uintptr) int32 { return w.lib.agree(&word, r) })
	if err != nil {
		say()
		if code == 0 {
			fmt.Fprintf(os.Stderr, "coalesce: %v\n", err)
			code = 1
		}
		w.Abort(code)
	}
	if word != 0 && 1<<20-int(word>>8) == w.rank {
		say()
	}
	w.do(func() { w.lib.exit(word & 0xff) })
}

// heard is the time that launchers get to pass on the last output of a rank: they read it from a
// pipe, and drop unread output when a rank ends the others.
const heard = 300 * time.Millisecond

// Abort ends all processes at once. It does not return.
func (w *World) Abort(code int) {
	time.Sleep(heard)
	w.do(func() { w.lib.abort(int64(code)) })
	select {}
}
