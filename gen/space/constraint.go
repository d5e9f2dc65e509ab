package space

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

// A Constraint is a Go constant expression of type bool over the parameters:
// integers for numeric ones, strings for the others.
type Constraint struct {
	Expr  string
	Pos   string   // file:line
	Names []string // the identifiers it uses, sorted, without Go's own
	Verb  string   // "where" or "study", for errors

	tree ast.Expr
	memo map[string]bool // by the values of Names: few distinct combinations
}

// ParseConstraint parses an expression of a line where. Names it uses are not checked
// here.
func ParseConstraint(expr, pos string) (*Constraint, error) { return parse("where", expr, pos) }

// ParseStudy parses an expression of a line study.
func ParseStudy(expr, pos string) (*Constraint, error) { return parse("study", expr, pos) }

func parse(verb, expr, pos string) (*Constraint, error) {
	tree, err := parser.ParseExpr(expr)
	if err != nil {
		return nil, fmt.Errorf("%s: %s %q: %s, expected a Go constant expression", pos, verb, expr, syntaxMessage(err))
	}
	c := &Constraint{Expr: expr, Pos: pos, Verb: verb, tree: tree, memo: map[string]bool{}}
	var bad error
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			if types.Universe.Lookup(n.Name) == nil && !slices.Contains(c.Names, n.Name) {
				c.Names = append(c.Names, n.Name)
			}
		case *ast.FuncLit, *ast.CompositeLit:
			bad = fmt.Errorf("%s: %s %q: expected a Go constant expression", pos, verb, expr)
			return false
		}
		return bad == nil
	})
	slices.Sort(c.Names)
	return c, bad
}

// syntaxMessage drops the parser's own position, which counts from the
// expression's start.
func syntaxMessage(err error) string {
	text := err.Error()
	if _, rest, ok := strings.Cut(text, ": "); ok {
		return rest
	}
	return text
}

// ComparedWords lists the words that c compares parameters with, as name and word.
func (c *Constraint) ComparedWords() (pairs [][2]string) {
	ast.Inspect(c.tree, func(n ast.Node) bool {
		b, ok := n.(*ast.BinaryExpr)
		if !ok || b.Op != token.EQL && b.Op != token.NEQ {
			return true
		}
		for _, side := range [][2]ast.Expr{{b.X, b.Y}, {b.Y, b.X}} {
			name, named := side[0].(*ast.Ident)
			word, text := side[1].(*ast.BasicLit)
			if !named || !text || word.Kind != token.STRING {
				continue
			}
			if w, err := strconv.Unquote(word.Value); err == nil {
				pairs = append(pairs, [2]string{name.Name, w})
			}
		}
		return true
	})
	return pairs
}

// paramIndices returns the places in s.Params of the parameters that c names.
func (c *Constraint) paramIndices(s *Space) []int {
	var out []int
	for i, p := range s.Params {
		if _, found := slices.BinarySearch(c.Names, p.Name); found {
			out = append(out, i)
		}
	}
	return out
}

// Holds evaluates c at values, which are aligned with s.Params; only those of
// the parameters that c names are read.
func (c *Constraint) Holds(s *Space, values []string) (bool, error) {
	var key strings.Builder
	indices := c.paramIndices(s)
	for _, i := range indices {
		key.WriteString(values[i])
		key.WriteByte(',')
	}
	if ok, known := c.memo[key.String()]; known {
		return ok, nil
	}
	ok, err := c.evaluate(s, indices, values)
	if err != nil {
		return false, err
	}
	c.memo[key.String()] = ok
	return ok, nil
}

func (c *Constraint) evaluate(s *Space, indices []int, values []string) (bool, error) {
	pkg := types.NewPackage("space", "space")
	var at []string
	for _, i := range indices {
		p := s.Params[i]
		at = append(at, p.Name+"="+values[i])
		kind, value := types.Typ[types.UntypedString], constant.MakeString(values[i])
		if p.Numeric() {
			n, err := strconv.ParseInt(values[i], 10, 64)
			if err != nil {
				return false, fmt.Errorf("%s: %w", c.Pos, err)
			}
			kind, value = types.Typ[types.UntypedInt], constant.MakeInt64(n)
		}
		pkg.Scope().Insert(types.NewConst(token.NoPos, pkg, p.Name, kind, value))
	}
	fail := func(found string) error {
		where := ""
		if len(at) > 0 {
			where = " at " + strings.Join(at, ",")
		}
		return fmt.Errorf("%s: %s %q%s: %s, expected a constant true or false", c.Pos, c.Verb, c.Expr, where, found)
	}
	// CheckExpr is types.Eval on a tree that is parsed once.
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	if err := types.CheckExpr(token.NewFileSet(), pkg, token.NoPos, c.tree, info); err != nil {
		found := err.Error()
		if e, ok := err.(types.Error); ok {
			found = e.Msg
		}
		return false, fail(found)
	}
	result := info.Types[c.tree]
	if result.Value == nil || result.Value.Kind() != constant.Bool {
		return false, fail("not a constant of type bool")
	}
	return constant.BoolVal(result.Value), nil
}
