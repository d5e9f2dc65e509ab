// Package formats reads and writes instances in the file formats of the field, and
// recognises a file's format by its name and its first bytes. If these leave open whether it
// holds a QUBO, a graph to be cut or an Ising model, or its sense, the reader asks for a flag.
package formats

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"coalesce/solvers/formats"
	"coalesce/solvers/formats/csv"
	"coalesce/solvers/formats/foreign"
	"coalesce/solvers/formats/packed"
	"coalesce/solvers/formats/program"
	"coalesce/solvers/qubo/problem"
)

// DefaultMemory is how many bytes reading may take when Options.Memory is 0.
const DefaultMemory = 1 << 34

// Options say how to read an instance.
type Options struct {
	// format of the file
	Format string `option:"format" words:"FormatNames()" default:"told by name and content"`
	// form of the coefficients; npy, mtx, csv and mqlib can hold any
	Form problem.Form `option:"form" default:"the format's"`
	// direction of the objective
	Sense problem.Sense `option:"sense" default:"the format's"`
	// problem of a file of several, from 1
	Problem int `option:"problem" min:"1" default:"the only one"`
	// whether the first line of a CSV file is names
	Header csv.YesOrNo `option:"header" default:"told by the file, an error where it can be read either way"`
	// whether the first column of a CSV file is names
	Index  csv.YesOrNo `option:"index" default:"told by the file, an error where it can be read either way"`
	Memory int64       // most bytes to take; 0: DefaultMemory

	cut bool // the file's name is that of a graph to be cut
}

func (o Options) memoryLimit() int64 {
	if o.Memory > 0 {
		return o.Memory
	}
	return DefaultMemory
}

// A source is an open file, decompressed where it was compressed.
type source struct {
	*packed.Stream
	name string // of the file, in errors
}

// A layout is a file format, with the sense and the form that files of it are read as.
type layout struct {
	name  string
	about string
	sense problem.Sense // empty: the file says
	form  problem.Form
	forms []problem.Form // that a file of it may be read as
	read  func(in source, o Options) (*problem.Instance, error)
	write func(w io.Writer, inst *problem.Instance) error // nil: it is read alone
}

// layouts are the formats, in the order in which they are listed.
func layouts() []layout {
	any, qubo := []problem.Form{problem.QUBO, problem.Ising, problem.MaxCut}, []problem.Form{problem.QUBO}
	two, ising, cut := any[:2], any[1:2], any[2:]
	return []layout{
		{"orlib", "OR-Library bqp: problems of `n m` and lines `i j q`, from 1; an off-diagonal q counts twice", problem.Maximize, problem.QUBO, qubo, readOrlib, writeOrlib},
		{"sparse", "Biq Mac .sparse: as orlib, one problem, to be minimised", problem.Minimize, problem.QUBO, qubo, readSparse, writeSparse},
		{"qs", "QOBLIB .qs: as sparse, with `# ObjectiveOffset c`", problem.Minimize, problem.QUBO, qubo, readSparse, writeQS},
		{"rudy", "rudy, G-set and Biq Mac's graphs: `n m` and lines `i j w`, or `i j`, from 1; the edges of a graph to be cut", problem.Maximize, problem.MaxCut, cut, readRudy, writeRudy},
		{"dimacs", "DIMACS graphs: `p edge n m` and lines `e i j`, from 1; the edges of a graph to be cut", problem.Maximize, problem.MaxCut, cut, readDIMACS, nil},
		{"qubo", "qbsolv .qubo: `p qubo 0 n nodes couplers` and lines `i j q`, from 0; q counts once; `c offset : c` and `c scale : f` count too", problem.Minimize, problem.QUBO, qubo, readQUBO, writeQUBO},
		{"coo", "dimod COO: lines `i j q`, from 0, q counts once; `# vartype=SPIN` makes it an Ising model", problem.Minimize, problem.QUBO, two, readCOO, writeCOO},
		{"bqm", "dimod BQM: JSON, schema 3, or the binary file of to_file", problem.Minimize, problem.QUBO, two, readBQM, writeBQM},
		{"bqpjson", "LANL's bqpjson: variables of any numbers, boolean or spins; a scale and an offset", problem.Minimize, problem.QUBO, two, readBQPJSON, writeBQPJSON},
		{"qubist", "Qubist .qh: sites, lines and `i j J`, from 0; fields on the diagonal", problem.Minimize, problem.Ising, ising, readQubist, writeQubist},
		{"sg", "McGroundstate .sg and .gsg: `n m` and lines `i j J`, from 1; spins of a positive J tend to be equal: the sum of J s s is maximised", problem.Maximize, problem.Ising, ising, readSpinGlass, nil},
		{"mqlib", "MQLib: # comments, `n m` and lines `i j q`, from 1; an off-diagonal q counts twice (with form maxcut: edges)", problem.Maximize, problem.QUBO, []problem.Form{problem.QUBO, problem.MaxCut}, readMQLib, writeMQLib},
		{"lp", "LP format (CPLEX, Gurobi, dimod): an objective of binary variables, without constraints", "", problem.QUBO, qubo, readProgram(program.ReadLP), writeLP},
		{"mps", "MPS and QPS: an objective of binary variables with its quadratic terms, without constraints", "", problem.QUBO, qubo, readProgram(program.ReadMPS), nil},
		{"qplib", "QPLIB: an objective of binary variables (QBN), without constraints", "", problem.QUBO, qubo, readProgram(program.ReadQPLIB), nil},
		{"mtx", "Matrix Market: the matrix Q of xᵀQx (an Ising model's couplings, its fields on the diagonal; a graph's adjacency)", problem.Maximize, problem.QUBO, any, readMarket, writeMarket},
		{"npy", "NumPy, also in .npz: the square matrix Q of xᵀQx (an Ising model's couplings, its fields on the diagonal; a graph's adjacency)", problem.Maximize, problem.QUBO, any, readNPY, writeNPY},
		{"csv", "a table of the square matrix Q, a row a line, with names or without", problem.Maximize, problem.QUBO, any, readCSV, writeCSV},
	}
}

