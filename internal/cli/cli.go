// Package cli is the command line: it reads flags, opens a device, hands an
// instance to a solver and prints the answer. Main is a function of its
// arguments and streams to an exit code, so that tests call it as main does.
//
// stdout carries data, stderr everything else. An answer that could not be
// written whole is a failure.
package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"coalesce/internal/cli/complete"
	"coalesce/internal/cli/manual"
	"coalesce/internal/cli/ranks"
	"coalesce/internal/cli/whole"
	"coalesce/internal/ui"
	"coalesce/runtime/collective"
	"coalesce/runtime/device"
	"coalesce/runtime/devices"
	"coalesce/runtime/memory"
	"coalesce/runtime/mpi"
	"coalesce/runtime/ondemand"
	"coalesce/solvers/formats"
	"coalesce/solvers/solve"
)

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1 // the work could not be done
	exitUsage  = 2 // the command line could not be understood
	exitCheck  = 3 // the work was done and a check of it failed
)

// Main runs one command line, without the program's name, and returns the
// process's exit code.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	memory.CollectWithin()
	ctx, stop := signal.NotifyContext(context.Background(), ranks.Signals...)
	defer stop()
	// The second ctrl-C ends the process at once.
	defer context.AfterFunc(ctx, stop)()
	// A closed pipe is a write error like any other, not a silent death.
	signal.Ignore(syscall.SIGPIPE)

	team, err := ranks.Enter(args, stderr)
	if err != nil {
		fmt.Fprintf(stderr, "coalesce: %s\n", ui.OneLine(err))
		return exitFailed
	}
	if team != nil && team.Rank() > 0 {
		stdout, stderr = io.Discard, io.Discard
	}
	a := &app{team: team, args: args, in: stdin, raw: stdout, out: bufio.NewWriter(whole.Until(ctx, stdout)), err: stderr, devices: devices.Kinds(), free: memory.Now}
	return a.run(ctx)
}

// Call is Main within another program: it ends with ctx, and neither waits for signals, nor starts the CUDA binary, nor
// joins ranks.
func Call(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	a := &app{within: true, args: args, in: stdin, raw: stdout, out: bufio.NewWriter(whole.Until(ctx, stdout)), err: stderr, devices: devices.Kinds(), free: memory.Now}
	return a.run(ctx)
}

// Commands are all commands with their flags, to be described. They do not run.
func Commands() *cobra.Command { return new(app).root() }

// run runs the command line.
func (a *app) run(ctx context.Context) int {
	root := a.root()
	root.SetArgs(a.args)
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	err := root.ExecuteContext(ctx)
	if flush := a.out.Flush(); flush != nil {
		a.started = true           // no mistake of the command line's
		if errors.Is(err, flush) { // the first write that failed, told again
			err = nil
		}
		err = errors.Join(fmt.Errorf("standard output is incomplete: %w", flush), err)
	}
	if a.team != nil {
		ranks.Leave(a.team, os.Stderr, func(talk io.Writer) int {
			a.err = talk
			return a.exit(ctx, err)
		})
	}
	return a.exit(ctx, err)
}

// app is one run of the program.
type app struct {
	within  bool         // another program runs the command
	team    *mpi.World   // the processes that solve together; nil: this one alone
	shared  bool         // ranks share files out, and solve each alone
	waited  bool         // rank 0 solves, and the others wait for it
	folder  ranks.Folder // of --output, for the results of several files
	args    []string
	in      io.Reader
	out     *bufio.Writer // data; keeps the first write error until the end
	raw     io.Writer     // data that must not wait in a buffer
	err     io.Writer     // talk
	devices devices.List
	points  *ondemand.Points   // variants that tune compiles; nil: those of the binary alone
	free    func() memory.Free // for an instance
	started bool               // the command line was understood and its command runs
}

// together returns the ranks that solve one instance together, each on its own devices; inst must be
// equal on all ranks. It returns nil if this process solves alone or if ranks share files out. linked
// says that the devices exchange data with those of other ranks.
func (a *app) together(devices []device.Device, linked bool, inst []byte) (collective.Ranks, error) {
	if !a.single() {
		return nil, nil
	}
	return a.team, ranks.Together(a.team, a.err, devices, linked, inst)
}

