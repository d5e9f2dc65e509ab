package cuda

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"coalesce/gen/space"
)

const toyTemplate = `#include "cuda/prelude.cuh"
namespace {{.Symbol}} { constexpr int N = {{.N.factor}}; }
{{if .Is "mode" "odd"}}// odd
{{end}}


extern "C" __global__ void __launch_bounds__({{.N.factor}}) {{.Symbol}}_scale({{.Type}}* f, unsigned long long n) {
}
`

func toy() *space.Space {
	return &space.Space{
		Family: "toy/scale", Target: space.CUDA, Pos: "m:1",
		Params: []space.Param{
			{Name: "factor", Values: []string{"1", "2", "4"}},
			{Name: "mode", Values: []string{"even", "odd"}},
			{Name: "value", Values: []string{"int32"}, Vary: []string{"int64"}},
		},
	}
}

func files(change map[string]string) fstest.MapFS {
	all := map[string]string{
		"toy/scale.cu.tmpl": toyTemplate,
		"toy/part.cu.tmpl":  "part",
		"cuda/prelude.cuh":  "#include \"cuda/deep.cuh\"\n",
		"cuda/deep.cuh":     "// deep\n",
		"cuda/other.cuh":    "// not included\n",
	}
	maps.Copy(all, change)
	fsys := fstest.MapFS{}
	for name, text := range all {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

func render(t *testing.T, change map[string]string) (*Family, error) {
	t.Helper()
	s := toy()
	points, err := s.EnumerateFull()
	if err != nil {
		t.Fatal(err)
	}
	return Render(files(change), s, points)
}

func TestRender(t *testing.T) {
	f, err := render(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Variants) != 12 || len(f.Packs) != 1 {
		t.Fatalf("%d variants in %d packs, want 12 in 1", len(f.Variants), len(f.Packs))
	}
	v := f.Variants[0]
	lines := strings.Split(v.Text, "\n")
	if lines[0] != Header || lines[1] != "// toy/scale factor=1,mode=even,value=int32" {
		t.Errorf("starts with %q", lines[:2])
	}
	if strings.Contains(v.Text, "\n\n\n") {
		t.Error("two empty lines in a row")
	}
	if !strings.Contains(v.Text, "toy_scale_factor1_modeeven_int32_scale(int* f, unsigned long long n)") {
		t.Errorf("no entry in\n%s", v.Text)
	}
	want := []Entry{{"scale", []Param{{"f", "buffer"}, {"n", "uint64"}}}}
	if len(f.Entries) != 1 || f.Entries[0].Name != want[0].Name || !slices.Equal(f.Entries[0].Params, want[0].Params) {
		t.Errorf("entries %v, want %v", f.Entries, want)
	}
	if !strings.Contains(f.Packs[0].Text, "#include \"toy_scale_factor1_modeeven_int32.cu\"\n") {
		t.Errorf("pack\n%s", f.Packs[0].Text)
	}
	seen := map[uint64]bool{f.Hash: true, f.Packs[0].Hash: true}
	for _, v := range f.Variants {
		if seen[v.Hash] {
			t.Errorf("hash of %s again", v.Symbol)
		}
		seen[v.Hash] = true
	}
}

// TestPacksDivide: every variant is in one pack, in order.
func TestPacksDivide(t *testing.T) {
	f := &Family{Space: toy()}
	for range 2*packSize + 3 {
		f.Variants = append(f.Variants, Variant{File: "scale/x.cu"})
	}
	f.pack()
	if len(f.Packs) != 3 {
		t.Fatalf("%d packs, want 3", len(f.Packs))
	}
	counts := make([]int, 3)
	for _, v := range f.Variants {
		counts[v.Pack]++
	}
	if !slices.Equal(counts, []int{packSize, packSize, 3}) {
		t.Errorf("packs of %v", counts)
	}
}

// TestHashes: what a text is made from moves its hash, and nothing else does.
func TestHashes(t *testing.T) {
	base, err := render(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		name, file, text        string
		family, variants, packs bool // whether they change
	}{
		{"template", "toy/scale.cu.tmpl", toyTemplate + "int more;\n", true, true, true},
		{"comment", "toy/scale.cu.tmpl", toyTemplate + "// more\n\n", false, false, false},
		{"template comment", "toy/scale.cu.tmpl", toyTemplate + "{{/* more */}}", true, false, false},
		{"unused partial", "toy/part.cu.tmpl", "other", true, false, false},
		{"own partial", "toy/scale/part.cu.tmpl", "part", true, false, false},
		{"another family", "toy/other/other.cu.tmpl", "x", false, false, false},
		{"header", "cuda/prelude.cuh", "#include \"cuda/deep.cuh\"\nint x;\n", true, true, true},
		{"header of a header", "cuda/deep.cuh", "int deeper;\n", true, true, true},
		{"comment of a header", "cuda/deep.cuh", "// deeper\n", false, false, false},
		{"header not included", "cuda/other.cuh", "int x;\n", true, false, false},
		{"another problem", "else/scale.cu.tmpl", "x", false, false, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			f, err := render(t, map[string]string{c.file: c.text})
			if err != nil {
				t.Fatal(err)
			}
			if got := f.Hash != base.Hash; got != c.family {
				t.Errorf("family hash changed: %v, want %v", got, c.family)
			}
			if got := f.Variants[0].Hash != base.Variants[0].Hash; got != c.variants {
				t.Errorf("variant hash changed: %v, want %v", got, c.variants)
			}
			if got := f.Packs[0].Hash != base.Packs[0].Hash; got != c.packs {
				t.Errorf("pack hash changed: %v, want %v", got, c.packs)
			}
		})
	}
}

func TestRenderErrors(t *testing.T) {
	swap := func(old, new string) string { return strings.Replace(toyTemplate, old, new, 1) }
	cases := []struct{ name, text, want string }{
		{"unknown parameter", swap(`"mode"`, `"mood"`), `toy/scale has no parameter "mood"`},
		{"unknown value", swap(`"odd"`, `"add"`), `toy/scale: mode is never "add", expected one of even odd`},
		{"no number", swap(".N.factor", ".N.mode"), `map has no entry for key "mode"`},
		{"syntax", swap("{{end}}", "{{ed}}"), "scale.cu.tmpl:4"},
		{"log2", swap("{{.N.factor}}", "{{log2 3}}"), "log2 of 3, expected a power of two"},
		{"division", swap("{{.N.factor}}", "{{div 3 0}}"), "division of 3 by zero"},
		{"no prelude", swap("#include", "// #include"), `no #include "cuda/prelude.cuh"`},
		{"unknown header", swap("prelude.cuh\"", "prelude.cuh\"\n#include \"none.cuh\""), `includes "none.cuh"`},
		{"no entry", swap("extern", "// extern"), "no entry point"},
		{"not extern", swap(`extern "C" __global__`, "__global__"), "1 __global__ functions of which 0 read as"},
		{"entry name", swap("_scale(", "_Scale("), "toy_scale_factor1_modeeven_int32_Scale, expected toy_scale_factor1_modeeven_int32_ and a lower-case name"},
		{"reserved entry", swap("_scale(", "_close("), "a lower-case name that is not hash, close, has or resources"},
		{"entry outside", swap("{{.Symbol}}_scale", "other_scale"), "entry other_scale, expected toy_scale_factor1_modeeven_int32_"},
		{"small argument", swap("unsigned long long n", "int n"), "argument n of type int, expected a pointer"},
		{"nameless argument", swap("unsigned long long n", "double"), `argument "double", expected a type and a name`},
		{"signature", swap("unsigned long long n", "{{if .Is \"mode\" \"odd\"}}double{{else}}long long{{end}} n"), "expected those of the variants before it"},
		{"dynamic shared", toyTemplate + "extern __shared__ int x[];\n", "a shared array without a size"},
		{"assembly", toyTemplate + "void f() { asm(\"\"); }\n", "inline assembly"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := render(t, map[string]string{"toy/scale.cu.tmpl": c.text})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v\nwant  %s", err, c.want)
			}
		})
	}
	t.Run("two roots", func(t *testing.T) {
		_, err := render(t, map[string]string{"toy/scale/scale.cu.tmpl": toyTemplate})
		if err == nil || !strings.Contains(err.Error(), "found the templates toy/scale/scale.cu.tmpl and toy/scale.cu.tmpl") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("no template", func(t *testing.T) {
		s := toy()
		s.Family = "toy/missing"
		_, err := Render(files(nil), s, nil)
		if err == nil || !strings.Contains(err.Error(), "m:1: space toy/missing: no template templates/toy/missing/missing.cu.tmpl, nor templates/toy/missing.cu.tmpl") {
			t.Errorf("error %v", err)
		}
	})
}

func TestEntries(t *testing.T) {
	text := `#include "cuda/prelude.cuh"
// extern "C" __global__ void s_old(int x) {
extern "C" __global__ void __launch_bounds__(256, 2)
s_one(const float* __restrict__ a, unsigned long long* b, // why
      unsigned long long n, long long m, double x) {
}
/* __global__ */
extern "C" __global__ void s_two() {}
`
	got, err := entries(text, "s")
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[0].Name != "one" || got[1].Name != "two" || len(got[1].Params) != 0 {
		t.Fatalf("entries %v", got)
	}
	want := []Param{{"a", "buffer"}, {"b", "buffer"}, {"n", "uint64"}, {"m", "int64"}, {"x", "float64"}}
	if !slices.Equal(got[0].Params, want) {
		t.Errorf("arguments %v, want %v", got[0].Params, want)
	}
}

func TestFunctions(t *testing.T) {
	if n, err := log2(1024); n != 10 || err != nil {
		t.Errorf("log2 1024 = %d, %v", n, err)
	}
	if got, err := until(3); !slices.Equal(got, []int{0, 1, 2}) || err != nil {
		t.Errorf("until 3 = %v, %v", got, err)
	}
	if _, err := until(-1); err == nil {
		t.Error("until -1: no error")
	}
}

// FuzzEntries: whatever a template makes, reading it returns.
func FuzzEntries(f *testing.F) {
	f.Add("#include \"cuda/prelude.cuh\"\nextern \"C\" __global__ void s_a(int* f, double x) {}")
	f.Add("extern \"C\" __global__ void __launch_bounds__(1) s_(,) {")
	f.Fuzz(func(t *testing.T, text string) {
		found, err := entries(text, "s")
		if err == nil && len(found) == 0 {
			t.Error("neither an entry nor an error")
		}
	})
}
