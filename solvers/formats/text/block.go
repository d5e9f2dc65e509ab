package text

import (
	"bytes"

	"coalesce/solvers/formats"
)

// A Block is a part of a file, from one boundary to another, that one core
// parses. The words and lines that it returns are valid during parse and during keep.
type Block struct {
	name    string
	comment string
	data    []byte
	at      int
	first   int // the file's line in which the block begins; 0 during parse
	ended   int // line ends passed
	last    int // line ends before the last line or word
	words   [][]byte
}

// NewBlock is a block of text that begins at a line of a file, for lines that
// were read with File.Line and are to be parsed like those of Each.
func NewBlock(name string, line int, data []byte) *Block {
	return &Block{name: name, data: data, first: line}
}

// Line is the next line without its end.
func (b *Block) Line() ([]byte, bool) {
	if b.at == len(b.data) {
		return nil, false
	}
	b.last = b.ended
	rest := b.data[b.at:]
	if k := bytes.IndexByte(rest, '\n'); k >= 0 {
		rest = rest[:k+1]
		b.ended++
	}
	b.at += len(rest)
	return trimEnd(rest), true
}

// Fields are the words of the next line that has any and is no comment, good
// until the next call.
func (b *Block) Fields() ([][]byte, bool) {
	o := Options{Comment: b.comment}
	for {
		line, ok := b.Line()
		if !ok {
			return nil, false
		}
		if b.words = Split(b.words[:0], line); len(b.words) > 0 && !o.comment(b.words[0]) {
			return b.words, true
		}
	}
}

// Word is the next word, wherever lines end. Comments are not passed over.
func (b *Block) Word() ([]byte, bool) {
	data, at := b.data, b.at
	for at < len(data) && blank(data[at]) {
		if data[at] == '\n' {
			b.ended++
		}
		at++
	}
	from := at
	for at < len(data) && !blank(data[at]) {
		at++
	}
	b.at, b.last = at, b.ended
	return data[from:at], from < at
}

// Number is the line of the last line or word: counted from 0 within the block
// during parse, from 1 within the file during keep.
func (b *Block) Number() int { return b.first + b.last }

// First is, during keep, the file's line in which the block begins. A line that parse counted from 0
// within the block has the number First plus that in the file.
func (b *Block) First() int { return b.first }

// Errorf is an error at the last line or word.
func (b *Block) Errorf(format string, args ...any) error {
	return formats.Errorf(b.name, b.Number(), format, args...)
}

// Rewind goes back to the beginning of the block.
func (b *Block) Rewind() { b.at, b.ended, b.last = 0, 0, 0 }
