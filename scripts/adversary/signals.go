package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"coalesce/runtime/device"
)

// A command is a line that meets signals. GIVEN stands for the folder of given files, OUT for
// a folder of its own, in which PIPE begins the names of pipes that nobody else opens.
type command struct {
	line  string
	waits bool // for a pipe, without end
}

// given are the command lines that make the given files.
func given(on string) []string {
	variables := "500"
	if deviceKind(on) == device.CUDA {
		variables = "5000"
	}
	return []string{
		"generate qubo --output GIVEN/q.txt --density 50 --variables " + variables,
		"generate auction --distribution arbitrary --goods 100 --bids 1000 --output GIVEN/bids.txt",
		"generate assignment --kind machol --rows 700 --output GIVEN/costs.npy",
		"generate csg --agents 60 --output GIVEN/g.rud",
		"generate csg --agents 12 --output GIVEN/small.rud",
		"generate csg --agents 17 --output GIVEN/table.rud",
	}
}

// commands are those that signals meet on a device: long solves on each, and on the host all
// others, at work and while they wait for pipes.
func commands(on string) []command {
	agents, rows := "24", "3000"
	switch deviceKind(on) {
	case device.CUDA:
		agents, rows = "29", "20000"
	case device.Emulated:
		agents, rows = "14", "60"
	}
	list := []command{
		{"solve csg --distribution uniform --type int32 --agents " + agents, false},
		{"solve assignment --kind geom --range 1000000 --rows " + rows, false},
		{"solve qubo GIVEN/q.txt --format orlib --time-limit 1m", false},
		{"solve auction GIVEN/bids.txt", false},
	}
	if deviceKind(on) != device.Host {
		return list
	}
	for _, line := range []string{
		"solve csg GIVEN/table.rud --algorithm dp --verify",
		"solve csg GIVEN/g.rud --time-limit 1s",
		"solve csg GIVEN/table.rud --time-limit 50ms",
		"solve auction GIVEN/bids.txt --payments vcg",
		"solve assignment GIVEN/costs.npy",
		"solve assignment GIVEN/costs.npy --k-best 200",
		"solve assignment GIVEN/costs.npy --bottleneck",
		"solve qubo GIVEN/q.txt --format orlib --time-limit 1s --solutions 3",
		"solve csg GIVEN/small.rud --verify",
		"explain csg --size 20",
		"generate assignment --kind uniform --rows 900 --output OUT/u.npy",
		"generate qubo --variables 900 --output OUT/u.txt",
		"generate auction --distribution paths --goods 200 --bids 3000 --output OUT/u.txt",
		"convert GIVEN/q.txt --format orlib --to bqm --output OUT/u.json",
		"convert auction GIVEN/bids.txt --output OUT/u.json",
		"tune csg --sizes 4 --values int32 --budget 1s --output OUT/t.json",
		"tune csg --sizes 4 --values int32 --budget 1s --trials PIPE --output OUT/t.json",
		"doctor",
		"devices",
		"version",
	} {
		list = append(list, command{line, false})
	}
	for _, line := range []string{
		"solve csg -", "solve auction -", "solve assignment -", "solve qubo -",
		"solve csg PIPE.csv", "solve csg PIPE.npy", "solve csg GIVEN/small.rud --tuned PIPE",
		"solve assignment --points PIPE.csv,PIPE.csv", "solve assignment GIVEN/costs.npy --start PIPE", "solve qubo GIVEN/q.txt --format orlib --start PIPE",
		"solve qubo GIVEN/q.txt --format orlib --time-limit 10ms --plot PIPE", "solve auction PIPE.json",
		"convert PIPE --format coo --output OUT/x.json --to bqm", "convert GIVEN/q.txt --format orlib --to coo --output PIPE", "convert auction - --output OUT/x.csv",
		"generate csg --agents 5 --output PIPE", "generate qubo --variables 5 --output PIPE", "generate assignment --kind machol --rows 4 --output PIPE",
		"generate auction --distribution L1 --goods 4 --bids 4 --output PIPE",
		"query csg PIPE.csv PIPE.npy", "verify PIPE GIVEN/small.rud", "explain csg --size 5 --tuned PIPE",
		"tune csg --from PIPE",
		"merge PIPE --output OUT/m.json", "compare PIPE PIPE", "report PIPE --output OUT/r.html", "bundle verify PIPE",
	} {
		list = append(list, command{line, true})
	}
	return list
}

