// Auction measures combinatorial auctions and writes results as JSON. It runs where the
// device is:
//
//	go run -tags cuda ./bench/auction -device cuda:0 -experiment verify
//	go run -tags cuda ./bench/auction -device cuda:0 -experiment tables
//	go run -tags cuda ./bench/auction -device cuda:0 -experiment beside -data DIR -limit 9s
//	go run ./bench/auction -device host -experiment drawn -goods 256 -bids 4000 -limit 60s -python PYTHON
//	go run ./bench/auction -device emulated -experiment tables -goods 12 -bids 40
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime"
	"time"

	"coalesce/bench/experiment"
	"coalesce/bench/result"
)

type bench struct {
	experiment.Bench[result.Auction]
	settings settings
}

// settings are the flags.
type settings struct {
	experiment.Settings
	experiment.Verification
	goods experiment.List
	bids  int
	runs  int

	data      string // folder of auctions
	python    string // with the packages of rivals.py; empty: branch and cut alone
	instances experiment.List
	solvers   experiment.List
	limit     time.Duration
	threads   int
	suffix    string // of the file
}

func experiments() []experiment.Experiment[*bench] {
	return []experiment.Experiment[*bench]{
		{Name: "verify", About: "every variant against the reference, on small cases; with -sample one of each kind", Run: (*bench).verifyVariants},
		{Name: "tables", About: "winners and VCG's payments bidder by bidder, checked by branch and cut", Run: (*bench).timeTables},
		{Name: "rivals", About: "branch and cut beside HiGHS, SCIP, CP-SAT and CBC on the auctions of -data", Run: (*bench).raceRivals},
		{Name: "drawn", About: "branch and cut beside HiGHS, SCIP, CP-SAT and CBC on auctions that are drawn, of -goods and -bids, one of every distribution of CATS", Run: (*bench).raceDrawn},
		{Name: "beside", About: "branch and cut alone, and with the device working for it, on the auctions of -data", Run: (*bench).timeCompanion},
	}
}

func main() {
	s := settings{goods: experiment.List{"20", "24", "28", "30"}}
	experiment.Register(&s.Settings, "Measures combinatorial auctions.", "tables", experiments())
	flag.Var(&s.goods, "goods", "comma-separated numbers of goods")
	flag.IntVar(&s.bids, "bids", 1000, "of an auction")
	flag.IntVar(&s.runs, "runs", 5, "of an auction; one before them is uncounted")
	s.Verification.Register("label of a variant (default: verify all, time the solver's choice)")
	flag.StringVar(&s.data, "data", "", "rivals and beside: a folder of auctions, *.txt, and of their values, optima.csv")
	flag.StringVar(&s.python, "python", "", "rivals and drawn: an interpreter with highspy, pyscipopt and ortools, as scripts/auction-peers makes (default: none, branch and cut alone)")
	flag.Var(&s.instances, "instances", "rivals, drawn and beside: comma-separated parts of names (default: all)")
	flag.Var(&s.solvers, "solvers", "rivals and drawn: comma-separated parts of solvers' names (default: all)")
	flag.DurationVar(&s.limit, "limit", 10*time.Minute, "rivals, drawn and beside: of a solve")
	flag.IntVar(&s.threads, "threads", runtime.NumCPU(), "rivals, drawn and beside: of a solver")
	flag.StringVar(&s.suffix, "suffix", "", "of the file, such as -cores")
	flag.Parse()
	if flag.NArg() > 0 || s.bids < 1 || s.runs < 1 {
		fmt.Fprintln(os.Stderr, "auction: expected flags only, and counts of 1 or more")
		os.Exit(2)
	}
	experiment.Main(&s.Settings, func(ctx context.Context, names []string) bool { return run(ctx, s, names) })
}

func run(ctx context.Context, s settings, names []string) bool {
	common, err := experiment.New[result.Auction](ctx, "auction", s.Settings)
	if err != nil {
		fmt.Fprintln(os.Stderr, "auction:", err)
		return false
	}
	defer common.Close()
	b := &bench{Bench: *common, settings: s}
	return experiment.Run(&b.Bench, names, experiments(), func(e experiment.Experiment[*bench]) {
		b.RunExperiment(e.Name, s.suffix, func() error { return e.Run(b) })
	})
}
