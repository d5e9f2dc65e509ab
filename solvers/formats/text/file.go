// Package text reads large text on all cores. One goroutine reads, or decompresses, a file block by
// block; blocks end where lines or words end. Every core parses blocks of its own, and the results
// are kept in the order of the file. Errors have lines of the file, wherever blocks end; of several
// errors the first in the file is returned.
package text

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"coalesce/solvers/formats"
)

// Lengths in bytes, where Options say 0.
const (
	DefaultBlock = 1 << 20
	DefaultLine  = 1 << 28
	DefaultWord  = 1 << 16
)

// Options say how text is cut, and how long lines and words may be.
type Options struct {
	Comment string          // first word of lines to pass over begins with this; empty: there are no comments
	Block   int             // bytes that a core parses at once; 0: DefaultBlock
	Line    int             // longest line; 0: DefaultLine
	Word    int             // longest word, where blocks are cut between words; 0: DefaultWord
	Size    int64           // bytes of the file, where they are known, else 0 or less: what File.EstimateRest counts with
	Budget  *formats.Budget // for lines longer than a block; nil: no limit

	// ReadComment gets the comments that Fields passes over, in the order of the file, without Comment and without blanks at
	// both ends. Its errors get the comment's line. It may be nil.
	ReadComment func(line int, comment string) error
}

// A File is text that is read from its beginning to its end: first line by line
// or word by word (Line, Fields, Word), the rest on all cores (ParseBlocks).
type File struct {
	name  string
	r     *bufio.Reader
	o     Options
	ended int   // line ends passed
	last  int   // line of the last line or word, from 1
	kept  int64 // bytes of the blocks that ParseBlocks has kept, with the one of keep
	buf   []byte
	line  []byte // the last line that Fields read
	words [][]byte
}

// New reads text from a stream; name is what errors call the file. A byte order mark of UTF-8 is
// passed over; text of another encoding is an error, and so are lines that end with carriage returns
// alone.
func New(r io.Reader, name string, o Options) (*File, error) {
	o.Block = orElse(o.Block, DefaultBlock)
	o.Line = orElse(o.Line, DefaultLine)
	o.Word = orElse(o.Word, DefaultWord)
	f := &File{name: name, r: formats.Buffered(r), o: o}
	head, err := f.r.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, f.streamFailure(1, err)
	}
	mark, err := formats.CheckEncoding(head)
	if err != nil {
		return nil, formats.Errorf(name, 1, "%w", err)
	}
	f.r.Discard(mark)                   // the bytes were seen: there is no error
	seen, _ := f.r.Peek(f.r.Buffered()) // as much as is there: no read
	if returns(seen) {
		return nil, formats.Errorf(name, 1, `found lines that end with a carriage return alone, expected line feeds: tr '\r' '\n' makes them`)
	}
	return f, nil
}

// returns reports whether the beginning of a text has a carriage return within its first line, before a
// byte that is no second one: old spreadsheets end lines so.
func returns(text []byte) bool {
	if k := bytes.IndexByte(text, '\n'); k >= 0 {
		return false
	}
	k := bytes.IndexByte(text, '\r')
	return k >= 0 && len(bytes.TrimLeft(text[k:], "\r")) > 0
}

func orElse(value, other int) int {
	if value > 0 {
		return value
	}
	return other
}

// Name is what errors call the file.
func (f *File) Name() string { return f.name }

// LineNumber is the line of the last line or word read, from 1; after ParseBlocks, the
// last line of the file.
func (f *File) LineNumber() int { return max(1, f.last) }

// Errorf is an error at the last line or word read.
func (f *File) Errorf(format string, args ...any) error {
	return formats.Errorf(f.name, f.LineNumber(), format, args...)
}

// streamFailure is an error of the stream at a line. Streams that are too long have no
// line: the length is that of the whole file.
func (f *File) streamFailure(line int, err error) error {
	var long *formats.LimitError
	if errors.As(err, &long) {
		line = 0
	}
	return &formats.Error{File: f.name, Line: line, Err: err}
}

// EstimateRest estimates, during keep, how many items follow in the file, where the blocks so far have count of them: 0 where
// the file's size is not known.
func (f *File) EstimateRest(count int) int {
	if f.kept == 0 || f.o.Size <= f.kept {
		return 0
	}
	return int(float64(count) * 1.01 * float64(f.o.Size-f.kept) / float64(f.kept))
}

