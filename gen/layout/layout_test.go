package layout

import (
	"strings"
	"testing"
)

func read(text string) (*Layout, error) {
	return Read(Source{text, "x.cu"})
}

func TestRead(t *testing.T) {
	l, err := read(`
constexpr u32 OTHER = 7;  // not shared
// How far a solve is.
// Go: Stage
enum Stage { START, GROW_ALONE = 1 << (2 + 1), DONE, };
// Go: Zeros
constexpr u32 LIST = 8, WIDE = 2 * LIST;  // kept
  // Go: Far
constexpr u64 FAR = 0xffffffffffffffffull;
/* Go: Nothing, as this mark is no line */
// Go: Entry
struct Entry {
    i64 key;  // of a row
    int row;
};
// Go: Control
struct Control {
    bool on;
    alignas(8) u32 joined; short few[3];
    const T *costs, *more;  // where they are
    Entry last[2][DONE];
    unsigned long long sum;
    double share; float part;
    unsigned
      tail;
};
`)
	if err != nil {
		t.Fatal(err)
	}
	var constants []string
	for _, k := range l.Constants {
		constants = append(constants, k.Name+"="+k.Value)
	}
	if got, want := strings.Join(constants, " "), "StageStart=0 StageGrowAlone=8 StageDone=9 ZerosList=8 ZerosWide=16 Far=18446744073709551615"; got != want {
		t.Errorf("constants %s\nwant      %s", got, want)
	}
	if got := l.Constants[0].Doc; got != "How far a solve is." {
		t.Errorf("comment %q", got)
	}
	var shapes []string
	for _, s := range l.Structs {
		shapes = append(shapes, s.Name+s.memoryShape())
	}
	want := "Entry{Key []int64 at 0, Row []int32 at 8, 16 bytes} " +
		"Control{On []bool at 0, Joined []uint32 at 8, Few [3]int16 at 12, Costs []uint64 at 24, More []uint64 at 32, " +
		"Last [2 9]Entry at 40, Sum []uint64 at 328, Share []float64 at 336, Part []float32 at 344, Tail []uint32 at 348, 352 bytes}"
	if got := strings.Join(shapes, " "); got != want {
		t.Errorf("structs %s\nwant    %s", got, want)
	}
	if f := l.Structs[1].Fields; f[4].Doc != "where they are" || !f[4].Joined || f[3].Joined {
		t.Errorf("fields %+v", f[3:5])
	}
	text, err := Write("toy/scale", l)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"ScaleStageGrowAlone = 8\n", "const ScaleFar = 18446744073709551615\n", "// Enum Stage of the kernels of toy/scale.\n//\n// How far a solve is.\n",
		"Costs, More uint64 // where they are\n", "[2][9]ScaleEntry\n", "[unsafe.Sizeof(ScaleControl{})-352]", "[unsafe.Offsetof(ScaleControl{}.Joined)-8]",
		"const ScaleControlSize = 352\n", "func (x *ScaleControl) Bytes() []byte {\n",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"no name", "// Go:\nenum A { X };", `x.cu:1: mark "", expected // Go: and a name`},
		{"small name", "// Go: stage\nenum A { X };", `x.cu:1: mark "stage"`},
		{"mark again", "// Go: A\nenum A { X };\n// Go: A\nenum B { Y };", "x.cu:3: mark A again, the first is at x.cu:1"},
		{"nothing below", "// Go: A\nvoid f() {", "x.cu:1: mark A: no declaration ends below it"},
		{"a function", "// Go: A\nint f();", `x.cu:2: mark A: found "int f();", expected enum`},
		{"enum of a type", "// Go: A\nenum A : u8 { X };", "x.cu:2: mark A: found"},
		{"struct with a base", "// Go: A\nstruct A : B { int x; };", "x.cu:2: mark A: found"},
		{"template", "// Go: A\ntemplate <class X> struct A { X x; };", "x.cu:2: mark A: found"},
		{"enumerator again", "// Go: A\nenum A { X, X };", "x.cu:2: mark A: X again"},
		{"enumerator in two enums", "// Go: A\nenum A { X };\n// Go: B\nenum B { X };", "x.cu:4: mark B: X again"},
		{"one name in Go", "// Go: A\nenum A { GO_ON, GoOn };", "x.cu:2: mark A: two declarations become AGoOn"},
		{"no enumerator", "// Go: A\nenum A { };", "found \"\", expected an enumerator"},
		{"unknown value", "constexpr u32 N = 4;\n// Go: A\nenum A { X = N };", "x.cu:3: mark A: X: value \"N\": N is unknown"},
		{"call", "// Go: A\nconstexpr u32 A = sizeof(int);", "x.cu:2: mark A: A: value"},
		{"loose precedence", "// Go: A\nconstexpr u32 A = 1 << 2 + 1;", "expected parentheses"},
		{"complement", "// Go: A\nconstexpr u64 A = ~0ull;", "mark A: A: value"},
		{"too large", "// Go: A\nconstexpr u32 A = 4294967296;", "A = 4294967296 does not fit u32"},
		{"negative", "// Go: A\nconstexpr u32 A = -1;", "A = -1 does not fit u32"},
		{"no integer", "// Go: A\nconstexpr float A = 1;", "constexpr of type float, expected an integer"},
		{"division by zero", "// Go: A\nconstexpr u32 A = 1 / 0;", "division by zero"},
		{"struct again", "// Go: A\nstruct A { int x; };\n// Go: B\nstruct A { int x; };", "x.cu:4: mark B: struct A again"},
		{"member again", "// Go: A\nstruct A {\n    int x;\n    u32 x;\n};", "x.cu:4: mark A: two members become X"},
		{"unknown type", "// Go: A\nstruct A {\n    int x;\n    Thing y;\n};", "x.cu:4: mark A: type Thing of y is unknown"},
		{"struct without a mark", "struct B { int x; };\n// Go: A\nstruct A { B b; };", "type B of b is unknown"},
		{"function", "// Go: A\nstruct A {\n    int x;\n    int f() { return x; }\n};", "x.cu:4: mark A: member 2 is"},
		{"bit field", "// Go: A\nstruct A { u32 x : 3; };", "bit fields"},
		{"initial value", "// Go: A\nstruct A { u32 x = 3; };", "initial values"},
		{"union", "// Go: A\nstruct A { union { u32 x; int y; }; };", "types within"},
		{"reference", "// Go: A\nstruct A { u32& x; };", "references"},
		{"empty", "// Go: A\nstruct A { };", "has no member"},
		{"alignment", "// Go: A\nstruct A { alignas(3) u32 x; };", "alignas(3), expected a power of two"},
		{"no length", "// Go: A\nstruct A { u32 x[0]; };", "x has the length 0, expected 1 to"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, err := read(c.text)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("found %+v, error %v\nwant %s", l, err, c.want)
			}
		})
	}
}

func TestMerge(t *testing.T) {
	one := "// Go: A\nenum A { X, Y };\n// Go: S\nstruct S { int x; };"
	for _, c := range []struct{ text, want string }{
		{one, ""},
		{"// better\n" + one + "\n// Go: B\nenum B { Z };", ""},
		{"// Go: A\nenum A { Y, X };", "x.cu:2: AY is 0 by enum A, expected 1"},
		{"// Go: S\nstruct S { u32 x; };", "x.cu:2: struct S is {X []uint32 at 0, 4 bytes}, expected {X []int32"},
	} {
		all, err := read(one)
		if err != nil {
			t.Fatal(err)
		}
		variant, err := read(c.text)
		if err != nil {
			t.Fatal(err)
		}
		if err := all.Merge(variant); (err == nil) != (c.want == "") || err != nil && !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.text, err, c.want)
		}
	}
}
