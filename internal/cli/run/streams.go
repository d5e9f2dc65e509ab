package run

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

	"coalesce/internal/cli/atomicfile"
	"coalesce/internal/cli/ranks"
	"coalesce/internal/ui"
	"coalesce/solvers/formats"
	"coalesce/solvers/solve"
)

// The FILE of a command that means standard input, and what messages call it.
const (
	Dash          = "-"
	StandardInput = "standard input"
)

// NameOf is the name of a FILE in messages.
func NameOf(path string) string {
	if path == Dash {
		return StandardInput
	}
	return path
}

// WithOutput gives a command that solves the flag --output.
func (a *App) WithOutput(cmd *cobra.Command) *cobra.Command {
	var path string
	cmd.Flags().StringVarP(&path, "output", "o", "", "write the answer to this file, whole or not at all, instead of standard output; a folder, or FOLDER/, gets a JSON file for each FILE, and again only what it lacks")
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		dashes := 0
		for _, arg := range args {
			if arg == Dash {
				dashes++
			}
		}
		if dashes > 1 {
			return Usagef("FILE is %s %d times: standard input can be read once", Dash, dashes)
		}
		if a.Team != nil && dashes > 0 {
			return Usagef("FILE is %s, which several ranks cannot read", Dash)
		}
		if !cmd.Flags().Changed("output") {
			if ui.DiscardsOutput(a.Raw) {
				fmt.Fprintln(a.Err, "coalesce: standard output is closed, or /dev/null: nobody sees the answer, --output FILE keeps it")
			}
			if f := cmd.Flags(); a.Team != nil || f.Changed("values") || f.Changed("plot") { // which are worth the work alone
				return run(cmd, args)
			}
			return a.whileRead(cmd, func() error { return run(cmd, args) })
		}
		if info, err := os.Stat(path); len(args) > 0 && dashes == 0 && (strings.HasSuffix(path, "/") || err == nil && info.IsDir()) {
			a.Folder = ranks.Folder(path)
			return errors.Join(cmd.Flags().Set("json", "true"), run(cmd, args))
		}
		if err := atomicfile.CheckOutput(path, args, Usagef); err != nil {
			return err
		}
		if a.Team != nil && a.Team.Rank() > 0 {
			return run(cmd, args) // rank 0 writes
		}
		return a.intoFile(cmd.Context(), path, func() error { return run(cmd, args) })
	}
	return cmd
}

// whileRead ends work when standard output is a pipe that nobody reads any more: the answer would
// be lost, hours later.
func (a *App) whileRead(cmd *cobra.Command, work func() error) error {
	unread := errors.New("standard output is a pipe that nobody reads")
	if ui.ReaderClosed(a.Raw) {
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
				if ui.ReaderClosed(a.Raw) {
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
func (a *App) intoFile(ctx context.Context, path string, work func() error) error {
	var text bytes.Buffer
	stdout := a.Out
	a.Out = bufio.NewWriter(&text)
	err := errors.Join(work(), a.Out.Flush())
	a.Out = stdout
	if text.Len() == 0 {
		return err
	}
	if err == nil || errors.Is(err, solve.ErrInfeasible) {
		failed := atomicfile.Finish(ctx, path, func(w io.Writer) error {
			_, err := w.Write(text.Bytes())
			return err
		})
		if failed == nil {
			return err
		}
		err = errors.Join(err, failed)
	}
	_, lost := a.Out.Write(text.Bytes())
	return errors.Join(fmt.Errorf("%s was not written, the answer is on standard output: %w", path, err), lost)
}

// ReadWhole reads a file, or standard input, of at most so many bytes. The text and the values decoded from the text take
// about eight times its bytes, which have to fit into the free memory; where that is small, a file of 1 MiB is read.
func (a *App) ReadWhole(path string, most int64) (text []byte, err error) {
	const times, least = 8, 1 << 20
	limit, free := most, a.Free()
	if free.Bytes > 0 {
		limit = min(limit, max(least, free.Bytes/times))
	}
	if path == Dash {
		text, err = formats.ReadAll(a.In, StandardInput, limit)
	} else {
		text, err = formats.ReadFile(path, limit)
	}
	if errors.Is(err, formats.ErrLong) && limit < most {
		err = fmt.Errorf("%w: reading takes %d times as much, and %s", err, times, free)
	}
	return text, err
}

// maxStart is the largest file of a solution to begin with, in bytes: an earlier result of the largest instance.
const maxStart = 1 << 28

// ReadStart reads the file of a solution to begin with, whose noun errors say.
func (a *App) ReadStart(path, noun string) ([]byte, error) {
	text, err := a.ReadWhole(path, maxStart)
	if err != nil {
		return nil, fmt.Errorf("read the %s to begin with: %w", noun, err)
	}
	return text, nil
}

// CheckPlain returns an error for the name of a compressed file: files are written plain.
func CheckPlain(path string) error {
	return atomicfile.CheckUncompressed(path, Usagef)
}

// MaxAnswer is the largest file of an answer, in bytes.
const MaxAnswer = 1 << 30
