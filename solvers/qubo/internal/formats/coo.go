package formats

import (
	"coalesce/solvers/formats"
	"coalesce/solvers/qubo/problem"
)

// readCOO reads dimod's COOrdinate text: lines `i j q` from 0, added up where
// they repeat, with `# vartype=BINARY` or `# vartype=SPIN` first or not. The
// largest variable named is the last.
func readCOO(in source, o Options) (*problem.Instance, error) {
	f, err := in.openList("#", o)
	if err != nil {
		return nil, err
	}
	e, err := f.newEntries(0)
	if err != nil {
		return nil, err
	}
	l := coefficientList{loops: true}
	if _, err := e.read(l, "", 0, false, l.kind("", problem.MaxVariables)); err != nil {
		return nil, err
	}
	_, form := f.said[vartype]
	_, constant := f.said[offset]
	switch {
	case e.variables == 0 && !form && !constant: // dimod writes the vartype of a model without variables
		return nil, formats.Errorf(in.name, 1, "found no coefficients and no vartype, expected "+lineOf)
	case !form && o.Form == "" && o.Format == "":
		return nil, formats.Errorf(in.name, 0, "found no vartype, expected a comment vartype=BINARY or vartype=SPIN, or to be told: --form qubo, or --form ising")
	}
	inst, err := e.instance(e.variables, true)
	if err == nil && o.Form != "" {
		inst.Form = o.Form
	}
	return inst, err
}
