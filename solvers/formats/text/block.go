package text

import (
	"bytes"
	"math/bits"

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
	ended   int // line ends before the place up to which they were counted
	counted int // that place
	word    int // where the last word begins, whose line is not known yet; -1: none
	last    int // line ends before the last line or word
	words   [][]byte
}

// NewBlock is a block of text that begins at a line of a file, for lines that
// were read with File.Line and are to be parsed like those of ParseBlocks.
func NewBlock(name string, line int, data []byte) *Block {
	return &Block{name: name, data: data, first: line, word: -1}
}

// Line is the next line without its end.
func (b *Block) Line() ([]byte, bool) {
	if b.at == len(b.data) {
		return nil, false
	}
	b.count(b.at)
	rest := b.data[b.at:]
	if k := bytes.IndexByte(rest, '\n'); k >= 0 {
		rest = rest[:k+1]
		b.ended++
	}
	b.at += len(rest)
	b.counted = b.at
	return trimEnd(rest), true
}

// count counts the line ends before a place, which are those before the last line or word.
func (b *Block) count(place int) {
	if b.counted < place {
		b.ended += bytes.Count(b.data[b.counted:place], []byte("\n"))
		b.counted = place
	}
	b.word, b.last = -1, b.ended
}

// Fields are the words of the next line that has any and is no comment, good
// until the next call.
func (b *Block) Fields() ([][]byte, bool) {
	o := Options{Comment: b.comment}
	data := b.data
	for b.at < len(data) {
		b.count(b.at)
		at, words := b.at, b.words[:0]
		for at < len(data) && data[at] != '\n' {
			if isBlank(data[at]) {
				at++
				continue
			}
			from := at
			if at+8 <= len(data) { // most words are short: without a call
				if low := markBlanks(loadWord(data, at)); low != 0 {
					at += bits.TrailingZeros64(low) >> 3
				}
			}
			if at == from || !isBlank(data[at]) {
				at = WordEnd(data, at)
			}
			words = append(words, data[from:at])
		}
		if at < len(data) {
			at++
			b.ended++
		}
		b.at, b.counted, b.words = at, at, words
		if len(words) > 0 && !o.isComment(words[0]) {
			return words, true
		}
	}
	return nil, false
}

// Word is the next word, wherever lines end. Comments are not passed over.
func (b *Block) Word() ([]byte, bool) {
	data, at := b.data, b.at
	for at < len(data) && isBlank(data[at]) {
		at++
	}
	b.word = at // lines are counted where one is asked for
	b.at = WordEnd(data, at)
	return data[at:b.at], at < b.at
}

// addNumbers adds the numbers of the rest of the block, as Numbers.Add reads words, up to a word that is none: nil where
// all are numbers.
func (b *Block) addNumbers(n *Numbers) (wrong []byte) {
	for {
		if !n.Floats {
			b.at, n.Whole = wholes(b.data, b.at, n.Whole)
		}
		word, ok := b.Word()
		if !ok {
			return nil
		}
		if !n.Add(word) {
			return word
		}
	}
}

// wholes appends the whole numbers of a text from a place on, up to a word that is longer than 8 bytes or something
// else, or near the end of the text. It returns a place before that word, and the list.
func wholes(text []byte, at int, list []int64) (int, []int64) {
	for at+9 < len(text) {
		c := text[at]
		if isBlank(c) {
			at++
			continue
		}
		from, sign := at, int64(1)
		if c == '-' {
			at, sign = at+1, -1
		}
		count, value := leadingDigits(loadWord(text, at))
		if count == 0 || !isBlank(text[at+count]) {
			return from, list
		}
		at += count + 1
		list = append(list, sign*int64(value))
	}
	return at, list
}

// Number is the line of the last line or word: counted from 0 within the block
// during parse, from 1 within the file during keep.
func (b *Block) Number() int {
	if b.word >= 0 {
		b.count(b.word)
	}
	return b.first + b.last
}

// FirstLine is, during keep, the file's line in which the block begins. A line that parse counted from 0
// within the block has the number FirstLine plus that in the file.
func (b *Block) FirstLine() int { return b.first }

// Errorf is an error at the last line or word.
func (b *Block) Errorf(format string, args ...any) error {
	return formats.Errorf(b.name, b.Number(), format, args...)
}

// Rewind goes back to the beginning of the block.
func (b *Block) Rewind() { b.at, b.ended, b.counted, b.word, b.last = 0, 0, 0, -1, 0 }
