package main

import (
	"bytes"
	"cmp"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"coalesce/internal/cli"
	"coalesce/runtime/device"
	"coalesce/runtime/devices"
)

// A request is one command line, a reply its output, its exit code and its time.
type (
	request struct{ Args []string }
	reply   struct {
		Code     int
		Out, Err []byte
		Seconds  float64
		Mapped   int64 // bytes of address space that the worker has afterwards
	}
)

// serveWorker is the worker's side: it runs command lines, one after the other, by the entry that
// the command itself has. A GPU stays open from one to the next: opening it takes most of a small
// instance's time.
func serveWorker(on string) error {
	if deviceKind(on) == device.CUDA {
		opened, err := devices.Open(on, devices.Options{})
		if err != nil {
			return err
		}
		defer devices.Close(opened)
	}
	in, out := gob.NewDecoder(os.Stdin), gob.NewEncoder(os.Stdout)
	for {
		var q request
		if err := in.Decode(&q); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		var stdout, stderr bytes.Buffer
		start := time.Now()
		code := 0
		if act := inside[q.Args[0]]; act != nil && len(q.Args) == 3 {
			code = act.run(q.Args[1:], &stderr)
		} else {
			code = cli.Main(q.Args, strings.NewReader(""), &stdout, &stderr)
		}
		r := reply{Code: code, Out: stdout.Bytes(), Err: stderr.Bytes(), Seconds: time.Since(start).Seconds(), Mapped: mapped()}
		if err := out.Encode(r); err != nil {
			return err
		}
	}
}

// inside are what the worker does besides commands: each is called with a name and a seed.
var inside = map[string]limitedAction{"table": tryTable, "program": tryProgram}

type limitedAction func(name string, r *rand.Rand) (refused bool, wrong *fault)

// faulty is the exit code of a fault, which is printed.
const faulty = 4

// run runs what its arguments name.
func (act limitedAction) run(args []string, said io.Writer) int {
	seed, err := strconv.ParseUint(args[1], 10, 64)
	if err != nil {
		fmt.Fprintln(said, err)
		return 2
	}
	refused, wrong := act(args[0], rand.New(rand.NewPCG(seed, 0)))
	switch {
	case wrong != nil:
		fmt.Fprintf(said, "%s: %s\n", wrong.class, wrong.text)
		return faulty
	case refused:
		return 1
	}
	return 0
}

// tryInside has a worker do what is no command.
func (a *adversary) tryInside(w *pool, row *figures, act, name string, r *rand.Rand) error {
	if err := w.limitMemory(0); err != nil {
		return err
	}
	args := []string{act, name, fmt.Sprint(r.Uint64())}
	got, err := w.run(args)
	var wrong *fault
	if got.Code > 1 {
		class, text, _ := strings.Cut(string(got.Err), ": ")
		wrong = &fault{class, shorten(text)}
	}
	return a.countReply(row, w, args, got, err, wrong)
}

// mapped is this process's address space in bytes, 0 where the system does not tell.
func mapped() int64 {
	text, _ := os.ReadFile("/proc/self/statm")
	pages, _, _ := strings.Cut(string(text), " ")
	n, _ := strconv.ParseInt(pages, 10, 64)
	return n * int64(os.Getpagesize())
}

// A pool runs command lines in a worker process, and starts another where one died,
// or keeps much of its limited address space: a command of its own would have all.
type pool struct {
	program  string        // the worker's binary
	device   string        // where it solves
	number   int           // tells the pools of a run apart
	limit    int64         // of its address space in bytes; 0: none
	patience time.Duration // after which a command is hanging that has had a core all the time

	command *exec.Cmd
	in      *gob.Encoder
	pipe    io.Closer
	replies chan reply
	stderr  *tail
	fresh   int64 // what the worker had mapped after its first command
}

// starved is how many times the patience a command gets that other processes keep off the
// cores.
const starved = 4

// A fault is a misbehaviour of a command: its class, such as "crash", and a description.
type fault struct{ class, text string }

func (f *fault) Error() string { return f.class + ": " + f.text }

