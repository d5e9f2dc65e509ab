package tune

import (
	"context"
	"errors"
	"fmt"

	"coalesce/autotune/subject"
	"coalesce/autotune/tuned"
	"coalesce/generated/assignment"
	"coalesce/runtime/device"
	"coalesce/solvers/assignment/internal/batch"
	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/internal/families"
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/cores"
)

// tunableBatch is the family of batches, with the instances of the others,
// many at once.
type tunableBatch struct{ tunableFamily }

func newTunableBatch() tunableBatch {
	return tunableBatch{tunableFamily{families.Family{Name: batch.Name, Kernels: &assignment.Batch}}}
}

// Sizes are sides of the instances of a batch.
func (tunableBatch) Sizes(f device.Facts) []int {
	if f.Kind == device.CUDA {
		return []int{50, 150, 300, 600, 1200}
	}
	return []int{8, 40}
}

func (tunableBatch) Feasible(v *device.Variant, f device.Facts, size int) error {
	return batch.CheckFits(v, f, int(batch.StateBytes(int64(size), int64(size))))
}

// Workload is the description by which a variant is chosen.
func (tunableBatch) Workload(fixed map[string]string, f device.Facts, size int) (tuned.Workload, error) {
	return batch.Workload(tuned.Workload{Fixed: fixed, Size: size}, f), nil
}

// A trialBatch is instances of one cost type.
type trialBatch struct {
	members []*trialInstance
	size    int
}

func (t *trialBatch) Size() int { return t.size }

// Cases are those of the other families: each alone, and all at once.
func (t tunableBatch) Cases(fixed map[string]string) ([]subject.Case, error) {
	cases, err := t.tunableFamily.Cases(fixed)
	all := &trialBatch{}
	for k, c := range cases {
		trial := c.Instance.(*trialInstance)
		all.members = append(all.members, trial)
		all.size = max(all.size, trial.Size())
		cases[k].Instance = &trialBatch{[]*trialInstance{trial}, trial.Size()}
	}
	return append(cases, subject.Case{Name: "all at once", Instance: all}), err
}

// Instance draws two squares for each multiprocessor of the largest devices,
// or as many as a quarter of a GiB holds.
func (t tunableBatch) Instance(fixed map[string]string, size int, seed uint64) (subject.Instance, error) {
	const limit = 264
	b := &trialBatch{make([]*trialInstance, min(limit, 1+1<<28/(size*size*8))), size}
	return b, onCores(len(b.members), func(k int) error {
		inst, err := t.tunableFamily.Instance(fixed, size, seed*limit+uint64(k))
		if err == nil {
			b.members[k] = inst.(*trialInstance)
		}
		return err
	})
}

// onCores does n pieces of work on all cores and returns the error of the first piece that has one.
func onCores(n int, work func(k int) error) error {
	errs := make([]error, n)
	cores.Pieces(n, func(k int) { errs[k] = work(k) })
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (t tunableBatch) Open(d device.Device, v *device.Variant) (subject.Runner, error) {
	return subject.Open(&assignment.Batch, v, func(t *trialBatch) (subject.Job, error) { return newBatchJob(d, v, t) })
}

// newBatchJob opens an engine for the instances that have rows.
func newBatchJob(d device.Device, v *device.Variant, t *trialBatch) (subject.Job, error) {
	j := &batchJob{}
	var shapes []batch.DenseLayout
	for _, trial := range t.members {
		p := trial.p
		if p.Rows == 0 {
			continue
		}
		j.members = append(j.members, trial)
		shapes = append(shapes, batch.DenseLayout{First: j.pairs, Stride: int64(p.Cols), Rows: p.Rows, Cols: p.Cols, Scale: p.Scale})
		j.pairs += int64(p.Rows) * int64(p.Cols)
	}
	var err error
	if j.Engine, err = batch.Open(d, v, shapes, false); err != nil {
		return nil, err
	}
	size := int64(problem.Value(assignment.Batch.Value(v, "value")).Size())
	if j.inputs, err = takeInputs(d, j.pairs*size); err != nil {
		return nil, errors.Join(err, j.Engine.Close())
	}
	return j, nil
}

type batchJob struct {
	*batch.Engine
	members []*trialInstance
	inputs  *inputs
	pairs   int64
}

// Reset brings the costs back and spoils what a run writes.
func (j *batchJob) Reset(s device.Stream) error {
	err := errors.Join(s.Fill(j.Answers, 0, j.Answers.Len(), 0xa5), s.Fill(j.States, 0, j.States.Len(), 0xa5))
	return errors.Join(err, j.inputs.restore(s, func(to device.Buffer) (err error) {
		for k, trial := range j.members {
			b := trial.p.Instance.Bytes()
			err = errors.Join(err, s.Upload(to, j.Shapes[k].First*int64(trial.p.Instance.Type.Size()), b))
		}
		return err
	}))
}

// Run solves, to the answers on the host.
func (j *batchJob) Run(s device.Stream) error {
	return j.Solve(context.Background(), s, j.inputs.costs)
}

// Check holds all instances, on all cores, against their references.
func (j *batchJob) Check(device.Stream) error {
	return onCores(len(j.members), func(k int) error {
		trial := j.members[k]
		sol, full := j.Solution(k)
		var failed error
		if !full {
			failed = &engine.Infeasible{Rows: batch.HallViolator(trial.p, sol.Column)}
		}
		if err := trial.checkAnswer(sol, failed, nil); err != nil {
			return fmt.Errorf("instance %d of %d x %d: %w", k, trial.p.Rows, trial.p.Cols, err)
		}
		return nil
	})
}

// Work is the number of pairs.
func (j *batchJob) Work() float64 { return float64(j.pairs) }

func (j *batchJob) Close() error { return errors.Join(j.inputs.free(), j.Engine.Close()) }
