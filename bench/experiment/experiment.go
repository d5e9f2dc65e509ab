// Package experiment is what the programs that measure a problem share: flags, devices,
// the budget of time, and files of rows. A program declares its experiments.
package experiment

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
}

// Register adds them to the command line. names gets the experiments, with commas.
func (s *Settings) Register(names *string, first, experiments string) {
	flag.StringVar(&s.Device, "device", "host", "host, emulated, or cuda:N in a build with -tags cuda; several, with commas, where an experiment takes them")
	flag.StringVar(names, "experiment", first, "comma-separated: "+experiments)
	flag.StringVar(&s.Out, "out", "bench/results", "folder for the JSON files")
	flag.StringVar(&s.Commit, "commit", "", "the commit measured, for the record")
	flag.DurationVar(&s.Budget, "budget", 9*time.Minute, "start no further row after this time")
	flag.BoolVar(&s.Resume, "resume", false, "keep the rows that the experiment's file has, where it is of the same device and commit, and measure the others")
}

// Usage prints what a program is for, its experiments and its flags.
func Usage[B any](about string, all []Experiment[B]) func() {
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

// List names experiments.
func List[B any](all []Experiment[B]) string {
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
	Others []device.Device // that work beside it
	Facts  device.Facts    // of Dev
	File   *result.Of[R]   // of the experiment that runs
	Kept   []R             // its rows that an earlier run measured
	Failed bool

	name string // of the file
	late bool   // something was left out for the budget's sake
	bad  bool   // something went wrong

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

// Late reports that the budget is spent, or the program interrupted. A program asks before a
// row that it then leaves out: the experiment's file says that it is not finished.
func (b *Bench[R]) Late() bool {
	late := b.Ctx.Err() != nil || time.Since(b.Start) > b.Settings.Budget
	b.late = b.late || late
	return late
}

// Short reports that what is left of the budget is less than a row is expected to take.
func (b *Bench[R]) Short(expected time.Duration) bool {
	if b.Late() {
		return true
	}
	short := time.Since(b.Start)+expected > b.Settings.Budget
	b.late = b.late || short
	return short
}

// Fail prints an error and has the program end as failed.
func (b *Bench[R]) Fail(err error) {
	fmt.Fprintf(os.Stderr, "%s: %v\n", b.Program, err)
	b.Failed, b.bad = true, true
}

// Begin starts the file program-NAME with a suffix, of an experiment that command repeats.
func (b *Bench[R]) Begin(name, suffix, command string) {
	on := b.Facts.Name
	if len(b.Others) > 0 {
		on = fmt.Sprintf("%d x %s", 1+len(b.Others), on)
	}
	b.name, b.late, b.bad, b.Kept = b.Program+"-"+name+suffix, false, false, nil
	b.File = &result.Of[R]{Experiment: name, Device: on, Driver: b.Facts.Driver, Commit: b.Settings.Commit, Command: command, Unfinished: true}
}

// Resume takes up the right rows of the experiment's file as Kept, where the flags ask for it and
// the file is of this device and commit: the experiment leaves them out.
func (b *Bench[R]) Resume() {
	if !b.Settings.Resume {
		return
	}
	old, err := result.Load[R](filepath.Join(b.Settings.Out, b.name+".json"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		b.Fail(err)
	case old.Device == b.File.Device && old.Commit == b.Settings.Commit:
		b.Kept = slices.DeleteFunc(old.Rows, func(r R) bool { return !r.Right() })
		b.File.Rows = slices.Clone(b.Kept)
	}
}

// Add keeps a row, in the file too: a program that is killed loses none.
func (b *Bench[R]) Add(row R) {
	b.File.Rows = append(b.File.Rows, row)
	b.Failed, b.bad = b.Failed || !row.Right(), b.bad || !row.Right()
	b.write()
}

// End stores the file of the experiment.
func (b *Bench[R]) End() {
	b.File.Unfinished = b.late || b.bad || b.Ctx.Err() != nil
	b.write()
}

func (b *Bench[R]) write() {
	if err := b.File.Write(b.Settings.Out, b.name); err != nil {
		b.Fail(err)
	}
}

// Run finds experiments by their names and has do carry each out. It reports whether all
// went well.
func Run[R result.Measured, B any](b *Bench[R], names []string, all []Experiment[B], do func(Experiment[B])) bool {
	for _, name := range names {
		at := slices.IndexFunc(all, func(e Experiment[B]) bool { return e.Name == name })
		if at < 0 {
			b.Fail(fmt.Errorf("no experiment %q, expected %s", name, List(all)))
			return false
		}
		do(all[at])
	}
	return !b.Failed
}

// A Flag is one that a command repeats where its value is not the usual one.
type Flag struct{ Name, Value, Usual string }

// Command is what repeats an experiment of a program on a device of a kind.
func Command(program, kind, on, experiment string, flags ...Flag) string {
	c := "go run "
	if kind == device.CUDA {
		c += "-tags cuda "
	}
	c += fmt.Sprintf("./bench/%s -device %s -experiment %s", program, on, experiment)
	for _, f := range flags {
		switch {
		case f.Value == f.Usual:
			continue
		case strings.ContainsAny(f.Value, "* "): // of a shell
			f.Value = "'" + f.Value + "'"
		case f.Value == "true":
			c += " -" + f.Name
			continue
		}
		c += " -" + f.Name + " " + f.Value
	}
	return c
}

// Split is a list of the command line, nil where it is empty.
func Split(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}
