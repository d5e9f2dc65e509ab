package tune

import (
	"errors"
	"fmt"

	"coalesce/autotune/subject"
	"coalesce/generated/assignment"
	"coalesce/runtime/device"
	"coalesce/solvers/assignment/internal/draw"
	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/internal/verify"
	"coalesce/solvers/assignment/problem"
)

// tunableCheck is the family that certifies, assignment/check, with planted
// problems.
type tunableCheck struct{}

func (tunableCheck) Family() *device.Family { return &assignment.Check }

// Workloads: the range of costs makes no difference to it.
func (tunableCheck) Workloads() []map[string]string {
	var all []map[string]string
	for _, value := range []problem.Value{problem.Int32, problem.Int64, problem.Float32, problem.Float64} {
		all = append(all, map[string]string{"value": string(value)})
	}
	return all
}

func (tunableCheck) Sizes(f device.Facts) []int { return sides(f) }

func (tunableCheck) Feasible(v *device.Variant, f device.Facts, size int) error {
	return checkFeasible(&assignment.Check, v, f, size)
}

// Cases are sound certificates and spoiled ones: a dual too large or too small
// by one unit, a pair too cheap, columns exchanged.
func (tunableCheck) Cases(fixed map[string]string) ([]subject.Case, error) {
	value := problem.Value(fixed["value"])
	var cases []subject.Case
	for k, shape := range [][2]int{{0, 0}, {0, 3}, {1, 1}, {3, 5}, {40, 40}, {37, 45}, {70, 130}} {
		p := draw.DrawPlanted(value, shape[0], shape[1], k%2 == 1, false, uint64(k+1)<<40)
		cases = append(cases, subject.Case{Name: fmt.Sprintf("sound, %d x %d", p.Rows, p.Cols), Instance: p})
	}
	for k, spoil := range []struct {
		name  string
		spoil func(p *draw.Planted)
	}{
		{"a dual too large", func(p *draw.Planted) { p.Solution.U[40] += 700 }},
		{"a dual too small", func(p *draw.Planted) { p.Solution.U[0]-- }},
		{"an unmatched column's dual", func(p *draw.Planted) { p.Solution.V[p.FreeColumn()]-- }},
		{"columns exchanged", func(p *draw.Planted) {
			c := p.Solution.Column
			c[3], c[30] = c[30], c[3]
		}},
		{"a column twice", func(p *draw.Planted) { p.Solution.Column[20] = p.Solution.Column[21] }},
		{"a forbidden pair", func(p *draw.Planted) { p.Instance.Forbid(40*p.Cols + int(p.Solution.Column[40])) }},
	} {
		p := draw.DrawPlanted(value, 41, 43, k%2 == 1, false, uint64(k+100)<<40)
		spoil.spoil(p)
		p.Wrong = true
		cases = append(cases, subject.Case{Name: spoil.name, Instance: p})
	}
	return cases, nil
}

func (tunableCheck) Instance(fixed map[string]string, size int, seed uint64) (subject.Instance, error) {
	return draw.DrawPlanted(problem.Value(fixed["value"]), size, size, false, false, seed<<40), nil
}

func (tunableCheck) Open(d device.Device, v *device.Variant) (subject.Runner, error) {
	return subject.Open(&assignment.Check, v, func(p *draw.Planted) (subject.Job, error) {
		c, err := verify.Open(d, v, p.Rows, p.Cols)
		if err != nil {
			return nil, err
		}
		j := &checkJob{Shard: verify.Shard{Checker: c, M: &engine.Matrix{Rows: p.Rows, Cols: p.Cols}}, p: p}
		if j.inputs, err = takeInputs(d, int64(len(p.Instance.Bytes()))); err != nil {
			return nil, errors.Join(err, c.Close())
		}
		j.M.Costs = j.inputs.costs
		return j, nil
	})
}

type checkJob struct {
	verify.Shard
	p      *draw.Planted
	inputs *inputs
}

// Reset brings the costs back and spoils what a run writes.
func (j *checkJob) Reset(s device.Stream) error {
	j.Stream = s
	if err := s.Fill(j.Words, 0, j.Words.Len(), 0xa5); err != nil {
		return err
	}
	return j.inputs.reset(s, j.p.Instance)
}

// Run uploads the solution and enqueues the kernels.
func (j *checkJob) Run(s device.Stream) error {
	j.Stream = s
	return j.Launch(j.p.Normal, j.p.Solution)
}

// Check reads what was found.
func (j *checkJob) Check(s device.Stream) error {
	j.Stream = s
	total := verify.NewFindings()
	if err := j.CollectFindings(j.p.Normal, &total); err != nil {
		return err
	}
	err := total.CheckOptimal(j.p.Normal, j.p.Solution)
	if j.p.Wrong && err == nil {
		return fmt.Errorf("%w: a spoiled certificate passed", problem.ErrCheck)
	}
	if j.p.Wrong && errors.Is(err, problem.ErrCheck) {
		return nil
	}
	if limit := 1 << 20; err != nil || j.p.Rows*j.p.Cols > limit {
		return err
	}
	forbidden := uint64(0) // pairs, which a certificate does not count
	var row []int64
	for i := range j.p.Rows {
		row = j.p.Row(i, row)
		for _, c := range row {
			if c == problem.Infinity {
				forbidden++
			}
		}
	}
	if found := total[assignment.CheckWordForbidden]; found != forbidden {
		return fmt.Errorf("%w: found %d forbidden pairs, expected %d", problem.ErrCheck, found, forbidden)
	}
	return nil
}

// Work is the number of pairs.
func (j *checkJob) Work() float64 { return float64(j.Rows) * float64(j.Cols) }

// Demand is a reading of the costs.
func (j *checkJob) Demand() subject.Demand {
	return subject.Demand{Bytes: float64(j.inputs.costs.Len())}
}

func (j *checkJob) Close() error { return errors.Join(j.inputs.free(), j.Checker.Close()) }
