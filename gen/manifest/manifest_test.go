package manifest

import (
	"math/rand/v2"
	"strings"
	"testing"
)

const good = `// comment
space toy/scale (
	factor 1 2 4   // first
	block  32 64
	mode   plain
	value  int32
	vary   value float64
	vary   mode fancy
	where  "factor * 32 <= block * 2 && (mode != \"odd\" || factor == 1)"
	safe   factor=2 block=64
	point  "factor=1,block=128,mode=odd"
)

space toy/tiles (
	target host
	k 1 2
)
`

func TestParse(t *testing.T) {
	spaces, err := Parse("go.generate", []byte(good))
	if err != nil {
		t.Fatal(err)
	}
	if len(spaces) != 2 {
		t.Fatalf("%d spaces, want 2", len(spaces))
	}
	s := spaces[0]
	if s.Family != "toy/scale" || s.Target != "cuda" || s.Pos != "go.generate:2" {
		t.Errorf("family %q target %q pos %q", s.Family, s.Target, s.Pos)
	}
	if got := strings.Join(s.ParamNames(), " "); got != "factor block mode value" {
		t.Errorf("parameters %q", got)
	}
	if got := strings.Join(s.Param("block").AllValues(), " "); got != "32 64 128" {
		t.Errorf("block has %q, want the point's 128 too", got)
	}
	if got := strings.Join(s.Param("mode").AllValues(), " "); got != "plain fancy odd" {
		t.Errorf("mode has %q", got)
	}
	if s.Safe.Values["factor"] != "2" || len(s.Points) != 1 || len(s.Where) != 1 {
		t.Errorf("safe %v, %d points, %d constraints", s.Safe.Values, len(s.Points), len(s.Where))
	}
	if spaces[1].Target != "host" {
		t.Errorf("second target %q, want host", spaces[1].Target)
	}
}

