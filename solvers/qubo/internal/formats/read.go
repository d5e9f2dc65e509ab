// Package formats reads and writes instances in the file formats of the field, and
// tells a file's format by its name and its first bytes.
package formats

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"coalesce/solvers/formats"
	"coalesce/solvers/formats/npy"
	"coalesce/solvers/formats/packed"
	"coalesce/solvers/qubo/problem"
)

// DefaultMemory is how many bytes reading may take when Options.Memory is 0.
const DefaultMemory = 1 << 34

// Options say how to read an instance.
type Options struct {
	Format  string        // one of Names; empty: told by name, then by content
	Sense   problem.Sense // empty: the format's
	Form    problem.Form  // empty: the format's; npy, mtx and mqlib can hold any
	Problem int           // which of a file's problems, from 1; 0: the only one
	Memory  int64         // most bytes to take; 0: DefaultMemory
}

func (o Options) memory() int64 {
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
	sense problem.Sense
	form  problem.Form
	forms []problem.Form // that a file of it may be read as
	read  func(in source, o Options) (*problem.Instance, error)
	write func(w io.Writer, inst *problem.Instance) error
}

// layouts are the formats, in the order in which they are listed.
func layouts() []layout {
	any, qubo := []problem.Form{problem.QUBO, problem.Ising, problem.MaxCut}, []problem.Form{problem.QUBO}
	return []layout{
		{"orlib", "OR-Library bqp: problems of `n m` and lines `i j q`, from 1; an off-diagonal q counts twice", problem.Maximize, problem.QUBO, qubo, readOrlib, writeOrlib},
		{"sparse", "Biq Mac .sparse: as orlib, one problem, to be minimised", problem.Minimize, problem.QUBO, qubo, readSparse, writeSparse},
		{"rudy", "rudy and G-set: `n m` and lines `i j w`, from 1; the edges of a graph to be cut", problem.Maximize, problem.MaxCut, []problem.Form{problem.MaxCut}, readRudy, writeRudy},
		{"qubo", "qbsolv .qubo: `p qubo 0 n nodes couplers` and lines `i j q`, from 0; q counts once", problem.Minimize, problem.QUBO, qubo, readQUBO, writeQUBO},
		{"coo", "dimod COO: lines `i j q`, from 0, q counts once; `# vartype=SPIN` makes it an Ising model", problem.Minimize, problem.QUBO, []problem.Form{problem.QUBO, problem.Ising}, readCOO, writeCOO},
		{"bqm", "dimod BQM JSON, schema 3", problem.Minimize, problem.QUBO, []problem.Form{problem.QUBO, problem.Ising}, readBQM, writeBQM},
		{"mqlib", "MQLib: # comments, `n m` and lines `i j q`, from 1; an off-diagonal q counts twice (with form maxcut: edges)", problem.Maximize, problem.QUBO, []problem.Form{problem.QUBO, problem.MaxCut}, readMQLib, writeMQLib},
		{"mtx", "Matrix Market: the matrix Q of xᵀQx (an Ising model's couplings, its fields on the diagonal; a graph's adjacency)", problem.Maximize, problem.QUBO, any, readMarket, writeMarket},
		{"npy", "NumPy: the square matrix Q of xᵀQx (an Ising model's couplings, its fields on the diagonal; a graph's adjacency)", problem.Maximize, problem.QUBO, any, readNPY, writeNPY},
	}
}

// Names are the names of the formats that are read and written.
func Names() []string {
	var names []string
	for _, l := range layouts() {
		names = append(names, l.name)
	}
	return names
}

// About describes a format in one sentence.
func About(format string) string {
	l, _ := layoutOf(format)
	return l.about
}

func layoutOf(name string) (layout, error) {
	all := layouts()
	k := slices.IndexFunc(all, func(l layout) bool { return l.name == name })
	if k < 0 {
		return layout{}, fmt.Errorf("format %q: expected one of %s", name, strings.Join(Names(), ", "))
	}
	return all[k], nil
}

// Read reads an instance from a file in one of Names, plain or compressed
// with gzip, xz or zstd. Sense and form are the format's, unless o says
// otherwise; the instance's Notes say what was assumed. Errors say where in the
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
	name := o.Format
	if name == "" {
		head, _ := in.Peek(4096)
		name = format(in.Name, head, o.Form)
	}
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
	inst, err := l.read(in, o)
	if err != nil {
		return nil, err
	}
	inst.Source, inst.Format, inst.Sense = in.name, l.name, l.sense
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
	case "mtx", "npy", "orlib", "mqlib":
		inst.Note("read as %s %s, to be maximised", l.name, inst.Form)
	}
}

// gname matches the names of files of the G-set.
var gname = regexp.MustCompile(`^[Gg][0-9]+(-[0-9]+)?(\.(txt|mc))?$`)

// format tells the format by the name without the compression's ending, then
// by the first bytes. An unlabelled `n m` is a QUBO to be maximised, unless a
// cut is asked for.
func format(bare string, head []byte, form problem.Form) string {
	if bytes.HasPrefix(head, []byte(npy.Magic)) {
		return "npy"
	}
	base := filepath.Base(bare)
	switch strings.ToLower(filepath.Ext(base)) {
	case ".npy":
		return "npy"
	case ".mtx", ".mm":
		return "mtx"
	case ".rud", ".rudy", ".mc", ".gset":
		return "rudy"
	case ".sparse":
		return "sparse"
	case ".qubo":
		return "qubo"
	case ".coo":
		return "coo"
	case ".json", ".bqm":
		return "bqm"
	}
	text := bytes.TrimLeft(head, " \t\r\n")
	switch {
	case gname.MatchString(base):
		return "rudy"
	case bytes.HasPrefix(head, []byte("%%MatrixMarket")):
		return "mtx"
	case bytes.HasPrefix(text, []byte("{")):
		return "bqm"
	case bytes.HasPrefix(text, []byte("# vartype")):
		return "coo"
	case bytes.HasPrefix(text, []byte("#")):
		return "mqlib"
	case bytes.HasPrefix(text, []byte("c ")) || bytes.HasPrefix(text, []byte("c\n")) || bytes.HasPrefix(text, []byte("p qubo")):
		return "qubo"
	case form == problem.MaxCut:
		return "rudy"
	}
	return "orlib"
}
