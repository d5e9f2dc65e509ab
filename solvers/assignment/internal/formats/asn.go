package formats

import (
	"errors"
	"io"
	"math"

	"coalesce/solvers/assignment/problem"
)

// readASN reads an assignment problem of the first DIMACS challenge (1991):
// "p asn NODES ARCS", a line "n ID" for each source, "a SOURCE TARGET COST"
// for each arc, "c" before comments. Sources are rows and the other nodes
// columns, both in the order of their numbers.
func readASN(in *lines, o ReadOptions) (*problem.Instance, error) {
	a := asn{lines: in, costs: newCosts(o), o: o, arcs: -1}
	for {
		f, err := in.fields()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if string(f[0]) == "c" || f[0][0] == 'c' && len(f[0]) > 1 {
			continue
		}
		words, ok := map[string]int{"p": 4, "n": 2, "a": 4}[string(f[0])]
		switch {
		case !ok:
			return nil, in.errorf("found %q, expected a line of c, p, n or a", brief(f[0]))
		case len(f) != words:
			return nil, in.errorf("found %d words, expected %d after %s", len(f)-1, words-1, f[0])
		case (f[0][0] == 'p') != (a.arcs < 0):
			return nil, in.errorf("found %s, expected one line of p, before all others", f[0])
		}
		if err := a.read(f); err != nil {
			return nil, in.errorf("%w", err)
		}
	}
	if a.arcs < 0 {
		return nil, in.errorf("found the end of the file, expected a line \"p asn NODES ARCS\"")
	}
	if len(a.pairs) != a.arcs {
		return nil, in.errorf("found %d arcs, expected %d as in the line of p", len(a.pairs), a.arcs)
	}
	return a.instance()
}

type asn struct {
	*lines
	o      ReadOptions
	costs  *costs
	source []bool // of nodes, from 1
	arcs   int    // -1: no line of p yet
	pairs  []coordinate
}

// read reads a line that has the right number of words.
func (a *asn) read(f [][]byte) (err error) {
	switch string(f[0]) {
	case "p":
		if string(f[1]) != "asn" {
			return errors.New("found \"" + brief(f[1]) + "\", expected asn")
		}
		nodes, err := number(f[2], "number of nodes", problem.MaxSide-1)
		if err != nil {
			return err
		}
		if err := a.o.room(uint64(nodes), 1, 16); err != nil {
			return err
		}
		a.source = make([]bool, nodes+1)
		a.arcs, err = number(f[3], "number of arcs", math.MaxInt64)
		return err
	case "n":
		v, err := a.node(f[1])
		if err != nil {
			return err
		}
		a.source[v] = true
		return nil
	}
	v, err := a.node(f[1])
	if err != nil {
		return err
	}
	w, err := a.node(f[2])
	if err != nil {
		return err
	}
	a.pairs = append(a.pairs, coordinate{v, w, a.line})
	return a.costs.add(f[3])
}

func (a *asn) node(word []byte) (int32, error) {
	v, err := number(word, "node", int64(len(a.source)-1))
	if err == nil && v == 0 {
		err = errors.New("found node 0, expected numbers from 1")
	}
	return int32(v), err
}

// instance numbers both sides.
func (a *asn) instance() (*problem.Instance, error) {
	index := make([]int32, len(a.source))
	rows, cols := 0, 0
	for v := 1; v < len(a.source); v++ {
		if a.source[v] {
			index[v] = int32(rows)
			rows++
		} else {
			index[v] = int32(cols)
			cols++
		}
	}
	for k, x := range a.pairs {
		if !a.source[x.row] || a.source[x.col] {
			a.line = x.line
			return nil, a.errorf("found an arc from node %d to %d, expected one from a source (a line of n) to a node that is none", x.row, x.col)
		}
		a.pairs[k].row, a.pairs[k].col = index[x.row], index[x.col]
	}
	return sparseOf(rows, cols, a.pairs, a.costs, a.name)
}
