package cuda

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"math/bits"
	"path"
	"slices"
	"strings"
	"text/template"

	"coalesce/gen/space"
)

// Data is a point as templates see it.
type Data struct {
	Family string
	Label  string
	Symbol string
	Type   string            // C type of the parameter value; "" without one
	Value  string            // "int32"
	S      map[string]string // every parameter
	N      map[string]int    // those whose values are all integers

	space *space.Space
}

// Is reports whether a parameter has a value. A parameter or value that the
// space does not have is an error, so that a renamed value is noticed.
func (d Data) Is(param, value string) (bool, error) {
	p := d.space.Param(param)
	if p == nil {
		return false, fmt.Errorf("%s has no parameter %q, expected one of %s", d.Family, param, strings.Join(d.space.Names(), " "))
	}
	if !slices.Contains(p.All(), value) {
		return false, fmt.Errorf("%s: %s is never %q, expected one of %s", d.Family, param, value, strings.Join(p.All(), " "))
	}
	return d.S[param] == value, nil
}

// functions of the templates; arithmetic that is more than this is decided in
// Go or in C.
var functions = template.FuncMap{
	"log2":  log2,
	"until": until,
	"add":   func(a, b int) int { return a + b },
	"sub":   func(a, b int) int { return a - b },
	"mul":   func(a, b int) int { return a * b },
	"div":   div,

	"disjoint": disjoint,
}

// log2 of a power of two.
func log2(n int) (int, error) {
	if n <= 0 || n&(n-1) != 0 {
		return 0, fmt.Errorf("log2 of %d, expected a power of two", n)
	}
	return bits.TrailingZeros(uint(n)), nil
}

// until is 0, 1 … n-1.
func until(n int) ([]int, error) {
	if n < 0 || n > 1<<16 {
		return nil, fmt.Errorf("until %d, expected 0 to 65536", n)
	}
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out, nil
}

// div is exact integer division, rounding towards zero.
func div(a, b int) (int, error) {
	if b == 0 {
		return 0, fmt.Errorf("division of %d by zero", a)
	}
	return a / b, nil
}

// A set is a family's parsed templates.
type set struct {
	all   *template.Template
	root  string // "csg/splits/splits.cu.tmpl"
	space *space.Space
}

// sources lists the family's templates: those of its own folder, and those that stand
// beside it for several families of the problem. The first is the root, whose text a
// variant is: <problem>/<kernel>/<kernel>.cu.tmpl or, of a family without a folder,
// <problem>/<kernel>.cu.tmpl.
func sources(fsys fs.FS, s *space.Space) ([]string, error) {
	own, alone := path.Join(s.Family, s.Kernel()+".cu.tmpl"), s.Family+".cu.tmpl"
	var names []string
	for _, pattern := range []string{s.Problem() + "/*.tmpl", s.Family + "/*.tmpl"} {
		found, err := fs.Glob(fsys, pattern)
		if err != nil {
			return nil, fmt.Errorf("list templates of %s: %w", s.Family, err)
		}
		names = append(names, found...)
	}
	has := func(name string) bool { return slices.Contains(names, name) }
	root := own
	switch {
	case has(own) && has(alone):
		return nil, fmt.Errorf("%s: space %s: found the templates %s and %s, expected one of them", s.Pos, s.Family, own, alone)
	case has(alone):
		root = alone
	case !has(own):
		return nil, fmt.Errorf("%s: space %s: no template templates/%s, nor templates/%s", s.Pos, s.Family, own, alone)
	}
	names = slices.DeleteFunc(names, func(name string) bool { return name == root })
	return append([]string{root}, names...), nil
}

// parse reads the family's templates, each named by its path.
func parse(fsys fs.FS, s *space.Space) (*set, error) {
	names, err := sources(fsys, s)
	if err != nil {
		return nil, err
	}
	all := template.New("").Funcs(functions).Option("missingkey=error")
	for _, name := range names {
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, fmt.Errorf("read templates/%s: %w", name, err)
		}
		if _, err := all.New(name).Parse(string(text)); err != nil {
			return nil, fmt.Errorf("templates/%s: %w", path.Dir(name), err)
		}
	}
	return &set{all, names[0], s}, nil
}

func (t *set) render(p space.Point) (string, error) {
	d := Data{
		Family: p.Family, Label: p.Label(), Symbol: p.Symbol(),
		S: map[string]string{}, N: map[string]int{}, space: t.space,
	}
	d.Value, _ = p.Get(space.ValueParam)
	d.Type = space.ValueTypes[d.Value]
	for i, param := range t.space.Params {
		d.S[param.Name] = p.Values[i]
		if param.Numeric() {
			n, err := p.Int(param.Name)
			if err != nil {
				return "", err
			}
			d.N[param.Name] = n
		}
	}
	var b bytes.Buffer
	if err := t.all.ExecuteTemplate(&b, t.root, d); err != nil {
		return "", fmt.Errorf("templates: render %s %s: %w", p.Family, d.Label, err)
	}
	return b.String(), nil
}

// Locate says where a line of a variant's text, counted from 1, comes from: the place in
// the family's templates that has the same line, the first for the first of several, or
// the variant's file where it has more or fewer of them than one template.
func Locate(fsys fs.FS, s *space.Space, v Variant, line int) string {
	rendered := fmt.Sprintf("%s:%d", path.Join(s.Problem(), v.File), line)
	names, err := sources(fsys, s)
	lines := strings.Split(v.Text, "\n")
	if err != nil || line < 1 || line > len(lines) {
		return rendered
	}
	equal := func(text string) (at []int) {
		for i, other := range strings.Split(text, "\n") {
			if strings.TrimSpace(other) == strings.TrimSpace(lines[line-1]) {
				at = append(at, i+1)
			}
		}
		return at
	}
	same := equal(v.Text)
	found := ""
	for _, name := range names {
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return rendered
		}
		at := equal(string(text))
		if len(at) == 0 {
			continue
		}
		if found != "" || len(at) != len(same) {
			return rendered
		}
		found = fmt.Sprintf("templates/%s:%d", name, at[slices.Index(same, line)])
	}
	return cmp.Or(found, rendered)
}
