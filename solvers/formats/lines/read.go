package lines

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"coalesce/solvers/formats"
	"coalesce/solvers/formats/text"
)

// A Body describes the lines of the rest of a file. A part holds those of a block. New, Take and Reset are called on all cores, Keep in
// the order of the file.
type Body[T any] struct {
	Kinds []Kind
	Noun  string // what a line of the first kind is, if the head says how many there are: "arc"
	Count int64  // how many
	More  bool   // the file may go on behind them; else that is an error

	New   func() T                          // an empty part
	Take  func(part T, r *Record) error     // a line
	Keep  func(b *text.Block, part T) error // the next part
	Reset func(part T)                      // empties a part that was kept

	keys []key
	free *sync.Pool
}

// A Total says of a kind what Read has read.
type Total struct {
	Lines int64 // how many
	Words int   // fields of each, where some are optional; 0: there are no lines
}

// A part is what a block has.
type part[T any] struct {
	of    T
	kinds []kindLines
	shape text.Shape // of a plain line of the first kind
	wrong bool       // a line of the first kind behind them has an error
}

// kindLines are the lines of a kind in a block.
type kindLines struct {
	Total
	first int // the first of them; from 0 within the block
}

// errFull ends the reading when all lines are read and others may follow.
var errFull = errors.New("all lines were read")

// Read reads the rest of a file, in which nothing can be read afterwards. A file that has fewer lines than it says is an error.
func Read[T any](ctx context.Context, f *text.File, d Body[T]) ([]Total, error) {
	for _, k := range d.Kinds {
		d.keys = append(d.keys, parseKey(k.Key))
	}
	d.free = &sync.Pool{New: func() any {
		return &part[T]{of: d.New(), kinds: make([]kindLines, len(d.Kinds)), shape: d.Kinds[0].plainShape()}
	}}
	all, counted := make([]Total, len(d.Kinds)), d.Noun != ""
	keep := func(b *text.Block, p *part[T]) error {
		left := d.Count - all[0].Lines
		full := counted && d.More && p.kinds[0].Lines >= left
		var behind error // the error of the first line behind the last
		if have := p.kinds[0].Lines; full || counted && (have > left || have == left && p.wrong) {
			p, behind = d.parse(b, left)
		}
		for k, more := range p.kinds {
			if line := more.first + b.FirstLine(); all[k].Lines > 0 && more.Lines > 0 && more.Words != all[k].Words {
				return formats.Errorf(f.Name(), line, "%w", d.Kinds[k].mixedError(more.Words, all[k].Words))
			}
			all[k] = Total{all[k].Lines + more.Lines, max(all[k].Words, more.Words)}
		}
		if full {
			behind = b.Errorf("%w", errFull)
		}
		if err := cmp.Or(d.Keep(b, p.of), behind); err != nil {
			return err
		}
		d.Reset(p.of)
		clear(p.kinds)
		p.wrong = false
		d.free.Put(p)
		return nil
	}
	err := text.ParseBlocks(ctx, f, text.Lines, func(b *text.Block) (*part[T], error) { return d.parse(b, math.MaxInt64) }, keep)
	switch {
	case errors.Is(err, errFull):
		return all, nil
	case err != nil:
		return all, err
	case counted && all[0].Lines < d.Count:
		return all, f.Errorf("found the end of the file after %d of %s: the file is truncated", all[0].Lines, formats.Count(d.Count, d.Noun))
	}
	return all, nil
}

// parse reads the lines of a block, limit of the first kind at most.
func (d *Body[T]) parse(b *text.Block, limit int64) (*part[T], error) {
	p := d.free.Get().(*part[T])
	have := &p.kinds[0]
	var r Record
	for !(d.More && have.Lines == limit) {
		var words [][]byte
		if have.Lines < limit {
			words = b.PlainFields(&p.shape, r.ints[:])
		}
		if words != nil && d.Kinds[0].inRange(&r, words) && (have.Words > 0 || d.Kinds[0].Optional == 0) {
			r.Line, r.Kind, r.Words = b.LineInside(), 0, words
			if err := d.Take(p.of, &r); err != nil {
				p.wrong = true
				return p, withPlace(b, err)
			}
			have.Lines++
			continue
		}
		if r.Kind = 0; words == nil {
			var ok bool
			if words, ok = b.Fields(); !ok {
				return p, nil
			}
			for r.Kind < len(d.keys) && !d.keys[r.Kind].matches(words) {
				r.Kind++
			}
			switch {
			case r.Kind == 0 && have.Lines == limit:
				return p, withPlace(b, WordError(words[0], fmt.Errorf("found %s after %s, expected the end of the file", formats.Quote(words[0]), formats.Count(d.Count, d.Noun))))
			case r.Kind == len(d.keys):
				return p, withPlace(b, WordError(words[0], fmt.Errorf("found %s, expected %s", formats.Quote(words[0]), whatAll(d.Kinds))))
			}
			words = words[len(d.keys[r.Kind]):]
		}
		r.Line = b.LineInside()
		if err := d.take(p, &r, words); err != nil {
			return p, withPlace(b, err)
		}
	}
	return p, nil
}

// take reads the fields of a line, and takes them.
func (d *Body[T]) take(p *part[T], r *Record, words [][]byte) error {
	k, have := &d.Kinds[r.Kind], &p.kinds[r.Kind]
	p.wrong = r.Kind == 0
	if err := k.read(r, words); err != nil {
		return err
	}
	if k.Optional > 0 && have.Lines == 0 {
		have.Words, have.first = len(words), r.Line
		if r.Kind == 0 && p.shape.Fields > 0 {
			p.shape.Fields = len(words)
		}
	} else if k.Optional > 0 && have.Words != len(words) {
		return k.mixedError(len(words), have.Words)
	}
	if err := d.Take(p.of, r); err != nil {
		return err
	}
	have.Lines++
	p.wrong = false
	return nil
}
