// Package experiment has the code that the programs which measure a problem share: flags, devices, the
// budget of time, and files of rows. A program declares its experiments.
package experiment

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"coalesce/bench/result"
	"coalesce/runtime/device"
	"coalesce/runtime/devices"
)

// Settings are the flags that every program has.
type Settings struct {
	Device string // as devices.Open takes it
	Out    string // folder of the JSON files
	Commit string
	Budget time.Duration
	Resume bool // rows that an experiment's file has, of the same device and commit, are kept and not measured again

	names List   // of the experiments
	given string // the flags besides those above that were set, as a command line has them
}

// Register adds the settings to the command line, with the names of a program's experiments, of which
// `first` runs by default, and a usage that describes the program.
func Register[B any](s *Settings, about, first string, all []Experiment[B]) {
	flag.StringVar(&s.Device, "device", "host", "host, emulated, or cuda:N in a build with -tags cuda; several, with commas, where an experiment takes them")
	s.names = List{first}
	flag.Var(&s.names, "experiment", "comma-separated: "+list(all))
	flag.StringVar(&s.Out, "out", "bench/results", "folder for the JSON files")
	flag.StringVar(&s.Commit, "commit", "", "the commit measured, for the record")
	flag.DurationVar(&s.Budget, "budget", 9*time.Minute, "start no further row after this time")
	flag.BoolVar(&s.Resume, "resume", false, "keep the rows that the experiment's file has, where it is of the same device and commit, and measure the others")
	flag.Usage = usage(about, all)
}

// Main runs the experiments that the command line names, after the program has parsed its flags, and
// exits with code 1 if one failed. Ctrl-C and SIGTERM end ctx.
func Main(s *Settings, run func(ctx context.Context, names []string) bool) {
	s.given = changedFlags(flag.CommandLine)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if !run(ctx, s.names) {
		os.Exit(1)
	}
}

// places has, by the name of a flag whose value is a path of this machine, the word that a recorded
// command shows in its place; a flag with an empty word is left out.
var places = map[string]string{"data": "DIR", "python": "python3", "mqlib": "MQLIB", "device": "", "experiment": "", "out": "", "commit": "", "resume": "", "rival": ""}

// changedFlags are the flags of a set whose values differ from the defaults, as a command line has them.
func changedFlags(flags *flag.FlagSet) (text string) {
	flags.VisitAll(func(f *flag.Flag) {
		value := f.Value.String()
		if value == f.DefValue {
			return
		}
		place, local := places[f.Name]
		switch {
		case local && place == "":
			return
		case local:
			value = place
		case strings.ContainsAny(value, "* "): // characters that a shell would interpret
			value = "'" + value + "'"
		case value == "true":
			text += " -" + f.Name
			return
		}
		text += " -" + f.Name + " " + value
	})
	return text
}

// usage prints the purpose of a program, its experiments and its flags.
func usage[B any](about string, all []Experiment[B]) func() {
	return func() {
		fmt.Fprintln(os.Stderr, about+" Experiments:")
		for _, e := range all {
			fmt.Fprintf(os.Stderr, "  %-9s %s\n", e.Name, e.About)
		}
		flag.PrintDefaults()
	}
}

// An Experiment adds rows to the file until it is done or the budget spent. B is the
// program's own state.
type Experiment[B any] struct {
	Name, About string
	Run         func(B) error
}

// list names experiments.
func list[B any](all []Experiment[B]) string {
	var names []string
	for _, e := range all {
		names = append(names, e.Name)
	}
	return strings.Join(names, ", ")
}

// A Bench is the state that every program has, with rows of the form R.
type Bench[R result.Measured] struct {
	Ctx    context.Context
	Dev    device.Device
	Others []device.Device       // that work beside it
	Facts  device.Facts          // of Dev
	File   *result.Experiment[R] // of the experiment that runs
	Kept   []R                   // its rows that an earlier run measured
	Failed bool

	name string // of the file
	late bool   // a row of the experiment was left out because the budget was spent
	bad  bool   // a row of the experiment failed

	Program  string // the name of its folder in bench, with which files begin
	Settings Settings
	Start    time.Time
}

// New opens the devices of the settings.
func New[R result.Measured](ctx context.Context, program string, s Settings) (*Bench[R], error) {
	b := &Bench[R]{Ctx: ctx, Program: program, Settings: s, Start: time.Now()}
	opened, err := devices.Open(s.Device, devices.Options{})
	if err != nil {
		return nil, err
	}
	b.Dev, b.Others, b.Facts = opened[0], opened[1:], opened[0].Facts()
	return b, nil
}

