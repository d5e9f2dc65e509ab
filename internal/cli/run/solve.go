package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/spf13/pflag"

	"coalesce/autotune/subject"
	"coalesce/autotune/tuned"
	"coalesce/internal/cli/atomicfile"
	"coalesce/internal/cli/effect"
	"coalesce/internal/cli/tuning"
	"coalesce/internal/picture"
	"coalesce/internal/placement"
	"coalesce/internal/ui"
	"coalesce/runtime/device"
	"coalesce/runtime/devices"
	"coalesce/solvers/solve"
)

// SolveFlags are the flags that every problem shares.
type SolveFlags struct {
	placement.Placement
	// append to this file what a variant had to be guessed for, which coalesce tune --from tunes
	untuned string `option:"record_untuned"`
	// solve again with the sequential reference and compare (slow)
	Verify bool `option:"verify"`
	// print one JSON object
	JSON bool `option:"json"`
	// draw the answer into this SVG file, of one instance alone: blocks, pairs, winners or a cut, and the progress of a search
	Plot    string `option:"plot"`
	Several bool   // more than one device will do

	given *pflag.FlagSet // all flags of the command

	Families []subject.Subject // that --pin may name
}

// Register adds the flags that say where to solve, how to choose variants, and what to print.
func (s *SolveFlags) Register(f *pflag.FlagSet) {
	s.given = f
	AddPlacement(f, &s.Placement, "device", "threads", "tuned", "pin", "frozen")
	AddOptions(f, s.Fields())
}

// CheckEffects returns an error if a flag of the command has no effect by a table.
func (s *SolveFlags) CheckEffects(table []effect.Rule) error {
	if err := effect.CheckFlags(s.given, table); err != nil {
		return AsUsage(err)
	}
	return nil
}

// tuningData returns the data that variants are chosen from, with the flags about the choice
// applied.
func (a *App) tuningData(ctx context.Context, s *SolveFlags) (*tuned.Database, error) {
	return Await(ctx, func() (*tuned.Database, error) {
		db, err := a.Database(s.Tuned)
		if err != nil {
			return nil, err
		}
		policy, err := s.Policy(s.Families)
		if err != nil {
			return nil, valueError(err)
		}
		if s.untuned != "" && (a.Team == nil || a.Team.Rank() == 0) { // one records, of several that solve together
			if policy.Guessed, err = tuning.OpenRecorder(s.untuned, a.PrintNotice); err != nil {
				return nil, err
			}
		}
		return db.WithPolicy(policy), nil
	})
}

// OpenToSolve hands the command over where the devices need another binary, and calls work with the tuning
// data and the open devices, which it closes afterwards.
func (a *App) OpenToSolve(ctx context.Context, s *SolveFlags, work func(*tuned.Database, []device.Device) error) error {
	if err := a.HandOver(s.Device); err != nil {
		return err
	}
	db, err := a.tuningData(ctx, s)
	if err != nil {
		return err
	}
	return a.WithDevices(s.Device, s.Threads, func(devices []device.Device) error { return work(db, devices) })
}

// AddPlacement adds flags of some options that say where to compute.
func AddPlacement(f *pflag.FlagSet, p *placement.Placement, names ...string) {
	p.Device = devices.Auto
	AddOptions(f, p.Fields().Select(names...))
}

// Check returns an error if a flag is wrong, with so many files. It lowers --threads to the cores that there are, and says so.
func (s *SolveFlags) Check(a *App, files int) error {
	warnOfFormerNames(a.Err, s.given)
	if cores := runtime.NumCPU(); s.Threads > cores {
		fmt.Fprintf(a.Err, "coalesce: --threads is %d: this machine has %s, all are used\n", s.Threads, ui.Count(cores, "core"))
		s.Threads = cores
	}
	if s.Plot != "" {
		if files > 1 {
			return Usagef("--plot is for one FILE, found %d", files)
		}
		if err := atomicfile.CheckWritable(s.Plot); err != nil {
			return err
		}
	}
	if s.Several {
		_, err := parseDevices(s.Device)
		return err
	}
	return parseDevice(s.Device)
}

