package tune

import (
	"context"
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
	"coalesce/solvers/assignment/internal/verify"
	"coalesce/solvers/assignment/problem"
)

// tunablePoints is the family of costs that are distances, assignment/points.
// Variants for chunks of k edges run with a variant of assignment/core for as
// many.
type tunablePoints struct{}

func (tunablePoints) Family() *device.Family { return &assignment.Points }

// Workloads: distances are whole numbers, with ties, or not.
func (tunablePoints) Workloads() []map[string]string {
	var all []map[string]string
	for _, metric := range []problem.Metric{problem.Euclidean, problem.Squared, problem.Manhattan} {
		for _, floor := range []string{"off", "on"} {
			all = append(all, map[string]string{"metric": string(metric), "floor": floor})
		}
	}
	return all
}

func (tunablePoints) Sizes(f device.Facts) []int {
	if f.Kind == device.CUDA {
		return []int{2000, 20000, 100000}
	}
	return []int{8, 40}
}

func (tunablePoints) Feasible(v *device.Variant, f device.Facts, _ int) error {
	return f.BlockFits(assignment.Points.Int(v, "block"), 0)
}

// Cases cover the smallest, both rectangles, ties, points that are equal,
// lines and spaces, and the largest sum instead of the least.
func (tunablePoints) Cases(fixed map[string]string) ([]subject.Case, error) {
	var cases []subject.Case
	for k, c := range []struct {
		name            string
		rows, cols, dim int
		width           float64
		maximize        bool
	}{
		{"one pair", 1, 1, 2, 9, false},
		{"plane", 7, 7, 2, 1000, false},
		{"plane", 70, 70, 2, 1e6, false},
		{"ties", 40, 40, 2, 4, false},
		{"equal", 20, 20, 2, 0, false},
		{"line", 31, 31, 1, 1000, false},
		{"space", 33, 33, 3, 1000, false},
		{"wide", 20, 45, 2, 1000, false},
		{"high", 45, 20, 2, 1000, false},
		{"to maximise", 30, 30, 2, 1000, true},
	} {
		inst := draw.ScatterPoints(fixed["metric"], fixed["floor"], c.rows, c.cols, c.dim, c.width, uint64(k+1)<<40)
		inst.Maximize = c.maximize
		trial, err := newTrial(inst, nil)
		if err != nil {
			return nil, err
		}
		cases = append(cases, subject.Case{Name: fmt.Sprintf("%s, %d x %d", c.name, c.rows, c.cols), Instance: trial})
	}
	return cases, nil
}

// Instance strews points in a square.
func (tunablePoints) Instance(fixed map[string]string, size int, seed uint64) (subject.Instance, error) {
	return newTrial(draw.ScatterPoints(fixed["metric"], fixed["floor"], size, size, 2, 1e6, seed<<40), nil)
}

func (tunablePoints) Open(d device.Device, v *device.Variant) (subject.Runner, error) {
	k := assignment.Points.Int(v, "k")
	core := tuned.LikeSafe(&assignment.Core, func(c *device.Variant) bool { return coreprice.ChunkOf(c) == k })
	if core == nil {
		return nil, fmt.Errorf("assignment/core has no variant for %d edges a chunk", k)
	}
	return subject.Open(&assignment.Points, v, func(t *trialInstance) (subject.Job, error) {
		e, err := coreprice.OpenPoints(d, core, v, t.p)
		if err != nil {
			return nil, err
		}
		return &pointJob{device: d, trial: t, engine: e}, nil
	})
}

type pointJob struct {
	device device.Device
	trial  *trialInstance
	engine engine.Engine
	sol    *engine.Solution
}

// Reset forgets the answer; the points stay.
func (j *pointJob) Reset(device.Stream) error {
	j.sol = nil
	return nil
}

// Run solves, to the matching and duals on the host.
func (j *pointJob) Run(s device.Stream) (err error) {
	j.sol, err = j.engine.Solve(context.Background(), s, j.trial.p, nil, nil)
	return err
}

// Check proves the answer, of many points on the device with the points as the host has them.
func (j *pointJob) Check(s device.Stream) error {
	return j.trial.checkAnswer(j.sol, nil, func() error {
		return certify(s, j.trial.p, nil, j.sol, func() (*verify.Checker, error) { return verify.OpenPoints(j.device, nil, j.trial.p) })
	})
}

// Work is the number of pairs.
func (j *pointJob) Work() float64 { return float64(j.trial.p.Rows) * float64(j.trial.p.Cols) }

func (j *pointJob) Close() error { return j.engine.Close() }

// tunablePointcheck is the family that certifies, assignment/pointcheck. Whether
// duals are optimal makes no difference to its time: only small instances are
// solved first.
type tunablePointcheck struct{}

func (tunablePointcheck) Family() *device.Family { return &assignment.Pointcheck }

