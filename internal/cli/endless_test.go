package cli

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"coalesce/internal/cli/run"
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
		a := &run.App{In: io.LimitReader(in, most), Out: bufio.NewWriter(&out), Raw: &out, Err: &talk, Devices: devices.Kinds(),
			Free: func() memory.Free { return memory.Free{Bytes: 4 << 20, By: "`ulimit -v`"} }}
		root := rootCommand(a)
		args := strings.Fields(c.command)
		if args[0] == "solve" {
			args = append(args, "--device", "host")
		}
		root.SetArgs(args)
		code := a.Exit(t.Context(), root.ExecuteContext(t.Context()))
		if said := talk.String(); code != run.ExitFailed || strings.Count(said, "\n") != 1 || !strings.Contains(said, "`ulimit -v`") || !strings.HasPrefix(said, "coalesce: standard input") {
			t.Errorf("%s, %.20q: exit code %d, %q, expected a line that names the limit", c.command, c.head, code, said)
		}
	}
}
