package rules

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// .ci/variants names the tests that it runs by a pattern for the package solvers/csg, with the rooms of its kernels, and
// one for every other package that has such tests: each test of a solver that goes through emulatedtest.Variants
// matches the pattern of its package.
func TestEveryFamilyIsInCI(t *testing.T) {
	script, err := os.ReadFile("../../.ci/variants")
	if err != nil {
		t.Fatal(err)
	}
	patterns := regexp.MustCompile(`(?m)^(?:every|pairs)='([^']+)'$`).FindAllStringSubmatch(string(script), -1)
	if len(patterns) != 2 || !strings.Contains(string(script), `grep -vE '/csg$|`) {
		t.Fatalf(".ci/variants: found %d patterns of tests, expected one for solvers/csg and one for the packages beside it", len(patterns))
	}
	found := 0
	err = filepath.WalkDir("../../solvers", func(path string, _ os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		pattern := regexp.MustCompile(patterns[1][1])
		if filepath.Dir(path) == filepath.Join("..", "..", "solvers", "csg") {
			pattern = regexp.MustCompile(patterns[0][1])
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, nil, 0)
		if err != nil {
			return err
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || !strings.HasPrefix(f.Name.Name, "Test") || !callsVariants(f) {
				continue
			}
			found++
			if !pattern.MatchString(f.Name.Name) {
				t.Errorf("%s: %s goes through variants, and .ci/variants runs what matches %q", fset.Position(f.Pos()), f.Name.Name, pattern)
			}
		}
		return nil
	})
	if err != nil || found == 0 {
		t.Fatalf("found %d tests of variants, %v", found, err)
	}
}

// callsVariants says whether a test calls emulatedtest.Variants.
func callsVariants(f *ast.FuncDecl) (calls bool) {
	ast.Inspect(f, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if ok && s.Sel.Name == "Variants" {
			x, ok := s.X.(*ast.Ident)
			calls = calls || ok && x.Name == "emulatedtest"
		}
		return true
	})
	return calls
}
