// Kerneltuner plants mistakes in the kernel of the 0/1 knapsack problem (knapsack/, a module of its own) and records what Coalesce and
// Kernel Tuner notice of each. It runs copies of that module as an author would: go generate, go test, verify and tune. Kernel Tuner
// runs script/tune.py with the kernel in C (script/passes.cc). On a machine with a GPU, which needs no Go, both run the CUDA kernel itself:
// --pack makes a folder to carry there, whose script run.sh runs all, and --unpack reads what it left.
//
//	python3 -m venv .build/kt && .build/kt/bin/pip install kernel_tuner==1.5.0
//	go run ./bench/kerneltuner --python .build/kt/bin/python --out bench/results
//	go run ./bench/kerneltuner --pack .build/kerneltuner     # then run.sh there, which takes a Python with CuPy and kernel_tuner
//	go run ./bench/kerneltuner --unpack .build/kerneltuner --device "NVIDIA H200" --out bench/results
//	go run ./bench/report
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"coalesce/autotune/trial"
	"coalesce/bench/result"
)

// A mistake replaces a text of the kernel in CUDA and the same one in C. No text in C: the mistake has no form there.
type mistake struct {
	name              string
	cuda, planted     string
	plain, plantedToo string
}

const written = "table[c] = best;"

var mistakes = []mistake{
	{name: ""},
	{"a wrong answer", "if (x > best)", "if (x != best)", "if (x > best)", "if (x != best)"},
	{"a wrong answer in 3 variants", written, written + " if (ITEMS == 3 && EACH == 2) table[c] = best + 1;", written, written + " if (items == 3 && each == 2) table[c] = best + 1;"},
	{"an input that is changed", written, written + " if (c == 0) ((T*)values)[0] += 1;", written, written + " if (c == 0) ((T*)values)[0] += 1;"},
	{"an output that is not written", written, "if (c != capacity) " + written, written, "if (c != capacity) " + written},
	{"a write past the end", written, written + " if (c == capacity) table[c + 1] = best;", written, written + " if (c == capacity) table[c + 1] = best;"},
	{"a missing barrier", "__syncthreads();", "", "", ""},
	{"a null write in 3 variants", written, written + " if (ITEMS == 3 && EACH == 2) *(volatile T*)nullptr = 0;",
		written, written + " if (items == 3 && each == 2) *(volatile T*)nullptr = 0;"},
	{"an endless loop in one variant", written, written + " if (ITEMS == 3 && EACH == 2 && BLOCK == 128) for (volatile unsigned spin = 0;; spin = spin + 1) {}",
		written, written + " if (items == 3 && each == 2 && block == 128) for (volatile unsigned spin = 0;; spin = spin + 1) {}"},
	{"a syntax error", "T best = old[c];", "T best = old[c]", "T best = old[c];", "T best = old[c]"},
}

func main() {
	python := flag.String("python", "", "a Python that has kernel_tuner; empty: Coalesce alone")
	packed := flag.String("pack", "", "make this folder to carry to a machine with a GPU; takes nvcc and what scripts/toolkit --print-env sets")
	unpacked := flag.String("unpack", "", "read what run.sh left in this folder")
	device := flag.String("device", "", "the GPU on which it ran")
	limit := flag.Duration("limit", 3*time.Minute, "kill a tool after this long")
	only := flag.String("only", "", "the mistakes whose names match this regular expression")
	out := flag.String("out", "", "write the results into this folder")
	flag.Parse()
	if err := run(*python, *packed, *unpacked, *device, *limit, *only, *out); err != nil {
		fmt.Fprintln(os.Stderr, "kerneltuner:", err)
		os.Exit(1)
	}
}

