package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/build"
	"go/doc"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// trees hold the packages that other programs may import.
var trees = []string{"solvers", "runtime", "autotune"}

// packagePages are pages of the packages in trees that are neither internal nor for tests, by their paths with dashes, and
// the index of them.
func packagePages(root string) (map[string]string, error) {
	pages, briefs := map[string]string{}, map[string]string{}
	for _, tree := range trees {
		err := filepath.WalkDir(filepath.Join(root, tree), func(dir string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.IsDir() {
				return err
			}
			if name := entry.Name(); name == "internal" || name == "testdata" || name == "kernels" || name == "images" || strings.HasSuffix(name, "test") {
				return filepath.SkipDir
			}
			below, err := filepath.Rel(root, dir)
			if err != nil {
				return err
			}
			below = filepath.ToSlash(below)
			p, set, err := load(dir, "coalesce/"+below)
			if err != nil || p == nil {
				return err
			}
			pages[strings.ReplaceAll(below, "/", "-")] = packagePage(p, set)
			briefs[below] = p.Synopsis(p.Doc)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	var b strings.Builder
	b.WriteString("# The packages\n\n| package | what it is for |\n|---|---|\n")
	for _, below := range slices.Sorted(maps.Keys(briefs)) {
		fmt.Fprintf(&b, "| [%s](%s.md) | %s |\n", below, strings.ReplaceAll(below, "/", "-"), cell(briefs[below]))
	}
	pages["index"] = b.String()
	return pages, nil
}

// load reads the documentation of the package in a folder, as built for Linux on amd64; nil where there is none.
func load(dir, importPath string) (*doc.Package, *token.FileSet, error) {
	context := build.Default
	context.GOOS, context.GOARCH, context.CgoEnabled = "linux", "amd64", true
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil, err
	}
	set := token.NewFileSet()
	var files []*ast.File
	for _, e := range entries {
		name := e.Name()
		if path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			continue
		}
		if match, err := context.MatchFile(dir, name); err != nil || !match {
			if err != nil {
				return nil, nil, err
			}
			continue
		}
		file, err := parser.ParseFile(set, filepath.Join(dir, name), nil, parser.ParseComments)
		if err != nil {
			return nil, nil, err
		}
		files = append(files, file)
	}
	if len(files) == 0 || files[0].Name.Name == "main" {
		return nil, set, nil
	}
	p, err := doc.NewFromFiles(set, files, importPath)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", importPath, err)
	}
	return p, set, nil
}

// longest is the most lines of variables whose values a page shows.
const longest = 12

// packagePage is a package in Markdown: its comment, constants, variables, functions, and types with their methods.
func packagePage(p *doc.Package, set *token.FileSet) string {
	var b strings.Builder
	comment := func(text string) {
		printer := p.Printer()
		printer.HeadingLevel = 4
		printer.DocLinkBaseURL = "https://pkg.go.dev"
		b.Write(bytes.ReplaceAll(printer.Markdown(p.Parser().Parse(text)), []byte("<"), []byte("&lt;")))
		b.WriteByte('\n')
	}
	code := func(node any) {
		b.WriteString("```go\n")
		var text bytes.Buffer
		if err := format.Node(&text, set, node); err != nil {
			fmt.Fprintf(&text, "// %v", err)
		}
		b.Write(text.Bytes())
		b.WriteString("\n```\n\n")
	}
	functions := func(level string, list []*doc.Func) {
		for _, f := range list {
			name := f.Name
			if f.Recv != "" {
				name = strings.TrimPrefix(f.Recv, "*") + "." + name
			}
			fmt.Fprintf(&b, "%s %s\n\n", level, name)
			f.Decl.Body, f.Decl.Doc = nil, nil
			code(f.Decl)
			comment(f.Doc)
		}
	}
	values := func(list []*doc.Value) {
		for _, v := range list {
			v.Decl.Doc = nil
			if set.Position(v.Decl.End()).Line-set.Position(v.Decl.Pos()).Line > longest {
				for _, s := range v.Decl.Specs {
					if s := s.(*ast.ValueSpec); v.Decl.Tok == token.VAR {
						s.Values = nil
					}
				}
			}
			code(v.Decl)
			comment(v.Doc)
		}
	}
	fmt.Fprintf(&b, "# %s\n\n```go\nimport %q\n```\n\n", strings.TrimPrefix(p.ImportPath, "coalesce/"), p.ImportPath)
	comment(p.Doc)
	if len(p.Consts)+len(p.Vars) > 0 {
		b.WriteString("## Constants and variables\n\n")
		values(p.Consts)
		values(p.Vars)
	}
	if len(p.Funcs) > 0 {
		b.WriteString("## Functions\n\n")
		functions("###", p.Funcs)
	}
	if len(p.Types) > 0 {
		b.WriteString("## Types\n\n")
	}
	for _, t := range p.Types {
		fmt.Fprintf(&b, "### %s\n\n", t.Name)
		t.Decl.Doc = nil
		code(t.Decl)
		comment(t.Doc)
		values(t.Consts)
		values(t.Vars)
		functions("####", t.Funcs)
		functions("####", t.Methods)
	}
	return b.String()
}