// signalJobs are count signals for each command, each in a process of its own.
func (a *adversary) signalJobs(count int) (jobs []job) {
	folder := filepath.Join(a.folder, "given")
	files := sync.OnceValue(func() error {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return err
		}
		for _, line := range given(a.Device) {
			args := strings.Fields(strings.ReplaceAll(line, "GIVEN", folder))
			if said, err := exec.Command(a.program, args...).CombinedOutput(); err != nil {
				return fmt.Errorf("%s: %w: %s", line, err, said)
			}
		}
		return nil
	})
	for _, c := range commands(a.Device) {
		jobs = append(jobs, a.addBatches("signal", c.line, count, 10, func(w *pool, r *rand.Rand, row *figures, _ int) error {
			if err := files(); err != nil {
				return err
			}
			own := filepath.Join(a.folder, fmt.Sprint("worker", w.number))
			args := strings.Fields(strings.NewReplacer("GIVEN", folder, "OUT", own, "PIPE", filepath.Join(own, "pipe")).Replace(c.line))
			for _, arg := range args {
				for path := range strings.SplitSeq(arg, ",") {
					if _, err := os.Lstat(path); err != nil && strings.HasPrefix(filepath.Base(path), "pipe") {
						if err := exec.Command("mkfifo", path).Run(); err != nil {
							return fmt.Errorf("mkfifo: %w", err)
						}
					}
				}
			}
			if solves := args[0] == "solve"; solves || args[0] == "tune" || args[0] == "explain" || args[0] == "doctor" {
				args = append(args, "--device", a.Device)
				if solves {
					args = append(args, "--json")
				}
			}
			return a.trySignal(w, row, c, args, r)
		})...)
	}
	return jobs
}

// starting is how long a program may take on a busy machine, loader and packages, before it takes signals.
const starting = 500 * time.Millisecond

// late is the longest time that a command may take to end after a signal.
func late(on string) time.Duration {
	switch deviceKind(on) {
	case device.Emulated:
		return 2 * time.Second
	case device.CUDA:
		return time.Second
	}
	return 500 * time.Millisecond
}

// trySignal sends a signal to a command at a random moment. One that ends late does so in three tries, for the
// machine may be busy.
func (a *adversary) trySignal(w *pool, row *figures, c command, args []string, r *rand.Rand) error {
	most := 600 * time.Millisecond
	if deviceKind(a.Device) == device.CUDA {
		most = 2500 * time.Millisecond
	}
	after, sent := time.Duration(r.Float64()*r.Float64()*float64(most)), []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGUSR1}[r.IntN(3)]
	if sent == syscall.SIGUSR1 {
		after += starting // Go ignores it until a program asks for it; SIGINT and SIGTERM end a program before
	}
	var got reply
	var wrong *fault
	for range 3 {
		if got, wrong = a.sendSignal(c, args, sent, after); wrong == nil || wrong.class != "late" {
			break
		}
	}
	if wrong == nil && args[0] == "solve" && got.Code == 0 && strings.HasPrefix(args[2], filepath.Join(a.folder, "given")) && r.IntN(4) == 0 {
		answer := filepath.Join(a.folder, fmt.Sprint("worker", w.number), "answer.json")
		if err := os.WriteFile(answer, got.Out, 0o644); err != nil {
			return err
		}
		line := []string{"verify", answer, args[2]}
		if strings.Contains(c.line, "--format orlib") {
			line = append(line, "--format", "orlib")
		}
		if err := w.limitMemory(0); err != nil {
			return err
		}
		if v, err := w.run(line); err != nil || v.Code != 0 {
			wrong = &fault{"false proof", fmt.Sprintf("verify: exit %d: %s%s", v.Code, shorten(string(v.Err)), shorten(string(v.Out)))}
		}
	}
	return a.countReply(row, w, args, got, nil, wrong)
}

