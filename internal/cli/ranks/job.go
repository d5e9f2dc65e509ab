package ranks

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"coalesce/internal/ui"
	"coalesce/runtime/mpi"
)

// A Job solves several files, by ranks that share them or by one process, and writes their answers.
type Job struct {
	Team   *mpi.World    // nil: this process
	Folder Folder        // for the answers; empty: Out
	Out    *bufio.Writer // used on rank 0 alone, as are the fields below
	Talk   io.Writer
	Lines  bool // an answer is a line; others have an empty line between them
}

// Run solves files, the largest first, and writes each answer as soon as it comes. If a file fails,
// Run calls failed with its error and goes on with the other files.
func (j *Job) Run(ctx context.Context, paths []string, solve func(path string) Outcome, failed func(path string, code int)) error {
	first := j.Team == nil || j.Team.Rank() == 0
	var items []int
	if first {
		if j.Folder != "" {
			if err := j.Folder.Open(paths); err != nil {
				return err
			}
		}
		for _, k := range LongestFirst(paths) {
			if j.Folder == "" || !j.Folder.HasResult(paths[k]) {
				items = append(items, k)
			}
		}
		if j.Team != nil {
			line, err := Describe(j.Team, nil, false)
			if err != nil {
				return err
			}
			fmt.Fprintf(j.Talk, "coalesce: %s, %d files shared out\n", line, len(paths))
		}
		if there := len(paths) - len(items); there > 0 {
			fmt.Fprintf(j.Talk, "coalesce: %s has %d of %d results already\n", j.Folder, there, len(paths))
		}
	}
	p := ui.StartProgress(j.Talk)
	defer p.Close()
	came := 0
	err := ShareItems(ctx, j.Team, items, func(k int) Outcome { return solve(paths[k]) }, func(k int, o Outcome) error {
		came++
		p.Set("%d of %d solved", came, len(items))
		if o.Talk != "" {
			p.PrintLine("%s", strings.TrimSpace(o.Talk))
		}
		if o.Code != 0 {
			failed(paths[k], o.Code)
		}
		return j.write(ctx, paths[k], o.Text, came > 1)
	})
	if left := len(items) - came; first && err != nil && left > 0 {
		err = errors.Join(fmt.Errorf("%d of %d files were not solved", left, len(paths)), err)
	}
	return err
}

// write writes an answer, if there is one. What a folder does not take goes to Out, so that no answer is lost.
func (j *Job) write(ctx context.Context, path string, text []byte, later bool) error {
	if len(text) == 0 {
		return nil
	}
	var failed error
	if j.Folder != "" {
		if failed = j.Folder.Write(ctx, path, text); failed == nil {
			return nil
		}
		failed = fmt.Errorf("the answer of %s is on standard output: %w", path, failed)
	}
	if later && !j.Lines {
		fmt.Fprintln(j.Out)
	}
	_, err := j.Out.Write(text)
	return errors.Join(failed, err, j.Out.Flush())
}

// ExitWorld ends the program on all ranks with the exit code of the lowest rank that failed. That rank
// prints its error: run writes the error and returns the code.
func ExitWorld(w *mpi.World, stderr *os.File, run func(talk io.Writer) int) {
	var talk strings.Builder
	code := run(&talk)
	w.EndProgram(code, func() {
		text := talk.String()
		if w.Rank() > 0 {
			host, err := os.Hostname()
			if err != nil {
				host = "?"
			}
			text = strings.Replace(text, "coalesce: ", fmt.Sprintf("coalesce: rank %d on %s: ", w.Rank(), host), 1)
		}
		fmt.Fprint(stderr, text)
	})
}