func run(python, packed, unpacked, device string, limit time.Duration, only, out string) error {
	pattern, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	from := filepath.Join(root, "bench", "kerneltuner")
	if _, err := os.Stat(filepath.Join(from, "knapsack")); err != nil {
		return fmt.Errorf("run me at the top of the repository: %w", err)
	}
	w := &workplace{root: root, from: from, python: python, limit: limit}
	f := result.Experiment[result.Mistake]{Experiment: "kernel-tuner", Device: cmp.Or(device, processor()), Commit: commit(root), Date: time.Now().UTC().Format(time.DateOnly),
		Command: "go run ./bench/kerneltuner --python PYTHON"}
	if unpacked != "" {
		f.Command = "go run ./bench/kerneltuner --unpack FOLDER"
	}
	for k, m := range mistakes {
		if !pattern.MatchString(m.name) {
			continue
		}
		var rows []result.Mistake
		switch folder := fmt.Sprintf("%02d", k); {
		case packed != "":
			err = w.pack(m, filepath.Join(packed, folder))
		case unpacked != "":
			rows, err = unpack(m, filepath.Join(unpacked, folder))
		default:
			rows, err = w.try(m)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		for _, r := range rows {
			fmt.Printf("%-32s %-22s noticed %-5v kept %2d of %2d exit %3d %6.1f s  %s\n", r.Mistake, r.Tool, r.Noticed, r.Kept, r.Of, r.Exit, r.Seconds, r.Message)
		}
		f.Rows = append(f.Rows, rows...)
	}
	if packed != "" {
		return os.WriteFile(filepath.Join(packed, "run.sh"), []byte(runAll), 0o755)
	}
	if out == "" {
		return nil
	}
	name := "kernel-tuner"
	if unpacked != "" {
		name += "-gpu"
	}
	return f.Write(out, name)
}

// A workplace copies the sources and runs tools on the copies.
type workplace struct {
	root, from, python string
	limit              time.Duration
}

// variants are those of one type, which a workload takes.
const variants = 18

// try plants a mistake in copies and runs all tools.
func (w *workplace) try(m mistake) (rows []result.Mistake, err error) {
	dir, err := os.MkdirTemp("", "kerneltuner-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := os.CopyFS(dir, os.DirFS(w.from)); err != nil {
		return nil, err
	}
	kernel := filepath.Join(dir, "knapsack", "templates", "knapsack", "passes", "passes.cuh")
	if err := plant(kernel, m.cuda, m.planted); err != nil {
		return nil, err
	}
	script := filepath.Join(dir, "script")
	module := filepath.Join(dir, "knapsack")
	for _, folder := range []string{"generated", ".build"} { // of a build in the tree
		if err := os.RemoveAll(filepath.Join(module, folder)); err != nil {
			return nil, err
		}
	}
	prepared := time.Now()
	for _, command := range []string{"go mod edit -replace coalesce=" + w.root, "go generate ./...", "go build -o knapsack ."} {
		if o := w.command(module, nil, strings.Fields(command)...); o.exit != 0 {
			return nil, fmt.Errorf("%s: %s", command, o.text)
		}
	}
	built := time.Since(prepared)
	for _, set := range []string{"", "pairs"} {
		test := w.command(module, []string{"COALESCE_VARIANTS=" + set}, "go", "test", "-count=1", "./...")
		r := result.Mistake{Tool: strings.TrimSuffix("go test, "+set, ", "), Noticed: test.exit != 0}
		rows = append(rows, ended(r, &test, `output|changed|past the end|error:|crash|did not end|case`))
	}
	verify := w.command(module, nil, "./knapsack", "verify", "--device", "emulated")
	rows = append(rows, ended(result.Mistake{Tool: "verify", Noticed: verify.exit != 0}, &verify, `output|changed|past the end|error:|crash|did not end|case`))
	trials := filepath.Join(dir, "trials.jsonl")
	tune := w.command(module, nil, "./knapsack", "tune", "knapsack", "--values", "int32", "--sizes", "20000", "--device", "emulated", "--noise", "60%", "--budget", "100s", "--output", filepath.Join(dir, "tuned.json"), "--trials", trials)
	t := result.Mistake{Tool: "tune"}
	if err := countTrials(&t, trials); err != nil {
		return nil, fmt.Errorf("%w: %s", err, tune.text)
	}
	rows = append(rows, ended(t, &tune, `^(verify|launch|timeout|compile) `))
	if m.name == "" {
		if rows[0].Lines, err = lines(module, "go.generate", "templates/knapsack/passes/passes.cuh", "knapsack.go", "knapsack_test.go"); err != nil {
			return nil, err
		}
		rows[0].Seconds += built.Seconds()
	}
	if w.python != "" && (m.plain != "" || m.name == "") {
		if err := plant(filepath.Join(script, "passes.cc"), m.plain, m.plantedToo); err != nil {
			return nil, err
		}
		r, err := w.kernelTuner(m, "Kernel Tuner, C", script, "passes.cc", "c")
		if err != nil {
			return nil, err
		}
		if m.name == "" {
			if r.Lines, err = lines(script, "tune.py", "passes.cc"); err != nil {
				return nil, err
			}
		}
		rows = append(rows, r)
	}
	for k := range rows {
		rows[k].Mistake, rows[k].Of = m.name, variants
	}
	return rows, nil
}

// kernelTuner runs the script on a kernel.
func (w *workplace) kernelTuner(m mistake, tool, script, kernel, backend string) (result.Mistake, error) {
	python, err := exec.LookPath(w.python)
	if err != nil {
		return result.Mistake{}, err
	}
	if python, err = filepath.Abs(python); err != nil {
		return result.Mistake{}, err
	}
	o := w.command(script, []string{"PYTHONUNBUFFERED=1"}, python, "tune.py", kernel, backend)
	return ofKernelTuner(m, tool, &o)
}

// ofKernelTuner reads the script's output.
func ofKernelTuner(m mistake, tool string, o *outcome) (result.Mistake, error) {
	r := result.Mistake{Mistake: m.name, Tool: tool, Of: variants, Noticed: o.exit != 0 && o.ended}
	if all := regexp.MustCompile(`(?m)^kept (.*)$`).FindAllStringSubmatch(o.text, -1); all != nil {
		var kept map[string]any
		if err := json.Unmarshal([]byte(all[len(all)-1][1]), &kept); err != nil {
			return r, err
		}
		for _, x := range kept {
			if _, is := x.(float64); is {
				r.Kept++
			} else {
				r.Noticed = true
			}
		}
	}
	return ended(r, o, `[Ee]rror[: ]|verification failed`), nil
}

// countTrials counts the variants that tune accepts, and notes whether it failed any.
func countTrials(r *result.Mistake, path string) error {
	found, err := trial.Load(path)
	if err != nil {
		return err
	}
	timed, bad := map[string]bool{}, map[string]bool{}
	for _, x := range found.Trials {
		switch {
		case x.Status == trial.OK && x.Action == trial.ActionMeasure:
			timed[x.Variant] = true
		case x.Status == trial.Verify || x.Status == trial.Launch || x.Status == trial.Timeout || x.Status == trial.Compile:
			bad[x.Variant] = true
		}
	}
	for label := range timed {
		if !bad[label] {
			r.Kept++
		}
	}
	r.Noticed = len(bad) > 0
	return nil
}

// pack writes what a GPU runs of a mistake: the module's program with its images, and Kernel Tuner's script with the kernel in one file.
func (w *workplace) pack(m mistake, dir string) error {
	work, err := os.MkdirTemp("", "kerneltuner-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if err := errors.Join(os.CopyFS(work, os.DirFS(w.from)), os.MkdirAll(dir, 0o755)); err != nil {
		return err
	}
	module := filepath.Join(work, "knapsack")
	kernel := filepath.Join(module, "templates", "knapsack", "passes", "passes.cuh")
	if err := plant(kernel, m.cuda, m.planted); err != nil {
		return err
	}
	text, err := os.ReadFile(kernel)
	if err != nil {
		return err
	}
	header, err := os.ReadFile(filepath.Join(w.from, "script", "variant.cuh"))
	if err != nil {
		return err
	}
	plain := strings.NewReplacer(`#include "cuda/variant.cuh"`, string(header), "namespace VARIANT {", "", "}  // namespace VARIANT", "").Replace(string(text))
	script, err := os.ReadFile(filepath.Join(w.from, "script", "tune.py"))
	if err != nil {
		return err
	}
	err = errors.Join(os.WriteFile(filepath.Join(dir, "passes.cu"), []byte(plain), 0o644), os.WriteFile(filepath.Join(dir, "tune.py"), script, 0o644))
	if err != nil {
		return err
	}
	for _, command := range []string{
		"rm -rf generated .build", "go mod edit -replace coalesce=" + w.root, "go generate ./...", "go build -o plain .",
		"go build -tags cuda,apart -ldflags=-s -o apart .", "./plain bundle --from apart --images .build/images --all --output knapsack",
	} {
		if o := w.command(module, nil, strings.Fields(command)...); o.exit != 0 {
			if strings.Contains(o.text, "T best = old[c]") { // a mistake that nvcc finds: there is nothing to run
				return nil
			}
			return fmt.Errorf("%s: %s", command, o.text)
		}
	}
	program, err := os.ReadFile(filepath.Join(module, "knapsack"))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "knapsack"), program, 0o755)
}

