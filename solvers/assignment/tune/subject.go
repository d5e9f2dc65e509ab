// Package tune has the tuner's subjects of linear assignment: families of kernels with
// the cases that verify them and the instances that time them.
package tune

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"coalesce/autotune/subject"
	"coalesce/autotune/tuned"
	"coalesce/generated/assignment"
	"coalesce/runtime/device"
	"coalesce/solvers/assignment/internal/draw"
	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/internal/families"
	"coalesce/solvers/assignment/internal/flow"
	"coalesce/solvers/assignment/internal/reference"
	"coalesce/solvers/assignment/internal/verify"
	"coalesce/solvers/assignment/problem"
)

// Subjects are the families of this problem, for the tuner.
func Subjects() []subject.Subject {
	var list []subject.Subject
	for _, f := range families.DeviceFamilies() {
		list = append(list, tunableFamily{f})
	}
	return append(list, newTunableBatch(), newTunableFused(), flow.Subject(), tunableCheck{}, tunablePoints{}, tunablePointcheck{}, tunableDuals{}, newTunableScan())
}

// rangeOf is a range of that class for the tuner's instances; 0 is the widest
// that a type has. Instances have two ranges by turns, 0 or 1, as users' costs have
// more than one: a variant that is fastest where there are a thousand values a column
// may be slower where there are two hundred.
func rangeOf(class string, side int, value problem.Value, turn uint64) int64 {
	most := int64(side) * map[string][2]int64{engine.SmallRange: {1, 1}, engine.MediumRange: {10, 50}, engine.WideRange: {1000, 200}}[class][turn]
	switch {
	case class != engine.WideRange:
		return max(1, most)
	case value.Integer():
		return max(1e6, most)
	}
	return 0
}

// tunableFamily is a family with instances.
type tunableFamily struct{ family families.Family }

func (t tunableFamily) Family() *device.Family { return t.family.Kernels }

func (t tunableFamily) Workloads() []map[string]string {
	var all []map[string]string
	for _, value := range []problem.Value{problem.Int32, problem.Int64, problem.Float32, problem.Float64} {
		for _, class := range []string{engine.SmallRange, engine.MediumRange, engine.WideRange} {
			all = append(all, map[string]string{"value": string(value), "range": class})
		}
	}
	return all
}

func (t tunableFamily) Sizes(f device.Facts) []int { return sides(f) }

// sides to tune at.
func sides(f device.Facts) []int {
	switch f.Kind {
	case device.CUDA:
		return []int{1000, 2200, 5000, 20000}
	case device.Host:
		return []int{200, 1000}
	}
	return []int{8, 40}
}

func (t tunableFamily) Feasible(v *device.Variant, f device.Facts, size int) error {
	return checkFeasible(t.family.Kernels, v, f, size)
}

// checkFeasible holds a variant's block and the costs of a square instance against
// a device.
func checkFeasible(k *device.Family, v *device.Variant, f device.Facts, side int) error {
	if k.Target != device.Host {
		if err := f.BlockFits(k.Int(v, "block"), 0); err != nil {
			return err
		}
	}
	need := float64(side) * float64(side) * float64(problem.Value(k.Value(v, "value")).Size())
	if f.Free > 0 && need > 0.9*float64(f.Free) {
		return fmt.Errorf("costs of %s, %s has %s free: %w", device.Size(need), f, device.Size(f.Free), device.ErrMemory)
	}
	return nil
}

// A trialInstance is an instance to verify or to time.
type trialInstance struct {
	p *problem.Normal

	once   sync.Once
	optima string // the sum of optimal duals, by the reference; "" for no full matching
	err    error
}

func newTrial(inst *problem.Instance, err error) (*trialInstance, error) {
	if err != nil {
		return nil, err
	}
	p, err := problem.Normalise(inst)
	return &trialInstance{p: p}, err
}

// Size is the longer side.
func (t *trialInstance) Size() int { return t.p.Cols }

// longestReferred is the longest side that the reference is asked about; beyond it the
// certificate alone proves the answer, as it does for users: on the device that was timed, since a host
// looks at the pairs of 100,000 points for seconds.
const longestReferred = 300

// optimum is the value of the reference in units, "" when there is no full
// matching.
func (t *trialInstance) optimum() (string, error) {
	t.once.Do(func() {
		s, err := reference.Solve(t.p, nil)
		var none *engine.Infeasible
		switch {
		case errors.As(err, &none):
		case err != nil:
			t.err = err
		default:
			var sum problem.Int128
			for _, list := range [][]int64{s.U, s.V} {
				for _, x := range list {
					sum.Add(x)
				}
			}
			t.optima = sum.String()
		}
	})
	return t.optima, t.err
}

