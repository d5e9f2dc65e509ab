package bind

import "github.com/dave/jennifer/jen"

// writeTable writes the family's hash, its table and the guard on the ABI.
func (f *Family) writeTable(file *jen.File) {
	_, kernel := splitFamily(f.Name)
	name := exportedName(kernel)
	file.Commentf("%sHash is the hash of the family %s: what its texts are made from.", name, f.Name)
	file.Const().Id(name + "Hash").Op("=").Add(hexLiteral(f.Hash))
	file.Line()
	file.Comment("Compiles only against the ABI of runtime/device it was generated for.")
	file.Var().Id("_").Op("=").Index(jen.Lit(1)).Struct().Values().Index(jen.Qual(devicePath, "ABI").Op("-").Lit(ABI))
	file.Line()

	fields := []jen.Code{
		field("Name", jen.Lit(f.Name)),
		field("Target", jen.Qual(devicePath, map[bool]string{true: "CUDA", false: "Host"}[f.CUDA])),
		field("Hash", jen.Id(name+"Hash")),
		field("Params", texts(f.Params)),
		field("Entries", f.entries()),
		field("Variants", f.variants()),
	}
	if f.CUDA {
		source := kernel + "Source"
		file.Commentf("//go:embed %s/*.cu", kernel)
		file.Var().Id(source).Qual("embed", "FS")
		file.Line()
		fields = append(fields, field("Source", jen.Id(source)))
		if f.Headers != "" {
			fields = append(fields, field("Headers", jen.Qual(f.Headers, "Files")))
		}
		fields = append(fields, field("Packs", f.packs()))
	}
	file.Commentf("%s is the family %s: %d variants.", name, f.Name, len(f.Variants))
	file.Var().Id(name).Op("=").Qual(devicePath, "Family").Custom(multi, fields...)
}

// multi puts an element a line; single all of them on one.
var (
	multi  = jen.Options{Open: "{", Close: "}", Separator: ",", Multi: true}
	single = jen.Options{Open: "{", Close: "}", Separator: ","}
)

func field(name string, value jen.Code) jen.Code { return jen.Id(name).Op(":").Add(value) }

func texts(list []string) *jen.Statement {
	var out []jen.Code
	for _, s := range list {
		out = append(out, jen.Lit(s))
	}
	return jen.Index().String().Custom(single, out...)
}

func (f *Family) entries() jen.Code {
	var lines []jen.Code
	for _, e := range f.Entries {
		var params []jen.Code
		for _, p := range e.Params {
			params = append(params, jen.Custom(single, field("Name", jen.Lit(p.Name)), field("Type", jen.Lit(p.Type))))
		}
		lines = append(lines, jen.Custom(single,
			field("Name", jen.Lit(e.Name)),
			field("Params", jen.Index().Qual(devicePath, "Param").Custom(single, params...))))
	}
	return jen.Index().Qual(devicePath, "Entry").Custom(multi, lines...)
}

func (f *Family) variants() jen.Code {
	var lines []jen.Code
	for _, v := range f.Variants {
		fields := []jen.Code{
			field("Label", jen.Lit(v.Label)),
			field("Symbol", jen.Lit(v.Symbol)),
			field("Hash", hexLiteral(v.Hash)),
			field("Values", texts(v.Values)),
		}
		if v.Safe {
			fields = append(fields, field("Safe", jen.True()))
		}
		if v.Study {
			fields = append(fields, field("Study", jen.True()))
		}
		if f.CUDA {
			fields = append(fields, field("Pack", jen.Lit(v.Pack)))
		} else {
			fields = append(fields, field("Kernels", f.kernels(v)))
			if len(f.Functions) > 0 {
				fields = append(fields, field("Functions", f.functions(v)))
			}
		}
		lines = append(lines, jen.Custom(single, fields...))
	}
	return jen.Index().Qual(devicePath, "Variant").Custom(multi, lines...)
}

func (f *Family) kernels(v Variant) jen.Code {
	var pairs []jen.Code
	for _, e := range f.Entries {
		pairs = append(pairs, jen.Lit(e.Name).Op(":").Id(f.Kernel(v, e.Name)))
	}
	return jen.Map(jen.String()).Qual(devicePath, "HostKernel").Custom(single, pairs...)
}

func (f *Family) functions(v Variant) jen.Code {
	var pairs []jen.Code
	for _, name := range f.Functions {
		pairs = append(pairs, jen.Lit(name).Op(":").Id(f.Function(v, name)))
	}
	return jen.Map(jen.String()).Any().Custom(single, pairs...)
}

func (f *Family) packs() jen.Code {
	var lines []jen.Code
	for _, p := range f.Packs {
		lines = append(lines, jen.Custom(single, field("File", jen.Lit(p.File)), field("Hash", hexLiteral(p.Hash))))
	}
	return jen.Index().Qual(devicePath, "Pack").Custom(multi, lines...)
}
