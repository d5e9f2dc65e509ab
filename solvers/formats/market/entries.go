package market

import (
	"context"
	"fmt"
	"math"
	"slices"

	"coalesce/solvers/formats"
	"coalesce/solvers/formats/lines"
	"coalesce/solvers/formats/text"
)

// An Entry is a line of coordinates.
type Entry struct {
	Row, Column int32  // from 0
	Word        []byte // the value, good during the call; nil in a pattern
	Line        int    // from 0 within the block: Keep adds the block's First
}

// An EntrySink takes the entries of a matrix. A part holds the entries of a block of lines; New and Entry
// are called on all cores, Keep in the order of the file.
type EntrySink[T any] struct {
	New   func() T                          // an empty part
	Entry func(part T, e Entry) error       // errors get `file:line:`
	Keep  func(b *text.Block, part T) error // the next part
	Reset func(part T)                      // empties a part that was kept
}

// A part is a part of the caller's with two lines of the block, counted from 1: that of the first
// entry above the diagonal and that of the first one below; 0 where there is none.
type part[T any] struct {
	of           T
	above, below int
}

// ReadEntries reads the entries of a file of coordinates, as many as the head
// says. An entry on the diagonal of a skew-symmetric matrix is an error. So are
// entries on both sides of the diagonal of a symmetric or skew-symmetric matrix:
// files list one side, which stands for both. The caller adds the entries that a symmetry implies,
// and decides about repeated ones.
func ReadEntries[T any](ctx context.Context, f *text.File, h Header, body EntrySink[T]) error {
	fields := []lines.Field{lines.Index("row", 1, int64(h.Rows)), lines.Index("column", 1, int64(h.Columns))}
	if h.Field != Pattern {
		fields = append(fields, lines.Word("value"))
	}
	above, below := 0, 0 // lines in the file
	_, err := lines.Read(ctx, f, lines.Body[*part[T]]{
		Kinds: []lines.Kind{{Fields: fields}}, Noun: "entry", Count: h.Entries,
		Take: func(p *part[T], r *lines.Record) error {
			e, err := h.entry(r)
			if err != nil {
				return err
			}
			switch {
			case e.Row < e.Column && p.above == 0:
				p.above = e.Line + 1
			case e.Row > e.Column && p.below == 0:
				p.below = e.Line + 1
			}
			return body.Entry(p.of, e)
		},
		New: func() *part[T] { return &part[T]{of: body.New()} },
		Reset: func(p *part[T]) {
			body.Reset(p.of)
			p.above, p.below = 0, 0
		},
		Keep: func(b *text.Block, p *part[T]) error {
			if above == 0 && p.above > 0 {
				above = b.FirstLine() + p.above - 1
			}
			if below == 0 && p.below > 0 {
				below = b.FirstLine() + p.below - 1
			}
			if h.Symmetry != General && above > 0 && below > 0 {
				return formats.Errorf(f.Name(), max(above, below), "found entries on both sides of the diagonal, that of line %d on the other, expected one side, which stands for both in a %s matrix", min(above, below), h.Symmetry)
			}
			return body.Keep(b, p.of)
		},
	})
	return err
}

// entry is the entry of a line.
func (h *Header) entry(r *lines.Record) (e Entry, err error) {
	e = Entry{Row: int32(r.Int(0)), Column: int32(r.Int(1)), Line: r.Line}
	if h.Symmetry == Skew && e.Row == e.Column {
		return e, fmt.Errorf("found an entry on the diagonal, row %d, of a skew-symmetric matrix, expected none", e.Row+1)
	}
	if h.Field != Pattern {
		e.Word = r.Words[2]
		err = h.value(e.Word)
	}
	return e, err
}

