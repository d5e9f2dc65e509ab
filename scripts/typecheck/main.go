// Typecheck checks a program for platforms that it is not compiled for: the types of its packages
// and of all that they import, and that each function without a body stands in the package's
// assembler text. That takes 1.3 s of a core a platform, the compiler 34 s (`.ci/cross`, 2 cores
// of a Xeon). Errors of the compiler's later passes and of the linker remain: they show where the
// same code is built, for another processor of the same system and another system of the same
// processor.
//
//	go run ./scripts/typecheck ./cmd/coalesce darwin/amd64 windows/arm64
//
// Exit code 1: an error was found, which is printed with its place and its platform.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: typecheck PACKAGE OS/ARCH...")
		os.Exit(2)
	}
	var g errgroup.Group
	for _, platform := range os.Args[2:] {
		g.Go(func() error {
			count, err := checkPackage(".", os.Args[1], platform)
			if err != nil {
				return fmt.Errorf("%s:\n%w", platform, err)
			}
			fmt.Printf("%s: types of %d packages\n", platform, count)
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// A source is a package as go list tells of it.
type source struct {
	ImportPath, Dir string
	Standard        bool
	GoFiles, SFiles []string
	ImportMap       map[string]string
	Module          *struct{ GoVersion string }
}

// checkPackage checks a package and all that it imports, and counts them.
func checkPackage(dir, path, platform string) (int, error) {
	goos, goarch, ok := strings.Cut(platform, "/")
	if !ok {
		return 0, fmt.Errorf("found %q, expected OS/ARCH", platform)
	}
	list := exec.Command("go", "list", "-deps", "-json=ImportPath,Dir,Standard,GoFiles,SFiles,ImportMap,Module", path)
	list.Dir, list.Stderr = dir, os.Stderr
	list.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+goarch)
	out, err := list.Output()
	if err != nil {
		return 0, fmt.Errorf("go list: %w", err)
	}
	// Packages come after those that they import.
	known := map[string]*types.Package{"unsafe": types.Unsafe}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var s source
		if err := d.Decode(&s); errors.Is(err, io.EOF) {
			return len(known), nil
		} else if err != nil {
			return 0, fmt.Errorf("go list: %w", err)
		}
		if s.ImportPath == "unsafe" {
			continue
		}
		if known[s.ImportPath], err = s.check(known, goarch); err != nil {
			return 0, err
		}
	}
}

// most bounds how many errors of a package are printed.
const most = 10

// check checks one package. Of the standard library's functions the bodies are left out.
func (s *source) check(known map[string]*types.Package, goarch string) (*types.Package, error) {
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range s.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(s.Dir, name), nil, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	var found []error
	config := types.Config{
		Importer:         imports{known, s.ImportMap},
		Sizes:            types.SizesFor("gc", goarch),
		IgnoreFuncBodies: s.Standard,
		Error: func(err error) {
			if len(found) < most {
				found = append(found, err)
			}
		},
	}
	if s.Module != nil && s.Module.GoVersion != "" {
		config.GoVersion = "go" + s.Module.GoVersion
	}
	checked, err := config.Check(s.ImportPath, fset, files, nil)
	if err != nil && len(found) == 0 {
		found = append(found, err)
	}
	if !s.Standard {
		missing, err := s.bodies(fset, files)
		if err != nil {
			return nil, err
		}
		found = append(found, missing...)
	}
	return checked, errors.Join(found...)
}

// bodies tells which functions have a body neither in Go nor in the assembler text, nor another
// package's by go:linkname.
func (s *source) bodies(fset *token.FileSet, files []*ast.File) (missing []error, err error) {
	var text bytes.Buffer
	for _, name := range s.SFiles {
		b, err := os.ReadFile(filepath.Join(s.Dir, name))
		if err != nil {
			return nil, err
		}
		text.Write(b)
	}
	for _, f := range files {
		linked := map[string]bool{}
		for _, group := range f.Comments {
			for _, c := range group.List {
				if rest, ok := strings.CutPrefix(c.Text, "//go:linkname "); ok {
					linked[strings.Fields(rest + " ?")[0]] = true
				}
			}
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body != nil || linked[fn.Name.Name] || bytes.Contains(text.Bytes(), []byte("·"+fn.Name.Name+"(SB)")) {
				continue
			}
			missing = append(missing, fmt.Errorf("%s: %s has no body, found no text of it in %d files of assembler", fset.Position(fn.Pos()), fn.Name.Name, len(s.SFiles)))
		}
	}
	return missing, nil
}

// imports finds the packages that were checked before.
type imports struct {
	known map[string]*types.Package
	names map[string]string // of vendored packages
}

func (i imports) Import(path string) (*types.Package, error) {
	if name, ok := i.names[path]; ok {
		path = name
	}
	if p := i.known[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("package %s was not listed before it was imported", path)
}
