package space

import (
	"fmt"
	"strconv"
	"strings"
)

// A Point is one variant of a family: a value for each parameter of its
// space, in the manifest's order.
type Point struct {
	Family string   // "csg/splits"
	Params []string // every parameter, manifest order
	Values []string // aligned with Params
	Safe   bool     // the safe point of its value type
	Study  bool     // compiled, tested and measured; no shipped binary needs it
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

// Symbol names the point for compilers: a C identifier, unique in the space, with every
// parameter and its value in full, as in csg_splits_lambda4_alpha32; the value type, whose
// parameter is known, stands alone: int32.
func (p Point) Symbol() string {
	var b strings.Builder
	b.WriteString(strings.ReplaceAll(p.Family, "/", "_"))
	for i, name := range p.Params {
		b.WriteByte('_')
		if name != ValueParam {
			b.WriteString(name)
		}
		b.WriteString(strings.ReplaceAll(p.Values[i], "-", "m"))
	}
	return b.String()
}
