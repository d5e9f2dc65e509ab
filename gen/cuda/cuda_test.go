package cuda

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"coalesce/gen/space"
)

const toyBody = `#include "cuda/variant.cuh"
#define ARGS unsigned long long n
namespace VARIANT {
constexpr int N = param::factor;
extern "C" __global__ void __launch_bounds__(param::factor) ENTRY(scale)(param::value* f, ARGS) {
    if (param::mode_odd) f[n] *= N;
}
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
		Bodies: []space.Body{{Files: []string{"toy/scale/scale.cuh"}}},
	}
}

func files(change map[string]string) fstest.MapFS {
	all := map[string]string{
		"toy/scale/scale.cuh": toyBody,
		"toy/part.cuh":        "part",
		"cuda/variant.cuh":    "#include \"cuda/deep.cuh\"\n",
		"cuda/deep.cuh":       "// deep\n",
		"cuda/other.cuh":      "// not included\n",
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
	for _, want := range []string{"#define VARIANT toy_scale_factor1_modeeven_int32\n", "int factor = 1;", "bool mode_even = true, mode_odd = false;",
		"bool value_int32 = true, value_int64 = false;", "using value = int;", "#include \"toy/scale/scale.cuh\"\n#undef VARIANT\n"} {
		if !strings.Contains(v.Text, want) {
			t.Errorf("no %q in\n%s", want, v.Text)
		}
	}
	if last := f.Variants[len(f.Variants)-1]; last.Entries[0].Threads != 4 {
		t.Errorf("%s has entries %v, expected blocks of 4 threads", last.Symbol, last.Entries)
	}
	want := []Entry{{"scale", []Param{{"f", "buffer", "value"}, {"n", "uint64", ""}}, 1}}
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
	f.groupIntoPacks()
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
		{"body", "toy/scale/scale.cuh", toyBody + "int more;\n", true, true, true},
		{"comment", "toy/scale/scale.cuh", toyBody + "// more\n\n", false, false, false},
		{"header included again", "toy/scale/scale.cuh", toyBody + "#include \"cuda/deep.cuh\"\n", true, false, false},
		{"body that is not included", "toy/scale/part.cuh", "part", true, false, false},
		{"another family", "toy/other/other.cuh", "x", false, false, false},
		{"header", "cuda/variant.cuh", "#include \"cuda/deep.cuh\"\nint x;\n", true, true, true},
		{"header of a header", "cuda/deep.cuh", "int deeper;\n", true, true, true},
		{"comment of a header", "cuda/deep.cuh", "// deeper\n", false, false, false},
		{"header not included", "cuda/other.cuh", "int x;\n", true, false, false},
		{"another problem's family", "else/scale/scale.cuh", "x", false, false, false},
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

// TestHashIsOfThePoint: a parameter moves the hash by what it changes in the text; a new value of a parameter
// and a file's new name move none.
func TestHashIsOfThePoint(t *testing.T) {
	base, err := render(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := toy()
	s.Params[1].Values = append(s.Params[1].Values, "neither")
	s.Bodies[0].Files[0] = "toy/scale/renamed.cuh"
	points, err := s.EnumerateFull()
	if err != nil {
		t.Fatal(err)
	}
	f, err := Render(files(map[string]string{"toy/scale/renamed.cuh": toyBody}), s, points)
	if err != nil {
		t.Fatal(err)
	}
	hashes := map[string]uint64{}
	for _, v := range f.Variants {
		hashes[v.Symbol] = v.Hash
	}
	for _, v := range base.Variants {
		if hashes[v.Symbol] != v.Hash {
			t.Errorf("the hash of %s changed", v.Symbol)
		}
	}
}

func TestRenderErrors(t *testing.T) {
	swap := func(old, new string) string { return strings.Replace(toyBody, old, new, 1) }
	cases := []struct{ name, text, want string }{
		{"unknown parameter", swap("param::factor", "param::facter"), "templates/toy/scale/scale.cuh:4: found param::facter, which space toy/scale does not have, expected one of factor mode_even"},
		{"unknown value", swap("mode_odd", "mode_add"), "templates/toy/scale/scale.cuh:6: found param::mode_add"},
		{"no number", swap("param::factor", "param::mode"), "found param::mode,"},
		{"unknown header", swap("variant.cuh\"", "variant.cuh\"\n#include \"none.cuh\""), `templates/toy/scale/scale.cuh:2: includes "none.cuh", which is not below templates/`},
		{"no entry", swap("extern", "// extern"), "no entry point"},
		{"not extern", swap(`extern "C" __global__`, "__global__"), "templates/toy/scale/scale.cuh:5: a __global__ function that does not read as"},
		{"no ENTRY", swap("ENTRY(scale)", "scale"), "templates/toy/scale/scale.cuh:5: a __global__ function that does not read as"},
		{"no namespace", swap("namespace VARIANT", "namespace mine"), "templates/toy/scale/scale.cuh:5: an entry point outside of namespace VARIANT"},
		{"braces", swap("param::factor", "{{.N.factor}}"), "templates/toy/scale/scale.cuh:4: found {{.N.factor}}, expected param::NAME, where NAME is one of factor mode_even"},
		{"entry name", swap("(scale)", "(Scale)"), "templates/toy/scale/scale.cuh:5: entry Scale, expected a lower-case name"},
		{"reserved entry", swap("(scale)", "(close)"), "a lower-case name that is not hash, close, has or resources"},
		{"entry again", toyBody + toyBody[strings.Index(toyBody, "extern"):], "entry scale again"},
		{"small argument", swap("unsigned long long n", "int n"), "argument n of type int, expected a pointer"},
		{"nameless argument", swap("unsigned long long n", "double"), `argument "double", expected a type and a name`},
		{"dynamic shared", toyBody + "extern __shared__ int x[];\n", "templates/toy/scale/scale.cuh:9: a shared array without a size"},
		{"assembly", toyBody + "void f() { asm(\"\"); }\n", "inline assembly"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := render(t, map[string]string{"toy/scale/scale.cuh": c.text})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v\nwant  %s", err, c.want)
			}
		})
	}
	t.Run("no body", func(t *testing.T) {
		s := toy()
		s.Bodies = nil
		points, err := s.EnumerateFull()
		if err != nil {
			t.Fatal(err)
		}
		fsys := files(nil)
		delete(fsys, "toy/scale/scale.cuh")
		_, err = Render(fsys, s, points)
		if err == nil || !strings.Contains(err.Error(), `m:1: space toy/scale: render scale/toy_scale_factor1_modeeven_int32.cu: there is no body templates/toy/scale/scale.cuh`) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("signature", func(t *testing.T) {
		s := toy()
		odd, err := space.ParseConstraint(`mode == "odd"`, "m:2")
		if err != nil {
			t.Fatal(err)
		}
		even, err := space.ParseConstraint(`mode == "even"`, "m:3")
		if err != nil {
			t.Fatal(err)
		}
		s.Bodies = []space.Body{{Files: []string{"toy/scale/scale.cuh"}, Constraint: odd}, {Files: []string{"toy/scale/even.cuh"}, Constraint: even}}
		points, err := s.EnumerateFull()
		if err != nil {
			t.Fatal(err)
		}
		_, err = Render(files(map[string]string{"toy/scale/even.cuh": swap("unsigned long long n", "double n")}), s, points)
		if err == nil || !strings.Contains(err.Error(), "expected those of the variants before it") {
			t.Errorf("error %v", err)
		}
	})
}

func TestEntries(t *testing.T) {
	text := `#include "cuda/variant.cuh"
