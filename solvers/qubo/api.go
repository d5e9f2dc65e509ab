// Package qubo solves binary quadratic programs: it chooses x in {0,1}^n so
// that xᵀQx is largest or smallest. Ising models (spins of -1 and +1) and
// maximum cuts are the same problem in other words.
//
// A problem.Instance is read from a file (Read), built (problem.NewBuilder) or drawn (Palubeckis). Solve checks it
// and brings it to one form: maximise, with int64 coefficients. It fixes the variables that it can
// prove, hands the rest to a search on a device or on the host, and recomputes the value of the
// solution from the instance's own coefficients.
//
// The rooms: problem, the instance and its normal form; internal/formats, files;
// internal/preprocess, reductions and bounds; internal/semidefinite, better bounds; internal/search, what all searches
// share; internal/tabu, internal/tempering, internal/multistart and internal/host,
// the searches; internal/rules of the module says which may import which.
package qubo

import (
	"context"
	"fmt"
	"io"

	"coalesce/runtime/device"
	"coalesce/solvers/qubo/internal/draw"
	"coalesce/solvers/qubo/internal/formats"
	"coalesce/solvers/qubo/internal/frustration"
	"coalesce/solvers/qubo/internal/multistart"
	"coalesce/solvers/qubo/internal/search"
	"coalesce/solvers/qubo/internal/tabu"
	"coalesce/solvers/qubo/problem"
	"coalesce/solvers/solve"
)

// A Frustration is a proof of a bound by frustrated sets of edges.
type Frustration = frustration.Proof

// ParseStart reads a solution of n variables to begin with (Options.Start): a digit 0 or 1 for each variable, a sign for each
// spin, or the JSON object of a result. name is what errors call the text.
func ParseStart(text []byte, name string, n int) (problem.Bits, error) {
	x, err := problem.ParseStart(text, name, n)
	return x, solve.AsInputError(err)
}

// Palubeckis draws an instance of n variables with G. Palubeckis' generator of
// 2002-03-21: density is the percentage of pairs with a coefficient, seed the
// generator's first state; p3000.1 is Palubeckis(3000, 50, 31000).
func Palubeckis(n, density int, seed int64) (*problem.Instance, error) {
	inst, err := draw.Palubeckis(n, density, seed)
	return inst, solve.AsInputError(err)
}

// ReadOptions say how to read an instance.
type ReadOptions = formats.Options

// DefaultMemory is how many bytes reading may take when ReadOptions.Memory is 0.
const DefaultMemory = formats.DefaultMemory

// Formats are the names of the formats that are read and written.
func Formats() []string { return formats.FormatNames() }

// DescribeFormat describes a format in one sentence.
func DescribeFormat(format string) string { return formats.DescribeFormat(format) }

// FormatOf is the format that a file's name promises, empty where it promises none.
func FormatOf(path string) string { return formats.OfPath(path) }

// Read reads an instance from a file in one of Formats, plain, compressed
// with gzip, xz or zstd, or the one file of a zip archive. Sense and form are the format's, unless o says
// otherwise; the instance's Notes say what was assumed. Where neither name nor content decides what
// a file holds, an error names the formats, or the forms, to choose from. Errors say where in the
// file, what was found and what was expected; those of coefficients unwrap to
// ErrCoefficient.
func Read(path string, o ReadOptions) (*problem.Instance, error) { return formats.Read(path, o) }

// ReadFrom is Read on an open stream; errors call it name.
func ReadFrom(r io.Reader, name string, o ReadOptions) (*problem.Instance, error) {
	return formats.ReadFrom(r, name, o)
}

// Write writes an instance in one of Formats. The instance is converted to the form and the sense
// of the format first, so that reading the file without options gives the same problem. notes name
// the conversions, and the parts that the format cannot hold.
func Write(w io.Writer, inst *problem.Instance, format string) (notes []string, err error) {
	if err := inst.Check(); err != nil {
		return nil, fmt.Errorf("a malformed instance: %w", err)
	}
	return formats.Write(w, inst, format)
}

// Rules are the parameters of the searches, by the names that ParseRules takes;
// 0 is the engine's default.
type Rules = search.Rules

