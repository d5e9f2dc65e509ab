package host

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/dave/jennifer/jen"

	"coalesce/gen/space"
)

// bodyVersion changes whenever the text made of a body may.
const bodyVersion = "2"

// A body is a Go file that variants are made of: templates/<family>/<kernel>.go, a package of its own that the Go
// compiler checks. A parameter of the space is a constant of its name there, and one whose values are types, as value is, a type
// alias:
//
//	const rows = 4
//	type value = float32
//
//	// Step is the entry point step.
//	func Step(block, blocks int64, old, next []value, n uint64) { … }
//
// A variant is the file with the point's values in their place and the variant's symbol before each name. Exported
// functions that begin with block and blocks are the entry points. Their other parameters are slices, which are
// buffers, uint64, int64 and float64. Other exported functions stand in device.Variant.Functions, for programs that call them
// themselves.
type body struct {
	name    string // below templates/
	text    string
	fset    *token.FileSet
	entries []Entry
	others  []string              // exported functions that are no entry points
	slices  map[string][]ast.Expr // by entry: the element types of its parameters, nil for numbers
	edits   []edit
	from    int // offset behind the imports
}

// An edit replaces text[from:to].
type edit struct {
	from, to int
	param    string   // by the value of a parameter
	alias    bool     // which is a type
	own      string   // by the variant's name of a declaration
	used     jen.Code // by the name of an imported package, with what is taken from it
}

// ReadBody makes an emitter of the Go file of a family below templates/; ok is false where it has none.
func ReadBody(fsys fs.FS, s *space.Space) (_ Emitter, ok bool, err error) {
	name := path.Join(s.Family, s.Kernel()+".go")
	text, err := fs.ReadFile(fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		return Emitter{}, false, nil
	}
	if err != nil {
		return Emitter{}, false, err
	}
	b := &body{name: "templates/" + name, text: string(text), fset: token.NewFileSet(), slices: map[string][]ast.Expr{}}
	if err := b.read(s); err != nil {
		return Emitter{}, false, err
	}
	return Emitter{Version: bodyVersion + b.text, Entries: b.entries, Functions: b.others, Kernels: b.kernels}, true, nil
}

func (b *body) errorf(at token.Pos, format string, args ...any) error {
	return fmt.Errorf("%s: %s", b.fset.Position(at), fmt.Sprintf(format, args...))
}

func (b *body) offset(at token.Pos) int { return b.fset.Position(at).Offset }

// noImports imports nothing: names of other packages need no types here.
type noImports struct{}

func (noImports) Import(path string) (*types.Package, error) {
	return nil, fmt.Errorf("%s is not looked at", path)
}

// read parses the file, and finds entry points, parameters and the names to change.
func (b *body) read(s *space.Space) error {
	file, err := parser.ParseFile(b.fset, b.name, b.text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	info := &types.Info{Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
	conf := types.Config{Importer: noImports{}, Error: func(error) {}} // the Go compiler reports errors of the body
	pkg, _ := conf.Check(b.name, b.fset, []*ast.File{file}, info)
	b.from = b.offset(file.Name.End())
	for _, d := range file.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT {
			b.from = max(b.from, b.offset(g.End()))
		}
	}
	found := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.SelectorExpr:
			if id, ok := x.X.(*ast.Ident); ok {
				if p, ok := info.Uses[id].(*types.PkgName); ok {
					b.edits = append(b.edits, edit{from: b.offset(x.Pos()), to: b.offset(x.End()), used: jen.Qual(p.Imported().Path(), x.Sel.Name)})
					return false
				}
			}
		case *ast.Ident:
			obj := info.Defs[x]
			if obj == nil {
				obj = info.Uses[x]
			}
			if obj != nil && obj.Parent() == pkg.Scope() && b.offset(x.Pos()) >= b.from {
				b.edits = append(b.edits, edit{from: b.offset(x.Pos()), to: b.offset(x.End()), own: x.Name})
			}
		}
		return true
	})
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if err := b.parameter(s, d.Tok, spec, found); err != nil {
					return err
				}
			}
		case *ast.FuncDecl:
			if err := b.entry(d); err != nil {
				return err
			}
		}
	}
	for _, p := range s.Params {
		if !found[p.Name] {
			form := "const " + p.Name + " = …"
			if p.Name == space.ValueParam {
				form = "type " + p.Name + " = …"
			}
			return fmt.Errorf("%s: has no %q, which space %s has as a parameter", b.name, form, s.Family)
		}
	}
	if len(b.entries) == 0 {
		return fmt.Errorf("%s: has no entry point: expected func Name(block, blocks int64, …), exported", b.name)
	}
	slices.SortFunc(b.edits, func(x, y edit) int { return x.from - y.from })
	return nil
}

