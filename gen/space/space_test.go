package space

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func toy(t testing.TB, where ...string) *Space {
	t.Helper()
	s := &Space{
		Family: "toy/scale", Target: CUDA, Pos: "m:1",
		Params: []Param{
			{Name: "alpha", Values: []string{"2", "4", "8"}},
			{Name: "beta", Values: []string{"1", "2"}},
			{Name: "mode", Values: []string{"off"}, Vary: []string{"pair", "warp"}},
			{Name: "value", Values: []string{"int32"}, Vary: []string{"float64"}},
		},
		Safe: Assignment{Values: map[string]string{"alpha": "4"}, Pos: "m:9"},
	}
	for i, expr := range where {
		c, err := ParseConstraint(expr, fmt.Sprintf("m:%d", 20+i))
		if err != nil {
			t.Fatal(err)
		}
		s.Where = append(s.Where, c)
	}
	return s
}

func labels(points []Point) []string {
	var out []string
	for _, p := range points {
		label := p.Label()
		if p.Safe {
			label += " safe"
		}
		out = append(out, label)
	}
	return out
}

func TestEnumerate(t *testing.T) {
	s := toy(t, "alpha % beta == 0", `alpha <= 4 || mode != "off"`)
	s.Points = []Assignment{{Values: map[string]string{"alpha": "8", "mode": "pair"}, Pos: "m:10"}}
	points, err := s.Enumerate()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"alpha=2,beta=1,mode=off,value=int32",
		"alpha=2,beta=2,mode=off,value=int32",
		"alpha=4,beta=1,mode=off,value=int32 safe",
		"alpha=4,beta=1,mode=off,value=float64 safe",
		"alpha=4,beta=1,mode=pair,value=int32",
		"alpha=4,beta=1,mode=warp,value=int32",
		"alpha=4,beta=2,mode=off,value=int32",
		"alpha=8,beta=1,mode=pair,value=int32",
	}
	if got := labels(points); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	full, err := s.EnumerateFull()
	if err != nil {
		t.Fatal(err)
	}
	// alpha 2 and 4: 3 modes; alpha 8: 2 modes; each 2 betas and 2 types.
	if len(full) != (3+3+2)*2*2 {
		t.Errorf("%d points in full, want 32", len(full))
	}
	for _, p := range points {
		if !slices.ContainsFunc(full, func(q Point) bool { return q.Label() == p.Label() && q.Safe == p.Safe }) {
			t.Errorf("%s is not in the full enumeration", p.Label())
		}
	}
}

func TestSymbol(t *testing.T) {
	s := toy(t)
	points, err := s.Enumerate()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := points[0].Symbol(), "toy_scale_alpha2_beta1_modeoff_int32"; got != want {
		t.Errorf("symbol %s, want %s", got, want)
	}
	p := Point{Family: "a/b", Params: []string{"beta", "block", "b"}, Values: []string{"1", "-2", "x"}}
	if got, want := p.Symbol(), "a_b_beta1_blockm2_bx"; got != want {
		t.Errorf("symbol %s, want %s", got, want)
	}
}

func TestPointLooksUp(t *testing.T) {
	p := Point{Family: "a/b", Params: []string{"k", "mode"}, Values: []string{"12", "off"}}
	if n, err := p.Int("k"); n != 12 || err != nil {
		t.Errorf("Int(k) = %d, %v", n, err)
	}
	if _, err := p.Int("mode"); err == nil {
		t.Error("Int(mode) of off: no error")
	}
	if _, err := p.Int("none"); err == nil {
		t.Error("Int of no parameter: no error")
	}
	if v, ok := p.Get("mode"); v != "off" || !ok {
		t.Errorf("Get(mode) = %q, %v", v, ok)
	}
}

