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
	"io"

	"github.com/spf13/cobra"

	auctioncli "coalesce/internal/cli/auction"
	"coalesce/internal/cli/complete"
	"coalesce/internal/cli/kernels"
	"coalesce/internal/cli/manual"
	qubocli "coalesce/internal/cli/qubo"
	"coalesce/internal/cli/run"
	"coalesce/internal/problems"
)

// Main runs one command line, without the program's name, and returns the
// process's exit code.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return run.Main("coalesce", rootCommand, args, stdin, stdout, stderr)
}

// Call is Main within another program: it ends with ctx, and neither waits for signals, nor starts the CUDA binary, nor
// joins ranks.
func Call(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	a := run.New(ctx, args, stdin, stdout, stderr)
	a.Within = true
	return a.Execute(ctx, rootCommand(a))
}

// Commands are all commands with their flags, to be described. They do not run.
func Commands() *cobra.Command { return rootCommand(new(run.App)) }

func rootCommand(a *run.App) *cobra.Command {
	root := a.PrepareRoot(&cobra.Command{
		Use:   "coalesce",
		Short: "Solve combinatorial-optimisation problems with generated, tuned kernels",
		Long: `Coalesce solves combinatorial-optimisation problems with kernels generated for
every point of a parameter space and picked by measurement for this device and
problem size.

Results go to standard output, everything else to standard error. Exit codes:
0 ok, 1 failed, 2 the command line was wrong, 3 a check of the answer failed.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			err := run.GroupAction("devices, solve, verify, query, convert, generate, tune or explain")(cmd, args)
			if len(args) == 0 {
				return run.WithNext(err, "coalesce demo")
			}
			return err
		},
		Args: cobra.ArbitraryArgs,
	})
	convert := qubocli.ConvertCommand(a)
	convert.AddCommand(auctioncli.ConvertCommand(a))
	root.AddCommand(solveCommand(a), demoCommand(a), convert, generateCommand(a))
	root.AddCommand(kernels.TuneCommands(a, problems.List())...)
	root.AddCommand(run.EndWithContext(verifyCommand(a), queryCommand(a), versionCommand(a), manual.Command(run.Usagef("expected a folder, DIR")))...)
	root.AddCommand(run.EndWithContext(kernels.OtherCommands(a, problems.List())...)...)
	versionFlag(a, root)
	kernels.BundleHelp(a, root)
	complete.RegisterFlags(root)
	complete.ShellCommand(root, run.Usagef)
	return root
}