// Draw writes the drawing of an answer where --plot asks for it, after ctrl-C too. The answer is printed even if that fails.
func (s *SolveFlags) Draw(ctx context.Context, a *App, drawing func() (*picture.Drawing, error)) error {
	if s.Plot == "" || a.Team != nil && a.Team.Rank() != 0 {
		return nil
	}
	d, err := drawing()
	if err != nil {
		return fmt.Errorf("--plot: %w", err)
	}
	return a.AnswerError(ctx, atomicfile.Finish(ctx, s.Plot, d.WriteSVG))
}

// WithDevices opens devices, hands them to work and closes them.
func (a *App) WithDevices(name string, threads int, work func([]device.Device) error) error {
	opened, err := a.OpenDevices(name, threads)
	if err != nil {
		return err
	}
	err = work(opened)
	_ = a.Out.Flush() // the answer does not wait for the driver to close; Run's own Flush returns the same error
	return cmp.Or(err, devices.Close(opened))
}

// WithDevice opens a device, hands it to work and closes it.
func (a *App) WithDevice(name string, threads int, work func(device.Device) error) error {
	if err := parseDevice(name); err != nil {
		return err
	}
	return a.WithDevices(name, threads, func(opened []device.Device) error { return work(opened[0]) })
}

// Await runs work that takes no context and gives up waiting for it when ctx
// ends: the process is about to exit then.
func Await[T any](ctx context.Context, work func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		value, err := work()
		done <- outcome{value, err}
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// UnverifiedError is why an answer could not be compared with a reference's. Such an answer is printed.
func UnverifiedError(err error) error { return fmt.Errorf("the answer was not verified: %w", err) }

// CompareWithReference compares an answer with a reference's where --verify asks for that, unless err tells of an earlier
// failure. An answer of a solve that was stopped is not compared.
func (s *SolveFlags) CompareWithReference(a *App, p *ui.Progress, stopped bool, err error, compare func() (string, error)) (string, error) {
	switch {
	case !s.Verify || err != nil:
		return "", err
	case stopped:
		p.PrintLine("coalesce: the answer was not verified: the solve was ended before it was done")
		return "", nil
	}
	p.SetLimit(0)
	p.Set("verifying with the reference")
	return compare()
}

// AnswerError is the error of a command that prints an answer. The end of ctx is none (package solve has the rule): what it left
// undone, such as a check or a file, is said.
func (a *App) AnswerError(ctx context.Context, err error) error {
	if solve.IsInterrupted(ctx, err) {
		a.PrintNotice(ui.OneLine(err))
		return nil
	}
	return err
}

// IsRefuted reports a check that an answer has failed.
func IsRefuted(err error) bool { return errors.As(err, new(checkError)) }

// AwaitBest is Await for work that takes ctx: when that ends the work has 0.65 s to give the
// best so far. A command ends within a second, and the driver took 0.26 s to end one of 32
// processes on a GPU.
func AwaitBest[T any](ctx context.Context, work func() (T, error)) (T, error) {
	late, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(650*time.Millisecond, cancel) })
	defer stop()
	return Await(late, work)
}

// BestOn is AwaitBest for work on a host, parts of which do not look at ctx, such as the reduction of 10^8 variables. Other
// devices end within their own times, and ranks together.
func BestOn[T any](ctx context.Context, a *App, on []device.Device, work func() (T, error)) (T, error) {
	if a.Team != nil || on[0].Facts().Kind != device.Host {
		return work()
	}
	return AwaitBest(ctx, work)
}

// Progress is the live line of a command; quiet until something takes long.
func (a *App) Progress() *ui.Progress { return ui.StartProgress(a.Err) }

// ShowIncumbent returns a function that shows an incumbent on the progress line: the instance's name, the
// incumbent, and the work done, counted in a unit.
func ShowIncumbent(p *ui.Progress, what, unit string) func(solve.Incumbent) {
	return func(now solve.Incumbent) {
		if now.Work == 0 { // some searches count their work at the end alone
			p.Set("%s %s", what, now)
			return
		}
		p.Set("%s %s, after %s %s", what, now, ui.Rate(float64(now.Work)), unit)
	}
}
