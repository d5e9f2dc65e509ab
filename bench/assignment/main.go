// Assignment races the families of linear assignment, the host's solver and
// the peers that are installed, on the same matrices in one run, and writes
// results as JSON. It runs where the device is:
//
//	go run ./bench/assignment -device host -experiment host
//	go run -tags cuda ./bench/assignment -device cuda:0 -experiment race,kinds,paper,paths
//
// The clock runs from the call, with the costs resident on the device and the
// workspace allocated, to the matching and duals on the host, certificate
// checked, from a cold start; each seed runs up to -runs times, one run before
// them uncounted. Peers have their costs resident in the type that they take,
// and return no certificate. An answer other than a known optimum, or than
// another contender's, is a failure.
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
	file     *result.Of[result.Solve] // of the experiment that runs
	history  history
	failed   bool
}

// settings are the flags.
type settings struct {
	device   string
	out      string
	commit   string
	kinds    []string
	sizes    []int
	families []string
	variant  string
	sample   bool
	largest  int
	seeds    int
	runs     int
	spend    time.Duration
	slow     time.Duration
	budget   time.Duration
	python   string
	peerSize int
	devices  int
}

// An experiment adds rows to the file until it is done or the budget spent.
type experiment struct {
	name, about string
	run         func(b *bench) error
}

func experiments() []experiment {
	return []experiment{
		{"race", "every family, the host and the peers on the instances of the targets", (*bench).race},
		{"kinds", "every family and the host on every kind of costs, with noise added", (*bench).kinds},
		{"paper", "the paper's table: costs up to n/10, n and 10n, both variants, and sequential references", (*bench).paper},
		{"paths", "many disjoint augmenting paths a phase against one", (*bench).paths},
		{"batch", "many matrices in one launch", (*bench).batches},
		{"scaling", "one GPU, two, four: the paper's weak and strong scaling, and what one GPU cannot hold", (*bench).scaling},
		{"points", "costs that are distances of points: uniform, clustered and with ties, on the device and the host", (*bench).points},
		{"verify", "every variant of every family on the tuner's cases; -sample for one of each kind", (*bench).verify},
		{"host", "the host's solver against the peers of one thread", (*bench).host},
	}
}

func main() {
	var s settings
	var names, kinds, sizes, families string
	var external externals
	flag.StringVar(&s.device, "device", "host", "host, emulated, or cuda:N in a build with -tags cuda")
	flag.StringVar(&names, "experiment", "host", "comma-separated: "+list())
	flag.StringVar(&s.out, "out", "bench/results", "folder for the JSON files, assignment-EXPERIMENT.json")
	flag.StringVar(&s.commit, "commit", "", "the commit measured, for the record")
	flag.StringVar(&kinds, "kinds", "", "comma-separated kinds of costs (default: all of the experiment)")
	flag.StringVar(&sizes, "sizes", "", "comma-separated sides (default: all of the experiment)")
	flag.StringVar(&families, "families", "", "comma-separated families and methods (default: all of the experiment)")
	flag.StringVar(&s.variant, "variant", "", "label of the variant to use; needs one family")
	flag.IntVar(&s.largest, "largest", 0, "verify only on cases of at most this size, or the smallest (default: all)")
	flag.BoolVar(&s.sample, "sample", false, "verify only variants that show some value of some parameter first")
	flag.IntVar(&s.seeds, "seeds", 3, "instances of each kind and size; their seeds are s*2^40")
	flag.IntVar(&s.runs, "runs", 10, "most runs of a contender on an instance")
	flag.DurationVar(&s.spend, "spend", 2*time.Second, "start no further run of a contender on an instance after this time")
	flag.DurationVar(&s.slow, "slow", 30*time.Second, "leave out a contender that takes longer, or is expected to")
	flag.DurationVar(&s.budget, "budget", 9*time.Minute, "start no further row after this time")
	flag.StringVar(&s.python, "python", "python3", "interpreter that has SciPy, lapx or torch-linear-assignment; empty for none")
	flag.IntVar(&s.peerSize, "peer-size", 10000, "largest side that python's peers are asked about")
	flag.IntVar(&s.devices, "devices", 8, "most devices of the scaling")
	flag.Var(&external, "peer", "NAME=COMMAND of another peer, repeatable; see externals")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "Races solvers of linear assignment. Experiments:")
		for _, e := range experiments() {
			fmt.Fprintf(os.Stderr, "  %-8s %s\n", e.name, e.about)
		}
		flag.PrintDefaults()
	}
	flag.Parse()
	s.kinds, s.families = split(kinds), split(families)
	for _, text := range split(sizes) {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || flag.NArg() > 0 {
			fmt.Fprintf(os.Stderr, "assignment: -sizes %s: expected sides of 1 or more\n", sizes)
			os.Exit(2)
		}
		s.sizes = append(s.sizes, n)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if !run(ctx, s, split(names), external) {
		os.Exit(1)
	}
}