// checkAnswer holds an answer against the costs and, of few rows and columns, against
// the reference; certify, where it is not nil, does the former for more of them.
func (t *trialInstance) checkAnswer(sol *engine.Solution, failed error, certify func() error) error {
	var none *engine.Infeasible
	switch {
	case errors.As(failed, &none):
		_, err := problem.CheckHall(t.p.Instance, none.Rows)
		return err
	case failed != nil:
		return failed
	}
	if t.p.Cols > longestReferred && certify != nil {
		if err := certify(); !errors.Is(err, device.ErrMemory) { // else there is no room beside the variant
			return err
		}
	}
	cert, err := problem.Check(t.p.Instance, sol.Column, problem.Duals{U: sol.U, V: sol.V, Scale: t.p.Scale})
	if err != nil || t.p.Cols > longestReferred {
		return err
	}
	want, err := t.optimum()
	if err == nil && cert.Primal != want {
		err = fmt.Errorf("%w: found the optimum %s, expected %s units", problem.ErrCheck, cert.Primal, want)
	}
	return err
}

// Cases cover the empty and the smallest, ties, negative and extreme costs,
// forbidden pairs with and without a full matching, both rectangles, both
// senses, and costs with structure. Of families of square problems these alone.
func (t tunableFamily) Cases(fixed map[string]string) ([]subject.Case, error) {
	value := problem.Value(fixed["value"])
	var cases []subject.Case
	add := func(name string, inst *problem.Instance, err error) error {
		trial, err := newTrial(inst, err)
		if err == nil && !(t.family.Square && inst.Rows != inst.Cols) {
			cases = append(cases, subject.Case{Name: fmt.Sprintf("%s, %d x %d", name, inst.Rows, inst.Cols), Instance: trial})
		}
		return err
	}
	for _, d := range trialDrawings {
		d.Type = value
		inst, err := draw.Draw(d)
		if err = add(d.Kind, inst, err); err != nil {
			return nil, err
		}
	}
	for _, c := range []struct {
		name       string
		rows, cols int
		change     func(inst *problem.Instance, seed uint64)
	}{
		{"extremes", 29, 29, extreme},
		{"a fifth forbidden", 40, 44, forbid(5, true)},
		{"most forbidden", 50, 50, forbid(10, true)},
		{"no full matching", 30, 31, forbid(3, false)},
		{"to maximise", 34, 47, func(inst *problem.Instance, _ uint64) { inst.Maximize = true }},
	} {
		inst, err := draw.Draw(draw.Drawing{Kind: "uniform", Rows: c.rows, Cols: c.cols, Range: 500, Seed: 3 << 40, Type: value})
		if err != nil {
			return nil, err
		}
		c.change(inst, 7<<40)
		if err := add(c.name, inst, nil); err != nil {
			return nil, err
		}
	}
	return cases, nil
}

var trialDrawings = []draw.Drawing{
	{Kind: "uniform", Rows: 0, Cols: 0, Range: 10},
	{Kind: "uniform", Rows: 0, Cols: 3, Range: 10},
	{Kind: "uniform", Rows: 1, Cols: 1, Range: 10, Seed: 1 << 40},
	{Kind: "uniform", Rows: 2, Cols: 2, Range: 10, Seed: 2 << 40},
	{Kind: "uniform", Rows: 7, Cols: 7, Range: 3, Seed: 3 << 40},
	{Kind: "uniform", Rows: 65, Cols: 65, Range: 1000000, Seed: 4 << 40},
	{Kind: "uniform", Rows: 64, Cols: 64, Range: 64, Seed: 5 << 40},
	{Kind: "uniform", Rows: 20, Cols: 90, Range: 1000, Seed: 6 << 40},
	{Kind: "uniform", Rows: 70, Cols: 31, Range: 70, Seed: 7 << 40},
	{Kind: "equal", Rows: 30, Cols: 30, Range: 5},
	{Kind: "binary", Rows: 48, Cols: 48, Seed: 8 << 40},
	{Kind: "integer", Rows: 37, Cols: 37, Range: 100, Seed: 9 << 40},
	{Kind: "geom", Rows: 40, Cols: 40, Range: 1000, Seed: 10 << 40},
	{Kind: "machol", Rows: 24, Cols: 24, Permuted: true, Seed: 11 << 40},
	{Kind: "twocost", Rows: 30, Cols: 30, Seed: 12 << 40},
}

