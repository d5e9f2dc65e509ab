package layout

import (
	"fmt"
	"strings"

	"github.com/dave/jennifer/jen"

	"coalesce/gen/bind"
)

// Write writes the file generated/<problem>/<kernel>_layout.go of a family.
func Write(family string, l *Layout) ([]byte, error) {
	problem, kernel, _ := strings.Cut(family, "/")
	prefix := strings.ToUpper(kernel[:1]) + kernel[1:]
	file := bind.NewFile(problem)
	for i := 0; i < len(l.Constants); {
		first := l.Constants[i]
		var lines []jen.Code
		for ; i < len(l.Constants) && l.Constants[i].mark == first.mark; i++ {
			k := l.Constants[i]
			lines = append(lines, jen.Id(prefix+k.Name).Op("=").Op(k.Value))
		}
		comment(file, fmt.Sprintf("%s of the kernels of %s.", first.From, family), first.Doc)
		if len(lines) == 1 {
			file.Const().Add(lines...)
		} else {
			file.Const().Defs(lines...)
		}
		file.Line()
	}
	for _, s := range l.Structs {
		s.write(file, family, prefix)
	}
	return bind.Format(problem+"/"+kernel+"_layout.go", file)
}

// comment writes where a declaration comes from and what stands above it there.
func comment(file *jen.File, from, doc string) {
	file.Comment(strings.ToUpper(from[:1]) + from[1:])
	if doc != "" {
		file.Comment("")
		for line := range strings.Lines(doc) {
			file.Comment(strings.TrimSpace(line))
		}
	}
}

// write declares the struct in Go. Every gap of CUDA's layout is a field, so that Go has
// none of its own, on any machine; where it had, the lines below would not compile.
func (s Struct) write(file *jen.File, family, prefix string) {
	name := prefix + s.Name
	var members []jen.Code
	at := 0
	gap := func(to int) {
		if to > at {
			members = append(members, jen.Id("_").Index(jen.Lit(to-at)).Byte())
		}
	}
	checks := []jen.Code{check(jen.Qual("unsafe", "Sizeof").Call(jen.Id(name).Values()), s.Size)}
	for i := 0; i < len(s.Fields); {
		f := s.Fields[i]
		gap(f.Offset)
		var names []jen.Code
		for first := true; i < len(s.Fields) && (first || s.Fields[i].Joined); i++ {
			f, first = s.Fields[i], false
			names = append(names, jen.Id(f.Name))
			checks = append(checks, check(jen.Qual("unsafe", "Offsetof").Call(jen.Id(name).Values().Dot(f.Name)), f.Offset))
		}
		at = f.Offset + f.Size
		m := jen.List(names...)
		for _, n := range f.Count {
			m.Index(jen.Lit(n))
		}
		if f.Struct {
			m.Id(prefix + f.Type)
		} else {
			m.Id(f.Type)
		}
		if f.Doc != "" {
			m.Comment(f.Doc)
		}
		members = append(members, m)
	}
	gap(s.Size)
	comment(file, fmt.Sprintf("%s is struct %s of the kernels of %s.", name, s.C, family), s.Doc)
	file.Type().Id(name).Struct(members...)
	file.Line()
	file.Commentf("%sSize is its size in bytes.", name)
	file.Const().Id(name + "Size").Op("=").Lit(s.Size)
	file.Line()
	file.Comment("Bytes are the struct's own, as devices have them; not a copy.")
	file.Func().Params(jen.Id("x").Op("*").Id(name)).Id("Bytes").Params().Index().Byte().Block(
		jen.Return(jen.Qual("unsafe", "Slice").Call(
			jen.Parens(jen.Op("*").Byte()).Call(jen.Qual("unsafe", "Pointer").Call(jen.Id("x"))), jen.Id(name+"Size"))))
	file.Line()
	file.Comment("Compiles only where Go lays " + name + " out as CUDA does.")
	file.Var().Defs(checks...)
	file.Line()
}

// check declares a constant that compiles only where x equals n.
func check(x jen.Code, n int) jen.Code {
	return jen.Id("_").Op("=").Index(jen.Lit(1)).Struct().Values().Index(jen.Add(x).Op("-").Lit(n))
}
