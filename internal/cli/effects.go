package cli

import (
	"fmt"

	"coalesce/internal/cli/effect"
	"coalesce/internal/cli/structures"
	"coalesce/runtime/device"
	"coalesce/runtime/devices"
	"coalesce/solvers/auction"
	"coalesce/solvers/csg"
	"coalesce/solvers/csg/anytime"
)

// These are the tables of all commands that say what flags have an effect on. What depends on the content of a file is said by
// its reader (formats.OptionError), and what depends on the algorithm that runs by the solver (solve.VariantError).

// threads is the rule of --threads, which only a host has.
func threads(name string) effect.Rule {
	n, err := devices.Parse(name)
	host := err != nil || n.Kind == devices.Auto || n.Kind == device.Host
	return effect.Rule{Flags: "threads", For: "--device host", Found: effect.Unless(host, "--device "+name)}
}

// How a coalition structure is solved, as far as that is known.
const (
	openWay  = iota // the agents of a graph, which the file has, decide
	tableWay        // by a table of all coalitions
	searchWay
)

// way is how `solve csg` solves a FILE, or a distribution where the name is empty, by the flags alone.
func (s *csgFlags) way(path string) int {
	graph := s.distribution == "" && s.search.Graph(path)
	switch {
	case s.options.Algorithm == anytime.Algorithm || s.distribution != "" && structures.Searches(s.options.Algorithm, s.agents, csg.MaxAgents):
		return searchWay
	case graph && s.options.Algorithm == "":
		return openWay
	}
	return tableWay
}

// effects is the table of `solve csg` for a FILE that is solved in such a way.
func (s *csgFlags) effects(path string, way int) []effect.Rule {
	drawn := s.distribution != ""
	source := called(path)
	if drawn {
		source = "--distribution " + s.distribution
	}
	table, search := effect.Unless(way != tableWay, source+", a table of all coalitions"), effect.Unless(way != searchWay, source+", which is searched")
	seed := table
	if drawn {
		seed = ""
	}
	return []effect.Rule{
		{Flags: "agents type", For: "--distribution", Found: effect.Unless(drawn, source)},
		{Flags: "seed", For: "--distribution and searches", Found: seed},
		{Flags: "target", For: "searches", Found: table},
		{Flags: "format missing names", For: "files", Found: effect.Unless(!drawn, source)},
		{Flags: "missing names", For: "tables", Found: effect.Unless(drawn || !s.search.Graph(path), source+", a graph")},
		{Flags: "sizes values checkpoint resume verify", For: "tables of all coalitions", Found: search},
		{Flags: "variant pin frozen tuned record-untuned", For: "algorithms with kernels", Found: search},
		{Flags: "resume", For: "--checkpoint FILE", Found: effect.Unless(s.options.Checkpoint != "", "no --checkpoint")},
		threads(s.Device),
	}
}

// effects is the table of `solve auction`.
func (s *auctionFlags) effects() []effect.Rule {
	algorithm := "--algorithm " + s.options.Algorithm
	return []effect.Rule{
		{Flags: "proof", For: "--json, which holds it", Found: effect.Unless(s.json, "no --json")},
		{Flags: "proof", For: "--algorithm " + auction.Branch, Found: effect.Unless(s.options.Algorithm == "" || s.options.Algorithm == auction.Branch, algorithm)},
		threads(s.Device),
	}
}

// effects is the table of the flags of `solve assignment` and `verify` that say where the costs are and how they are read.
func (s *assignmentFlags) effects(args []string) []effect.Rule {
	source := "--points"
	switch {
	case s.Kind != "":
		source = "--kind " + s.Kind
	case len(args) > 0:
		source = called(args[0])
	}
	text := s.format == "" || s.format == "csv" || s.format == "triples"
	return append([]effect.Rule{
		{Flags: "format header index", For: "files", Found: effect.Unless(s.Kind == "", source)},
		{Flags: "header index", For: "CSV files", Found: effect.Unless(text, "--format "+s.format)},
		{Flags: "metric floor", For: "--points", Found: effect.Unless(s.points != nil, source)},
	}, s.Drawing.Effects(source)...)
}

// solveEffects is the table of the other flags of `solve assignment`.
func (s *assignmentFlags) solveEffects() []effect.Rule {
	return []effect.Rule{
		{Flags: "k-best duals limit start check algorithm variant threads pin frozen tuned record-untuned verify", For: "sums of costs", Found: effect.Unless(!s.options.Bottleneck, "--bottleneck")},
		{Flags: "device", For: "sums of costs", Found: effect.Unless(!s.options.Bottleneck || s.Device == devices.Auto || s.Device == device.Host, "--bottleneck, which the host looks for")},
		{Flags: "duals", For: "--json, which holds them", Found: effect.Unless(s.json, "no --json")},
		threads(s.Device),
	}
}

// effects is the table of `solve qubo`.
func (s *quboFlags) effects() []effect.Rule {
	o := &s.options
	return append(onlyFor(o.Fields(), o.Algorithm),
		effect.Rule{Flags: "min-distance", For: "--solutions of 2 or more", Found: effect.Unless(o.Solutions > 1, fmt.Sprint(max(1, o.Solutions)))},
		threads(s.Device))
}

// effects is the table of `verify` for an answer of a problem.
func (s *verifyFlags) effects(problem string, args []string) []effect.Rule {
	other := func(name string) string { return effect.Unless(problem == name, "an answer of "+problem) }
	table := []effect.Rule{
		{Flags: "duals maximize limit header index points metric floor", For: "answers of assignment", Found: other("assignment")},
		{Flags: "missing names", For: "answers of csg", Found: other("csg")},
		{Flags: "form sense problem fix", For: "answers of qubo", Found: other("qubo")},
		{Flags: "format", For: "answers of assignment, qubo and csg", Found: effect.Unless(problem != "auction", "an answer of "+problem)},
	}
	switch problem {
	case "assignment":
		table = append(table, s.assignment.effects(args)...)
	case "csg":
		table = append(table, effect.Rule{Flags: "missing names", For: "tables", Found: effect.Unless(!s.csg.search.Graph(args[0]), called(args[0])+", a graph")})
	}
	return table
}
