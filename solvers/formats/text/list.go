package text

import (
	"context"
	"errors"
	"fmt"
	"math"

	"coalesce/solvers/formats"
)

// A List describes lines of equally many words each, and takes them. A part holds the lines of a
// block; New and Line are called on all cores, Keep in the order of the file.
type List[T any] struct {
	Lines int64  // how many there are
	Past  int64  // of these, how many the caller has read already
	Words int    // of each line
	Each  string // what the words of a line are, for errors: "row and column"
	All   string // what the lines are, for errors: "entries"
	More  bool   // the file may go on behind the lines; else that is an error

	// Comment, where it is set, may take a line that is none of the list: true says so. Number, where it is set, is the error of a
	// line of another number of words.
	Comment func(part T, line int, words [][]byte) (bool, error)
	Number  func(words [][]byte) error

	New  func() T                                     // an empty part
	Line func(part T, line int, words [][]byte) error // line counts from 0 within the block: Keep adds the block's FirstLine
	Keep func(b *Block, part T) error                 // the next part
}

// errFull ends the reading of a list when all of its lines are read and others may follow.
var errFull = errors.New("all lines were read")

// ReadList reads a list from the rest of a file, in which nothing can be read
// afterwards. A file that ends too early is an error.
func ReadList[T any](ctx context.Context, f *File, l List[T]) error {
	type part struct {
		of    T
		lines int64
		wrong int64 // 1: a line behind them has an error
	}
	parse := func(b *Block, limit int64) (part, error) {
		p := part{of: l.New()}
		for p.lines < limit {
			words, ok := b.Fields()
			if !ok {
				break
			}
			if l.Comment != nil {
				taken, err := l.Comment(p.of, b.Number()-b.FirstLine(), words)
				if err != nil {
					return p, err
				}
				if taken {
					continue
				}
			}
			p.wrong = 1
			if len(words) != l.Words {
				if l.Number != nil {
					return p, l.Number(words)
				}
				return p, fmt.Errorf("found %s, expected %s", formats.Count(len(words), "word"), l.Each)
			}
			if err := l.Line(p.of, b.Number()-b.FirstLine(), words); err != nil {
				return p, err
			}
			p.lines, p.wrong = p.lines+1, 0
		}
		return p, nil
	}
	read := l.Past
	keep := func(b *Block, p part) error {
		left := l.Lines - read
		read += min(left, p.lines)
		if p.lines+p.wrong <= left && !(l.More && read == l.Lines) {
			return l.Keep(b, p.of)
		}
		p, err := parse(b, left) // without the lines behind the list
		if err == nil {
			err = l.Keep(b, p.of)
		}
		switch {
		case err != nil:
			return err
		case l.More:
			return errFull
		}
		words, _ := b.Fields()
		for len(words) > 0 && l.Comment != nil {
			if taken, err := l.Comment(l.New(), 0, words); err != nil || !taken {
				break
			}
			words, _ = b.Fields()
		}
		return b.Errorf("found %s after %d %s, expected the end of the file", formats.Quote(words[0]), l.Lines, l.All)
	}
	err := ParseBlocks(ctx, f, Lines, func(b *Block) (part, error) { return parse(b, math.MaxInt64) }, keep)
	switch {
	case errors.Is(err, errFull):
		return nil
	case err != nil:
		return err
	case read < l.Lines:
		return f.Errorf("found the end of the file after %d of %d %s: the file is truncated", read, l.Lines, l.All)
	}
	return nil
}
