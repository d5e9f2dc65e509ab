package qubo

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"coalesce/solvers/npy"
	"coalesce/solvers/packed"
)

// DefaultMemory is how many bytes reading may take when ReadOptions.Memory is 0.
const DefaultMemory = 1 << 34

// ReadOptions say how to read an instance.
type ReadOptions struct {
	Format  string // one of Formats; empty: told by name, then by content
	Sense   Sense  // empty: the format's
	Form    Form   // empty: the format's; npy, mtx and mqlib can hold any
	Problem int    // which of a file's problems, from 1; 0: the only one
	Memory  int64  // most bytes to take; 0: DefaultMemory
}

func (o ReadOptions) memory() int64 {
	if o.Memory > 0 {
		return o.Memory
	}
	return DefaultMemory
}

// A layout is a file format: what it says and what has to be assumed.
type layout struct {
	name  string
	about string
	sense Sense
	form  Form
	forms []Form // that a file of it may be read as
	read  func(in *lines, o ReadOptions) (*Instance, error)
	write func(w io.Writer, inst *Instance) error
}

// layouts are the formats, in the order in which they are listed.
func layouts() []layout {
	any, qubo := []Form{QUBO, Ising, MaxCut}, []Form{QUBO}
	return []layout{
		{"orlib", "OR-Library bqp: problems of `n m` and lines `i j q`, from 1; an off-diagonal q counts twice", Maximize, QUBO, qubo, readOrlib, writeOrlib},
		{"sparse", "Biq Mac .sparse: as orlib, one problem, to be minimised", Minimize, QUBO, qubo, readSparse, writeSparse},
		{"rudy", "rudy and G-set: `n m` and lines `i j w`, from 1; the edges of a graph to be cut", Maximize, MaxCut, []Form{MaxCut}, readRudy, writeRudy},
		{"qubo", "qbsolv .qubo: `p qubo 0 n nodes couplers` and lines `i j q`, from 0; q counts once", Minimize, QUBO, qubo, readQUBO, writeQUBO},
		{"coo", "dimod COO: lines `i j q`, from 0, q counts once; `# vartype=SPIN` makes it an Ising model", Minimize, QUBO, []Form{QUBO, Ising}, readCOO, writeCOO},
		{"bqm", "dimod BQM JSON, schema 3", Minimize, QUBO, []Form{QUBO, Ising}, readBQM, writeBQM},
		{"mqlib", "MQLib: # comments, `n m` and lines `i j q`, from 1; an off-diagonal q counts twice (with form maxcut: edges)", Maximize, QUBO, []Form{QUBO, MaxCut}, readMQLib, writeMQLib},
		{"mtx", "Matrix Market: the matrix Q of xᵀQx (an Ising model's couplings, its fields on the diagonal; a graph's adjacency)", Maximize, QUBO, any, readMarket, writeMarket},
		{"npy", "NumPy: the square matrix Q of xᵀQx (an Ising model's couplings, its fields on the diagonal; a graph's adjacency)", Maximize, QUBO, any, nil, writeNPY},
	}
}

// Formats are the names of the formats that are read and written.
func Formats() []string {
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
		return layout{}, fmt.Errorf("format %q: expected one of %s", name, strings.Join(Formats(), ", "))
	}
	return all[k], nil
}

// Read reads an instance from a file in one of Formats, plain or compressed
// with gzip, xz or zstd. Sense and form are the format's, unless o says
// otherwise; the instance's Notes say what was assumed. Errors say where in the
// file, what was found and what was expected; those of coefficients unwrap to
// ErrCoefficient.
func Read(path string, o ReadOptions) (*Instance, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read instance: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("read instance: %w", err)
	}
	if info.IsDir() {
		return nil, fmt.Errorf("read instance: %s is a directory, expected a file", path)
	}
	size := int64(-1)
	if info.Mode().IsRegular() {
		size = info.Size()
	}
	return readFrom(f, size, path, o)
}

// ReadFrom is Read on an open stream; name is what errors call it.
func ReadFrom(r io.Reader, name string, o ReadOptions) (*Instance, error) {
	return readFrom(r, -1, name, o)
}

// readFrom reads from a file of size bytes, unknown when negative.
func readFrom(r io.Reader, size int64, name string, o ReadOptions) (*Instance, error) {
	plain, err := packed.Open(r, name)
	if err != nil {
		return nil, err
	}
	defer plain.Close()
	if plain.Packed {
		size = -1
	}
	head, _ := plain.Peek(4096)
	l, err := layoutOf(o.Format)
	switch {
	case o.Format == "":
		l, err = layoutOf(format(plain.Name, head, o.Form))
	}
	if err != nil {
		return nil, err
	}
	if o.Form != "" && !slices.Contains(l.forms, o.Form) {
		return nil, fmt.Errorf("%s: found the format %s, expected one that can hold form %s", name, l.name, o.Form)
	}
	if o.Problem != 0 && l.name != "orlib" {
		return nil, fmt.Errorf("%s: found the format %s, which holds one problem, expected orlib for problem %d", name, l.name, o.Problem)
	}
	var inst *Instance
	if l.name == "npy" {
		inst, err = readNPY(plain.Reader, size, name, o)
	} else {
		inst, err = l.read(&lines{r: plain.Reader, name: name}, o)
	}
	if err != nil {
		return nil, err
	}
	inst.Source, inst.Format, inst.Sense = name, l.name, l.sense
	if o.Sense != "" {
		inst.Sense = o.Sense
	} else {
		assume(inst, l)
	}
	return inst, nil
}

// assume notes what the format left open.
func assume(inst *Instance, l layout) {
	switch l.name {
	case "sparse", "qubo":
		inst.note("read as %s, to be minimised; copies of instances made to be maximised are about in this format: --sense maximize reads those", l.name)
	case "mtx", "npy", "orlib", "mqlib":
		inst.note("read as %s %s, to be maximised", l.name, inst.Form)
	}
}

// gname is what graphs of the G-set are called.
var gname = regexp.MustCompile(`^[Gg][0-9]+(-[0-9]+)?(\.(txt|mc))?$`)

// format tells the format by the name without the compression's ending, then
// by the first bytes. An unlabelled `n m` is a QUBO to be maximised, unless a
// cut is asked for.
func format(bare string, head []byte, form Form) string {
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
	case form == MaxCut:
		return "rudy"
	}
	return "orlib"
}

// located says where in the file a repeated coefficient is: entry 0 stood on
// line first when every line holds one entry.
func located(err error, in *lines, first int) error {
	var twice *repeatedError
	if errors.As(err, &twice) {
		return fmt.Errorf("%s:%d: found the variables of line %d again, expected each pair once", in.name, first+twice.again, first+twice.first)
	}
	return fmt.Errorf("%s: %w", in.name, err)
}