// TestPushdown: evaluating constraints as soon as their parameters are bound
// leaves the points that filtering the whole product leaves, in that order.
func TestPushdown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &Space{Family: "a/b", Pos: "m:1"}
		n := rapid.IntRange(1, 5).Draw(t, "parameters")
		var names []string
		for i := range n {
			p := Param{Name: string(rune('p' + i))}
			for v := range rapid.IntRange(1, 4).Draw(t, "values") {
				p.Values = append(p.Values, strconv.Itoa(v+1))
			}
			s.Params = append(s.Params, p)
			names = append(names, p.Name)
		}
		for range rapid.IntRange(0, 4).Draw(t, "constraints") {
			name := rapid.SampledFrom(names)
			expr := fmt.Sprintf("%s %s %s %s %d", name.Draw(t, "left"),
				rapid.SampledFrom([]string{"+", "*", "-", "%"}).Draw(t, "operator"), name.Draw(t, "right"),
				rapid.SampledFrom([]string{"<=", "!=", ">"}).Draw(t, "comparison"), rapid.IntRange(0, 9).Draw(t, "constant"))
			if rapid.Bool().Draw(t, "or") {
				expr += " || " + name.Draw(t, "third") + " == 1"
			}
			c, err := ParseConstraint(expr, "m:2")
			if err != nil {
				t.Fatal(err)
			}
			s.Where = append(s.Where, c)
		}
		var want, got []string
		var fill func(values []string)
		fill = func(values []string) {
			if len(values) == n {
				for _, c := range s.Where {
					ok, err := c.Holds(s, values)
					if err != nil {
						t.Fatal(err)
					}
					if !ok {
						return
					}
				}
				want = append(want, s.newPoint(values).Label())
				return
			}
			for _, v := range s.Params[len(values)].Values {
				fill(append(slices.Clone(values), v))
			}
		}
		fill(nil)
		points, err := s.EnumerateFull()
		if err != nil {
			t.Fatal(err)
		}
		symbols := map[string]bool{}
		for _, p := range points {
			got = append(got, p.Label())
			symbols[p.Symbol()] = true
		}
		if !slices.Equal(got, want) {
			t.Fatalf("pushed down\n%v\nfiltered\n%v", got, want)
		}
		if len(symbols) != len(points) {
			t.Fatalf("%d symbols for %d points", len(symbols), len(points))
		}
	})
}

// TestProductIsBounded: a product of which hardly a point is left ends with a
// message, whether beginnings are many or values of a constraint.
func TestProductIsBounded(t *testing.T) {
	for expr, want := range map[string]string{
		"j == 11":                     "m:1: space a/b has more than 1000 combinations of values to try, expected",
		"a+b+c+d+e+f+g+h+i+j == 1000": `m:1: space a/b has more than 100 combinations of values to try on where "a+b+c`,
	} {
		s := &Space{Family: "a/b", Pos: "m:1"}
		var axes [][]string
		for i := range 10 {
			axes = append(axes, []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10"})
			s.Params = append(s.Params, Param{Name: string(rune('a' + i)), Values: axes[i]})
		}
		c, err := ParseConstraint(expr, "m:2")
		if err != nil {
			t.Fatal(err)
		}
		s.Where = []*Constraint{c}
		err = s.productWithin(axes, 1000, 100, func([]string) error { return nil })
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("where %q: error %v, want %q", expr, err, want)
		}
	}
}

func TestConstraintErrors(t *testing.T) {
	for _, expr := range []string{"", "a ==", "func() bool { return true }()", "[]int{1}"} {
		if _, err := ParseConstraint(expr, "m:7"); err == nil || !strings.HasPrefix(err.Error(), "m:7: ") {
			t.Errorf("ParseConstraint(%q): error %v, want one at m:7", expr, err)
		}
	}
	s := toy(t)
	for expr, want := range map[string]string{
		"alpha":            "not a constant of type bool",
		"alpha == mode":    "mismatched types",
		"1 % (beta-1) > 0": "division by zero",
		"missing == 1":     "undefined: missing",
	} {
		c, err := ParseConstraint(expr, "m:7")
		if err != nil {
			t.Fatal(err)
		}
		s.Where = []*Constraint{c}
		if _, err := s.Enumerate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", expr, err, want)
		}
	}
}

// TestStudy: what a study holds at is marked, and true marks the safe point too.
func TestStudy(t *testing.T) {
	for _, c := range []struct {
		expr string
		want string
	}{{"a == 2", "a=2"}, {"a > 1", "a=2 a=3"}, {"true", "a=1 a=2 a=3"}, {"false", ""}} {
		study, err := ParseStudy(c.expr, "m:3")
		if err != nil {
			t.Fatal(err)
		}
		s := &Space{Family: "toy/scale", Pos: "m:1", Params: []Param{{Name: "a", Values: []string{"1", "2"}, Vary: []string{"3"}}}, Study: []*Constraint{study}}
		points, err := s.Enumerate()
		if err != nil {
			t.Fatal(err)
		}
		var marked []string
		for _, p := range points {
			if p.Study {
				marked = append(marked, p.Label())
			}
		}
		if got := strings.Join(marked, " "); got != c.want {
			t.Errorf("study %q marks %q, want %q", c.expr, got, c.want)
		}
	}
}
