package main

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

//go:embed rivals.py
var script string

// rivals are other solvers: packages of a python interpreter, in a child
// process, and commands.
type rivals struct {
	child    *exec.Cmd
	requests io.WriteCloser
	replies  *bufio.Scanner
	packages []string
	external rivalCommands
	folder   string // for matrices
	held     string // name of the instance whose matrix is in the folder
}

// startRivals asks the interpreter what it has. Rivals that are missing are no
// error, and the rivals returned beside an error are those that there are.
func startRivals(ctx context.Context, python string, external rivalCommands) (*rivals, error) {
	p := &rivals{external: external}
	var err error
	if p.folder, err = os.MkdirTemp(ramFolder(), "assignment"); err != nil {
		return p, err
	}
	if python == "" {
		return p, nil
	}
	p.child = exec.CommandContext(ctx, python, "-c", script)
	p.child.Stderr = os.Stderr
	p.requests, err = p.child.StdinPipe()
	out, outErr := p.child.StdoutPipe()
	if err = errors.Join(err, outErr); err == nil {
		err = p.child.Start()
	}
	if err != nil {
		p.child = nil
		return p, err
	}
	p.replies = bufio.NewScanner(out)
	if !p.replies.Scan() {
		return p, fmt.Errorf("%s did not start: does it have numpy?", python)
	}
	return p, json.Unmarshal(p.replies.Bytes(), &p.packages)
}

// ramFolder is where files cost no disk, or else the usual folder.
func ramFolder() string {
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
		return "/dev/shm"
	}
	return ""
}

// Close ends the child and drops the matrix.
func (p *rivals) Close() error {
	var err error
	if p.child != nil {
		err = errors.Join(p.requests.Close(), p.child.Wait())
	}
	return errors.Join(err, os.RemoveAll(p.folder))
}

// names of all rivals.
func (p *rivals) names() []string {
	list := slices.Clone(p.packages)
	for _, e := range p.external {
		list = append(list, e.name)
	}
	return list
}

// A reply of a rival.
type reply struct {
	Seconds []float64 `json:"seconds"`
	Total   string    `json:"total"`
	Error   string    `json:"error"`
}

// matrix writes an instance's costs to a file, once.
func (p *rivals) matrix(i *instance) (string, error) {
	file := filepath.Join(p.folder, "costs")
	if key := fmt.Sprint(i.problem, i.seed); p.held != key {
		p.held = ""
		if err := os.WriteFile(file, i.Bytes(), 0o600); err != nil {
			return "", err
		}
		p.held = key
	}
	return file, nil
}

// solve has a rival solve an instance: a command on so many devices, a package within a limit.
func (p *rivals) solve(name string, i *instance, devices, runs int, limit time.Duration) (reply, error) {
	var r reply
	at, file := slices.IndexFunc(p.external, func(e external) bool { return e.name == name }), ""
	if at < 0 || p.external[at].reads() {
		if i.isRemote() {
			return r, errors.New("reads a file of costs, which are on devices only")
		}
		var err error
		if file, err = p.matrix(i); err != nil {
			return r, err
		}
	}
	if at >= 0 {
		return p.external[at].solve(file, i, devices, runs)
	}
	request, err := json.Marshal(map[string]any{
		"solver": name, "file": file, "rows": i.Rows, "cols": i.Cols, "dtype": string(i.value), "runs": runs, "limit": limit.Seconds(),
	})
	if err != nil {
		return r, err
	}
	if _, err := p.requests.Write(append(request, '\n')); err != nil {
		return r, err
	}
	if !p.replies.Scan() {
		return r, errors.Join(errors.New("the interpreter ended"), p.replies.Err())
	}
	if err := json.Unmarshal(p.replies.Bytes(), &r); err != nil {
		return r, err
	}
	if r.Error != "" {
		return r, errors.New(r.Error)
	}
	return r, nil
}

// rivalCommands are commands: NAME=COMMAND, words separated by spaces, of which
// {file} {rows} {cols} {type} {range} {seed} {devices} {runs} are replaced; one
// without {file} draws the costs itself. A command prints a line "seconds" or
// "seconds total" for each run, the costs resident on its devices; other lines
// are passed over.
type rivalCommands []external

type external struct {
	name    string
	command []string
}

func (e *rivalCommands) String() string { return "" }

// Set adds a rival.
func (e *rivalCommands) Set(text string) error {
	name, command, ok := strings.Cut(text, "=")
	if words := strings.Fields(command); ok && name != "" && len(words) > 0 {
		*e = append(*e, external{name, words})
		return nil
	}
	return fmt.Errorf("%q: expected NAME=COMMAND", text)
}

// reads reports that the command wants the costs in a file.
func (e external) reads() bool {
	return slices.ContainsFunc(e.command, func(w string) bool { return strings.Contains(w, "{file}") })
}

func (e external) solve(file string, i *instance, devices, runs int) (reply, error) {
	fill := strings.NewReplacer("{file}", file, "{rows}", strconv.Itoa(i.Rows), "{cols}", strconv.Itoa(i.Cols), "{type}", string(i.value),
		"{range}", strconv.FormatInt(i.spans.of(i.n), 10), "{seed}", strconv.FormatUint(uint64(i.seed)<<40, 10), "{devices}", strconv.Itoa(devices), "{runs}", strconv.Itoa(runs))
	words := make([]string, len(e.command))
	for k, w := range e.command {
		words[k] = fill.Replace(w)
	}
	var r reply
	out, err := exec.Command(words[0], words[1:]...).Output()
	if err != nil {
		return r, fmt.Errorf("%s: %w", e.name, err)
	}
	for line := range bytes.Lines(out) {
		fields := strings.Fields(string(line))
		if len(fields) == 0 || len(fields) > 2 {
			continue
		}
		seconds, err := strconv.ParseFloat(fields[0], 64)
		if err != nil {
			continue
		}
		r.Seconds = append(r.Seconds, seconds)
		if len(fields) == 2 {
			r.Total = fields[1]
		}
	}
	if len(r.Seconds) == 0 {
		return r, fmt.Errorf("%s printed no time", e.name)
	}
	return r, nil
}

// raceRival races a rival on an instance, a command on so many devices.
func (b *bench) raceRival(name string, i *instance, devices int, limit time.Duration) {
	if why := b.history.reasonToSkip(name, i.problem, b.settings.slow); why != "" {
		fmt.Printf("%-28s %-26s left out: %s\n", i.problem, name, why)
		return
	}
	row := i.newRow(name)
	if row.Devices = devices; b.hasRow(i, row) {
		return
	}
	r, err := b.rivals.solve(name, i, max(1, devices), b.settings.runs, limit)
	row.Runs, row.Optimum = r.Seconds, r.Total
	if err == nil && r.Total != "" {
		err = i.checkOptimum(&row, 0)
	}
	if err != nil {
		row.Failed = err.Error()
	}
	b.history.record(name, i.problem, row.Median())
	b.recordRow(i, row)
}
