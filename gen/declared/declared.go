// Package declared reads what the structs of a module declare: the fields with their types, tags and comments. gen/options
// makes tables of options of them, internal/doors descriptions of results.
package declared

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// A Field is a field of a struct as its file declares it.
type Field struct {
	*types.Var
	Tag     reflect.StructTag
	Comment string            // in one line, without the period at its end
	Imports map[string]string // paths of the packages that the file imports, by their names there
	At      token.Position
}

// A Reader reads declarations of packages, whose comments it finds in their files.
type Reader struct {
	Packages []*packages.Package
	files    map[string]*file
	fset     *token.FileSet
}

// Load type-checks the packages of some patterns in a folder. Texts of overlay, by absolute path, stand for those of files. Errors
// of types are none: what is generated may be missing.
func Load(dir string, overlay map[string][]byte, patterns ...string) (*Reader, error) {
	mode := packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports | packages.NeedModule
	fset := token.NewFileSet()
	found, err := packages.Load(&packages.Config{Mode: mode, Dir: dir, Overlay: overlay, Fset: fset}, patterns...)
	return &Reader{Packages: found, files: map[string]*file{}, fset: fset}, err
}

// HasErrors reports whether a package does not compile.
func (r *Reader) HasErrors() bool {
	return slices.ContainsFunc(r.Packages, func(p *packages.Package) bool { return len(p.Errors) > 0 })
}

// A file is one file's declarations by the places of their names.
type file struct {
	comments map[place]string
	imports  map[string]string
}

type place struct {
	line int
	name string
}

// Fields are the fields of a struct.
func (r *Reader) Fields(s *types.Struct) ([]Field, error) {
	fields := make([]Field, s.NumFields())
	for k := range fields {
		v := s.Field(k)
		f, at, err := r.find(v)
		if err != nil {
			return nil, err
		}
		fields[k] = Field{v, reflect.StructTag(s.Tag(k)), f.comments[place{at.Line, v.Name()}], f.imports, at}
	}
	return fields, nil
}

// Comment is the comment of a type, in one line.
func (r *Reader) Comment(t *types.TypeName) (string, error) {
	f, at, err := r.find(t)
	if err != nil {
		return "", err
	}
	return f.comments[place{at.Line, t.Name()}], nil
}

// Structs are the structs that a package declares by name, in the order of their files.
func Structs(p *packages.Package) (names []*types.TypeName) {
	for _, syntax := range p.Syntax {
		for _, d := range syntax.Decls {
			general, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range general.Specs {
				if t, ok := spec.(*ast.TypeSpec); ok {
					if _, ok := t.Type.(*ast.StructType); ok {
						names = append(names, p.TypesInfo.Defs[t.Name].(*types.TypeName))
					}
				}
			}
		}
	}
	return names
}

// Constants are the texts of a type's constants, in the order of their declarations, without the empty text; nil: there are none.
func Constants(of *types.TypeName) (words []string) {
	scope := of.Pkg().Scope()
	var found []*types.Const
	for _, name := range scope.Names() {
		if c, ok := scope.Lookup(name).(*types.Const); ok && types.Identical(c.Type(), of.Type()) && c.Val().Kind() == constant.String {
			found = append(found, c)
		}
	}
	slices.SortFunc(found, func(a, b *types.Const) int { return cmp.Compare(a.Pos(), b.Pos()) })
	for _, c := range found {
		if text := constant.StringVal(c.Val()); text != "" {
			words = append(words, text)
		}
	}
	return words
}

// path is the path of a file that types name: below the module's path where they were compiled with -trimpath.
func (r *Reader) path(name string) string {
	for _, p := range r.Packages {
		if m := p.Module; m != nil && !filepath.IsAbs(name) {
			if below, ok := strings.CutPrefix(name, m.Path+"/"); ok {
				return filepath.Join(m.Dir, below)
			}
		}
	}
	return name
}

// find is the file that declares an object, and the object's place.
func (r *Reader) find(o types.Object) (*file, token.Position, error) {
	at := r.fset.Position(o.Pos())
	if f := r.files[at.Filename]; f != nil {
		return f, at, nil
	}
	fset := token.NewFileSet()
	syntax, err := parser.ParseFile(fset, r.path(at.Filename), nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, at, fmt.Errorf("the declaration of %s: %w", o.Name(), err)
	}
	f := &file{comments: map[place]string{}, imports: importsOf(syntax)}
	keep := func(name *ast.Ident, groups ...*ast.CommentGroup) {
		for _, g := range groups {
			if text := strings.TrimSuffix(strings.Join(strings.Fields(g.Text()), " "), "."); text != "" {
				f.comments[place{fset.Position(name.Pos()).Line, name.Name}] = text
				return
			}
		}
	}
	ast.Inspect(syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GenDecl:
			for _, spec := range n.Specs {
				if t, ok := spec.(*ast.TypeSpec); ok {
					keep(t.Name, t.Doc, n.Doc, t.Comment)
				}
			}
		case *ast.Field:
			for _, name := range n.Names {
				keep(name, n.Doc, n.Comment)
			}
		}
		return true
	})
	r.files[at.Filename] = f
	return f, at, nil
}

// importsOf are the paths of the packages that a file imports, by their names there.
func importsOf(file *ast.File) map[string]string {
	imports := map[string]string{}
	for _, i := range file.Imports {
		path := strings.Trim(i.Path.Value, "\"")
		name := filepath.Base(path)
		if i.Name != nil {
			name = i.Name.Name
		}
		imports[name] = path
	}
	return imports
}

// Files has the places of all objects of the packages.
func (r *Reader) Files() *token.FileSet { return r.fset }
