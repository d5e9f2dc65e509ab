package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coalesce/internal/cli/run"
)

// A background command is a process of the program, with a configuration of its own.
type background struct {
	*exec.Cmd
	out, talk bytes.Buffer
	ended     chan error
}

func begin(t *testing.T, folder string, args []string) *background {
	t.Helper()
	c := &background{Cmd: exec.Command("coalesce", args...), ended: make(chan error, 1)}
	c.Dir, c.Stdout, c.Stderr = folder, &c.out, &c.talk
	c.Env = append(os.Environ(), "XDG_CONFIG_HOME="+folder, "HOME="+folder, "COALESCE_NO_HANDOVER=1")
	if len(args) > 2 && args[2] == run.Dash {
		if _, err := c.StdinPipe(); err != nil { // which stays open
			t.Fatal(err)
		}
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { c.ended <- c.Wait() }()
	return c
}

// end sends a signal and returns how long the command took to end then. One that goes on is killed.
func (c *background) end(t *testing.T, signal os.Signal) time.Duration {
	t.Helper()
	clock := time.Now()
	_ = c.Process.Signal(signal) // it may have ended
	select {
	case <-c.ended:
	case <-time.After(20 * time.Second):
		t.Errorf("%v goes on after %v", c.Args[1:], signal)
		_ = c.Process.Kill()
		<-c.ended
	}
	return time.Since(clock)
}

// Ctrl-C ends every command within half a second while it waits for a file or a pipe, to read or to write.
// scripts/adversary sends signals at random moments of all commands.
func TestInterruptedWaits(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"pipe", "pipe.csv", "pipe.npy"} {
		if err := exec.Command("mkfifo", filepath.Join(folder, name)).Run(); err != nil {
			t.Skip("there is no mkfifo:", err)
		}
	}
	for name, text := range map[string]string{"game.csv": "1,5\n2,6\n1 2,13\n", "costs.csv": "4,1\n2,0\n", "q.coo": "# vartype=BINARY\n0 0 -1\n0 1 2\n1 1 -1\n"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		line   string
		answer bool // is printed, and the exit code 0
	}{
		{"solve csg - --device host", false},
		{"solve auction - --device host", false},
		{"solve assignment - --device host", false},
		{"solve qubo - --device host", false},
		{"solve csg pipe.csv --device host", false},
		{"solve csg game.csv --device host --tuned pipe", false},
		{"solve csg game.csv --device host --values pipe.npy", true},
		{"solve assignment --points pipe,pipe --device host", false},
		{"solve assignment costs.csv --start pipe --device host", false},
		{"solve qubo q.coo --start pipe --device host", false},
		{"solve qubo q.coo --plot pipe --device host", true},
		{"convert pipe --format coo --output x.json --to bqm", false},
		{"convert auction - --output x.csv", false},
		{"generate csg --agents 5 --output pipe", false},
		{"generate qubo --variables 5 --output pipe", false},
		{"generate assignment --kind machol --rows 4 --output pipe", false},
		{"generate auction --distribution L1 --goods 4 --bids 4 --output pipe", false},
		{"query csg pipe.csv pipe.npy", false},
		{"verify pipe game.csv", false},
		{"explain csg --size 5 --device host --tuned pipe", false},
		{"tune csg --device host --from pipe", false},
		{"merge pipe --output m.json", false},
		{"compare pipe pipe", false},
		{"bundle verify pipe", false},
	} {
		var took time.Duration
		for range 3 { // a busy machine
			cmd := begin(t, folder, strings.Fields(c.line))
			select {
			case err := <-cmd.ended:
				t.Fatalf("%s ends before its pipe: %v, %s", c.line, err, cmd.talk.String())
			case <-time.After(400 * time.Millisecond):
			}
			took = cmd.end(t, os.Interrupt)
			code := cmd.ProcessState.ExitCode()
			if code == -1 && cmd.talk.Len() == 0 {
				took = time.Hour // the signal met the program before its first line
				continue
			}
			if answered := cmd.out.Len() > 0; answered != c.answer || code == run.ExitOK != c.answer || !strings.Contains(cmd.talk.String(), "interrupted") {
				t.Errorf("%s: exit code %d, stdout %q, stderr %q", c.line, code, cmd.out.String(), cmd.talk.String())
			}
			if took < 500*time.Millisecond {
				break
			}
		}
		if took >= 500*time.Millisecond {
			t.Errorf("%s took %v to end", c.line, took)
		}
	}
}
