package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"coalesce/autotune/subject"
	"coalesce/autotune/tuned"
	"coalesce/internal/cli/complete"
	"coalesce/internal/cli/effect"
	"coalesce/internal/cli/tuning"
	"coalesce/internal/placement"
	"coalesce/internal/ui"
	"coalesce/runtime/device"
	"coalesce/runtime/devices"
	"coalesce/solvers/solve"
)

func (a *app) solveCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "solve",
		Short: "Solve an instance",
		RunE:  a.group("csg, auction, qubo or assignment"),
		Args:  cobra.ArbitraryArgs,
	}
	for _, problem := range []*cobra.Command{a.solveCSGCommand(), a.solveAuctionCommand(), a.solveQUBOCommand(), a.solveAssignmentCommand()} {
		cmd.AddCommand(a.withOutput(problem))
	}
	return cmd
}

// solveFlags are the flags that every problem shares.
type solveFlags struct {
	placement.Placement
	untuned   string // file of what a variant had to be guessed for
	variant   string
	algorithm string
	verify    bool
	json      bool
	several   bool // more than one device will do

	given *pflag.FlagSet // all flags of the command

	families   []subject.Subject // that --pin may name
	algorithms []string          // that --algorithm may name
}

// settings returns the settings that the flags give, without devices.
func (s *solveFlags) settings(db *tuned.Database) solve.Settings {
	return solve.Settings{Algorithm: s.algorithm, Variant: s.variant, Tuning: db}
}

func (s *solveFlags) register(f *pflag.FlagSet) {
	f.StringVar(&s.variant, "variant", "", "run this variant, by its label, instead of the tuned one")
	s.registerChoice(f)
}

// registerChoice adds the flags that say where to solve, how to choose variants, and what to print.
func (s *solveFlags) registerChoice(f *pflag.FlagSet) {
	s.given = f
	placementFlags(f, &s.Placement, "device", "threads", "tuned", "pin", "frozen")
	f.StringVar(&s.untuned, "record-untuned", "", "append to this file what a variant had to be guessed for, which coalesce tune --from tunes")
	f.BoolVar(&s.verify, "verify", false, "solve again with the sequential reference and compare (slow)")
	f.BoolVar(&s.json, "json", false, "print one JSON object")
}

// effective returns an error if a flag of the command has no effect by a table.
func (s *solveFlags) effective(table []effect.Rule) error {
	if err := effect.Mistake(s.given, table); err != nil {
		return usageError{err}
	}
	return nil
}

// tuningData returns the data that variants are chosen from, with the flags about the choice
// applied.
func (a *app) tuningData(ctx context.Context, s *solveFlags) (*tuned.Database, error) {
	return await(ctx, func() (*tuned.Database, error) {
		db, err := a.database(s.Tuned)
		if err != nil {
			return nil, err
		}
		policy, err := s.Policy(s.families)
		if err != nil {
			return nil, valueError(err)
		}
		if s.untuned != "" && (a.team == nil || a.team.Rank() == 0) { // one records, of several that solve together
			if policy.Guessed, err = tuning.Recorder(s.untuned, a.err); err != nil {
				return nil, err
			}
		}
		return db.By(policy), nil
	})
}

// solving hands the command over where the devices need another binary, and calls work with the tuning
// data and the open devices, which it closes afterwards.
func (a *app) solving(ctx context.Context, s *solveFlags, work func(*tuned.Database, []device.Device) error) error {
	if err := a.handOver(s.Device); err != nil {
		return err
	}
	db, err := a.tuningData(ctx, s)
	if err != nil {
		return err
	}
	return a.withDevices(s.Device, s.Threads, func(devices []device.Device) error { return work(db, devices) })
}

// registerAlgorithm adds the flag that names an algorithm, one of a list, and the
// name that it had before.
func (s *solveFlags) registerAlgorithm(f *pflag.FlagSet, before string, list []string, about string) {
	s.algorithms = list
	f.StringVar(&s.algorithm, "algorithm", "", about+": "+strings.Join(list, ", ")+" (default: the solver's choice)")
	_ = f.SetAnnotation("algorithm", complete.Words, list)
	f.StringVar(&s.algorithm, before, "", "the former name of --algorithm")
	hideFormerName(f, before, "algorithm")
}

