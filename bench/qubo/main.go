// Qubo measures the families of binary quadratic programs, the engines of
// Solve and the peers that are installed, on the same instances, and writes
// results as JSON. It runs where the device is:
//
//	go run ./bench/qubo -device host -experiment target -data DIR
//	go run -tags cuda ./bench/qubo -device cuda:0 -experiment evaluate,paper,lambda,batch,target -data DIR
//
// Clocks: an engine's runs from the coefficients in host memory to the verified
// solution; that of massive multi-start from the matrix resident on the device,
// samples included; a peer's from its model in memory; an evaluation's is the
// device's own. DIR holds bqp2500-1.txt.xz and so on; Palubeckis' instances are drawn. A row
// whose instance is in neither is marked "not given". Every objective is
// recomputed from the instance's coefficients.
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
	"coalesce/templates"
)

type bench struct {
	ctx      context.Context
	dev      device.Device
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
	seeds     int
	runs      int
	count     int
	limit     time.Duration
	iteration int
	budget    time.Duration
	python    string
}

// An experiment adds rows to the file until it is done or the budget spent.
type experiment struct {
	name, about string
	run         func(b *bench) error
}

func experiments() []experiment {
	return []experiment{
		{"evaluate", "rates of qubo/evaluate, every variant with -variant all, beside one core: the paper's first table", (*bench).evaluate},
		{"paper", "massive multi-start, serially, on the paper's 21 instances: its two tables of results and its figures of progress", (*bench).paper},
		{"lambda", "massive multi-start over λ", (*bench).lambda},
		{"batch", "massive multi-start over the iterations at once", (*bench).batch},
		{"target", "time to the best known value, of the device's best engine or of -engines, every seed", (*bench).target},
		{"peers", "time to the best known value of the packages installed", (*bench).peerTarget},
	}
}

func main() {
	var s settings
	var names, instances, engines string
	flag.StringVar(&s.device, "device", "host", "host, emulated, or cuda:N in a build with -tags cuda")
	flag.StringVar(&names, "experiment", "target", "comma-separated: "+list())
	flag.StringVar(&s.data, "data", "", "folder of instances")
	flag.StringVar(&s.out, "out", "bench/results", "folder for the JSON files, qubo-EXPERIMENT.json")
	flag.StringVar(&s.commit, "commit", "", "the commit measured, for the record")
	flag.StringVar(&instances, "instances", "", "comma-separated instances or sizes (default: all of the experiment)")
	flag.StringVar(&engines, "engines", "", "comma-separated engines (default: the device's best) or peers (default: all)")
	flag.StringVar(&s.variant, "variant", "", "label of a variant; all: every one")
	flag.IntVar(&s.seeds, "seeds", 3, "runs of an engine on an instance, seeds 1 to this")
	flag.IntVar(&s.runs, "runs", 10, "runs of an evaluation; one before them is uncounted")
	flag.IntVar(&s.count, "count", 1000, "solutions evaluated at once")
	flag.DurationVar(&s.limit, "limit", 10*time.Second, "time limit of a run to a target")
	flag.IntVar(&s.iteration, "iterations", 2500, "of massive multi-start")
	flag.DurationVar(&s.budget, "budget", 9*time.Minute, "start no further row after this time")
	flag.StringVar(&s.python, "python", "python3", "interpreter that has dwave-samplers")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "Measures binary quadratic programs. Experiments:")
		for _, e := range experiments() {
			fmt.Fprintf(os.Stderr, "  %-8s %s\n", e.name, e.about)
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
	d, err := openDevice(s.device)
	if err != nil {
		fmt.Fprintln(os.Stderr, "qubo:", err)
		return false
	}
	defer d.Close()
	b := &bench{ctx: ctx, dev: d, facts: d.Facts(), settings: s, start: time.Now(), peers: &peers{python: s.python}}
	for _, name := range names {
		at := slices.IndexFunc(experiments(), func(e experiment) bool { return e.name == name })
		if at < 0 {
			fmt.Fprintf(os.Stderr, "qubo: no experiment %q, expected %s\n", name, list())
			return false
		}
		b.file = &result.Of[result.Binary]{Experiment: name, Device: b.facts.Name, Driver: b.facts.Driver, Commit: s.commit, Command: b.command(name)}
		if err := experiments()[at].run(b); err != nil {
			fmt.Fprintf(os.Stderr, "qubo: %s: %v\n", name, err)
			b.failed = true
		}
		if err := b.file.Write(s.out, "qubo-"+name); err != nil {
			fmt.Fprintln(os.Stderr, "qubo:", err)
			b.failed = true
		}
	}
	return !b.failed
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
		{"instances", strings.Join(s.instances, ","), ""}, {"engines", strings.Join(s.engines, ","), ""}, {"variant", s.variant, ""},
		{"seeds", strconv.Itoa(s.seeds), "3"}, {"count", strconv.Itoa(s.count), "1000"}, {"limit", s.limit.String(), "10s"},
		{"iterations", strconv.Itoa(s.iteration), "2500"},
	} {
		if f.value != f.otherwise {
			c += " -" + f.name + " " + f.value
		}
	}
	return c
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
