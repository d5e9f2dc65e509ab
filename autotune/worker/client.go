package worker

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"coalesce/autotune/trial"
	"coalesce/runtime/device"
	"coalesce/runtime/group"
)

// ErrStart is wrapped when a worker does not come up: there is no use in going
// on with other trials.
var ErrStart = errors.New("tuning worker does not start")

// A Client runs trials in a worker process, which it starts when needed and
// starts again after a trial that may have harmed it. It serves one goroutine.
type Client struct {
	// Command makes the command of a worker: this program again, with arguments
	// that lead to Serve. Stdin, Stdout and Stderr are the client's to set.
	Command func() *exec.Cmd
	// StartTimeout is how long a worker may take to say hello; default 1 minute.
	StartTimeout time.Duration

	proc   *process
	id     int
	starts int
}

// StartCount is how many workers have been started.
func (c *Client) StartCount() int { return c.starts }

// A process is a running worker.
type process struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	lines  chan []byte   // of stdout; closed at its end
	exited chan struct{} // closed when err is set
	err    error
	stderr head
	facts  device.Facts
}

// Facts starts a worker if there is none and returns its device's facts.
func (c *Client) Facts(ctx context.Context) (device.Facts, error) {
	if err := c.start(ctx); err != nil {
		return device.Facts{}, err
	}
	return c.proc.facts, nil
}

// RunTrial runs one trial within timeout. A worker that hangs is killed (status
// timeout), one that dies is reported with the head of its stderr (status oom where it
// had no memory, else launch), and one cut short by ctx is killed (status skipped). The error
// wraps ErrStart or is ctx's.
func (c *Client) RunTrial(ctx context.Context, r Request, timeout time.Duration) (trial.Trial, error) {
	if err := c.start(ctx); err != nil {
		return trial.Trial{}, err
	}
	p := c.proc
	c.id++
	r.ID = c.id
	begin := time.Now()
	ended := func(status trial.Status, format string, args ...any) trial.Trial {
		c.drop()
		t := failTrial(newRecord(r, p.facts), status, fmt.Errorf(format, args...))
		t.Time, t.Wall = begin.UTC(), int64(time.Since(begin))
		return t
	}
	p.stderr.reset()
	line, err := json.Marshal(r)
	if err != nil {
		return trial.Trial{}, fmt.Errorf("request: %w", err)
	}
	// A worker that died since the last trial shows below, as an end of stdout.
	_, _ = p.stdin.Write(append(line, '\n'))

	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ended(trial.Skipped, "interrupted: %w", ctx.Err()), ctx.Err()
	case <-timer.C:
		return ended(trial.Timeout, "no answer within %v: worker killed", timeout), nil
	case text, ok := <-p.lines:
		if !ok {
			c.drop()
			return ended(p.death(), "worker died (%v)%s", p.err, p.stderr.quote()), nil
		}
		var a reply
		if err := json.Unmarshal(text, &a); err != nil || a.ID != r.ID || !a.Trial.Status.Valid() {
			return ended(trial.Launch, "worker answered %.80q, which is no reply to request %d", text, r.ID), nil
		}
		if a.Trial.Status == trial.Launch {
			c.drop() // its device may be poisoned
		}
		return a.Trial, nil
	}
}

// Close ends the worker.
func (c *Client) Close() error {
	if p := c.proc; p != nil {
		p.stdin.Close() // the end of its input ends it
		select {
		case <-p.exited:
		case <-time.After(2 * time.Second):
		}
		c.drop()
	}
	return nil
}

// drop kills the worker, if any, and waits for its end.
func (c *Client) drop() {
	p := c.proc
	if p == nil {
		return
	}
	c.proc = nil
	select {
	case <-p.exited: // the process ended: its number may belong to another one by now
	default:
		group.Kill(p.cmd)
	}
	for range p.lines { // let the reader come to its end
	}
	<-p.exited
	p.stdin.Close()
}

// start brings up a worker if there is none.
func (c *Client) start(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if c.proc != nil {
		return nil
	}
	p, err := spawn(c.Command())
	if err != nil {
		return fmt.Errorf("%w: %w", ErrStart, err)
	}
	c.proc = p
	c.starts++
	limit := c.StartTimeout
	if limit == 0 {
		limit = time.Minute
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		c.drop()
		return ctx.Err()
	case <-timer.C:
		c.drop()
		return fmt.Errorf("%w: no hello within %v%s", ErrStart, limit, p.stderr.quote())
	case text, ok := <-p.lines:
		if !ok {
			c.drop()
			return fmt.Errorf("%w: it ended (%v)%s", ErrStart, p.err, p.stderr.quote())
		}
		var h Hello
		if err := json.Unmarshal(text, &h); err != nil || h.Protocol != Protocol {
			c.drop()
			return fmt.Errorf("%w: it said %.80q, expected a hello of %s", ErrStart, text, Protocol)
		}
		p.facts = h.Facts
		return nil
	}
}

func spawn(cmd *exec.Cmd) (*process, error) {
	p := &process{cmd: cmd, lines: make(chan []byte), exited: make(chan struct{})}
	cmd.Stderr = &p.stderr
	cmd.WaitDelay = 2 * time.Second // a process that the worker started may hold stderr open
	group.Lead(cmd)                 // ctrl-C reaches the tuner alone
	var err error
	if p.stdin, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		in := bufio.NewScanner(stdout)
		in.Buffer(nil, 16<<20)
		for in.Scan() {
			p.lines <- bytes.Clone(in.Bytes())
		}
		// Whatever ended the reading, the worker's answers cannot be read any more.
		group.Kill(cmd)
		p.err = cmd.Wait()
		close(p.exited)
		close(p.lines)
	}()
	return p, nil
}

// death is the status of a trial during which the worker ended: Memory where the system killed it, which is how Linux
// ends a process for lack of memory, or where its last words are of memory.
func (p *process) death() trial.Status {
	words := p.stderr.quote()
	if wasKilled(p.err) || slices.ContainsFunc(noMemory, func(text string) bool { return strings.Contains(words, text) }) {
		return trial.Memory
	}
	return trial.Launch
}

// noMemory is what the runtimes of Go and C++ say when they end a process for lack of memory.
var noMemory = []string{"out of memory", "cannot allocate memory", "failed to create new OS thread", "std::bad_alloc"}

// head keeps the beginning of a trial's stderr.
type head struct {
	mu  sync.Mutex
	buf []byte
}

// headBytes of stderr are kept: enough for a sanitizer's first paragraph.
const headBytes = 2 << 10

func (h *head) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.buf = append(h.buf, b[:min(len(b), headBytes-len(h.buf))]...)
	return len(b), nil
}

func (h *head) reset() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.buf = h.buf[:0]
}

// quote returns ": " and the text, or nothing.
func (h *head) quote() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s := strings.TrimSpace(string(h.buf)); s != "" {
		return ": " + s
	}
	return ""
}
