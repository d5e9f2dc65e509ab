// Qubo measures the families of binary quadratic programs, the engines of
// Solve and the rivals that are installed, on the same instances, and writes
// results as JSON. It runs where the device is:
//
//	go run ./bench/qubo -device host -experiment target -data DIR
//	go run ./bench/qubo -device host -experiment target -data DIR -instances 'bqp2500-*' -seeds 20
//	go run ./bench/qubo -device host -experiment sets -data DIR -limit 60s
//	go run ./bench/qubo -device host -experiment qoblib -data DIR -submission FOLDER
//	go run ./bench/qubo -device host -experiment families -data DIR -mqlib MQLIB -limit 1s -limits 0=200ms,600=1s
//	go run ./bench/qubo -device host -experiment bounds -data DIR -limits 0=2s,600=6s
//	go run ./bench/qubo -device host -experiment surfaces -data DIR -limit 60s -seeds 1
//	go run -tags cuda ./bench/qubo -device cuda:0 -experiment verify
//	go run -tags cuda ./bench/qubo -device cuda:0 -experiment evaluate,paper,lambda,batch,target -data DIR
//	go run -tags cuda ./bench/qubo -device cuda:0 -experiment target -data DIR -instances 'G*' -limits 5000=60s
//	go run -tags cuda ./bench/qubo -device cuda:0,1 -experiment islands -data DIR -instances p7000.2,WK2000_1,G35,G55 -seeds 5
//
// Clocks: an engine's runs from the coefficients in host memory until its search
// has the solution, and for the seconds of the whole run until that is verified;
// that of massive multi-start from the matrix resident on the device, samples
// included; a rival's from its model in memory; an evaluation's is the device's
// own. DIR holds bqp2500-1.txt.xz and so on, and those of the G-set in gset/, and
// QOBLIB's independent sets (07-independentset/models/binary_unconstrained/qs_files);
// Palubeckis' instances are drawn. A row whose instance is in neither is marked
// "not given". Every objective is recomputed from the instance's
// coefficients. Runs to a target are summed up by instance at the end.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"coalesce/bench/experiment"
	"coalesce/bench/result"
	"coalesce/runtime/device"
	solver "coalesce/solvers/qubo"
)

type bench struct {
	experiment.Bench[result.Binary]
	settings  settings
	rivals    *rivals
	submitted *submission // nil: none is written
}

// settings are the flags.
type settings struct {
	experiment.Settings
	experiment.Verification
	data      string
	instances experiment.List
	engines   experiment.List
	without   experiment.List
	rules     solver.Rules
	seeds     int
	runs      int
	count     int
	limit     time.Duration
	limits    timeLimits
	iteration int
	python    string
	mqlib     string
	submit    string
}

func experiments() []experiment.Experiment[*bench] {
	return []experiment.Experiment[*bench]{
		{Name: "verify", About: "every variant against the reference, on small instances; with -sample one of each kind", Run: (*bench).verifyVariants},
		{Name: "evaluate", About: "rates of qubo/evaluate, every variant with -variant all, beside one core: the paper's first table", Run: (*bench).timeEvaluation},
		{Name: "rates", About: "flips a second of qubo/bulk on drawn dense problems of the sizes in -instances, every variant with -variant all", Run: (*bench).flipRates},
		{Name: "paper", About: "massive multi-start, serially, on the paper's 21 instances: its two tables of results and its figures of progress", Run: (*bench).timePaper},
		{Name: "lambda", About: "massive multi-start over λ", Run: (*bench).timeLambdas},
		{Name: "division", About: "massive multi-start with ascents on the host, as the paper divides its tasks, and on the device", Run: (*bench).timeDivision},
		{Name: "batch", About: "massive multi-start over the iterations at once", Run: (*bench).timeBatches},
		{Name: "target", About: "time to the best known value, of the device's best engine or of -engines, every seed", Run: (*bench).timeToTarget},
		{Name: "sets", About: "the same for the independent sets of QOBLIB", Run: (*bench).timeIndependentSets},
		{Name: "qoblib", About: "the same for its low autocorrelation sequences, market splits and portfolios, and a submission in its form", Run: (*bench).timeQOBLIB},
		{Name: "families", About: "every instance that is a file, by one core of the host and by MQLib's heuristics in the same time", Run: (*bench).compareFamilies},
		{Name: "bounds", About: "value, bound and its kind of every instance that is a file, within the limit", Run: (*bench).boundValues},
		{Name: "surfaces", About: "value, bound and time of the G-set's tori, and of drawn grids and tori, every seed, within the limit", Run: (*bench).solveSurfaces},
		{Name: "sparse", About: "value, bound and time of drawn sparse instances, every seed, within the limit: tori with linear terms, and random graphs", Run: (*bench).solveSparse},
		{Name: "islands", About: "all devices together beside one each: flips a second, and time to the best known value", Run: (*bench).compareIslands},
		{Name: "ablation", About: "time to the best known value with each part of the engine left out in turn", Run: (*bench).timeAblations},
		{Name: "rivals", About: "time to the best known value of dwave-samplers, simulated-bifurcation and MQLib, where they are installed", Run: (*bench).rivalTarget},
	}
}

