// Command adversary tries to make the command crash, hang, misread or lie.
//
// Files: it edits small files of every format that the command reads (bits, bytes,
// numbers, lines, compression) and has the command read them, under a limit on the
// address space, on the host device. A crash, a hang, an error that does not name
// the file, a failed check and control characters among what is said count.
//
// Instances: it draws small instances of every problem, with numbers that are hard
// on arithmetic (denormals, 1e308, 2^63-1, ties, forbidden pairs), and holds the
// command's answers against all solutions, in exact arithmetic. A wrong value, a
// proof of what is not so, and a refusal of what could be solved count.
//
// References: it has the command draw larger instances of every value type, and compare
// its answers with a sequential reference; of binary programs the optimum is planted.
//
// Interruptions: SIGINT meets long solves at moments of their first seconds; one that
// goes on for more than a second counts. On a GPU solves also meet memory that
// another process holds.
//
//	go run ./scripts/adversary            300 files a parser, 1,000 instances a problem
//	go run ./scripts/adversary --long     2,000 and 20,000, and 10 minutes of each fuzz target
//	go run ./scripts/adversary --files 0 --instances 20 --references 5 --interrupts 3 --device emulated
//	adversary solve csg FILE              the command itself, where this binary alone was carried to
//
// scripts/gpu-check adversary does the like on a GPU, .ci/fuzz-elsewhere the long run on a
// machine without Go. It ends with exit code 1 where anything counts; what did is kept
// in .build/adversary/found.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"coalesce/internal/cli"
	"coalesce/runtime/devices"
)

func main() {
	children := map[string]func(string) error{"worker": serve, "hold": keep}
	if len(os.Args) == 3 && children[os.Args[1]] != nil {
		if err := children[os.Args[1]](os.Args[2]); err != nil {
			fmt.Fprintf(os.Stderr, "adversary: %s: %v\n", os.Args[1], err)
			os.Exit(1)
		}
		return
	}
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") {
		os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "adversary:", err)
		os.Exit(1)
	}
}

// errFound is what a run ends with in which something counts.
var errFound = errors.New("found what counts")

func run(args []string) error {
	var (
		f         = flag.NewFlagSet("adversary", flag.ExitOnError)
		files     = f.Int("files", 300, "mutated files a parser")
		instances = f.Int("instances", 1000, "random instances a problem")
		larger    = f.Int("references", 0, "larger instances of each problem and value type")
		signals   = f.Int("interrupts", 0, "interruptions of each problem")
		long      = f.Bool("long", false, "2,000 files, 20,000 instances, and, but with --self, 10 minutes of each fuzz target")
		seed      = f.Uint64("seed", 1, "of all that is random")
		only      = f.String("only", "", "parsers and problems whose names hold this")
		device    = f.String("device", "host", "where instances are solved; files are read on the host")
		self      = f.Bool("self", false, "run commands in this binary, where there is no Go to build one with, as scripts/build-cuda --package ./scripts/adversary makes it")
		output    = f.String("json", "", "write the figures to this file")
	)
	f.Parse(args)
	bombed := 64 << 20
	if *long {
		*files, *instances, bombed = 2000, 20000, 256<<20
	}
	if _, err := os.Stat("go.mod"); err != nil && !*self {
		return fmt.Errorf("expected to run in the repository's root: %w", err)
	}
	folder, err := filepath.Abs(filepath.Join(".build", "adversary"))
	if err != nil {
		return err
	}
	a := &adversary{Seed: *seed, Device: *device, Command: strings.Join(append([]string{"adversary"}, args...), " "), Date: time.Now().UTC().Format(time.DateOnly),
		Cores: runtime.NumCPU(), folder: folder, program: filepath.Join(folder, "worker")}
	if err := os.RemoveAll(filepath.Join(folder, "found")); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(folder, "found"), 0o755); err != nil {
		return err
	}
	if *self {
		a.program, err = os.Executable()
	} else {
		err = a.build()
	}
	if err != nil {
		return err
	}
	if err := a.identify(); err != nil {
		return err
	}
	start := time.Now()
	list := slices.DeleteFunc(parsers(), func(p parser) bool { return !strings.Contains(p.name, *only) })
	others := func(p problem) bool { return !strings.Contains(p.name, *only) }
	drawn := slices.DeleteFunc(slices.Clone(problems), others)
	for i := range drawn {
		drawn[i] = onDevice(drawn[i], *device)
	}
	jobs := append(a.fileJobs(list, *files, bombed), a.instanceJobs("instance", drawn, *instances)...)
	jobs = append(jobs, a.instanceJobs("reference", slices.DeleteFunc(references(*device), others), *larger)...)
	if err := a.work(jobs); err != nil {
		return err
	}
	if *signals > 0 {
		met := slices.DeleteFunc(lengthy(*device), func(s solve) bool { return !strings.Contains(s.problem, *only) })
		if err := a.work(a.interruptJobs(met, *signals)); err != nil {
			return err
		}
		if kind(*device) == "cuda" { // alone, since it takes the memory of all others
			if err := a.work([]func(*pool) error{a.memoryJob(full())}); err != nil {
				return err
			}
		}
	}
	a.Rows = slices.DeleteFunc(a.Rows, func(row *figures) bool { return row.Tried == 0 })
	a.Seconds = time.Since(start).Seconds()
	if err := a.write(os.Stdout); err != nil {
		return err
	}
	if *long && !*self {
		if err := a.fuzz("10m"); err != nil {
			return err
		}
	}
	if *output != "" {
		text, err := json.MarshalIndent(a, "", "  ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(*output, append(text, '\n'), 0o644); err != nil {
			return err
		}
	}
	if len(a.Found) > 0 {
		return errFound
	}
	return nil
}

