package formats

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"coalesce/solvers/formats"
	"coalesce/solvers/formats/text"
	"coalesce/solvers/qubo/problem"
)

// readDIMACS reads the graphs of the second DIMACS challenge (1993), .col and .clq files, as graphs to be cut: `c` comments,
// `p edge n m`, and `e i j` or `e i j w`, from 1. Edges without weights weigh 1 each. Files list such an edge from one end or from
// both, and state one number of edges or the other: an edge counts once. Lines of nodes (n, d, v, x) are passed over.
func readDIMACS(in source, o Options) (*problem.Instance, error) {
	f, err := in.openList("c", o)
	if err != nil {
		return nil, err
	}
	header, err := f.readHeader(4, 4, "p edge, and the numbers of nodes and edges")
	if err != nil {
		return nil, err
	}
	if string(header[0]) != "p" || !bytes.HasPrefix(header[1], []byte("edge")) && string(header[1]) != "col" {
		return nil, f.Errorf("found %s, expected p edge", formats.Quote(bytes.Join(header[:2], []byte(" "))))
	}
	n, m, err := f.parseSizes(header[2:])
	if err != nil {
		return nil, err
	}
	e, err := f.newEntries(0)
	if err != nil {
		return nil, err
	}
	type block struct {
		*part
		bare, weighted, nodes int
	}
	l, all := list{from: 1}, block{}
	err = text.ParseBlocks(context.Background(), f.File, text.Lines, func(b *text.Block) (block, error) {
		p := block{part: e.newPart()}
		for {
			words, ok := b.Fields()
			if !ok {
				return p, nil
			}
			if taken, err := f.readComment(p.part, b.Number(), words); err != nil {
				return p, err
			} else if taken {
				continue
			}
			switch kind := string(words[0]); {
			case kind == "n" || kind == "d" || kind == "v" || kind == "x":
				p.nodes++
				continue
			case kind != "e" && kind != "a":
				return p, fmt.Errorf("found %s, expected a line of e: an edge", formats.Quote(words[0]))
			case len(words) == 3:
				p.bare++
			case len(words) == 4:
				p.weighted++
			default:
				return p, fmt.Errorf("found %s, expected e and two nodes, with a weight or without", formats.Count(len(words), "word"))
			}
			if p.bare > 0 && p.weighted > 0 {
				return p, errMixed
			}
			if err := l.readEntry(p.part, n, b.Number(), words[1:]); err != nil {
				return p, err
			}
		}
	}, func(b *text.Block, p block) error {
		if p.bare > 0 && all.weighted > 0 || p.weighted > 0 && all.bare > 0 {
			return b.Errorf("%w", errMixed)
		}
		all.bare, all.weighted, all.nodes = all.bare+p.bare, all.weighted+p.weighted, all.nodes+p.nodes
		return e.addPart(b, p.part)
	})
	if err != nil {
		return nil, err
	}
	inst, err := e.instance(n, all.bare > 0)
	if err != nil {
		return nil, err
	}
	inst.Form = problem.MaxCut
	if pairs := inst.Pairs(); e.count != m && pairs != m && 2*e.count != m && 2*pairs != m {
		return nil, f.Errorf("found %d edges, expected %d as the header says", e.count, m)
	}
	if again := e.count - inst.Pairs(); all.bare > 0 && again > 0 {
		inst.Int = mapTerms(inst.Int, func(v int64) int64 { return min(v, 1) })
		inst.Note("%d of %d edges were listed again, and count once", again, inst.Pairs())
	}
	if all.bare > 0 {
		inst.Note("the edges have no weights: each weighs 1")
	}
	if all.nodes > 0 {
		inst.Note("%s of nodes were passed over", formats.Count(all.nodes, "line"))
	}
	return inst, nil
}

// errMixed is the error of edges with weights beside edges without.
var errMixed = errors.New("found edges with weights and edges without, expected all the same")
