package multistart

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"coalesce/autotune/subject"
	"coalesce/generated/qubo"
	"coalesce/runtime/device"
	"coalesce/solvers/cores"
	"coalesce/solvers/qubo/internal/draw"
	"coalesce/solvers/qubo/internal/evaluate"
	"coalesce/solvers/qubo/problem"
)

// Subjects are qubo/evaluate and qubo/multistart, for the tuner.
func Subjects() []subject.Subject {
	return []subject.Subject{subjectOf{&qubo.Evaluate}, subjectOf{&qubo.Multistart}}
}

// subjectOf is a family that holds the whole matrix, qubo/evaluate or
// qubo/multistart, with instances for the tuner.
type subjectOf struct{ kernels *device.Family }

// Family is the family.
func (t subjectOf) Family() *device.Family { return t.kernels }

// Fixed are the types of coefficients, each of which is tuned by itself, and whether few
// solutions are evaluated at once or many.
func (t subjectOf) Fixed() []map[string]string {
	var all []map[string]string
	for _, kind := range []string{evaluate.Int8, evaluate.Int32, evaluate.Float32, evaluate.Float64} {
		all = append(all, map[string]string{"weight": kind})
		if t.kernels == &qubo.Evaluate {
			all = append(all, evaluate.Workload(kind, 0, 1).Fixed)
		}
	}
	return all
}

// Sizes are numbers of variables: few where the device is not a GPU.
func (t subjectOf) Sizes(f device.Facts) []int {
	if f.Kind == device.CUDA {
		return []int{2500, 4200, 7000}
	}
	return []int{60, 140}
}

// Feasible holds the shared memory of a block and the matrix against a device.
func (t subjectOf) Feasible(v *device.Variant, f device.Facts, size int) error {
	kind, side := t.kernels.Value(v, "weight"), int64(evaluate.SideOf(size))
	fits := func() error { return climbs(v, f, size) }
	if t.kernels == &qubo.Evaluate {
		fits = func() error { return evaluate.Fits(v, f) }
	}
	if err := fits(); err != nil {
		return err
	}
	if need := 2 * side * side * int64(evaluate.CoefficientBytes(kind)); f.Free > 0 && need > f.Free/10*9 {
		return fmt.Errorf("a matrix of %s with its copy, %s has %s free: %w", device.Size(need), f, device.Size(f.Free), device.ErrMemory)
	}
	return nil
}

// A denseTrial is a problem and how many solutions of it are evaluated, or
// climb, at once.
type denseTrial struct {
	p     *problem.Normal
	count int

	once     sync.Once // of the matrix and what is wrong with it
	matrix   *evaluate.Square
	unlaid   error
	first    func() []uint64           // where ascents begin
	ascents  func() ([]outcome, error) // of the solutions that Check compares, by the host
	mu       sync.Mutex
	answered map[int]answer // by solution: what the host found
}

// An answer is the value of a solution and the gains of its flips, by the coefficients.
type answer struct {
	x     []uint64
	value int64
	gains []int64
}

func newDenseTrial(p *problem.Normal, count int) *denseTrial {
	t := &denseTrial{p: p, count: count, answered: map[int]answer{}}
	t.first = sync.OnceValue(func() []uint64 { return firstDerivative(p) })
	t.ascents = sync.OnceValues(t.climb)
	return t
}

// laid is the matrix with coefficients of a kind, which all variants that a trial times have.
func (t *denseTrial) laid(kind string) (*evaluate.Square, error) {
	t.once.Do(func() { t.matrix, t.unlaid = evaluate.Lay(t.p, kind) })
	return t.matrix, t.unlaid
}

// compared is how many ascents Check compares with the host's.
func (t *denseTrial) compared() int {
	if t.p.N >= 1000 {
		return min(t.count, 4)
	}
	return t.count
}