func main() {
	var s settings
	experiment.Register(&s.Settings, "Measures binary quadratic programs.", "target", experiments())
	flag.StringVar(&s.data, "data", "", "folder of instances")
	flag.Var(&s.instances, "instances", "comma-separated instances, patterns such as G5*, or sizes (default: all of the experiment)")
	flag.Var(&s.engines, "engines", "comma-separated engines (default: the device's best), rivals or families to verify (default: all)")
	flag.Var(&s.without, "without", "parts of the search that bounds leaves out")
	s.Verification.Register("label of a variant; all: every one")
	flag.TextVar(&s.rules, "rules", solver.Rules{}, "of the searches in target, ablation and rates, as in tenure=20,stall=10000: "+strings.Join(solver.RuleNames(), ", "))
	flag.IntVar(&s.seeds, "seeds", 3, "runs of an engine on an instance, seeds 1 to this")
	flag.IntVar(&s.runs, "runs", 10, "runs of an evaluation; one before them is uncounted")
	flag.IntVar(&s.count, "count", 1000, "solutions evaluated at once")
	flag.DurationVar(&s.limit, "limit", 10*time.Second, "time limit of a run to a target")
	flag.Var(&s.limits, "limits", "other limits from so many variables on, as in 3000=20s,5000=60s")
	flag.IntVar(&s.iteration, "iterations", 2500, "of massive multi-start")
	flag.StringVar(&s.python, "python", "python3", "interpreter that has dwave-samplers or simulated-bifurcation")
	flag.StringVar(&s.mqlib, "mqlib", "", "MQLib's command, a rival")
	flag.StringVar(&s.submit, "submission", "", "folder in which qoblib leaves a submission in QOBLIB's form")
	flag.Parse()
	if flag.NArg() > 0 || s.seeds < 1 || s.runs < 1 || s.count < 1 || s.iteration < 1 {
		fmt.Fprintln(os.Stderr, "qubo: expected flags only, and counts of 1 or more")
		os.Exit(2)
	}
	experiment.Main(&s.Settings, func(ctx context.Context, names []string) bool { return run(ctx, s, names) })
}

func run(ctx context.Context, s settings, names []string) bool {
	common, err := experiment.New[result.Binary](ctx, "qubo", s.Settings)
	if err != nil {
		fmt.Fprintln(os.Stderr, "qubo:", err)
		return false
	}
	defer common.Close()
	b := &bench{Bench: *common, settings: s, rivals: &rivals{python: s.python, mqlib: mqlib{s.mqlib}}}
	if s.submit != "" {
		b.submitted = &submission{folder: s.submit}
	}
	return experiment.Run(&b.Bench, names, experiments(), func(e experiment.Experiment[*bench]) {
		b.RunExperiment(e.Name, b.suffix(), func() error {
			err := e.Run(b)
			b.printSummary()
			return err
		})
	})
}

// suffix sets the results of a host, and of several devices, apart.
func (b *bench) suffix() string {
	suffix := ""
	if b.Facts.Kind == device.Host {
		suffix = "-host"
	}
	if len(b.Others) > 0 {
		suffix += fmt.Sprintf("-x%d", 1+len(b.Others))
	}
	return suffix
}

// addRow keeps a row and prints it.
func (b *bench) addRow(row result.Binary) {
	b.AddRow(row)
	fmt.Println(describeRow(row))
}

// timeLimits are other time limits, from so many variables on.
type timeLimits []struct {
	from int
	time time.Duration
}

// Set implements flag.Value.
func (l *timeLimits) Set(text string) error {
	*l = nil
	for _, pair := range experiment.SplitList(text) {
		from, limit, _ := strings.Cut(pair, "=")
		n, wrong := strconv.Atoi(from)
		d, err := time.ParseDuration(limit)
		if wrong != nil || err != nil || d <= 0 {
			return fmt.Errorf("found %q, expected VARIABLES=TIME", pair)
		}
		*l = append(*l, struct {
			from int
			time time.Duration
		}{n, d})
	}
	return nil
}

// String implements flag.Value.
func (l timeLimits) String() string {
	var list []string
	for _, one := range l {
		list = append(list, fmt.Sprintf("%d=%s", one.from, one.time))
	}
	return strings.Join(list, ",")
}

// limitFor is the time limit of a run with n variables.
func (s settings) limitFor(n int) time.Duration {
	limit, from := s.limit, -1
	for _, one := range s.limits {
		if n >= one.from && one.from > from {
			limit, from = one.time, one.from
		}
	}
	return limit
}
