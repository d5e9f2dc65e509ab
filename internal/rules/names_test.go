package rules

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"
	"testing"
)

// unclear lists words that say nothing on their own at a call site: prepositions, adverbs, pronouns, participles and verbs of
// no field. They may be parts of names (solve.WithSession), and names within one file.
var unclear = strings.Fields(`
	about again alike alone among answered apart around aside ask asked bare before beside between beyond both
	claim dealt decided differ drawn earlier elsewhere ended enough few finer from gathered given guarded
	here hold it keep kept known late leave left like likely made make many mend missing mixed named near
	of other others own past quick rest said same say several short shown some sound sourced speaks steady
	suits take taken takes tell telling their there told together took turned twice under unless until viewed
	wanted way ways weigh what when where whole why within without`)

// A naming is a function, a method or a type with an unclear name.
type naming struct {
	at   token.Position
	name string
}

// unclearNames returns, in the order of the files, the names that are unclear and used outside their file. An exported name
// counts as used in a file that selects it and imports its package, or is of that package.
func unclearNames(t *testing.T, files []text) (list []string) {
	t.Helper()
	type uses struct {
		imports, selected, unresolved map[string]bool
	}
	set := token.NewFileSet()
	used := map[string]uses{}         // by path
	declared := map[string][]naming{} // by path
	module := func(dir string) string { return path.Join("coalesce", dir) }
	for _, x := range files {
		file, err := parser.ParseFile(set, x.path, x.data, 0)
		if err != nil {
			t.Error(err)
			continue
		}
		u := uses{map[string]bool{module(path.Dir(x.path)): true}, map[string]bool{}, map[string]bool{}}
		for _, i := range file.Imports {
			u.imports[strings.Trim(i.Path.Value, `"`)] = true
		}
		for _, id := range file.Unresolved {
			u.unresolved[id.Name] = true
		}
		add := func(id *ast.Ident) {
			if slices.Contains(unclear, strings.ToLower(id.Name)) {
				declared[x.path] = append(declared[x.path], naming{set.Position(id.Pos()), id.Name})
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				u.selected[n.Sel.Name] = true
			case *ast.FuncDecl:
				add(n.Name)
			case *ast.TypeSpec:
				add(n.Name)
				if i, ok := n.Type.(*ast.InterfaceType); ok {
					for _, m := range i.Methods.List {
						for _, id := range m.Names {
							add(id)
						}
					}
				}
			}
			return true
		})
		used[x.path] = u
	}
	for _, x := range files {
		if x.generated() || strings.HasSuffix(x.path, "_test.go") {
			continue
		}
		for _, d := range declared[x.path] {
			for other, u := range used {
				near := path.Dir(other) == path.Dir(x.path)
				if other != x.path && (near && u.unresolved[d.name] ||
					u.selected[d.name] && (near || token.IsExported(d.name) && u.imports[module(path.Dir(x.path))])) {
					list = append(list, d.at.String()+": "+d.name)
					break
				}
			}
		}
	}
	return list
}

// What is used outside its file has a name that says what it is or does.
func TestNames(t *testing.T) {
	for _, found := range unclearNames(t, texts(t, ".go")) {
		t.Errorf("%s says nothing at its calls: name it after what it is or does", found)
	}
}

func TestUnclearNamesAreFound(t *testing.T) {
	files := []text{
		{"a/a.go", []byte("package a\nfunc take() { rest() }\nfunc rest() {}\ntype s struct{}\nfunc (s) told() {}\nfunc Kept() {}\nfunc Near() {}\n")},
		{"a/b.go", []byte("package a\nfunc use(v s) { take(); v.told(); rest := 1; _ = rest }\n")},
		{"b/b.go", []byte("package b\nimport \"coalesce/a\"\nfunc use() { a.Kept() }\n")},
		{"c/c.go", []byte("package c\nfunc use(x interface{ Near() }) { x.Near() }\n")},
	}
	want := []string{"a/a.go:2:6: take", "a/a.go:5:10: told", "a/a.go:6:6: Kept"}
	if got := unclearNames(t, files); !slices.Equal(got, want) {
		t.Errorf("found %v, want %v", got, want)
	}
}
