package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"coalesce/bench/experiment"
	"coalesce/bench/result"
	quboproblem "coalesce/solvers/qubo/problem"
)

//go:embed rivals.py
var script string

// rivals are packages of a python interpreter, each call a process, and MQLib.
type rivals struct {
	python string
	mqlib  mqlib
}

type request struct {
	Solver string  `json:"solver"`
	N      int     `json:"n"`
	File   string  `json:"file"`
	Limit  float64 `json:"limit"`
	Target float64 `json:"target"`
	Seed   uint64  `json:"seed"`
}

type reply struct {
	Solvers  []string             `json:"solvers"`
	Missing  map[string]string    `json:"missing"` // packages, and why they cannot be had
	Seconds  float64              `json:"seconds"`
	Met      float64              `json:"met"` // seconds to the target, by the rival; 0: at the end, or not
	Solution string               `json:"solution"`
	History  []result.Improvement `json:"-"` // of MQLib
	Error    string               `json:"error"`
}

func (p *rivals) ask(ctx context.Context, q request) (reply, error) {
	text, err := json.Marshal(q)
	if err != nil {
		return reply{}, err
	}
	c := exec.CommandContext(ctx, p.python, "-c", script)
	c.Stdin, c.Stderr = bytes.NewReader(text), os.Stderr
	out, err := c.Output()
	if err != nil {
		return reply{}, fmt.Errorf("%s: %w", p.python, err)
	}
	var r reply
	if err = json.Unmarshal(out, &r); err == nil && r.Error != "" {
		err = errors.New(r.Error)
	}
	return r, err
}

// A rival solves an instance, laid out for it in a file.
type rival struct {
	name  string
	write func(inst *quboproblem.Instance) (file string, err error)
	run   func(ctx context.Context, file string, q request) (reply, error)
}

// available lists the rivals that can be run here, and those that cannot with why.
func (p *rivals) available(ctx context.Context) (list []rival, missing map[string]string) {
	there, err := p.ask(ctx, request{})
	if missing = there.Missing; missing == nil {
		missing = map[string]string{}
	}
	if err != nil {
		missing["the packages of "+p.python] = err.Error()
	}
	for _, name := range there.Solvers {
		list = append(list, rival{name, writeTerms, func(ctx context.Context, file string, q request) (reply, error) {
			q.Solver, q.File = name, file
			return p.ask(ctx, q)
		}})
	}
	if why := p.mqlib.reasonMissing(); why != "" {
		missing["MQLib"] = why
		return list, missing
	}
	for _, name := range mqlibHeuristics {
		list = append(list, rival{"MQLib " + name, writeMQLib, func(ctx context.Context, file string, q request) (reply, error) {
			return p.mqlib.run(ctx, name, file, q)
		}})
	}
	return list, missing
}

// rivalTarget times the rivals to the best known value, as far as their
// parameters allow: the clock begins with the model in memory, theirs.
func (b *bench) rivalTarget() error {
	list, missing := b.rivals.available(b.Ctx)
	for _, name := range slices.Sorted(maps.Keys(missing)) {
		b.addRow(result.Binary{Name: name, Missing: missing[name]})
	}
	list = slices.DeleteFunc(list, func(p rival) bool {
		return len(b.settings.engines) > 0 && !slices.Contains(b.settings.engines, p.name)
	})
	if len(list) == 0 {
		return errors.New("no rival can be run here")
	}
	return b.eachProblem(targetProblems(), "rivals", func(p problem, inst *quboproblem.Instance) error {
		for _, contender := range list {
			file, err := contender.write(inst)
			if err != nil {
				return err
			}
			err = b.rivalRuns(p, inst, contender, file)
			if err = errors.Join(err, os.RemoveAll(filepath.Dir(file))); err != nil {
				return err
			}
		}
		return nil
	})
}

// rivalRuns adds the rows of a rival on an instance.
func (b *bench) rivalRuns(p problem, inst *quboproblem.Instance, contender rival, file string) error {
	for seed := uint64(1); seed <= uint64(b.settings.seeds); seed++ {
		if b.OutOfTime() {
			return experiment.ErrLate
		}
		row := result.Binary{Name: contender.name, Instance: p.name, N: inst.N, Seed: seed, Known: p.known, Attempt: result.Attempt{Limit: b.settings.limitFor(inst.N).Seconds()}}
		r, err := contender.run(b.Ctx, file, request{N: inst.N, Limit: row.Limit, Target: p.known, Seed: seed})
		if err == nil {
			err = checkRival(&row, inst, r)
		}
		if err != nil {
			row.Failed = err.Error()
		}
		b.addRow(row)
	}
	return nil
}

// checkRival recomputes a rival's objective.
func checkRival(row *result.Binary, inst *quboproblem.Instance, r reply) error {
	x, ok := quboproblem.ParseBits(r.Solution)
	if !ok || x.Len() != inst.N {
		return fmt.Errorf("a solution of %d characters, expected %d of 0 and 1", len(r.Solution), inst.N)
	}
	row.Value, row.Seconds, row.Best = inst.Value(x.Words()), r.Seconds, r.Seconds
	if n := len(r.History); n > 0 {
		last := r.History[n-1]
		if last.Value != row.Value {
			return fmt.Errorf("its history ends at %v, its solution's value is %v", last.Value, row.Value)
		}
		row.History, row.Best = r.History, last.Seconds
	}
	if row.Value < row.Known {
		return nil
	}
	row.Success, row.Met = true, r.Seconds
	if r.Met > 0 {
		row.Met = r.Met
	}
	for _, h := range r.History {
		if h.Value >= row.Known {
			row.Met = h.Seconds
			break
		}
	}
	return nil
}

// writeTerms writes an instance, as one to maximise over x in {0,1}^n, to a file in a
// folder of its own for the packages, less its offset.
func writeTerms(inst *quboproblem.Instance) (string, error) {
	var b []byte
	put := func(i, j int, w float64) {
		b = binary.LittleEndian.AppendUint32(b, uint32(i))
		b = binary.LittleEndian.AppendUint32(b, uint32(j))
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(w))
	}
	if inst.Int == nil || inst.Sense != quboproblem.Maximize || inst.Form == quboproblem.Ising {
		return "", fmt.Errorf("%s: expected integers to maximise, a QUBO or a cut", inst)
	}
	for i := range inst.N {
		own := 0.0
		if len(inst.Int.Linear) > 0 {
			own = float64(inst.Int.Linear[i])
		}
		for k := inst.Start[i]; k < inst.Start[i+1]; k++ {
			w, j := float64(inst.Int.Pair[k]), int(inst.Col[k])
			if inst.Form == quboproblem.MaxCut { // w (x + y - 2xy)
				own += w
				w *= -2
			}
			if i < j {
				put(i, j, w)
			}
		}
		put(i, i, own)
	}
	folder, err := os.MkdirTemp("", "qubo-rival-")
	if err != nil {
		return "", err
	}
	file := filepath.Join(folder, "terms")
	if err = os.WriteFile(file, b, 0o600); err != nil {
		err = errors.Join(err, os.RemoveAll(folder))
	}
	return file, err
}
