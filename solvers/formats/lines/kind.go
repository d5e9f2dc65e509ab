// Package lines reads formats whose lines are words between blanks. A format is a declaration of its lines: keywords, fields with
// their ranges, and how many lines come; and an action for each. Head reads the lines that stand first, one by one, and Read the rest, on all
// cores. Their errors name the line, the column, the words found and the words expected.
//
// What must not enter: what a field means. Tables, whose cells may have quotes and whose columns may have names, are read by package csv.
package lines

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"coalesce/solvers/formats"
	"coalesce/solvers/formats/text"
)

// A Field is a word of a line: a whole number, or a word that an action reads.
type Field struct {
	name      string
	low, high int64
	from      int64 // what Record.Int subtracts
	word      bool
}

// Int is a whole number from low to high.
func Int(name string, low, high int64) Field { return Field{name: name, low: low, high: high} }

// Index is the number of one of count things, which the file numbers from a first number on: Record.Int counts from 0.
func Index(name string, first, count int64) Field {
	return Field{name: name, low: first, high: count - 1 + first, from: first}
}

// Word is any word.
func Word(name string) Field { return Field{name: name, word: true} }

// maxFields is the most fields that a line may have.
const maxFields = 6

// A Kind is a kind of line.
type Kind struct {
	Key      string  // the words that it begins with, each with its alternatives: "p edge|col"; empty: none
	Fields   []Field // the words behind the key, maxFields at most
	Optional int     // so many of the last fields may be missing; in Read, from all lines or from none
	Rest     bool    // more words may follow, which an action reads
	What     string  // what the line is, for errors; empty: its key and the names of its fields

	// Wrong makes the error of a line with another number of words; nil: the package makes one.
	Wrong func(words [][]byte) error
}

// what says what a line is.
func (k *Kind) what() string {
	if k.What != "" {
		return k.What
	}
	var names []string
	for _, f := range k.Fields {
		names = append(names, f.name)
	}
	list := strings.Join(names, ", ")
	if last := len(names) - 1; last > 0 {
		list = strings.Join(names[:last], ", ") + " and " + names[last]
	}
	switch key := strings.ReplaceAll(k.Key, "|", "/"); {
	case key == "":
		return list
	case list == "":
		return "a line of " + key
	default:
		return fmt.Sprintf("a line of %s: %s", key, list)
	}
}

// whatAll says what a line of one of some kinds is.
func whatAll(kinds []Kind) string {
	var list []string
	for _, k := range kinds {
		list = append(list, k.what())
	}
	return strings.Join(list, ", or ")
}

// mixedError is the error of a line of another number of fields than the first of its kind.
func (k *Kind) mixedError(found, want int) error {
	if found < want {
		return fmt.Errorf("found a line without a %s, expected one as in the lines before it", k.Fields[found].name)
	}
	return fmt.Errorf("found a line with a %s, expected none as in the lines before it", k.Fields[want].name)
}

// A key is the alternatives of each word.
type key [][]string

func parseKey(text string) key {
	var k key
	for word := range strings.FieldsSeq(text) {
		k = append(k, strings.Split(word, "|"))
	}
	return k
}

// matches reports whether a line begins with the key.
func (k key) matches(words [][]byte) bool {
	if len(words) < len(k) {
		return false
	}
	for n, list := range k {
		if !slices.Contains(list, string(words[n])) {
			return false
		}
	}
	return true
}

// fits reports whether so many words may follow the key.
func (k *Kind) fits(words int) bool {
	return words >= len(k.Fields)-k.Optional && (k.Rest || words <= len(k.Fields))
}

// wrongCount is the error of a line of another number of words behind the key.
func (k *Kind) wrongCount(words [][]byte) error {
	switch {
	case k.Wrong != nil:
		return k.Wrong(words)
	case k.Key != "":
		return fmt.Errorf("found %s after %s, expected %s", formats.Count(len(words), "word"), strings.ReplaceAll(k.Key, "|", "/"), k.what())
	}
	return fmt.Errorf("found %s, expected %s", formats.Count(len(words), "word"), k.what())
}

