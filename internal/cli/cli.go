// Package cli is the command line: the root of all commands, and those that
// belong to no problem. Each problem's commands are in the folder of its name,
// and what all share is in package run. Main is a function of its arguments
// and streams to an exit code, so that tests call it as main does.
//
// stdout carries data, stderr everything else. An answer that could not be
// written whole is a failure.
package cli

import (
	"context"
	"fmt"
	"io"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	auctioncli "coalesce/internal/cli/auction"
	"coalesce/internal/cli/complete"
	"coalesce/internal/cli/manual"
	qubocli "coalesce/internal/cli/qubo"
	"coalesce/internal/cli/ranks"
	"coalesce/internal/cli/run"
	"coalesce/internal/ui"
	"coalesce/runtime/memory"
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
		return run.ExitFailed
	}
	if team != nil && team.Rank() > 0 {
		stdout, stderr = io.Discard, io.Discard
	}
	a := run.New(ctx, args, stdin, stdout, stderr)
	a.Team = team
	return a.Execute(ctx, root(a))
}

// Call is Main within another program: it ends with ctx, and neither waits for signals, nor starts the CUDA binary, nor
// joins ranks.
func Call(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	a := run.New(ctx, args, stdin, stdout, stderr)
	a.Within = true
	return a.Execute(ctx, root(a))
}

// Commands are all commands with their flags, to be described. They do not run.
func Commands() *cobra.Command { return root(new(run.App)) }

func root(a *run.App) *cobra.Command {
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
		PersistentPreRun: func(*cobra.Command, []string) { a.Started = true },
		RunE:             group("devices, solve, verify, query, convert, generate, tune or explain"),
		Args:             cobra.ArbitraryArgs,
	}
	convert := qubocli.ConvertCommand(a)
	convert.AddCommand(auctioncli.ConvertCommand(a))
	root.AddCommand(solveCommand(a), convert, generateCommand(a), tuneCommand(a), workerCommand(a))
	root.AddCommand(ending(devicesCommand(a), verifyCommand(a), queryCommand(a), explainCommand(a), versionCommand(a), bundleCommand(a), manual.Command(run.Usagef("expected a folder, DIR")))...)
	root.AddCommand(ending(tuningCommands(a)...)...)
	root.SetFlagErrorFunc(run.FlagError)
	versionFlag(a, root)
	bundleHelp(a, root)
	complete.Flags(root)
	complete.Shells(root, run.Usagef)
	return root
}

// ending makes commands, and those below them, end with their context, also in the middle of a read.
func ending(commands ...*cobra.Command) []*cobra.Command {
	for _, cmd := range commands {
		ending(cmd.Commands()...)
		if act := cmd.RunE; act != nil {
			cmd.RunE = func(cmd *cobra.Command, args []string) error {
				_, err := run.Await(cmd.Context(), func() (struct{}, error) { return struct{}{}, act(cmd, args) })
				return err
			}
		}
	}
	return commands
}

// group is the action of a command that only holds others.
func group(expected string) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return run.Usagef("%q needs a command: expected %s", cmd.CommandPath(), expected)
		}
		hint := ""
		cmd.SuggestionsMinimumDistance = 2
		if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
			hint = fmt.Sprintf(" (did you mean %q?)", near[0])
		}
		return run.Usagef("unknown command %q for %q: expected %s%s", args[0], cmd.CommandPath(), expected, hint)
	}
}
