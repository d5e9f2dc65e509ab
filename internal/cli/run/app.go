// Package run has what the commands share: a run of the program with its streams and devices, exit codes, the flags of all
// solves, solves of several files, and the lines printed with every answer.
package run

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"coalesce/internal/cli/atomicfile"
	"coalesce/internal/cli/ranks"
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
	ExitOK     = 0
	ExitFailed = 1 // the work could not be done
	ExitUsage  = 2 // the command line could not be understood
	ExitCheck  = 3 // the work was done and a check of it failed
)

// An App is one run of the program.
type App struct {
	Program string       // name of the program in messages, and of its folder in the user's configuration; empty: coalesce
	Within  bool         // another program runs the command
	Team    *mpi.World   // the processes that solve together; nil: this one alone
	shared  bool         // ranks share files out, and solve each alone
	waited  bool         // rank 0 solves, and the others wait for it
	Folder  ranks.Folder // of --output, for the results of several files
	args    []string
	In      io.Reader
	Out     *bufio.Writer // data; keeps the first write error until the end
	Raw     io.Writer     // data that must not wait in a buffer
	Err     io.Writer     // talk
	Devices devices.List
	Points  *ondemand.Points   // variants that tune compiles; nil: those of the binary alone
	Free    func() memory.Free // for an instance
	Started bool               // the command line was understood and its command runs
	command string             // the command with the names of those above it; empty: it is not known yet
}

// New is a run on this machine's devices, of a command line without the program's name. Its output ends with ctx.
func New(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) *App {
	return &App{args: args, In: stdin, Raw: stdout, Out: bufio.NewWriter(atomicfile.ContextWriter(ctx, stdout)), Err: stderr, Devices: devices.Kinds(), Free: memory.FreeNow}
}

// Name is the program's name.
func (a *App) Name() string { return cmp.Or(a.Program, coalesce) }

// coalesce is the program that solves.
const coalesce = "coalesce"

// PrepareRoot makes a command, which has all others, report its errors by Exit.
func (a *App) PrepareRoot(root *cobra.Command) *cobra.Command {
	root.SetFlagErrorFunc(FlagError)
	root.SilenceUsage, root.SilenceErrors = true, true
	root.PersistentPreRun = func(cmd *cobra.Command, _ []string) { a.Started, a.command = true, cmd.CommandPath() }
	return root
}

// Execute runs the command line by a command that has all others, and returns the exit code.
func (a *App) Execute(ctx context.Context, root *cobra.Command) int {
	root.SetArgs(a.args)
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	at, err := root.ExecuteContextC(ctx)
	a.command = at.CommandPath()
	if flush := a.Out.Flush(); flush != nil {
		a.Started = true           // no mistake of the command line's
		if errors.Is(err, flush) { // the first write that failed, told again
			err = nil
		}
		err = errors.Join(fmt.Errorf("standard output is incomplete: %w", flush), err)
	}
	if a.Team != nil {
		ranks.ExitWorld(a.Team, os.Stderr, func(talk io.Writer) int {
			a.Err = talk
			return a.Exit(ctx, err)
		})
	}
	return a.Exit(ctx, err)
}

// JoinRanks returns the ranks that solve one instance together, each on its own devices; inst must be
// equal on all ranks. It returns nil if this process solves alone or if ranks share files out. linked
// says that the devices exchange data with those of other ranks.
func (a *App) JoinRanks(devices []device.Device, linked bool, inst []byte) (collective.Ranks, error) {
	if !a.HasOneInstance() {
		return nil, nil
	}
	return a.Team, ranks.Announce(a.Team, a.Err, devices, linked, inst)
}

// HasOneInstance reports whether ranks have one instance, which they may solve together.
func (a *App) HasOneInstance() bool { return a.Team != nil && !a.shared && !a.waited }

// OnRankZero calls do on rank 0 alone, as in a single process, and prints the reason.
func (a *App) OnRankZero(why string, do func() error) error {
	a.waited = true
	return ranks.OnRankZero(a.Team, a.Err, why, do)
}

// usageError is a mistake in the command line.
type usageError struct{ error }

// AsUsage makes an error a mistake in the command line.
func AsUsage(err error) error { return usageError{err} }

// Usagef is a mistake in the command line, as fmt.Errorf writes it.
func Usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// checkError is a finished answer that a check refuted.
type checkError struct{ error }

// AsCheck makes an error one of a finished answer that a check refuted.
func AsCheck(err error) error { return checkError{err} }

// SolverError makes the error of an answer that a solver's own check refuted, which is or wraps failed, one of a check.
func SolverError(err, failed error) error {
	if errors.Is(err, failed) {
		return AsCheck(err)
	}
	return err
}

// An ExitError is the exit code of another process, which has printed the reason.
type ExitError int

func (e ExitError) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// line is an error on one line; the limit that bounds memory is named where a reader lacked memory.
func (a *App) line(err error) string {
	var (
		short *formats.MemoryError
		long  *formats.LimitError
		text  = ui.OneLine(err)
	)
	if (errors.As(err, &short) || errors.As(err, &long)) && a.Free != nil {
		if free := a.Free(); free.Bytes > 0 {
			text += " (bound by " + cmp.Or(free.By, "this machine's free memory") + ")"
		}
	}
	return text
}

// Exit prints err for the user and returns its exit code.
func (a *App) Exit(ctx context.Context, err error) int {
	var (
		usage usageError
		check checkError
		code  ExitError
		some  someFailed
	)
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &code):
		return int(code)
	case errors.As(err, &some):
		a.PrintNotice(a.line(err))
		return some.code
	case errors.As(err, &usage) || errors.As(err, new(*formats.OptionError)) || errors.As(err, new(*solve.VariantError)) || !a.Started:
		fmt.Fprintf(a.Err, "%s: %s\n", a.Name(), a.line(err))
		if !a.Within {
			fmt.Fprintf(a.Err, "next: %s\n", cmp.Or(a.nextCommand(err), a.helpCommand()))
		}
		return ExitUsage
	case errors.As(err, &check):
		a.PrintNotice("check failed: " + a.line(err))
		return ExitCheck
	default:
		text := a.line(err)
		if next := a.nextCommand(err); next != "" && ctx.Err() == nil {
			text += "; next: " + next
		}
		a.PrintNotice(text)
	}
	return ExitFailed
}
