package formats

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"coalesce/solvers/formats"
	"coalesce/solvers/formats/text"
	"coalesce/solvers/qubo/problem"
)

// A list is how a format lists coefficients.
type list struct {
	from  int  // number of the first variable
	twice bool // an off-diagonal coefficient counts twice
	loops bool // i j may be the same
	bare  bool // all lines may be without a coefficient, which is 1 then
}

// readEntry reads a line of two of n variables and a coefficient.
func (l list) readEntry(p *part, n, line int, words [][]byte) error {
	low, high := int64(l.from), int64(n-1+l.from)
	i, err := text.ParseWhole(words[0], "variable", low, high)
	if err != nil {
		return err
	}
	j, err := text.ParseWhole(words[1], "variable", low, high)
	if err != nil {
		return err
	}
	if i == j && !l.loops {
		return fmt.Errorf("found an edge from %d to itself, expected two different nodes", i)
	}
	if len(words) == 2 {
		return p.add(line, int32(i-low), int32(j-low), []byte("1"))
	}
	return p.add(line, int32(i-low), int32(j-low), words[2])
}

// lineOf describes a line of an entry, in errors.
const lineOf = "a line of two variables and a coefficient"

// wrongNumber is the error of a line of another number of words than an entry has. A longer one of whole numbers before the last
// may be a term of a higher degree.
func wrongNumber(words [][]byte) error {
	variables := words[:len(words)-1]
	whole := func(word []byte) bool { _, ok := text.ParseInt(word); return ok }
	if len(variables) > 2 && !slices.ContainsFunc(variables, func(word []byte) bool { return !whole(word) }) {
		return fmt.Errorf("found %d variables and a coefficient, a term of degree %d (HUBO), expected %s: terms of degree 3 and more have to be reduced to pairs first", len(variables), len(variables), lineOf)
	}
	return fmt.Errorf("found %s, expected %s", formats.Count(len(words), "word"), lineOf)
}

// read reads m lines of coefficients of n variables; the file may go on behind
// them where more says so.
func (f *file) read(n int, m int64, l list, more bool) (*entries, error) {
	e, err := f.newEntries(m)
	if err != nil {
		return nil, err
	}
	e.Twice = l.twice
	how := text.List[*part]{
		Lines: m, Words: 3, Each: lineOf, All: "lines of coefficients", More: more,
		Comment: f.readComment, Number: wrongNumber,
		New:  e.newPart,
		Line: func(p *part, line int, words [][]byte) error { return l.readEntry(p, n, line, words) },
		Keep: e.addPart,
	}
	if l.bare && m > 0 {
		if how.Words, err = e.first(n, l); err != nil {
			return nil, err
		}
		how.Past = 1
	}
	return e, text.ReadList(context.Background(), f.File, how)
}

// first reads the first of n lines, which says how many words the others have.
func (e *entries) first(n int, l list) (words int, err error) {
	f := e.file
	line, err := f.nextWords()
	switch {
	case errors.Is(err, io.EOF):
		return 0, f.Errorf("found the end of the file, expected %s", lineOf)
	case err != nil:
		return 0, err
	case len(line) != 2 && len(line) != 3:
		return 0, f.Errorf("%w", wrongNumber(line))
	}
	words = len(line)
	p := e.newPart()
	if err := l.readEntry(p, n, 0, line); err != nil {
		return 0, f.Errorf("%w", err)
	}
	return words, e.addPart(text.NewBlock(f.Name(), f.Number(), nil), p)
}

// one reads the coefficients of a problem whose header was read.
func (f *file) one(header [][]byte, l list, more bool) (*problem.Instance, error) {
	n, m, err := f.parseSizes(header)
	if err != nil {
		return nil, err
	}
	e, err := f.read(n, m, l, more)
	if err != nil {
		return nil, err
	}
	return e.instance(n, false)
}

// single reads a file of one problem: comments, `n m`, coefficients.
func (f *file) single(l list) (*problem.Instance, error) {
	header, err := f.readHeader(2, 2, "n and m")
	if err != nil {
		return nil, err
	}
	return f.one(header, l, false)
}

// parseSizes reads the words n and m of a header.
func (f *file) parseSizes(words [][]byte) (n int, m int64, err error) {
	variables, err := text.ParseWhole(words[0], "number of variables", 0, problem.MaxVariables)
	if err == nil {
		m, err = text.ParseWhole(words[1], "number of coefficients", 0, math.MaxInt32)
	}
	if err != nil {
		return 0, 0, f.Errorf("%w", err)
	}
	return int(variables), m, nil
}

// readHeader reads the first line and returns its words, of which few to many are expected; errors say
// what was expected.
func (f *file) readHeader(few, many int, what string) ([][]byte, error) {
	words, err := f.nextWords()
	switch {
	case errors.Is(err, io.EOF):
		return nil, f.Errorf("found the end of the file, expected %s", what)
	case err != nil:
		return nil, err
	case len(words) < few || len(words) > many:
		return nil, f.Errorf("found %s, expected %s", formats.Count(len(words), "word"), what)
	}
	return words, nil
}

