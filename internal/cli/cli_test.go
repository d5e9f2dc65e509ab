package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"coalesce/internal/cli/run"
	"coalesce/runtime/devices"
	"coalesce/runtime/emulated"
	"coalesce/runtime/handover"
	"coalesce/runtime/memory"
	"coalesce/templates"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"coalesce": func() { os.Exit(Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
	})
}

// TestScripts runs the command lines of testdata. Each script has a folder
// and a configuration of its own, and no GPU; kernels that the emulated device
// compiled are everyone's.
func TestScripts(t *testing.T) {
	examples, err := filepath.Abs(filepath.Join("..", "..", "examples"))
	if err != nil {
		t.Fatal(err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			config := filepath.Join(e.WorkDir, ".config")
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("XDG_CONFIG_HOME", config)
			e.Setenv("XDG_CACHE_HOME", cache)
			e.Setenv("AppData", config)
			e.Setenv("COALESCE_NO_HANDOVER", "1")
			e.Setenv("EXAMPLES", examples)
			if list, set := os.LookupEnv("CUDA_VISIBLE_DEVICES"); set {
				e.Setenv("CUDA_VISIBLE_DEVICES", list) // the condition driver looks at it
			}
			return nil
		},
		Condition: func(name string) (bool, error) {
			if name == "root" { // permissions do not bind root
				return os.Geteuid() == 0, nil
			}
			if name == "emulated" {
				return emulatedHere()
			}
			if name == "driver" {
				env := handover.SystemEnv()
				env.Getenv = func(string) string { return "" }
				env.Runnable = func(string) bool { return true }
				path, _ := handover.TargetBinary(env)
				return path != "", nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code":   scriptCode,
			"npy":    scriptNPY,
			"field":  scriptField,
			"schema": scriptSchema,

			"interrupt": scriptInterrupt,

			"packs": scriptPacks,
			"alter": scriptAlter,
		},
	})
}

// scriptCode is "code N COMMAND ARG...": the command must end with exit code
// N. What it prints is for stdout and stderr to look at.
func scriptCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N COMMAND ARG...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var exit interface{ ExitCode() int }
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// scriptNPY is "npy FILE SHAPE VALUE...": a .npy file of float64 whose header
// claims SHAPE values, whatever is there.
func scriptNPY(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: npy FILE SHAPE VALUE...")
	}
	header := fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%s,), }", args[1])
	header += strings.Repeat(" ", 63-(10+len(header))%64) + "\n"
	data := append([]byte("\x93NUMPY\x01\x00"), byte(len(header)), byte(len(header)>>8))
	data = append(data, header...)
	for _, text := range args[2:] {
		x, err := strconv.ParseFloat(text, 64)
		ts.Check(err)
		data = binary.LittleEndian.AppendUint64(data, math.Float64bits(x))
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), data, 0o644))
}

// scriptField is "field NAME VALUE": the JSON object on the last command's
// stdout must have a member of that name with that JSON text.
func scriptField(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: field NAME VALUE")
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal([]byte(ts.ReadFile("stdout")), &object); err != nil {
		ts.Fatalf("stdout is no JSON object: %v", err)
	}
	got, ok := object[args[0]]
	if !ok || string(got) != args[1] {
		ts.Fatalf("%s is %s, want %s", args[0], got, args[1])
	}
}