// FormatNames are the names of the formats that are read and written.
func FormatNames() []string {
	var names []string
	for _, l := range layouts() {
		names = append(names, l.name)
	}
	return names
}

// DescribeFormat describes a format in one sentence.
func DescribeFormat(format string) string {
	l, _ := layoutOf(format)
	return l.about
}

func layoutOf(name string) (layout, error) {
	all := layouts()
	k := slices.IndexFunc(all, func(l layout) bool { return l.name == name })
	if k < 0 {
		return layout{}, fmt.Errorf("format %q: expected one of %s", name, strings.Join(FormatNames(), ", "))
	}
	return all[k], nil
}

// Read reads an instance from a file in one of FormatNames, plain, compressed
// with gzip, xz or zstd, or the one file of a zip archive. Sense and form are the format's, unless o says
// otherwise; the instance's Notes say what was assumed. Where neither name nor content decides what
// a file holds, an error names the formats, or the forms, to choose from. Errors say where in the
// file, what was found and what was expected; those of coefficients unwrap to
// ErrCoefficient.
func Read(path string, o Options) (*problem.Instance, error) {
	plain, err := packed.OpenFile(path, 0)
	if err != nil {
		return nil, err
	}
	return readPlain(source{plain, path}, o)
}

// ReadFrom is Read on an open stream; errors call it name.
func ReadFrom(r io.Reader, name string, o Options) (*problem.Instance, error) {
	plain, err := packed.OpenLimited(r, -1, name, 0)
	if err != nil {
		return nil, err
	}
	return readPlain(source{plain, name}, o)
}

// readPlain reads an instance, and closes the source.
func readPlain(in source, o Options) (*problem.Instance, error) {
	defer in.Close()
	head, _ := in.Peek(foreign.Head)
	if err := foreign.Check(in.name, head, "a binary quadratic program, in one of the formats "+strings.Join(FormatNames(), ", "), accepted...); err != nil {
		return nil, err
	}
	name, err := o.Format, error(nil)
	if name == "" {
		if name, err = detectFormat(in.name, in.Name, head, o); err != nil {
			return nil, err
		}
	}
	o.cut = cutName(filepath.Base(in.Name))
	l, err := layoutOf(name)
	if err != nil {
		return nil, err
	}
	if o.Form != "" && !slices.Contains(l.forms, o.Form) {
		return nil, fmt.Errorf("%s: found the format %s, expected one that can hold form %s", in.name, l.name, o.Form)
	}
	if o.Problem != 0 && l.name != "orlib" {
		return nil, &formats.OptionError{File: in.name, Option: "--problem", Format: "the format " + l.name + ", of one problem", Expected: "orlib"}
	}
	if option := csv.NamesOption(o.Header, o.Index); option != "" && l.name != "csv" {
		return nil, &formats.OptionError{File: in.name, Option: option, Format: "the format " + l.name, Expected: "csv"}
	}
	inst, err := l.read(in, o)
	if err != nil {
		return nil, err
	}
	inst.Source, inst.Format = in.name, l.name
	if l.sense != "" {
		inst.Sense = l.sense
	}
	if o.Sense != "" {
		inst.Sense = o.Sense
	} else {
		assume(inst, l)
	}
	return inst, nil
}

// assume notes the sense with which a file was read, where the format leaves it open.
func assume(inst *problem.Instance, l layout) {
	switch l.name {
	case "sparse", "qubo":
		inst.Note("read as %s, to be minimised; copies of instances made to be maximised are about in this format: --sense maximize reads those", l.name)
	case "mtx", "npy", "csv", "orlib", "mqlib":
		inst.Note("read as %s %s, to be maximised", l.name, inst.Form)
	}
}
