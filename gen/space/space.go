// Package space holds a family's parameters: their values, constraints and safe
// point, and the enumeration of the points that the constraints leave. It is
// pure: it reads no file and knows no CUDA.
package space

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Targets of a space.
const (
	CUDA = "cuda"
	Host = "host"
)

// ValueParam is the parameter that names the value type by convention.
const ValueParam = "value"

// ValueTypes are the value types a ValueParam may have, with the C type of
// each.
var ValueTypes = map[string]string{
	"int16":   "short",
	"int32":   "int",
	"int64":   "long long",
	"float32": "float",
	"float64": "double",
}

// A Param is one parameter of a space.
type Param struct {
	Name   string
	Values []string // of the plain line: the product of these is committed
	Vary   []string // tried one at a time round the safe point
	Extra  []string // values that only extra points have
	Pos    string   // "go.generate:4" of the plain line
}

// AllValues returns every value: plain, varied, extra.
func (p Param) AllValues() []string { return slices.Concat(p.Values, p.Vary, p.Extra) }

// Numeric reports whether every value is an integer; constraints and
// kernels see such a parameter as a number.
func (p Param) Numeric() bool {
	for _, v := range p.AllValues() {
		if _, err := strconv.Atoi(v); err != nil {
			return false
		}
	}
	return true
}

// An Assignment gives some parameters a value.
type Assignment struct {
	Values map[string]string
	Pos    string // file:line
}

// A Space is one block of go.generate.
type Space struct {
	Family string // "csg/splits"
	Target string // CUDA or Host
	Params []Param
	Where  []*Constraint
	Study  []*Constraint // no shipped binary needs points that satisfy one
	Safe   Assignment    // parameters not named take the first plain value
	Points []Assignment  // extra points; parameters not named take the safe value
	Needs  []ArchNeed    // features that older architectures lack
	Hold   []*Constraint // points that a binary for several architectures holds too
	Bodies []Body        // the files that variants include, in this order
	Pos    string        // file:line of the block
}

// A Body is files of kernels, and the constraint of the points that consist of them; nil: all.
type Body struct {
	Files []string // "csg/tiles/level.cuh", below templates/
	*Constraint
}

// Files lists the bodies of a point.
func (s *Space) Files(p Point) ([]string, error) {
	if len(s.Bodies) == 0 {
		return []string{s.Family + "/" + s.Kernel() + ".cuh"}, nil
	}
	var files []string
	for _, b := range s.Bodies {
		if b.Constraint != nil {
			ok, err := b.Holds(s, p.Values)
			if err != nil {
				return nil, err
			}
			if !ok {
				continue
			}
		}
		files = append(files, b.Files...)
	}
	return files, nil
}

// An ArchNeed says that points which satisfy a constraint use a feature that
// architectures before Arch, such as 90 for sm_90, lack.
type ArchNeed struct {
	Arch int
	*Constraint
}

// LeastArch is the number of the least architecture that a point is compiled for; 0: any.
func (s *Space) LeastArch(p Point) (int, error) {
	least := 0
	for _, n := range s.Needs {
		ok, err := n.Holds(s, p.Values)
		if err != nil {
			return 0, err
		}
		if ok {
			least = max(least, n.Arch)
		}
	}
	return least, nil
}

// AlwaysBundled reports whether a binary for several architectures holds a point even where
// nothing was tuned: the safe points, and those that lines of hold name.
func (s *Space) AlwaysBundled(p Point) (bool, error) {
	for _, c := range s.Hold {
		if ok, err := c.Holds(s, p.Values); err != nil || ok {
			return ok, err
		}
	}
	return p.Safe, nil
}

// Param finds a parameter by name; nil when the space has none of that name.
func (s *Space) Param(name string) *Param {
	for i := range s.Params {
		if s.Params[i].Name == name {
			return &s.Params[i]
		}
	}
	return nil
}

// ParamNames returns the parameters' names in manifest order.
func (s *Space) ParamNames() []string {
	names := make([]string, len(s.Params))
	for i, p := range s.Params {
		names[i] = p.Name
	}
	return names
}

// Problem and Kernel are the two halves of the family's name.
func (s *Space) Problem() string { p, _, _ := strings.Cut(s.Family, "/"); return p }
func (s *Space) Kernel() string  { _, k, _ := strings.Cut(s.Family, "/"); return k }

