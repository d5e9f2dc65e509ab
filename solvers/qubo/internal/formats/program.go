package formats

import (
	"fmt"
	"io"

	"coalesce/solvers/formats"
	"coalesce/solvers/formats/program"
	"coalesce/solvers/formats/text"
	"coalesce/solvers/qubo/problem"
)

// readProgram makes the reader of a format of mathematical programs: an objective of binary variables, without constraints.
func readProgram(read func(*text.File, *formats.Budget) (*program.Program, error)) func(source, Options) (*problem.Instance, error) {
	return func(in source, o Options) (*problem.Instance, error) {
		f, err := in.openText(o, text.Options{})
		if err != nil {
			return nil, err
		}
		p, err := read(f.File, f.budget)
		if err != nil {
			return nil, err
		}
		return unconstrained(p, in.name, o)
	}
}

// unconstrained is the instance of a program, an error for a program that is none.
func unconstrained(p *program.Program, name string, o Options) (*problem.Instance, error) {
	if len(p.Constraints) > 0 {
		return nil, formats.Errorf(name, p.Constraints[0].Line, "found a constraint, expected none: a QUBO is an objective of binary variables alone (coalesce solve model takes constraints)")
	}
	var names []string
	for i := range p.Variables {
		v := &p.Variables[i]
		switch {
		case v.IsBinary():
		case v.Kind == program.Binary:
			return nil, formats.Errorf(name, v.Line, "found the bounds %s of the variable %s, expected 0 and 1 (--fix fixes variables)", v.Bounds(), formats.Quote(v.Name))
		default:
			return nil, formats.Errorf(name, v.Line, "found the variable %s, which is not binary, expected 0 and 1 as the values of all (coalesce solve model takes whole numbers with bounds)", formats.Quote(v.Name))
		}
		names = append(names, v.Name)
	}
	n, entries := len(names), problem.NewEntries(o.memoryLimit())
	for _, t := range p.Objective {
		i, j := t.I, t.J
		switch {
		case i < 0:
			i, j = n, n
		case j < 0:
			j = i
		}
		if err := parseInto(entries, i, j, []byte(t.Coefficient)); err != nil {
			return nil, formats.Errorf(name, t.Line, "%w", err)
		}
	}
	inst, err := entries.Instance(n+1, true)
	if err != nil {
		return nil, formats.Errorf(name, 0, "%w", err)
	}
	inst.LastAsOffset()
	inst.Names, inst.Sense = names, problem.Minimize
	if p.Maximize {
		inst.Sense = problem.Maximize
	}
	for _, note := range p.Notes {
		inst.Note("%s", note)
	}
	return inst, nil
}

// writeLP writes an objective, and that all variables are binary.
func writeLP(w io.Writer, inst *problem.Instance) error {
	name := func(i int) string {
		if inst.Names != nil {
			return inst.Names[i]
		}
		return fmt.Sprintf("x%d", i)
	}
	for i := range inst.Names {
		if !program.IsName(name(i)) {
			return fmt.Errorf("found the variable %s, expected names that LP format can hold", formats.Quote(name(i)))
		}
	}
	heads := map[problem.Sense]string{problem.Minimize: "Minimize", problem.Maximize: "Maximize"}
	if _, err := fmt.Fprintf(w, "%s\n obj:", heads[inst.Sense]); err != nil {
		return err
	}
	pairs, sign := false, func(text []byte) string {
		if text[0] == '-' {
			return " - " + string(text[1:])
		}
		return " + " + string(text)
	}
	eachEntry(inst, false, func(i, j int, text []byte) {
		if i == j {
			fmt.Fprintf(w, "%s %s\n", sign(text), name(i))
		}
		pairs = pairs || i != j
	})
	if offset := offsetText(inst); offset != "0" {
		fmt.Fprintf(w, "%s\n", sign([]byte(offset)))
	}
	if pairs {
		fmt.Fprint(w, " + [\n")
		eachEntry(inst, false, func(i, j int, text []byte) {
			if i != j {
				v, _ := parseCoefficient(text) // a coefficient of this instance
				fmt.Fprintf(w, "%s %s * %s\n", sign([]byte(v.timesTwo().String())), name(i), name(j))
			}
		})
		fmt.Fprint(w, " ] / 2\n")
	}
	fmt.Fprint(w, "\nSubject To\nBinaries\n")
	for i := range inst.N {
		fmt.Fprintf(w, " %s\n", name(i))
	}
	_, err := fmt.Fprintln(w, "End")
	return err
}
