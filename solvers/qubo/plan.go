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
	several bool     // takes several devices
	// open makes a search of one problem ready. The memory that it takes is freed by
	// Close of search.OpenedEngine, which may be nil.
	open func(p *problem.Normal, o search.Setup) (search.OpenedEngine, error)
}

// engines are all of them, the best first.
func engines() []engine {
	everywhere := []string{device.CUDA, device.Emulated, device.Host}
	plain := func(s search.Searcher) func(*problem.Normal, search.Setup) (search.OpenedEngine, error) {
		return func(*problem.Normal, search.Setup) (search.OpenedEngine, error) {
			return search.OpenedEngine{Searcher: s}, nil
		}
	}
	return []engine{
		{name: "portfolio", about: "temper for sparse problems, bulk for others, and beside it a portfolio of searches on the host", kinds: everywhere[:1], variant: true, several: true, open: openTeam},
		{name: "bulk", about: "hundreds of tabu searches that share a pool, a block or a cluster of blocks each", kinds: everywhere[:2], variant: true, several: true, open: tabu.Open},
		{name: "temper", about: "replica exchange with cluster moves, 32 replicas a block, for sparse problems", kinds: everywhere[:2], variant: true, several: true, open: tempering.Open},
		{name: "host", about: "a portfolio of searches that share a pool, on all cores", kinds: everywhere, open: host.Open},
		{name: "multistart", about: "massive multi-start (Lewis 2017)", kinds: everywhere, open: multistart.Open},
		{name: "reference", about: "one-flip tabu search as plainly as it can be written", kinds: everywhere, open: plain(reference.Search{})},
	}
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
	asked, several := o.Algorithm, len(o.Devices) > 1
	for _, e := range engines() {
		runs := slices.Contains(e.kinds, facts.Kind)
		switch {
		case asked == "" && (!runs || o.Variant != "" && !e.variant || several && !e.several):
		case asked == "":
			return plan{e, fmt.Sprintf("the best on %s: %s", facts, e.about)}, nil
		case asked != e.name:
		case !runs:
			return plan{}, solve.Input("Algorithm", "engine %s runs on %s, not on %s", e.name, strings.Join(e.kinds, ", "), facts)
		case o.Variant != "" && !e.variant:
			return plan{}, o.Variantless(e.name)
		case several && !e.several:
			return plan{}, solve.Input("Devices", "engine %s runs on one device, found %d", e.name, len(o.Devices))
		default:
			return plan{e, "asked for by name"}, nil
		}
	}
	if asked != "" {
		return plan{}, solve.Input("Algorithm", "engine %q: expected one of %s", asked, strings.Join(Algorithms(), ", "))
	}
	if several {
		return plan{}, solve.Input("Devices", "no engine runs on several devices like %s", facts)
	}
	unnamed := o
	unnamed.Variant = ""
	runs, err := planFor(facts, unnamed)
	return plan{}, cmp.Or(err, o.Variantless(runs.engine.name))
}

// setup are the settings with which engines are opened.
func (o Options) setup() search.Setup {
	o.Ranks = nil // each chooses variants for its own device
	return search.Setup{Settings: o.Settings, Without: o.Without, Rules: o.Rules, Starts: o.Starts}
}