namespace VARIANT {
// extern "C" __global__ void ENTRY(old)(int x) {
extern "C" __global__ void __launch_bounds__(256, 2)
ENTRY(one)(const float* __restrict__ a, unsigned long long* b, // why
      unsigned long long n, long long m, double x) {
}
/* __global__ */
extern "C" __global__ void ENTRY(two)() {}
`
	got, err := parseEntries([]Include{{"toy/one.cuh", text}, {"cuda/any.cuh", "asm"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[0].name != "one" || got[0].bound != "256" || got[1].name != "two" || got[1].bound != "" || len(got[1].params) != 0 {
		t.Fatalf("entries %v", got)
	}
	want := []Param{{"a", "buffer", "float32"}, {"b", "buffer", "uint64"}, {"n", "uint64", ""}, {"m", "int64", ""}, {"x", "float64", ""}}
	if !slices.Equal(got[0].params, want) {
		t.Errorf("arguments %v, want %v", got[0].params, want)
	}
}

// FuzzEntries: whatever a body is, reading it returns.
func FuzzEntries(f *testing.F) {
	f.Add("#include \"cuda/variant.cuh\"\nextern \"C\" __global__ void ENTRY(a)(int* f, double x) {}")
	f.Add("extern \"C\" __global__ void __launch_bounds__(1) ENTRY()(,) {")
	f.Fuzz(func(t *testing.T, text string) {
		found, err := parseEntries([]Include{{"toy/any.cuh", text}})
		if err == nil && len(found) == 0 {
			t.Error("neither an entry nor an error")
		}
	})
}
