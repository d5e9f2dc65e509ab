// Command adversary tries to make the command crash, hang, misread or lie.
//
// It attacks in these ways, a row of figures for each format, reader, problem or command:
//
//   - files: small files of every format that the command reads, edited (bits, bytes, numbers,
//     lines, compression) and read under a limit on the address space, on the host device. A
//     crash, a hang, an error that does not name the file, a failed check and control
//     characters in what is printed count.
//   - tables: random tables for every reader of tables, in all the ways in which programs and
//     people write them (solvers/formats/habits). One that is read as another table counts.
//   - instances: small instances of every problem, in numbers that are hard on arithmetic
//     (subnormals, 1e308, 2^64-1, ties, constants that forbid). The answers are compared with
//     all solutions, in exact arithmetic. A wrong value, a false proof, and a refusal of what
//     could be solved count.
//   - programs: instances and options as programs fill them, rightly and wrongly, for every
//     problem's functions. A panic, an error of a check, an error that names no field, and a
//     wrong value count.
//   - references: larger instances of every value type, which the command draws and compares
//     with a sequential reference; of binary programs the optimum is planted.
//   - signals: SIGINT, SIGTERM and SIGUSR1 at random moments of every command. One that takes
//     longer than half a second to end, an answer that is neither proven nor marked as stopped,
//     and an error beside an answer count.
//   - memory: on a GPU solves meet memory that another process holds.
//
// Usage:
//
//	go run ./scripts/adversary            some of each
//	go run ./scripts/adversary --long     10,000 of each, and 10 minutes of each fuzz target
//	go run ./scripts/adversary --files 0 --tables 0 --programs 0 --instances 5 --references 5 --device emulated
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
	"hash/fnv"
	"io"
	"math/rand/v2"
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
	children := map[string]func(string) error{"worker": serveWorker, "hold": holdMemory}
	if len(os.Args) == 3 && children[os.Args[1]] != nil {
		if err := children[os.Args[1]](os.Args[2]); err != nil {
			fmt.Fprintf(os.Stderr, "adversary: %s: %v\n", os.Args[1], err)
			os.Exit(1)
		}
		return
	}
	if len(os.Args) == 4 && inside[os.Args[1]] != nil {
		os.Exit(inside[os.Args[1]].run(os.Args[2:], os.Stderr))
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
		f      = flag.NewFlagSet("adversary", flag.ExitOnError)
		counts = make([]*int, len(attacks))
		long   = f.Bool("long", false, "as many as the long run draws, and, but with --self, 10 minutes of each fuzz target")
		within = f.Duration("within", 0, "draw nothing more after this time (default: no limit)")
		seed   = f.Uint64("seed", 1, "of all that is random")
		only   = f.String("only", "", "rows whose names hold this")
		device = f.String("device", "host", "where instances are solved; files are read on the host")
		self   = f.Bool("self", false, "run commands in this binary, where there is no Go to build one with, as scripts/build-cuda --package ./scripts/adversary makes it")
		output = f.String("json", "", "write the figures to this file")
	)
	for i, x := range attacks {
		counts[i] = f.Int(x.name, -1, fmt.Sprintf("%s (default %d, with --long %d)", x.what, x.short, x.long))
	}
	f.Parse(args)
	for i, x := range attacks {
		if *counts[i] < 0 {
			if *counts[i] = x.short; *long {
				*counts[i] = x.long
			}
		}
	}
	if _, err := os.Stat("go.mod"); err != nil && !*self {
		return fmt.Errorf("expected to run in the repository's root: %w", err)
	}
	folder, err := filepath.Abs(filepath.Join(".build", "adversary"))
	if err != nil {
		return err
	}
	a := &adversary{Seed: *seed, Device: *device, Command: strings.Join(append([]string{"adversary"}, args...), " "), Date: time.Now().UTC().Format(time.DateOnly),
		Cores: runtime.NumCPU(), Found: []finding{}, only: *only, folder: folder, program: filepath.Join(folder, "worker")}
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
	if *within > 0 {
		a.end = start.Add(*within)
	}
	var jobs []job
	for i, x := range attacks {
		if *counts[i] == 0 {
			continue
		}
		if x.alone {
			if err := a.work(jobs); err != nil {
				return err
			}
			jobs = nil
		}
		jobs = append(jobs, x.jobs(a, *counts[i])...)
	}
	if err := a.work(jobs); err != nil {
		return err
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
		a.Found = append(a.Found, finding{Name: "fuzz targets", Class: "fuzz", Text: shorten(a.Fuzz[len(a.Fuzz)-1]), Command: "bash .ci/fuzz " + each})
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

	only    string    // rows whose names hold this
	end     time.Time // after which nothing more is drawn, zero: none
	folder  string
	program string // the worker's binary
	mu      sync.Mutex
}

