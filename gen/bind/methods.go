package bind

import (
	"fmt"
	"go/token"
	"go/types"

	"github.com/dave/jennifer/jen"
)

// writeMethods writes the type that holds a loaded variant and a method an entry.
func (f *Family) writeMethods(file *jen.File) {
	_, kernel := splitFamily(f.Name)
	name := exportedName(kernel)
	kernels := name + "Kernels"
	device := func(id string) *jen.Statement { return jen.Qual(devicePath, id) }
	receiver := jen.Id("k").Op("*").Id(kernels)
	fail := jen.If(jen.Err().Op("!=").Nil())

	file.Commentf("%s are the entry points of a loaded variant of %s.", kernels, f.Name)
	file.Type().Id(kernels).Struct(
		jen.Id("variant").Op("*").Add(device("Variant")),
		jen.Id("module").Add(device("Module")),
		jen.Id("kernels").Index(jen.Lit(len(f.Entries))).Add(device("Kernel")).Comment("nil where the variant has no such entry"),
	)

	file.Commentf("Load%s makes a variant's entry points ready on a device.", name)
	file.Func().Id("Load"+name).Params(jen.Id("d").Add(device("Device")), jen.Id("v").Op("*").Add(device("Variant"))).
		Params(jen.Op("*").Id(kernels), jen.Error()).Block(
		jen.List(jen.Id("m"), jen.Err()).Op(":=").Id("d").Dot("Load").Call(jen.Op("&").Id(name), jen.Id("v")),
		fail.Clone().Block(jen.Return(jen.Nil(), wrapped("load "+f.Name+" %s: %w", jen.Id("v").Dot("Label"), jen.Err()))),
		jen.Id("k").Op(":=").Op("&").Id(kernels).Values(field("variant", jen.Id("v")), field("module", jen.Id("m"))),
		jen.For(jen.List(jen.Id("i"), jen.Id("e")).Op(":=").Range().Id(name).Dot("Entries")).Block(
			jen.List(jen.Id("entry"), jen.Err()).Op(":=").Id("m").Dot("Kernel").Call(jen.Id("e").Dot("Name")),
			jen.If(jen.Qual("errors", "Is").Call(jen.Err(), device("ErrNoEntry"))).Block(jen.Continue()),
			fail.Clone().Block(
				jen.Return(jen.Nil(), jen.Qual("errors", "Join").Call(
					wrapped("load "+f.Name+" %s, entry %s: %w", jen.Id("v").Dot("Label"), jen.Id("e").Dot("Name"), jen.Err()),
					jen.Id("m").Dot("Close").Call())),
			),
			jen.Id("k").Dot("kernels").Index(jen.Id("i")).Op("=").Id("entry"),
		),
		jen.Return(jen.Id("k"), jen.Nil()),
	)

	for i, e := range f.Entries {
		params := []jen.Code{jen.Id("stream").Add(device("Stream")), jen.Id("grid").Add(device("Grid"))}
		args := []jen.Code{jen.Id("stream"), jen.Id("grid"), jen.Lit(i)}
		for _, p := range e.Params {
			t := argument[p.Type]
			id := goName(p.Name)
			kind, arg := jen.Id(t.kind), jen.Id(id)
			switch {
			case t.kind != "buffer":
			case !f.Typed || p.Element == "":
				kind = device("Buffer")
			case p.Element == "value":
				kind, arg = device("Values"), arg.Dot("Memory")
			default:
				kind, arg = device("Array").Types(jen.Id(p.Element)), arg.Dot("Memory")
			}
			params = append(params, jen.Id(id).Add(kind))
			args = append(args, device(t.maker).Call(arg))
		}
		file.Commentf("%s launches the entry %s.", exportedName(e.Name), e.Name)
		file.Func().Params(receiver).Id(exportedName(e.Name)).Params(params...).Error().Block(
			jen.Return(jen.Id("k").Dot("launch").Call(args...)))
	}

	file.Line()
	file.Func().Params(receiver).Id("launch").Params(
		jen.Id("stream").Add(device("Stream")), jen.Id("grid").Add(device("Grid")),
		jen.Id("entry").Int(), jen.Id("args").Op("...").Add(device("Arg"))).Error().Block(
		jen.If(jen.Id("k").Dot("kernels").Index(jen.Id("entry")).Op("==").Nil()).Block(
			jen.Return(wrapped(f.Name+" %s: entry %s: %w", jen.Id("k").Dot("variant").Dot("Label"),
				jen.Id(name).Dot("Entries").Index(jen.Id("entry")).Dot("Name"), device("ErrNoEntry")))),
		jen.Return(jen.Id("stream").Dot("Launch").Call(jen.Id("k").Dot("kernels").Index(jen.Id("entry")), jen.Id("grid"), jen.Id("args").Op("..."))),
	)

	file.Comment("Has reports whether the variant has an entry.")
	file.Func().Params(receiver).Id("Has").Params(jen.Id("entry").String()).Bool().Block(
		jen.For(jen.List(jen.Id("i"), jen.Id("e")).Op(":=").Range().Id(name).Dot("Entries")).Block(
			jen.If(jen.Id("e").Dot("Name").Op("==").Id("entry")).Block(
				jen.Return(jen.Id("k").Dot("kernels").Index(jen.Id("i")).Op("!=").Nil()))),
		jen.Return(jen.False()),
	)

	file.Comment("Resources of an entry as the loader reports them; zero when the variant does not have it.")
	file.Func().Params(receiver).Id("Resources").Params(jen.Id("entry").String()).Add(device("Resources")).Block(
		jen.For(jen.List(jen.Id("i"), jen.Id("e")).Op(":=").Range().Id(name).Dot("Entries")).Block(
			jen.If(jen.Id("e").Dot("Name").Op("==").Id("entry").Op("&&").Id("k").Dot("kernels").Index(jen.Id("i")).Op("!=").Nil()).Block(
				jen.Return(jen.Id("k").Dot("kernels").Index(jen.Id("i")).Dot("Resources").Call()))),
		jen.Return(device("Resources").Values()),
	)

	file.Comment("Close unloads the variant.")
	file.Func().Params(receiver).Id("Close").Params().Error().Block(jen.Return(jen.Id("k").Dot("module").Dot("Close").Call()))
}