func TestErrors(t *testing.T) {
	block := func(lines ...string) string {
		return "space toy/scale (\n\t" + strings.Join(lines, "\n\t") + "\n)\n"
	}
	cases := []struct{ name, text, want string }{
		{"unknown top directive", "spase toy/scale (\n)\n", `m:1: unknown directive "spase", expected space; did you mean "space"?`},
		{"module line", "module x\n", `m:1: unknown directive "module", expected space`},
		{"nothing", "", "m:1: found no space, expected blocks such as: space csg/splits ( … )"},
		{"comments alone", "// later\n\n// more\n", "m:1: found no space"},
		{"no block", "space toy/scale\n", "m:1: space toy/scale is empty"},
		{"empty block", "space toy/scale (\n)\n", "m:1: space toy/scale is empty"},
		{"no parameter", block("target cuda"), "m:1: space toy/scale has no parameter"},
		{"family name", "space Toy (\n a 1\n)\n", `m:1: family "Toy", expected problem/kernel`},
		{"family reserved", "space toy/families (\n a 1\n)\n", `m:1: family "toy/families", expected another name`},
		{"family twice", block("a 1") + block("a 1"), "m:4: space toy/scale again, the first is at m:1"},
		{"syntax", "space toy/scale (\n a 1\n", "m:3"},
		{"near directive", block("a 1", "vari a 2"), `m:3: unknown directive "vari", did you mean "vary"?`},
		{"swapped letters", block("a 1", `wehre "a == 1"`), `m:3: unknown directive "wehre", did you mean "where"?`},
		{"swapped letters of safe", block("block 128 256", "saef block=256"), `m:3: unknown directive "saef", did you mean "safe"?`},
		{"quoted parameter", block("a 1", `wheeler "a == 1"`), `m:3: unknown directive "wheeler" before a quoted text`},
		{"safe leaves out", block("a 1 2", "b 3", "c 4 5", "safe a=1"), "m:5: safe names no value of c, expected one of 4 5"},
		{"never so", block("a 1", "b x y", `where "b != \"z\""`), `m:4: "b != \"z\"": b is never z, expected one of x y`},
		{"body never", block("a 1", "b x y", `body one "b == \"z\""`), `m:4: "b == \"z\"": b is never z, expected one of x y`},
		{"body without a file", block("a 1", `body "a == 1"`), `m:3: body names no file, expected such as: body level direct`},
		{"body of a host's kernel", block("a 1", "target host", "body one"), `m:4: body, and the target is host`},
		{"parameter twice", block("a 1", "b 1", "a 2"), "m:4: parameter a again, the first is at m:2"},
		{"word of C++", block("register 1"), `m:2: parameter name "register" is a word of C++`},
		{"parameter name", block("Alpha 1"), `m:2: parameter name "Alpha"`},
		{"keyword", block("range 1"), `m:2: parameter name "range" is a word of Go`},
		{"builtin", block("len 1"), `m:2: parameter name "len" is a word of Go`},
		{"empty list", block("a"), "m:2: parameter a has no value"},
		{"value twice", block("a 1 2 1"), "m:2: value 1 of a again"},
		{"value twice by vary", block("a 1 2", "vary a 2"), "m:3: value 2 of a again"},
		{"bad value", block("a 1.5"), "m:2: value 1.5 of a, expected an integer or a word"},
		{"leading zero", block("a 007"), "m:2: value 007 of a"},
		{"value type", block("value int3"), `m:2: value type int3, expected one of float32 float64 int16 int32 int64; did you mean "int32"?`},
		{"target", block("a 1", "target cude"), `m:3: target "cude", expected cuda or host; did you mean "cuda"?`},
		{"target twice", block("a 1", "target host", "target host"), "m:4: target again, the first is at m:3"},
		{"vary unknown", block("lambda 1", "vary lamda 2"), `m:3: vary lamda: no parameter of that name, expected one with a plain line (its default); did you mean "lambda"?`},
		{"vary nothing", block("a 1", "vary"), "m:3: vary names nothing"},
		{"vary empty", block("a 1", "vary a"), "m:3: parameter a has no value"},
		{"vary twice", block("a 1", "vary a 2", "vary a 3"), "m:4: vary a again"},
		{"where unquoted", block("a 1", "where a"), "m:3: where a, expected one text in quotes"},
		{"where syntax", block("a 1", `where "a =="`), `m:3: where "a ==": expected operand`},
		{"where unknown", block("alpha 1", `where "alpah == 1"`), `m:3: where "alpah == 1": no parameter alpah; did you mean "alpha"?`},
		{"where not bool", block("a 1", `where "a + 1"`), `m:3: where "a + 1" at a=1: not a constant of type bool`},
		{"where not constant", block("a 1", `where "func() bool { return true }()"`), "m:3: where"},
		{"where types", block("a x", `where "a == 1"`), `m:3: where "a == 1" at a=x: `},
		{"where division", block("a 1 0", `where "4 % a == 0"`), `m:3: where "4 % a == 0" at a=0: invalid operation: division by zero`},
		{"study unknown", block("alpha 1", `study "alpah == 1"`), `m:3: study "alpah == 1": no parameter alpah; did you mean "alpha"?`},
		{"study syntax", block("a 1", `study "a =="`), `m:3: study "a ==": expected operand`},
		{"study not bool", block("a 1", `study "a + 1"`), `m:3: study "a + 1" at a=1: not a constant of type bool`},
		{"study of the safe point", block("a 1 2", `study "a == 1"`), `m:3: study "a == 1" holds at the safe point (a=1), expected others`},
		{"needs no architecture", block("a 1", `needs "a == 1"`), `m:3: needs "a == 1", expected an architecture and a constraint`},
		{"needs architecture", block("a 1", `needs sm90 "a == 1"`), `m:3: needs sm90`},
		{"needs unknown", block("alpha 1", `needs sm_90 "alpah == 1"`), `m:3: needs "alpah == 1": no parameter alpah; did you mean "alpha"?`},
		{"needs of the safe point", block("a 1 2", `needs sm_90 "a == 1"`, "safe a=1"), "m:4: the safe point (a=1) needs sm_90, expected one that runs everywhere"},
		{"hold unknown", block("alpha 1", `hold "alpah == 1"`), `m:3: hold "alpah == 1": no parameter alpah; did you mean "alpha"?`},
		{"safe outside", block("a 16 32", "safe a=33"), `m:3: safe: a=33 is outside the space, expected one of 16 32; did you mean "32"?`},
		{"safe unknown", block("alpha 16 32", "safe alhpa=16"), `m:3: safe: no parameter "alhpa"; did you mean "alpha"?`},
		{"safe no pair", block("a 1", "safe a"), `m:3: safe: found "a", expected name=value`},
		{"safe pair twice", block("a 1 2", "safe a=1 a=2"), "m:3: safe: a again"},
		{"safe twice", block("a 1", "safe a=1", "safe a=1"), "m:4: safe again, the first is at m:3"},
		{"safe value type", block("value int32", "safe value=int32"), "m:3: safe names value"},
		{"safe violates", block("a 1 2", `where "a == 2"`, "safe a=1"), `m:4: the safe point (a=1) violates m:3: where "a == 2"`},
		{"default safe violates", block("a 1 2", `where "a == 2"`), "m:1: the safe point (a=1) violates m:3"},
		{"vary violates", block("a 1", "vary a 2", `where "a == 1"`), `m:2: varied a=2 (a=2) violates m:4: where "a == 1"`},
		{"point outside", block("mode plain fancy", `point "mode=plane"`), `m:3: point: mode=plane is outside the space, expected one of plain fancy; did you mean "plain"?`},
		{"point word for a number", block("a 1", `point "a=x"`), "m:3: point: a=x is outside the space"},
		{"point violates", block("a 1 2", `where "a == 1"`, `point "a=2"`), `m:4: the point (a=2) violates m:3`},
		{"point value type", block("value int32", `point "value=int64"`), "m:3: point: value=int64 is outside the space"},
		{"one symbol", block("a x x_by", "b z y_bz"), "m:1: a=x,b=y_bz and a=x_by,b=z have one symbol"},
		{"too many", block("a 0 1 2 3 4 5 6 7 8 9", "b 0 1 2 3 4 5 6 7 8 9", "c 0 1 2 3 4 5 6 7 8 9", "d 0 1 2 3 4 5 6 7 8 9", "e 0 1 2 3 4 5 6 7 8 9"), "m:1: space toy/scale has more than 20000 points"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse("m", []byte(c.text))
			if err == nil {
				t.Fatalf("no error, want %q", c.want)
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %q\nwant  %q", err, c.want)
			}
		})
	}
}

