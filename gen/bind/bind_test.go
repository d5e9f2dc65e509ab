package bind

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

func toy() *Family {
	return &Family{
		Name: "toy/scale", CUDA: true, Hash: 0xabc, Params: []string{"factor", "value"},
		Entries: []Entry{
			{"scale", []Param{{Name: "f", Type: "buffer"}, {Name: "n_values", Type: "uint64"}, {Name: "grid", Type: "int64"}, {Name: "x", Type: "float64"}}},
			{"sumAll", nil},
		},
		Variants: []Variant{
			{Label: "factor=2,value=int32", Symbol: "toy_scale_factor2_int32", Hash: 1, Values: []string{"2", "int32"}, Safe: true},
			{Label: "factor=4,value=int32", Symbol: "toy_scale_factor4_int32", Hash: 2, Values: []string{"4", "int32"}, Study: true, Pack: 1},
		},
		Packs: []Pack{{"scale/pack_000.cu", 3}, {"scale/pack_001.cu", 4}},
	}
}

func TestBindings(t *testing.T) {
	text, err := Bindings(toy())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"// " + Header + "\n",
		"import (\n\t\"embed\"\n\t\"errors\"\n\t\"fmt\"\n\n\t\"coalesce/runtime/device\"\n)",
		"const ScaleHash = 0x0000000000000abc\n",
		"var _ = [1]struct{}{}[device.ABI-1]\n",
		"//go:embed scale/*.cu\nvar scaleSource embed.FS\n",
		"\t\t{Label: \"factor=2,value=int32\", Symbol: \"toy_scale_factor2_int32\", Hash: 0x0000000000000001, Values: []string{\"2\", \"int32\"}, Safe: true, Pack: 0},\n",
		"Values: []string{\"4\", \"int32\"}, Study: true, Pack: 1},\n",
		"\t\t{File: \"scale/pack_001.cu\", Hash: 0x0000000000000004},\n",
		"func LoadScale(d device.Device, v *device.Variant) (*ScaleKernels, error) {",
		"func (k *ScaleKernels) Scale(stream device.Stream, grid device.Grid, f device.Buffer, nValues uint64, gridArg int64, x float64) error {",
		"k.launch(stream, grid, 0, device.Ptr(f), device.U64(nValues), device.I64(gridArg), device.F64(x))",
		"func (k *ScaleKernels) SumAll(stream device.Stream, grid device.Grid) error {",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	again, err := Bindings(toy())
	if err != nil || string(again) != string(text) {
		t.Errorf("not the same text twice (%v)", err)
	}
}

func TestHostBindings(t *testing.T) {
	f := toy()
	f.CUDA, f.Packs = false, nil
	f.Kernel = func(v Variant, entry string) string { return v.Symbol + "_" + entry }
	text, err := Bindings(f)
	if err != nil {
		t.Fatal(err)
	}
	if want := `Kernels: map[string]device.HostKernel{"scale": toy_scale_factor2_int32_scale, "sumAll": toy_scale_factor2_int32_sumAll}`; !strings.Contains(string(text), want) {
		t.Errorf("no %q in\n%s", want, text)
	}
	if strings.Contains(string(text), "embed") || strings.Contains(string(text), "Pack") {
		t.Errorf("sources or packs in\n%s", text)
	}
}

func TestBindingErrors(t *testing.T) {
	f := toy()
	f.Entries[0].Params[0].Type = "float32"
	if _, err := Bindings(f); err == nil || !strings.Contains(err.Error(), `argument f of type "float32"`) {
		t.Errorf("error %v", err)
	}
	f = toy()
	f.Entries[0].Params = []Param{{Name: "a_b", Type: "uint64"}, {Name: "aB", Type: "uint64"}}
	if _, err := Bindings(f); err == nil || !strings.Contains(err.Error(), "a_b and aB are both aB in Go") {
		t.Errorf("error %v", err)
	}
}

// TestGuard: the array index of the guard is the family's hash less itself.
func TestGuard(t *testing.T) {
	file := NewFile("toy")
	AppendGuard(file, "toy/scale", 0xabc)
	text, err := Format("x.go", file)
	if err != nil {
		t.Fatal(err)
	}
	if want := "var _ = [1]struct{}{}[ScaleHash-0x0000000000000abc]\n"; !strings.Contains(string(text), want) {
		t.Errorf("no %q in\n%s", want, text)
	}
}

func TestLists(t *testing.T) {
	one, err := Families("toy", []string{"toy/scale", "toy/sum"})
	if err != nil {
		t.Fatal(err)
	}
	all, err := AllFamilies(ModulePath(), []string{"toy", "more"})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		string(one): "return []*device.Family{&Scale, &Sum}",
		string(all): "return slices.Concat(toy.Families(), more.Families())",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
		file, err := parser.ParseFile(token.NewFileSet(), "x.go", text, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if file.Doc == nil || !ast.IsGenerated(file) {
			t.Error("no package comment, or not marked as generated")
		}
	}
}

func TestGoName(t *testing.T) {
	for c, want := range map[string]string{"f": "f", "n_values": "nValues", "k": "kArg", "stream": "streamArg", "type": "typeArg", "len": "lenArg", "N": "n", "_x": "x"} {
		if got := goName(c); got != want {
			t.Errorf("goName(%q) = %q, want %q", c, got, want)
		}
	}
}

// The text that is hashed does not show the module's path.
func TestPortable(t *testing.T) {
	const first = "coalesce" + "/runtime/device"
	if got := PortableText(`import "` + devicePath + `"`); got != `import "`+first+`"` {
		t.Errorf("Portable gives %s, want the import of %s", got, first)
	}
}