// argument has, for each type of device.Param, the Go type and the function that makes an Arg.
var argument = map[string]struct{ kind, maker string }{
	"buffer":  {"buffer", "Ptr"},
	"uint64":  {"uint64", "U64"},
	"int64":   {"int64", "I64"},
	"float64": {"float64", "F64"},
}

// isReserved reports a name that means something else in an entry's method.
func isReserved(name string) bool {
	switch name {
	case "k", "stream", "grid", "device":
		return true
	}
	return token.IsKeyword(name) || types.Universe.Lookup(name) != nil
}

func wrapped(format string, args ...jen.Code) *jen.Statement {
	return jen.Qual("fmt", "Errorf").Call(append([]jen.Code{jen.Lit(format)}, args...)...)
}

// check reports an entry whose binding cannot be written.
func (f *Family) check() error {
	for _, e := range f.Entries {
		names := map[string]string{}
		for _, p := range e.Params {
			id := goName(p.Name)
			if other, dup := names[id]; dup {
				return fmt.Errorf("%s: entry %s: arguments %s and %s are both %s in Go, expected names that differ in more than _", f.Name, e.Name, other, p.Name, id)
			}
			names[id] = p.Name
			if _, ok := argument[p.Type]; !ok {
				return fmt.Errorf("%s: entry %s: argument %s of type %q, expected buffer, uint64, int64 or float64", f.Name, e.Name, p.Name, p.Type)
			}
		}
	}
	return nil
}