// Types returns the value types of the space; one empty string when it has no
// ValueParam.
func (s *Space) Types() []string {
	if p := s.Param(ValueParam); p != nil {
		return slices.Concat(p.Values, p.Vary)
	}
	return []string{""}
}

// A PointError says which line of the manifest names a point that cannot be.
type PointError struct {
	Pos, Msg string
}

func (e *PointError) Error() string { return e.Pos + ": " + e.Msg }

// safeValues returns the safe point of a value type, aligned with Params.
func (s *Space) safeValues(valueType string) []string {
	values := make([]string, len(s.Params))
	for i, p := range s.Params {
		v, named := s.Safe.Values[p.Name]
		switch {
		case p.Name == ValueParam && valueType != "":
			v = valueType
		case !named:
			v = p.Values[0]
		}
		values[i] = v
	}
	return values
}

// Enumerate lists the committed variants: the product of the plain lines, as
// far as it satisfies every constraint, the safe point of every value type,
// each varied value alone at the safe point, and the extra points; without
// duplicates, ordered by the values' places in the manifest.
func (s *Space) Enumerate() ([]Point, error) {
	set := &pointSet{space: s, limit: maxCommitted, seen: map[string]bool{}}
	plain := make([][]string, len(s.Params))
	for i, p := range s.Params {
		plain[i] = p.Values
	}
	err := s.product(plain, set.add)
	if err != nil {
		return nil, err
	}
	for _, t := range s.Types() {
		values := s.safeValues(t)
		if err := s.check(values, s.Safe.Pos, "the safe point"); err != nil {
			return nil, err
		}
		if err := set.add(values); err != nil {
			return nil, err
		}
	}
	first := s.Types()[0]
	for i, p := range s.Params {
		if p.Name == ValueParam {
			continue // the safe points above
		}
		for _, v := range p.Vary {
			values := s.safeValues(first)
			values[i] = v
			if err := s.check(values, p.Pos, fmt.Sprintf("varied %s=%s", p.Name, v)); err != nil {
				return nil, err
			}
			if err := set.add(values); err != nil {
				return nil, err
			}
		}
	}
	for _, a := range s.Points {
		values := s.safeValues(first)
		for i, p := range s.Params {
			if v, ok := a.Values[p.Name]; ok {
				values[i] = v
			}
		}
		if err := s.check(values, a.Pos, "the point"); err != nil {
			return nil, err
		}
		if err := set.add(values); err != nil {
			return nil, err
		}
	}
	return set.points()
}

// EnumerateFull lists the product of all values, plain, varied and extra, that
// satisfies every constraint of the space and those in also.
func (s *Space) EnumerateFull(also ...*Constraint) ([]Point, error) {
	for _, c := range also {
		for _, name := range c.Names {
			if s.Param(name) == nil {
				return nil, fmt.Errorf("%s: where %q: %s has no parameter %s, expected of %s", c.Pos, c.Expr, s.Family, name, strings.Join(s.ParamNames(), " "))
			}
		}
	}
	narrow := *s
	narrow.Where = slices.Concat(s.Where, also)
	set := &pointSet{space: s, limit: maxFull, seen: map[string]bool{}}
	all := make([][]string, len(s.Params))
	for i, p := range s.Params {
		all[i] = p.AllValues()
	}
	if err := narrow.product(all, set.add); err != nil {
		return nil, err
	}
	return set.points()
}

// check tells which constraint the values violate; nil when none.
func (s *Space) check(values []string, pos, what string) error {
	for _, c := range s.Where {
		ok, err := c.Holds(s, values)
		if err != nil {
			return err
		}
		if !ok {
			return &PointError{pos, fmt.Sprintf("%s (%s) violates %s: where %q", what, s.newPoint(values).Label(), c.Pos, c.Expr)}
		}
	}
	return nil
}

// Limits of the work for a product: beginnings of points to look at, and values of a
// constraint to find, each of which takes a thousand times longer.
const (
	maxVisited = 50_000_000
	maxFound   = 1_000_000
)

// product calls each for every combination of axes that satisfies the
// constraints. A constraint is evaluated as soon as the last parameter it
// names is bound, so that a refused prefix is not extended.
func (s *Space) product(axes [][]string, each func([]string) error) error {
	return s.productWithin(axes, maxVisited, maxFound, each)
}

