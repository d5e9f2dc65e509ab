package npy

import (
	"errors"
	"fmt"
	"io"

	"coalesce/solvers/formats"
)

// An Array is the header and the values of a .npy file.
type Array struct {
	Header
	Kind
	Values any // []int16, []int32, []int64, []float32 or []float64, in the order of the file
}

// ReadArray reads an array of a file of which size bytes are left, unknown when negative. Bytes
// behind the array, such as another array that numpy.save has appended, stay unread: see ExpectEnd. check
// gets the header first; it returns the number of values that the array has to have and the text
// for that number in errors ("2^3", "4 x 5"), or an error about the shape. Memory is taken from
// the budget before it is allocated, and all at once only where the size proves that the values
// are there. Errors may be a RangeError, whose Index counts in the order of the file.
func ReadArray(r io.Reader, size int64, b *formats.Budget, check func(Header) (count uint64, shape string, err error)) (Array, error) {
	h, err := ReadHeader(r)
	if err != nil {
		return Array{}, fmt.Errorf("npy header: %w", err)
	}
	a := Array{Header: h}
	count, shape, err := check(h)
	if err != nil {
		return a, err
	}
	if a.Kind, err = h.kind(keepShort); err != nil {
		return a, err
	}
	if size >= 0 && uint64(max(0, size-h.Length))/uint64(a.Size) >= count {
		size = h.Length + int64(count)*int64(a.Size)
	}
	if err := h.CheckSize(size, a.Kind, count, shape+" values"); err != nil {
		return a, err
	}
	if err := b.CheckFits(count, 1, a.Held); err != nil {
		return a, fmt.Errorf("%s values of type %s take %w", shape, h.Descr, err)
	}
	a.Values, err = a.Kind.Read(r, count, size >= 0)
	var short *ShortError
	if errors.As(err, &short) {
		return a, fmt.Errorf("found %d values, expected %s: the file is truncated: %w", short.Got, shape, short.Err)
	}
	return a, err
}

// ExpectEnd returns an error unless a file ends here.
func ExpectEnd(r io.Reader) error {
	var more [1]byte
	if k, err := io.ReadFull(r, more[:]); k > 0 {
		return errors.New("found bytes after the last value, expected the end of the file")
	} else if err != io.EOF {
		return err
	}
	return nil
}
