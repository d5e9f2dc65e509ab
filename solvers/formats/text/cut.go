package text

import (
	"bytes"
	"fmt"
	"io"
)

// A streamError is an error of reading, not of the text. It stands at the
// beginning of the block that could not be read.
type streamError struct{ err error }

func (e *streamError) Error() string { return e.err.Error() }

// A cutter cuts a stream into blocks.
type cutter struct {
	f     *File
	cut   BlockBoundary
	size  int    // bytes of a block
	tail  []byte // what was read beyond the last boundary
	err   error  // of the stream, after tail
	open  bool   // the last line has no end
	taken int64  // bytes of all buffers that came from the budget
}

// All buffers together take at most an eighth of the budget. The first 4 KiB of each do not count.
const leastBlock = 1 << 12

func newCutter(f *File, cut BlockBoundary, cores int) *cutter {
	size := f.o.Block
	if share := f.o.Budget.Remaining() / int64(8*(3*cores+2)); int64(size) > share {
		size = min(size, max(leastBlock, int(share)))
	}
	return &cutter{f: f, cut: cut, size: size}
}

// nextBlock reads a block into a buffer. Errors are io.EOF at the end of the file, and a streamError where
// the stream fails or a line or word is too long.
func (c *cutter) nextBlock(buf *buffer) error {
	if c.err != nil && len(c.tail) == 0 {
		return c.failure()
	}
	buf.data = buf.data[:0]
	size := c.size
	if c.tail == nil { // the first: a small file needs no large block
		size = min(size, 1<<16)
		c.tail = []byte{}
	}
	for size < len(c.tail) {
		size *= 2
	}
	if err := c.grow(buf, size); err != nil {
		return err
	}
	buf.data = append(buf.data, c.tail...)
	c.tail = c.tail[:0]
	searched := 0
	for {
		if c.err == nil {
			c.fill(buf, size)
		}
		if c.err == io.EOF && len(buf.data) > 0 {
			c.open = buf.data[len(buf.data)-1] != '\n'
			return nil
		}
		if at := c.boundary(buf.data[searched:]); at >= 0 {
			c.tail = append(c.tail, buf.data[searched+at+1:]...)
			buf.data = buf.data[:searched+at+1]
			return nil
		}
		if c.err != nil {
			return c.failure()
		}
		searched = len(buf.data)
		if err := c.tooLong(len(buf.data)); err != nil {
			return &streamError{err}
		}
		size *= 2
		if err := c.grow(buf, size); err != nil {
			return err
		}
	}
}

// fill reads until a buffer holds size bytes, or the stream ends or fails.
// (io.ReadFull calls both a short read and data that was cut off an unexpected
// end.)
func (c *cutter) fill(buf *buffer, size int) {
	idle := 0
	for len(buf.data) < size && c.err == nil {
		var k int
		k, c.err = c.f.r.Read(buf.data[len(buf.data):size])
		buf.data = buf.data[:len(buf.data)+k]
		if idle++; k > 0 {
			idle = 0
		}
		if idle > 100 {
			c.err = io.ErrNoProgress
		}
	}
}

func (c *cutter) failure() error {
	c.tail = nil
	if c.err == io.EOF {
		return io.EOF
	}
	return &streamError{c.err}
}

// boundary is the index of the last boundary, -1 where there is none.
func (c *cutter) boundary(data []byte) int {
	if c.cut == Lines {
		return bytes.LastIndexByte(data, '\n')
	}
	return bytes.LastIndexAny(data, " \t\n\v\f\r")
}

func (c *cutter) tooLong(length int) error {
	switch {
	case c.cut == Lines && length > c.f.o.Line:
		return errLong("line", c.f.o.Line)
	case c.cut == Words && length > c.f.o.Word:
		return errLong("word", c.f.o.Word)
	}
	return nil
}

// grow makes room for a block of size bytes. Bytes beyond the usual size come from the budget.
func (c *cutter) grow(buf *buffer, size int) error {
	if size <= cap(buf.data) {
		return nil
	}
	if extra := int64(size-c.size) - buf.held; extra > 0 {
		if err := c.f.o.Budget.Reserve(extra); err != nil {
			return &streamError{fmt.Errorf("found a line that takes %w", err)}
		}
		buf.held += extra
		c.taken += extra
	}
	data := make([]byte, len(buf.data), size)
	copy(data, buf.data)
	buf.data = data
	return nil
}
