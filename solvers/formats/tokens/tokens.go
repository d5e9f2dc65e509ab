// Package tokens reads JSON token by token, without holding its text, and makes errors with the line, what was found and what was
// expected. Python's NaN and infinities are strings.
//
// What must not enter: what a key means.
package tokens

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sort"

	"coalesce/solvers/formats"
)

// maxWord is the longest key or value, and the most blanks between two, in bytes: the decoder holds as much.
const maxWord = 1 << 20

// A Reader reads one value.
type Reader struct {
	name   string
	dec    *json.Decoder
	in     io.Reader
	at     int64   // bytes read
	passed int     // line ends before the decoder's place, which are no longer kept
	ends   []int64 // byte offsets of the line ends that are kept
}

// New reads from a stream; name is what errors call it.
func New(in io.Reader, name string) *Reader {
	r := &Reader{name: name, in: quoteLiterals(in)}
	r.dec = json.NewDecoder(lineReader{r})
	r.dec.UseNumber()
	return r
}

// A lineReader is what the decoder reads from: it remembers where the lines begin that the decoder has not passed.
type lineReader struct{ of *Reader }

// Read is io.Reader.
func (l lineReader) Read(p []byte) (int, error) {
	r := l.of
	if r.at-r.dec.InputOffset() > maxWord {
		return 0, fmt.Errorf("found a word, or blanks, of more than %d bytes, expected shorter ones", maxWord)
	}
	k, err := r.in.Read(p)
	for i, b := range p[:k] {
		if b == '\n' {
			r.ends = append(r.ends, r.at+int64(i))
		}
	}
	r.at += int64(k)
	return k, err
}

// line is the line of a byte that the decoder has not passed, from 1.
func (r *Reader) line(offset int64) int {
	k := sort.Search(len(r.ends), func(i int) bool { return r.ends[i] >= offset })
	if offset <= r.dec.InputOffset() && k > 0 {
		r.passed += k
		r.ends = append(r.ends[:0], r.ends[k:]...)
		k = 0
	}
	return 1 + r.passed + k
}

// Line is the line of the last token.
func (r *Reader) Line() int { return r.line(r.dec.InputOffset()) }

// Errorf is an error at the last token.
func (r *Reader) Errorf(format string, args ...any) error {
	return formats.Errorf(r.name, r.Line(), format, args...)
}

// Token reads the next token. Errors say that want was expected.
func (r *Reader) Token(want string) (json.Token, error) {
	token, err := r.dec.Token()
	if err == nil {
		return token, nil
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	line := r.Line()
	var syntax *json.SyntaxError
	var long *formats.LimitError
	switch {
	case errors.As(err, &syntax):
		line = max(line, r.line(syntax.Offset-1))
	case errors.As(err, &long):
		return nil, formats.Errorf(r.name, 0, "%w", err)
	case err != io.ErrUnexpectedEOF: // an error of reading, not of the JSON
		return nil, formats.Errorf(r.name, line, "%w", err)
	}
	return nil, formats.Errorf(r.name, line, "found broken JSON, expected %s: %w", want, err)
}

// TokenError is the error of the last token.
func (r *Reader) TokenError(token json.Token, want string) error {
	found := fmt.Sprint(token)
	switch token := token.(type) {
	case string:
		found = formats.Quote(token)
	case nil:
		found = "null"
	}
	return r.Errorf("found %s, expected %s", found, want)
}

// ExpectOpen reads a brace or a bracket, which begins what want says.
func (r *Reader) ExpectOpen(bracket json.Delim, want string) error {
	token, err := r.Token(want)
	if err == nil && token != bracket {
		err = r.TokenError(token, want)
	}
	return err
}

// Fields reads an object behind its brace, and calls field with each key.
func (r *Reader) Fields(want string, field func(key string) error) error {
	return r.Items(want, func() error {
		token, err := r.Token("a key")
		if err != nil {
			return err
		}
		key, _ := token.(string)
		return field(key)
	})
}

// Items reads a list behind its bracket, and calls item before each of its items.
func (r *Reader) Items(want string, item func() error) error {
	for r.dec.More() {
		if err := item(); err != nil {
			return err
		}
	}
	_, err := r.Token("the end of " + want)
	return err
}

// More reports whether another value follows one that is no part of a list or an object, as in files of a JSON value a line.
func (r *Reader) More() bool { return r.dec.More() }

// ExpectEnd is an error unless the text ends.
func (r *Reader) ExpectEnd() error {
	var syntax *json.SyntaxError
	switch _, err := r.dec.Token(); {
	case err == nil || errors.As(err, &syntax):
		return r.Errorf("found more after the JSON, expected the end of the file")
	case err != io.EOF:
		return formats.Errorf(r.name, r.Line(), "%w", err)
	}
	return nil
}