// extreme makes every cost as large as its type and the rows allow, of either
// sign.
func extreme(inst *problem.Instance, seed uint64) {
	bound := problem.MaxScaled(inst.Rows)
	sign := func(k int) int64 { return 1 - 2*int64(draw.SplitMix64(seed^uint64(k))>>63) }
	for k := range inst.I32 {
		inst.I32[k] = int32(sign(k) * (math.MaxInt32 - 1))
	}
	for k := range inst.I64 {
		inst.I64[k] = sign(k) * bound
	}
	for k := range inst.F32 {
		inst.F32[k] = float32(sign(k)) * math.MaxFloat32
	}
	for k := range inst.F64 {
		inst.F64[k] = float64(sign(k)) * 0x1p1000
	}
}

// forbid leaves one in so many pairs; where it is whole, so that the diagonal
// can be matched, else with too few columns for the first rows.
func forbid(one uint64, whole bool) func(inst *problem.Instance, seed uint64) {
	return func(inst *problem.Instance, seed uint64) {
		for k := range inst.Rows * inst.Cols {
			i, j := k/inst.Cols, k%inst.Cols
			allowed := draw.SplitMix64(seed^uint64(k))%one == 0
			if whole && i == j {
				allowed = true
			}
			if !whole && i < inst.Rows/2 {
				allowed = j < inst.Rows/2-1
			}
			if !allowed {
				inst.Forbid(k)
			}
		}
	}
}

func (t tunableFamily) Instance(fixed map[string]string, size int, seed uint64) (subject.Instance, error) {
	value := problem.Value(fixed["value"])
	turn := seed >> 63 // the seeds of successive instances are spread over all 64 bits
	return newTrial(draw.Generate("uniform", size, size, rangeOf(fixed["range"], size, value, turn), seed<<40, value))
}

func (t tunableFamily) Open(d device.Device, v *device.Variant) (subject.Runner, error) {
	return subject.Open(t.family.Kernels, v, func(x *trialInstance) (subject.Job, error) {
		e, err := t.family.Open(d, nil, v, x.p.Rows, x.p.Cols)
		if err != nil {
			return nil, err
		}
		j := &trialJob{device: d, trial: x, engine: e}
		if j.inputs, err = takeInputs(d, int64(len(x.p.Instance.Bytes()))); err != nil {
			return nil, errors.Join(err, e.Close())
		}
		j.m = &engine.Matrix{Rows: x.p.Rows, Cols: x.p.Cols, Costs: j.inputs.costs}
		return j, nil
	})
}

type trialJob struct {
	device device.Device
	trial  *trialInstance
	engine engine.Engine
	inputs *inputs
	m      *engine.Matrix
	sol    *engine.Solution
	failed error // no full matching: an answer too
}

// Reset brings the costs back and forgets the answer. Engines start every solve
// from what the one before left in their workspace, as they do for users.
func (j *trialJob) Reset(s device.Stream) error {
	j.sol, j.failed = nil, nil
	return j.inputs.reset(s, j.trial.p.Instance)
}

// Run solves, to the matching and duals on the host.
func (j *trialJob) Run(s device.Stream) error {
	if j.trial.p.Rows == 0 {
		j.sol = &engine.Solution{Column: []int32{}, Prices: problem.Prices{U: []int64{}, V: make([]int64, j.trial.p.Cols)}}
		return nil
	}
	var none *engine.Infeasible
	j.sol, j.failed = j.engine.Solve(context.Background(), s, j.trial.p, j.m, nil)
	if errors.As(j.failed, &none) {
		return nil
	}
	return j.failed
}

// Check proves the answer, of many rows and columns on the device, to which the costs are copied anew.
func (j *trialJob) Check(s device.Stream) error {
	if j.inputs.second == nil {
		return j.trial.checkAnswer(j.sol, j.failed, nil)
	}
	return j.trial.checkAnswer(j.sol, j.failed, func() error {
		if err := j.inputs.reset(s, j.trial.p.Instance); err != nil {
			return err
		}
		w := tuned.Workload{Fixed: map[string]string{"value": string(j.trial.p.Instance.Type)}, Size: j.trial.p.Cols}
		v, err := (*tuned.Database)(nil).Pick(&assignment.Check, j.device.Facts(), w, nil)
		if err != nil {
			return err
		}
		return certify(s, j.trial.p, j.m, j.sol, func() (*verify.Checker, error) { return verify.Open(j.device, v, j.m.Rows, j.m.Cols) })
	})
}

// certify proves a solution with a checker that it opens.
func certify(s device.Stream, p *problem.Normal, m *engine.Matrix, sol *engine.Solution, open func() (*verify.Checker, error)) (err error) {
	c, err := open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	_, _, err = c.Check(context.Background(), s, p, m, sol)
	return err
}

// Work is the number of pairs.
func (j *trialJob) Work() float64 { return float64(j.m.Rows) * float64(j.m.Cols) }

func (j *trialJob) Close() error { return errors.Join(j.inputs.free(), j.engine.Close()) }
