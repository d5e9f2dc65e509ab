package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"time"

	"coalesce/bench/experiment"
	"coalesce/bench/result"
	generated "coalesce/generated/assignment"
	"coalesce/runtime/device"
	solver "coalesce/solvers/assignment"
	assignmentproblem "coalesce/solvers/assignment/problem"
	"coalesce/solvers/solve"
)

// A batchCase is many matrices, of sides that are equal or from half of them on.
type batchCase struct {
	kind       string
	count      int
	rows, cols int
	costs      int64 // range
	value      assignmentproblem.Value
	ragged     bool
}

func (c batchCase) String() string {
	s := fmt.Sprintf("%s %d x (%dx%d) R=%d", c.kind, c.count, c.rows, c.cols, c.costs)
	if c.value != assignmentproblem.Int32 {
		s += " " + string(c.value)
	}
	if c.ragged {
		s += " ragged"
	}
	return s
}

// draw makes the matrices of seed s.
func (c batchCase) draw(s int) ([]*assignmentproblem.Instance, error) {
	list := make([]*assignmentproblem.Instance, c.count)
	for k := range list {
		rows, cols := c.rows, c.cols
		if c.ragged {
			rows, cols = rows/2+k*37%(rows/2+1), cols/2+k*53%(cols/2+1)
		}
		var err error
		if list[k], err = solver.Generate(c.kind, rows, cols, c.costs, uint64(s*8192+k)<<40, c.value); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func batchCases(small bool) []batchCase {
	i, f := assignmentproblem.Int32, assignmentproblem.Float32
	if small {
		return []batchCase{{"uniform", 6, 40, 40, 1e6, i, false}, {"uniform", 6, 20, 60, 1e6, f, false}, {"uniform", 6, 60, 60, 60, i, true}}
	}
	return []batchCase{
		{"uniform", 208, 300, 300, 1e6, i, false}, {"uniform", 208, 300, 300, 1e6, f, false}, {"uniform", 208, 300, 300, 300, i, false},
		{"uniform", 208, 300, 300, 0, f, false},
		{"uniform", 208, 300, 600, 1e6, i, false}, {"uniform", 208, 300, 100, 1e6, i, false}, {"uniform", 208, 600, 300, 1e6, f, false},
		{"uniform", 256, 256, 256, 1e6, i, false}, {"uniform", 256, 512, 512, 1e6, i, false}, {"uniform", 256, 512, 512, 0, f, false},
		{"uniform", 208, 300, 300, 1e6, i, true}, {"uniform", 256, 600, 600, 1e6, f, true},
		{"uniform", 4096, 50, 50, 1e6, i, false}, {"uniform", 132, 1000, 1000, 1e6, i, false}, {"uniform", 32, 2048, 2048, 1e6, i, false},
		{"uniform", 1, 1000, 1000, 1000, i, false}, {"uniform", 1, 1000, 1000, 1e6, i, false},
		{"lowrank", 208, 300, 300, 1e6, i, false}, {"twocost", 208, 300, 300, 0, i, false}, {"machol", 208, 100, 100, 0, i, false},
	}
}

// raceBatches runs many matrices in one launch. With -variant every, all variants.
func (b *bench) raceBatches() error {
	for _, c := range batchCases(b.Facts.Kind != device.CUDA) {
		for s := 1; s <= b.settings.seeds; s++ {
			list, err := c.draw(s)
			if err != nil {
				return fmt.Errorf("%s: %w", c, err)
			}
			optimum := ""
			for _, label := range b.batchVariants(c.value) {
				if b.OutOfTime() {
					return experiment.ErrLate
				}
				b.batch(c, s, list, solver.Options{Settings: solve.Settings{Devices: []device.Device{b.Dev}, Variant: label}}, &optimum)
			}
		}
	}
	return nil
}

func (b *bench) batchVariants(value assignmentproblem.Value) []string {
	if b.settings.Variant != "every" {
		return []string{b.settings.Variant}
	}
	var labels []string
	for _, v := range generated.Batch.Variants {
		if generated.Batch.Value(&v, "value") == string(value) {
			labels = append(labels, v.Label)
		}
	}
	return labels
}

// batch times one variant on the matrices of one seed.
func (b *bench) batch(c batchCase, seed int, list []*assignmentproblem.Instance, o solver.Options, optimum *string) {
	row := result.Solve{Name: "batch", Kind: c.kind, Rows: c.rows, Cols: c.cols, Range: c.costs, Value: string(c.value), Seed: uint64(seed), Matrices: c.count}
	if c.ragged {
		row.Noise = "ragged"
	}
	err := b.batchRuns(&row, list, o)
	if err == nil && *optimum != "" && *optimum != row.Optimum {
		err = fmt.Errorf("found the optimum %s, expected %s", row.Optimum, *optimum)
	}
	if err != nil {
		row.Failed = err.Error()
		b.Failed = true
	} else {
		*optimum = row.Optimum
	}
	fmt.Printf("%-42s seed %d %9.3f ms of %2d  %s %s %s\n", c, seed, row.Median()*1e3, len(row.Runs), row.Variant, row.Counts, row.Failed)
	b.addRow(row)
}

func (b *bench) batchRuns(row *result.Solve, list []*assignmentproblem.Instance, o solver.Options) (err error) {
	batch, err := solver.OpenBatch(b.Ctx, list, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, batch.Close()) }()
	begin := time.Now()
	for run := -1; run < b.settings.runs && (run < 1 || time.Since(begin) < b.settings.spend); run++ {
		clock := time.Now()
		if err := batch.Run(b.Ctx); err != nil {
			return err
		}
		if run >= 0 { // the run before is not counted
			row.Runs = append(row.Runs, time.Since(clock).Seconds())
		}
	}
	results, err := batch.Results()
	if err != nil {
		return err
	}
	var total big.Rat
	var worst solver.Counts
	for k, r := range results {
		x, ok := new(big.Rat).SetString(r.Value.String())
		if !ok || r.Column == nil || !r.Proven && !o.Unchecked {
			return fmt.Errorf("matrix %d: found %s, proven %t", k, r.Value.String(), r.Proven)
		}
		total.Add(&total, x)
		if r.Counts.Steps > worst.Steps {
			worst = r.Counts
		}
		row.Variant = r.Variant
	}
	row.Optimum = total.FloatString(6)
	row.Counts, err = json.Marshal(worst)
	return err
}