func (s *Space) productWithin(axes [][]string, visits, found int, each func([]string) error) error {
	at := make([][]*Constraint, len(axes)+1)
	for _, c := range s.Where {
		last := 0
		for _, i := range c.paramIndices(s) {
			last = max(last, i+1)
		}
		at[last] = append(at[last], c)
	}
	values := make([]string, len(axes))
	visited := 0
	tooMany := func(n int, where string) error {
		return &PointError{s.Pos, fmt.Sprintf("space %s has more than %d combinations of values to try%s, expected fewer values, or constraints on fewer parameters", s.Family, n, where)}
	}
	var walk func(depth int) error
	walk = func(depth int) error {
		if visited++; visited > visits {
			return tooMany(visits, "")
		}
		for _, c := range at[depth] {
			ok, err := c.Holds(s, values)
			if len(c.memo) > found {
				return tooMany(found, fmt.Sprintf(" on where %q", c.Expr))
			}
			if err != nil || !ok {
				return err
			}
		}
		if depth == len(axes) {
			return each(slices.Clone(values))
		}
		for _, v := range axes[depth] {
			values[depth] = v
			if err := walk(depth + 1); err != nil {
				return err
			}
		}
		return nil
	}
	return walk(0)
}

func (s *Space) newPoint(values []string) Point {
	names := s.ParamNames()
	p := Point{Family: s.Family, Params: names, Values: values}
	t, _ := p.Get(ValueParam)
	p.Safe = slices.Equal(values, s.safeValues(t))
	return p
}

// studied reports whether a point is only for studies: what was published, and what shows
// the worth of a part by leaving it out. A family is shipped with its safe points, or it
// is all for studies.
func (s *Space) studied(p Point) (bool, error) {
	for _, c := range s.Study {
		ok, err := c.Holds(s, p.Values)
		if err != nil {
			return false, err
		}
		if ok && p.Safe && len(c.Names) > 0 {
			return false, &PointError{c.Pos, fmt.Sprintf("study %q holds at the safe point (%s), expected others, or true for the whole family", c.Expr, p.Label())}
		}
		if ok {
			return true, nil
		}
	}
	return false, nil
}

// Limits of the points of an enumeration: the committed ones have to be compiled, those
// of the full product only to be listed.
const (
	maxCommitted = 20_000
	maxFull      = 2_000_000
)

// A pointSet gathers points, each once, up to a limit.
type pointSet struct {
	space *Space
	limit int
	seen  map[string]bool
	list  [][]string
}

func (t *pointSet) add(values []string) error {
	key := strings.Join(values, ",")
	if t.seen[key] {
		return nil
	}
	if len(t.list) == t.limit {
		return &PointError{t.space.Pos, fmt.Sprintf("space %s has more than %d points, expected fewer values, or a constraint", t.space.Family, t.limit)}
	}
	t.seen[key] = true
	t.list = append(t.list, values)
	return nil
}

// points orders the set and checks that symbols are unique.
func (t *pointSet) points() ([]Point, error) {
	rank := make([]map[string]int, len(t.space.Params))
	for i, p := range t.space.Params {
		rank[i] = map[string]int{}
		for j, v := range p.AllValues() {
			rank[i][v] = j
		}
	}
	slices.SortFunc(t.list, func(a, b []string) int {
		for i := range a {
			if d := rank[i][a[i]] - rank[i][b[i]]; d != 0 {
				return d
			}
		}
		return 0
	})
	names := t.space.ParamNames()
	symbols := map[string]string{}
	points := make([]Point, 0, len(t.list))
	for _, values := range t.list {
		kind, _ := Point{Params: names, Values: values}.Get(ValueParam)
		p := Point{
			Family: t.space.Family, Params: names, Values: values,
			Safe: slices.Equal(values, t.space.safeValues(kind)),
		}
		var err error
		if p.Study, err = t.space.studied(p); err != nil {
			return nil, err
		}
		symbol := p.Symbol()
		if other, dup := symbols[symbol]; dup {
			return nil, &PointError{t.space.Pos, fmt.Sprintf("%s and %s have one symbol, %s; rename a value", other, p.Label(), symbol)}
		}
		symbols[symbol] = p.Label()
		points = append(points, p)
	}
	return points, nil
}