// single reports whether ranks have one instance, which they may solve together.
func (a *app) single() bool { return a.team != nil && !a.shared && !a.waited }

// alone calls do on rank 0 alone, as in a single process, and prints the reason.
func (a *app) alone(why string, do func() error) error {
	a.waited = true
	return ranks.Alone(a.team, a.err, why, do)
}

// usageError is a mistake in the command line.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// checkError is a finished answer that a check refuted.
type checkError struct{ error }

// exitError is the exit code of another process, which has printed the reason.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// line is an error on one line; the limit that bounds memory is named where a reader lacked memory.
func (a *app) line(err error) string {
	var (
		short *formats.MemoryError
		long  *formats.LimitError
		text  = ui.OneLine(err)
	)
	if (errors.As(err, &short) || errors.As(err, &long)) && a.free != nil {
		if free := a.free(); free.Bytes > 0 {
			text += " (bound by " + cmp.Or(free.By, "this machine's free memory") + ")"
		}
	}
	return text
}

// exit prints err for the user and returns its exit code.
func (a *app) exit(ctx context.Context, err error) int {
	var (
		usage usageError
		check checkError
		code  exitError
		some  someFailed
	)
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &code):
		return int(code)
	case errors.As(err, &some):
		fmt.Fprintf(a.err, "coalesce: %s\n", a.line(err))
		return some.code
	case errors.As(err, &usage) || errors.As(err, new(*formats.OptionError)) || errors.As(err, new(*solve.VariantError)) || !a.started:
		fmt.Fprintf(a.err, "coalesce: %s\nSee \"coalesce --help\" and \"coalesce COMMAND --help\".\n", a.line(err))
		return exitUsage
	case errors.As(err, &check):
		fmt.Fprintf(a.err, "coalesce: check failed: %s\n", a.line(err))
		return exitCheck
	default:
		fmt.Fprintf(a.err, "coalesce: %s\n", a.line(err))
	}
	return exitFailed
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "coalesce",
		Short: "Solve combinatorial-optimisation problems with generated, tuned kernels",
		Long: `Coalesce solves combinatorial-optimisation problems with kernels generated for
every point of a parameter space and picked by measurement for this device and
problem size.

Results go to standard output, everything else to standard error. Exit codes:
0 ok, 1 failed, 2 the command line was wrong, 3 a check of the answer failed.`,
		SilenceUsage:     true,
		SilenceErrors:    true,
		PersistentPreRun: func(*cobra.Command, []string) { a.started = true },
		RunE:             a.group("devices, solve, verify, query, convert, generate, tune or explain"),
		Args:             cobra.ArbitraryArgs,
	}
	root.AddCommand(a.solveCommand(), a.convertCommand(), a.generateCommand(), a.tuneCommand(), a.workerCommand())
	root.AddCommand(ending(a.devicesCommand(), a.verifyCommand(), a.queryCommand(), a.explainCommand(), a.versionCommand(), a.bundleCommand(), manual.Command(usagef("expected a folder, DIR")))...)
	root.AddCommand(ending(a.tuningCommands()...)...)
	root.SetFlagErrorFunc(flagError)
	a.versionFlag(root)
	a.bundleHelp(root)
	complete.Flags(root)
	complete.Shells(root, usagef)
	return root
}

// ending makes commands, and those below them, end with their context, also in the middle of a read.
func ending(commands ...*cobra.Command) []*cobra.Command {
	for _, cmd := range commands {
		ending(cmd.Commands()...)
		if run := cmd.RunE; run != nil {
			cmd.RunE = func(cmd *cobra.Command, args []string) error {
				_, err := await(cmd.Context(), func() (struct{}, error) { return struct{}{}, run(cmd, args) })
				return err
			}
		}
	}
	return commands
}

// group is the action of a command that only holds others.
func (a *app) group(expected string) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usagef("%q needs a command: expected %s", cmd.CommandPath(), expected)
		}
		hint := ""
		cmd.SuggestionsMinimumDistance = 2
		if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
			hint = fmt.Sprintf(" (did you mean %q?)", near[0])
		}
		return usagef("unknown command %q for %q: expected %s%s", args[0], cmd.CommandPath(), expected, hint)
	}
}
