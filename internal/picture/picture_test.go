package picture

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// drawn is a drawing as SVG, which has to be XML.
func drawn(t *testing.T, d *Drawing, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := d.WriteSVG(&b); err != nil {
		t.Fatal(err)
	}
	for x := xml.NewDecoder(strings.NewReader(b.String())); ; {
		switch _, err := x.Token(); {
		case err == io.EOF:
			return b.String()
		case err != nil:
			t.Fatalf("%v\n%s", err, &b)
		}
	}
}

// count holds how often marks must occur in a drawing.
func count(t *testing.T, svg string, want map[string]int) {
	t.Helper()
	for mark, n := range want {
		if found := strings.Count(svg, mark); found != n {
			t.Errorf("found %d of %q, want %d\n%s", found, mark, n, svg)
		}
	}
}

func TestStructure(t *testing.T) {
	d, err := Structure("a & b", []Group{{[]string{"ann", "ben"}, "30"}, {[]string{"<eva>"}, "41"}})
	count(t, drawn(t, d, err), map[string]int{"<circle": 5, "&lt;eva&gt;</text>": 1, "a &amp; b</text>": 1, ">30</text>": 1})
	if _, err := Structure("", []Group{{make([]string, 3000), ""}}); !errors.Is(err, ErrTooMany) {
		t.Error(err)
	}
}

func TestGrid(t *testing.T) {
	d, err := Grid("costs", []string{"r"}, []string{"a", "b"}, []Cell{{0, 0, "7", false}, {0, 1, "2", true}})
	count(t, drawn(t, d, err), map[string]int{"<rect": 3, `class="faint"`: 1, `class="light">2`: 1, `fill="` + palette[0]: 1})
}

func TestMatching(t *testing.T) {
	d, err := Matching("points", []Point{{0, 0}, {1, 0}}, []Point{{0, 1}, {1, 1}, {5, 5}}, [][2]int{{0, 1}, {1, 0}})
	count(t, drawn(t, d, err), map[string]int{"<line": 2, "<circle": 5})
	d, err = Matching("one place", []Point{{3, 3}}, []Point{{3, 3}}, [][2]int{{0, 0}})
	if svg := drawn(t, d, err); strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
		t.Error(svg)
	}
	d, err = Sides("pairs", []string{"x"}, []string{"y", "z"}, [][2]int{{0, 1}})
	count(t, drawn(t, d, err), map[string]int{"<line": 1, "<circle": 3, "</text>": 4})
}

func TestCut(t *testing.T) {
	d, err := Cut("triangle", []string{"0", "1", "2"}, []bool{false, true, true}, [][2]int{{0, 1}, {1, 2}, {0, 2}})
	svg := drawn(t, d, err)
	count(t, svg, map[string]int{"<line": 3, "<circle": 3, `stroke="` + palette[2]: 2})
	seconds := func(s float64) string { return fmt.Sprint(s, " s") }
	both := drawn(t, Stack(d, Progress("search", []Step{{1e-3, 5}, {2e-3, 7}}, 1, seconds)), nil)
	count(t, both, map[string]int{"<circle": 3, ">1 s</text>": 1, "search</text>": 1})
}

func TestText(t *testing.T) {
	d, err := Grid("costs", []string{"ann", "bob"}, []string{"dig", "mow"}, []Cell{{0, 0, "7", false}, {0, 1, "2", true}, {1, 0, "1", true}, {1, 1, "9", false}})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := d.WriteText(&b, 60); err != nil {
		t.Fatal(err)
	}
	for _, words := range []string{"costs", "dig", "mow", "ann", "bob", "█2█", "█1█", "7", "9"} {
		if !strings.Contains(b.String(), words) {
			t.Errorf("no %q in\n%s", words, &b)
		}
	}
	d, err = Cut("cut", []string{"a", "b"}, []bool{false, true}, [][2]int{{0, 1}})
	b.Reset()
	if err = errors.Join(err, d.WriteText(&b, 60)); err != nil {
		t.Fatal(err)
	}
	if text := b.String(); !strings.Contains(text, "a●") || !strings.Contains(text, "○b") || !strings.ContainsFunc(text, func(r rune) bool { return r > 0x2800 && r < 0x2900 }) {
		t.Errorf("no line between a and b:\n%s", text)
	}
	for _, line := range strings.Split(b.String(), "\n") {
		if n := len([]rune(line)); n > 60 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}
