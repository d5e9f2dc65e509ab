package text

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime"
	"sync"

	"coalesce/solvers/formats"
)

// A BlockBoundary says where blocks may end.
type BlockBoundary int

// Blocks end with a line, or with a blank of any kind; the latter are for
// numbers in lines of any length.
const (
	Lines BlockBoundary = iota
	Words
)

// A job is a block on its way through parse.
type job[T any] struct {
	block *Block
	buf   *buffer
	part  T
	err   error
	lines int // line ends in the block
	done  chan struct{}
}

// A buffer is the memory of a block, used again and again.
type buffer struct {
	data []byte
	held int64 // bytes that came from the budget
}

// ParseBlocks parses the rest of a file. It calls parse on all cores, block by block, and keep, from the
// goroutine that called ParseBlocks, with the values that parse returned, in the order of the file. An
// error of parse ends the reading; keep is called with the value beside that error too, so that it
// can count the value, or return an error of its own that goes before. An error of parse without a
// position gets that of the block's last line or word; an error of keep without one gets the name of
// the file.
//
// When ctx is done, ParseBlocks returns its error at once; a read that is under way continues in the
// background, and the caller must not use the file any more.
func ParseBlocks[T any](ctx context.Context, f *File, cut BlockBoundary, parse func(*Block) (T, error), keep func(*Block, T) error) error {
	ctx, cancel := context.WithCancel(ctx)
	var workers sync.WaitGroup
	defer workers.Wait()
	defer cancel()
	cores := runtime.GOMAXPROCS(0)
	c := newCutter(f, cut, cores)
	jobs, order := make(chan *job[T], cores), make(chan *job[T], 2*cores)
	free := make(chan *buffer, 3*cores+2)
	for range cap(free) {
		free <- &buffer{}
	}
	for range cores {
		workers.Go(func() {
			for {
				select {
				case j, ok := <-jobs:
					if !ok {
						return
					}
					j.parse(parse)
				case <-ctx.Done():
					return
				}
			}
		})
	}
	go cutAll(ctx, c, jobs, order, free)
	for {
		var j *job[T]
		var more bool
		select {
		case j, more = <-order:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if !more {
			break
		}
		select {
		case <-j.done:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if err := f.keepOne(j.block, j.err, j.lines, func() error { return keep(j.block, j.part) }); err != nil {
			return err
		}
		free <- j.buf
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	f.last = f.ended
	if c.open {
		f.last++
	}
	f.o.Budget.Release(c.taken)
	return nil
}

// parse parses a block, unless there is none but an error of the stream.
func (j *job[T]) parse(parse func(*Block) (T, error)) {
	defer close(j.done)
	if j.err != nil {
		return
	}
	j.part, j.err = parse(j.block)
	var at *formats.Error
	if j.err != nil && !errors.As(j.err, &at) {
		j.err = &formats.Error{File: j.block.name, Line: j.block.LineNumber(), Err: j.err}
	}
	j.lines = bytes.Count(j.block.data, []byte("\n"))
}

// keepOne sets the lines of a block and of its error to those of the file, and calls keep.
func (f *File) keepOne(b *Block, failed error, lines int, keep func() error) error {
	b.first = f.ended + 1
	f.kept += int64(len(b.data))
	var stream *streamError
	if errors.As(failed, &stream) {
		return f.streamFailure(b.first, stream.err)
	}
	var at *formats.Error
	if errors.As(failed, &at) {
		at.Line += b.first
	}
	b.Rewind()
	err := keep()
	if err != nil && !errors.As(err, &at) {
		at = &formats.Error{File: f.name, Err: err}
		err = at
	}
	for _, c := range b.comments {
		if line := c.line + b.first; err == nil || at.Line == 0 || line < at.Line {
			if err := f.readComment(line, c.text); err != nil {
				return err
			}
		}
	}
	if err != nil {
		return err
	}
	f.ended += lines
	return failed
}

// cutAll cuts the file into blocks until it ends or fails, or ctx is done.
func cutAll[T any](ctx context.Context, c *cutter, jobs, order chan<- *job[T], free <-chan *buffer) {
	defer close(jobs)
	defer close(order)
	for {
		var buf *buffer
		select {
		case buf = <-free:
		case <-ctx.Done():
			return
		}
		err := c.nextBlock(buf)
		if err == io.EOF {
			return
		}
		b := NewBlock(c.f.name, 0, buf.data)
		b.o = c.f.o
		j := &job[T]{block: b, buf: buf, err: err, done: make(chan struct{})}
		for _, to := range []chan<- *job[T]{jobs, order} {
			select {
			case to <- j:
			case <-ctx.Done():
				return
			}
		}
		if err != nil {
			return
		}
	}
}