// climb makes the ascents that Check compares, on all cores.
func (t *denseTrial) climb() ([]outcome, error) {
	list, errs := make([]outcome, t.compared()), make([]error, t.compared())
	cores.Pieces(len(list), func(k int) {
		h := newHostStarter(context.Background(), t.p, 1)
		one, err := []outcome(nil), h.begin(t.first())
		if err == nil {
			one, err = h.round(1, uint64(k), draw.Strides(t.p.N), 1, math.Inf(-1), math.MaxInt64)
		}
		if errs[k] = err; err == nil {
			list[k] = one[0]
		}
	})
	return list, errors.Join(errs...)
}

// known is the answer for solution k, computed unless solution k was the same before.
func (t *denseTrial) known(k int, x []uint64) answer {
	t.mu.Lock()
	last, ok := t.answered[k]
	t.mu.Unlock()
	if ok && slices.Equal(last.x, x) {
		return last
	}
	a := answer{x, t.p.Value(x), make([]int64, t.p.N)}
	t.p.Deltas(x, a.gains)
	t.mu.Lock()
	t.answered[k] = a
	t.mu.Unlock()
	return a
}

// Size is the number of variables.
func (t *denseTrial) Size() int { return t.p.N }

// trialProblem draws a problem that a kind of coefficients holds exactly, about
// half of the pairs there, some weights the largest that there are.
func trialProblem(kind string, n int, seed uint64) *problem.Normal {
	largest := map[string]int64{evaluate.Int8: math.MaxInt8, evaluate.Int32: 1 << 14, evaluate.Float32: 99, evaluate.Float64: 1 << 28}[kind]
	one := func(i, j int) int64 {
		u := draw.Coins(seed, uint64(min(i, j)), uint64(max(i, j)))
		if u&31 == 0 {
			return largest
		}
		return int64(u>>1%uint64(2*largest+1)) - largest
	}
	return draw.Dense(n, func(i, j int) int64 {
		if w := one(i, j); w&1 == 0 {
			return w
		}
		return 0
	}, func(i int) int64 { return one(i, i) })
}

// Cases have 0 and 1 variables, and about as many variables, and solutions, as a tile and more.
func (t subjectOf) Cases(fixed map[string]string) ([]subject.Case, error) {
	var cases []subject.Case
	for k, c := range []struct{ n, count int }{{0, 1}, {1, 2}, {5, 3}, {64, 1}, {127, 4}, {129, 20}} {
		if t.kernels != &qubo.Evaluate {
			c.count = min(c.count, 4)
		}
		cases = append(cases, subject.Case{Name: fmt.Sprintf("%d variables, %d solutions", c.n, c.count),
			Instance: newDenseTrial(trialProblem(fixed["weight"], c.n, uint64(k)<<40), c.count)})
	}
	return cases, nil
}

// Instance draws a problem to be timed.
func (t subjectOf) Instance(fixed map[string]string, size int, seed uint64) (subject.Instance, error) {
	count := evaluate.TunedCount(size, fixed["solutions"] != "")
	if size >= 1000 && t.kernels != &qubo.Evaluate {
		count = 132
	}
	return newDenseTrial(trialProblem(fixed["weight"], size, seed<<40), count), nil
}

// Open takes a variant; a trial takes the memory.
func (t subjectOf) Open(d device.Device, v *device.Variant) (subject.Runner, error) {
	return subject.Open(t.kernels, v, func(x *denseTrial) (subject.Job, error) { return newDenseJob(t.kernels, d, v, x) })
}

