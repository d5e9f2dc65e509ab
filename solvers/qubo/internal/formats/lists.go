package formats

import (
	"fmt"
	"math"
	"slices"

	"coalesce/solvers/formats"
	"coalesce/solvers/formats/lines"
	"coalesce/solvers/formats/text"
	"coalesce/solvers/qubo/problem"
)

// A coefficientList is how a format lists coefficients.
type coefficientList struct {
	from  int  // number of the first variable
	twice bool // an off-diagonal coefficient counts twice
	loops bool // i j may be the same
	bare  bool // all lines may be without a coefficient, which is 1 then
}

// one is the coefficient of lines without one.
var one = []byte("1")

// kind is a line of two of n variables and a coefficient, behind a key or none.
func (l coefficientList) kind(key string, n int64) lines.Kind {
	variable := lines.Index("variable", int64(l.from), n)
	kind := lines.Kind{Key: key, Fields: []lines.Field{variable, variable, lines.Word("coefficient")}}
	if key == "" {
		kind.What, kind.Wrong = lineOf, wrongNumber
	}
	if l.bare {
		kind.Optional = 1
	}
	return kind
}

// takeLine takes a line; those of other kinds are passed over.
func (l coefficientList) takeLine(p *part, r *lines.Record) error {
	if r.Kind > 0 {
		return nil
	}
	i, j, word := int32(r.Int(0)), int32(r.Int(1)), one
	if i == j && !l.loops {
		return fmt.Errorf("found an edge from %s to itself, expected two different nodes", r.Words[0])
	}
	if r.Has(2) {
		word = r.Words[2]
	}
	return p.add(r.Line, i, j, word)
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

// sizeFields are the fields of a header.
var sizeFields = []lines.Field{lines.Int("number of variables", 0, problem.MaxVariables), lines.Int("number of coefficients", 0, math.MaxInt32)}

// read reads m lines of coefficients of n variables; the file may go on behind
// them where more says so.
func (f *file) read(n int, m int64, l coefficientList, more bool) (*entries, error) {
	e, err := f.newEntries(m)
	if err != nil {
		return nil, err
	}
	e.Twice = l.twice
	_, err = e.read(l, "coefficient", m, more, l.kind("", int64(n)))
	return e, err
}

// one reads the coefficients of a problem whose header was read.
func (f *file) one(header lines.Record, l coefficientList, more bool) (*problem.Instance, error) {
	n := int(header.Int(0))
	e, err := f.read(n, header.Int(1), l, more)
	if err != nil {
		return nil, err
	}
	return e.instance(n, false)
}

// single reads a file of one problem: comments, `n m`, coefficients.
func (f *file) single(l coefficientList) (*problem.Instance, error) {
	header, err := lines.ReadHead(f.File, lines.Kind{Fields: sizeFields, What: "n and m"})
	if err != nil {
		return nil, err
	}
	return f.one(header, l, false)
}

// readOrlib reads problems of J. E. Beasley's OR-Library
// (http://people.brunel.ac.uk/~mastjjb/jeb/orlib/bqpinfo.html): the number of
// problems, then each; or one problem without that number.
func readOrlib(in source, o Options) (*problem.Instance, error) {
	f, err := in.openList("", o)
	if err != nil {
		return nil, err
	}
	problem := lines.Kind{Fields: sizeFields, What: "n and m"}
	header, err := lines.ReadHead(f.File, lines.Kind{Fields: []lines.Field{lines.Int("number of problems", 1, 1<<20)}, What: "the number of problems"}, problem)
	if err != nil {
		return nil, err
	}
	l := coefficientList{from: 1, twice: true, loops: true}
	if header.Kind == 1 {
		if o.Problem > 1 {
			return nil, f.Errorf("found one problem, expected number %d", o.Problem)
		}
		return f.one(header, l, false)
	}
	count := int(header.Int(0))
	switch {
	case o.Problem > count:
		return nil, f.Errorf("found %s, expected number %d", formats.Count(count, "problem"), o.Problem)
	case o.Problem == 0 && count > 1:
		return nil, f.Errorf("found %d problems, expected to be told which (--problem 1 to %d)", count, count)
	}
	for k := 1; ; k++ {
		if header, err = lines.ReadHead(f.File, problem); err != nil {
			return nil, err
		}
		if k == max(1, o.Problem) {
			inst, err := f.one(header, l, k < count)
			if err == nil && count > 1 {
				inst.Note("problem %d of %d", k, count)
			}
			return inst, err
		}
		entry := l.kind("", header.Int(0))
		for range header.Int(1) {
			if _, err := lines.ReadHead(f.File, entry); err != nil {
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
	return f.single(coefficientList{from: 1, twice: true, loops: true})
}

// readQubist reads the .qh files of Qubist: the number of sites and of lines, then lines `i j J` from 0, of an Ising model; fields
// are those of i i. Lines of the same sites are added up.
func readQubist(in source, o Options) (*problem.Instance, error) {
	f, err := in.openList("#", o)
	if err != nil {
		return nil, err
	}
	header, err := lines.ReadHead(f.File, lines.Kind{Fields: sizeFields, What: "the numbers of sites and lines"})
	if err != nil {
		return nil, err
	}
	n := int(header.Int(0))
	e, err := f.read(n, header.Int(1), coefficientList{loops: true}, false)
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
	inst, err := f.single(coefficientList{from: 1})
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
	header, err := lines.ReadHead(f.File, lines.Kind{Fields: append(slices.Clip(sizeFields), lines.Word("third word")), Optional: 1, What: "the numbers of nodes and edges"})
	if err != nil {
		return nil, err
	}
	stray := ""
	if header.Has(2) {
		stray = formats.Quote(header.Words[2])
	}
	inst, err := f.one(header, coefficientList{from: 1, bare: true}, false)
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
	l := coefficientList{from: 1, twice: true, loops: true}
	if o.Form == problem.MaxCut {
		l = coefficientList{from: 1, bare: true}
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
	header, err := lines.ReadHead(f.File, lines.Kind{Key: "p qubo 0|unconstrained", What: "p qubo, 0, and the numbers of variables, nodes and couplers",
		Fields: []lines.Field{sizeFields[0], lines.Int("number of nodes", 0, math.MaxInt32), lines.Int("number of couplers", 0, math.MaxInt32)}})
	if err != nil {
		return nil, err
	}
	n, nodes, couplers := int(header.Int(0)), header.Int(1), header.Int(2)
	e, err := f.read(n, nodes+couplers, coefficientList{loops: true}, false)
	if err != nil {
		return nil, err
	}
	inst, err := e.instance(n, false)
	if err == nil && e.loops != nodes {
		err = f.Errorf("found %s and %s, expected %d and %d as the header says", formats.Count(e.loops, "node"), formats.Count(nodes+couplers-e.loops, "coupler"), nodes, couplers)
	}
	return inst, err
}
