package host

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"github.com/dave/jennifer/jen"

	"coalesce/gen/space"
)

func tilesAt(k, r, unit, value string) space.Point {
	return space.Point{
		Family: "csg/hosttiles",
		Params: []string{"k", "r", "unit", "value"},
		Values: []string{k, r, unit, value},
	}
}

func TestLookup(t *testing.T) {
	if _, ok := Lookup("csg/splits"); ok {
		t.Error("an emitter for csg/splits, which is no host family")
	}
	if _, ok := Lookup("csg/hosttiles"); !ok {
		t.Error("no emitter for csg/hosttiles")
	}
}

// TestKernelsDeclareEveryEntry puts several points in one file: their names
// must not meet, and every entry needs its function.
func TestKernelsDeclareEveryEntry(t *testing.T) {
	e, _ := Lookup("csg/hosttiles")
	file := jen.NewFilePathName("coalesce/generated/csg", "csg")
	var points []space.Point
	for _, r := range []string{"1", "2", "3"} {
		for _, unit := range []string{"vector", "scalar"} {
			p := tilesAt("8", r, unit, "float64")
			points = append(points, p)
			if err := e.Kernels(file, p); err != nil {
				t.Fatal(err)
			}
		}
	}
	var text bytes.Buffer
	if err := file.Render(&text); err != nil {
		t.Fatal(err)
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), "kernels.go", text.Bytes(), 0)
	if err != nil {
		t.Fatal(err)
	}
	declared := map[string]int{}
	for _, d := range parsed.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			declared[f.Name.Name]++
		}
	}
	for _, p := range points {
		for _, entry := range e.Entries {
			if n := declared[FuncName(p, entry.Name)]; n != 1 {
				t.Errorf("%s: %s declared %d times", p.Label(), entry.Name, n)
			}
		}
	}
}

// TestPairIsUnrolled counts the additions of a register chunk: 3^r.
func TestPairIsUnrolled(t *testing.T) {
	e, _ := Lookup("csg/hosttiles")
	for r, want := range map[string]int{"1": 3, "2": 9, "3": 27} {
		file := jen.NewFile("csg")
		if err := e.Kernels(file, tilesAt("8", r, "scalar", "int32")); err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf("%#v", file)
		_, pair, _ := strings.Cut(text, "_pair(td, ta, tb")
		pair, _, _ = strings.Cut(pair, "\nfunc ")
		if got := strings.Count(pair, "if x := "); got != want {
			t.Errorf("r=%s: %d additions, want %d", r, got, want)
		}
	}
}

func TestKernelsRefuseWhatTheyCannotWrite(t *testing.T) {
	e, _ := Lookup("csg/hosttiles")
	for _, c := range []struct {
		point space.Point
		want  string
	}{
		{tilesAt("8", "4", "scalar", "int32"), "r is 4"},
		{tilesAt("8", "0", "scalar", "int32"), "r is 0"},
		{tilesAt("2", "2", "scalar", "int32"), "k is 2"},
		{tilesAt("20", "2", "scalar", "int32"), "k is 20"},
		{tilesAt("x", "2", "scalar", "int32"), `k is "x"`},
		{tilesAt("8", "2", "gpu", "int32"), `unit is "gpu"`},
		{tilesAt("8", "2", "scalar", "int16"), `value is "int16"`},
		{space.Point{Family: "csg/hosttiles"}, `no parameter "k"`},
	} {
		err := e.Kernels(jen.NewFile("csg"), c.point)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error saying %s", c.point.Label(), err, c.want)
		}
	}
}
