// Package tune is what the tuner measures of coalition structures: the families of kernels, each with its cases
// and instances, and the algorithms that a solve may begin with.
package tune

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sync"

	"coalesce/autotune/subject"
	gencsg "coalesce/generated/csg"
	"coalesce/runtime/device"
	"coalesce/solvers/csg/internal/draw"
	"coalesce/solvers/csg/internal/engine"
	"coalesce/solvers/csg/internal/kernels"
	"coalesce/solvers/csg/internal/reference"
	"coalesce/solvers/csg/internal/splits"
	"coalesce/solvers/csg/internal/variants"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// Subjects are the families of this problem, and the algorithms, which open opens a session of: on each kind of
// device the solver's choice first.
func Subjects(open Opener) []subject.Subject {
	return []subject.Subject{familySubject{&gencsg.Tiles}, familySubject{&gencsg.Splits}, familySubject{&gencsg.Hosttiles}, passSubject{familySubject{&gencsg.Price}}, algorithmSubject(open)}
}

// familySubject is a family with instances and a reference.
type familySubject struct{ family *device.Family }

func (t familySubject) Family() *device.Family { return t.family }

func (t familySubject) Workloads() []map[string]string {
	var all []map[string]string
	for _, value := range []problem.Value{problem.Int16, problem.Int32, problem.Int64, problem.Float32, problem.Float64} {
		if !slices.ContainsFunc(t.family.Variants, func(v device.Variant) bool { return t.family.Value(&v, "value") == string(value) }) {
			continue
		}
		for _, m := range variants.Methods(t.family) {
			all = append(all, variants.FixedParams(t.family, value, m))
		}
	}
	return all
}

func (t familySubject) Sizes(f device.Facts) []int {
	switch {
	case f.Kind == device.CUDA && t.family == &gencsg.Tiles:
		return []int{14, 18, 22, 24, 26}
	case f.Kind == device.CUDA:
		return []int{18, 22, 25}
	case f.Kind == device.Host:
		return []int{16, 19, 21}
	case t.family == &gencsg.Tiles:
		return []int{8, 13}
	}
	return []int{6, 8}
}

func (t familySubject) Feasible(v *device.Variant, f device.Facts, size int) error {
	return variants.CheckFeasible(t.family, v, f, size, 1)
}

// A trialInstance is an instance with what is known of its answer.
type trialInstance struct {
	*problem.Instance
	method reference.Method

	once sync.Once
	want solve.Number // the optimum; empty: every structure has a forbidden block
	err  error
}

func (t *trialInstance) Size() int { return t.N }

// agree compares a value with the optimum. For few agents the sequential solver finds the optimum;
// for more, the first answer whose structure checks becomes the optimum that others must equal.
func (t *trialInstance) agree(value solve.Number, tolerance float64) error {
	const limit = 16
	t.once.Do(func() {
		if t.want = value; t.N <= limit {
			blocks, claimed, _ := reference.Solve(t.Instance, t.method)
			t.want, _, t.err = certify(t.Instance, blocks, claimed)
		}
	})
	if t.err != nil {
		return t.err
	}
	if t.want != value && !(!t.Type.Integer() && near(t.want.Float(), value.Float(), tolerance)) {
		return fmt.Errorf("%w: found the value %s, expected %s", problem.ErrCheck, value, t.want)
	}
	return nil
}

// certify recomputes the value of a structure, empty where every structure has a forbidden block, and returns
// the tolerance of the certificate.
func certify(inst *problem.Instance, blocks problem.Structure, claimed string) (solve.Number, float64, error) {
	blocks.Sort()
	c, err := problem.Check(inst, blocks, claimed)
	if err != nil {
		return "", 0, err
	}
	if c.Sum == "-inf" {
		if found, _ := inst.FindFeasible(); found != nil {
			return "", 0, fmt.Errorf("%w: every structure was said to have a forbidden block, found %v", problem.ErrCheck, found.Lists())
		}
		return "", c.Tolerance, nil
	}
	_, err = problem.Ceiling(inst, claimed, c.Sum)
	return solve.Number(c.Sum), c.Tolerance, err
}

