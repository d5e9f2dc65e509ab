package emulated

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"coalesce/runtime/device"
)

// Requests; server.cc has the same list.
const (
	opAlloc = 1 + iota
	opFree
	opWrite
	opRead
	opFill
	opLoad
	opSymbol
	opUnload
	opLaunch
	opCopy
)

const requestArgs = 8

// A child is the server process. One request is under way at a time.
type child struct {
	mu    sync.Mutex
	cmd   *exec.Cmd
	in    io.WriteCloser
	life  *os.File // a pipe that nobody writes to: its end is the end of this process
	out   *bufio.Reader
	said  *talk
	gone  error // why there is no child any more
	first error // what met that first
}

// A refusal is an answer that says no; the child lives on.
type refusal struct{ message string }

func (r *refusal) Error() string { return r.message }

// talk keeps the first bytes of what the child says on stderr.
type talk struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (t *talk) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if room := 64<<10 - t.buf.Len(); room > 0 {
		t.buf.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

func (t *talk) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.buf.String()
}

// startChild runs the server. Old sanitizers fail at start now and then where the
// kernel places memory very randomly, so it tries a few times.
func startChild(server string) (*child, error) {
	var last error
	for range 5 {
		c := &child{said: &talk{}}
		c.cmd = exec.Command(server)
		c.cmd.Stderr = c.said
		c.cmd.WaitDelay = 2 * time.Second
		c.cmd.Env = append(os.Environ(),
			"ASAN_OPTIONS=detect_leaks=0:detect_odr_violation=0:allocator_may_return_null=1:"+
				"detect_stack_use_after_return=0:quarantine_size_mb=32:exitcode=99",
			"UBSAN_OPTIONS=print_stacktrace=0:halt_on_error=1")
		in, err := c.cmd.StdinPipe()
		if err != nil {
			return nil, err
		}
		out, err := c.cmd.StdoutPipe()
		if err != nil {
			return nil, err
		}
		c.in, c.out = in, bufio.NewReaderSize(out, 64<<10)
		watched, life, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		c.life, c.cmd.ExtraFiles = life, []*os.File{watched}
		err = errors.Join(c.cmd.Start(), watched.Close())
		if err != nil {
			return nil, errors.Join(err, life.Close())
		}
		hello := time.AfterFunc(20*time.Second, func() { c.cmd.Process.Kill() })
		_, err = c.answer(nil)
		hello.Stop()
		if err == nil {
			return c, nil
		}
		last = c.bury(err)
	}
	return nil, last
}

// request sends a request and returns the answer, which goes into dst when that
// is not nil. A limit above 0 bounds the wait.
func (c *child) request(limit time.Duration, dst []byte, payload []byte, op uint64, args ...uint64) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone != nil {
		return nil, c.gone
	}
	late := make(chan struct{})
	if limit > 0 {
		timer := time.AfterFunc(limit, func() {
			close(late)
			c.cmd.Process.Kill()
		})
		defer timer.Stop()
	}
	msg := make([]byte, 0, 8*(2+requestArgs)+len(payload))
	msg = binary.LittleEndian.AppendUint64(msg, op)
	for i := range requestArgs {
		var a uint64
		if i < len(args) {
			a = args[i]
		}
		msg = binary.LittleEndian.AppendUint64(msg, a)
	}
	msg = binary.LittleEndian.AppendUint64(msg, uint64(len(payload)))
	_, err := c.in.Write(append(msg, payload...))
	var reply []byte
	if err == nil {
		reply, err = c.answer(dst)
	}
	var no *refusal
	if err == nil || errors.As(err, &no) {
		return reply, err
	}
	select {
	case <-late:
		c.bury(err)
		c.gone = fmt.Errorf("%w: killed after %v", ErrTimeout, limit)
	default:
		c.gone = c.bury(err)
	}
	return nil, c.gone
}

// explainFailure adds the request under way to an error. Requests to a child that is gone return the error
// of the first that met its end.
func (c *child) explainFailure(what string, err error) error {
	if err == nil {
		return nil
	}
	err = fmt.Errorf("%s: %w", what, err)
	if !errors.Is(err, device.ErrLost) {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.first == nil {
		c.first = err
	}
	return c.first
}

// answer reads one reply.
func (c *child) answer(dst []byte) ([]byte, error) {
	var head [16]byte
	if _, err := io.ReadFull(c.out, head[:]); err != nil {
		return nil, err
	}
	status, n := binary.LittleEndian.Uint64(head[:]), binary.LittleEndian.Uint64(head[8:])
	if status != 0 {
		if n > 1<<20 {
			return nil, fmt.Errorf("a message of %d bytes", n)
		}
		message := make([]byte, n)
		if _, err := io.ReadFull(c.out, message); err != nil {
			return nil, err
		}
		return nil, &refusal{string(message)}
	}
	if dst == nil {
		if n > 8 {
			return nil, fmt.Errorf("an answer of %d bytes, expected at most 8", n)
		}
		dst = make([]byte, n)
	}
	if n != uint64(len(dst)) {
		return nil, fmt.Errorf("an answer of %d bytes, expected %d", n, len(dst))
	}
	_, err := io.ReadFull(c.out, dst)
	return dst, err
}

// parseWord is the value of an answer of 8 bytes.
func parseWord(b []byte, err error) (uint64, error) {
	if err != nil {
		return 0, err
	}
	if len(b) != 8 {
		return 0, fmt.Errorf("an answer of %d bytes, expected 8", len(b))
	}
	return binary.LittleEndian.Uint64(b), nil
}

// bury ends the process and says what it died of.
func (c *child) bury(cause error) error {
	c.in.Close()
	// A report may still be on its way: give it a moment before the end.
	ending := time.AfterFunc(5*time.Second, func() { c.cmd.Process.Kill() })
	err := c.cmd.Wait()
	ending.Stop()
	c.life.Close()
	report := firstLines(c.said.String(), 16)
	if i := strings.Index(report, "ERROR: "); i >= 0 {
		report = report[i:]
	}
	report = cmp.Or(report, fmt.Sprintf("it said nothing (%v)", cause))
	return fmt.Errorf("%w (%v): %s", ErrCrash, err, report)
}

func (c *child) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone != nil {
		return nil
	}
	c.gone = errors.New("the emulated device is closed")
	c.in.Close()
	ending := time.AfterFunc(time.Second, func() { c.cmd.Process.Kill() })
	defer ending.Stop()
	return errors.Join(c.cmd.Wait(), c.life.Close())
}
