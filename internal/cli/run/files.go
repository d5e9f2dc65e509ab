package run

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"coalesce/internal/cli/ranks"
	"coalesce/internal/ui"
)

// SolveEach solves files one after the other, in their order. It prints an empty line between two answers
// for people; JSON objects have a line each. Every error names its file. If one of several files
// fails, each prints the error, goes on with the next file, and returns a someFailed at the end. A
// mistake in the command line and an interruption end it.
func (a *App) SolveEach(ctx context.Context, json bool, paths []string, solve func(path string) error) error {
	if a.Folder != "" || a.Team != nil && len(paths) > 1 {
		return a.share(ctx, json, paths, solve)
	}
	some := someFailed{all: len(paths)}
	for k, path := range paths {
		err := solve(path)
		if usage := (usageError{}); errors.As(err, &usage) {
			return err
		}
		if ctx.Err() == nil {
			err = withFileName(path, err)
		}
		if len(paths) == 1 {
			return err
		}
		if left := len(paths) - k - 1; ctx.Err() != nil && left > 0 {
			return errors.Join(fmt.Errorf("%d of %d files were not solved: %w", left, len(paths), ctx.Err()), err)
		}
		switch {
		case err != nil:
			some.code = max(some.code, a.Exit(ctx, err))
			some.names = append(some.names, NameOf(path))
		case !json && k < len(paths)-1:
			fmt.Fprintln(a.Out)
		}
		if err := a.Out.Flush(); err != nil {
			return err
		}
	}
	if some.code != ExitOK {
		return some
	}
	return nil
}

// withFileName adds the name of its file to an error. Drawn instances have no file.
func withFileName(path string, err error) error {
	if name := NameOf(path); err != nil && path != "" && !strings.Contains(err.Error(), name+":") {
		return fmt.Errorf("%s: %w", name, err)
	}
	return err
}

// share is SolveEach for several ranks, or with results in a folder: it prints answers in the order in
// which they are found, and skips instances whose result the folder has.
func (a *App) share(ctx context.Context, json bool, paths []string, solve func(path string) error) error {
	some, stdout, stderr := someFailed{all: len(paths)}, a.Out, a.Err
	a.shared = true
	job := ranks.Job{Team: a.Team, Folder: a.Folder, Talk: stderr, Out: stdout, Lines: json}
	err := job.Run(ctx, paths, func(path string) ranks.Outcome {
		var text, talk bytes.Buffer
		a.Out, a.Err = bufio.NewWriter(&text), &talk
		err := errors.Join(withFileName(path, solve(path)), a.Out.Flush())
		code := a.Exit(ctx, err)
		return ranks.Outcome{Code: code, Text: text.Bytes(), Talk: talk.String()}
	}, func(path string, code int) {
		some.code = max(some.code, code)
		some.names = append(some.names, NameOf(path))
	})
	a.Out, a.Err = stdout, stderr
	if err == nil && some.code != ExitOK {
		return some
	}
	return err
}

// A someFailed is the error of several files of which some failed; the reason of each was printed.
type someFailed struct {
	names []string
	all   int
	code  int // the largest exit code
}

// Error names the first of them.
func (s someFailed) Error() string {
	const named = 3
	list := strings.Join(s.names[:min(len(s.names), named)], ", ")
	if len(s.names) > named {
		list += ", …"
	}
	return fmt.Sprintf("%d of %s failed: %s", len(s.names), ui.Count(s.all, "file"), list)
}
