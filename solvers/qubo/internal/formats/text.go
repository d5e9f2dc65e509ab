package formats

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// maxLine is the longest line of a text file, in bytes.
const maxLine = 1 << 20

// lines reads a text file line by line, and passes over comments.
type lines struct {
	r       *bufio.Reader
	name    string
	comment string // what begins a comment; empty: nothing does
	said    func(comment string)
	line    int   // of the last line read, from 1
	loops   int64 // entries so far of a variable with itself
	buf     []byte
	words   [][]byte
}

// next is the next line without its end, good until the one after is asked
// for, or io.EOF.
func (l *lines) next() ([]byte, error) {
	part, err := l.r.ReadSlice('\n')
	if err == nil {
		l.line++
		return part, nil
	}
	l.buf = append(l.buf[:0], part...)
	for errors.Is(err, bufio.ErrBufferFull) {
		if len(l.buf) > maxLine {
			return nil, fmt.Errorf("%s:%d: found a line beyond %d bytes, expected a shorter one", l.name, l.line+1, maxLine)
		}
		part, err = l.r.ReadSlice('\n')
		l.buf = append(l.buf, part...)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s:%d: %w", l.name, l.line+1, err)
	}
	if err != nil && len(l.buf) == 0 {
		return nil, io.EOF
	}
	l.line++
	return l.buf, nil
}

// fields are the words of the next line that has any and is no comment; io.EOF
// at the end.
func (l *lines) fields() ([][]byte, error) {
	for {
		text, err := l.next()
		if err != nil {
			return nil, err
		}
		l.words = split(l.words[:0], text)
		switch {
		case len(l.words) == 0:
		case l.comment != "" && bytes.HasPrefix(l.words[0], []byte(l.comment)):
			if l.said != nil {
				l.said(string(bytes.TrimSpace(text)))
			}
		default:
			return l.words, nil
		}
	}
}

// split is bytes.Fields without its allocations.
func split(words [][]byte, text []byte) [][]byte {
	begin := -1
	for k, c := range text {
		blank := c == ' ' || c >= '\t' && c <= '\r'
		switch {
		case blank && begin >= 0:
			words, begin = append(words, text[begin:k]), -1
		case !blank && begin < 0:
			begin = k
		}
	}
	if begin >= 0 {
		words = append(words, text[begin:])
	}
	return words
}

// want are the next line's words, so many of them.
func (l *lines) want(count int, what string) ([][]byte, error) {
	f, err := l.fields()
	switch {
	case err != nil:
		return nil, l.ended(err, what)
	case len(f) != count:
		return nil, l.errorf("found %d words, expected %s", len(f), what)
	}
	return f, nil
}

// ended is the error of a line that was expected and not read: the end of the
// file, or what kept it from being read.
func (l *lines) ended(err error, what string) error {
	if errors.Is(err, io.EOF) {
		return l.errorf("found the end of the file, expected %s", what)
	}
	return err
}

// end wants no more words.
func (l *lines) end(after string) error {
	f, err := l.fields()
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return err
	}
	return l.errorf("found %q after %s, expected the end of the file", brief(f[0]), after)
}

// errorf is an error at the last line read.
func (l *lines) errorf(format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w", l.name, max(1, l.line), fmt.Errorf(format, args...))
}
