// Qubo measures the families of binary quadratic programs, the engines of
// Solve and the peers that are installed, on the same instances, and writes
// results as JSON. It runs where the device is:
//
//	go run ./bench/qubo -device host -experiment target -data DIR
//	go run ./bench/qubo -device host -experiment target -data DIR -instances 'bqp2500-*' -seeds 20
//	go run -tags cuda ./bench/qubo -device cuda:0 -experiment verify
//	go run -tags cuda ./bench/qubo -device cuda:0 -experiment evaluate,paper,lambda,batch,target -data DIR
//	go run -tags cuda ./bench/qubo -device cuda:0 -experiment target -data DIR -instances 'G*' -limits 5000=60s
//
// Clocks: an engine's runs from the coefficients in host memory until its search
// has the solution, and for the seconds of the whole run until that is verified;
// that of massive multi-start from the matrix resident on the device, samples
// included; a peer's from its model in memory; an evaluation's is the device's
// own. DIR holds bqp2500-1.txt.xz and so on, and those of the G-set in gset/;
// Palubeckis' instances are drawn. A row whose instance is in neither is marked
// "not given". Every objective is recomputed from the instance's
// coefficients. Runs to a target are summed up by instance at the end.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"time"

	"coalesce/bench/result"
	"coalesce/runtime/device"
	"coalesce/runtime/emulated"
	"coalesce/runtime/host"
	solver "coalesce/solvers/qubo"
	"coalesce/templates"
)

type bench struct {
	ctx      context.Context
	dev      device.Device
	others   []device.Device // that search beside it
	facts    device.Facts
	settings settings
	peers    *peers
	start    time.Time
	file     *result.Of[result.Binary] // of the experiment that runs
	failed   bool
}

// settings are the flags.
type settings struct {
	device    string
	data      string
	out       string
	commit    string
	instances []string
	engines   []string
	variant   string
	rules     solver.Rules
	seeds     int
	runs      int
	count     int
	limit     time.Duration
	limits    limits
	iteration int
	sample    bool
	largest   int
	budget    time.Duration
	python    string
	mqlib     string
}

// An experiment adds rows to the file until it is done or the budget spent.
type experiment struct {
	name, about string
	run         func(b *bench) error
}

func experiments() []experiment {
	return []experiment{
		{"verify", "every variant against the reference, on small instances; with -sample one of each kind", (*bench).verify},
		{"evaluate", "rates of qubo/evaluate, every variant with -variant all, beside one core: the paper's first table", (*bench).evaluate},
		{"rates", "flips a second of qubo/bulk on drawn dense problems of the sizes in -instances, every variant with -variant all", (*bench).flipRates},
		{"paper", "massive multi-start, serially, on the paper's 21 instances: its two tables of results and its figures of progress", (*bench).paper},
		{"lambda", "massive multi-start over λ", (*bench).lambda},
		{"batch", "massive multi-start over the iterations at once", (*bench).batch},
		{"target", "time to the best known value, of the device's best engine or of -engines, every seed", (*bench).target},
		{"ablation", "time to the best known value with each part of the engine left out in turn", (*bench).ablation},
		{"peers", "time to the best known value of dwave-samplers, simulated-bifurcation and MQLib, where they are installed", (*bench).peerTarget},
	}
}

func main() {
	var s settings
	var names, instances, engines string
	flag.StringVar(&s.device, "device", "host", "host, emulated, or cuda:N in a build with -tags cuda; several, as in cuda:0,cuda:1, for target and ablation")
	flag.StringVar(&names, "experiment", "target", "comma-separated: "+list())
	flag.StringVar(&s.data, "data", "", "folder of instances")
	flag.StringVar(&s.out, "out", "bench/results", "folder for the JSON files, qubo-EXPERIMENT.json, qubo-EXPERIMENT-host.json on the host, qubo-EXPERIMENT-x2.json on two devices")
	flag.StringVar(&s.commit, "commit", "", "the commit measured, for the record")
	flag.StringVar(&instances, "instances", "", "comma-separated instances, patterns such as G5*, or sizes (default: all of the experiment)")
	flag.StringVar(&engines, "engines", "", "comma-separated engines (default: the device's best), peers or families to verify (default: all)")
	flag.StringVar(&s.variant, "variant", "", "label of a variant; all: every one")
	flag.TextVar(&s.rules, "rules", solver.Rules{}, "of the searches in target, ablation and rates, as in tenure=20,stall=10000: "+strings.Join(solver.RuleNames(), ", "))
	flag.IntVar(&s.seeds, "seeds", 3, "runs of an engine on an instance, seeds 1 to this")
	flag.IntVar(&s.runs, "runs", 10, "runs of an evaluation; one before them is uncounted")
	flag.IntVar(&s.count, "count", 1000, "solutions evaluated at once")
	flag.DurationVar(&s.limit, "limit", 10*time.Second, "time limit of a run to a target")
	flag.Var(&s.limits, "limits", "other limits from so many variables on, as in 3000=20s,5000=60s")
	flag.IntVar(&s.iteration, "iterations", 2500, "of massive multi-start")
	flag.IntVar(&s.largest, "largest", 0, "verify only on cases of at most so many variables, or the smallest (default: all)")
	flag.BoolVar(&s.sample, "sample", false, "verify one variant of each kind")
	flag.DurationVar(&s.budget, "budget", 9*time.Minute, "start no further row after this time")
	flag.StringVar(&s.python, "python", "python3", "interpreter that has dwave-samplers or simulated-bifurcation")
	flag.StringVar(&s.mqlib, "mqlib", "", "MQLib's command, a peer")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "Measures binary quadratic programs. Experiments:")
		for _, e := range experiments() {
			fmt.Fprintf(os.Stderr, "  %-9s %s\n", e.name, e.about)
		}
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() > 0 || s.seeds < 1 || s.runs < 1 || s.count < 1 || s.iteration < 1 {
		fmt.Fprintln(os.Stderr, "qubo: expected flags only, and counts of 1 or more")
		os.Exit(2)
	}
	s.instances, s.engines = split(instances), split(engines)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if !run(ctx, s, split(names)) {
		os.Exit(1)
	}
}

