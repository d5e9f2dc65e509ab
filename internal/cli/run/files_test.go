package run

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
)

// Of several files the exit code is the largest, each failure is told with its file,
// and what went before the interruption stays.
func TestEach(t *testing.T) {
	boom := errors.New("boom")
	for _, c := range []struct {
		name  string
		json  bool
		fails map[string]error
		code  int
		out   string
		talk  string
	}{
		{"all well", false, nil, ExitOK, "a\n\nb\n\nc\n", ""},
		{"lines", true, nil, ExitOK, "a\nb\nc\n", ""},
		{"one fails", true, map[string]error{"b": boom}, ExitFailed, "a\nc\n", "coalesce: b: boom\ncoalesce: 1 of 3 files failed: b\n"},
		{"first named", true, map[string]error{"a": errors.New("a:3: boom")}, ExitFailed, "b\nc\n", "coalesce: a:3: boom\ncoalesce: 1 of 3 files failed: a\n"},
		{"a wrong flag", true, map[string]error{"b": Usagef("no such flag")}, ExitUsage, "a\n", "coalesce: no such flag\nnext: coalesce --help\n"},
		{"the largest code", false, map[string]error{"a": AsCheck(boom), "c": boom}, ExitCheck, "b\n\n", "coalesce: check failed: a: boom\ncoalesce: c: boom\ncoalesce: 2 of 3 files failed: a, c\n"},
	} {
		var out, talk bytes.Buffer
		a := &App{Out: bufio.NewWriter(&out), Err: &talk, Started: true}
		err := a.SolveEach(t.Context(), c.json, []string{"a", "b", "c"}, func(path string) error {
			if err := c.fails[path]; err != nil {
				return err
			}
			fmt.Fprintln(a.Out, path)
			return nil
		})
		if code := a.Exit(t.Context(), err); code != c.code || out.String() != c.out || talk.String() != c.talk {
			t.Errorf("%s: exit code %d, %q, %q, expected %d, %q, %q", c.name, code, out.String(), talk.String(), c.code, c.out, c.talk)
		}
	}

	ctx, cancel := context.WithCancel(t.Context())
	var out, talk bytes.Buffer
	a := &App{Out: bufio.NewWriter(&out), Err: &talk, Started: true}
	err := a.SolveEach(ctx, true, []string{"a", "b", "c"}, func(path string) error {
		cancel()
		fmt.Fprintln(a.Out, path)
		return nil
	})
	a.Out.Flush()
	if code := a.Exit(ctx, err); code != ExitFailed || out.String() != "a\n" || talk.String() != "coalesce: 2 of 3 files were not solved: interrupted\n" {
		t.Errorf("interrupted: exit code %d, %q, %q", code, out.String(), talk.String())
	}
}

func TestNamed(t *testing.T) {
	for _, c := range []struct{ path, err, want string }{
		{"a.csv", "no rows", "a.csv: no rows"}, {"a.csv", "a.csv:3: found x", "a.csv:3: found x"}, {"", "no room", "no room"}, {"-", "no rows", StandardInput + ": no rows"},
	} {
		if got := withFileName(c.path, errors.New(c.err)).Error(); got != c.want {
			t.Errorf("%q of %q: got %q, want %q", c.err, c.path, got, c.want)
		}
	}
	if err := withFileName("a.csv", nil); err != nil {
		t.Error(err)
	}
}
