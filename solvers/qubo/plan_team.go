package qubo

import (
	"errors"
	"fmt"
	"slices"

	"coalesce/solvers/qubo/internal/host"
	"coalesce/solvers/qubo/internal/search"
	"coalesce/solvers/qubo/internal/stableset"
	"coalesce/solvers/qubo/internal/tabu"
	"coalesce/solvers/qubo/internal/tempering"
	"coalesce/solvers/qubo/problem"
)

// exchanges reports whether qubo/stableset, which has no rules, is to search p.
func exchanges(p *problem.Normal, o search.Setup) bool {
	return stableset.Is(p) && !slices.Contains(o.Without, host.StableSets) && o.Rules == (search.Rules{}) && (o.Variant == "" || stableset.HasVariant(o.Variant))
}

// openTeam is openTeamOf with the search on the device that suits the problem.
func openTeam(p *problem.Normal, o search.Setup) (search.OpenedEngine, error) {
	return openTeamOf(tempering.PrefersReplicaExchange(p), p, o)
}

// openTeamOf makes a search on every device and one on the host ready, or one of them
// where the other is left out. The device's is qubo/temper if tempers, else, or where
// that is left out, qubo/bulk.
func openTeamOf(tempers bool, p *problem.Normal, o search.Setup) (search.OpenedEngine, error) {
	portfolio, err := host.CompanionOf(p, o)
	if err != nil {
		return search.OpenedEngine{}, err
	}
	out := func(name string) bool { return slices.Contains(o.Without, name) }
	if exchanges(p, o) {
		e, err := stableset.Open(p, o)
		if err == nil && !out("host") {
			e.Beside = portfolio
			e.Used["host"] = host.RulesFor(o.Rules, p.N)
			e.Reason = fmt.Sprintf("%s; beside it a search on the host", e.Reason)
		}
		if !errors.Is(err, search.ErrUnfit) {
			return e, err
		}
	}
	temper := tempers && !out("temper") && (o.Variant == "" || tempering.HasVariant(o.Variant))
	if !temper && out("bulk") {
		return search.OpenedEngine{Islands: search.Islands{Members: []search.Searcher{portfolio}}, Used: map[string]Rules{"host": host.RulesFor(o.Rules, p.N)}}, nil
	}
	e := search.OpenedEngine{}
	err = search.ErrUnfit
	if temper {
		e, err = tempering.Open(p, o)
	}
	if temper && err == nil {
		portfolio.Without = append(slices.Clip(portfolio.Without), host.Replicas) // which the device has
	}
	if errors.Is(err, search.ErrUnfit) && !out("bulk") {
		e, err = tabu.Open(p, o)
	}
	if err != nil || out("host") {
		return e, err
	}
	e.Beside = portfolio
	e.Used["host"] = host.RulesFor(o.Rules, p.N)
	e.Reason = fmt.Sprintf("%s; beside it a search on the host", e.Reason)
	return e, nil
}
