package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"coalesce/runtime/device"
	"coalesce/runtime/devices"
)

// A filling is a command line that computes for seconds, FILE standing for a file that
// make writes; make is empty where the command draws its instance.
type filling struct {
	problem    string
	make, args []string
}

// full are solves that take more memory of a GPU than what hold leaves.
func full() []filling {
	return []filling{
		{"csg", nil, []string{"solve", "csg", "--distribution", "uniform", "--agents", "27", "--type", "int32"}},
		{"assignment", nil, []string{"solve", "assignment", "--kind", "uniform", "--rows", "9000"}},
		{"qubo", []string{"generate", "qubo", "--variables", "6000", "--density", "20", "--output", "FILE"},
			[]string{"solve", "qubo", "FILE", "--format", "orlib", "--time-limit", "1s"}},
	}
}

// prepare makes the instance of a solve and returns the command line for it.
func (a *adversary) prepare(s filling, folder string) ([]string, error) {
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

// memoryJobs solve in a worker that has opened its GPU while another process holds all
// but little of that GPU's memory: each solve ends with an answer, or with a line that
// names memory. Once the other has ended, each is solved.
func (a *adversary) memoryJobs(count int) (jobs []job) {
	rows, list := map[string]*figures{}, full()
	for _, s := range list {
		rows[s.problem] = a.figuresOf("no memory", s.problem)
	}
	for range count {
		jobs = append(jobs, a.memoryJob(rows, list))
	}
	return jobs
}

func (a *adversary) memoryJob(rows map[string]*figures, list []filling) job {
	return func(w *pool) error {
		if err := w.limitMemory(0); err != nil {
			return err
		}
		if _, err := w.run([]string{"version"}); err != nil { // opens the GPU
			return err
		}
		release, err := a.occupyMemory()
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
				if err := a.countReply(rows[s.problem], w, args, r, err, judgeMemory(r, held)); err != nil {
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
		return &fault{"refused", fmt.Sprintf("with all memory: exit %d: %s", r.Code, shorten(said))}
	case r.Code != 1 || strings.Count(said, "\n") != 1 || !strings.Contains(said, "memory"):
		return &fault{"wrong", fmt.Sprintf("expected a line about memory: exit %d: %s", r.Code, shorten(said))}
	}
	return nil
}

// left is how much of a GPU's memory hold leaves, in bytes.
const left = 96 << 20

// occupyMemory starts a process that takes the GPU's memory; release ends it, once.
func (a *adversary) occupyMemory() (release func() error, err error) {
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

// holdMemory is the process that hold starts: it takes memory until its input ends.
func holdMemory(on string) error {
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
