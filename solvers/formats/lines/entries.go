package lines

import (
	"coalesce/solvers/formats"
	"coalesce/solvers/formats/text"
)

// Entries are lines of a row, a column and a number each, in the order of the file.
type Entries struct {
	Row, Column []int32 // from 0
	Numbers     text.Numbers
	Lines       text.Positions
}

// leastLine is the length in bytes of the shortest line of an entry, "1 1 1" and its end.
const leastLine = 6

// MaxEntries is how many of count entries a file of so many bytes can hold; a size below 0 is not known.
func MaxEntries(count, size int64) int64 { return max(0, min(count, size/leastLine)) }

// Reserve makes room for count entries.
func (e *Entries) Reserve(b *formats.Budget, count int) (err error) {
	if e.Row, err = formats.Grow(b, e.Row, count); err != nil {
		return err
	}
	if e.Column, err = formats.Grow(b, e.Column, count); err != nil {
		return err
	}
	return e.Numbers.Reserve(b, count)
}

// Add adds an entry of a block, whose number is a word; false where that is none.
func (e *Entries) Add(line int, row, column int32, number []byte) bool {
	if !e.Numbers.Add(number) {
		return false
	}
	e.Place(line, row, column)
	return true
}

// Place adds an entry of a block, whose number was added.
func (e *Entries) Place(line int, row, column int32) {
	e.Row, e.Column = append(e.Row, row), append(e.Column, column)
	e.Lines.Add(line)
}

// Append adds the entries of a block that begins at a line; so many more are likely to follow in the file.
func (e *Entries) Append(b *formats.Budget, part *Entries, first, follow int) (err error) {
	if e.Row, err = formats.GrowAhead(b, e.Row, len(part.Row), follow); err != nil {
		return err
	}
	if e.Column, err = formats.GrowAhead(b, e.Column, len(part.Column), follow); err != nil {
		return err
	}
	if err = e.Numbers.GrowAhead(b, part.Numbers.Len(), follow); err == nil {
		err = e.Numbers.Append(b, &part.Numbers)
	}
	if err != nil {
		return err
	}
	e.Row, e.Column = append(e.Row, part.Row...), append(e.Column, part.Column...)
	return e.Lines.Append(b, &part.Lines, first)
}

// Reset forgets the entries and keeps the memory.
func (e *Entries) Reset() {
	e.Row, e.Column = e.Row[:0], e.Column[:0]
	e.Numbers.Reset()
	e.Lines.Reset()
}
