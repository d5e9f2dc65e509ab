package csg

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// The .npy format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
const (
	npyMagic     = "\x93NUMPY"
	npyMaxHeader = 1 << 16
)

// An npyHeader is what the header of a .npy file says.
type npyHeader struct {
	descr  string
	shape  []uint64
	length int64 // bytes before the values
}

// readNPY reads a .npy file of size bytes, unknown when negative. Memory for
// the values is taken at once only when size proves that they are there.
func readNPY(r io.Reader, size int64, name string, opts ReadOptions) (*Instance, error) {
	h, err := readNPYHeader(r)
	if err != nil {
		return nil, fmt.Errorf("%s: npy header: %w", name, err)
	}
	if len(h.shape) != 1 {
		return nil, fmt.Errorf("%s: found an array of %d dimensions, expected one of length 2^n", name, len(h.shape))
	}
	count := h.shape[0]
	n, err := agents(count)
	if err != nil {
		return nil, fmt.Errorf("%s: found %w", name, err)
	}
	kind, err := npyKind(h.descr)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	want := int64(count) * int64(kind.size)
	if size >= 0 && size-h.length != want {
		return nil, fmt.Errorf("%s: found %d bytes after the header, expected %d: 2^%d values of type %s", name, size-h.length, want, n, h.descr)
	}
	held := int64(count) * int64(max(4, kind.size))
	if size < 0 || opts.Limit > 0 {
		if held > opts.limit() {
			return nil, fmt.Errorf("%s: 2^%d values of type %s take %d bytes, more than the limit of %d", name, n, h.descr, held, opts.limit())
		}
	}
	inst := &Instance{N: n}
	if err := kind.read(inst, r, count, size >= 0); err != nil {
		var short *shortError
		if errors.As(err, &short) {
			return nil, fmt.Errorf("%s: found %d values, expected 2^%d: the file is truncated: %w", name, short.got, n, short.err)
		}
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var more [1]byte
	if k, err := io.ReadFull(r, more[:]); k > 0 {
		return nil, fmt.Errorf("%s: found bytes after the last of 2^%d values, expected the end of the file", name, n)
	} else if err != io.EOF {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := opts.named(inst, name); err != nil {
		return nil, err
	}
	if err := inst.Promote(); err != nil {
		var entry *EntryError
		if errors.As(err, &entry) {
			return nil, fmt.Errorf("%s: byte %d: %w", name, h.length+int64(entry.Mask)*int64(kind.size), err)
		}
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return inst, nil
}

// readNPYHeader reads versions 1, 2 and 3.
func readNPYHeader(r io.Reader) (npyHeader, error) {
	var pre [12]byte
	if _, err := io.ReadFull(r, pre[:8]); err != nil {
		return npyHeader{}, fmt.Errorf("found the end of the file, expected %q and a version: %w", npyMagic, err)
	}
	if string(pre[:6]) != npyMagic {
		return npyHeader{}, fmt.Errorf("found %q, expected %q", pre[:6], npyMagic)
	}
	var wide int
	switch pre[6] {
	case 1:
		wide = 2
	case 2, 3:
		wide = 4
	default:
		return npyHeader{}, fmt.Errorf("found version %d.%d, expected 1, 2 or 3", pre[6], pre[7])
	}
	if _, err := io.ReadFull(r, pre[8:8+wide]); err != nil {
		return npyHeader{}, fmt.Errorf("found the end of the file, expected the header's length: %w", err)
	}
	length := int64(binary.LittleEndian.Uint32(pre[8:12])) // the two bytes of version 1 are followed by zeros
	if length > npyMaxHeader {
		return npyHeader{}, fmt.Errorf("found a header of %d bytes, expected at most %d", length, npyMaxHeader)
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(r, text); err != nil {
		return npyHeader{}, fmt.Errorf("found the end of the file within the %d bytes of the header: %w", length, err)
	}
	h, err := parseNPYHeader(string(text))
	h.length = 8 + int64(wide) + length
	return h, err
}

// parseNPYHeader reads the dictionary: descr, fortran_order and shape.
func parseNPYHeader(text string) (npyHeader, error) {
	var h npyHeader
	bad := func(found, want string) (npyHeader, error) {
		if len(found) > 40 {
			found = found[:40] + "…"
		}
		return h, fmt.Errorf("found %q, expected %s", found, want)
	}
	rest, ok := strings.CutPrefix(strings.TrimSpace(text), "{")
	if !ok {
		return bad(text, "a dictionary in braces")
	}
	seen := map[string]bool{}
	for {
		rest = strings.TrimLeft(rest, " \t\r\n,")
		if strings.HasPrefix(rest, "}") {
			break
		}
		key, after, ok := quoted(rest)
		if !ok {
			return bad(rest, "a key in quotes")
		}
		rest, ok = strings.CutPrefix(strings.TrimLeft(after, " "), ":")
		if !ok {
			return bad(after, "a colon")
		}
		rest = strings.TrimLeft(rest, " ")
		seen[key] = true
		switch key {
		case "descr":
			h.descr, after, ok = quoted(rest)
			if !ok {
				return bad(rest, "one numeric type in quotes")
			}
			rest = after
		case "fortran_order":
			if after, ok = strings.CutPrefix(rest, "False"); !ok {
				if after, ok = strings.CutPrefix(rest, "True"); !ok {
					return bad(rest, "True or False")
				}
			}
			rest = after
		case "shape":
			end := strings.IndexByte(rest, ')')
			if !strings.HasPrefix(rest, "(") || end < 0 {
				return bad(rest, "a shape in parentheses")
			}
			for _, f := range strings.Split(rest[1:end], ",") {
				if f = strings.TrimSpace(f); f == "" {
					continue
				}
				d, err := strconv.ParseUint(strings.TrimSuffix(f, "L"), 10, 64)
				if err != nil {
					return bad(f, "a length")
				}
				h.shape = append(h.shape, d)
			}
			rest = rest[end+1:]
		default:
			return bad(key, "descr, fortran_order or shape")
		}
	}
	if !seen["descr"] || !seen["shape"] {
		return bad(text, "both descr and shape")
	}
	return h, nil
}

// quoted splits a Python string in single or double quotes off s.
func quoted(s string) (string, string, bool) {
	if s == "" || s[0] != '\'' && s[0] != '"' {
		return "", s, false
	}
	end := strings.IndexByte(s[1:], s[0])
	if end < 0 {
		return "", s, false
	}
	return s[1 : 1+end], s[2+end:], true
}

// An npyType reads the values of one type.
type npyType struct {
	size int
	read func(inst *Instance, r io.Reader, count uint64, known bool) error
}

// npyKind finds the reader of a descr such as "<f8": byte order, kind, size.
func npyKind(descr string) (npyType, error) {
	bad := fmt.Errorf("found type %q, expected an integer or floating type such as <i4 or <f8", descr)
	if len(descr) < 2 {
		return npyType{}, bad
	}
	var order binary.ByteOrder = binary.LittleEndian
	word := descr
	switch descr[0] {
	case '>', '!':
		order, word = binary.BigEndian, descr[1:]
	case '<', '|', '=':
		word = descr[1:]
	}
	k, ok := npyWords(order)[word]
	if !ok {
		return npyType{}, bad
	}
	return k, nil
}

// npyWords are the types that are read, in one byte order. The machine's own
// is little-endian (Instance.Bytes).
func npyWords(o binary.ByteOrder) map[string]npyType {
	little := o == binary.LittleEndian
	return map[string]npyType{
		"b1": npyAs(1, false, func(b []byte) (int32, bool) { return int32(b[0]), b[0] <= 1 }),
		"i1": npyAs(1, false, func(b []byte) (int32, bool) { return int32(int8(b[0])), true }),
		"u1": npyAs(1, false, func(b []byte) (int32, bool) { return int32(b[0]), true }),
		"i2": npyAs(2, false, func(b []byte) (int32, bool) { return int32(int16(o.Uint16(b))), true }),
		"u2": npyAs(2, false, func(b []byte) (int32, bool) { return int32(o.Uint16(b)), true }),
		"i4": npyAs(4, little, func(b []byte) (int32, bool) { return int32(o.Uint32(b)), true }),
		"u4": npyAs(4, false, func(b []byte) (int64, bool) { return int64(o.Uint32(b)), true }),
		"i8": npyAs(8, little, func(b []byte) (int64, bool) { return int64(o.Uint64(b)), true }),
		"u8": npyAs(8, false, func(b []byte) (int64, bool) { return int64(o.Uint64(b)), o.Uint64(b) <= math.MaxInt64 }),
		"f2": npyAs(2, false, func(b []byte) (float32, bool) { return half(o.Uint16(b)), true }),
		"f4": npyAs(4, little, func(b []byte) (float32, bool) { return math.Float32frombits(o.Uint32(b)), true }),
		"f8": npyAs(8, little, func(b []byte) (float64, bool) { return math.Float64frombits(o.Uint64(b)), true }),
	}
}

// npyAs reads values of size bytes as T; raw says that they are stored as
// memory holds them. When the count is not known to be there, the slice grows
// with what arrives.
func npyAs[T Number](size int, raw bool, decode func([]byte) (T, bool)) npyType {
	return npyType{size, func(inst *Instance, r io.Reader, count uint64, known bool) error {
		var values []T
		if known {
			values = make([]T, count)
			if raw {
				if k, err := io.ReadFull(r, bytesOf(values)); err != nil {
					return &shortError{uint64(k / size), unexpected(err)}
				}
				store(inst, values)
				return nil
			}
			values = values[:0]
		}
		chunk := make([]byte, int(min(count, 1<<16))*size)
		for uint64(len(values)) < count {
			want := min(count-uint64(len(values)), uint64(len(chunk)/size))
			b := chunk[:want*uint64(size)]
			k, err := io.ReadFull(r, b)
			if err != nil {
				return &shortError{uint64(len(values)) + uint64(k/size), unexpected(err)}
			}
			for i := 0; i < len(b); i += size {
				v, ok := decode(b[i : i+size])
				if !ok {
					mask := uint64(len(values))
					return &EntryError{mask, inst.Coalition(mask), "a value outside its type's range or beyond 2^63-1", "a smaller one"}
				}
				values = append(values, v)
			}
		}
		store(inst, values)
		return nil
	}}
}

// store keeps values, 64-bit integers in the narrowest type that holds them.
func store[T Number](inst *Instance, values []T) {
	if wide, ok := any(values).([]int64); ok {
		setIntegers(inst, wide)
		return
	}
	setValues(inst, values)
}

// unexpected is an error within values, where no end is in order.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// A shortError is a stream that ended, or failed, before its last value.
type shortError struct {
	got uint64
	err error
}

func (e *shortError) Error() string { return fmt.Sprintf("%d values: %v", e.got, e.err) }

// half widens an IEEE 754 binary16.
func half(b uint16) float32 {
	sign := uint32(b&0x8000) << 16
	exp := uint32(b>>10) & 31
	frac := uint32(b & 0x3ff)
	switch {
	case exp == 31:
		return math.Float32frombits(sign | 0x7f800000 | frac<<13)
	case exp == 0:
		x := float32(frac) / (1 << 24)
		if sign != 0 {
			x = -x
		}
		return x
	}
	return math.Float32frombits(sign | (exp+112)<<23 | frac<<13)
}

// WriteNPY writes an instance as a version 1 .npy file, little-endian.
func WriteNPY(w io.Writer, inst *Instance) error {
	descr := map[Value]string{Int32: "<i4", Int64: "<i8", Float32: "<f4", Float64: "<f8"}[inst.Type]
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%d,), }", descr, inst.Len())
	pad := 63 - (10+len(text))%64
	text += strings.Repeat(" ", pad) + "\n"
	head := append([]byte(npyMagic), 1, 0, byte(len(text)), byte(len(text)>>8))
	if _, err := w.Write(append(head, text...)); err != nil {
		return fmt.Errorf("write npy: %w", err)
	}
	if _, err := w.Write(inst.Bytes()); err != nil {
		return fmt.Errorf("write npy: %w", err)
	}
	return nil
}