// emulatedHere reports whether there is a C++ compiler to emulate with. CI
// demands one.
func emulatedHere() (bool, error) {
	d, err := emulated.Open(emulated.Options{Files: templates.Files})
	if errors.Is(err, emulated.ErrNoCompiler) && os.Getenv("COALESCE_REQUIRE_EMULATED") == "" {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, d.Close()
}

// scriptInterrupt is "interrupt INT|TERM|KILL CODE AFTER COMMAND ARG...": the command is
// sent the signal after a while and must then end with the exit code. On a busy
// machine INT and TERM wait, a minute at most, until the command has had a core for half that
// while, where /proc tells.
func scriptInterrupt(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 4 {
		ts.Fatalf("usage: interrupt INT|TERM|KILL CODE AFTER COMMAND ARG...")
	}
	after, err := time.ParseDuration(args[2])
	ts.Check(err)
	ticks := 0 // of 10 ms
	if args[0] != "KILL" {
		ticks = int(after.Milliseconds()) / 20
	}
	ts.Check(ts.Exec("sh", append([]string{"-c",
		`"$@" >.interrupt.out 2>.interrupt.err & pid=$!; sleep $0; n=0
while [ $n -lt 600 ] && { read -r stat </proc/$pid/stat; } 2>/dev/null && set -- $stat && [ $((${14} + ${15})) -lt ` + fmt.Sprint(ticks) + ` ]; do
	sleep 0.1; n=$((n + 1))
done
kill -` + args[0] + ` $pid || exit 99; wait $pid; echo $? >.interrupt.code`,
		fmt.Sprint(after.Seconds())}, args[3:]...)...))
	if got := strings.TrimSpace(ts.ReadFile(".interrupt.code")); got != args[1] {
		ts.Fatalf("exit code %s, want %s\n%s", got, args[1], ts.ReadFile(".interrupt.err"))
	}
	ts.Check(ts.Exec("sh", "-c", "cat .interrupt.out; cat .interrupt.err >&2"))
}

// The memory at hand bounds what is drawn and what is read.
func TestMemoryGuard(t *testing.T) {
	path := filepath.Join(t.TempDir(), "three.npy")
	header := fmt.Sprintf("%-117s\n", "{'descr': '<f8', 'fortran_order': False, 'shape': (8,), }")
	data := append([]byte("\x93NUMPY\x01\x00v\x00"), header...)
	if err := os.WriteFile(path, append(data, make([]byte, 64)...), 0o644); err != nil {
		t.Fatal(err)
	}
	bids, err := os.ReadFile(filepath.Join("..", "..", "examples", "auction.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		free int64
		code int
	}{{64, run.ExitOK}, {63, run.ExitFailed}, {0, run.ExitOK}} {
		for _, args := range [][]string{{"csg", path}, {"csg", "--distribution", "uniform", "--agents", "3"}, {"auction", "-"}} {
			if args[0] == "auction" && c.free == 64 { // which takes more
				continue
			}
			var out, talk bytes.Buffer
			a := &run.App{In: bytes.NewReader(bids), Out: bufio.NewWriter(&out), Raw: &out, Err: &talk, Devices: devices.Kinds(), Free: func() memory.Free { return memory.Free{Bytes: c.free, By: "`ulimit -v`"} }}
			root := rootCommand(a)
			root.SetArgs(slices.Concat([]string{"solve"}, args, []string{"--device", "host"}))
			code := a.Exit(t.Context(), root.ExecuteContext(t.Context()))
			if code != c.code {
				t.Errorf("%v with %d bytes free: exit code %d, want %d: %s", args, c.free, code, c.code, talk.String())
			}
			if a.Out.Flush(); c.code != run.ExitOK && (out.Len() > 0 || !strings.Contains(talk.String(), "`ulimit -v`") || !strings.Contains(talk.String(), "63 B")) {
				t.Errorf("%v with %d bytes free: stdout %q, stderr %q", args, c.free, out.String(), talk.String())
			}
		}
	}
}

// A write error of data must not end in exit code 0, whatever the command.
func TestBrokenOutput(t *testing.T) {
	for _, args := range [][]string{{"devices"}, {"--help"}, {"solve", "csg", filepath.Join("..", "..", "examples", "couriers.csv"), "--device", "host"}} {
		var talk bytes.Buffer
		if code := Main(args, strings.NewReader(""), broken{}, &talk); code != run.ExitFailed || !strings.Contains(talk.String(), "standard output is incomplete") {
			t.Errorf("%v on a broken output: exit code %d, %q; want %d and why", args, code, talk.String(), run.ExitFailed)
		}
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// Commands that solve nothing end with the context while they wait for a file too.
func TestEndsDuringRead(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := exec.Command("mkfifo", pipe).Run(); err != nil {
		t.Skip("there is no mkfifo:", err)
	}
	for _, line := range [][]string{
		{"merge", pipe, pipe, "--output", pipe + ".json"}, {"compare", pipe, pipe}, {"verify", pipe, pipe},
		{"query", "csg", pipe, pipe, "--coalition", "1"}, {"bundle", "verify", pipe}, {"explain", "csg", "--size", "4", "--device", "host", "--tuned", pipe},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		a := &run.App{Out: bufio.NewWriter(io.Discard), Raw: io.Discard, Err: io.Discard, Devices: devices.Kinds(), Free: func() memory.Free { return memory.Free{} }}
		root := rootCommand(a)
		root.SetArgs(line)
		done := make(chan error, 1)
		go func() { done <- root.ExecuteContext(ctx) }()
		select {
		case err := <-done:
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%v: found %v, want the end of the context", line, err)
			}
		case <-time.After(10 * time.Second):
			t.Errorf("%v goes on after the context's end", line)
		}
		cancel()
	}
}
