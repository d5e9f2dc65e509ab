package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"coalesce/bench/experiment"
	"coalesce/bench/result"
	"coalesce/runtime/device"
	solver "coalesce/solvers/assignment"
	assignmentproblem "coalesce/solvers/assignment/problem"
	"coalesce/solvers/solve"
)

// A flow is a kind of costs with supplies and capacities.
type flow struct {
	kind       string
	rows, cols int
}

// instance draws random masses; of "units" every row has one unit, and the columns take equal numbers of them.
func (f flow) instance(seed uint64) (*assignmentproblem.Instance, error) {
	r := rand.New(rand.NewPCG(seed, uint64(f.rows)))
	costs := make([]float64, f.rows*f.cols)
	point := func(shift float64) [2]float64 {
		if f.kind == "clouds" {
			return [2]float64{r.NormFloat64() + shift, r.NormFloat64()}
		}
		return [2]float64{r.Float64(), r.Float64()}
	}
	x, y := make([][2]float64, f.rows), make([][2]float64, f.cols)
	for i := range x {
		x[i] = point(0)
	}
	for j := range y {
		y[j] = point(3)
	}
	for i := range x {
		for j := range y {
			dx, dy := x[i][0]-y[j][0], x[i][1]-y[j][1]
			if costs[i*f.cols+j] = dx*dx + dy*dy; f.kind == "uniform" || f.kind == "units" {
				costs[i*f.cols+j] = r.Float64()
			}
		}
	}
	var inst *assignmentproblem.Instance
	var err error
	if f.kind == "units" {
		whole := make([]int32, len(costs))
		for k, c := range costs {
			whole[k] = int32(1e6 * c)
		}
		inst, err = assignmentproblem.NewInstance(f.rows, f.cols, whole, "drawn")
		if err == nil {
			inst.Supply, inst.Capacity = slices.Repeat([]int64{1}, f.rows), slices.Repeat([]int64{int64(f.rows / f.cols)}, f.cols)
		}
		return inst, err
	}
	masses := func(n int) []int64 {
		list, whole, sum := make([]float64, n), make([]int64, n), 0.0
		for k := range list {
			list[k] = r.Float64()
			sum += list[k]
		}
		left := int64(1) << 60
		for k, m := range list {
			whole[k] = int64(math.Ldexp(m/sum, 60))
			left -= whole[k]
		}
		whole[0] += left
		return whole
	}
	if inst, err = assignmentproblem.NewInstance(f.rows, f.cols, costs, "drawn"); err == nil {
		inst.Supply, inst.Capacity = masses(f.rows), masses(f.cols)
	}
	return inst, err
}

// timeFlows solves flows, from costs in the host's memory to the flow with its certificate.
func (b *bench) timeFlows() error {
	sizes := b.settings.sizes
	if len(sizes) == 0 {
		sizes = []int{256, 1000, 2000, 4000}
	}
	flows := []flow{{"units", 8000, 100}, {"uniform", 8000, 100}, {"squared", 8000, 100}, {"clouds", 8000, 100}}
	for _, n := range sizes {
		for _, kind := range []string{"uniform", "squared", "clouds"} {
			flows = append(flows, flow{kind, n, n})
		}
	}
	for _, f := range flows {
		if len(b.settings.kinds) > 0 && !slices.Contains(b.settings.kinds, f.kind) {
			continue
		}
		for seed := 1; seed <= b.settings.seeds; seed++ {
			if b.OutOfTime() {
				return experiment.ErrLate
			}
			inst, err := f.instance(uint64(seed))
			if err != nil {
				return err
			}
			b.timeFlow(f, uint64(seed), inst)
		}
	}
	return nil
}

func (b *bench) timeFlow(f flow, seed uint64, inst *assignmentproblem.Instance) {
	row := result.Solve{Name: "flow", Kind: f.kind, Rows: f.rows, Cols: f.cols, Value: string(inst.Type), Seed: seed}
	session, err := solver.Open(solver.Options{Settings: solve.Settings{Devices: []device.Device{b.Dev}}})
	began := time.Now()
	for k := 0; err == nil && k <= b.settings.runs && (k < 2 || time.Since(began) < b.settings.spend); k++ {
		clock := time.Now()
		found, failed := session.Solve(b.Ctx, inst)
		took := time.Since(clock).Seconds()
		if err = failed; err != nil {
			break
		}
		row.Checks, row.Runs = append(row.Checks, found.Seconds.Verify), append(row.Runs, took)
		row.Variant, row.Optimum = found.Variant, string(found.Value)
		row.Counts, err = json.Marshal(found.Counts)
	}
	if err == nil {
		row.Checks, row.Runs = row.Checks[1:], row.Runs[1:] // the first is not counted
		err = session.Close()
	}
	if err != nil {
		row.Failed = err.Error()
	}
	fmt.Fprintf(os.Stderr, "%-8s %6d x %-6d %9.2f ms, check %.2f, %s %s\n", f.kind, f.rows, f.cols, 1e3*row.Median(), 1e3*result.Median(row.Checks), row.Variant, row.Counts)
	b.AddRow(row)
}