func TestErrorsAreCapped(t *testing.T) {
	var text strings.Builder
	for range 25 {
		text.WriteString("nonsense\n")
	}
	_, err := Parse("m", []byte(text.String()))
	if err == nil || !strings.HasSuffix(err.Error(), "and 15 more errors") {
		t.Errorf("error %v, want ten and a count", err)
	}
}

func TestNearest(t *testing.T) {
	names := []string{"alpha", "beta", "block", "collision"}
	for found, want := range map[string]string{"alhpa": "alpha", "bloc": "block", "colision": "collision", "x": "", "zzzzzz": ""} {
		if got := Nearest(found, names); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", found, got, want)
		}
	}
}

// check holds for every input: Parse returns, and an accepted manifest has
// points, each with its safe ones.
func check(t *testing.T, data []byte) {
	spaces, err := Parse("m", data)
	if err != nil {
		return
	}
	for _, s := range spaces {
		points, err := s.Enumerate()
		if err != nil {
			t.Fatalf("accepted, then %v:\n%s", err, data)
		}
		safe := 0
		for _, p := range points {
			if p.Safe {
				safe++
			}
		}
		if safe != len(s.Types()) {
			t.Fatalf("%d safe points for %d value types:\n%s", safe, len(s.Types()), data)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte("space a/b (\n x 1\n where \"x<<1000 > 0\"\n)\n"))
	f.Add([]byte("space a/b (\n x (1 2)\n)\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 4096 {
			return // products grow with the number of lines
		}
		check(t, data)
	})
}

// TestMutations is the fuzz test with a fixed count and seed.
func TestMutations(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 14))
	words := []string{"space", "(", ")", "\n", "\"", "vary", "where", "safe", "=", ",", "point", "value", "int32", "0", "-1", "//", "[", "factor", "\x00", "é"}
	for range 4000 {
		data := []byte(good)
		for range 1 + random.IntN(4) {
			at := random.IntN(len(data))
			to := min(len(data), at+random.IntN(8))
			word := words[random.IntN(len(words))]
			data = append(data[:at:at], append([]byte(word), data[to:]...)...)
		}
		check(t, data)
	}
}
