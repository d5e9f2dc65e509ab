// Package formats reads models: LP, MPS, QPLIB, dimod's .cqm and JSON.
package formats

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"coalesce/solvers/formats"
	"coalesce/solvers/formats/foreign"
	"coalesce/solvers/formats/packed"
	"coalesce/solvers/formats/program"
	"coalesce/solvers/formats/text"
	"coalesce/solvers/model/problem"
)

// Limits of files, in bytes.
const (
	maxLine     = 1 << 26
	maxUnpacked = 1 << 34
	maxObject   = 1 << 30
	maxHead     = 1 << 16
)

// A format has a name, a sentence about it, the kind that a file's first bytes name, the extensions of its names, and a parser of
// programs; JSON and .cqm have their own.
type format struct {
	name, about string
	kind        foreign.Kind
	extensions  []string
	parse       func(*text.File, *formats.Budget) (*program.Program, error)
}

var all = []format{
	{"lp", "LP (CPLEX, Gurobi, SCIP, dimod): binaries and bounded integers, a quadratic objective, linear constraints", foreign.LP, []string{".lp"}, program.ReadLP},
	{"mps", "MPS, fixed and free, with the sections of QPS for a quadratic objective", foreign.MPS, []string{".mps", ".qps"}, program.ReadMPS},
	{"qplib", "QPLIB's text format", foreign.QPLIB, []string{".qplib"}, program.ReadQPLIB},
	{"cqm", "dimod's file of a constrained quadratic model (to_file): hard linear constraints, no continuous variables", foreign.CQM, []string{".cqm"}, nil},
	{"json", "an object of variables, terms of any degree and constraints (docs/models.md)", foreign.JSON, []string{".json"}, nil},
}

// Names are the names of all formats.
func Names() (names []string) {
	for k := range all {
		names = append(names, all[k].name)
	}
	return names
}

// Describe describes a format in one sentence.
func Describe(name string) string {
	return all[slices.Index(Names(), name)].about
}

// Read reads a file; a path and a limit of memory, 0: none.
func Read(path string, limit int64) (*problem.Model, error) {
	plain, err := packed.OpenFile(path, maxUnpacked)
	return read(plain, err, path, limit)
}

// ReadFrom is Read on an open stream; errors call it name.
func ReadFrom(r io.Reader, name string, limit int64) (*problem.Model, error) {
	plain, err := packed.OpenLimited(r, -1, name, maxUnpacked)
	return read(plain, err, name, limit)
}

func read(plain *packed.Stream, err error, name string, limit int64) (*problem.Model, error) {
	if err != nil {
		return nil, err
	}
	defer plain.Close()
	in, budget := plain.Reader, formats.NewBudget(limit)
	head, _ := in.Peek(min(maxHead, in.Size())) // the next read returns the error again
	at := formatOf(head, plain.Name)
	if at < 0 {
		names := strings.Join(Names(), ", ")
		if err := foreign.Check(name, head, "a model, in one of the formats "+names); err != nil {
			return nil, err
		}
		return nil, formats.Errorf(name, 1, "found no format by the name and the first lines, expected one of %s", names)
	}
	m, err := all[at].read(in, name, budget)
	if err == nil {
		m.Format = all[at].name
	}
	return m, err
}

// read reads a model in the format.
func (k *format) read(in *bufio.Reader, name string, budget *formats.Budget) (*problem.Model, error) {
	switch k.name {
	case "json":
		return readJSON(in, name, budget)
	case "cqm":
		return readCQM(in, name, budget)
	}
	f, err := text.New(in, name, text.Options{Line: maxLine, Budget: budget})
	if err != nil {
		return nil, err
	}
	p, err := k.parse(f, budget)
	if err != nil {
		return nil, err
	}
	return problem.FromProgram(p, name)
}

// formatOf is the number of the format by the first bytes, else by the name; -1: none.
func formatOf(head []byte, name string) int {
	if kind := foreign.KindOf(head); kind != "" {
		if k := slices.IndexFunc(all, func(f format) bool { return f.kind == kind }); k >= 0 {
			return k
		}
	}
	extension := strings.ToLower(filepath.Ext(packed.TrimExtension(name)))
	return slices.IndexFunc(all, func(f format) bool { return slices.Contains(f.extensions, extension) })
}