func run(ctx context.Context, s settings, names []string, external externals) bool {
	d, err := openDevice(s.device, 0)
	if err != nil {
		fmt.Fprintln(os.Stderr, "assignment:", err)
		return false
	}
	defer d.Close()
	b := &bench{ctx: ctx, dev: d, facts: d.Facts(), settings: s, start: time.Now()}
	if b.peers, err = startPeers(ctx, s.python, external); err != nil {
		fmt.Fprintln(os.Stderr, "assignment: peers:", err)
	}
	defer b.peers.Close()
	for _, name := range names {
		at := slices.IndexFunc(experiments(), func(e experiment) bool { return e.name == name })
		if at < 0 {
			fmt.Fprintf(os.Stderr, "assignment: no experiment %q, expected %s\n", name, list())
			return false
		}
		b.file = &result.Of[result.Solve]{Experiment: name, Device: b.facts.Name, Driver: b.facts.Driver, Commit: s.commit, Command: b.command(name)}
		b.history = history{}
		if err := experiments()[at].run(b); err != nil {
			fmt.Fprintf(os.Stderr, "assignment: %s: %v\n", name, err)
			b.failed = true
		}
		if err := b.write(); err != nil {
			fmt.Fprintln(os.Stderr, "assignment:", err)
			b.failed = true
		}
	}
	return !b.failed
}

// write stores what there is of the experiment.
func (b *bench) write() error { return b.file.Write(b.settings.out, "assignment-"+b.file.Experiment) }

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
	c := fmt.Sprintf("go run %s./bench/assignment -device %s -experiment %s", tags, s.device, name)
	for _, f := range []struct {
		name, value, otherwise string
	}{
		{"sizes", strings.ReplaceAll(strings.Trim(fmt.Sprint(s.sizes), "[]"), " ", ","), ""},
		{"kinds", strings.Join(s.kinds, ","), ""}, {"families", strings.Join(s.families, ","), ""}, {"variant", s.variant, ""},
		{"seeds", strconv.Itoa(s.seeds), "3"}, {"runs", strconv.Itoa(s.runs), "10"}, {"spend", s.spend.String(), "2s"},
		{"slow", s.slow.String(), "30s"}, {"budget", s.budget.String(), "9m0s"}, {"devices", strconv.Itoa(s.devices), "8"}, {"largest", strconv.Itoa(s.largest), "0"},
	} {
		if f.value != f.otherwise {
			c += " -" + f.name + " " + f.value
		}
	}
	if s.sample {
		c += " -sample"
	}
	return c
}

// openDevice opens a device by its name, the more-th after it.
func openDevice(name string, more int) (device.Device, error) {
	kind, index, _ := strings.Cut(name, ":")
	switch kind {
	case device.Host:
		return host.Open(0), nil
	case device.Emulated:
		return emulated.Open(emulated.Options{Index: more, Files: templates.Files})
	case device.CUDA:
		n, err := strconv.Atoi("0" + index)
		if err != nil {
			return nil, fmt.Errorf("device %q: expected cuda:N", name)
		}
		return openGPU(n + more)
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