// runAll runs what pack made, all folders or those named: PYTHON is a Python with CuPy and kernel_tuner, LIMIT the seconds that each has.
const runAll = `#!/usr/bin/env bash
# Runs each mistake's kernel by Coalesce and by Kernel Tuner, and leaves outputs, exit codes and times beside them.
cd "$(dirname "$0")"
timed() {
	local name=$1 begin=$EPOCHREALTIME
	shift
	timeout -s KILL "${LIMIT:-60}" "$@" >"$name.out" 2>&1
	echo "$? $(echo "$EPOCHREALTIME - $begin" | bc -l 2>/dev/null || python3 -c "print($EPOCHREALTIME - $begin)")" >"$name.rc"
}
[[ $# -gt 0 ]] || set -- [0-9][0-9]
for folder; do
	(
		cd "$folder"
		if [[ -x knapsack ]]; then
			timed verify ./knapsack verify --device cuda:0
			timed tune ./knapsack tune knapsack --values int32 --sizes 1048576 --device cuda:0 --noise 60% --budget 20s --output tuned.json --trials trials.jsonl
		fi
		PYTHONUNBUFFERED=1 timed kerneltuner "${PYTHON:-python3}" tune.py passes.cu cupy
	)
done
`

// unpack reads what run.sh left.
func unpack(m mistake, dir string) (rows []result.Mistake, err error) {
	for _, x := range []struct{ name, tool string }{{"verify", "verify"}, {"tune", "tune"}, {"kerneltuner", "Kernel Tuner, CuPy"}} {
		text, err := os.ReadFile(filepath.Join(dir, x.name+".rc"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		var o outcome
		var seconds float64
		if _, err := fmt.Sscan(string(text), &o.exit, &seconds); err != nil {
			return nil, fmt.Errorf("%s.rc: %w", x.name, err)
		}
		o.took, o.ended = time.Duration(seconds*1e9), o.exit != 137
		printed, err := os.ReadFile(filepath.Join(dir, x.name+".out"))
		if err != nil {
			return nil, err
		}
		o.text = string(printed)
		r := result.Mistake{Mistake: m.name, Tool: x.tool, Of: variants, Noticed: o.exit != 0}
		switch x.name {
		case "verify":
			r = ended(r, &o, `output|changed|past the end|crash|did not end|case`)
		case "tune":
			if err := countTrials(&r, filepath.Join(dir, "trials.jsonl")); err != nil {
				return nil, err
			}
			r = ended(r, &o, `^(verify|launch|timeout|compile) `)
		default:
			if r, err = ofKernelTuner(m, x.tool, &o); err != nil {
				return nil, err
			}
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// ended has how a command ended, and the first line of its output that matches, where something was noticed.
func ended(r result.Mistake, o *outcome, pattern string) result.Mistake {
	r.Exit, r.Ended, r.Seconds = o.exit, o.ended, o.took.Seconds()
	if r.Noticed || o.exit != 0 {
		r.Message = line(o.text, pattern)
	}
	return r
}

// An outcome is that of a command.
type outcome struct {
	exit  int
	ended bool
	took  time.Duration
	text  string // of both streams
}

// command runs a program in a folder, in a process group that is killed at the limit.
func (w *workplace) command(dir string, env []string, args ...string) outcome {
	ctx, cancel := context.WithTimeout(context.Background(), w.limit)
	defer cancel()
	c := exec.CommandContext(ctx, args[0], args[1:]...)
	var text bytes.Buffer
	c.Dir, c.Stdout, c.Stderr = dir, &text, &text
	c.Env = append(append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod"), env...)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	begin := time.Now()
	err := c.Run()
	o := outcome{took: time.Since(begin), ended: ctx.Err() == nil, text: text.String()}
	var failed *exec.ExitError
	switch {
	case errors.As(err, &failed):
		o.exit = failed.ExitCode()
		if status, is := failed.Sys().(syscall.WaitStatus); is && status.Signaled() {
			o.exit = 128 + int(status.Signal())
		}
	case err != nil:
		o.exit, o.text = -1, err.Error()
	}
	return o
}

// plant replaces the first occurrence of a text in a file.
func plant(path, old, new string) error {
	text, err := os.ReadFile(path)
	if err != nil || old == "" {
		return err
	}
	if !bytes.Contains(text, []byte(old)) {
		return fmt.Errorf("%s has no %q", path, old)
	}
	return os.WriteFile(path, bytes.Replace(text, []byte(old), []byte(new), 1), 0o644)
}

// lines counts those of files.
func lines(dir string, names ...string) (map[string]int, error) {
	all := map[string]int{}
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		all[filepath.Base(name)] = bytes.Count(text, []byte("\n"))
	}
	return all, nil
}

func processor() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if m := regexp.MustCompile(`(?m)^model name\s*: (.*)$`).FindSubmatch(text); err == nil && m != nil {
		return string(m[1])
	}
	return "not known"
}

func commit(root string) string {
	c := exec.Command("git", "rev-parse", "HEAD")
	c.Dir = root
	text, err := c.Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// folders are those of temporary files.
var folders = regexp.MustCompile(`/tmp/\S*/`)

// line is the first that matches, or the last.
func line(text, pattern string) string {
	all := slices.DeleteFunc(strings.Split(text, "\n"), func(s string) bool { return strings.TrimSpace(s) == "" })
	if len(all) == 0 {
		return ""
	}
	match := regexp.MustCompile(pattern)
	at := slices.IndexFunc(all, match.MatchString)
	if at < 0 {
		at = len(all) - 1
	}
	return folders.ReplaceAllString(strings.Join(strings.Fields(all[at]), " "), "")
}
