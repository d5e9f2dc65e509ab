package formats

import (
	"context"
	"strings"

	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/formats/lines"
)

// isAssignP recognises the file names of OR-Library's sparse assignment problems, assignp800 to assignp5000.
func isAssignP(base string) bool { return strings.HasPrefix(strings.ToLower(base), "assignp") }

// readAssignP reads the sparse assignment problems of OR-Library (Beasley 1990): the number of rows, as many columns, and a line
// of row, column and cost for each pair that may be matched, from 1.
func readAssignP(in source, o ReadOptions) (*problem.Instance, error) {
	f, err := in.openText("#", o)
	if err != nil {
		return nil, err
	}
	head, err := lines.ReadHead(f.File, lines.Kind{Fields: []lines.Field{lines.Int("number of rows", 0, problem.MaxSide)}})
	if err != nil {
		return nil, err
	}
	n, p := head.Int(0), f.newPairs()
	if _, err := lines.Read(context.Background(), f.File, lines.Body[*lines.Entries]{
		Kinds: []lines.Kind{{Fields: []lines.Field{lines.Index("row", 1, n), lines.Index("column", 1, n), lines.Word("cost")}}},
		Take:  o.takePair, New: p.newPart, Keep: p.addPart, Reset: (*lines.Entries).Reset,
	}); err != nil {
		return nil, err
	}
	return p.instance(int(n), int(n))
}
