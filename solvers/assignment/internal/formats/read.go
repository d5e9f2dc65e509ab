// Package formats reads and writes instances and duals: NumPy, CSV, triples,
// OR-Library, Matrix Market, DIMACS, points.
package formats

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"
	"sync/atomic"

	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/cores"
	"coalesce/solvers/formats"
	"coalesce/solvers/formats/csv"
	"coalesce/solvers/formats/foreign"
	"coalesce/solvers/formats/npy"
	"coalesce/solvers/formats/packed"
	"coalesce/solvers/formats/text"
)

// DefaultMemory is how many bytes of costs Read holds when ReadOptions.Memory
// is 0 and the file's size does not prove that it has them.
const DefaultMemory = 1 << 34

// ReadOptions say how to read costs.
type ReadOptions struct {
	// find the matching that is worth the most; minus infinity forbids a pair then
	Maximize bool `option:"maximize"`
	// format of the file
	Format string `option:"format" words:"Formats()" default:"told by name and content"`
	// whether the first line of a CSV file is names; of triples, whether it is left out
	Header csv.YesOrNo `option:"header" default:"told by the file, an error where it can be read either way"`
	// whether the first column of a CSV file is names
	Index  csv.YesOrNo `option:"index" default:"told by the file, an error where it can be read either way"`
	Memory int64       // most bytes of costs to hold; 0: DefaultMemory where the file does not prove its size
}

// Formats are the formats that Read knows.
func Formats() []string {
	return []string{"npy", "csv", "triples", "orlib", "assignp", "mtx", "asn", "min"}
}

// A source is an open file, decompressed where it was compressed.
type source struct {
	*packed.Stream
	name string // of the file, in errors
}

// Read reads an instance from a file, plain, compressed with gzip, xz or
// zstd, or the one file of a zip archive, as an array of a .npz file is:
//
//   - npy: two dimensions of any integer or floating type; the file is mapped,
//     not copied, where it is not compressed and stored as memory holds it;
//   - csv: a row a line, separated by commas, semicolons, tabs or spaces; the
//     first line and the first column may hold names: solvers/formats/csv says
//     when they do, and when Header and Index must say so;
//   - triples: lines of row, column and cost, sparse; rows and columns have numbers from 0,
//     or from 1 where none is 0, or names;
//   - orlib: the number n, then n*n costs (OR-Library's assignment problems);
//   - assignp: the number n, then lines of row, column and cost, sparse (OR-Library's assignp800 to assignp5000);
//   - mtx: Matrix Market; coordinates are sparse, with explicit zeros; those of a
//     pattern cost 1 each;
//   - asn: DIMACS assignment problems, sparse; the sources are the rows;
//   - min: DIMACS minimum-cost flow problems, sparse, whose arcs lead from nodes of supply, the rows, to
//     others and carry what their ends have.
//
// "inf" forbids a pair ("-inf" when maximising); in a .npy file of integers so
// does the largest number of the type, with a note. In text that number is a cost
// like any other. Text costs become int32 when they fit, else int64, else unsigned integers of 64 bits, else
// float64, with a note where that rounds.
// Errors say where in the file, what was found and what was expected; those of costs
// unwrap to ErrCost.
//
// Close the instance to give a mapped file back.
func Read(path string, o ReadOptions) (*problem.Instance, error) {
	if inst, err := mapNPY(path, o); inst != nil || err != nil {
		return inst, err
	}
	plain, err := packed.OpenFile(path, 0)
	if err != nil {
		return nil, err
	}
	return readPlain(source{plain, path}, o)
}

// ReadFrom is Read on an open stream of size bytes, or of unknown size when
// that is negative; name is what errors call it.
func ReadFrom(r io.Reader, size int64, name string, o ReadOptions) (*problem.Instance, error) {
	plain, err := packed.OpenLimited(r, size, name, 0)
	if err != nil {
		return nil, err
	}
	return readPlain(source{plain, name}, o)
}

// readPlain reads an instance, and closes the source.
func readPlain(in source, o ReadOptions) (inst *problem.Instance, err error) {
	defer in.Close()
	head, _ := in.Peek(foreign.Head)
	if err := foreign.Check(in.name, head, "costs, in one of the formats "+strings.Join(Formats(), ", "), foreign.NPY, foreign.Market, foreign.Asn, foreign.MinCost); err != nil {
		return nil, err
	}
	form := o.Format
	if form == "" {
		form = format(in.Name, head)
	}
	if option := csv.NamesOption(o.Header, o.Index); option != "" && form != "csv" && form != "triples" {
		return nil, &formats.OptionError{File: in.name, Option: option, Format: "the format " + form, Expected: "csv"}
	}
	switch form {
	case "npy":
		inst, err = readNPY(in, in.Size, in.name, o)
	case "csv":
		inst, err = readCSV(in, o)
	case "triples":
		inst, err = readTriples(in, o)
	case "orlib":
		inst, err = readOrlib(in, o)
	case "assignp":
		inst, err = readAssignP(in, o)
	case "mtx":
		inst, err = readMarket(in, o)
	case "asn":
		inst, err = readASN(in, o)
	case "min":
		inst, err = readMin(in, o)
	default:
		return nil, fmt.Errorf("format %q: expected one of %s", form, strings.Join(Formats(), ", "))
	}
	if err != nil {
		return nil, err
	}
	return finishInstance(inst, in.name, o)
}

