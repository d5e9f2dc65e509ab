package formats

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"sync/atomic"

	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/cores"
	"coalesce/solvers/formats"
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
	nodes, arcs, err := f.asnSize()
	if err != nil {
		return nil, err
	}
	if err := f.budget.Take(int64(nodes) * 16); err != nil {
		return nil, f.Errorf("%d nodes take %w", nodes, err)
	}
	type block struct {
		*part
		sources []int32
	}
	p, source := f.newPairs(), make([]bool, nodes)
	if err := p.reserve(arcs); err != nil {
		return nil, f.Errorf("%w", err)
	}
	node := func(word []byte) (int32, error) {
		v, err := text.ParseWhole(word, "node", 1, int64(nodes))
		return int32(v - 1), err
	}
	err = text.ParseBlocks(context.Background(), f.File, text.Lines, func(b *text.Block) (block, error) {
		part := block{part: p.newPart()}
		for {
			words, ok := b.Fields()
			if !ok {
				return part, nil
			}
			if err := checkASN(words, false); err != nil {
				return part, err
			}
			v, err := node(words[1])
			if err != nil {
				return part, err
			}
			if words[0][0] == 'n' {
				part.sources = append(part.sources, v)
				continue
			}
			w, err := node(words[2])
			if err != nil {
				return part, err
			}
			if err := part.add(b.Number(), pair{v, w}, words[3], o); err != nil {
				return part, err
			}
		}
	}, func(b *text.Block, part block) error {
		for _, v := range part.sources {
			source[v] = true
		}
		return p.addPart(b, part.part)
	})
	if err != nil {
		return nil, err
	}
	if int64(len(p.list)) != arcs {
		return nil, f.Errorf("found %d arcs, expected %d as in the line of p", len(p.list), arcs)
	}
	return p.bipartite(source)
}

// asnSize reads the line of p.
func (f *file) asnSize() (nodes int, arcs int64, err error) {
	words, err := f.Fields()
	switch {
	case errors.Is(err, io.EOF):
		return 0, 0, f.Errorf("found the end of the file, expected a line \"p asn NODES ARCS\"")
	case err != nil:
		return 0, 0, err
	}
	if err := checkASN(words, true); err != nil {
		return 0, 0, f.Errorf("%w", err)
	}
	if string(words[1]) != "asn" {
		return 0, 0, f.Errorf("found %s, expected asn", formats.Quote(words[1]))
	}
	count, err := text.ParseWhole(words[2], "number of nodes", 0, problem.MaxSide-1)
	if err == nil {
		arcs, err = text.ParseWhole(words[3], "number of arcs", 0, math.MaxInt64)
	}
	if err != nil {
		return 0, 0, f.Errorf("%w", err)
	}
	return int(count), arcs, nil
}

// checkASN wants a line of p first, then lines of n and a, with as many words as
// they have.
func checkASN(words [][]byte, first bool) error {
	count := 0
	switch string(words[0]) {
	case "p", "a":
		count = 4
	case "n":
		count = 2
	}
	switch {
	case count == 0:
		return fmt.Errorf("found %s, expected a line of c, p, n or a", formats.Quote(words[0]))
	case len(words) != count:
		return fmt.Errorf("found %s, expected %d after %s", formats.Count(len(words)-1, "word"), count-1, words[0])
	case (words[0][0] == 'p') != first:
		return fmt.Errorf("found %s, expected one line of p, before all others", words[0])
	}
	return nil
}

// bipartite numbers both sides, and makes an instance of the pairs of nodes.
func (p *pairs) bipartite(source []bool) (*problem.Instance, error) {
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
	wrong.Store(int64(len(p.list)))
	cores.Split(len(p.list), 1<<16, func(from, to int) {
		for k := from; k < to; k++ {
			x := p.list[k]
			if !source[x.row] || source[x.col] {
				for first := wrong.Load(); int64(k) < first && !wrong.CompareAndSwap(first, int64(k)); first = wrong.Load() {
				}
				return
			}
			p.list[k] = pair{number[x.row], number[x.col]}
		}
	})
	if k := int(wrong.Load()); k < len(p.list) {
		return nil, formats.Errorf(p.file.Name(), p.lines.Line(k), "found an arc from node %d to %d, expected one from a source (a line of n) to a node that is none", p.list[k].row+1, p.list[k].col+1)
	}
	return p.instance(int(rows), int(cols))
}
