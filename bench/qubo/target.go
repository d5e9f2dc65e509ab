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

// targetProblems are the instances whose time to the best known value is measured.
func targetProblems() []problem {
	return slices.Concat(orlibProblems(), smallPalubeckisProblems(), palubeckisProblems(), cutProblems())
}

// timeToTarget times engines, or the device's best, to the best known value, seeds 1
// on: from the coefficients in memory until the search has it.
func (b *bench) timeToTarget() error { return b.timeEngines(targetProblems()) }

// timeEngines is timeToTarget for a list of problems.
func (b *bench) timeEngines(list []problem) error {
	return b.eachProblem(list, "solve", func(p problem, inst *quboproblem.Instance) error {
		engines := b.settings.engines
		if len(engines) == 0 {
			engines = []string{""}
		}
		for _, engine := range engines {
			for seed := uint64(1); seed <= uint64(b.settings.seeds); seed++ {
				if b.OutOfTime() {
					return experiment.ErrLate
				}
				b.addRun(p, inst, engine, "", seed)
			}
		}
		return nil
	})
}

// timeIndependentSets does the same for QOBLIB's independent sets.
func (b *bench) timeIndependentSets() error { return b.timeEngines(independentSetProblems()) }

// addRun adds the row of a run of an engine, or the device's best, with a part
// left out where one is named.
func (b *bench) addRun(p problem, inst *quboproblem.Instance, engine, without string, seed uint64) {
	b.addRow(b.runOnce(p, inst, runSettings{devices: append([]device.Device{b.Dev}, b.Others...), engine: engine, without: without, seed: seed,
		limit: b.settings.limitFor(inst.N), target: true}))
}

// A runSettings has the settings of a run.
type runSettings struct {
	devices         []device.Device
	engine, without string
	seed            uint64
	limit           time.Duration
	target          bool // it ends at the best known value
	threads         int  // of the host; 0: its cores
}

// runOnce is the row of a run.
func (b *bench) runOnce(p problem, inst *quboproblem.Instance, t runSettings) result.Binary {
	row := result.Binary{Name: t.engine, Instance: p.name, N: inst.N, Seed: t.seed, Known: p.known, ABS2: p.abs2, Gurobi: p.gurobi,
		Attempt: result.Attempt{Limit: t.limit.Seconds()}, Without: t.without}
	if len(t.devices) > 1 {
		row.Devices = len(t.devices)
	}
	o := solver.Options{Rules: b.settings.rules, Threads: t.threads,
		Settings: solve.Settings{Devices: t.devices, TimeLimit: t.limit, Seed: t.seed, Algorithm: t.engine, Variant: b.settings.Variant}}
	if t.target {
		o.Target = &p.known
	}
	if t.without != "" {
		o.Without = []string{t.without}
	}
	began := time.Now()
	r, err := solver.Solve(b.Ctx, inst, o)
	row.Seconds = time.Since(began).Seconds()
	if err != nil {
		row.Failed = err.Error()
		return row
	}
	row.Name, row.Variant, _ = strings.Cut(r.Variant, " ")
	row.Value, row.Flips = inst.Value(r.Solution.Words()), r.Work.Flips
	for _, h := range r.History {
		if t.seed == 1 && t.without == "" && t.target { // enough to see how runs go
			row.History = append(row.History, result.Improvement{Seconds: h.Seconds, Value: h.Value.Float()})
		}
		row.Best = h.Seconds
	}
	if r.Met != nil {
		row.Met, row.Success = *r.Met, true
	}
	if b.submitted != nil {
		if err := b.submitted.add(inst, row, r, b.Facts.String()); err != nil {
			row.Failed = err.Error()
		}
	}
	return row
}

// printSummary prints the runs to a target of each instance in a line: how many,
// how many reached it, and when.
func (b *bench) printSummary() {
	var rows []result.Binary
	for _, r := range b.File.Rows {
		if r.Limit > 0 && r.What == "" {
			if r.Devices > 0 {
				r.Name += fmt.Sprintf(" on %d", r.Devices)
			}
			rows = append(rows, r)
		}
	}
	if len(rows) == 0 {
		return
	}
	fmt.Printf("\n%-12s %-32s %5s %5s %10s %10s %10s %10s\n", "instance", "solver", "runs", "hits", "median s", "mean s", "worst s", "gap %")
	hits, runs := 0, 0
	for _, s := range result.Summarize(rows) {
		if s.Without != "" {
			s.Name = "without " + s.Without
		}
		fmt.Printf("%-12s %-32s %5d %5d %10.4g %10.4g %10.4g %10.4f\n", s.Instance, s.Name, s.Runs+s.Failed, s.Hits, s.Median, s.Mean, s.Worst, s.Gap)
		hits, runs = hits+s.Hits, runs+s.Runs+s.Failed
	}
	fmt.Printf("%d of %d runs reached the best known\n", hits, runs)
}