// placementFlags adds flags of some options that say where to compute.
func placementFlags(f *pflag.FlagSet, p *placement.Placement, names ...string) {
	p.Device = devices.Auto
	addOptions(f, p.Fields().Select(names...))
}

func (s *solveFlags) check(a *app) error {
	warnOfFormerNames(a.err, s.given)
	if s.algorithm != "" && !slices.Contains(s.algorithms, s.algorithm) {
		return usagef("--algorithm is %q, expected one of %s", s.algorithm, strings.Join(s.algorithms, ", "))
	}
	if cores := runtime.NumCPU(); s.Threads > cores {
		fmt.Fprintf(a.err, "coalesce: --threads is %d: this machine has %s, all are used\n", s.Threads, ui.Count(cores, "core"))
		s.Threads = cores
	}
	if s.several {
		_, err := parseDevices(s.Device)
		return err
	}
	return parseDevice(s.Device)
}

// withDevices opens devices, hands them to work and closes them.
func (a *app) withDevices(name string, threads int, work func([]device.Device) error) error {
	opened, err := a.openDevices(name, threads)
	if err != nil {
		return err
	}
	err = work(opened)
	_ = a.out.Flush() // the answer does not wait for the driver to close; Run's own Flush returns the same error
	return cmp.Or(err, devices.Close(opened))
}

// withDevice opens a device, hands it to work and closes it.
func (a *app) withDevice(name string, threads int, work func(device.Device) error) error {
	if err := parseDevice(name); err != nil {
		return err
	}
	return a.withDevices(name, threads, func(opened []device.Device) error { return work(opened[0]) })
}

// await runs work that takes no context and gives up waiting for it when ctx
// ends: the process is about to exit then.
func await[T any](ctx context.Context, work func() (T, error)) (T, error) {
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

// unverified is why an answer could not be compared with a reference's. Such an answer is printed.
func unverified(err error) error { return fmt.Errorf("the answer was not verified: %w", err) }

// verified compares an answer with a reference's where --verify asks for that, unless err tells of an earlier failure. An answer
// of a solve that was stopped is not compared.
func (s *solveFlags) verified(a *app, p *ui.Progress, stopped bool, err error, compare func() (string, error)) (string, error) {
	switch {
	case !s.verify || err != nil:
		return "", err
	case stopped:
		p.PrintLine("coalesce: the answer was not verified: the solve was ended before it was done")
		return "", nil
	}
	p.Set("verifying with the reference")
	return compare()
}

// answered is the error of a command that prints an answer. The end of ctx is none (package solve has the rule): what it left
// undone, such as a check or a file, is said.
func (a *app) answered(ctx context.Context, err error) error {
	if solve.Ended(ctx, err) {
		a.say(ui.OneLine(err))
		return nil
	}
	return err
}

// refuted reports a check that an answer has failed.
func refuted(err error) bool { return errors.As(err, new(checkError)) }

// awaitBest is await for work that takes ctx: when that ends the work has 0.65 s to give the
// best so far. A command ends within a second, and the driver took 0.26 s to end one of 32
// processes on a GPU.
func awaitBest[T any](ctx context.Context, work func() (T, error)) (T, error) {
	late, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(650*time.Millisecond, cancel) })
	defer stop()
	return await(late, work)
}

// bestOn is awaitBest for work on a host, parts of which do not look at ctx, such as the reduction of 10^8 variables. Other
// devices end within their own times, and ranks together.
func bestOn[T any](ctx context.Context, a *app, on []device.Device, work func() (T, error)) (T, error) {
	if a.team != nil || on[0].Facts().Kind != device.Host {
		return work()
	}
	return awaitBest(ctx, work)
}

// progress is the live line of a command; quiet until something takes long.
func (a *app) progress() *ui.Progress { return ui.StartProgress(a.err) }

// standing returns a function that shows an incumbent on the progress line: the name of what is solved,
// the incumbent, and the work done, counted in a unit.
func standing(p *ui.Progress, what, unit string) func(solve.Incumbent) {
	return func(now solve.Incumbent) {
		if now.Work == 0 { // some searches count their work at the end alone
			p.Set("%s %s", what, now)
			return
		}
		p.Set("%s %s, after %s %s", what, now, ui.Rate(float64(now.Work)), unit)
	}
}
