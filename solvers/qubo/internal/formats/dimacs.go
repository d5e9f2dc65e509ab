package formats

import (
	"coalesce/solvers/formats"
	"coalesce/solvers/formats/lines"
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
	header, err := lines.ReadHead(f.File, lines.Kind{Key: "p edge|edges|col", Fields: sizeFields})
	if err != nil {
		return nil, err
	}
	n, m := int(header.Int(0)), header.Int(1)
	e, err := f.newEntries(0)
	if err != nil {
		return nil, err
	}
	l := coefficientList{from: 1, bare: true}
	found, err := e.read(l, "", 0, false, l.kind("e|a", int64(n)), lines.Kind{Key: "n|d|v|x", Rest: true})
	if err != nil {
		return nil, err
	}
	bare, nodes := found[0].Words == 2, found[1].Lines
	inst, err := e.instance(n, bare)
	if err != nil {
		return nil, err
	}
	inst.Form = problem.MaxCut
	if pairs := inst.Pairs(); e.count != m && pairs != m && 2*e.count != m && 2*pairs != m {
		return nil, f.Errorf("found %d edges, expected %d as the header says", e.count, m)
	}
	if again := e.count - inst.Pairs(); bare && again > 0 {
		inst.Int = mapTerms(inst.Int, func(v int64) int64 { return min(v, 1) })
		inst.Note("%d of %d edges were listed again, and count once", again, inst.Pairs())
	}
	if bare {
		inst.Note("the edges have no weights: each weighs 1")
	}
	if nodes > 0 {
		inst.Note("%s of nodes were passed over", formats.Count(nodes, "line"))
	}
	return inst, nil
}
