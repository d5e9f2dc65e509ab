package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"coalesce/bench/experiment"
	"coalesce/bench/result"
	"coalesce/runtime/device"
	solver "coalesce/solvers/qubo"
	quboproblem "coalesce/solvers/qubo/problem"
	"coalesce/solvers/solve"
)

// orlibFiles are the OR-Library's files of several problems, by the names of these, which a number completes.
var orlibFiles = []struct {
	file, name string
	problems   int
}{{"bqp50", "bqp50-", 10}, {"bqp100", "bqp100-", 10}, {"bqp250", "bqp250-", 10}, {"bqp500", "bqp500-", 10}, {"bqp1000", "bqp1000-", 10}, {"bqpgka", "gka-", 45}}

// boundProblems are all instances that are files, and Palubeckis' of 3,000 variables.
func boundProblems() (list []problem) {
	for _, f := range orlibFiles {
		for k := range f.problems {
			list = append(list, problem{name: fmt.Sprintf("%s%d", f.name, k+1), file: f.file, number: k + 1})
		}
	}
	return slices.Concat(list, orlibProblems(), slices.DeleteFunc(smallPalubeckisProblems(), func(p problem) bool { return p.drawn.n > 3000 }), cutProblems())
}

// boundValues solves every instance within the limit, and adds the value, the bound, its kind, and whether they meet.
func (b *bench) boundValues() error {
	b.ResumeRows()
	list := slices.DeleteFunc(boundProblems(), func(p problem) bool {
		return slices.ContainsFunc(b.Kept, func(r result.Binary) bool { return r.Instance == p.name })
	})
	return b.eachProblem(list, "bounds", func(p problem, inst *quboproblem.Instance) error {
		limit := b.settings.limitFor(inst.N)
		row := result.Binary{Name: "bounds", Instance: p.name, N: inst.N, Seed: 1, Known: p.known, Without: strings.Join(b.settings.without, ","),
			Attempt: result.Attempt{Limit: limit.Seconds()}, Timed: result.Timed{What: "bounds"}}
		began := time.Now()
		r, err := solver.Solve(b.Ctx, inst, solver.Options{Rules: b.settings.rules, Without: b.settings.without,
			Settings: solve.Settings{Devices: append([]device.Device{b.Dev}, b.Others...), TimeLimit: limit, Seed: 1}})
		if err != nil {
			row.Failed = err.Error()
			b.addRow(row)
			return nil
		}
		row.Seconds = time.Since(began).Seconds()
		row.Value, row.Best, row.Flips = r.Value.Float(), r.History[len(r.History)-1].Seconds, r.Work.Flips
		row.Bound, row.BoundKind, row.Proven = r.Bound.Float(), string(r.BoundKind), r.Proven
		b.addRow(row)
		if b.OutOfTime() {
			return experiment.ErrLate
		}
		return nil
	})
}