func near(a, b, tolerance float64) bool { return math.Abs(a-b) <= 2*tolerance }

// Cases cover ties, negative and extreme values, forbidden coalitions, and the
// ends of the range of agents.
func (t familySubject) Cases(fixed map[string]string) ([]subject.Case, error) {
	value := problem.Value(fixed["value"])
	var cases []subject.Case
	type kind struct {
		name   string
		agents []int
		worth  func(n int, mask uint64) float64
	}
	kinds := []kind{
		{"random", []int{1, 2, 3, 5, 8, 10}, drawnValues(1, 1000, 0)},
		{"negative", []int{4, 7, 9}, drawnValues(2, 1000, -2000)},
		{"ties", []int{6, 9}, func(_ int, mask uint64) float64 { return float64(len(problem.Agents(mask))) }},
		{"few values", []int{7, 10}, drawnValues(3, 3, -1)},
		// Few blocks are best, so that one splitting decides: number 510 of 511.
		{"one splitting", []int{10}, drawnValues(74, 1000, -1000)},
		{"extremes", []int{5, 8}, extremes(value)},
	}
	if t.family == &gencsg.Tiles {
		// Two and three agents above the largest tiles, and more above the small ones.
		kinds = append(kinds, kind{"several tiles", []int{13, 14}, drawnValues(4, 100, -20)}, kind{"few values in tiles", []int{14}, drawnValues(5, 3, -1)}, kind{"extremes in tiles", []int{14}, extremes(value)})
	}
	for _, c := range kinds {
		for _, n := range c.agents {
			inst, err := draw.ByCoalition(value, n, func(mask uint64) float64 { return c.worth(n, mask) })
			if err != nil {
				return nil, err
			}
			cases = append(cases, subject.Case{
				Name:     fmt.Sprintf("%s, %d agents", c.name, n),
				Instance: &trialInstance{Instance: inst, method: variants.MethodOf(fixed["method"])},
			})
		}
	}
	return cases, nil
}

// drawnValues are whole numbers in [shift, shift+span), a function of the coalition.
func drawnValues(seed, span uint64, shift int) func(int, uint64) float64 {
	return func(_ int, mask uint64) float64 {
		return float64(shift) + float64(draw.Mix(seed<<40^mask)%span)
	}
}

// extremes are values as large as n of them may be, of both signs; floats also
// forbid a third of the coalitions.
func extremes(value problem.Value) func(int, uint64) float64 {
	return func(n int, mask uint64) float64 {
		limit := map[problem.Value]float64{problem.Int16: 1 << 15, problem.Int32: 1 << 31, problem.Int64: 1 << 62, problem.Float32: 1 << 100, problem.Float64: 0x1p1000}[value]
		if value.Integer() {
			limit = math.Floor(limit/float64(n)) / 2
		} else {
			limit /= float64(uint(2) << bits.Len(uint(n-1))) // a power of two: sums are exact in any order
		}
		x := draw.Mix(uint64(n)<<50 ^ mask)
		if !value.Integer() && x>>8%3 == 0 && mask&(mask-1) != 0 {
			return math.Inf(-1)
		}
		if x&1 == 0 {
			return -limit
		}
		return limit
	}
}

func (t familySubject) Instance(fixed map[string]string, size int, seed uint64) (subject.Instance, error) {
	value, span := problem.Value(fixed["value"]), uint64(1000000)
	if value == problem.Int16 {
		span = math.MaxInt16 / uint64(max(1, size))
	}
	inst, err := draw.ByCoalition(value, size, func(mask uint64) float64 {
		return float64(draw.Mix(seed<<40^mask) % span)
	})
	if err != nil {
		return nil, err
	}
	return &trialInstance{Instance: inst, method: variants.MethodOf(fixed["method"])}, nil
}

func (t familySubject) Open(d device.Device, v *device.Variant) (subject.Runner, error) {
	l, err := kernels.Load(&solve.Settings{Devices: []device.Device{d}}, t.family, v)
	if err != nil {
		return nil, err
	}
	return trialRunner{l}, nil
}

type trialRunner struct{ *kernels.LoadedVariant }

