package text

import (
	"slices"

	"coalesce/solvers/formats"
)

// Positions are the lines of the items of a file, in the order of the file. Items on consecutive
// lines are a run, which takes the memory of one entry.
type Positions struct {
	count int // items
	next  int // the line after the last item's
	runs  []run
}

// A run is its first item and that item's line.
type run struct{ item, line int }

// Add adds the line of the next item. It grows without a budget: it is for the
// items of one block.
func (p *Positions) Add(line int) {
	if p.count == 0 || line != p.next {
		p.runs = append(p.runs, run{p.count, line})
	}
	p.count, p.next = p.count+1, line+1
}

// Append adds the items of a part, in which lines count from 0 where the file's
// line is first. Memory comes from the budget.
func (p *Positions) Append(b *formats.Budget, part *Positions, first int) error {
	runs := part.runs
	if p.count > 0 && len(runs) > 0 && runs[0].line+first == p.next {
		runs = runs[1:]
	}
	var err error
	if p.runs, err = formats.Grow(b, p.runs, len(runs)); err != nil {
		return err
	}
	for _, r := range runs {
		p.runs = append(p.runs, run{p.count + r.item, r.line + first})
	}
	if part.count > 0 {
		p.count, p.next = p.count+part.count, part.next+first
	}
	return nil
}

// Line is the line of an item, counted from 0.
func (p *Positions) Line(item int) int {
	k, here := slices.BinarySearchFunc(p.runs, item, func(r run, item int) int { return r.item - item })
	if !here {
		k--
	}
	return p.runs[k].line + item - p.runs[k].item
}

// Reset forgets the items and keeps the memory.
func (p *Positions) Reset() { *p = Positions{runs: p.runs[:0]} }
