// Assignment races the families of linear assignment, the host's solver and
// the rivals that are installed, on the same matrices in one run, and writes
// results as JSON. It runs where the device is:
//
//	go run ./bench/assignment -device host -experiment host
//	go run -tags cuda ./bench/assignment -device cuda:0 -experiment race,kinds,paper,paths
//
// The clock runs from the call, with the costs resident on the device and the
// workspace allocated, to the matching and duals on the host, certificate
// checked, from a cold start; each seed runs up to -runs times, one run before
// them uncounted. Rivals have their costs resident in the type that they take,
// and return no certificate. An answer other than a known optimum, or than
// another contender's, is a failure.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strconv"
	"time"

	"coalesce/bench/experiment"
	"coalesce/bench/result"
	"coalesce/runtime/device"
)

type bench struct {
	experiment.Bench[result.Solve]
	settings settings
	rivals   *rivals
	history  timings
}

// settings are the flags.
type settings struct {
	experiment.Settings
	experiment.Verification
	kinds     experiment.List
	sizes     []int
	families  experiment.List
	seeds     int
	runs      int
	spend     time.Duration
	slow      time.Duration
	python    string
	rivalSize int
	devices   int
}

func experiments() []experiment.Experiment[*bench] {
	return []experiment.Experiment[*bench]{
		{Name: "race", About: "every family, the host and the rivals on the instances of the targets", Run: (*bench).raceTargets},
		{Name: "kinds", About: "every family and the host on every kind of costs, with noise added", Run: (*bench).raceKinds},
		{Name: "paper", About: "the paper's table: costs up to n/10, n and 10n, both variants, and sequential references", Run: (*bench).racePaper},
		{Name: "published", About: "the classical variant with the paper's own combination of parts", Run: (*bench).asPublished},
		{Name: "paths", About: "many disjoint augmenting paths a phase against one", Run: (*bench).racePaths},
		{Name: "batch", About: "many matrices in one launch", Run: (*bench).raceBatches},
		{Name: "scaling", About: "one GPU, two, four: the paper's weak and strong scaling, and what one GPU cannot hold", Run: (*bench).raceDevices},
		{Name: "degenerate", About: "costs on which shortest paths are long, or most costs tie", Run: (*bench).raceDegenerate},
		{Name: "points", About: "costs that are distances of points: uniform, clustered and with ties, on the device and the host", Run: (*bench).racePoints},
		{Name: "flows", About: "supplies and capacities: random masses, and units of 8,000 rows among 100 columns", Run: (*bench).timeFlows},
		{Name: "verify", About: "every variant of every family on the tuner's cases; -sample for one of each kind", Run: (*bench).verifyVariants},
		{Name: "host", About: "the host's solver against the rivals of one thread", Run: (*bench).raceHost},
	}
}

func main() {
	var s settings
	var sizes experiment.List
	var external rivalCommands
	experiment.Register(&s.Settings, "Races solvers of linear assignment.", "host", experiments())
	flag.Var(&s.kinds, "kinds", "comma-separated kinds of costs (default: all of the experiment)")
	flag.Var(&sizes, "sizes", "comma-separated sides (default: all of the experiment)")
	flag.Var(&s.families, "families", "comma-separated families and methods (default: all of the experiment)")
	s.Verification.Register("label of the variant to use; needs one family")
	flag.IntVar(&s.seeds, "seeds", 3, "instances of each kind and size; their seeds are s*2^40")
	flag.IntVar(&s.runs, "runs", 10, "most runs of a contender on an instance")
	flag.DurationVar(&s.spend, "spend", 2*time.Second, "start no further run of a contender on an instance after this time")
	flag.DurationVar(&s.slow, "slow", 30*time.Second, "leave out a contender that takes longer, or is expected to")
	flag.StringVar(&s.python, "python", "python3", "interpreter that has SciPy, lapx or torch-linear-assignment; empty for none")
	flag.IntVar(&s.rivalSize, "rival-size", 10000, "largest side that python's rivals are asked about")
	flag.IntVar(&s.devices, "devices", 8, "most devices of the scaling")
	flag.Var(&external, "rival", "NAME=COMMAND of another rival, repeatable; see externals")
	flag.Parse()
	for _, text := range sizes {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || flag.NArg() > 0 {
			fmt.Fprintf(os.Stderr, "assignment: -sizes %s: expected sides of 1 or more\n", sizes)
			os.Exit(2)
		}
		s.sizes = append(s.sizes, n)
	}
	experiment.Main(&s.Settings, func(ctx context.Context, names []string) bool { return run(ctx, s, names, external) })
}

func run(ctx context.Context, s settings, names []string, external rivalCommands) bool {
	common, err := experiment.New[result.Solve](ctx, "assignment", s.Settings)
	if err != nil {
		fmt.Fprintln(os.Stderr, "assignment:", err)
		return false
	}
	defer common.Close()
	b := &bench{Bench: *common, settings: s}
	if b.rivals, err = startRivals(ctx, s.python, external); err != nil {
		fmt.Fprintln(os.Stderr, "assignment: rivals:", err)
	}
	defer b.rivals.Close()
	return experiment.Run(&b.Bench, names, experiments(), func(e experiment.Experiment[*bench]) {
		suffix := ""
		if b.Facts.Kind == device.Host && e.Name == "paper" {
			suffix = "-host" // the sequential programs alone
		}
		b.history = timings{}
		b.RunExperiment(e.Name, suffix, func() error { return e.Run(b) })
	})
}