// parameter finds the declaration of a parameter, whose value a variant replaces.
func (b *body) parameter(s *space.Space, tok token.Token, spec ast.Spec, found map[string]bool) error {
	is := func(name string) bool {
		return slices.ContainsFunc(s.Params, func(p space.Param) bool { return p.Name == name })
	}
	var name *ast.Ident
	var value ast.Expr
	alias := false
	switch x := spec.(type) {
	case *ast.ValueSpec:
		if tok != token.CONST || len(x.Names) != 1 || len(x.Values) != 1 {
			return nil
		}
		name, value = x.Names[0], x.Values[0]
	case *ast.TypeSpec:
		if name, value, alias = x.Name, x.Type, true; is(name.Name) && !x.Assign.IsValid() {
			return b.errorf(x.Pos(), "type %s is a parameter, expected an alias: type %s = …", name.Name, name.Name)
		}
	default:
		return nil
	}
	if is(name.Name) {
		found[name.Name] = true
		from, to := b.offset(value.Pos()), b.offset(value.End())
		b.edits = slices.DeleteFunc(b.edits, func(e edit) bool { return e.from >= from && e.to <= to })
		b.edits = append(b.edits, edit{from: from, to: to, param: name.Name, alias: alias})
	}
	return nil
}

// entry reads an entry point's signature; other functions are none.
func (b *body) entry(d *ast.FuncDecl) error {
	if d.Recv != nil || !d.Name.IsExported() {
		return nil
	}
	var names []*ast.Ident
	var kinds []ast.Expr
	for _, f := range d.Type.Params.List {
		for _, n := range f.Names {
			names, kinds = append(names, n), append(kinds, f.Type)
		}
	}
	first := []rune(d.Name.Name)
	first[0] = unicode.ToLower(first[0])
	e := Entry{Name: string(first)}
	if len(names) < 2 || names[0].Name != "block" || names[1].Name != "blocks" {
		b.others = append(b.others, e.Name)
		return nil
	}
	var elements []ast.Expr
	for k := range names {
		number, _ := kinds[k].(*ast.Ident)
		array, _ := kinds[k].(*ast.ArrayType)
		switch {
		case k < 2 && (number == nil || number.Name != "int64"):
			return b.errorf(names[k].Pos(), "%s is no int64", names[k].Name)
		case k < 2:
		case array != nil && array.Len == nil:
			e.Params, elements = append(e.Params, Param{names[k].Name, "buffer", elementOf(array.Elt)}), append(elements, array.Elt)
		case number != nil && slices.Contains([]string{"uint64", "int64", "float64"}, number.Name):
			e.Params, elements = append(e.Params, Param{Name: names[k].Name, Type: number.Name}), append(elements, nil)
		default:
			return b.errorf(names[k].Pos(), "parameter %s of %s: expected a slice, uint64, int64 or float64", names[k].Name, d.Name.Name)
		}
	}
	b.entries = append(b.entries, e)
	b.slices[e.Name] = elements
	return nil
}

// elementOf is the type of a slice's elements for typed bindings: a predeclared number, or the parameter value; empty for others.
func elementOf(x ast.Expr) string {
	if id, ok := x.(*ast.Ident); ok {
		if b, ok := types.Universe.Lookup(id.Name).(*types.TypeName); id.Name == space.ValueParam || ok && b.Type().Underlying() != nil {
			return id.Name
		}
	}
	return ""
}

// kernels writes the variant of a point.
func (b *body) kernels(file *jen.File, p space.Point) error {
	text := jen.Op(strings.TrimLeft(b.text[b.from:b.from], "\n"))
	at := b.from
	for _, e := range b.edits {
		text.Op(b.text[at:e.from])
		switch at = e.to; {
		case e.used != nil:
			text.Add(e.used)
		case e.param != "":
			value, _ := p.Get(e.param)
			if _, err := strconv.Atoi(value); err != nil && !e.alias {
				value = strconv.Quote(value)
			}
			text.Op(value)
		default:
			text.Op(p.Symbol() + "_" + e.own)
		}
	}
	file.Add(text.Op(b.text[at:]))
	for _, e := range b.entries {
		args := []jen.Code{jen.Id("block"), jen.Id("blocks")}
		for i, param := range e.Params {
			bits := jen.Id("args").Index(jen.Lit(i)).Dot("Bits")
			switch param.Type {
			case "buffer":
				args = append(args, sliceArgument(b.element(p, b.slices[e.Name][i]), i))
			case "int64":
				args = append(args, jen.Int64().Call(bits))
			case "float64":
				args = append(args, jen.Qual("math", "Float64frombits").Call(bits))
			default:
				args = append(args, bits)
			}
		}
		tilePoint{symbol: p.Symbol()}.declareEntry(file, e.Name, jen.Id(FunctionName(p, e.Name)).Call(args...))
	}
	return nil
}

// element is the type of a slice's elements, with the variant's names.
func (b *body) element(p space.Point, x ast.Expr) jen.Code {
	from, to := b.offset(x.Pos()), b.offset(x.End())
	for _, e := range b.edits {
		if e.own != "" && e.from == from && e.to == to {
			return jen.Id(p.Symbol() + "_" + e.own)
		}
	}
	return jen.Op(b.text[from:to])
}
