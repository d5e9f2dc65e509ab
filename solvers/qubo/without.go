package qubo

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"coalesce/runtime/device"
)

// bulkOperatorNames are the operators of qubo/bulk, in the device's order.
var bulkOperatorNames = [bulkOperators]string{"random", "relink", "cross", "mutate", "majority"}

// Parts are what Options.Without takes: the members of the team that engine
// portfolio is, the methods of the host's portfolio, and the operators of
// qubo/bulk; of an engine those that it has, of no engine all. Where all methods
// are left out tabu search stays, and where all operators are, random; without
// an elite a bulk search begins by random.
func Parts(engine string) []string {
	var members, walks []string
	for m := range methods {
		walks = append(walks, m.String())
	}
	operators := bulkOperatorNames[:]
	switch engine {
	case "", "portfolio":
		members = []string{"temper", "bulk", "host"}
	case "bulk":
		walks = nil
	case "host":
		operators = nil
	default:
		return nil
	}
	return slices.Concat(members, walks, operators)
}

func (o Options) checkWithout() error {
	for _, name := range o.Without {
		if !slices.Contains(Parts(""), name) {
			return fmt.Errorf("without %q: expected some of %s", name, strings.Join(Parts(""), ", "))
		}
	}
	if slices.Contains(o.Without, "bulk") && slices.Contains(o.Without, "host") {
		return fmt.Errorf("without %s: nothing is left to search", strings.Join(o.Without, ", "))
	}
	return nil
}

// checkParts wants what is left out to be of the engine.
func (o Options) checkParts(engine string) error {
	for _, name := range o.Without {
		if parts := Parts(engine); !slices.Contains(parts, name) {
			return fmt.Errorf("without %q: the engine %s has no such part, only %s", name, engine, cmp.Or(strings.Join(parts, ", "), "itself"))
		}
	}
	return nil
}

// operators are those that are not left out.
func (b *bulk) operators() []int {
	var list []int
	for k, name := range bulkOperatorNames {
		if !slices.Contains(b.without, name) {
			list = append(list, k)
		}
	}
	if len(list) == 0 {
		list = append(list, 0)
	}
	return list
}

// openHostEngine makes the host's portfolio ready.
func openHostEngine(_ device.Device, p *normal, o Options) (opened, error) {
	return opened{search: hostSearch{o.Without}, used: map[string]Rules{"host": o.Rules.host(p.n)}}, nil
}
