package host

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/dave/jennifer/jen"

	"coalesce/gen/space"
)

const goodBody = `// Package scale multiplies.
package scale

import (
	"math"
	other "math/bits"
)

const factor = 2

const mode = "plain"

type value = float32

// A pair is a type of the body's own.
type pair struct{ x, factor value }

// Scale is the entry point.
func Scale(block, blocks int64, x []value, n uint64, shift int64, by float64) {
	for k := range x {
		factor := pair{x[k], factor}
		x[k] = factor.x * factor.factor * value(math.Abs(by)) * half(uint(other.Len64(n)))
	}
}

func half(n uint) value {
	if mode == "plain" {
		return value(n)
	}
	return value(n) / 2
}
`

func scaleSpace() *space.Space {
	return &space.Space{Family: "toy/scale", Target: space.Host,
		Params: []space.Param{{Name: "factor", Values: []string{"2", "3"}}, {Name: "mode", Values: []string{"plain", "half"}}, {Name: "value", Values: []string{"float32", "float64"}}}}
}

// A variant is the body with its parameters in place, and names that no other variant has. Names that hide those of the
// package, fields and other packages' names stay.
func TestBody(t *testing.T) {
	e, ok, err := ReadBody(fstest.MapFS{"toy/scale/scale.go": {Data: []byte(goodBody)}}, scaleSpace())
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	if len(e.Entries) != 1 || e.Entries[0].Name != "scale" || len(e.Entries[0].Params) != 4 || e.Entries[0].Params[0] != (Param{"x", "buffer", "value"}) || e.Entries[0].Params[3].Type != "float64" {
		t.Fatalf("entries %+v", e.Entries)
	}
	p := space.Point{Family: "toy/scale", Params: []string{"factor", "mode", "value"}, Values: []string{"3", "half", "float64"}}
	file := jen.NewFilePath("example.org/generated/toy")
	if err := e.Kernels(file, p); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := file.Render(&b); err != nil {
		t.Fatal(err)
	}
	text, s := strings.Join(strings.Fields(b.String()), " "), p.Symbol()
	for _, want := range []string{
		"const " + s + "_factor = 3", "const " + s + `_mode = "half"`, "type " + s + "_value = float64",
		"factor := " + s + "_pair{x[k], " + s + "_factor}", "factor.x * factor.factor * " + s + "_value(math.Abs(by))", "bits.Len64(n)",
		"func " + s + "_scale(block, blocks int64, args []device.Arg)",
		s + "_Scale(block, blocks, host.Slice[" + s + "_value](args[0]), args[1].Bits, int64(args[2].Bits), math.Float64frombits(args[3].Bits))",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("found no %q in\n%s", want, b.String())
		}
	}
}

// What cannot be made a kernel is told with its line.
func TestBodyErrors(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"const factor = 2\n", "var factor value = 2\n", `templates/toy/scale/scale.go: has no "const factor = …", which space toy/scale has as a parameter`},
		{"type value = float32", "type value float32", "scale.go:13:6: type value is a parameter, expected an alias: type value = …"},
		{"n uint64,", "n int,", "scale.go:19:44: parameter n of Scale: expected a slice, uint64, int64 or float64"},
		{"block, blocks int64", "block, blocks int", "scale.go:19:12: block is no int64"},
		{"func Scale(", "func scale(", "scale.go: has no entry point"},
		{"func half", "func half half", "scale.go:26:11"},
	} {
		text := strings.Replace(goodBody, c.old, c.new, 1)
		_, _, err := ReadBody(fstest.MapFS{"toy/scale/scale.go": {Data: []byte(text)}}, scaleSpace())
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, expected %q", c.new, err, c.want)
		}
	}
	if _, ok, err := ReadBody(fstest.MapFS{}, scaleSpace()); ok || err != nil {
		t.Errorf("no file: %v, %v", ok, err)
	}
}
