package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"coalesce/runtime/device"
	"coalesce/runtime/devices"
)

// A solve is a command line that computes for seconds, FILE standing for a file that
// make writes; make is empty where the command draws its instance.
type solve struct {
	problem    string
	make, args []string
}

// lengthy are solves that an interruption meets at work, on each kind of device.
func lengthy(on string) []solve {
	agents, rows, variables := "24", "3000", "500"
	switch kind(on) {
	case device.CUDA:
		agents, rows, variables = "29", "20000", "5000"
	case device.Emulated:
		agents, rows, variables = "14", "60", "60"
	}
	return []solve{
		{"csg", nil, []string{"solve", "csg", "--distribution", "uniform", "--agents", agents, "--type", "int32"}},
		{"assignment", nil, []string{"solve", "assignment", "--kind", "geom", "--rows", rows, "--range", "1000000"}},
		{"qubo", []string{"generate", "qubo", "--variables", variables, "--density", "50", "--output", "FILE"},
			[]string{"solve", "qubo", "FILE", "--format", "orlib", "--time-limit", "1m"}},
		{"auction", []string{"generate", "auction", "--distribution", "arbitrary", "--goods", "100", "--bids", "1000", "--output", "FILE"},
			[]string{"solve", "auction", "FILE"}},
	}
}

// full are solves that take more memory of a GPU than what hold leaves.
func full() []solve {
	return []solve{
		{"csg", nil, []string{"solve", "csg", "--distribution", "uniform", "--agents", "27", "--type", "int32"}},
		{"assignment", nil, []string{"solve", "assignment", "--kind", "uniform", "--rows", "9000"}},
		{"qubo", []string{"generate", "qubo", "--variables", "6000", "--density", "20", "--output", "FILE"},
			[]string{"solve", "qubo", "FILE", "--format", "orlib", "--time-limit", "1s"}},
	}
}

// prepare makes the instance of a solve and returns the command line for it.
func (a *adversary) prepare(s solve, folder string) ([]string, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	path := strings.NewReplacer("FILE", filepath.Join(folder, s.problem+".txt"))
	fill := func(list []string) (filled []string) {
		for _, arg := range list {
			filled = append(filled, path.Replace(arg))
		}
		return filled
	}
	if s.make != nil {
		if said, err := exec.Command(a.program, fill(s.make)...).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%s: %w: %s", strings.Join(s.make, " "), err, said)
		}
	}
	return append(fill(s.args), "--device", a.Device, "--json"), nil
}