func (tunablePointcheck) Workloads() []map[string]string {
	var all []map[string]string
	for _, metric := range []problem.Metric{problem.Euclidean, problem.Squared, problem.Manhattan} {
		for _, value := range []problem.Value{problem.Float64, problem.Int64} {
			all = append(all, map[string]string{"metric": string(metric), "value": string(value)})
		}
	}
	return all
}

func (tunablePointcheck) Sizes(f device.Facts) []int { return tunablePoints{}.Sizes(f) }

func (tunablePointcheck) Feasible(v *device.Variant, f device.Facts, _ int) error {
	return f.BlockFits(assignment.Pointcheck.Int(v, "block"), 0)
}

// A pointProof is a problem with a certificate, sound or spoiled.
type pointProof struct {
	*problem.Normal
	sol   *engine.Solution
	wrong bool
}

func (p *pointProof) Size() int { return p.Cols }

func floorOf(fixed map[string]string) string {
	if problem.Value(fixed["value"]) == problem.Int64 {
		return "on"
	}
	return "off"
}

// Cases are optimal certificates by the reference, and the same spoiled: a dual
// too large, columns exchanged, a column twice.
func (tunablePointcheck) Cases(fixed map[string]string) ([]subject.Case, error) {
	var cases []subject.Case
	for k, c := range []struct {
		name       string
		rows, cols int
		spoil      func(s *engine.Solution)
	}{
		{"one pair", 1, 1, nil},
		{"sound", 40, 40, nil},
		{"sound", 37, 70, nil},
		{"a dual too large", 41, 43, func(s *engine.Solution) { s.U[40]++ }},
		{"a column's dual too large", 40, 40, func(s *engine.Solution) { s.V[39]++ }},
		{"columns exchanged", 41, 43, func(s *engine.Solution) { s.Column[3], s.Column[30] = s.Column[30], s.Column[3] }},
		{"a column twice", 41, 43, func(s *engine.Solution) { s.Column[20] = s.Column[21] }},
	} {
		p, err := problem.Normalise(draw.ScatterPoints(fixed["metric"], floorOf(fixed), c.rows, c.cols, 1+k%3, 1000, uint64(k+1)<<40))
		if err != nil {
			return nil, err
		}
		sol, err := reference.Solve(p, nil)
		if err != nil {
			return nil, err
		}
		if c.spoil != nil {
			c.spoil(sol)
		}
		cases = append(cases, subject.Case{Name: fmt.Sprintf("%s, %d x %d", c.name, c.rows, c.cols), Instance: &pointProof{p, sol, c.spoil != nil}})
	}
	return cases, nil
}

// Instance has duals 0 and pairs in the order of the points: a certificate that
// is wrong, in the time of a right one.
func (tunablePointcheck) Instance(fixed map[string]string, size int, seed uint64) (subject.Instance, error) {
	p, err := problem.Normalise(draw.ScatterPoints(fixed["metric"], floorOf(fixed), size, size, 2, 1e6, seed<<40))
	if err != nil {
		return nil, err
	}
	sol := &engine.Solution{Column: make([]int32, size), Prices: problem.Prices{U: make([]int64, size), V: make([]int64, size)}}
	for i := range sol.Column {
		sol.Column[i] = int32(i)
	}
	return &pointProof{p, sol, true}, nil
}

func (tunablePointcheck) Open(d device.Device, v *device.Variant) (subject.Runner, error) {
	return subject.Open(&assignment.Pointcheck, v, func(p *pointProof) (subject.Job, error) {
		c, err := verify.OpenPointsVariant(d, v, p.Normal)
		if err != nil {
			return nil, err
		}
		return &proofJob{Shard: verify.Shard{Checker: c, M: &engine.Matrix{Rows: p.Rows, Cols: p.Cols}}, p: p}, nil
	})
}

type proofJob struct {
	verify.Shard
	p *pointProof
}

// Reset spoils what a run writes.
func (j *proofJob) Reset(s device.Stream) error {
	j.Stream = s
	return s.Fill(j.Words, 0, j.Words.Len(), 0xa5)
}

func (j *proofJob) Run(s device.Stream) error {
	j.Stream = s
	return j.Launch(j.p.Normal, j.p.sol)
}

// Check reads what was found.
func (j *proofJob) Check(s device.Stream) error {
	j.Stream = s
	total := verify.NewFindings()
	if err := j.CollectFindings(j.p.Normal, &total); err != nil {
		return err
	}
	err := total.CheckOptimal(j.p.Normal, j.p.sol)
	if !j.p.wrong {
		return err
	}
	if err == nil {
		return fmt.Errorf("%w: a spoiled certificate passed", problem.ErrCheck)
	}
	if errors.Is(err, problem.ErrCheck) {
		return nil
	}
	return err
}

// Work is the number of pairs.
func (j *proofJob) Work() float64 { return float64(j.p.Rows) * float64(j.p.Cols) }

func (j *proofJob) Close() error { return j.Checker.Close() }