// build makes the worker, the plain build as it is released: with cgo each thread
// reserves 64 MiB and more of address space, which is the C library's doing.
func (a *adversary) build() error {
	commit, err := exec.Command("git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*").Output()
	if err != nil {
		return fmt.Errorf("the commit: %w", err)
	}
	build := exec.Command("go", "-C", "scripts", "build", "-ldflags", "-X="+"coalesce/internal/cli"+".commit="+strings.TrimSpace(string(commit)), "-o", a.program, "./adversary")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if said, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build the worker: %w\n%s", err, said)
	}
	return nil
}

// identify asks the worker's binary which commit it is of, and the device for its name.
func (a *adversary) identify() error {
	text, err := exec.Command(a.program, "version", "--json").Output()
	if err != nil {
		return fmt.Errorf("version of the worker: %w", err)
	}
	var built struct{ Commit string }
	if err := json.Unmarshal(text, &built); err != nil {
		return fmt.Errorf("version of the worker: %w", err)
	}
	a.Commit = built.Commit
	opened, err := devices.Open(a.Device, devices.Options{})
	if err != nil {
		return err
	}
	a.Name, a.Driver = opened[0].Facts().Name, opened[0].Facts().Driver
	return devices.Close(opened)
}

// fuzz runs each fuzz target for a time.
func (a *adversary) fuzz(each string) error {
	var said bytes.Buffer
	command := exec.Command("bash", ".ci/fuzz", each)
	command.Stdout, command.Stderr = io.MultiWriter(os.Stdout, &said), os.Stderr
	err := command.Run()
	a.Fuzz = strings.Split(strings.TrimSpace(said.String()), "\n")
	if failed := new(exec.ExitError); errors.As(err, &failed) {
		a.Found = append(a.Found, finding{Name: "fuzz targets", Class: "fuzz", Text: short(a.Fuzz[len(a.Fuzz)-1]), Command: "bash .ci/fuzz " + each})
		return nil
	}
	return err
}

// adversary is one run: its figures, and what was found.
type adversary struct {
	Command string     `json:"command"`
	Commit  string     `json:"commit"`
	Date    string     `json:"date"`
	Device  string     `json:"device"` // of instances, as --device names it
	Name    string     `json:"name"`   // its own
	Driver  string     `json:"driver"`
	Cores   int        `json:"cores"` // as many processes at once
	Seed    uint64     `json:"seed"`
	Seconds float64    `json:"seconds"`
	Rows    []*figures `json:"rows"`
	Fuzz    []string   `json:"fuzz,omitempty"` // a line for each target that was run
	Found   []finding  `json:"found"`

	folder  string
	program string // the worker's binary
	mu      sync.Mutex
}

// figures of one parser or problem.
type figures struct {
	Kind    string         `json:"kind"` // "file" or "instance"
	Name    string         `json:"name"`
	Tried   int            `json:"tried"`
	Solved  int            `json:"solved"`  // exit 0, or a proof that there is no solution
	Refused int            `json:"refused"` // exit 1
	Slowest float64        `json:"slowest"` // seconds
	Faults  map[string]int `json:"faults"`  // by class
}

