package rules

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A text is a file of the repository, by its path from the root.
type text struct {
	path string
	data []byte
}

// generated: machine-made files live in generated/, but for the assembly that
// the host device links, which Go wants beside its declarations.
func (x text) generated() bool {
	return strings.HasPrefix(x.path, "generated/") || strangers.MatchString(x.path) || strings.HasSuffix(x.path, "_gen.go") || // of gen/options
		strings.HasPrefix(x.path, "runtime/host/kernels/") && assembly.MatchString(path.Base(x.path))
}

// strangers finds what the modules of examples generate.
var strangers = regexp.MustCompile(`^examples/\w+/(generated/|templates/embed\.go$)`)

var assembly = regexp.MustCompile(`^((avx2|avx2_small|avx512|avx512_small|sse42)_amd64|neon_arm64)\.(s|go)$`)

// texts reads every file with one of the extensions. Folders that git or the
// go command ignore, and test data, are left out.
func texts(t *testing.T, extensions ...string) []text {
	t.Helper()
	var list []text
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := entry.Name()
		if entry.IsDir() && name != root && (strings.HasPrefix(base, ".") || base == "testdata" || base == "images") {
			return filepath.SkipDir
		}
		if !entry.Type().IsRegular() || strings.HasPrefix(base, ".") || !slices.Contains(extensions, path.Ext(base)) {
			return nil
		}
		data, err := os.ReadFile(name)
		list = append(list, text{rel(name), data})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(list) == 0 {
		t.Fatalf("no file ends in %v", extensions)
	}
	return list
}

func TestGoFiles(t *testing.T) {
	documented := map[string]bool{}
	banned := []string{"util", "utils", "common", "helpers", "types", "base"}
	for _, x := range texts(t, ".go") {
		file, err := parser.ParseFile(token.NewFileSet(), x.path, x.data, parser.ParseComments)
		if err != nil {
			t.Error(err)
			continue
		}
		name := strings.TrimSuffix(file.Name.Name, "_test")
		if slices.Contains(banned, name) || slices.Contains(banned, path.Base(path.Dir(x.path))) {
			t.Errorf("%s: package %s: call it after what it does", x.path, name)
		}
		dir := path.Dir(x.path)
		documented[dir] = documented[dir] || file.Doc != nil && len(file.Doc.Text()) > 40
		if x.generated() {
			continue
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
				t.Errorf("%s has a func init: no work at start-up", x.path)
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) > 0 {
				return true
			}
			if s, ok := call.Fun.(*ast.SelectorExpr); ok && (s.Sel.Name == "Skip" || s.Sel.Name == "SkipNow") {
				t.Errorf("%s skips a test without saying why", x.path)
			}
			return true
		})
	}
	for dir, ok := range documented {
		if !ok {
			t.Errorf("%s: the package has no comment saying what the room is for", dir)
		}
	}
}

func TestNothingIsLeftForLater(t *testing.T) {
	marker := regexp.MustCompile(`\b(` + strings.Join([]string{"TO" + "DO", "FIX" + "ME", "X" + "XX", "HA" + "CK"}, "|") + `)\b`)
	for _, x := range texts(t, ".go", ".cuh", ".md", ".sh") {
		if at := marker.FindIndex(x.data); at != nil {
			t.Errorf("%s:%d: %s", x.path, 1+bytes.Count(x.data[:at[0]], []byte("\n")), x.data[at[0]:at[1]])
		}
	}
}

// Lines of go.generate choose the bodies of a variant. What a body does is decided by if constexpr, so that a
// compiler checks all of it, and gen knows its entry points without a preprocessor.
func TestBodiesDecideInCUDA(t *testing.T) {
	condition := regexp.MustCompile(`(?m)^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else)\b`)
	bodies := 0
	for _, x := range texts(t, ".cuh") {
		if !strings.HasPrefix(x.path, "templates/") || strings.HasPrefix(x.path, "templates/cuda/") {
			continue // those of templates/cuda have emulated bodies
		}
		if bytes.Contains(x.data, []byte("namespace VARIANT {")) {
			bodies++
		}
		if at := condition.FindIndex(x.data); at != nil {
			t.Errorf("%s:%d: found %s, expected if constexpr, or a body of its own", x.path, 1+bytes.Count(x.data[:at[0]], []byte("\n")), x.data[at[0]:at[1]])
		}
	}
	if bodies < 100 {
		t.Errorf("found %d bodies, expected at least 100", bodies)
	}
}

// Inline assembly belongs in the shared headers, beside its emulated body.
func TestBodiesHoldNoAssembly(t *testing.T) {
	asm := regexp.MustCompile(`\basm\b`)
	for _, x := range texts(t, ".cuh") {
		if !strings.HasPrefix(x.path, "templates/cuda/") && asm.Match(x.data) {
			t.Errorf("%s holds assembly: wrap it in a .cuh of templates/cuda", x.path)
		}
	}
}

// Machine-made files say so in the form that tools know
// (https://go.dev/s/generatedcode), and live in generated/ only.
func TestGeneratedHeader(t *testing.T) {
	header := regexp.MustCompile(`^// Code generated .* DO NOT EDIT\.$`)
	count := 0
	for _, x := range texts(t, ".go", ".cu") {
		first, _, _ := bytes.Cut(x.data, []byte("\n"))
		if header.Match(first) != x.generated() {
			t.Errorf("%s begins with %q: want the header %v exactly in generated/ and in files _gen.go", x.path, first, header)
		}
		if x.generated() {
			count++
		}
	}
	if count == 0 {
		t.Error("generated/ is empty: run go generate ./...")
	}
}

func TestMainIsOneLine(t *testing.T) {
	for _, x := range texts(t, ".go") {
		if x.path != "cmd/coalesce/main.go" {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), x.path, x.data, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && (f.Name.Name != "main" || len(f.Body.List) != 1) {
				t.Errorf("%s: func %s has %d statements, want only main, with one", x.path, f.Name.Name, len(f.Body.List))
			}
		}
		return
	}
	t.Error("cmd/coalesce/main.go is missing")
}
