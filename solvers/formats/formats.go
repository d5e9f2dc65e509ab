// Package formats has the code that the readers of all problems share: files that may be
// compressed (packed), large text parsed on all cores (text), formats declared by their lines (lines), JSON read token by token (tokens), tables (csv), Matrix Market
// (market), NumPy's arrays (npy) and the names of files of other kinds (foreign). The package itself has errors with positions, quoted
// input, counted nouns, and the budget of memory, which all of these use.
//
// What must not enter: a problem. Nothing here knows costs, coefficients,
// coalitions or bids, imports a solver, or decides what infinity, a missing
// cell or a repeated entry means; the callers get text and positions and say
// so themselves. A format that one problem alone reads stays with that problem.
package formats

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"coalesce/runtime/device"
)

// An Error is an error at a line of a file. Its text is `file:line: what was found, what was
// expected`, or `file:line:column: …`.
type Error struct {
	File   string
	Line   int // from 1; 0: no line, the whole file
	Column int // in bytes, from 1; 0: the whole line
	Err    error
}

func (e *Error) Error() string {
	switch {
	case e.Line == 0:
		return fmt.Sprintf("%s: %v", e.File, e.Err)
	case e.Column > 0:
		return fmt.Sprintf("%s:%d:%d: %v", e.File, e.Line, e.Column, e.Err)
	}
	return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err)
}

// Unwrap is the error without its position.
func (e *Error) Unwrap() error { return e.Err }

// Errorf is an Error of a file; line 0 is the whole file.
func Errorf(file string, line int, format string, args ...any) error {
	return &Error{File: file, Line: line, Err: fmt.Errorf(format, args...)}
}

// Count is a number with the noun that it counts: "1 bid", "2 bids", "2 entries".
func Count[T ~int | ~int32 | ~int64](n T, what string) string {
	switch stem, y := strings.CutSuffix(what, "y"); {
	case n == 1:
	case y:
		what = stem + "ies"
	default:
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// maxQuoted is the longest quotation, in characters, its marks included.
const maxQuoted = 80

// Quote quotes input for an error: at most 80 characters, longer text cut off
// with an ellipsis, control characters and broken UTF-8 escaped as in Go.
func Quote[T ~string | ~[]byte](input T) string {
	head := string(input[:min(len(input), maxQuoted*utf8.UTFMax)])
	quoted, count := []byte{'"'}, 1
	for at := 0; at < len(head); {
		_, size := utf8.DecodeRuneInString(head[at:])
		piece := strconv.Quote(head[at : at+size])
		piece = piece[1 : len(piece)-1]
		width := utf8.RuneCountInString(piece)
		if last := at+size == len(input); count+width > maxQuoted-2 && !(last && count+width == maxQuoted-1) {
			quoted = append(quoted, "…"...)
			break
		}
		quoted = append(quoted, piece...)
		count += width
		at += size
	}
	return string(append(quoted, '"'))
}

// A LimitError is a stream that holds more than it may.
type LimitError struct {
	Limit int64 // bytes
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("more than %s when unpacked, expected at most what memory allows", device.Size(e.Limit))
}

// Buffer is the size of a stream's buffer in bytes, where nothing is known about the stream.
const Buffer = 1 << 16

// Buffered is a stream with a buffer: its own, or one of Buffer bytes, or of what a text in memory has left where that is less.
func Buffered(r io.Reader) *bufio.Reader {
	if b, ok := r.(*bufio.Reader); ok {
		return b
	}
	size := Buffer
	if text, ok := r.(interface{ Len() int }); ok {
		size = min(size, max(64, text.Len()+1))
	}
	return bufio.NewReaderSize(r, size)
}
