package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"coalesce/bench/experiment"
	"coalesce/bench/result"
	"coalesce/runtime/device"
	quboproblem "coalesce/solvers/qubo/problem"
)

// compareFamilies solves every instance that is a file with one core of the host, and with each of MQLib's heuristics, which have one, for
// the same time. Nothing ends a run before.
func (b *bench) compareFamilies() error {
	b.ResumeRows()
	if why := b.rivals.mqlib.reasonMissing(); why != "" {
		return errors.New("MQLib is not run: " + why)
	}
	list, _ := b.rivals.available(b.Ctx)
	list = slices.DeleteFunc(list, func(r rival) bool { return !strings.HasPrefix(r.name, "MQLib ") })
	known := map[string]float64{}
	for _, p := range targetProblems() {
		known[p.name] = p.known
	}
	problems := slices.DeleteFunc(boundProblems(), func(p problem) bool {
		return slices.ContainsFunc(b.Kept, func(r result.Binary) bool { return r.Instance == p.name })
	})
	return b.eachProblem(problems, "families", func(p problem, inst *quboproblem.Instance) error {
		if b.OutOfTime() {
			return experiment.ErrLate
		}
		p.known = known[p.name]
		row := b.runOnce(p, inst, runSettings{devices: []device.Device{b.Dev}, engine: "", seed: 1, threads: 1, limit: b.settings.limitFor(inst.N)})
		rows := []result.Binary{row}
		for _, r := range list {
			file, err := r.write(inst)
			if err != nil {
				return err
			}
			row := result.Binary{Name: r.name, Instance: p.name, N: inst.N, Seed: 1, Known: p.known, Attempt: result.Attempt{Limit: b.settings.limitFor(inst.N).Seconds()}}
			answer, err := r.run(b.Ctx, file, request{N: inst.N, Limit: row.Limit, Seed: 1})
			if err == nil {
				err = checkRival(&row, inst, answer)
			}
			if err = errors.Join(err, os.RemoveAll(filepath.Dir(file))); err != nil {
				row.Failed = err.Error()
			}
			rows = append(rows, row)
		}
		for _, row := range rows { // of an instance all or none, for a later run to go on
			row.Success, row.Met, row.History = false, 0, nil
			b.addRow(row)
		}
		return nil
	})
}