// Close closes the devices.
func (b *Bench[R]) Close() {
	if b.Dev != nil {
		b.Dev.Close()
	}
	for _, d := range b.Others {
		d.Close()
	}
}

// OutOfTime reports that the budget is spent, or the program interrupted. A program asks before a
// row that it then leaves out: the experiment's file says that it is not finished.
func (b *Bench[R]) OutOfTime() bool {
	late := b.Ctx.Err() != nil || time.Since(b.Start) > b.Settings.Budget
	b.late = b.late || late
	return late
}

// LacksTimeFor reports whether a row is expected to take more time than the budget has left.
func (b *Bench[R]) LacksTimeFor(expected time.Duration) bool {
	if b.OutOfTime() {
		return true
	}
	short := time.Since(b.Start)+expected > b.Settings.Budget
	b.late = b.late || short
	return short
}

// ReportError prints an error, after which the program's exit code is 1.
func (b *Bench[R]) ReportError(err error) {
	fmt.Fprintf(os.Stderr, "%s: %v\n", b.Program, err)
	b.Failed, b.bad = true, true
}

// RunExperiment runs an experiment into the file program-NAME with a suffix.
func (b *Bench[R]) RunExperiment(name, suffix string, run func() error) {
	on := b.Facts.Name
	if len(b.Others) > 0 {
		on = fmt.Sprintf("%d x %s", 1+len(b.Others), on)
	}
	b.name, b.late, b.bad, b.Kept = b.Program+"-"+name+suffix, false, false, nil
	b.File = &result.Experiment[R]{Experiment: name, Device: on, Driver: b.Facts.Driver, Commit: b.Settings.Commit, Command: b.commandLine(name), Unfinished: true}
	if err := run(); err != nil {
		b.ReportError(fmt.Errorf("%s: %w", name, err))
	}
	b.File.Unfinished = b.late || b.bad || b.Ctx.Err() != nil
	b.write()
}

// commandLine is the command line that repeats an experiment.
func (b *Bench[R]) commandLine(name string) string {
	tags := ""
	if b.Facts.Kind == device.CUDA {
		tags = "-tags cuda "
	}
	return fmt.Sprintf("go run %s./bench/%s -device %s -experiment %s%s", tags, b.Program, b.Settings.Device, name, b.Settings.given)
}

// ResumeRows reads the right rows of the experiment's file into Kept, with -resume and if the file is of
// this device and commit. The experiment then leaves these rows out.
func (b *Bench[R]) ResumeRows() {
	if !b.Settings.Resume {
		return
	}
	old, err := result.Load[R](filepath.Join(b.Settings.Out, b.name+".json"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		b.ReportError(err)
	case old.Device == b.File.Device && old.Commit == b.Settings.Commit:
		b.Kept = slices.DeleteFunc(old.Rows, func(r R) bool { return !r.Succeeded() })
		b.File.Rows = slices.Clone(b.Kept)
	}
}

// AddRow adds a row and writes the file, so that a program that is killed loses no row.
func (b *Bench[R]) AddRow(row R) {
	b.File.Rows = append(b.File.Rows, row)
	b.Failed, b.bad = b.Failed || !row.Succeeded(), b.bad || !row.Succeeded()
	b.write()
}

func (b *Bench[R]) write() {
	if err := b.File.Write(b.Settings.Out, b.name); err != nil {
		b.ReportError(err)
	}
}

// Run calls do with each experiment of the names. It reports whether none failed.
func Run[R result.Measured, B any](b *Bench[R], names []string, all []Experiment[B], do func(Experiment[B])) bool {
	for _, name := range names {
		at := slices.IndexFunc(all, func(e Experiment[B]) bool { return e.Name == name })
		if at < 0 {
			b.ReportError(fmt.Errorf("no experiment %q, expected %s", name, list(all)))
			return false
		}
		do(all[at])
	}
	return !b.Failed
}

// A List is the value of a flag: words with commas between them, nil where there are none.
type List []string

// Set implements flag.Value.
func (l *List) Set(text string) error {
	*l = SplitList(text)
	return nil
}

// String implements flag.Value.
func (l List) String() string { return strings.Join(l, ",") }

// SplitList is a list of the command line, nil where it is empty.
func SplitList(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}
