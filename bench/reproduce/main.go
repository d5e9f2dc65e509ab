// Reproduce runs everything that a founding paper shows, and writes its results, tables and
// figures:
//
//	go run ./bench/reproduce gpu-csg --device cuda:0 --budget 9m --programs DIR
//	go run ./bench/reproduce multistart --small
//
// It runs the programs of bench, each with the experiments of the paper. One that was
// interrupted, or ended with its budget, goes on with the same command: rows of the same
// commit and device are not measured again. DIR holds the programs csg, qubo, assignment and
// report, built with `go build -o DIR/ ./bench/csg ./bench/qubo ./bench/assignment
// ./bench/report` (and -tags cuda for a GPU); without, they are built where Go is.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"coalesce/bench/paper"
	"coalesce/runtime/device"
)

// settings are the command line.
type settings struct {
	paper    paper.Paper
	device   string
	data     string
	out      string
	programs string
	commit   string
	budget   time.Duration
	small    bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	s, err := parseArgs(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "reproduce:", err)
		os.Exit(2)
	}
	if err := s.runPaper(ctx, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "reproduce:", err)
		os.Exit(1)
	}
}

// parseArgs reads the command line: the paper's name before or after the flags.
func parseArgs(args []string) (s settings, err error) {
	var names []string
	for _, p := range paper.All() {
		names = append(names, p.Name)
	}
	flags := flag.NewFlagSet("reproduce PAPER, one of "+strings.Join(names, ", "), flag.ContinueOnError)
	flags.StringVar(&s.device, "device", "host", "host, emulated, or cuda:N with programs built with -tags cuda")
	flags.DurationVar(&s.budget, "budget", time.Hour, "start nothing that is not expected to end within this time")
	flags.StringVar(&s.out, "out", "", "folder for JSON, tables and figures (default .build/reproduce/PAPER)")
	flags.StringVar(&s.programs, "programs", "", "folder of the built programs (default: they are built)")
	flags.StringVar(&s.data, "data", "", "folder of instances, for multistart: see bench/qubo")
	flags.StringVar(&s.commit, "commit", "", "the commit measured, for the record (default: what git says)")
	flags.BoolVar(&s.small, "small", false, "small sizes, to see that it all runs: seconds")
	name := ""
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		name, args = args[0], args[1:]
	}
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	rest := flags.Args()
	if name == "" && len(rest) > 0 {
		name, rest = rest[0], rest[1:]
	}
	var ok bool
	if s.paper, ok = paper.Find(name); !ok || len(rest) > 0 {
		return s, fmt.Errorf("paper %q %v: expected one of %s", name, rest, strings.Join(names, ", "))
	}
	s.out = cmp.Or(s.out, filepath.Join(".build", "reproduce", name))
	return s, nil
}

// deviceKind of the device that is asked for.
func (s settings) deviceKind() string {
	kind, _, _ := strings.Cut(s.device, ":")
	return kind
}

// runPaper runs the paper's steps and then makes its page.
func (s settings) runPaper(ctx context.Context, w io.Writer) error {
	begun := time.Now()
	if s.commit == "" {
		s.commit = head(ctx)
	}
	if s.programs == "" {
		folder, err := os.MkdirTemp("", "reproduce")
		if err != nil {
			return err
		}
		defer os.RemoveAll(folder)
		s.programs = folder
		if err := s.buildPrograms(ctx, w); err != nil {
			return err
		}
	}
	fmt.Fprintf(w, "%s: %s\n", s.paper.Authors, s.paper.Title)
	for _, step := range s.paper.Steps {
		if !slices.Contains(step.Kinds, s.deviceKind()) || s.small && step.Small == nil {
			continue
		}
		left := s.budget - time.Since(begun)
		if left <= 0 {
			return fmt.Errorf("the budget of %v is spent before %s -experiment %s: the same command goes on", s.budget, step.Program, step.Experiments)
		}
		if err := s.start(ctx, w, step.Program, s.arguments(step, left)...); err != nil {
			fmt.Fprintf(w, "%s -experiment %s: %v\n", step.Program, step.Experiments, err) // its file says what is missing
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	if err := s.start(ctx, w, "report", "-paper", s.paper.Name, "-results", s.out, "-out", s.out); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return s.missing()
}

// arguments of a step's program.
func (s settings) arguments(step paper.Step, left time.Duration) []string {
	on, flags := s.device, step.Flags
	if step.Host {
		on = device.Host
	}
	if s.small {
		flags = step.Small
	}
	args := []string{"-device", on, "-experiment", step.Experiments, "-out", s.out, "-commit", s.commit, "-budget", left.Round(time.Second).String(), "-resume"}
	if step.Program == "qubo" && s.data != "" {
		args = append(args, "-data", s.data)
	}
	return append(args, flags...)
}

// start runs a program and shows its output.
func (s settings) start(ctx context.Context, w io.Writer, program string, args ...string) error {
	fmt.Fprintf(w, "\n$ %s %s\n", program, strings.Join(args, " "))
	c := exec.CommandContext(ctx, filepath.Join(s.programs, program), args...)
	c.Stdout, c.Stderr = w, w
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = 10 * time.Second
	return c.Run()
}

// buildPrograms makes the programs of the paper's steps, and report, in the folder of their module.
func (s settings) buildPrograms(ctx context.Context, w io.Writer) error {
	programs, err := filepath.Abs(s.programs)
	if err != nil {
		return err
	}
	args := []string{"-C", "bench", "build", "-o", programs + string(filepath.Separator)}
	if s.deviceKind() == device.CUDA {
		args = append(args, "-tags", "cuda")
	}
	packages := []string{"./report"}
	for _, step := range s.paper.Steps {
		if p := "./" + step.Program; !slices.Contains(packages, p) {
			packages = append(packages, p)
		}
	}
	c := exec.CommandContext(ctx, "go", append(args, packages...)...)
	c.Stdout, c.Stderr = w, w
	if err := c.Run(); err != nil {
		return fmt.Errorf("go %s: %w", strings.Join(c.Args[1:], " "), err)
	}
	return nil
}

// head is the commit that git has checked out, "" without git; "-dirty" where files differ.
func head(ctx context.Context) string {
	text, err := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty", "--exclude", "*").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// missing says which experiments are not finished, and which rows went wrong.
func (s settings) missing() error {
	files, err := filepath.Glob(filepath.Join(s.out, "*.json"))
	if err != nil {
		return err
	}
	var list []error
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var f struct {
			Unfinished bool `json:"unfinished"`
			Rows       []struct {
				Failed string `json:"failed"`
			} `json:"rows"`
		}
		if err := json.Unmarshal(text, &f); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		wrong := 0
		for _, r := range f.Rows {
			if r.Failed != "" {
				wrong++
			}
		}
		if f.Unfinished || wrong > 0 {
			list = append(list, fmt.Errorf("%s is not finished: %d rows are there, of them %d went wrong; the same command goes on", path, len(f.Rows), wrong))
		}
	}
	return errors.Join(list...)
}