// An object is a model in JSON.
type object struct {
	Sense     string `json:"sense"`
	Variables []struct {
		Name string `json:"name"`
		Kind string `json:"kind"`
		Low  *int64 `json:"low"`
		High *int64 `json:"high"`
	} `json:"variables"`
	Objective   [][]json.RawMessage `json:"objective"`
	Constraints []struct {
		Name  string              `json:"name"`
		Terms [][]json.RawMessage `json:"terms"`
		Low   json.RawMessage     `json:"low"`
		High  json.RawMessage     `json:"high"`
	} `json:"constraints"`
}

// readJSON reads a model in JSON.
func readJSON(in io.Reader, name string, budget *formats.Budget) (*problem.Model, error) {
	text, err := formats.ReadAll(in, name, min(int64(maxObject), budget.Remaining()))
	if err != nil {
		return nil, err
	}
	if err := budget.Reserve(8 * int64(len(text))); err != nil {
		return nil, formats.Errorf(name, 0, "the text takes %w", err)
	}
	var o object
	if err := formats.UnmarshalJSON(text, name, &o); err != nil {
		return nil, err
	}
	m := problem.New(problem.Minimize)
	if m.Source = name; o.Sense != "" {
		m.Sense = problem.Sense(o.Sense)
	}
	for k, v := range o.Variables {
		out := problem.Variable{Name: v.Name, Kind: problem.Kind(v.Kind), High: 1}
		switch {
		case v.Kind == "":
			out.Kind = problem.Binary
		case out.Kind == problem.Spin:
			out.Low = -1
		case out.Kind == problem.Integer && (v.Low == nil || v.High == nil):
			return nil, formats.Errorf(name, 0, "found the integer variable %s without low or high, expected both", formats.Quote(v.Name))
		}
		if v.Low != nil {
			out.Low = *v.Low
		}
		if v.High != nil {
			out.High = *v.High
		}
		if v.Name == "" {
			out.Name = fmt.Sprintf("x%d", k)
		}
		m.AddVariable(out)
	}
	for k, t := range o.Objective {
		c, list, err := term(m, t)
		if err != nil {
			return nil, formats.Errorf(name, 0, "objective, term %d: %w", k, err)
		}
		m.AddTerm(c, list...)
	}
	for k, from := range o.Constraints {
		c := problem.Constraint{Name: from.Name}
		for j, t := range from.Terms {
			a, list, err := term(m, t)
			if err == nil && len(list) != 1 {
				err = fmt.Errorf("found %s, expected one: constraints are linear", formats.Count(len(list), "variable"))
			}
			if err != nil {
				return nil, formats.Errorf(name, 0, "constraint %d, term %d: %w", k, j, err)
			}
			c.Terms = append(c.Terms, problem.Linear{Coefficient: a, Variable: list[0]})
		}
		for _, b := range []struct {
			text json.RawMessage
			to   **problem.Decimal
		}{{from.Low, &c.Low}, {from.High, &c.High}} {
			if len(b.text) == 0 || string(b.text) == "null" {
				continue
			}
			d, err := decimal(b.text)
			if err != nil {
				return nil, formats.Errorf(name, 0, "constraint %d: %w", k, err)
			}
			*b.to = &d
		}
		m.AddConstraint(c)
	}
	return m, m.Check()
}

// term reads a coefficient and variables, by name or by number.
func term(m *problem.Model, list []json.RawMessage) (c problem.Decimal, variables []int32, err error) {
	if len(list) == 0 {
		return c, nil, fmt.Errorf("found an empty list, expected a coefficient and variables")
	}
	if c, err = decimal(list[0]); err != nil {
		return c, nil, err
	}
	for _, text := range list[1:] {
		var label string
		var number int32
		if json.Unmarshal(text, &label) == nil {
			i, ok := m.Number(label)
			if !ok {
				return c, nil, fmt.Errorf("found the variable %s, expected one of variables", formats.Quote(label))
			}
			number = int32(i)
		} else if json.Unmarshal(text, &number) != nil || number < 0 || int(number) >= len(m.Variables) {
			return c, nil, fmt.Errorf("found %s, expected the name of a variable or its number from 0", formats.Quote(text))
		}
		variables = append(variables, number)
	}
	return c, variables, nil
}

// decimal reads a number, or a text of one.
func decimal(text json.RawMessage) (problem.Decimal, error) {
	word := strings.Trim(string(text), `"`)
	d, ok := problem.ParseDecimal(word)
	if !ok {
		return d, fmt.Errorf("found %s, expected a number of at most 18 digits", formats.Quote(word))
	}
	return d, nil
}
