package tune

import (
	"errors"
	"fmt"

	"coalesce/autotune/subject"
	"coalesce/autotune/tuned"
	"coalesce/generated/assignment"
	"coalesce/runtime/device"
	"coalesce/solvers/assignment/internal/coreprice"
	"coalesce/solvers/assignment/internal/draw"
	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/internal/reference"
	"coalesce/solvers/assignment/problem"
)

// tunableDuals is the family of first prices, assignment/duals.
type tunableDuals struct{}

func (tunableDuals) Family() *device.Family { return &assignment.Duals }

func (tunableDuals) Workloads() []map[string]string { return tunableCheck{}.Workloads() }

func (tunableDuals) Sizes(f device.Facts) []int { return sides(f) }

func (tunableDuals) Feasible(v *device.Variant, f device.Facts, size int) error {
	return checkFeasible(&assignment.Duals, v, f, size)
}

// Workload is the description by which a variant is chosen.
func (tunableDuals) Workload(fixed map[string]string, _ device.Facts, size int) (tuned.Workload, error) {
	return coreprice.DualsWorkload(fixed, size), nil
}

// A dualsInstance says how much of the gap that the columns' minima leave to the
// optimum prices may leave: 1 for as much.
type dualsInstance struct {
	*trialInstance
	share float64
}

// Cases are products and distances, whose structure prices find, and random
// costs.
func (tunableDuals) Cases(fixed map[string]string) ([]subject.Case, error) {
	var cases []subject.Case
	for k, c := range []struct {
		d     draw.Drawing
		share float64
	}{
		{draw.Drawing{Kind: "machol", Rows: 33, Cols: 33, Permuted: true, Shift: 500}, 0.3},
		{draw.Drawing{Kind: "geom", Rows: 60, Cols: 60, Range: 100000}, 0.5},
		{draw.Drawing{Kind: "uniform", Rows: 40, Cols: 40, Range: 1000}, 1},
	} {
		c.d.Type, c.d.Seed = problem.Value(fixed["value"]), uint64(k+1)<<40
		trial, err := newTrial(draw.Draw(c.d))
		if err != nil {
			return nil, err
		}
		cases = append(cases, subject.Case{Name: fmt.Sprintf("%s, %d x %d", c.d.Kind, c.d.Rows, c.d.Cols), Instance: &dualsInstance{trial, c.share}})
	}
	return cases, nil
}

// Instance is distances in a square, whose prices take the most iterations.
func (tunableDuals) Instance(fixed map[string]string, size int, seed uint64) (subject.Instance, error) {
	trial, err := newTrial(draw.Draw(draw.Drawing{Kind: "geom", Rows: size, Cols: size, Range: 1e6, Seed: seed << 40, Type: problem.Value(fixed["value"])}))
	return &dualsInstance{trial, 1}, err
}

func (tunableDuals) Open(d device.Device, v *device.Variant) (subject.Runner, error) {
	return subject.Open(&assignment.Duals, v, func(t *dualsInstance) (_ subject.Job, err error) {
		j := &dualsJob{t: t}
		if j.Initialiser, err = coreprice.OpenInitialiser(d, v, t.p.Rows, t.p.Cols); err != nil {
			return nil, err
		}
		j.Schedule.Chance = 0 // prices are wanted of any costs
		if j.inputs, err = takeInputs(d, int64(len(t.p.Instance.Bytes()))); err != nil {
			return nil, errors.Join(err, j.Initialiser.Close())
		}
		j.m = &engine.Matrix{Rows: t.p.Rows, Cols: t.p.Cols, Costs: j.inputs.costs}
		if j.prices, err = d.Alloc(8 * int64(t.p.Cols)); err != nil {
			return nil, errors.Join(err, j.inputs.free(), j.Initialiser.Close())
		}
		return j, nil
	})
}

type dualsJob struct {
	*coreprice.Initialiser
	t      *dualsInstance
	inputs *inputs
	m      *engine.Matrix
	prices device.Buffer
}

// Reset brings the costs back and spoils what a run writes.
func (j *dualsJob) Reset(s device.Stream) error {
	return errors.Join(s.Fill(j.prices, 0, j.prices.Len(), 0xa5), j.inputs.reset(s, j.t.p.Instance))
}

func (j *dualsJob) Run(s device.Stream) error {
	_, err := j.Initialise(s, j.t.p, j.m, j.prices)
	return err
}

// Check holds the dual bound that the prices give against the optimum where the
// reference is asked, and their size elsewhere.
func (j *dualsJob) Check(s device.Stream) error {
	p := j.t.p
	prices := make([]int64, p.Cols)
	if err := s.Download(device.Bytes(prices), j.prices, 0); err != nil {
		return err
	}
	for k, v := range prices {
		if v < -problem.Infinity || v > problem.Infinity {
			return fmt.Errorf("%w: column %d: found the price %d", problem.ErrCheck, k, v)
		}
	}
	if p.Cols > longestReferred {
		return nil
	}
	sol, err := reference.Solve(p, nil)
	if err != nil {
		return err
	}
	best := int64(0) // the optimum, as both sides' duals add up to it
	for _, list := range [][]int64{sol.U, sol.V} {
		for _, x := range list {
			best += x
		}
	}
	columns := make([]int64, p.Cols)
	for k := range columns {
		columns[k] = problem.Infinity
		for i := range p.Rows {
			columns[k] = min(columns[k], p.Cost(i, k))
		}
	}
	found, plain := dualBound(p, prices), dualBound(p, columns)
	if found > best || j.t.share < 1 && float64(best-found) > j.t.share*float64(best-plain) {
		return fmt.Errorf("%w: prices give the bound %d, expected at most the optimum %d and at most %v of the gap of the columns' minima, %d", problem.ErrCheck, found, best, j.t.share, plain)
	}
	return nil
}

// dualBound is the dual value of column prices v of a square problem.
func dualBound(p *problem.Normal, v []int64) (sum int64) {
	for i := range p.Rows {
		u := problem.Infinity
		for j := range p.Cols {
			u = min(u, p.Cost(i, j)-v[j])
		}
		sum += u
	}
	for _, x := range v {
		sum += x
	}
	return sum
}

// Work is the number of pairs.
func (j *dualsJob) Work() float64 { return float64(j.Rows) * float64(j.Cols) }

// Demand is a reading of the costs, which the prices need at the least.
func (j *dualsJob) Demand() subject.Demand {
	return subject.Demand{Bytes: float64(j.inputs.costs.Len())}
}

func (j *dualsJob) Close() error {
	return errors.Join(j.prices.Free(), j.inputs.free(), j.Initialiser.Close())
}
