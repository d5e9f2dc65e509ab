package space

import (
	"fmt"
	"strconv"
	"strings"
)

// A Point is one variant of a family: a value for each parameter of its
// space, in the manifest's order.
type Point struct {
	Family  string   // "csg/splits"
	Params  []string // every parameter, manifest order
	Values  []string // aligned with Params
	Safe    bool     // the safe point of its value type
	Study   bool     // compiled, tested and measured, and not shipped
	Symbols []string // aligned with Params: the prefixes Symbol writes, unique in the space
}

// Get returns the value of a parameter; false when the space has none of
// that name.
func (p Point) Get(name string) (string, bool) {
	for i, q := range p.Params {
		if q == name {
			return p.Values[i], true
		}
	}
	return "", false
}

// Int returns an integer parameter.
func (p Point) Int(name string) (int, error) {
	s, ok := p.Get(name)
	if !ok {
		return 0, fmt.Errorf("%s has no parameter %q", p.Family, name)
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0, fmt.Errorf("%s: parameter %s is %q, expected an integer", p.Family, name, s)
	}
	return n, nil
}

// Label names the point for people: every parameter in manifest order.
func (p Point) Label() string {
	var b strings.Builder
	for i, q := range p.Params {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(q)
		b.WriteByte('=')
		b.WriteString(p.Values[i])
	}
	return b.String()
}

// Symbol names the point for compilers: a C identifier, unique in the space.
func (p Point) Symbol() string {
	var b strings.Builder
	b.WriteString(strings.ReplaceAll(p.Family, "/", "_"))
	prefixes := p.Symbols
	if prefixes == nil {
		prefixes = Prefixes(p.Params)
	}
	for i := range p.Params {
		b.WriteByte('_')
		if short, ok := shortTypes[p.Values[i]]; ok && p.Params[i] == ValueParam {
			b.WriteString(short)
			continue
		}
		b.WriteString(prefixes[i])
		b.WriteString(strings.ReplaceAll(p.Values[i], "-", "m"))
	}
	return b.String()
}

// shortTypes are the value types as symbols write them, without a prefix.
var shortTypes = map[string]string{"int32": "i32", "int64": "i64", "float32": "f32", "float64": "f64"}

// Prefixes returns for each name the shortest prefix that no other name has.
// A name that is itself a prefix of another keeps its whole length.
func Prefixes(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = n
	next:
		for l := 1; l < len(n); l++ {
			for j, m := range names {
				if i != j && strings.HasPrefix(m, n[:l]) {
					continue next
				}
			}
			out[i] = n[:l]
			break
		}
	}
	return out
}