// An attack is one way to find faults.
type attack struct {
	name, what  string // its flag, and that flag's help
	short, long int    // how many it draws
	jobs        func(a *adversary, count int) []job
	alone       bool // begins when the others have ended
}

// attacks are all attacks.
var attacks = []attack{
	{"files", "mutated files a parser", 150, 5000, (*adversary).fileJobs, false},
	{"tables", "random tables a reader, in all habits of writers", 10, 1000, (*adversary).tableJobs, false},
	{"instances", "random instances a problem and family of numbers", 25, 2500, (*adversary).instanceJobs, false},
	{"programs", "instances and options of programs, a problem", 200, 10000, (*adversary).programJobs, false},
	{"references", "larger instances a problem and value type", 0, 0, (*adversary).referenceJobs, false},
	{"signals", "signals a command", 2, 300, (*adversary).signalJobs, false},
	{"memory", "rounds of solves on a GPU whose memory another process holds", 0, 0, (*adversary).memoryJobs, true},
}

// A job tries some of an attack, in the worker of a pool.
type job func(*pool) error

// addBatches are jobs that draw count of a row in batches, each with random numbers of its own.
func (a *adversary) addBatches(kind, name string, count, batch int, try func(w *pool, r *rand.Rand, row *figures, k int) error) (jobs []job) {
	if !strings.Contains(name, a.only) {
		return nil
	}
	row, own := a.figuresOf(kind, name), fnv.New64a()
	io.WriteString(own, kind+" "+name)
	for from := 0; from < count; from += batch {
		jobs = append(jobs, func(w *pool) error {
			r := rand.New(rand.NewPCG(a.Seed, own.Sum64()+uint64(from)))
			for k := from; k < min(count, from+batch); k++ {
				if err := try(w, r, row, k); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return jobs
}

// figures of one parser or problem.
type figures struct {
	Kind    string         `json:"kind"` // "file", "instance" or another of the attacks
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

func (a *adversary) figuresOf(kind, name string) *figures {
	row := &figures{Kind: kind, Name: name, Faults: map[string]int{}}
	a.Rows = append(a.Rows, row)
	return row
}

// work runs jobs on all cores, each with a pool of its own.
func (a *adversary) work(jobs []job) error {
	// In any order, so that a limit of time leaves something of each row, and long jobs meet short ones.
	r := rand.New(rand.NewPCG(a.Seed, 0))
	r.Shuffle(len(jobs), func(i, j int) { jobs[i], jobs[j] = jobs[j], jobs[i] })
	queue := make(chan job, len(jobs))
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
				if !a.end.IsZero() && time.Now().After(a.end) {
					break
				}
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

// countReply adds one command to the figures: err is how it ended, wrong what is to be said
// against its reply. An error that is no fault is returned.
func (a *adversary) countReply(row *figures, w *pool, args []string, r reply, err error, wrong *fault) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	row.Tried++
	row.Slowest = max(row.Slowest, r.Seconds)
	if err != nil && !errors.As(err, &wrong) {
		return err
	}
	switch {
	case wrong != nil:
	case r.Code == 0 || saysInfeasible(r):
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
	kept := filepath.Join(a.folder, "found", strings.NewReplacer(" ", "-", "/", "-", ",", "").Replace(name))
	folder := filepath.Join(a.folder, fmt.Sprint("worker", w.number))
	if err := keepFiles(folder, kept); err != nil {
		return err
	}
	f := finding{Name: row.Name, Class: wrong.class, Text: wrong.text, Limit: w.limit, Said: string(r.Err), Files: map[string][]byte{},
		Command: strings.ReplaceAll("coalesce "+strings.Join(args, " "), folder, kept)}
	if inside[args[0]] != nil {
		f.Command = fmt.Sprintf("adversary %s %q %s", args[0], args[1], args[2])
	}
	for _, path := range args {
		if data, err := os.ReadFile(filepath.Join(kept, filepath.Base(path))); err == nil && filepath.Dir(path) == folder {
			f.Files[filepath.Base(path)] = compress(1, data)
		}
	}
	a.Found = append(a.Found, f)
	return nil
}

// keepFiles copies a folder's files, without its pipes.
func keepFiles(from, to string) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	list, err := os.ReadDir(from)
	for _, file := range list {
		if err == nil && file.Type().IsRegular() {
			var data []byte
			if data, err = os.ReadFile(filepath.Join(from, file.Name())); err == nil {
				err = os.WriteFile(filepath.Join(to, file.Name()), data, 0o644)
			}
		}
	}
	return err
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