// finishInstance sets the source and the sense of an instance, notes how many pairs its integers forbid,
// and checks it.
func finishInstance(inst *problem.Instance, name string, o ReadOptions) (*problem.Instance, error) {
	inst.Source, inst.Maximize = name, o.Maximize
	narrow(inst)
	if forbidden := countForbidden(inst); forbidden > 0 && inst.Type.Integer() {
		inst.Note("%d pairs are forbidden", forbidden)
	}
	if err := inst.Check(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return inst, nil
}

// format tells the format by the name without the compression's ending, then
// by the first bytes.
func format(bare string, head []byte) string {
	if bytes.HasPrefix(head, []byte(npy.Magic)) {
		return "npy"
	}
	switch ext := strings.ToLower(filepath.Ext(bare)); ext {
	case ".npy", ".csv", ".mtx", ".asn", ".min":
		return ext[1:]
	case ".tsv":
		return "csv"
	}
	first, _, _ := bytes.Cut(bytes.TrimLeft(head, " \t\r\n"), []byte("\n"))
	fields := bytes.Fields(first)
	switch {
	case bytes.HasPrefix(head, []byte("%%MatrixMarket")):
		return "mtx"
	case foreign.KindOf(head) == foreign.MinCost:
		return "min"
	case foreign.KindOf(head) == foreign.Asn || len(fields) > 0 && string(fields[0]) == "c":
		return "asn"
	case isAssignP(filepath.Base(bare)):
		return "assignp"
	case len(fields) == 1 && !bytes.ContainsAny(fields[0], ",;.") && text.IsNumber(fields[0]):
		return "orlib"
	}
	return "csv"
}

// costMemory is how many bytes of costs may be held.
func (o ReadOptions) costMemory() int64 {
	if o.Memory > 0 {
		return o.Memory
	}
	return DefaultMemory
}

// checkMemory is an error where rows x cols costs of size bytes each take more memory than Read may hold.
func (o ReadOptions) checkMemory(rows, cols uint64, size int) error {
	if rows > problem.MaxSide || cols > problem.MaxSide {
		return fmt.Errorf("found %d rows and %d columns, expected at most %d", rows, cols, problem.MaxSide)
	}
	if need := float64(rows) * float64(cols) * float64(size); need > float64(o.costMemory()) {
		return fmt.Errorf("%d x %d costs take %w", rows, cols, formats.MemoryShortage(need, o.costMemory()))
	}
	return nil
}

// roomSparse is an error where a sparse instance takes more memory, besides its costs, than Read
// may hold.
func (o ReadOptions) roomSparse(rows, cols int) error {
	if need := 16 * (float64(rows) + float64(cols)); need > float64(o.costMemory()) {
		return fmt.Errorf("%d rows and %d columns take %w", rows, cols, formats.MemoryShortage(need, o.costMemory()))
	}
	return nil
}

// narrow makes int64 costs int32 where they fit; unsigned ones, and those of which the largest int64 is one, do not.
func narrow(inst *problem.Instance) {
	const limit = math.MaxInt32 - 1
	if inst.Type != problem.Int64 || inst.Unsigned || inst.Every || inst.Points != nil {
		return
	}
	s := problem.Scan(inst.I64, func(part []int64) problem.Span[int64] {
		s := problem.Span[int64]{Bad: -1}
		for k, c := range part {
			if c != math.MaxInt64 && (c > limit || c < -limit) {
				s.Bad = k
				break
			}
		}
		return s
	})
	if s.Bad >= 0 {
		return
	}
	costs := make([]int32, len(inst.I64))
	cores.Split(len(costs), 1<<16, func(low, high int) {
		for k := low; k < high; k++ {
			costs[k] = int32(min(inst.I64[k], math.MaxInt32))
		}
	})
	problem.SetCosts(inst, costs)
	if inst.Unmap != nil {
		inst.Unmap() // copied: a failure to unmap costs memory, not the answer
		inst.Unmap = nil
	}
}

func countForbidden(inst *problem.Instance) int {
	if inst.Every {
		return 0
	}
	if inst.Type == problem.Int32 {
		return countEqual(inst.I32, math.MaxInt32)
	}
	return countEqual(inst.I64, math.MaxInt64)
}

// countEqual is how many items of a list are x.
func countEqual[T comparable](list []T, x T) int {
	var total atomic.Int64
	cores.Split(len(list), 1<<16, func(from, to int) {
		count := 0
		for _, v := range list[from:to] {
			if v == x {
				count++
			}
		}
		total.Add(int64(count))
	})
	return int(total.Load())
}
