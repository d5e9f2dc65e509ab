package run

import (
	"context"
	"fmt"
	"io"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"coalesce/internal/cli/ranks"
	"coalesce/internal/ui"
	"coalesce/runtime/memory"
	"coalesce/runtime/mpi"
)

// Main runs one command line of a program, without the program's name, by the command that has all others, and returns
// the process's exit code. The first ctrl-C ends the command, the second the process.
func Main(program string, root func(*App) *cobra.Command, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	memory.CollectWithin()
	ctx, stop := signal.NotifyContext(context.Background(), ranks.Signals...)
	defer stop()
	// The second ctrl-C ends the process at once.
	defer context.AfterFunc(ctx, stop)()
	// A closed pipe is a write error like any other, not a silent death.
	signal.Ignore(syscall.SIGPIPE)

	var team *mpi.World
	var err error
	if program == coalesce { // processes of another program work alone, also under a launcher of MPI
		team, err = ranks.JoinWorld(args, stderr)
	}
	if err != nil {
		fmt.Fprintf(stderr, "%s: %s\n", program, ui.OneLine(err))
		return ExitFailed
	}
	if team != nil && team.Rank() > 0 {
		stdout, stderr = io.Discard, io.Discard
	}
	a := New(ctx, args, stdin, stdout, stderr)
	a.Program, a.Team = program, team
	return a.Execute(ctx, root(a))
}

// EndWithContext makes commands, and those below them, end with their context, also in the middle of a read.
func EndWithContext(commands ...*cobra.Command) []*cobra.Command {
	for _, cmd := range commands {
		EndWithContext(cmd.Commands()...)
		if act := cmd.RunE; act != nil {
			cmd.RunE = func(cmd *cobra.Command, args []string) error {
				_, err := Await(cmd.Context(), func() (struct{}, error) { return struct{}{}, act(cmd, args) })
				return err
			}
		}
	}
	return commands
}
