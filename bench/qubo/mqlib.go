package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"coalesce/bench/result"
	solver "coalesce/solvers/qubo"
	quboproblem "coalesce/solvers/qubo/problem"
)

// MQLib (I. Dunning, S. Gupta and J. Silberholz, "What works best when? A
// systematic evaluation of heuristics for Max-Cut and QUBO", INFORMS Journal on
// Computing 30, 2018) is run as a command, a process a run. It has no target: a
// run takes its whole limit, and its history says when the target was met.
type mqlib struct{ command string }

// mqlibHeuristics are those that did best there on dense, sparse and graph
// instances, and the one that the search of qubo/bulk is taken from.
var mqlibHeuristics = []string{"BURER2002", "PALUBECKIS2004bMST2", "GLOVER2010", "LU2010"}

// reasonMissing says why MQLib cannot be run, or is empty.
func (m mqlib) reasonMissing() string {
	if m.command == "" {
		return "its command is not named: -mqlib"
	}
	if _, err := exec.LookPath(m.command); err != nil {
		return err.Error()
	}
	return ""
}

// run solves an instance that write left in folder. The clock is MQLib's: it
// begins with the model in memory, in the form that the heuristic takes.
func (m mqlib) run(ctx context.Context, heuristic, file string, q request) (reply, error) {
	kind := "-fQ"
	if strings.HasSuffix(file, ".rudy") {
		kind = "-fM"
	}
	c := exec.CommandContext(ctx, m.command, "-h", heuristic, kind, file, "-r", strconv.FormatFloat(q.Limit, 'g', -1, 64),
		"-s", strconv.FormatUint(q.Seed%65536, 10), "-nv", "-ps")
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		return reply{}, fmt.Errorf("%s: %w", m.command, err)
	}
	return parseMQLib(string(out))
}

// parseMQLib reads "limit,heuristic,"file",value,seconds,[value:seconds;…]" and,
// two lines below, the solution: 0 and 1, or of a cut -1 and 1.
func parseMQLib(text string) (r reply, err error) {
	head, tail, found := strings.Cut(text, "Solution:")
	at := strings.LastIndex(head, ",[")
	end := strings.LastIndex(head, "]")
	if !found || at < 0 || end < at {
		return r, fmt.Errorf("MQLib wrote %.200q, expected a history and a solution", text)
	}
	if r.Seconds, err = strconv.ParseFloat(head[strings.LastIndex(head[:at], ",")+1:at], 64); err != nil {
		return r, fmt.Errorf("MQLib's time: %w", err)
	}
	for _, pair := range strings.FieldsFunc(head[at+2:end], func(c rune) bool { return c == ';' }) {
		value, seconds, _ := strings.Cut(pair, ":")
		v, e1 := strconv.ParseFloat(value, 64)
		s, e2 := strconv.ParseFloat(seconds, 64)
		if err := errors.Join(e1, e2); err != nil {
			return r, fmt.Errorf("MQLib's history: %w", err)
		}
		r.History = append(r.History, result.Improvement{Seconds: s, Value: v})
	}
	for _, word := range strings.Fields(tail) {
		switch word {
		case "1":
			r.Solution += "1"
		case "0", "-1":
			r.Solution += "0"
		default:
			return r, fmt.Errorf("MQLib's solution has %q, expected 0, 1 or -1", word)
		}
	}
	return r, nil
}

// writeMQLib writes an instance as MQLib reads it: a cut as a graph.
func writeMQLib(inst *quboproblem.Instance) (string, error) {
	if inst.Int == nil || inst.Sense != quboproblem.Maximize || inst.Form == quboproblem.Ising || inst.Int.Offset != 0 {
		return "", fmt.Errorf("%s: expected integers to maximise, a QUBO or a cut, without a constant", inst)
	}
	folder, err := os.MkdirTemp("", "qubo-mqlib-")
	if err != nil {
		return "", err
	}
	format := "mqlib"
	if inst.Form == quboproblem.MaxCut {
		format = "rudy"
	}
	file := filepath.Join(folder, "instance."+format)
	f, err := os.Create(file)
	if err == nil {
		_, err = solver.Write(f, inst, format)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		err = errors.Join(err, os.RemoveAll(folder))
	}
	return file, err
}
