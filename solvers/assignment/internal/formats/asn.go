package formats

import (
	"context"
	"math"
	"sync/atomic"

	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/cores"
	"coalesce/solvers/formats"
	"coalesce/solvers/formats/lines"
	"coalesce/solvers/formats/text"
)

// readASN reads an assignment problem of the first DIMACS challenge (1991):
// "p asn NODES ARCS", a line "n ID" for each source, "a SOURCE TARGET COST"
// for each arc, "c" before comments. Sources are rows and the other nodes
// columns, both in the order of their numbers.
func readASN(in source, o ReadOptions) (*problem.Instance, error) {
	f, err := in.openText("c", o)
	if err != nil {
		return nil, err
	}
	head, err := lines.ReadHead(f.File, lines.Kind{Key: "p asn", Fields: []lines.Field{
		lines.Int("number of nodes", 0, problem.MaxSide-1), lines.Int("number of arcs", 0, math.MaxInt64),
	}})
	if err != nil {
		return nil, err
	}
	nodes, arcs := head.Int(0), head.Int(1)
	if err := f.budget.Reserve(nodes * 16); err != nil {
		return nil, f.Errorf("%d nodes take %w", nodes, err)
	}
	type block struct {
		*lines.Entries
		sources []int32
	}
	p, source := f.newPairs(), make([]bool, nodes)
	if err := p.reserve(arcs); err != nil {
		return nil, f.Errorf("%w", err)
	}
	_, err = lines.Read(context.Background(), f.File, lines.Body[*block]{
		Noun: "arc", Count: arcs,
		Kinds: []lines.Kind{
			{Key: "a", Fields: []lines.Field{lines.Index("source", 1, nodes), lines.Index("target", 1, nodes), lines.Word("cost")}},
			{Key: "n", Fields: []lines.Field{lines.Index("node", 1, nodes)}},
		},
		Take: func(part *block, r *lines.Record) error {
			if r.Kind == 0 {
				return o.takePair(part.Entries, r)
			}
			part.sources = append(part.sources, int32(r.Int(0)))
			return nil
		},
		New: func() *block { return &block{Entries: p.newPart()} },
		Reset: func(part *block) {
			part.Entries.Reset()
			part.sources = part.sources[:0]
		},
		Keep: func(b *text.Block, part *block) error {
			for _, v := range part.sources {
				source[v] = true
			}
			return p.addPart(b, part.Entries)
		},
	})
	if err != nil {
		return nil, err
	}
	return p.bipartite(source, "one from a source (a line of n) to a node that is none")
}

// bipartite numbers both sides, and makes an instance of the pairs of nodes; expected says which arcs a file may have.
func (p *pairs) bipartite(source []bool, expected string) (*problem.Instance, error) {
	number := make([]int32, len(source))
	var rows, cols int32
	for v, is := range source {
		side := &cols
		if is {
			side = &rows
		}
		number[v] = *side
		*side++
	}
	var wrong atomic.Int64 // the first arc that is wrong
	wrong.Store(int64(len(p.Row)))
	cores.Split(len(p.Row), 1<<16, func(from, to int) {
		for k := from; k < to; k++ {
			row, col := p.Row[k], p.Column[k]
			if !source[row] || source[col] {
				for first := wrong.Load(); int64(k) < first && !wrong.CompareAndSwap(first, int64(k)); first = wrong.Load() {
				}
				return
			}
			p.Row[k], p.Column[k] = number[row], number[col]
		}
	})
	if k := int(wrong.Load()); k < len(p.Row) {
		return nil, formats.Errorf(p.file.Name(), p.Lines.Line(k), "found an arc from node %d to %d, expected %s", p.Row[k]+1, p.Column[k]+1, expected)
	}
	return p.instance(int(rows), int(cols))
}
