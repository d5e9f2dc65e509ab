package tune

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"coalesce/autotune/subject"
	"coalesce/autotune/tuned"
	"coalesce/generated/assignment"
	"coalesce/runtime/device"
	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/internal/families"
	"coalesce/solvers/assignment/internal/fused"
	"coalesce/solvers/assignment/problem"
)

// tunableFused is the family of small matrices of one shape, with many instances at once.
type tunableFused struct{ tunableFamily }

func newTunableFused() tunableFused {
	return tunableFused{tunableFamily{families.Family{Name: fused.Name, Kernels: &assignment.Fused}}}
}

// Workloads differ in the type of costs: ranges are known to the device alone, and no instance is wide.
func (tunableFused) Workloads() []map[string]string {
	var all []map[string]string
	for _, value := range []problem.Value{problem.Int32, problem.Int64, problem.Float32, problem.Float64} {
		all = append(all, map[string]string{"value": string(value), "sides": fused.Square})
	}
	return all
}

// Sizes lists the sides of the matrices that are tuned. The reference solves all of them.
func (tunableFused) Sizes(f device.Facts) []int {
	if f.Kind == device.CUDA {
		return []int{8, 20, 32, 64, 100, 300}
	}
	return []int{8, 20}
}

func squares(value problem.Value, count, size int) fused.Shape {
	return fused.Shape{Value: value, Count: count, Rows: size, Cols: size}
}

func (tunableFused) Feasible(v *device.Variant, f device.Facts, size int) error {
	return fused.Fits(v, f, squares(problem.Value(assignment.Fused.Value(v, "value")), 1, size))
}

// Workload is the description by which a variant is chosen.
func (tunableFused) Workload(fixed map[string]string, f device.Facts, size int) (tuned.Workload, error) {
	return fused.Workload(squares(problem.Value(fixed["value"]), 1, size), f), nil
}

// Cases are those of the other families that forbid no pair of integers, several at once.
func (t tunableFused) Cases(fixed map[string]string) ([]subject.Case, error) {
	all, err := t.tunableFamily.Cases(fixed)
	var cases []subject.Case
	for _, c := range all {
		trial := c.Instance.(*trialInstance)
		p := trial.p
		if inst := p.Instance; p.Rows == 0 || slices.Contains(inst.I32, math.MaxInt32) || slices.Contains(inst.I64, math.MaxInt64) {
			continue
		}
		c.Instance = &trialBatch{[]*trialInstance{trial, trial, trial}, trial.Size()}
		cases = append(cases, c)
	}
	return cases, err
}

// Instance draws matrices for all multiprocessors of the largest devices, or as many as a 32nd of a GiB holds.
func (t tunableFused) Instance(fixed map[string]string, size int, seed uint64) (subject.Instance, error) {
	const limit = 1024
	wide := maps.Clone(fixed)
	wide["range"] = engine.WideRange
	b := &trialBatch{make([]*trialInstance, min(limit, 1+1<<25/(size*size*8))), size}
	return b, onCores(len(b.members), func(k int) error {
		inst, err := t.tunableFamily.Instance(wide, size, seed*limit+uint64(k))
		if err == nil {
			b.members[k] = inst.(*trialInstance)
		}
		return err
	})
}

func (t tunableFused) Open(d device.Device, v *device.Variant) (subject.Runner, error) {
	return subject.Open(&assignment.Fused, v, func(t *trialBatch) (subject.Job, error) { return newFusedJob(d, v, t) })
}

type fusedJob struct {
	device.Scope
	engine *fused.Engine
	trials *trialBatch
	inputs *inputs
	to     fused.Output
	shape  fused.Shape
}

func newFusedJob(d device.Device, v *device.Variant, t *trialBatch) (_ subject.Job, err error) {
	inst := t.members[0].p.Instance
	j := &fusedJob{trials: t, shape: fused.Shape{Value: inst.Type, Count: len(t.members), Rows: inst.Rows, Cols: inst.Cols, Maximize: inst.Maximize}}
	defer func() {
		if err != nil {
			err = errors.Join(err, j.Close())
		}
	}()
	if j.engine, err = fused.Open(d, v, j.shape); err != nil {
		return nil, err
	}
	j.CloseLater(j.engine)
	if j.inputs, err = takeInputs(d, int64(j.shape.Count)*int64(len(inst.Bytes()))); err != nil {
		return nil, err
	}
	return j, j.AllocAll(d, device.BufferFor(&j.to.Columns, int64(8*j.shape.Count*inst.Rows)), device.BufferFor(&j.to.Status, int64(4*j.shape.Count)))
}

// Reset brings the costs back and spoils what a run writes.
func (j *fusedJob) Reset(s device.Stream) error {
	err := errors.Join(s.Fill(j.to.Columns, 0, j.to.Columns.Len(), 0xa5), s.Fill(j.to.Status, 0, j.to.Status.Len(), 0xa5))
	return errors.Join(err, j.inputs.restore(s, func(to device.Buffer) (err error) {
		at := int64(0)
		for _, trial := range j.trials.members {
			b := trial.p.Instance.Bytes()
			err = errors.Join(err, s.Upload(to, at, b))
			at += int64(len(b))
		}
		return err
	}))
}

// Run solves, to the answers on the device, and waits.
func (j *fusedJob) Run(s device.Stream) error {
	return errors.Join(j.engine.Launch(s, j.inputs.costs, j.to, 0), s.Sync())
}

// Check holds all answers, on all cores, against the reference.
func (j *fusedJob) Check(s device.Stream) error {
	columns, status := make([]int64, j.shape.Count*j.shape.Rows), make([]int32, j.shape.Count)
	if err := errors.Join(s.Download(device.Bytes(columns), j.to.Columns, 0), s.Download(device.Bytes(status), j.to.Status, 0)); err != nil {
		return err
	}
	return onCores(len(status), func(k int) error {
		p := j.trials.members[k].p
		want, err := j.trials.members[k].optimum()
		if err != nil {
			return err
		}
		if got := inUnits(p, columns[k*p.Rows:][:p.Rows], status[k]); got != want {
			return fmt.Errorf("%w: matrix %d of %d x %d: found the optimum %q with the status %d, expected %q units", problem.ErrCheck, k, p.Rows, p.Cols, got, status[k], want)
		}
		return nil
	})
}

// inUnits is the sum of the matched costs in units, "" where the kernel found no full matching, and the fault where it gave none.
func inUnits(p *problem.Normal, columns []int64, status int32) string {
	switch status {
	case assignment.FusedStatusUnmatched:
		return ""
	case assignment.FusedStatusProven, assignment.FusedStatusUndecided:
	default:
		return "no answer"
	}
	var sum problem.Int128
	var row []int64
	owned := make([]bool, p.Cols)
	for i, j := range columns {
		if j < 0 || j >= int64(p.Cols) || owned[j] {
			return fmt.Sprintf("the column %d of row %d", j, i)
		}
		owned[j] = true
		row = p.Row(i, row)
		if row[j] == problem.Infinity {
			return fmt.Sprintf("a forbidden pair of row %d", i)
		}
		sum.Add(row[j])
	}
	return sum.String()
}

// Work is the number of pairs.
func (j *fusedJob) Work() float64 {
	return float64(j.shape.Count) * float64(j.shape.Rows) * float64(j.shape.Cols)
}

func (j *fusedJob) Close() error {
	err := j.Scope.Close()
	if j.inputs != nil {
		err = errors.Join(err, j.inputs.free())
	}
	return err
}
