// Package manifest reads go.generate, the parameter spaces of all families, in
// go.mod's syntax. Everything wrong with it is reported at file:line with what
// was found, what was expected and the nearest valid name.
package manifest

import (
	"errors"
	"fmt"
	"go/token"
	"strings"

	"golang.org/x/mod/modfile"

	"coalesce/gen/space"
)

// File is the manifest's name in the root of the module.
const File = "go.generate"

// shown is how many errors are printed at most.
const shown = 10

// Errors are all that is wrong with a manifest, in order.
type Errors []error

func (e Errors) Error() string {
	var lines []string
	for i, err := range e {
		if i == shown {
			lines = append(lines, fmt.Sprintf("and %d more errors", len(e)-shown))
			break
		}
		lines = append(lines, err.Error())
	}
	return strings.Join(lines, "\n")
}

// Unwrap lets errors.As look at each.
func (e Errors) Unwrap() []error { return e }

// Parse reads and checks a manifest; name stands in front of each error's
// line number. The spaces are in the file's order.
func Parse(name string, data []byte) ([]*space.Space, error) {
	file, err := modfile.ParseLax(name, data, nil)
	if err != nil {
		return nil, err
	}
	r := &reader{name: name}
	var spaces []*space.Space
	first := map[string]string{}
	for _, statement := range file.Syntax.Stmt {
		s := r.statement(statement)
		if s == nil {
			continue
		}
		if pos, dup := first[s.Family]; dup {
			r.addError(s.Pos, "space %s again, the first is at %s", s.Family, pos)
			continue
		}
		first[s.Family] = s.Pos
		spaces = append(spaces, s)
	}
	if len(spaces) == 0 && len(r.errors) == 0 {
		r.addError(name+":1", "found no space, expected blocks such as: space csg/splits ( … )")
	}
	if len(r.errors) > 0 {
		return nil, r.errors
	}
	for _, s := range spaces {
		points, err := s.Enumerate()
		if err != nil {
			r.errors = append(r.errors, err)
		}
		for _, p := range points {
			switch least, err := s.LeastArch(p); {
			case err != nil:
				r.errors = append(r.errors, err)
			case p.Safe && least > 0:
				r.addError(s.Safe.Pos, "the safe point (%s) needs sm_%d, expected one that runs everywhere", p.Label(), least)
			}
		}
	}
	if len(r.errors) > 0 {
		return nil, r.errors
	}
	return spaces, nil
}

// A reader gathers errors so that one run shows them all.
type reader struct {
	name   string
	errors Errors
}

func (r *reader) addError(pos, format string, args ...any) {
	r.errors = append(r.errors, errors.New(pos+": "+fmt.Sprintf(format, args...)))
}

func (r *reader) position(at modfile.Position) string { return fmt.Sprintf("%s:%d", r.name, at.Line) }

// statement reads a top-level statement; nil for one that is no block of a space.
func (r *reader) statement(statement modfile.Expr) *space.Space {
	start, _ := statement.Span()
	pos := r.position(start)
	var tokens []string
	var lines []*modfile.Line
	switch x := statement.(type) {
	case *modfile.CommentBlock:
		return nil
	case *modfile.Line:
		tokens = x.Token
	case *modfile.LineBlock:
		tokens, lines = x.Token, x.Line
	}
	if len(tokens) == 0 || tokens[0] != "space" {
		found := ""
		if len(tokens) > 0 {
			found = tokens[0]
		}
		r.addError(pos, "unknown directive %q, expected space%s", found, didYouMean(found, []string{"space"}))
		return nil
	}
	if len(tokens) != 2 {
		r.addError(pos, "found %q, expected space problem/kernel (", strings.Join(tokens, " "))
		return nil
	}
	if lines == nil {
		r.addError(pos, "space %s is empty, expected a block of parameters: space %s ( … )", tokens[1], tokens[1])
		return nil
	}
	if !familyName.MatchString(tokens[1]) {
		r.addError(pos, "family %q, expected problem/kernel in lower-case letters and digits, such as csg/splits", tokens[1])
		return nil
	}
	if problem, kernel, _ := strings.Cut(tokens[1], "/"); token.IsKeyword(problem) || problem == "cuda" || kernel == "families" {
		r.addError(pos, "family %q, expected another name: generated Go and templates/cuda use this one", tokens[1])
		return nil
	}
	return r.readSpace(tokens[1], pos, lines)
}
