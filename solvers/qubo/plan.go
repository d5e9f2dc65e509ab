package qubo

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"coalesce/runtime/device"
	"coalesce/solvers/qubo/internal/host"
	"coalesce/solvers/qubo/internal/multistart"
	"coalesce/solvers/qubo/internal/reference"
	"coalesce/solvers/qubo/internal/search"
	"coalesce/solvers/qubo/internal/stableset"
	"coalesce/solvers/qubo/internal/tabu"
	"coalesce/solvers/qubo/internal/tempering"
	"coalesce/solvers/qubo/problem"
	"coalesce/solvers/solve"
)

// An engine is one algorithm of a search.
type engine struct {
	name    string // in Options.Algorithm
	about   string
	kinds   []string // of device that it runs on
	variant bool     // takes Options.Variant
	cores   bool     // searches on the host's cores, whatever the device is
	// open makes a search of one problem ready. The memory that it takes is freed by
	// Close of search.OpenedEngine, which may be nil.
	open opener
}

// engines are all of them, the best first.
func engines() []engine {
	everywhere := []string{device.CUDA, device.Emulated, device.Host}
	return []engine{
		{name: "portfolio", about: "stableset for programs that are stable sets, temper for other sparse ones, bulk for others, and beside it a portfolio of searches on the host", kinds: everywhere[:1], variant: true, open: openTeam},
		{name: "bulk", about: "hundreds of tabu searches that share a pool, a block or a cluster of blocks each", kinds: everywhere[:2], variant: true, open: tabu.Open},
		{name: "temper", about: "replica exchange with cluster moves, 32 replicas a block, for sparse problems", kinds: everywhere[:2], variant: true, open: tempering.Open},
		{name: "stableset", about: "exchanges for programs that are maximum stable sets, a warp a walk", kinds: everywhere[:2], variant: true, open: stableset.Open},
		{name: "host", about: "a portfolio of searches that share a pool, on all cores", kinds: everywhere, cores: true, open: onEach(host.Open)},
		{name: "multistart", about: "massive multi-start (Lewis 2017)", kinds: everywhere, open: onEach(multistart.Open)},
		{name: "reference", about: "one-flip tabu search as plainly as it can be written", kinds: everywhere, cores: true, open: onEach(openReference)},
	}
}

// An opener makes a search of one problem ready on the devices of a setup, an island a device.
type opener func(p *problem.Normal, o search.Setup) (search.OpenedEngine, error)

// onEach opens an engine that takes one device on every device.
func onEach(open opener) opener {
	return func(p *problem.Normal, o search.Setup) (all search.OpenedEngine, err error) {
		for k := range o.Devices {
			own := o
			own.Devices = o.Devices[k : k+1]
			e, err := open(p, own)
			if err != nil {
				return e, err
			}
			if k > 0 {
				e.Members = append(all.Members, e.Members...)
			}
			all = e
		}
		return all, nil
	}
}

func openReference(*problem.Normal, search.Setup) (search.OpenedEngine, error) {
	return search.OpenedEngine{Islands: search.Islands{Members: []search.Searcher{reference.Search{}}}}, nil
}

// refuses returns an error where an engine has no use for several devices like facts.
func (e engine) refuses(devices int, facts device.Facts) error {
	if devices > 1 && e.cores && facts.Kind != device.Host {
		return solve.InvalidInput("Devices", "engine %s searches on the host's cores, found %d like %s, expected one", e.name, devices, facts)
	}
	return nil
}

// Algorithms are the names that Options.Algorithm takes, the best first: those of all
// engines.
func Algorithms() []string {
	var names []string
	for _, e := range engines() {
		names = append(names, e.name)
	}
	return names
}

// A plan is the choice of an engine, and the reason of the choice.
type plan struct {
	engine engine
	reason string
}

// planFor plans for devices like facts: the engine asked for, or the best that runs
// there.
func planFor(facts device.Facts, o Options) (plan, error) {
	asked := o.Algorithm
	for _, e := range engines() {
		runs := slices.Contains(e.kinds, facts.Kind)
		switch {
		case asked == "" && (!runs || o.Variant != "" && !e.variant || e.refuses(len(o.Devices), facts) != nil):
		case asked == "":
			return plan{e, fmt.Sprintf("the best on %s: %s", facts, e.about)}, nil
		case asked != e.name:
		case !runs:
			return plan{}, solve.InvalidInput("Algorithm", "engine %s runs on %s, not on %s", e.name, strings.Join(e.kinds, ", "), facts)
		case o.Variant != "" && !e.variant:
			return plan{}, o.RefuseVariant(e.name)
		default:
			return plan{e, "asked for by name"}, e.refuses(len(o.Devices), facts)
		}
	}
	if asked != "" {
		return plan{}, solve.InvalidInput("Algorithm", "engine %q: expected one of %s", asked, strings.Join(Algorithms(), ", "))
	}
	unnamed := o
	unnamed.Variant = ""
	runs, err := planFor(facts, unnamed)
	return plan{}, cmp.Or(err, o.RefuseVariant(runs.engine.name))
}

// setup are the settings with which engines are opened.
func (o Options) setup() search.Setup {
	o.Ranks = nil // each chooses variants for its own device
	return search.Setup{Settings: o.Settings, Without: o.Without, Rules: o.Rules, Starts: o.Starts}
}
