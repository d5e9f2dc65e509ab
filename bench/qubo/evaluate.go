package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"coalesce/bench/experiment"
	"coalesce/bench/result"
	solver "coalesce/solvers/qubo"
	quboproblem "coalesce/solvers/qubo/problem"
)

// drawnSizes are the numbers among -instances: of variables of problems to be drawn.
func (b *bench) drawnSizes() (list []int) {
	for _, text := range b.settings.instances {
		if n, err := strconv.Atoi(text); err == nil && n > 0 {
			list = append(list, n)
		}
	}
	return list
}

// timeEvaluation draws the paper's first table, 1,000 random solutions at 2,500 to
// 7,000 variables, or at the sizes of -instances, on the device and on one core.
func (b *bench) timeEvaluation() error {
	b.ResumeRows()
	sizes := []int{2500, 5000, 6000, 7000}
	if len(b.settings.instances) > 0 {
		sizes = b.drawnSizes()
	}
	for _, n := range sizes {
		inst, err := solver.Palubeckis(n, 100, int64(10*n))
		if err != nil {
			return err
		}
		labels := []string{b.settings.Variant}
		if b.settings.Variant == "all" {
			if labels, err = solver.EvaluateVariants(inst); err != nil {
				return err
			}
		}
		for k, label := range labels {
			if b.OutOfTime() {
				return experiment.ErrLate
			}
			if slices.ContainsFunc(b.Kept, func(k result.Binary) bool {
				return k.N == n && k.What == "samples" && (label == "" || k.Variant == label)
			}) {
				continue
			}
			if err := b.rates(inst, n, label, k == 0); err != nil {
				return fmt.Errorf("%d variables: %w", n, err)
			}
		}
	}
	return nil
}

// rates adds the rows of a variant, and of one core.
func (b *bench) rates(inst *quboproblem.Instance, n int, label string, core bool) (err error) {
	e, err := solver.OpenEvaluation(b.Dev, inst, label, b.settings.count)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	if core {
		const solutions = 20
		t, err := e.TimeOnHost(solutions)
		if err != nil {
			return err
		}
		b.addRow(result.Binary{Name: "evaluate", Instance: inst.Source, N: n,
			Timed: result.Timed{Count: 1, What: "host", Work: e.Multiplications() / float64(e.Count), Runs: []float64{t.Seconds()}}})
	}
	for _, what := range []struct {
		name  string
		share float64 // of the products that the objectives need
		run   func() (time.Duration, error)
	}{{"values", 1, e.Values}, {"gains", 2, e.TimeGains}, {"samples", 1, e.TimeSamples}} { // samples last: Resume takes them for all
		row := result.Binary{Name: "evaluate", Variant: e.Variant, Instance: inst.Source, N: n,
			Timed: result.Timed{Count: e.Count, What: what.name, Work: what.share * e.Multiplications()}}
		for k := 0; k <= b.settings.runs; k++ {
			t, err := what.run()
			if err != nil {
				return err
			}
			if k > 0 {
				row.Runs = append(row.Runs, t.Seconds())
			}
		}
		if err := e.Check(5); err != nil {
			row.Failed = err.Error()
		}
		b.addRow(row)
	}
	return nil
}