// sendSignal runs a command line and sends it a signal; the reply's seconds are those it took
// to end then. One that ends before is no fault.
func (a *adversary) sendSignal(c command, args []string, sent syscall.Signal, after time.Duration) (reply, *fault) {
	var out, said bytes.Buffer
	command := exec.Command(a.program, args...)
	command.Stdout, command.Stderr = &out, &said
	own := filepath.Join(a.folder, "home")
	command.Env = append(os.Environ(), "XDG_CONFIG_HOME="+own, "HOME="+own, "COALESCE_NO_HANDOVER=1")
	if strings.HasSuffix(c.line, " -") || strings.Contains(c.line, " - ") {
		in, err := command.StdinPipe() // which stays open
		if err != nil {
			return reply{}, &fault{"crash", err.Error()}
		}
		defer in.Close()
	}
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
	start, early := time.Now(), false
	select {
	case <-ended:
		early = true
	case <-time.After(after):
		start = time.Now()
		command.Process.Signal(sent)
		select {
		case <-ended:
		case <-time.After(20 * time.Second):
			command.Process.Kill()
			<-ended
			return reply{Code: 1}, &fault{"hang", fmt.Sprintf("no end in 20 s after %v at %v", sent, after)}
		}
	}
	r := reply{Code: command.ProcessState.ExitCode(), Out: out.Bytes(), Err: said.Bytes()}
	if !early {
		r.Seconds = time.Since(start).Seconds()
	}
	status, ok := command.ProcessState.Sys().(syscall.WaitStatus)
	if ok && status.Signaled() && status.Signal() == sent && after < starting && out.Len()+said.Len() == 0 {
		r.Code = 1 // the signal met the loader of libraries, before the program's first line
		return r, nil
	}
	if c.waits && early {
		return r, &fault{"wrong", fmt.Sprintf("exit %d before its pipe: %s", r.Code, shorten(string(r.Err)))}
	}
	return r, judgeEnd(r, args[0] == "solve", fmt.Sprintf("%v at %v", sent, after), late(a.Device))
}

// judgeEnd returns the fault of a command that got a signal, nil if there is none. A solve has to answer with
// the best so far, proven or marked as stopped, or to say in one line that there is none; another command ends
// its work, or says in one line that it was interrupted.
func judgeEnd(r reply, solves bool, met string, limit time.Duration) *fault {
	var x answer
	switch said := string(r.Err); {
	case r.Code != 0 && r.Code != 1:
		return &fault{"crash", fmt.Sprintf("%s: exit %d: %s", met, r.Code, shorten(said))}
	case r.Seconds > limit.Seconds():
		return &fault{"late", fmt.Sprintf("%.2f s after %s", r.Seconds, met)}
	case r.Code == 1 && solves && len(r.Out) > 0:
		return &fault{"wrong", met + ": exit 1 and an answer: " + shorten(string(r.Out))}
	case r.Code == 1 && (strings.Count("\n"+said, "\ncoalesce: ") != 1 || solves && strings.Count(said, "\n") != 1):
		return &fault{"wrong", met + ": expected one line: " + shorten(said)}
	case r.Code == 1 || !solves:
	case json.Unmarshal(r.Out, &x) != nil || parseValue(x.Value) == nil:
		return &fault{"wrong", met + ": exit 0 and no answer: " + shorten(string(r.Out))}
	case !x.Proven && !x.Stopped:
		return &fault{"wrong", met + ": an answer that is neither proven nor marked as stopped: " + shorten(string(r.Out))}
	}
	return nil
}
