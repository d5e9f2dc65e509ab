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
	o       Options // those of Fields
	data    []byte
	at      int
	first   int // the file's line in which the block begins; 0 during parse
	ended   int // line ends before the place up to which they were counted
	counted int // that place
	word    int // where the last word begins, whose line is not known yet; -1: none
	last    int // line ends before the last line or word
	words   [][]byte

	comments []comment // that Fields passed over, for Options.ReadComment
}

// A comment is a comment's text and line, from 0 within the block.
type comment struct {
	text []byte
	line int
}

// NewBlock is a block of text that begins at a line of a file, for lines that
// were read with File.Line and are to be parsed like those of ParseBlocks.
func NewBlock(name string, line int, data []byte) *Block {
	return &Block{name: name, data: data, first: line, word: -1}
}

// Name is what errors call the file.
func (b *Block) Name() string { return b.name }

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
	for {
		line, ok := b.Line()
		if !ok {
			return nil, false
		}
		b.words = SplitWords(b.words[:0], line)
		switch words := b.words; {
		case len(words) == 0:
		case !b.o.isComment(words[0]):
			return words, true
		case b.o.ReadComment != nil && b.first == 0: // once, during parse
			b.comments = append(b.comments, comment{line, b.last})
		}
	}
}

// A Shape describes most lines of a list: a key or none, then fields, some of them whole numbers.
type Shape struct {
	Key    string // first word; empty: none
	Fields int    // words behind it
	Whole  uint   // bit k: field k is a whole number
}

// PlainFields are Fields of the next line where that is plain and has a shape: the key stands first on its line, and whole numbers,
// which go to numbers, have 1 to 15 digits and no sign. PlainFields does not read another line, and returns nil.
func (b *Block) PlainFields(s *Shape, numbers []int64) [][]byte {
	data, at, words := b.data, b.at, b.words[:0]
	if s.Fields == 0 {
		return nil
	}
	if s.Key != "" {
		end := at + len(s.Key)
		if end+1 >= len(data) || string(data[at:end]) != s.Key || data[end] != ' ' && data[end] != '\t' {
			return nil
		}
		at = end + 1
	}
	for k := range s.Fields {
		for at < len(data) && (data[at] == ' ' || data[at] == '\t') {
			at++
		}
		if at+8 > len(data) {
			return nil
		}
		from, x := at, loadWord(data, at)
		if s.Whole>>k&1 != 0 {
			count, value := leadingDigits(x)
			if count == 8 && at+16 <= len(data) {
				more, rest := leadingDigits(loadWord(data, at+8))
				count, value = 8+more, value*powers[more]+rest
			}
			if count&7 == 0 { // none, or perhaps more
				return nil
			}
			numbers[k] = int64(value)
			at += count
		} else {
			if low := markBlanks(x); low != 0 {
				at += bits.TrailingZeros64(low) >> 3
			}
			if at == from || !isBlank(data[at]) {
				at = WordEnd(data, at)
			}
			if k == 0 && s.Key == "" && b.o.Comment != "" && data[from] == b.o.Comment[0] {
				return nil
			}
		}
		if at == from || at == len(data) || !isBlank(data[at]) || data[at] == '\n' && k < s.Fields-1 {
			return nil
		}
		words = append(words, data[from:at])
	}
	for at < len(data) && data[at] != '\n' && isBlank(data[at]) {
		at++
	}
	if at == len(data) || data[at] != '\n' {
		return nil
	}
	b.count(b.at)
	at++
	b.ended++
	b.at, b.counted, b.words = at, at, words
	return words
}

// LineInside is the line of the last Fields, from 0 within the block.
func (b *Block) LineInside() int { return b.last }

// place is where a word begins.
func (b *Block) place(word []byte) int { return cap(b.data) - cap(word) }

// Column is the column of a word of the last Fields, from 1, in bytes.
func (b *Block) Column(word []byte) int {
	at := b.place(word)
	return at - bytes.LastIndexByte(b.data[:at], '\n')
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
		if !n.Floats && !n.Unsigned {
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

// LineNumber is the line of the last line or word: counted from 0 within the block
// during parse, from 1 within the file during keep.
func (b *Block) LineNumber() int {
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
	return formats.Errorf(b.name, b.LineNumber(), format, args...)
}

// Rewind goes back to the beginning of the block.
func (b *Block) Rewind() { b.at, b.ended, b.counted, b.word, b.last = 0, 0, 0, -1, 0 }
