package device

import (
	"errors"
	"slices"
	"testing"
)

// A counted device hands out buffers and streams up to a number, and notes what comes
// back.
type counted struct {
	Device
	left int
	back []int64
}

var errNoMore = errors.New("no more")

type countedBuffer struct {
	Buffer
	of   *counted
	size int64
}

func (b countedBuffer) Free() error {
	b.of.back = append(b.of.back, b.size)
	if b.size == 13 {
		return errors.New("free of 13 bytes")
	}
	return nil
}

type countedStream struct {
	Stream
	of *counted
}

func (s countedStream) Close() error {
	s.of.back = append(s.of.back, -1)
	return nil
}

func (d *counted) Alloc(n int64) (Buffer, error) {
	if d.left--; d.left < 0 {
		return nil, errNoMore
	}
	return countedBuffer{of: d, size: n}, nil
}

func (d *counted) NewStream() (Stream, error) {
	if d.left--; d.left < 0 {
		return nil, errNoMore
	}
	return countedStream{of: d}, nil
}

// What was taken comes back once, the last first, however far taking got.
func TestScope(t *testing.T) {
	for left, want := range map[int][]int64{0: nil, 1: {1}, 2: {-1, 1}, 3: {12, -1, 1}, 4: {13, 12, -1, 1}} {
		d := &counted{left: left}
		var s Scope
		var a, b, c Buffer
		var stream Stream
		err := s.AllocAll(d, BufferFor(&a, 1))
		if err == nil {
			stream, err = s.NewStream(d)
		}
		if err == nil {
			err = s.AllocAll(d, BufferFor(&b, 12), BufferFor(&c, 13))
		}
		if (err == nil) != (left == 4) || err != nil && err != errNoMore {
			t.Errorf("%d to be had: error %v", left, err)
		}
		if got := []bool{a != nil, stream != nil, b != nil, c != nil}; !slices.Equal(got, []bool{left > 0, left > 1, left > 2, left > 3}) {
			t.Errorf("%d to be had: taken %v", left, got)
		}
		if err := s.Close(); (err != nil) != (left == 4) {
			t.Errorf("%d to be had: closed with %v", left, err)
		}
		if !slices.Equal(d.back, want) {
			t.Errorf("%d to be had: %v came back, expected %v", left, d.back, want)
		}
		if err := s.Close(); err != nil || len(d.back) != len(want) {
			t.Errorf("%d to be had: closed twice: %v, %v came back", left, err, d.back)
		}
	}
}
