package tokens

import (
	"bufio"
	"bytes"
	"io"
)

// quoteLiterals reads JSON as Python's json writes it: NaN, Infinity and -Infinity, which JSON lacks, become strings. Lines stay
// the same.
func quoteLiterals(r io.Reader) io.Reader { return &literalReader{in: bufio.NewReader(r)} }

type literalReader struct {
	in      *bufio.Reader
	quoted  bool   // within a string
	escaped bool   // behind a backslash
	out     []byte // written, and not yet read
	err     error
}

// longest is the length of the longest word.
const longest = len("-Infinity")

// Read is io.Reader.
func (l *literalReader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	n := copy(p, l.out)
	l.out = l.out[n:]
	for n < len(p) && len(l.out) == 0 && l.err == nil && (n == 0 || l.in.Buffered() > 0) {
		c, err := l.in.ReadByte()
		if err != nil {
			l.err = err
			break
		}
		switch {
		case l.escaped:
			l.escaped = false
		case l.quoted:
			l.quoted, l.escaped = c != '"', c == '\\'
		case c == '"':
			l.quoted = true
		case c == 'N' || c == 'I' || c == '-':
			if word := l.word(c); word != nil {
				l.in.Discard(len(word) - 1) // bytes that were seen: there is no error
				l.out = append(append([]byte{'"'}, word...), '"')
				k := copy(p[n:], l.out)
				n, l.out = n+k, l.out[k:]
				continue
			}
		}
		p[n] = c
		n++
	}
	if n == 0 {
		return 0, l.err
	}
	return n, nil
}

// word is the word that a byte begins, nil where it begins none.
func (l *literalReader) word(first byte) []byte {
	rest, _ := l.in.Peek(longest - 1) // the next read returns the error again
	for _, word := range []string{"NaN", "Infinity", "-Infinity"} {
		if word[0] == first && bytes.HasPrefix(rest, []byte(word[1:])) {
			return []byte(word)
		}
	}
	return nil
}
