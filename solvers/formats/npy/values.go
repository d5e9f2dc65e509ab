package npy

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"
	"sync/atomic"
	"unsafe"

	"coalesce/solvers/cores"
	"coalesce/solvers/formats"
)

// A Kind is the form in which a file stores the values of one type, and the Go type that they become.
type Kind struct {
	Size   int  // bytes of a stored value
	Held   int  // bytes of a value that was read
	Native bool // stored as memory holds them
	read   func(r io.Reader, count uint64, known bool) (any, error)
}

// Read reads count values as a []int32 ([]int64 for wider types), []float32 or
// []float64: integers exactly, half floats as float32. known says that the
// values are known to be there; otherwise memory is taken as they arrive.
// Errors are a ShortError or a RangeError.
func (k Kind) Read(r io.Reader, count uint64, known bool) (any, error) {
	return k.read(r, count, known)
}

// Kind finds how a header's values are stored: booleans, integers of 1 to 8
// bytes and floats of 2 to 8, in either byte order.
func (h Header) Kind() (Kind, error) { return h.kind(nil) }

// keepShort reads int16 as []int16.
func keepShort(o binary.ByteOrder) map[string]Kind {
	return map[string]Kind{"i2": as(2, o == binary.LittleEndian, func(b []byte) (int16, bool) { return int16(o.Uint16(b)), true })}
}

// KindOffset is Kind that reads unsigned integers of 64 bits, all of them, less 2^63; offset says
// that the values are such ones.
func (h Header) KindOffset() (k Kind, offset bool, err error) {
	k, err = h.kind(func(o binary.ByteOrder) map[string]Kind {
		return map[string]Kind{"u8": as(8, false, func(b []byte) (int64, bool) { return int64(o.Uint64(b) ^ 1<<63), true })}
	})
	return k, strings.HasSuffix(h.Descr, "u8"), err
}

// kind is Kind, with a table of kinds that go before the usual ones.
func (h Header) kind(others func(binary.ByteOrder) map[string]Kind) (Kind, error) {
	bad := fmt.Errorf("found type %s, expected an integer or floating type such as <i4 or <f8", formats.Quote(h.Descr))
	if len(h.Descr) < 2 {
		return Kind{}, bad
	}
	var order binary.ByteOrder = binary.LittleEndian
	word := h.Descr
	switch word[0] {
	case '>', '!':
		order, word = binary.BigEndian, word[1:]
	case '<', '|', '=':
		word = word[1:]
	}
	k, ok := kinds(order)[word]
	if others != nil {
		if other, has := others(order)[word]; has {
			return other, nil
		}
	}
	if !ok {
		return Kind{}, bad
	}
	return k, nil
}

// kinds are the types that are read, in one byte order. The machine's own is
// little-endian on every platform that this program is built for.
func kinds(o binary.ByteOrder) map[string]Kind {
	little := o == binary.LittleEndian
	return map[string]Kind{
		"b1": as(1, false, func(b []byte) (int32, bool) { return int32(b[0]), b[0] <= 1 }),
		"i1": as(1, false, func(b []byte) (int32, bool) { return int32(int8(b[0])), true }),
		"u1": as(1, false, func(b []byte) (int32, bool) { return int32(b[0]), true }),
		"i2": as(2, false, func(b []byte) (int32, bool) { return int32(int16(o.Uint16(b))), true }),
		"u2": as(2, false, func(b []byte) (int32, bool) { return int32(o.Uint16(b)), true }),
		"i4": as(4, little, func(b []byte) (int32, bool) { return int32(o.Uint32(b)), true }),
		"u4": as(4, false, func(b []byte) (int64, bool) { return int64(o.Uint32(b)), true }),
		"i8": as(8, little, func(b []byte) (int64, bool) { return int64(o.Uint64(b)), true }),
		"u8": as(8, false, func(b []byte) (int64, bool) { return int64(o.Uint64(b)), o.Uint64(b) <= math.MaxInt64 }),
		"f2": as(2, false, func(b []byte) (float32, bool) { return half(o.Uint16(b)), true }),
		"f4": as(4, little, func(b []byte) (float32, bool) { return math.Float32frombits(o.Uint32(b)), true }),
		"f8": as(8, little, func(b []byte) (float64, bool) { return math.Float64frombits(o.Uint64(b)), true }),
	}
}

// as reads values of size bytes as T.
func as[T int16 | int32 | int64 | float32 | float64](size int, native bool, decode func([]byte) (T, bool)) Kind {
	held := int(unsafe.Sizeof(T(0)))
	return Kind{size, held, native, func(r io.Reader, count uint64, known bool) (any, error) {
		var values []T
		if known {
			values = make([]T, count)
			if native && count > 0 {
				memory := unsafe.Slice((*byte)(unsafe.Pointer(&values[0])), len(values)*held)
				if k, err := io.ReadFull(r, memory); err != nil {
					return nil, &ShortError{uint64(k / size), unexpected(err)}
				}
				return values, nil
			}
			values = values[:0]
		}
		chunk := make([]byte, int(min(count, 1<<20))*size)
		for uint64(len(values)) < count {
			at := len(values)
			b := chunk[:min(count-uint64(at), uint64(len(chunk)/size))*uint64(size)]
			k, err := io.ReadFull(r, b)
			if err != nil {
				return nil, &ShortError{uint64(at + k/size), unexpected(err)}
			}
			if at+len(b)/size > cap(values) { // capacities stay at count or below
				grown := make([]T, at, min(count, max(uint64(at+len(b)/size), 2*uint64(cap(values)))))
				copy(grown, values)
				values = grown
			}
			values = values[:at+len(b)/size]
			if bad := decodeAll(values[at:], b, decode); bad >= 0 {
				return nil, &RangeError{uint64(at + bad)}
			}
		}
		return values, nil
	}}
}

// decodeAll decodes values on all cores; it returns the first that cannot be
// held, or -1.
func decodeAll[T any](values []T, b []byte, decode func([]byte) (T, bool)) int {
	size := len(b) / len(values)
	var first atomic.Int64
	first.Store(int64(len(values)))
	cores.Split(len(values), 1<<14, func(from, to int) {
		for i := from; i < to; i++ {
			var ok bool
			if values[i], ok = decode(b[i*size : (i+1)*size]); ok {
				continue
			}
			for at := first.Load(); int64(i) < at && !first.CompareAndSwap(at, int64(i)); at = first.Load() {
			}
			return
		}
	})
	if at := int(first.Load()); at < len(values) {
		return at
	}
	return -1
}