// A Record is a line.
type Record struct {
	Line  int      // from 1 in ReadHead; in Read from 0 within the block: Keep adds the block's FirstLine
	Kind  int      // which of the kinds it is of
	Words [][]byte // the fields, good during the call

	ints [maxFields]int64
}

// Int is a field that is a whole number; of an Index, from 0.
func (r *Record) Int(field int) int64 { return r.ints[field] }

// Has reports whether the line has a field.
func (r *Record) Has(field int) bool { return field < len(r.Words) }

// read reads the fields.
func (k *Kind) read(r *Record, words [][]byte) error {
	r.Words = words
	if !k.fits(len(words)) {
		return k.wrongCount(words)
	}
	for n, word := range words[:min(len(words), len(k.Fields))] {
		f := &k.Fields[n]
		if f.word {
			continue
		}
		v, ok := text.ParseInt(word)
		if !ok || v < f.low || v > f.high {
			_, err := text.ParseWhole(word, f.name, f.low, f.high)
			return WordError(word, err)
		}
		r.ints[n] = v - f.from
	}
	return nil
}

// plainShape is that of plain lines; without fields where none can be plain.
func (k *Kind) plainShape() text.Shape {
	first, _, _ := strings.Cut(k.Key, "|")
	if k.Rest || strings.Contains(first, " ") {
		return text.Shape{}
	}
	s := text.Shape{Key: first, Fields: len(k.Fields)}
	for n, f := range k.Fields {
		if !f.word {
			s.Whole |= 1 << n
		}
	}
	return s
}

// inRange reports whether the whole numbers of a plain line are within their ranges. They count from the first index then.
func (k *Kind) inRange(r *Record, words [][]byte) bool {
	for n := range words {
		f := &k.Fields[n]
		if f.word {
			continue
		}
		v := r.ints[n]
		if v < f.low || v > f.high {
			return false
		}
		r.ints[n] = v - f.from
	}
	return true
}

// A wordError is an error of a word of a line.
type wordError struct {
	word []byte
	err  error
}

func (e *wordError) Error() string { return e.err.Error() }
func (e *wordError) Unwrap() error { return e.err }

// WordError is an error of a word of a record. What reads the record adds the word's line and column.
func WordError(word []byte, err error) error {
	if err == nil {
		return nil
	}
	return &wordError{word, err}
}

// A place is a file or a block, which knows where its last line is.
type place interface {
	Name() string
	LineNumber() int
	Column(word []byte) int
}

// withPlace adds the line, and the column where it is known, to an error that has none.
func withPlace(p place, err error) error {
	var placed *formats.Error
	if errors.As(err, &placed) {
		return err
	}
	placed = &formats.Error{File: p.Name(), Line: p.LineNumber(), Err: err}
	var of *wordError
	if errors.As(err, &of) {
		placed.Column = p.Column(of.word)
		if err == error(of) {
			placed.Err = of.err
		}
	}
	return placed
}

// ReadHead reads the next line, which is of one of some kinds. The record is good until the next line is read.
func ReadHead(f *text.File, kinds ...Kind) (Record, error) {
	expected := func() string { return whatAll(kinds) }
	words, err := f.Fields()
	switch {
	case errors.Is(err, io.EOF):
		return Record{}, f.Errorf("found the end of the file, expected %s", expected())
	case err != nil:
		return Record{}, err
	}
	r := Record{Line: f.LineNumber()}
	known := false
	for n := range kinds {
		k := parseKey(kinds[n].Key)
		if !k.matches(words) {
			continue
		}
		if known = true; kinds[n].fits(len(words) - len(k)) {
			r.Kind = n
			if err := kinds[n].read(&r, words[len(k):]); err != nil {
				return r, withPlace(f, err)
			}
			return r, nil
		}
	}
	if !known {
		found := bytes.Join(words[:min(len(parseKey(kinds[0].Key)), len(words))], []byte(" "))
		return r, withPlace(f, WordError(words[0], fmt.Errorf("found %s, expected %s", formats.Quote(found), expected())))
	}
	return r, f.Errorf("found %s, expected %s", formats.Count(len(words), "word"), expected())
}
