package qubo

import (
	"fmt"
	"slices"
	"strings"

	"coalesce/solvers/qubo/internal/host"
	"coalesce/solvers/qubo/internal/tabu"
	"coalesce/solvers/solve"
)

// PartNames are the names that Options.Without takes: the members of the team that engine portfolio
// is, the methods of the host's portfolio, the operators of qubo/bulk, the better bounds beside any search, matching on surfaces, and equations. For the name of an
// engine they are the parts of that engine, for the empty name all. Where all methods are left out
// tabu search stays, and where all operators are, random; a bulk search begins by random while its
// pool is empty.
func PartNames(engine string) []string {
	var members []string
	walks, operators := host.MethodNames(), tabu.Operators()
	switch engine {
	case "", "portfolio":
		members = []string{"temper", "bulk", "host"}
	case "bulk":
		walks = nil
	case "host":
		operators = nil
	default:
		walks, operators = nil, nil
	}
	return slices.Concat(members, walks, operators, []string{boundPart, surfacePart, equationsPart})
}

// boundPart is the name of the work on better bounds beside a search.
const boundPart = "bound"

// surfacePart is the name of the exact solve of planar graphs and tori.
const surfacePart = "planar"

func (o Options) checkWithout() error {
	for _, name := range o.Without {
		if !slices.Contains(PartNames(""), name) {
			return solve.AsInputError(fmt.Errorf("without %q: expected some of %s", name, strings.Join(PartNames(""), ", ")))
		}
	}
	if slices.Contains(o.Without, "bulk") && slices.Contains(o.Without, "host") {
		return solve.AsInputError(fmt.Errorf("without %s: nothing is left to search", strings.Join(o.Without, ", ")))
	}
	return nil
}

// checkParts returns an error where Without names a part that the engine lacks.
func (o Options) checkParts(engine string) error {
	for _, name := range o.Without {
		if parts := PartNames(engine); !slices.Contains(parts, name) {
			return solve.AsInputError(fmt.Errorf("without %q: the engine %s has no such part, only %s", name, engine, strings.Join(parts, ", ")))
		}
	}
	return nil
}
