package rules

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"
)

// mostFields is how many fields a reader still takes in as one thing. A struct with more has several writers: the fields of
// each are a struct of their own.
const mostFields = 24

// largeStructs returns the places of structs with more fields, an embedded struct counting as one.
func largeStructs(t *testing.T, files []text) (list []string) {
	t.Helper()
	set := token.NewFileSet()
	for _, x := range files {
		if x.generated() {
			continue
		}
		file, err := parser.ParseFile(set, x.path, x.data, 0)
		if err != nil {
			t.Error(err)
			continue
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.StructType); ok && s.Fields.NumFields() > mostFields {
				list = append(list, set.Position(s.Pos()).String())
			}
			return true
		})
	}
	return list
}

func TestStructsAreOneThing(t *testing.T) {
	for _, at := range largeStructs(t, texts(t, ".go")) {
		t.Errorf("%s: the struct has more than %d fields: take it apart by who writes them", at, mostFields)
	}
}

func TestLargeStructsAreFound(t *testing.T) {
	files := []text{
		{"a.go", []byte("package a\ntype a struct { a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x int }\n" +
			"var b struct { a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x int; sync.Mutex }\n")},
	}
	if got := largeStructs(t, files); len(got) != 1 || got[0] != "a.go:3:7" {
		t.Errorf("found %v", got)
	}
}
