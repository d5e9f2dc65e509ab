package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"coalesce/runtime/device"
	"coalesce/runtime/devices"
	"coalesce/runtime/memory"
)

// endless has a head and then lines by number, without end.
type endless struct {
	bytes.Buffer
	line func(k int) string
	k    int
}

func (e *endless) Read(p []byte) (int, error) {
	for e.Len() < 1<<16 {
		e.WriteString(e.line(e.k))
		e.k++
	}
	return e.Buffer.Read(p)
}

// Input without end that any reader takes from standard input ends with one line, which names the limit that leaves so little
// memory.
func TestMemoryOfEndlessInput(t *testing.T) {
	const most = 64 << 20 // bytes of input
	for _, c := range []struct {
		command, head string
		line          func(k int) string
	}{
		{"solve csg -", "", func(k int) string { return fmt.Sprintf("%d %d,%d\n", k%20+1, k%19+21, k) }},
		{"solve csg -", "{", func(k int) string { return fmt.Sprintf("\"a%d\": 5,\n", k) }},
		{"solve csg - --format rudy", "3000 1000000000\n", func(int) string { return "1 2 3\n" }},
		{"solve assignment -", "", func(int) string { return "1,2,3,4,5,6,7,8\n" }},
		{"solve assignment -", "\"x\"\n", func(k int) string { return fmt.Sprintf("name%d,2\n", k) }},
		{"solve assignment - --format mtx", "%%MatrixMarket matrix coordinate real general\n9000 9000 80000000\n", func(k int) string { return fmt.Sprintf("%d %d 5\n", k/9000+1, k%9000+1) }},
		{"solve qubo - --format coo", "", func(k int) string { return fmt.Sprintf("%d %d 5\n", k%30000, k/30000) }},
		{"solve qubo - --format bqm", `{"linear_biases":[`, func(int) string { return "1,1,1,1," }},
		{"solve auction -", "price,goods\n", func(k int) string { return fmt.Sprintf("5,g%d h%d\n", k, k) }},
		{"solve auction -", `{"bids":[`, func(k int) string { return fmt.Sprintf(`{"price":5,"goods":["a%d"]},`, k) }},
		{"solve auction -", "goods 4000\nbids 2000000000\ndummy 0\n", func(k int) string { return fmt.Sprintf("%d 5 %d #\n", k, k%4000) }},
		{"verify - cli.go", `{"x":[`, func(int) string { return "1,1,1,1," }},
	} {
		in := &endless{line: c.line}
		in.WriteString(c.head)
		var out, talk bytes.Buffer
		a := &app{in: io.LimitReader(in, most), out: bufio.NewWriter(&out), raw: &out, err: &talk, devices: devices.Kinds(),
			free: func() memory.Free { return memory.Free{Bytes: 4 << 20, By: "`ulimit -v`"} }}
		root := a.root()
		args := strings.Fields(c.command)
		if args[0] == "solve" {
			args = append(args, "--device", "host")
		}
		root.SetArgs(args)
		code := a.exit(t.Context(), root.ExecuteContext(t.Context()))
		if said := talk.String(); code != exitFailed || strings.Count(said, "\n") != 1 || !strings.Contains(said, "`ulimit -v`") || !strings.HasPrefix(said, "coalesce: standard input") {
			t.Errorf("%s, %.20q: exit code %d, %q, expected a line that names the limit", c.command, c.head, code, said)
		}
	}
}

// Work on a host that does not look at its context ends within a second of the context's end; work that answers within that
// time keeps its answer, and that on other devices is waited for.
func TestBestOn(t *testing.T) {
	on := func(kind string) []device.Device { return []device.Device{kindOf{kind: kind}} }
	over, stop := context.WithCancel(t.Context())
	stop()
	never := make(chan struct{})
	defer close(never)
	start := time.Now()
	if _, err := bestOn(over, &app{}, on(device.Host), func() (int, error) { <-never; return 1, nil }); !errors.Is(err, context.Canceled) || time.Since(start) > time.Second {
		t.Errorf("work without end: %v after %v", err, time.Since(start))
	}
	for _, kind := range []string{device.Host, device.Emulated} {
		wait := map[string]time.Duration{device.Host: 10 * time.Millisecond, device.Emulated: 800 * time.Millisecond}[kind]
		if r, err := bestOn(over, &app{}, on(kind), func() (int, error) { time.Sleep(wait); return 1, nil }); r != 1 || err != nil {
			t.Errorf("%s: found %d, %v, expected the answer after %v", kind, r, err, wait)
		}
	}
}

// kindOf is a device of which the kind alone is asked.
type kindOf struct {
	device.Device
	kind string
}

func (k kindOf) Facts() device.Facts { return device.Facts{Kind: k.kind} }
