// Package csg solves coalition structure generation: given a value for every
// coalition of n agents, it finds a partition of the agents (a coalition
// structure) whose values add up to the most.
//
// A problem.Instance is read from a file (Read) or drawn from one of the
// distributions of the literature (Generate). Reference solves it one
// splitting after the other, in the plainest Go that can be written, and
// problem.Check recomputes an answer's value from the instance alone. Solve runs the
// generated kernels on a device.
//
// Agent i is bit i-1 of a coalition's number, everywhere: coalition 5 = 101b
// is {1, 3}, and values are stored by coalition number.
//
// A solve walks one way: internal/plan names the algorithms that are tried, internal/attempt
// runs one after the other until one does not give up, and the Result is certified from the
// instance alone. The other rooms: problem, the instance, its structures and their certificates;
// internal/formats, files; internal/draw, the distributions of the literature; internal/engine,
// the interface of all families of kernels.
package csg

import (
	"cmp"
	"io"

	"coalesce/runtime/device"
	"coalesce/solvers/csg/internal/draw"
	"coalesce/solvers/csg/internal/formats"
	"coalesce/solvers/csg/internal/payoff"
	"coalesce/solvers/csg/internal/variants"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// A Payoff is what each agent receives, or the proof that no payoff is in the core.
type Payoff = payoff.Payoff

// ReadOptions say how to read a characteristic function.
type ReadOptions = formats.ReadOptions

// DefaultLimit is the most bytes of values that Read holds where neither ReadOptions.Limit
// nor the file's size gives a limit.
const DefaultLimit = formats.DefaultLimit

// Read reads a characteristic function from a file: .npy, CSV or JSON, each plain or
// compressed with gzip, xz or zstd. Errors say where in the file, what was found and
// what was expected.
func Read(path string, opts ReadOptions) (*problem.Instance, error) { return formats.Read(path, opts) }

// ReadFrom is Read on an open stream of size bytes, or of unknown size when that is
// negative; name is what errors call it.
func ReadFrom(r io.Reader, size int64, name string, opts ReadOptions) (*problem.Instance, error) {
	return formats.ReadFrom(r, size, name, opts)
}

// CheckMissing returns an error if a text is no value for ReadOptions.Missing.
func CheckMissing(value string) error { return formats.CheckMissing(value) }

// ParseCoalition reads agents of an instance, by number or by name, as tables write
// them: "1 3", "{ann, bob}".
func ParseCoalition(inst *problem.Instance, text string) (uint64, error) {
	if err := inst.Check(); err != nil {
		return 0, err
	}
	mask, err := formats.ParseCoalition(inst, text)
	return mask, solve.AsInputError(err)
}

// ParseBlocks reads blocks of n agents, whose names may be nil, to begin a solve with: a line of agents for each block, by
// number from 1 or by name; a JSON list of lists of numbers; or the JSON object of a result, also of package anytime. file is what errors call the text.
func ParseBlocks(text []byte, file string, n int, names []string) (problem.Blocks, error) {
	return formats.ParseBlocks(text, file, n, names)
}

// WriteNPY writes an instance as a version 1 .npy file, little-endian.
func WriteNPY(w io.Writer, inst *problem.Instance) error {
	if err := inst.Check(); err != nil {
		return err
	}
	inst.DrawValues()
	return formats.WriteNPY(w, inst)
}

// WriteCover writes the table of SolveCover as a .npy file, which ReadOptions.CoverOf reads back:
// where sizes of blocks restrict the instance they follow as an array of their own, and a coalition
// that cannot be divided into such blocks has the least number of the table's type, or minus infinity.
func WriteCover(w io.Writer, inst, cover *problem.Instance) error {
	if err := cmp.Or(inst.Check(), cover.Check()); err != nil {
		return err
	}
	return formats.WriteCover(w, inst, cover)
}

// Scales of generated integers: an integer is the value times the scale, rounded to
// the nearest even.
const (
	ScaleInt16 = draw.ScaleInt16
	ScaleInt32 = draw.ScaleInt32
	ScaleInt64 = draw.ScaleInt64
)

// Distributions are the names that Generate knows.
func Distributions() []string { return draw.Distributions() }

// Generate makes an instance of n agents with float64 values: for the same name, n
// and seed always the same.
func Generate(name string, n int, seed uint64) (*problem.Instance, error) {
	inst, err := draw.Generate(name, n, seed)
	return inst, solve.AsInputError(err)
}

// GenerateAs makes an instance of another value type: float32 rounds the float64
// values, integers scale them (ScaleInt16, ScaleInt32, ScaleInt64). It makes values on all cores.
func GenerateAs(name string, n int, seed uint64, as problem.Value) (*problem.Instance, error) {
	inst, err := draw.GenerateAs(name, n, seed, as)
	return inst, solve.AsInputError(err)
}

// NewDrawn is the instance of GenerateAs without its values. For Apart and ByPrices a GPU draws
// them, bit by bit the same; anything else that needs the values calls Hold, which draws them
// into this machine's memory.
func NewDrawn(name string, n int, seed uint64, as problem.Value) (*problem.Instance, error) {
	inst, err := draw.NewDrawn(name, n, seed, as)
	return inst, solve.AsInputError(err)
}

// CheckSize says why no kernel solves n agents with values of a type on some devices, the weakest
// of which has these facts, before anything is read or drawn; nil where one may. A host holds
// the instance in the same memory that the kernels work in.
func CheckSize(facts device.Facts, n int, value problem.Value, devices int) error {
	return variants.CheckSize(facts, n, value, devices)
}