// readOrlib reads problems of J. E. Beasley's OR-Library
// (http://people.brunel.ac.uk/~mastjjb/jeb/orlib/bqpinfo.html): the number of
// problems, then each; or one problem without that number.
func readOrlib(in source, o Options) (*problem.Instance, error) {
	f, err := in.openList("", o)
	if err != nil {
		return nil, err
	}
	header, err := f.readHeader(1, 2, "the number of problems, or n and m")
	if err != nil {
		return nil, err
	}
	l := list{from: 1, twice: true, loops: true}
	if len(header) == 2 {
		if o.Problem > 1 {
			return nil, f.Errorf("found one problem, expected number %d", o.Problem)
		}
		return f.one(header, l, false)
	}
	problems, err := text.ParseWhole(header[0], "number of problems", 1, 1<<20)
	count := int(problems)
	switch {
	case err != nil:
		return nil, f.Errorf("%w", err)
	case o.Problem > count:
		return nil, f.Errorf("found %s, expected number %d", formats.Count(count, "problem"), o.Problem)
	case o.Problem == 0 && count > 1:
		return nil, f.Errorf("found %d problems, expected to be told which (--problem 1 to %d)", count, count)
	}
	for k := 1; ; k++ {
		header, err := f.ExpectFields(2, "n and m")
		if err != nil {
			return nil, err
		}
		if k == max(1, o.Problem) {
			inst, err := f.one(header, l, k < count)
			if err == nil && count > 1 {
				inst.Note("problem %d of %d", k, count)
			}
			return inst, err
		}
		_, m, err := f.parseSizes(header)
		if err != nil {
			return nil, err
		}
		for range m {
			if _, err := f.ExpectFields(3, lineOf); err != nil {
				return nil, err
			}
		}
	}
}

// readSparse reads the .sparse files of the Biq Mac library (A. Wiegele, 2007), and the .qs files of QOBLIB, of which a comment
// states the offset.
func readSparse(in source, o Options) (*problem.Instance, error) {
	f, err := in.openList("#", o)
	if err != nil {
		return nil, err
	}
	return f.single(list{from: 1, twice: true, loops: true})
}

// readQubist reads the .qh files of Qubist: the number of sites and of lines, then lines `i j J` from 0, of an Ising model; fields
// are those of i i. Lines of the same sites are added up.
func readQubist(in source, o Options) (*problem.Instance, error) {
	f, err := in.openList("#", o)
	if err != nil {
		return nil, err
	}
	header, err := f.readHeader(2, 2, "the numbers of sites and lines")
	if err != nil {
		return nil, err
	}
	n, m, err := f.parseSizes(header)
	if err != nil {
		return nil, err
	}
	e, err := f.read(n, m, list{loops: true}, false)
	if err != nil {
		return nil, err
	}
	inst, err := e.instance(n, true)
	if err == nil {
		inst.Form = problem.Ising
	}
	return inst, err
}

// readSpinGlass reads the .sg and .gsg files of McGroundstate (http://mcsparse.uni-bonn.de/mcgroundstate/formats.html): comments,
// `n m` and lines `i j J` from 1. Spins of a positive J tend to be equal: the ground state has the largest sum of J s s.
func readSpinGlass(in source, o Options) (*problem.Instance, error) {
	f, err := in.openList("#", o)
	if err != nil {
		return nil, err
	}
	inst, err := f.single(list{from: 1})
	if err == nil {
		inst.Form = problem.Ising
	}
	return inst, err
}

// readRudy reads graphs as G. Rinaldi's generator rudy writes them. Edges without
// weights weigh 1 each. A third word in the header, seen in copies of the G-set, is passed over.
func readRudy(in source, o Options) (*problem.Instance, error) {
	f, err := in.openList("#", o)
	if err != nil {
		return nil, err
	}
	header, err := f.readHeader(2, 3, "the numbers of nodes and edges")
	if err != nil {
		return nil, err
	}
	stray := ""
	if len(header) == 3 {
		stray = formats.Quote(header[2])
	}
	inst, err := f.one(header, list{from: 1, bare: true}, false)
	if err != nil {
		return nil, err
	}
	inst.Form = problem.MaxCut
	if stray != "" {
		inst.Note("the header's third word, %s, was passed over", stray)
	}
	return inst, nil
}

// readMQLib reads the QUBO and max-cut files of MQLib (I. Dunning, S. Gupta and
// J. Silberholz, INFORMS J. Computing 30(3), 2018).
func readMQLib(in source, o Options) (*problem.Instance, error) {
	f, err := in.openList("#", o)
	if err != nil {
		return nil, err
	}
	l := list{from: 1, twice: true, loops: true}
	if o.Form == problem.MaxCut {
		l = list{from: 1, bare: true}
	}
	inst, err := f.single(l)
	if err == nil && o.Form == problem.MaxCut {
		inst.Form = problem.MaxCut
	}
	return inst, err
}

// readQUBO reads the .qubo files of qbsolv: `p qubo topology maxNodes nNodes
// nCouplers`, then the nodes and couplers, as many lines as that says.
func readQUBO(in source, o Options) (*problem.Instance, error) {
	f, err := in.openList("c", o)
	if err != nil {
		return nil, err
	}
	words, err := f.readHeader(6, 6, "p qubo, 0, and the numbers of variables, nodes and couplers")
	if err != nil {
		return nil, err
	}
	if string(words[0]) != "p" || string(words[1]) != "qubo" {
		return nil, f.Errorf("found %s, expected p qubo", formats.Quote(words[0]))
	}
	if string(words[2]) != "0" && string(words[2]) != "unconstrained" {
		return nil, f.Errorf("found the topology %s, expected 0: any couplers", formats.Quote(words[2]))
	}
	n, nodes, err := f.parseSizes(words[3:5])
	if err != nil {
		return nil, err
	}
	_, couplers, err := f.parseSizes([][]byte{words[3], words[5]})
	if err != nil {
		return nil, err
	}
	e, err := f.read(n, nodes+couplers, list{loops: true}, false)
	if err != nil {
		return nil, err
	}
	inst, err := e.instance(n, false)
	if err == nil && e.loops != nodes {
		err = f.Errorf("found %s and %s, expected %d and %d as the header says", formats.Count(e.loops, "node"), formats.Count(nodes+couplers-e.loops, "coupler"), nodes, couplers)
	}
	return inst, err
}