func (r trialRunner) Prepare(inst subject.Instance) (subject.Job, error) {
	t, ok := inst.(*trialInstance)
	if !ok {
		return nil, fmt.Errorf("prepare %s: an instance of another subject", r.Family.Name)
	}
	j, err := r.LoadedVariant.Prepare(t.Instance)
	if err != nil {
		return nil, err
	}
	return &trialJob{j, t}, nil
}

type trialJob struct {
	job   *kernels.Job
	trial *trialInstance
}

// Reset uploads the values again: the kernels work in place.
func (t *trialJob) Reset(s device.Stream) error {
	return t.job.Upload(context.Background(), s, t.trial.Bytes())
}

func (t *trialJob) Run(s device.Stream) error {
	return t.job.Run(context.Background(), s, engine.Progress{})
}

func (t *trialJob) Work() float64 { return t.job.Splittings() }

// Demand is a reading and a writing of the table of values, and an addition a splitting.
func (t *trialJob) Demand() subject.Demand {
	return subject.Demand{Bytes: 2 * float64(len(t.trial.Bytes())), Operations: t.job.Splittings(), Arithmetic: t.trial.Type}
}

func (t *trialJob) Close() error { return t.job.Close() }

// Check certifies the structure and compares its value with the reference;
// for few agents the whole table is compared too.
func (t *trialJob) Check(s device.Stream) error {
	if err := s.Sync(); err != nil {
		return err
	}
	claimed, err := engine.DownloadTotal(t.job.Engine, s, t.trial.Type)
	if err != nil {
		return err
	}
	blocks, err := engine.Structure(t.job.Engine, s, t.trial.Instance)
	if err != nil {
		return err
	}
	value, tolerance, err := certify(t.trial.Instance, blocks, claimed)
	if err != nil {
		return err
	}
	if err := t.trial.agree(value, tolerance); err != nil {
		return err
	}
	if t.trial.N > 14 || t.job.Kernels.Family.Target == device.Host {
		return nil
	}
	return t.compareTable(s)
}

// Table downloads f, as the device holds it: csg/tiles has the lower half alone.
func (t *trialJob) Table(s device.Stream) ([]byte, error) {
	b := make([]byte, t.job.Table().Len())
	return b, s.Download(b, t.job.Table(), 0)
}

// Checkpoints downloads the cycles that a profiled variant spent at each of
// Algorithm 7's checkpoints, summed over its runs.
func (t *trialJob) Checkpoints(s device.Stream) ([]uint64, error) {
	var cycles []uint64
	var err error
	if e, ok := t.job.Engine.(*splits.Engine); ok {
		cycles, err = e.Checkpoints(s)
	}
	if cycles == nil {
		return nil, fmt.Errorf("%s: not built with profile=on", t.job.Kernels.Variant.Label)
	}
	return cycles, err
}

// compareTable holds f of every coalition against the sequential method's.
func (t *trialJob) compareTable(s device.Stream) error {
	got, err := t.Table(s)
	if err != nil {
		return err
	}
	var want []byte
	switch m := t.trial.method; t.trial.Type {
	case problem.Int16:
		want = tableBytes(t.trial.I16, m)
	case problem.Int32:
		want = tableBytes(t.trial.I32, m)
	case problem.Int64:
		want = tableBytes(t.trial.I64, m)
	case problem.Float32:
		want = tableBytes(t.trial.F32, m)
	case problem.Float64:
		want = tableBytes(t.trial.F64, m)
	}
	size := t.trial.Type.Size()
	for c := range len(got) / size {
		var g, w [8]byte
		copy(g[:], got[c*size:(c+1)*size])
		copy(w[:], want[c*size:(c+1)*size])
		x, xs := engine.Decode(t.trial.Type, engine.DecodeWord(g))
		if y, ys := engine.Decode(t.trial.Type, engine.DecodeWord(w)); x != y {
			return fmt.Errorf("%w: f of coalition %d %s is %s, expected %s", problem.ErrCheck, c, t.trial.Coalition(uint64(c)), xs, ys)
		}
	}
	return nil
}

func tableBytes[T problem.Number](v []T, m reference.Method) []byte {
	f, _ := reference.Table(v, m)
	return device.Bytes(f)
}
