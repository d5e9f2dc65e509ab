package qubo

import (
	"errors"
	"fmt"
	"slices"

	"coalesce/runtime/device"
)

// openTeam makes a search on the device and one on the host ready, or one of them
// where the other is left out. The device's is qubo/temper for sparse problems,
// else, or where that is left out, qubo/bulk.
func openTeam(d device.Device, p *normal, o setup) (opened, error) {
	portfolio := beside{o.without}
	out := func(name string) bool { return slices.Contains(o.without, name) }
	temper := sparse(p) && !out("temper") && (o.variant == "" || temperLabel(o.variant))
	if !temper && out("bulk") {
		return opened{search: portfolio, used: map[string]Rules{"host": hostRules(o.rules, p.n)}}, nil
	}
	e, err := opened{}, errUnfit
	if temper {
		e, err = openTemperEngine(d, p, o)
	}
	if errors.Is(err, errUnfit) && !out("bulk") {
		e, err = openBulkEngine(d, p, o)
	}
	if err != nil || out("host") {
		return e, err
	}
	members, many := e.search.(team)
	if !many {
		members = team{e.search}
	}
	e.search = append(members, portfolio)
	e.used["host"] = hostRules(o.rules, p.n)
	e.reason = fmt.Sprintf("%s; beside it a search on the host", e.reason)
	return e, nil
}