// A finding is a fault and the command line that shows it.
type finding struct {
	Name    string `json:"name"`
	Class   string `json:"class"`
	Text    string `json:"text"`
	Limit   int64  `json:"limit"` // of the address space in bytes, 0: none
	Command string `json:"command"`

	Said  string            `json:"said,omitempty"`
	Files map[string][]byte `json:"files,omitempty"` // those of the command, by name, packed with xz
}

func (a *adversary) row(kind, name string) *figures {
	row := &figures{Kind: kind, Name: name, Faults: map[string]int{}}
	a.Rows = append(a.Rows, row)
	return row
}

// work runs jobs on all cores, each with a pool of its own.
func (a *adversary) work(jobs []func(*pool) error) error {
	queue := make(chan func(*pool) error, len(jobs))
	for _, job := range jobs {
		queue <- job
	}
	close(queue)
	failed := make([]error, runtime.NumCPU())
	var group sync.WaitGroup
	for k := range failed {
		group.Go(func() {
			if failed[k] = os.MkdirAll(filepath.Join(a.folder, fmt.Sprint("worker", k)), 0o755); failed[k] != nil {
				return
			}
			w := &pool{program: a.program, device: a.Device, number: k, patience: 30 * time.Second}
			for job := range queue {
				if failed[k] = job(w); failed[k] != nil {
					break
				}
			}
			failed[k] = errors.Join(failed[k], w.close())
		})
	}
	group.Wait()
	return errors.Join(failed...)
}

// count adds one command to the figures: err is how it ended, wrong what is to be said
// against its reply. An error that is no fault is returned.
func (a *adversary) count(row *figures, w *pool, args []string, r reply, err error, wrong *fault) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	row.Tried++
	row.Slowest = max(row.Slowest, r.Seconds)
	if err != nil && !errors.As(err, &wrong) {
		return err
	}
	switch {
	case wrong != nil:
	case r.Code == 0 || infeasible(r):
		row.Solved++
		return nil
	default:
		row.Refused++
		return nil
	}
	row.Faults[wrong.class]++
	if row.Faults[wrong.class] > 3 {
		return nil
	}
	name := fmt.Sprintf("%s %s %d", row.Name, wrong.class, row.Faults[wrong.class])
	kept := filepath.Join(a.folder, "found", strings.ReplaceAll(name, " ", "-"))
	folder := filepath.Join(a.folder, fmt.Sprint("worker", w.number))
	if err := os.CopyFS(kept, os.DirFS(folder)); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	f := finding{Name: row.Name, Class: wrong.class, Text: wrong.text, Limit: w.limit, Said: string(r.Err), Files: map[string][]byte{},
		Command: strings.ReplaceAll("coalesce "+strings.Join(args, " "), folder, kept)}
	for _, path := range args {
		if data, err := os.ReadFile(path); err == nil && filepath.Dir(path) == folder {
			f.Files[filepath.Base(path)] = compress(1, data)
		}
	}
	a.Found = append(a.Found, f)
	return nil
}

// write prints the figures as a table, and what was found below.
func (a *adversary) write(to io.Writer) error {
	t := tabwriter.NewWriter(to, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "kind\tname\ttried\tsolved\trefused\tslowest\tcounts")
	for _, row := range a.Rows {
		counts := []string{}
		for class, n := range row.Faults {
			counts = append(counts, fmt.Sprint(n, " ", class))
		}
		slices.Sort(counts)
		if len(counts) == 0 {
			counts = []string{"0"}
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%d\t%.2fs\t%s\n", row.Kind, row.Name, row.Tried, row.Solved, row.Refused, row.Slowest, strings.Join(counts, ", "))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, f := range a.Found {
		fmt.Fprintf(to, "\n%s: %s: %s\n", f.Name, f.Class, f.Text)
		if f.Limit > 0 {
			fmt.Fprintf(to, "(ulimit -v %d; %s)\n", f.Limit>>10, f.Command)
		} else {
			fmt.Fprintln(to, f.Command)
		}
	}
	_, err := fmt.Fprintf(to, "\n%.0f s, %d processes at once, seed %d, %s (%s), commit %s\n", a.Seconds, a.Cores, a.Seed, a.Device, a.Name, a.Commit)
	return err
}
