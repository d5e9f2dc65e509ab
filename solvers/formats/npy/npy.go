// Package npy reads and writes NumPy's .npy files:
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
package npy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"coalesce/solvers/formats"
)

// Magic is how a .npy file begins.
const Magic = "\x93NUMPY"

const maxHeader = 1 << 16

// A Header is the header of a .npy file.
type Header struct {
	Descr   string // byte order, kind and size of a value: "<f8"
	Fortran bool   // the first index runs fastest
	Shape   []uint64
	Length  int64 // bytes before the values
}

// ReadHeader reads versions 1, 2 and 3. The values follow.
func ReadHeader(r io.Reader) (Header, error) {
	var pre [12]byte
	if _, err := io.ReadFull(r, pre[:8]); err != nil {
		return Header{}, fmt.Errorf("found the end of the file, expected %q and a version: %w", Magic, err)
	}
	if string(pre[:6]) != Magic {
		return Header{}, fmt.Errorf("found %q, expected %q", pre[:6], Magic)
	}
	var wide int
	switch pre[6] {
	case 1:
		wide = 2
	case 2, 3:
		wide = 4
	default:
		return Header{}, fmt.Errorf("found version %d.%d, expected 1, 2 or 3", pre[6], pre[7])
	}
	if _, err := io.ReadFull(r, pre[8:8+wide]); err != nil {
		return Header{}, fmt.Errorf("found the end of the file, expected the header's length: %w", err)
	}
	length := int64(binary.LittleEndian.Uint32(pre[8:12])) // the two bytes of version 1 are followed by zeros
	if length > maxHeader {
		return Header{}, fmt.Errorf("found a header of %d bytes, expected at most %d", length, maxHeader)
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(r, text); err != nil {
		return Header{}, fmt.Errorf("found the end of the file within the %d bytes of the header: %w", length, err)
	}
	h, err := parseHeader(string(text))
	h.Length = 8 + int64(wide) + length
	return h, err
}

// Fill returns an error unless a file of size bytes, unknown when negative, has count values of a
// kind behind the header and nothing else; `what` is the text for that count in errors.
func (h Header) Fill(size int64, k Kind, count uint64, what string) error {
	if count > 1<<62/uint64(k.Size) {
		return fmt.Errorf("found %s of type %s, expected at most 2^62 bytes of them", what, h.Descr)
	}
	if want := int64(count) * int64(k.Size); size >= 0 && size-h.Length != want {
		return fmt.Errorf("found %d bytes after the header, expected %d: %s of type %s", size-h.Length, want, what, h.Descr)
	}
	return nil
}

// parseHeader reads the dictionary: descr, fortran_order and shape.
func parseHeader(text string) (Header, error) {
	var h Header
	bad := func(found, want string) (Header, error) {
		return h, fmt.Errorf("found %s, expected %s", formats.Quote(found), want)
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
			h.Descr, after, ok = quoted(rest)
			if !ok {
				return bad(rest, "one numeric type in quotes")
			}
			rest = after
		case "fortran_order":
			h.Fortran = strings.HasPrefix(rest, "True")
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
				h.Shape = append(h.Shape, d)
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

// Write writes a version 1 file of values as memory holds them, little-endian
// on every platform that this program is built for.
func Write(w io.Writer, descr string, shape []int, values []byte) error {
	var dims strings.Builder
	for i, d := range shape {
		if i > 0 {
			dims.WriteByte(' ')
		}
		fmt.Fprintf(&dims, "%d,", d)
	}
	list := dims.String()
	if len(shape) > 1 {
		list = strings.TrimSuffix(list, ",")
	}
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, list)
	pad := 63 - (10+len(text))%64
	text += strings.Repeat(" ", pad) + "\n"
	head := append([]byte(Magic), 1, 0, byte(len(text)), byte(len(text)>>8))
	if _, err := w.Write(append(head, text...)); err != nil {
		return fmt.Errorf("write npy: %w", err)
	}
	if _, err := w.Write(values); err != nil {
		return fmt.Errorf("write npy: %w", err)
	}
	return nil
}

// A ShortError is a stream that ended, or failed, before its last value.
type ShortError struct {
	Got uint64 // values that came
	Err error
}

func (e *ShortError) Error() string { return fmt.Sprintf("%d values: %v", e.Got, e.Err) }

// Unwrap is the error that ended the stream.
func (e *ShortError) Unwrap() error { return e.Err }

// A RangeError is a value that its type does not have, or beyond 2^63-1.
type RangeError struct{ Index uint64 }

func (e *RangeError) Error() string {
	return fmt.Sprintf("value %d is outside its type's range or beyond 2^63-1", e.Index)
}

// unexpected turns the end of a stream within the values into io.ErrUnexpectedEOF.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// half converts an IEEE 754 binary16 to float32.
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