// ReadArray reads the values of an array, column by column: all, those from the
// diagonal down of a symmetric one, those below the diagonal of a skew-symmetric
// one. n holds them in the order of the file; bad is the error of a word that is
// no number. Memory comes from the budget, for all values at once.
func ReadArray(ctx context.Context, f *text.File, h Header, b *formats.Budget, n *text.Numbers, bad func(word []byte) error) error {
	if err := b.CheckFits(uint64(h.Entries), 1, 8); err != nil {
		return f.Errorf("%d x %d values take %w", h.Rows, h.Columns, err)
	}
	if err := n.Reserve(b, int(h.Entries)); err != nil {
		return f.Errorf("%d x %d values take %w", h.Rows, h.Columns, err)
	}
	_, err := lines.Read(ctx, f, lines.Body[*text.Numbers]{
		Kinds: []lines.Kind{{Fields: []lines.Field{lines.Word("value")}, What: "one value"}}, Noun: "entry", Count: h.Entries,
		Take: func(part *text.Numbers, r *lines.Record) error {
			word, whole := r.Words[0], len(part.Whole)
			added := part.Add(word)
			if len(part.Whole) == whole { // what is added to Whole is a whole number or an infinity
				if err := h.value(word); err != nil {
					return err
				}
			}
			if !added {
				return lines.WordError(word, bad(word))
			}
			return nil
		},
		New:   func() *text.Numbers { return &text.Numbers{Infinite: n.Infinite} },
		Reset: (*text.Numbers).Reset,
		Keep:  func(_ *text.Block, part *text.Numbers) error { return n.Append(b, part) },
	})
	return err
}

// ExpandSymmetric makes of the values of a symmetric or skew-symmetric array, as ReadArray returns them, those of the whole square, column
// by column: with the same values on both sides of the diagonal, or with their negatives and zeros between them. An infinity is
// the same on both sides. Memory comes from the budget; an error is one of memory, or of a value whose negative int64 lacks.
func ExpandSymmetric(h Header, b *formats.Budget, n *text.Numbers) (*text.Numbers, error) {
	if h.Symmetry == General {
		return n, nil
	}
	if h.Symmetry == Skew {
		n.MakeFloats()
	}
	whole := *n
	whole.Whole, whole.Real = nil, nil
	side := h.Rows
	if err := b.CheckFits(uint64(side), uint64(side), 8); err != nil {
		return nil, fmt.Errorf("%d x %d values take %w", side, side, err)
	}
	if err := whole.Reserve(b, side*side); err != nil {
		return nil, fmt.Errorf("%d x %d values take %w", side, side, err)
	}
	first := 0 // row, of a column's first value, below its diagonal
	if h.Symmetry == Skew {
		first = 1
	}
	if n.Floats {
		whole.Real = whole.Real[:side*side]
		fill(side, first, n.Real, whole.Real, func(v float64) float64 {
			if math.IsInf(v, 0) {
				return v
			}
			return -v
		})
		return &whole, nil
	}
	if least := slices.Index(n.Whole, math.MinInt64); first == 1 && least >= 0 {
		return nil, fmt.Errorf("found %d in a skew-symmetric matrix, expected more than -2^63, so that its negative fits too", n.Whole[least])
	}
	whole.Whole = whole.Whole[:side*side]
	fill(side, first, n.Whole, whole.Whole, func(v int64) int64 {
		if v == math.MaxInt64 && n.Infinite != 0 && !n.Every {
			return v
		}
		return -v
	})
	return &whole, nil
}

// fill writes the values from the diagonal down, or those below it where first is 1, to both sides of a square.
func fill[T int64 | float64](side, first int, half, square []T, negative func(T) T) {
	k := 0
	for j := range side {
		for i := j + first; i < side; i++ {
			square[j*side+i] = half[k]
			if first == 1 {
				square[i*side+j] = negative(half[k])
			} else {
				square[i*side+j] = half[k]
			}
			k++
		}
	}
}

// value returns an error if a word of a matrix of integers is neither a whole number nor an infinity.
func (h *Header) value(word []byte) error {
	if h.Field != Integer {
		return nil
	}
	if _, ok := text.ParseInt(word); ok || text.ParseInfinity(word) != 0 {
		return nil
	}
	for k, c := range word {
		if c-'0' > 9 && (k > 0 || c != '-' && c != '+' || len(word) == 1) {
			return lines.WordError(word, fmt.Errorf("found %s in a matrix of integers, expected a whole number", formats.Quote(word)))
		}
	}
	return nil
}