func run(ctx context.Context, s settings, names []string) bool {
	var devices []device.Device
	for _, name := range strings.Split(s.device, ",") {
		d, err := openDevice(name)
		if err != nil {
			fmt.Fprintln(os.Stderr, "qubo:", err)
			return false
		}
		defer d.Close()
		devices = append(devices, d)
	}
	b := &bench{ctx: ctx, dev: devices[0], others: devices[1:], facts: devices[0].Facts(), settings: s, start: time.Now(), peers: &peers{python: s.python, mqlib: mqlib{s.mqlib}}}
	for _, name := range names {
		at := slices.IndexFunc(experiments(), func(e experiment) bool { return e.name == name })
		if at < 0 {
			fmt.Fprintf(os.Stderr, "qubo: no experiment %q, expected %s\n", name, list())
			return false
		}
		b.file = &result.Of[result.Binary]{Experiment: name, Device: b.name(), Driver: b.facts.Driver, Commit: s.commit, Command: b.command(name)}
		if err := experiments()[at].run(b); err != nil {
			fmt.Fprintf(os.Stderr, "qubo: %s: %v\n", name, err)
			b.failed = true
		}
		b.summarize()
		if err := b.file.Write(s.out, b.fileOf(name)); err != nil {
			fmt.Fprintln(os.Stderr, "qubo:", err)
			b.failed = true
		}
	}
	return !b.failed
}

// fileOf is the name of an experiment's results. Those of a host, and of several
// devices, stand apart.
func (b *bench) fileOf(experiment string) string {
	if b.facts.Kind == device.Host {
		experiment += "-host"
	}
	if len(b.others) > 0 {
		experiment += fmt.Sprintf("-x%d", 1+len(b.others))
	}
	return "qubo-" + experiment
}

// name is that of the devices.
func (b *bench) name() string {
	if len(b.others) > 0 {
		return fmt.Sprintf("%d x %s", 1+len(b.others), b.facts.Name)
	}
	return b.facts.Name
}

// add keeps a row and tells of it.
func (b *bench) add(row result.Binary) {
	b.file.Rows = append(b.file.Rows, row)
	if row.Failed != "" {
		b.failed = true
	}
	fmt.Println(describe(row))
}

// late reports that the budget is spent.
func (b *bench) late() bool {
	return b.ctx.Err() != nil || time.Since(b.start) > b.settings.budget
}

// command is what repeats an experiment.
func (b *bench) command(name string) string {
	tags, s := "", b.settings
	if b.facts.Kind == device.CUDA {
		tags = "-tags cuda "
	}
	c := fmt.Sprintf("go run %s./bench/qubo -device %s -experiment %s -data DIR", tags, s.device, name)
	for _, f := range []struct {
		name, value, otherwise string
	}{
		{"instances", strings.Join(s.instances, ","), ""}, {"engines", strings.Join(s.engines, ","), ""}, {"variant", s.variant, ""}, {"rules", s.rules.String(), ""},
		{"seeds", strconv.Itoa(s.seeds), "3"}, {"count", strconv.Itoa(s.count), "1000"}, {"limit", s.limit.String(), "10s"},
		{"limits", s.limits.String(), ""}, {"iterations", strconv.Itoa(s.iteration), "2500"},
	} {
		if f.value == f.otherwise {
			continue
		}
		if strings.ContainsAny(f.value, "* ") { // of a shell
			f.value = "'" + f.value + "'"
		}
		c += " -" + f.name + " " + f.value
	}
	if s.sample {
		c += " -sample"
	}
	if s.largest > 0 {
		c += fmt.Sprintf(" -largest %d", s.largest)
	}
	return c
}

// limits are other time limits, from so many variables on.
type limits []struct {
	from int
	time time.Duration
}

// Set implements flag.Value.
func (l *limits) Set(text string) error {
	*l = nil
	for _, pair := range split(text) {
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
func (l limits) String() string {
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

// openDevice opens a device by its name.
func openDevice(name string) (device.Device, error) {
	kind, index, _ := strings.Cut(name, ":")
	switch kind {
	case device.Host:
		return host.Open(0), nil
	case device.Emulated:
		return emulated.Open(emulated.Options{Files: templates.Files})
	case device.CUDA:
		n, err := strconv.Atoi("0" + index)
		if err != nil {
			return nil, fmt.Errorf("device %q: expected cuda:N", name)
		}
		return openGPU(n)
	}
	return nil, fmt.Errorf("device %q: expected host, emulated or cuda:N", name)
}

func list() string {
	var names []string
	for _, e := range experiments() {
		names = append(names, e.name)
	}
	return strings.Join(names, ", ")
}

func split(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}
