// Package host turns a point of a host space into specialised, unrolled Go
// kernels (target host), written with jennifer. It knows nothing of devices:
// what it emits imports runtime/device, runtime/host and runtime/host/kernels
// by path.
package host

import (
	"strings"

	"github.com/dave/jennifer/jen"

	"coalesce/gen/space"
)

// Import paths the emitted text uses.
const (
	devicePath = "coalesce/runtime/device"
	hostPath   = "coalesce/runtime/host"
	csgPath    = "coalesce/runtime/host/kernels/csg"
)

// An Entry is the signature of an entry point. The types of its parameters
// are "buffer", "uint64", "int64" or "float64", as in device.Entry.
type Entry struct {
	Name   string
	Params []Param
}

// A Param is one argument of an entry point.
type Param struct{ Name, Type, Element string }

// An Emitter writes the kernels of one family.
type Emitter struct {
	// Version changes whenever the emitted text may: part of the family's hash.
	Version string
	// Entries are the entry points; every point has all of them.
	Entries []Entry
	// Functions are the other functions that the variant table has, by FunctionName; every point has all of them.
	Functions []string
	// Kernels appends to file the kernels of the point. For each entry e it
	// declares the function FuncName(p, e.Name), of type device.HostKernel; other
	// declarations start with p.Symbol() too, so that many points fit in one
	// package. The error names the parameter that has an unusable value.
	Kernels func(file *jen.File, p space.Point) error
}

// FuncName is the name of the function for an entry of a point, which the variant table refers to.
func FuncName(p space.Point, entry string) string { return p.Symbol() + "_" + entry }

// FunctionName is the name of a body's exported function for a point.
func FunctionName(p space.Point, name string) string {
	return p.Symbol() + "_" + strings.ToUpper(name[:1]) + name[1:]
}

// Lookup finds the emitter of a family such as "csg/hosttiles"; false where it has none.
func Lookup(family string) (Emitter, bool) {
	switch family {
	case "csg/hosttiles":
		return hosttiles(), true
	case "assignment/hostscan":
		return hostscan(), true
	}
	return Emitter{}, false
}
