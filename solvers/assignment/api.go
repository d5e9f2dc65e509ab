// Package assignment solves linear assignment: given a cost for every pair of
// a row and a column, it matches rows to columns, each at most once, so that
// the costs of the matched pairs add up to the least (or the most).
//
// A problem.Instance is read from a file (Read), made of costs (problem.NewInstance) or points
// (problem.NewPoints) or drawn (Generate). Solve brings it to one form, minimise with integer
// costs and rows <= cols, hands it to an algorithm on a device or on the host, and
// checks what comes back against the original costs: a permutation, and duals that
// prove it optimal.
//
// The rooms: problem, the instance and its certificate; internal/formats, files;
// internal/draw, the literature's instances; internal/engine, what algorithms on
// devices share; internal/coreprice, internal/hungarian, internal/batch and
// internal/host, the algorithms; internal/verify, kernels that check; internal/rules
// of the module says which may import which.
package assignment

import (
	"io"

	"coalesce/autotune/subject"
	"coalesce/solvers/assignment/internal/draw"
	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/internal/families"
	"coalesce/solvers/assignment/internal/formats"
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/assignment/tune"
	"coalesce/solvers/solve"
)

// Counts are the work of an algorithm.
type Counts = engine.Counts

// ReadOptions say how to read a file.
type ReadOptions = formats.ReadOptions

// Formats are the names of the formats.
func Formats() []string { return formats.Formats() }

// Read reads an instance from a file, plain or compressed.
func Read(path string, o ReadOptions) (*problem.Instance, error) { return formats.Read(path, o) }

// ReadFrom reads an instance of size bytes (negative: not known) called name.
func ReadFrom(r io.Reader, size int64, name string, o ReadOptions) (*problem.Instance, error) {
	return formats.ReadFrom(r, size, name, o)
}

// ReadPoints reads two files with a point a line, for rows and for columns.
func ReadPoints(rows, cols string, metric problem.Metric, floor bool, o ReadOptions) (*problem.Instance, error) {
	return formats.ReadPoints(rows, cols, metric, floor, o)
}

// ReadAmounts reads supplies of all rows, or capacities of all columns: a whole number, which each of them has, or a file with a whole
// number for each, between blanks, commas, semicolons or ends of lines.
func ReadAmounts(source string, count int) ([]int64, error) {
	return formats.ReadAmounts(source, count)
}

// ReadDuals reads duals in an instance's costs from a JSON file: a result that was
// printed with its duals, or an object of u and v.
func ReadDuals(path string, inst *problem.Instance) (*problem.Duals, error) {
	return formats.ReadDuals(path, inst)
}

// MaxDuals is the largest file of an instance's duals, in bytes.
func MaxDuals(inst *problem.Instance) int64 { return formats.MaxDuals(inst) }

// WriteNPY writes a dense instance as a NumPy array.
func WriteNPY(w io.Writer, inst *problem.Instance) error {
	if err := inst.Check(); err != nil {
		return err
	}
	return formats.WriteNPY(w, inst)
}

// WriteMarket writes an instance in Matrix Market's format.
func WriteMarket(w io.Writer, inst *problem.Instance) error {
	if err := inst.Check(); err != nil {
		return err
	}
	return formats.WriteMarket(w, inst)
}

// A Drawing says which instance Draw makes: a function of its fields alone.
type Drawing = draw.Drawing

// Kinds are the names of the literature's instances.
func Kinds() []string { return draw.Kinds() }

// DescribeKind describes a kind in a sentence; empty for a name that no kind has.
func DescribeKind(kind string) string { return draw.DescribeKind(kind) }

// DependsOnRange reports whether the range of a Drawing is part of the costs of a kind.
func DependsOnRange(kind string) bool { return draw.UsesRange(kind) }

// DependsOnSeed reports whether the costs of a kind depend on the seed of a Drawing.
func DependsOnSeed(kind string) bool { return draw.IsRandom(kind) }

// Draw makes an instance.
func Draw(d Drawing) (*problem.Instance, error) {
	inst, err := draw.Draw(d)
	return inst, solve.AsInputError(err)
}

// DrawRows makes rows low to high-1 of a drawing, as an instance of high-low rows.
func DrawRows(d Drawing, low, high int) (*problem.Instance, error) {
	inst, err := draw.DrawRows(d, low, high)
	return inst, solve.AsInputError(err)
}

// Generate is Draw with the fields that most drawings need.
func Generate(kind string, rows, cols int, spread int64, seed uint64, value problem.Value) (*problem.Instance, error) {
	inst, err := draw.Generate(kind, rows, cols, spread, seed, value)
	return inst, solve.AsInputError(err)
}

// Algorithms are the names of the algorithms, best first.
func Algorithms() []string { return families.AlgorithmNames() }

// Subjects are the families of this problem, for the tuner.
func Subjects() []subject.Subject {
	return append(tune.Subjects(), deviceAlgorithmsSubject(), hostAlgorithmsSubject())
}
