package layout

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"regexp"
	"strings"
)

// A scalar is a type of CUDA on 64 bits.
type scalar struct {
	goes    string // its name in Go
	size    int    // bytes, and its alignment
	integer bool
}

// scalars by their names in CUDA texts; templates/cuda/prelude.cuh declares u32, u64, i64.
var scalars = map[string]scalar{
	"u32": {"uint32", 4, true}, "u64": {"uint64", 8, true}, "i64": {"int64", 8, true},
	"int": {"int32", 4, true}, "short": {"int16", 2, true}, "bool": {"bool", 1, false},
	"float": {"float32", 4, false}, "double": {"float64", 8, false},
}

// canHold reports whether an integer type has a value.
func (t scalar) canHold(v constant.Value) bool {
	if t.goes[0] == 'u' {
		x, exact := constant.Uint64Val(v)
		return exact && x>>(8*t.size-1)>>1 == 0
	}
	x, exact := constant.Int64Val(v)
	shift := 64 - 8*t.size
	return exact && x<<shift>>shift == x
}

var (
	identifier = regexp.MustCompile(`^[A-Za-z_]\w*$`)
	suffix     = regexp.MustCompile(`\b(0[xX][0-9a-fA-F]+|[0-9]+)[uUlL]+\b`)
)

// loose are the operators whose precedence C and Go do not share.
var loose = map[token.Token]bool{token.SHL: true, token.SHR: true, token.AND: true, token.OR: true, token.XOR: true}

// evaluate computes an integer from literals and the names that were marked before.
func (r *reader) evaluate(text string) (constant.Value, error) {
	text = suffix.ReplaceAllString(strings.TrimSpace(text), "$1")
	expr, err := parser.ParseExpr(text)
	if err != nil {
		return nil, fmt.Errorf("value %q, expected integers, marked names and + - * / %% << >> & | ^", text)
	}
	ast.Inspect(expr, func(n ast.Node) bool {
		switch x := n.(type) {
		case nil, *ast.ParenExpr, *ast.BasicLit:
		case *ast.Ident:
			if r.values[x.Name] == nil && err == nil {
				err = fmt.Errorf("value %q: %s is unknown, expected names that are marked above", text, x.Name)
			}
		case *ast.UnaryExpr:
			if x.Op != token.SUB && err == nil {
				err = fmt.Errorf("value %q: unsupported operator %s", text, x.Op)
			}
		case *ast.BinaryExpr:
			for _, side := range []ast.Expr{x.X, x.Y} {
				if y, ok := side.(*ast.BinaryExpr); ok && (loose[x.Op] || loose[y.Op]) && err == nil {
					err = fmt.Errorf("value %q: expected parentheses, as C and Go rank %s and %s differently", text, x.Op, y.Op)
				}
			}
		default:
			err = fmt.Errorf("value %q, expected integers, marked names and + - * / %% << >> & | ^", text)
		}
		return err == nil
	})
	if err != nil {
		return nil, err
	}
	scope := types.NewPackage("layout", "layout")
	for name, v := range r.values {
		scope.Scope().Insert(types.NewConst(token.NoPos, scope, name, types.Typ[types.UntypedInt], v))
	}
	t, err := types.Eval(token.NewFileSet(), scope, token.NoPos, text)
	if err != nil {
		return nil, fmt.Errorf("value %q: %w", text, err)
	}
	if t.Value == nil || t.Value.Kind() != constant.Int {
		return nil, fmt.Errorf("value %q, expected an integer", text)
	}
	return t.Value, nil
}

func plusOne(v constant.Value) constant.Value {
	return constant.BinaryOp(v, token.ADD, constant.MakeInt64(1))
}