// Starts are the parameters of massive multi-start (Lewis 2017); 0 and empty are its defaults.
type Starts = search.Starts

// Blends are the values of Starts.Blend, the default first.
func Blends() []string { return search.BlendNames() }

// Ascents are the values of Starts.Ascend, the default first.
func Ascents() []string { return search.AscentNames() }

// Printed is the Lambda of Starts that the paper prints, max/mean.
const Printed = search.Printed

// Never is the Restart of a search that does not begin anew.
const Never = search.Never

// RuleNames are the names of all rules.
func RuleNames() []string { return search.RuleNames() }

// ParseRules reads rules such as tenure=20,stall=10000,restart=never.
func ParseRules(text string) (Rules, error) { return search.ParseRules(text) }

// Work is the number of flips, and of walks begun, of searches.
type Work = search.Work

// Massive multi-start (Lewis 2017) as the paper runs it, for comparisons.
type (
	// MultistartOptions of massive multi-start. The zero value is the paper's run,
	// with the default λ.
	MultistartOptions = multistart.Options
	// A MultistartRun is the result of massive multi-start.
	MultistartRun = multistart.Run
	// A MultistartStep is a new best of a run.
	MultistartStep = multistart.Step
)

// Multistart runs massive multi-start on an instance: on a device with the
// kernels of qubo/multistart and qubo/evaluate, on a host device in plain Go,
// as the paper's CPU would. Objectives in the run are scaled, to be maximised;
// Value of the instance gives its own terms.
func Multistart(ctx context.Context, d device.Device, inst *problem.Instance, o MultistartOptions) (*MultistartRun, error) {
	if err := onDevice(d, inst); err != nil {
		return nil, err
	}
	return multistart.Solve(ctx, d, inst, o)
}

// onDevice returns an error for no device and for a malformed instance.
func onDevice(d device.Device, inst *problem.Instance) error {
	if d == nil {
		return solve.InvalidInput("device", "found nil, expected one")
	}
	if err := inst.Check(); err != nil {
		return fmt.Errorf("a malformed instance: %w", err)
	}
	return nil
}

// An Evaluation is a number of random solutions of an instance, resident on a
// device beside its matrix, to be evaluated and timed.
type Evaluation = multistart.Evaluation

// OpenEvaluation loads the variant of qubo/evaluate of a label and draws count solutions. An empty
// label stands for the default variant of the narrowest type of coefficients that is exact.
func OpenEvaluation(d device.Device, inst *problem.Instance, label string, count int) (*Evaluation, error) {
	if err := onDevice(d, inst); err != nil {
		return nil, err
	}
	if count < 0 {
		return nil, solve.InvalidInput("count", "found %d solutions, expected at least 0", count)
	}
	return multistart.OpenEvaluation(d, inst, label, count)
}

// EvaluateVariants are the labels of the variants of qubo/evaluate that can evaluate an instance.
// Those of float32 may round; all others are exact.
func EvaluateVariants(inst *problem.Instance) ([]string, error) {
	if err := inst.Check(); err != nil {
		return nil, fmt.Errorf("a malformed instance: %w", err)
	}
	return multistart.EvaluateVariants(inst)
}

// A Flipping is a variant of qubo/bulk on a dense problem that is drawn on its
// way to the device, to be timed: the host never holds the matrix.
type Flipping = tabu.Flipping

// OpenFlipping draws a problem of n variables that rows of a type hold, and loads the variant of a
// label; an empty label stands for the variant that is chosen where nothing is tuned.
func OpenFlipping(d device.Device, n int, row, label string) (*Flipping, error) {
	if d == nil {
		return nil, solve.InvalidInput("device", "found nil, expected one")
	}
	return tabu.OpenFlipping(d, n, row, label)
}

// FlippingVariants are the labels of the variants that hold a drawn problem of n variables with
// rows of a type, and have room for at most a quarter more variables than the smallest of them.
func FlippingVariants(facts device.Facts, n int, row string) ([]string, error) {
	return tabu.FlippingVariants(facts, n, row)
}
