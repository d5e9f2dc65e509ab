package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"coalesce/internal/cli/ranks"
	"coalesce/internal/cli/whole"
	"coalesce/internal/ui"
	"coalesce/solvers/assignment"
	"coalesce/solvers/auction"
	"coalesce/solvers/csg"
	"coalesce/solvers/qubo"
	"coalesce/solvers/solve"
)

// The FILE of a command that means standard input, and what messages call it.
const (
	dash          = "-"
	standardInput = "standard input"
)

// called is the name of a FILE in messages.
func called(path string) string {
	if path == dash {
		return standardInput
	}
	return path
}

// readCSG reads FILE, which may be standard input; the three functions below do the same for the other
// problems.
func (a *app) readCSG(path string, o csg.ReadOptions) (*csg.Instance, error) {
	if path == dash {
		return csg.ReadFrom(a.in, -1, standardInput, o)
	}
	return csg.Read(path, o)
}

func (a *app) readAuction(path string) (*auction.Auction, error) {
	if path == dash {
		return auction.ReadFromWithin(a.in, standardInput, a.free().Bytes)
	}
	return auction.ReadWithin(path, a.free().Bytes)
}

func (a *app) readAssignment(path string, o assignment.ReadOptions) (*assignment.Instance, error) {
	if path == dash {
		return assignment.ReadFrom(a.in, -1, standardInput, o)
	}
	return assignment.Read(path, o)
}

func (a *app) readQUBO(path string, o qubo.ReadOptions) (*qubo.Instance, error) {
	if path == dash {
		return qubo.ReadFrom(a.in, standardInput, o)
	}
	return qubo.Read(path, o)
}

// withOutput gives a command that solves the flag --output.
func (a *app) withOutput(cmd *cobra.Command) *cobra.Command {
	var path string
	cmd.Flags().StringVarP(&path, "output", "o", "", "write the answer to this file, whole or not at all, instead of standard output; a folder, or FOLDER/, gets a JSON file for each FILE, and again only what it lacks")
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		dashes := 0
		for _, arg := range args {
			if arg == dash {
				dashes++
			}
		}
		if dashes > 1 {
			return usagef("FILE is %s %d times: standard input can be read once", dash, dashes)
		}
		if a.team != nil && dashes > 0 {
			return usagef("FILE is %s, which several ranks cannot read", dash)
		}
		if !cmd.Flags().Changed("output") {
			if ui.DiscardsOutput(a.raw) {
				fmt.Fprintln(a.err, "coalesce: standard output is closed, or /dev/null: nobody sees the answer, --output FILE keeps it")
			}
			if f := cmd.Flags(); a.team != nil || f.Changed("values") || f.Changed("plot") { // which are worth the work alone
				return run(cmd, args)
			}
			return a.whileRead(cmd, func() error { return run(cmd, args) })
		}
		if info, err := os.Stat(path); len(args) > 0 && dashes == 0 && (strings.HasSuffix(path, "/") || err == nil && info.IsDir()) {
			a.folder = ranks.Folder(path)
			return errors.Join(cmd.Flags().Set("json", "true"), run(cmd, args))
		}
		if err := whole.Check(path, args, usagef); err != nil {
			return err
		}
		if a.team != nil && a.team.Rank() > 0 {
			return run(cmd, args) // rank 0 writes
		}
		return a.intoFile(cmd.Context(), path, func() error { return run(cmd, args) })
	}
	return cmd
}

// whileRead ends work when standard output is a pipe that nobody reads any more: the answer would
// be lost, hours later.
func (a *app) whileRead(cmd *cobra.Command, work func() error) error {
	unread := errors.New("standard output is a pipe that nobody reads")
	if ui.ReaderClosed(a.raw) {
		return unread
	}
	ctx, end := context.WithCancelCause(cmd.Context())
	defer end(nil)
	cmd.SetContext(ctx)
	go func() {
		for again := time.NewTicker(time.Second); ; {
			select {
			case <-ctx.Done():
				again.Stop()
				return
			case <-again.C:
				if ui.ReaderClosed(a.raw) {
					end(unread)
				}
			}
		}
	}()
	err := work()
	if context.Cause(ctx) == unread {
		err = errors.Join(unread, err)
	}
	return err
}

// intoFile runs work and writes its output to a file, also after ctrl-C. If work fails, the file stays
// as it was, unless the output is a proof that there is no solution. Output that cannot be written to
// the file goes to standard output, so that no answer is lost.
func (a *app) intoFile(ctx context.Context, path string, work func() error) error {
	var text bytes.Buffer
	stdout := a.out
	a.out = bufio.NewWriter(&text)
	err := errors.Join(work(), a.out.Flush())
	a.out = stdout
	if text.Len() == 0 {
		return err
	}
	if err == nil || errors.Is(err, solve.ErrInfeasible) {
		failed := whole.Finish(ctx, path, func(w io.Writer) error {
			_, err := w.Write(text.Bytes())
			return err
		})
		if failed == nil {
			return err
		}
		err = errors.Join(err, failed)
	}
	_, lost := a.out.Write(text.Bytes())
	return errors.Join(fmt.Errorf("%s was not written, the answer is on standard output: %w", path, err), lost)
}
