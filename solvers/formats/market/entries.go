package market

import (
	"context"
	"fmt"

	"coalesce/solvers/formats"
	"coalesce/solvers/formats/text"
)

// An Entry is a line of coordinates.
type Entry struct {
	Row, Column int32  // from 0
	Word        []byte // the value, good during the call; nil in a pattern
	Line        int    // from 0 within the block: Keep adds the block's First
}

// A Body is what becomes of entries. Parts are the entries of a block of lines;
// New and Entry are called on all cores, Keep in the order of the file.
type Body[T any] struct {
	New   func() T                          // an empty part
	Entry func(part T, e Entry) error       // errors get `file:line:`
	Keep  func(b *text.Block, part T) error // the next part
}

// ReadEntries reads the entries of a file of coordinates, as many as the head
// says. An entry on the diagonal of a skew-symmetric matrix is an error; those
// that a symmetry implies are the caller's to add, as are repeated ones to bear.
func ReadEntries[T any](ctx context.Context, f *text.File, h Head, body Body[T]) error {
	count, what := 3, "row, column and value"
	if h.Field == Pattern {
		count, what = 2, "row and column"
	}
	return readLines(ctx, f, h, count, what, body.New, body.Keep, func(part T, line int, words [][]byte) error {
		e := Entry{Line: line}
		for _, side := range []struct {
			to   *int32
			word []byte
			what string
			most int
		}{{&e.Row, words[0], "row", h.Rows}, {&e.Column, words[1], "column", h.Columns}} {
			v, err := text.Whole(side.word, side.what, 1, int64(side.most))
			if err != nil {
				return err
			}
			*side.to = int32(v - 1)
		}
		if h.Symmetry == Skew && e.Row == e.Column {
			return fmt.Errorf("found an entry on the diagonal, row %d, of a skew-symmetric matrix, expected none", e.Row+1)
		}
		if h.Field != Pattern {
			e.Word = words[2]
			if err := h.value(e.Word); err != nil {
				return err
			}
		}
		return body.Entry(part, e)
	})
}

// ReadArray reads the values of an array, column by column: all, those from the
// diagonal down of a symmetric one, those below the diagonal of a skew-symmetric
// one. n holds them in the order of the file; bad is the error of a word that is
// no number. Memory comes from the budget, for all values at once.
func ReadArray(ctx context.Context, f *text.File, h Head, b *formats.Budget, n *text.Numbers, bad func(word []byte) error) error {
	if err := b.Fits(uint64(h.Entries), 1, 8); err != nil {
		return f.Errorf("%d x %d values take %w", h.Rows, h.Columns, err)
	}
	if err := n.Reserve(b, int(h.Entries)); err != nil {
		return f.Errorf("%d x %d values take %w", h.Rows, h.Columns, err)
	}
	parts := text.Pool(n.Infinite)
	keep := func(_ *text.Block, part *text.Numbers) error {
		if err := n.Append(b, part); err != nil {
			return err
		}
		part.Reset()
		parts.Put(part)
		return nil
	}
	return readLines(ctx, f, h, 1, "one value", func() *text.Numbers { return parts.Get().(*text.Numbers) }, keep,
		func(part *text.Numbers, _ int, words [][]byte) error {
			if err := h.value(words[0]); err != nil {
				return err
			}
			if !part.Add(words[0]) {
				return bad(words[0])
			}
			return nil
		})
}

// value wants whole numbers, or infinities, in a matrix of integers.
func (h Head) value(word []byte) error {
	if h.Field != Integer || text.Infinity(word) != 0 {
		return nil
	}
	for k, c := range word {
		if c-'0' > 9 && (k > 0 || c != '-' && c != '+' || len(word) == 1) {
			return fmt.Errorf("found %s in a matrix of integers, expected a whole number", formats.Quote(word))
		}
	}
	return nil
}

// readLines reads h.Entries lines of so many words each and wants the end of
// the file behind them.
func readLines[T any](ctx context.Context, f *text.File, h Head, words int, what string, begin func() T, keep func(*text.Block, T) error, line func(part T, line int, words [][]byte) error) error {
	type part struct {
		of    T
		lines int64
		wrong int64 // 1: a line behind them has an error
	}
	read := int64(0)
	err := text.Each(ctx, f, text.Lines, func(b *text.Block) (part, error) {
		p := part{of: begin()}
		for {
			found, ok := b.Fields()
			if !ok {
				return p, nil
			}
			p.wrong = 1
			if len(found) != words {
				return p, fmt.Errorf("found %d words, expected %s", len(found), what)
			}
			if err := line(p.of, b.Number(), found); err != nil {
				return p, err
			}
			p.lines, p.wrong = p.lines+1, 0
		}
	}, func(b *text.Block, p part) error {
		if read+p.lines+p.wrong > h.Entries {
			for range h.Entries - read {
				b.Fields()
			}
			found, _ := b.Fields()
			return b.Errorf("found %s after %d entries, expected the end of the file", formats.Quote(found[0]), h.Entries)
		}
		read += p.lines
		return keep(b, p.of)
	})
	switch {
	case err != nil:
		return err
	case read < h.Entries:
		return f.Errorf("found the end of the file after %d of %d entries: the file is truncated", read, h.Entries)
	}
	return nil
}

// Dense arranges the values of an array row by row, those that its symmetry
// implies included: minus is the negative of a value, for skew-symmetric arrays,
// whose diagonal is zero.
func Dense[T any](h Head, values []T, minus func(T) T) []T {
	list := make([]T, h.Rows*h.Columns)
	k := 0
	for j := range h.Columns {
		from := 0
		switch h.Symmetry {
		case Symmetric:
			from = j
		case Skew:
			from = j + 1
		}
		for i := from; i < h.Rows; i++ {
			list[i*h.Columns+j] = values[k]
			switch {
			case h.Symmetry == Symmetric:
				list[j*h.Columns+i] = values[k]
			case h.Symmetry == Skew:
				list[j*h.Columns+i] = minus(values[k])
			}
			k++
		}
	}
	return list
}