// errLong is the error of a line or word that is too long.
func errLong(what string, limit int) error {
	return fmt.Errorf("found a %s of more than %d bytes, expected a shorter one", what, limit)
}

// Line is the next line without its end, good until the next call; io.EOF at
// the end of the file.
func (f *File) Line() ([]byte, error) {
	part, err := f.r.ReadSlice('\n')
	if err == nil {
		f.ended++
		f.last = f.ended
		return f.short(part)
	}
	f.buf = f.buf[:0]
	for {
		if len(f.buf)+len(part) > f.o.Line+len("\r\n") {
			return nil, formats.Errorf(f.name, f.ended+1, "%w", errLong("line", f.o.Line))
		}
		grown, memory := formats.Grow(f.o.Budget, f.buf, len(part))
		if memory != nil {
			return nil, formats.Errorf(f.name, f.ended+1, "found a line that takes %w", memory)
		}
		f.buf = append(grown, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			break
		}
		part, err = f.r.ReadSlice('\n')
	}
	switch {
	case err == nil:
		f.ended++
		f.last = f.ended
	case !errors.Is(err, io.EOF):
		return nil, f.streamFailure(f.ended+1, err)
	case len(f.buf) == 0:
		return nil, io.EOF
	default:
		f.last = f.ended + 1
	}
	return f.short(f.buf)
}

// short returns a line without its end, or an error if the line is too long.
func (f *File) short(line []byte) ([]byte, error) {
	if line = trimEnd(line); len(line) > f.o.Line {
		return nil, f.Errorf("%w", errLong("line", f.o.Line))
	}
	return line, nil
}

// Fields are the words of the next line that has any and is no comment, good
// until the next call; io.EOF at the end of the file.
func (f *File) Fields() ([][]byte, error) {
	for {
		line, err := f.Line()
		if err != nil {
			return nil, err
		}
		f.line, f.words = line, SplitWords(f.words[:0], line)
		switch {
		case len(f.words) == 0:
		case !f.o.isComment(f.words[0]):
			return f.words, nil
		default:
			if err := f.readComment(f.LineNumber(), line); err != nil {
				return nil, err
			}
		}
	}
}

// readComment passes a comment on.
func (f *File) readComment(line int, comment []byte) error {
	if f.o.ReadComment == nil {
		return nil
	}
	comment = bytes.TrimSpace(comment)
	if err := f.o.ReadComment(line, string(bytes.TrimSpace(comment[len(f.o.Comment):]))); err != nil {
		return formats.Errorf(f.name, line, "%w", err)
	}
	return nil
}

// Column is the column of a word of the last Fields, from 1, in bytes.
func (f *File) Column(word []byte) int { return 1 + cap(f.line) - cap(word) }

// Word is the next word, wherever lines end, good until the next call; io.EOF
// at the end of the file. Comments are not passed over.
func (f *File) Word() ([]byte, error) {
	f.buf = f.buf[:0]
	for {
		c, err := f.r.ReadByte()
		switch {
		case err != nil && !errors.Is(err, io.EOF):
			return nil, f.streamFailure(f.ended+1, err)
		case err != nil && len(f.buf) == 0:
			return nil, io.EOF
		case err != nil:
			return f.buf, nil
		case isBlank(c) && len(f.buf) > 0:
			return f.buf, f.r.UnreadByte()
		case c == '\n':
			f.ended++
		case isBlank(c):
		case len(f.buf) == f.o.Word:
			return nil, formats.Errorf(f.name, f.ended+1, "%w", errLong("word", f.o.Word))
		default:
			f.last = f.ended + 1
			f.buf = append(f.buf, c)
		}
	}
}

func (o Options) isComment(word []byte) bool {
	return o.Comment != "" && len(word) >= len(o.Comment) && string(word[:len(o.Comment)]) == o.Comment
}

// trimEnd removes the line's end.
func trimEnd(line []byte) []byte {
	if k := len(line); k > 0 && line[k-1] == '\n' {
		line = line[:k-1]
	}
	if k := len(line); k > 0 && line[k-1] == '\r' {
		line = line[:k-1]
	}
	return line
}