// interruptJobs are solves that SIGINT meets at moments of their first seconds, each in
// a process of its own.
func (a *adversary) interruptJobs(list []solve, each int) (jobs []func(*pool) error) {
	for i, s := range list {
		row := a.row("interrupt", s.problem)
		jobs = append(jobs, func(w *pool) error {
			r := rand.New(rand.NewPCG(a.Seed, uint64(i)))
			args, err := a.prepare(s, filepath.Join(a.folder, fmt.Sprint("worker", w.number)))
			if err != nil {
				return err
			}
			for k := range each {
				after := time.Duration(float64(k)/float64(each)*2500+100*r.Float64()) * time.Millisecond
				got, wrong := a.interrupt(args, after)
				if err := a.count(row, w, args, got, nil, wrong); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return jobs
}

// starting is how long the loader may take with the driver's library, before a program takes signals.
const starting = 500 * time.Millisecond

// late is the longest time that a solve may take to end after SIGINT.
func late(on string) time.Duration {
	if kind(on) == device.Emulated {
		return 2 * time.Second
	}
	return time.Second
}

// interrupt runs a command line and interrupts it; the reply's seconds are those it took
// to end then. One that ends before is no fault.
func (a *adversary) interrupt(args []string, after time.Duration) (reply, *fault) {
	var out, said bytes.Buffer
	command := exec.Command(a.program, args...)
	command.Stdout, command.Stderr = &out, &said
	// A shell's background jobs ignore SIGINT, and so would the command until it asks for signals.
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, os.Interrupt)
	err := command.Start()
	signal.Stop(heard)
	if err != nil {
		return reply{}, &fault{"crash", err.Error()}
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	var start time.Time
	select {
	case <-ended:
		start = time.Now()
	case <-time.After(after):
		start = time.Now()
		command.Process.Signal(os.Interrupt)
		select {
		case <-ended:
		case <-time.After(20 * time.Second):
			command.Process.Kill()
			<-ended
			return reply{Code: 1}, &fault{"hang", fmt.Sprintf("no end in 20 s after ctrl-C at %v", after)}
		}
	}
	r := reply{Code: command.ProcessState.ExitCode(), Out: out.Bytes(), Err: said.Bytes(), Seconds: time.Since(start).Seconds()}
	status, ok := command.ProcessState.Sys().(syscall.WaitStatus)
	if ok && status.Signaled() && status.Signal() == syscall.SIGINT && after < starting && out.Len()+said.Len() == 0 {
		r.Code = 1 // the signal met the loader of libraries, before the program's first line
		return r, nil
	}
	return r, judgeEnd(r, after, late(a.Device))
}

// judgeEnd returns the fault of a command that was interrupted after a time, nil if there is none: the
// command has to answer with the best so far, proven or marked as stopped, or to say in one line that there is none.
func judgeEnd(r reply, after, limit time.Duration) *fault {
	var x answer
	switch said := string(r.Err); {
	case r.Code != 0 && r.Code != 1:
		return &fault{"crash", fmt.Sprintf("exit %d: %s", r.Code, short(said))}
	case r.Seconds > limit.Seconds():
		return &fault{"late", fmt.Sprintf("%.2f s after ctrl-C at %v", r.Seconds, after)}
	case r.Code == 0 && (json.Unmarshal(r.Out, &x) != nil || printed(x.Value) == nil && x.Value != nil):
		return &fault{"wrong", "exit 0 and no answer: " + short(string(r.Out))}
	case r.Code == 0 && !x.Proven && !x.Stopped:
		return &fault{"wrong", "an answer that is neither proven nor marked as stopped: " + short(string(r.Out))}
	case r.Code == 1 && len(r.Out) > 0:
		return &fault{"wrong", "exit 1 and an answer: " + short(string(r.Out))}
	case r.Code == 1 && strings.Count(said, "\n") != 1:
		return &fault{"wrong", "expected one line: " + short(said)}
	}
	return nil
}

// memoryJob solves in a worker that has opened its GPU while another process holds all
// but little of that GPU's memory: each solve ends with an answer, or with a line that
// names memory. Once the other has ended, each is solved.
func (a *adversary) memoryJob(list []solve) func(*pool) error {
	rows := map[string]*figures{}
	for _, s := range list {
		rows[s.problem] = a.row("no memory", s.problem)
	}
	return func(w *pool) error {
		if err := w.within(0); err != nil {
			return err
		}
		if _, err := w.run([]string{"version"}); err != nil { // opens the GPU
			return err
		}
		release, err := a.hold()
		if err != nil {
			return err
		}
		defer release()
		commands := map[string][]string{}
		for _, held := range []bool{true, false} {
			if !held {
				if err := release(); err != nil {
					return err
				}
			}
			for _, s := range list {
				if held {
					if commands[s.problem], err = a.prepare(s, filepath.Join(a.folder, fmt.Sprint("worker", w.number))); err != nil {
						return err
					}
				}
				args := commands[s.problem]
				r, err := w.run(args)
				if err := a.count(rows[s.problem], w, args, r, err, judgeMemory(r, held)); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

// judgeMemory returns the fault of a solve for which memory was short, or sufficed; nil if there is none.
func judgeMemory(r reply, held bool) *fault {
	said := string(r.Err)
	switch {
	case r.Code == 0 && !bytes.HasPrefix(r.Out, []byte("{")):
		return &fault{"silent", "exit 0 and no answer"}
	case r.Code == 0:
		return nil
	case !held:
		return &fault{"refused", fmt.Sprintf("with all memory: exit %d: %s", r.Code, short(said))}
	case r.Code != 1 || strings.Count(said, "\n") != 1 || !strings.Contains(said, "memory"):
		return &fault{"wrong", fmt.Sprintf("expected a line about memory: exit %d: %s", r.Code, short(said))}
	}
	return nil
}

// left is how much of a GPU's memory hold leaves, in bytes.
const left = 96 << 20

// hold starts a process that takes the GPU's memory; release ends it, once.
func (a *adversary) hold() (release func() error, err error) {
	command := exec.Command(a.program, "hold", a.Device)
	command.Stderr = os.Stderr
	in, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	var once error
	done := false
	release = func() error {
		if !done {
			done = true
			once = errors.Join(in.Close(), command.Wait())
		}
		return once
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		return nil, errors.Join(fmt.Errorf("hold memory of %s: %w", a.Device, err), release())
	}
	return release, nil
}

// keep is the process that hold starts: it takes memory until its input ends.
func keep(on string) error {
	opened, err := devices.Open(on, devices.Options{})
	if err != nil {
		return err
	}
	defer devices.Close(opened)
	for size := int64(8 << 30); size >= 1<<20; {
		free := opened[0].Facts().Free - left
		if free < 1<<20 {
			break
		}
		b, err := opened[0].Alloc(min(free, size))
		if errors.Is(err, device.ErrMemory) { // there is no such piece
			size /= 2
			continue
		}
		if err != nil {
			return err
		}
		defer b.Free()
	}
	fmt.Println("held")
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}
