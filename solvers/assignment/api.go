// Package assignment solves linear assignment: given a cost for every pair of
// a row and a column, it matches rows to columns, each at most once, so that
// the costs of the matched pairs add up to the least (or the most).
//
// An Instance is read from a file (Read), made of costs (NewInstance) or points
// (NewPoints) or drawn (Generate). Solve brings it to one form, minimise with integer
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

// The problem, which package problem describes.
type (
	// An Instance is costs of pairs of rows and columns: a matrix, sparse, or points.
	Instance = problem.Instance
	// Sparse are the allowed pairs of a sparse instance.
	Sparse = problem.Sparse
	// Points are the places whose distances are costs.
	Points = problem.Points
	// A Metric is how distances are measured.
	Metric = problem.Metric
	// A Value is the type of an instance's costs.
	Value = problem.Value
	// A Number is the Go side of a Value.
	Number = problem.Number
	// Duals are prices of rows and columns.
	Duals = problem.Duals
	// A Certificate is the result of checking an answer.
	Certificate = problem.Certificate
	// A Hall is a proof that no full matching exists.
	Hall = problem.Hall
	// An InfeasibleError is an instance without a full matching.
	InfeasibleError = problem.InfeasibleError
	// Counts are the work of an algorithm.
	Counts = engine.Counts
)

// The types of costs that kernels exist for.
const (
	Int32   = problem.Int32
	Int64   = problem.Int64
	Float32 = problem.Float32
	Float64 = problem.Float64
)

// The metrics of points.
const (
	Euclidean = problem.Euclidean
	Squared   = problem.Squared
	Manhattan = problem.Manhattan
)

// MaxSide is the most rows or columns an instance may have: columns are int32.
const MaxSide = problem.MaxSide

// Errors that others wrap: of costs that cannot be solved with, and of answers that
// a check refuted.
var (
	ErrCost  = problem.ErrCost
	ErrCheck = problem.ErrCheck
)

// Metrics are the names of the metrics.
func Metrics() []string { return problem.Metrics() }

// NewInstance makes an instance of rows*cols costs, row after row, which it keeps.
func NewInstance[T Number](rows, cols int, costs []T, source string) (*Instance, error) {
	return problem.NewInstance(rows, cols, costs, source)
}

// NewPoints makes an instance of points, whose distances are the costs.
func NewPoints(p Points, source string) (*Instance, error) { return problem.NewPoints(p, source) }

// Check holds a matching and duals against an instance's own costs. Errors wrap
// ErrCheck.
func Check(inst *Instance, column []int32, d Duals) (Certificate, error) {
	return problem.Check(inst, column, d)
}

// CheckHall holds a proof of infeasibility against an instance's own costs: members
// are rows, or columns where there are fewer of those. Errors wrap ErrCheck.
func CheckHall(inst *Instance, members []int32) (Hall, error) {
	return problem.CheckHall(inst, members)
}

// ReadOptions say how to read a file.
type ReadOptions = formats.ReadOptions

// Formats are the names of the formats.
func Formats() []string { return formats.Formats() }

// Read reads an instance from a file, plain or compressed.
func Read(path string, o ReadOptions) (*Instance, error) { return formats.Read(path, o) }

// ReadFrom reads an instance of size bytes (negative: not known) called name.
func ReadFrom(r io.Reader, size int64, name string, o ReadOptions) (*Instance, error) {
	return formats.ReadFrom(r, size, name, o)
}

// ReadPoints reads two files with a point a line, for rows and for columns.
func ReadPoints(rows, cols string, metric Metric, floor bool, o ReadOptions) (*Instance, error) {
	return formats.ReadPoints(rows, cols, metric, floor, o)
}

// ReadAmounts reads supplies of all rows, or capacities of all columns: a whole number, which each of them has, or a file with a whole
// number for each, between blanks, commas, semicolons or ends of lines.
func ReadAmounts(source string, count int) ([]int64, error) {
	return formats.ReadAmounts(source, count)
}

// ReadDuals reads duals in an instance's costs from a JSON file: a result that was
// printed with its duals, or an object of u and v.
func ReadDuals(path string, inst *Instance) (*Duals, error) { return formats.ReadDuals(path, inst) }

// MaxDuals is the largest file of an instance's duals, in bytes.
func MaxDuals(inst *Instance) int64 { return formats.MaxDuals(inst) }

// WriteNPY writes a dense instance as a NumPy array.
func WriteNPY(w io.Writer, inst *Instance) error {
	if err := inst.Check(); err != nil {
		return err
	}
	return formats.WriteNPY(w, inst)
}

// WriteMarket writes an instance in Matrix Market's format.
func WriteMarket(w io.Writer, inst *Instance) error {
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
func Draw(d Drawing) (*Instance, error) {
	inst, err := draw.Draw(d)
	return inst, solve.AsInputError(err)
}

// DrawRows makes rows low to high-1 of a drawing, as an instance of high-low rows.
func DrawRows(d Drawing, low, high int) (*Instance, error) {
	inst, err := draw.DrawRows(d, low, high)
	return inst, solve.AsInputError(err)
}

// Generate is Draw with the fields that most drawings need.
func Generate(kind string, rows, cols int, spread int64, seed uint64, value Value) (*Instance, error) {
	inst, err := draw.Generate(kind, rows, cols, spread, seed, value)
	return inst, solve.AsInputError(err)
}

// Algorithms are the names of the algorithms, best first.
func Algorithms() []string { return families.AlgorithmNames() }

// Subjects are the families of this problem, for the tuner.
func Subjects() []subject.Subject {
	return append(tune.Subjects(), deviceAlgorithmsSubject(), hostAlgorithmsSubject())
}
