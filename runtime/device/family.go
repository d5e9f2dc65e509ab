package device

import (
	"fmt"
	"io/fs"
	"strconv"
)

// A Family is the generated table of one space of go.generate.
type Family struct {
	Name     string   // "csg/splits"
	Target   string   // CUDA or Host; empty: algorithms, which the solver runs
	Hash     uint64   // over bodies, shared headers and the generator's version
	Params   []string // in the manifest's order
	Entries  []Entry  // every entry point some variant has
	Variants []Variant
	Source   fs.FS // CUDA: the .cu files below the family's folder; nil on a host
	Headers  fs.FS // CUDA: the bodies that they include, where another module has them; nil: this module's templates
	Packs    []Pack
}

// A Pack is a translation unit: a .cu file of Family.Source that includes the
// files of several variants. Its image is named by its hash.
type Pack struct {
	File string // "splits/pack_000.cu"
	Hash uint64 // over the pack's expanded text
}

// An Entry is the signature of an entry point. Types are "buffer", "uint64",
// "int64" or "float64".
type Entry struct {
	Name   string
	Params []Param
}

// A Param is one argument of an entry point.
type Param struct{ Name, Type string }

// A Variant is one point of a space.
type Variant struct {
	Label  string   // "lambda=2,alpha=32,…": every parameter, manifest order
	Symbol string   // C prefix of its entry points: csg_splits_lambda2_alpha32_…
	Hash   uint64   // over the variant's text; the image carries it too
	Values []string // aligned with Family.Params
	Safe   bool     // the safe point of its value type
	Study  bool     // published, or an ablation: compiled, tested and measured by bench, no need of a shipped binary
	Pack   int      // index into Family.Packs
	// Kernels of a host variant by entry name.
	Kernels map[string]HostKernel
	// Functions of a host variant by name, which programs call themselves, each of a type that its family decides.
	Functions map[string]any
}

// A HostKernel runs one block of a grid of blocks.
type HostKernel func(block, blocks int64, args []Arg)

// Value returns the value of a parameter, "" when the family has none of that
// name.
func (f *Family) Value(v *Variant, param string) string {
	for i, p := range f.Params {
		if p == param {
			return v.Values[i]
		}
	}
	return ""
}

// Int returns an integer parameter. It panics where the value is no integer, which the generator
// rules out.
func (f *Family) Int(v *Variant, param string) int {
	s := f.Value(v, param)
	n, err := strconv.Atoi(s)
	if err != nil {
		panic(fmt.Sprintf("%s: parameter %s of %s is %q, not an integer", f.Name, param, v.Label, s))
	}
	return n
}

// CheckWorkload is an error where a variant is not for a workload: where fixed gives a parameter of the
// family another value. Names that are no parameters, such as the range of the costs, tell
// workloads apart and fit every variant.
func (f *Family) CheckWorkload(v *Variant, fixed map[string]string) error {
	for i, p := range f.Params {
		if want, ok := fixed[p]; ok && v.Values[i] != want {
			return fmt.Errorf("%s is %q, the workload's is %q", p, v.Values[i], want)
		}
	}
	return nil
}

// Variant finds a variant by its label; nil where the family has none of that label.
func (f *Family) Variant(label string) *Variant {
	for i := range f.Variants {
		if f.Variants[i].Label == label {
			return &f.Variants[i]
		}
	}
	return nil
}

// Entry finds the signature of an entry point; nil where the family has none of that name.
func (f *Family) Entry(name string) *Entry {
	for i := range f.Entries {
		if f.Entries[i].Name == name {
			return &f.Entries[i]
		}
	}
	return nil
}