func (p *pool) start() error {
	// The limit is there before the worker is: Go maps less then, as it does under a
	// limit of the user's.
	limit := "unlimited"
	if p.limit > 0 {
		limit = strconv.FormatInt(p.limit>>10, 10)
	}
	command := exec.Command("sh", "-c", `ulimit -v "$1" && exec "$0" worker "$2"`, p.program, limit, p.device)
	stdin, err := command.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := command.StdoutPipe()
	if err != nil {
		return err
	}
	p.stderr = &tail{}
	command.Stderr = p.stderr
	if err := command.Start(); err != nil {
		return fmt.Errorf("start a worker: %w", err)
	}
	replies := make(chan reply)
	go func() {
		defer close(replies)
		for in := gob.NewDecoder(stdout); ; {
			var r reply
			if in.Decode(&r) != nil {
				return
			}
			replies <- r
		}
	}()
	p.command, p.in, p.pipe, p.replies, p.fresh = command, gob.NewEncoder(stdin), stdin, replies, 0
	return nil
}

// limitMemory sets the limit on the address space of what runs next.
func (p *pool) limitMemory(limit int64) error {
	if p.limit == limit {
		return nil
	}
	p.limit = limit
	return p.close()
}

// run is what one command line came to; its error is a *fault where the command
// crashed or hung, and the worker is gone. Of a hang the reply has the worker's stacks.
func (p *pool) run(args []string) (reply, error) {
	if p.command == nil {
		if err := p.start(); err != nil {
			return reply{}, err
		}
	}
	before := p.used()
	sent := p.in.Encode(request{args})
	r, alive, ended := reply{}, false, false
	for waited := p.patience; !ended; waited += p.patience {
		select {
		case r, alive = <-p.replies:
			ended = true
		case <-time.After(p.patience):
			if used := p.used() - before; used >= p.patience || waited >= starved*p.patience {
				return reply{Err: p.quit()}, &fault{"hang", fmt.Sprintf("no end after %s, of which %s on a core", waited, used)}
			}
		}
	}
	if !alive {
		err := p.command.Wait()
		p.command = nil
		return r, &fault{"crash", fmt.Sprint(err, ", ", sent, ": ", p.stderr.first())}
	}
	p.fresh = cmp.Or(p.fresh, r.Mapped)
	if p.limit > 0 && r.Mapped > p.fresh+64<<20 {
		return r, p.close()
	}
	return r, nil
}

// used is the time that the worker has been on cores, 0 where the system does not tell.
func (p *pool) used() time.Duration {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.command.Process.Pid))
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.ParseInt(fields[11], 10, 64)
	system, _ := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * (time.Second / 100)
}

// quit ends a worker that hangs: Go writes the stacks then, which it returns.
func (p *pool) quit() []byte {
	p.command.Process.Signal(syscall.SIGQUIT)
	kill := time.AfterFunc(2*time.Second, func() { p.command.Process.Kill() })
	for range p.replies {
	}
	p.command.Wait()
	kill.Stop()
	p.command = nil
	return p.stderr.Bytes()
}

// close ends the worker.
func (p *pool) close() error {
	if p.command == nil {
		return nil
	}
	p.pipe.Close()
	for range p.replies {
	}
	err := p.command.Wait()
	p.command = nil
	return err
}

// tail keeps the beginning of what a worker says when it crashes.
type tail struct{ bytes.Buffer }

func (t *tail) Write(b []byte) (int, error) {
	if room := 1<<16 - t.Len(); room > 0 {
		t.Buffer.Write(b[:min(room, len(b))])
	}
	return len(b), nil
}

// first are the lines that name the crash, and the first function of this module on
// the stack.
func (t *tail) first() string {
	var list []string
	for _, line := range strings.Split(t.String(), "\n") {
		if len(list) == 0 && line != "" || strings.HasPrefix(line, "coalesce/") {
			list = append(list, line)
		}
		if len(list) == 2 {
			break
		}
	}
	return strings.Join(list, "; ")
}