// newDenseJob lays a trial out on the device.
func newDenseJob(kernels *device.Family, d device.Device, variant *device.Variant, t *denseTrial) (subject.Job, error) {
	kind := kernels.Value(variant, "weight")
	v, w, err := chosen(d.Facts(), nil, t.p.N, kind, t.count)
	if err != nil {
		return nil, err
	}
	if kernels == &qubo.Evaluate {
		v = variant
	} else {
		w = variant
	}
	matrix, err := t.laid(kind)
	if err != nil {
		return nil, err
	}
	s, err := d.NewStream()
	if err != nil {
		return nil, err
	}
	g, err := openStarterOn(d, s, t.p, matrix, v, w, t.count, t.count)
	if err == nil {
		err = s.Sync()
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return &denseJob{denseTrial: t, on: g, stream: s, climbs: kernels != &qubo.Evaluate}, nil
}

type denseJob struct {
	*denseTrial
	on     *deviceStarter
	stream device.Stream // of the upload
	climbs bool
	found  []outcome
}

// Reset draws the solutions anew and overwrites the memory that Run writes, so that a Run that
// writes nothing is noticed.
func (j *denseJob) Reset(s device.Stream) error {
	g := j.on
	g.s, j.found = s, nil
	err := errors.Join(s.Fill(g.twice, 0, g.twice.Len(), 0xa5), s.Fill(g.gain, 0, g.gain.Len(), 0xa5), s.Fill(g.flips, 0, g.flips.Len(), 0xa5))
	if j.climbs {
		return errors.Join(err, g.begin(j.first()))
	}
	return errors.Join(err, g.kernels.Sample(s, g.grid(j.count), g.x, uint64(j.p.N), uint64(g.many.Side), uint64(j.count), 1, g.twice))
}

// Run evaluates objectives and gains, or diversifies, evaluates and climbs.
func (j *denseJob) Run(s device.Stream) (err error) {
	g := j.on
	if g.s = s; !j.climbs {
		return g.many.Gains(s, g.x, j.count, g.twice, g.gain)
	}
	j.found, err = g.round(j.count, 0, draw.Strides(j.p.N), 1, math.Inf(-1), math.MaxInt64)
	return err
}

// Check compares with the host: of a large problem about twenty solutions, or
// four ascents.
func (j *denseJob) Check(s device.Stream) error {
	g := j.on
	g.s = s
	if j.climbs {
		expected, err := j.ascents()
		if err == nil && !slices.Equal(j.found[:len(expected)], expected) {
			err = fmt.Errorf("%w: objectives and flips %v, expected %v", problem.ErrCheck, j.found[:len(expected)], expected)
		}
		return err
	}
	e := g.many
	twice := make([]byte, 8*j.count)
	if err := s.Download(twice, g.twice, 0); err != nil {
		return err
	}
	objectives := e.Objectives(twice)
	type solution struct {
		number int
		x      []uint64
		gains  []byte
	}
	var some []solution
	for k := range objectives {
		if every := j.count / 20; j.p.N >= 1000 && every > 1 && k%every != 0 {
			continue
		}
		x, err := g.solution(k)
		one := solution{k, x, make([]byte, e.Side*e.GainBytes())}
		if err = errors.Join(err, s.Download(one.gains, g.gain, int64(k)*int64(len(one.gains)))); err != nil {
			return err
		}
		some = append(some, one)
	}
	wrong := make([]error, len(some))
	cores.Pieces(len(some), func(k int) {
		one := &some[k]
		want := j.known(one.number, one.x)
		if found := objectives[one.number]; want.value != found {
			wrong[k] = fmt.Errorf("%w: solution %d has objective %d, expected %d", problem.ErrCheck, one.number, found, want.value)
			return
		}
		for i, v := range want.gains {
			if d := e.Gain(one.gains, i); d != v {
				wrong[k] = fmt.Errorf("%w: solution %d gains %d by variable %d, expected %d", problem.ErrCheck, one.number, d, i, v)
				return
			}
		}
	})
	for _, err := range wrong {
		if err != nil {
			return err
		}
	}
	return nil
}

// Work is the number of products of a weight and a bit.
func (j *denseJob) Work() float64 { return float64(j.count) * float64(j.p.N) * float64(j.p.N) }

// Close frees the memory of the trial.
func (j *denseJob) Close() error { return errors.Join(j.on.Close(), j.stream.Close()) }
