package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"

	"coalesce/bench/result"
	solver "coalesce/solvers/qubo"
)

//go:embed peers.py
var script string

// peers are packages of a python interpreter, each call a process.
type peers struct{ python string }

type request struct {
	Solver string  `json:"solver"`
	N      int     `json:"n"`
	File   string  `json:"file"`
	Limit  float64 `json:"limit"`
	Target float64 `json:"target"`
	Seed   uint64  `json:"seed"`
}

type reply struct {
	Solvers  []string `json:"solvers"`
	Seconds  float64  `json:"seconds"`
	Solution string   `json:"solution"`
	Error    string   `json:"error"`
}

func (p *peers) ask(ctx context.Context, q request) (reply, error) {
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

// peerTarget times the packages to the best known value, as far as their
// parameters allow: the clock begins with the model in memory, theirs.
func (b *bench) peerTarget() error {
	there, err := b.peers.ask(b.ctx, request{})
	if err != nil {
		return err
	}
	if len(there.Solvers) == 0 {
		return fmt.Errorf("%s has no dwave-samplers: nothing to run", b.settings.python)
	}
	return b.each(targets(), "peers", func(p problem, inst *solver.Instance) error {
		file, err := terms(inst)
		if err != nil {
			return err
		}
		defer os.Remove(file)
		for _, name := range there.Solvers {
			if len(b.settings.engines) > 0 && !slices.Contains(b.settings.engines, name) {
				continue
			}
			for seed := uint64(1); seed <= uint64(b.settings.seeds); seed++ {
				if b.late() {
					return errLate
				}
				row := result.Binary{Name: name, Instance: p.name, N: inst.N, Seed: seed, Known: p.known}
				r, err := b.peers.ask(b.ctx, request{Solver: name, N: inst.N, File: file, Limit: b.settings.limit.Seconds(), Target: p.known, Seed: seed})
				if err == nil {
					err = take(&row, inst, r)
				}
				if err != nil {
					row.Failed = err.Error()
				}
				b.add(row)
			}
		}
		return nil
	})
}

// take recomputes a peer's objective.
func take(row *result.Binary, inst *solver.Instance, r reply) error {
	x, ok := solver.ParseBits(r.Solution)
	if !ok || x.Len() != inst.N {
		return fmt.Errorf("a solution of %d characters, expected %d of 0 and 1", len(r.Solution), inst.N)
	}
	row.Value, row.Seconds, row.Best = inst.Value(x.Words()), r.Seconds, r.Seconds
	if row.Value >= row.Known {
		row.Met = r.Seconds
	}
	return nil
}

// terms writes an instance, as one to maximise over x in {0,1}^n, to a file for
// the peers, less its offset.
func terms(inst *solver.Instance) (string, error) {
	var b []byte
	put := func(i, j int, w float64) {
		b = binary.LittleEndian.AppendUint32(b, uint32(i))
		b = binary.LittleEndian.AppendUint32(b, uint32(j))
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(w))
	}
	if inst.Int == nil || inst.Sense != solver.Maximize || inst.Form == solver.Ising {
		return "", fmt.Errorf("%s: expected integers to maximise, a QUBO or a cut", inst)
	}
	for i := range inst.N {
		own := 0.0
		if len(inst.Int.Linear) > 0 {
			own = float64(inst.Int.Linear[i])
		}
		for k := inst.Start[i]; k < inst.Start[i+1]; k++ {
			w, j := float64(inst.Int.Pair[k]), int(inst.Col[k])
			if inst.Form == solver.MaxCut { // w (x + y - 2xy)
				own += w
				w *= -2
			}
			if i < j {
				put(i, j, w)
			}
		}
		put(i, i, own)
	}
	f, err := os.CreateTemp("", "qubo-*.terms")
	if err != nil {
		return "", err
	}
	_, err = f.Write(b)
	return f.Name(), errors.Join(err, f.Close())
}
