package csg

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sync"

	"coalesce/autotune/subject"
	gencsg "coalesce/generated/csg"
	"coalesce/runtime/device"
	"coalesce/solvers/csg/internal/levels"
	"coalesce/solvers/csg/internal/ways"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// Subjects are the families of this problem, for the tuner: on each kind of device the
// solver's choice first.
func Subjects() []subject.Subject {
	return []subject.Subject{tunable{&gencsg.Tiles}, tunable{&gencsg.Splits}, tunable{&gencsg.Hosttiles}, tunablePasses{tunable{&gencsg.Price}}, ways.Subject(runs, solving)}
}

// solving is a session for the comparison of algorithms, with its end.
func solving(o solve.Settings) (func(context.Context, *Instance) (*solve.Report, error), func() error, error) {
	s, err := Open(o)
	if err != nil {
		return nil, nil, err
	}
	return func(ctx context.Context, inst *Instance) (*solve.Report, error) {
		r, err := s.Solve(ctx, inst)
		if err != nil {
			return nil, err
		}
		return &r.Report, nil
	}, s.Close, nil
}

// tunable is a family with instances and a reference.
type tunable struct{ family *device.Family }

func (t tunable) Family() *device.Family { return t.family }

func (t tunable) Fixed() []map[string]string {
	var all []map[string]string
	for _, value := range []Value{Int16, Int32, Int64, Float32, Float64} {
		if !slices.ContainsFunc(t.family.Variants, func(v device.Variant) bool { return t.family.Value(&v, "value") == string(value) }) {
			continue
		}
		for _, m := range methods(t.family) {
			all = append(all, fixed(t.family, value, m))
		}
	}
	return all
}

func (t tunable) Sizes(f device.Facts) []int {
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

func (t tunable) Feasible(v *device.Variant, f device.Facts, size int) error {
	return feasible(t.family, v, f, size, 1)
}

// A trialInstance is an instance with what is known of its answer.
type trialInstance struct {
	*Instance
	method Method

	once sync.Once
	want *Result
	err  error
}

func (t *trialInstance) Size() int { return t.N }

// agree compares a result with the optimum. For few agents the sequential solver finds the optimum;
// for more, the first answer whose structure checks becomes the optimum that others must equal.
func (t *trialInstance) agree(r *Result) error {
	const limit = 16
	t.once.Do(func() {
		if t.N <= limit {
			t.want, t.err = Reference(t.Instance, t.method)
		} else {
			t.want = r
		}
	})
	if t.err != nil && !errors.Is(t.err, solve.ErrInfeasible) {
		return t.err
	}
	if t.want.Value != r.Value && !(!t.Type.Integer() && near(t.want.Value.Float(), r.Value.Float(), r.Certificate.Tolerance)) {
		return fmt.Errorf("%w: found the value %s, expected %s", ErrCheck, r.Value, t.want.Value)
	}
	return nil
}

func near(a, b, tolerance float64) bool { return math.Abs(a-b) <= 2*tolerance }

// Cases cover ties, negative and extreme values, forbidden coalitions, and the
// ends of the range of agents.
func (t tunable) Cases(fixed map[string]string) ([]subject.Case, error) {
	value := Value(fixed["value"])
	var cases []subject.Case
	type draw struct {
		name   string
		agents []int
		draw   func(n int, mask uint64) float64
	}
	draws := []draw{
		{"random", []int{1, 2, 3, 5, 8, 10}, drawn(1, 1000, 0)},
		{"negative", []int{4, 7, 9}, drawn(2, 1000, -2000)},
		{"ties", []int{6, 9}, func(_ int, mask uint64) float64 { return float64(len(Agents(mask))) }},
		{"few values", []int{7, 10}, drawn(3, 3, -1)},
		// Few blocks are best, so that one splitting decides: number 510 of 511.
		{"one splitting", []int{10}, drawn(74, 1000, -1000)},
		{"extremes", []int{5, 8}, extremes(value)},
	}
	if t.family == &gencsg.Tiles {
		// Two and three agents above the largest tiles, and more above the small ones.
		draws = append(draws, draw{"several tiles", []int{13, 14}, drawn(4, 100, -20)}, draw{"few values in tiles", []int{14}, drawn(5, 3, -1)}, draw{"extremes in tiles", []int{14}, extremes(value)})
	}
	for _, c := range draws {
		for _, n := range c.agents {
			inst, err := drawInstance(value, n, func(mask uint64) float64 { return c.draw(n, mask) })
			if err != nil {
				return nil, err
			}
			cases = append(cases, subject.Case{
				Name:     fmt.Sprintf("%s, %d agents", c.name, n),
				Instance: &trialInstance{Instance: inst, method: method(fixed["method"])},
			})
		}
	}
	return cases, nil
}

// drawn are whole numbers in [shift, shift+span), a function of the coalition.
func drawn(seed, span uint64, shift int) func(int, uint64) float64 {
	return func(_ int, mask uint64) float64 {
		return float64(shift) + float64(mix(seed<<40^mask)%span)
	}
}

// mix is the finaliser of splitmix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// extremes are values as large as n of them may be, of both signs; floats also
// forbid a third of the coalitions.
func extremes(value Value) func(int, uint64) float64 {
	return func(n int, mask uint64) float64 {
		limit := map[Value]float64{Int16: 1 << 15, Int32: 1 << 31, Int64: 1 << 62, Float32: 1 << 100, Float64: 0x1p1000}[value]
		if value.Integer() {
			limit = math.Floor(limit/float64(n)) / 2
		} else {
			limit /= float64(uint(2) << bits.Len(uint(n-1))) // a power of two: sums are exact in any order
		}
		x := mix(uint64(n)<<50 ^ mask)
		if !value.Integer() && x>>8%3 == 0 && mask&(mask-1) != 0 {
			return math.Inf(-1)
		}
		if x&1 == 0 {
			return -limit
		}
		return limit
	}
}

// drawInstance makes an instance of a type from a function of the coalition.
func drawInstance(value Value, n int, draw func(mask uint64) float64) (*Instance, error) {
	if n < 0 || n > MaxAgents {
		return nil, fmt.Errorf("%d agents: expected 0 to %d", n, MaxAgents)
	}
	var inst *Instance
	var err error
	switch value {
	case Int16:
		inst, err = NewInstance(drawSlice[int16](n, draw), "drawn")
	case Int32:
		inst, err = NewInstance(drawSlice[int32](n, draw), "drawn")
	case Int64:
		inst, err = NewInstance(drawSlice[int64](n, draw), "drawn")
	case Float32:
		inst, err = NewInstance(drawSlice[float32](n, draw), "drawn")
	case Float64:
		inst, err = NewInstance(drawSlice[float64](n, draw), "drawn")
	default:
		err = fmt.Errorf("value type %q: expected int16, int32, int64, float32 or float64", value)
	}
	if err == nil && inst.Type != value {
		err = fmt.Errorf("drawn values of %s became %s", value, inst.Type)
	}
	return inst, err
}

func drawSlice[T Number](n int, draw func(mask uint64) float64) []T {
	v := make([]T, uint64(1)<<n)
	problem.Spread(uint64(len(v)), func(_ int, from, to uint64) {
		for mask := max(1, from); mask < to; mask++ {
			v[mask] = T(draw(mask))
		}
	})
	return v
}

func (t tunable) Instance(fixed map[string]string, size int, seed uint64) (subject.Instance, error) {
	value, span := Value(fixed["value"]), uint64(1000000)
	if value == Int16 {
		span = math.MaxInt16 / uint64(max(1, size))
	}
	inst, err := drawInstance(value, size, func(mask uint64) float64 {
		return float64(mix(seed<<40^mask) % span)
	})
	if err != nil {
		return nil, err
	}
	return &trialInstance{Instance: inst, method: method(fixed["method"])}, nil
}

func (t tunable) Open(d device.Device, v *device.Variant) (subject.Runner, error) {
	r, err := open(d, t.family, v)
	if err != nil {
		return nil, err
	}
	return trialRunner{r}, nil
}

type trialRunner struct{ *runner }

func (r trialRunner) Prepare(inst subject.Instance) (subject.Job, error) {
	t, ok := inst.(*trialInstance)
	if !ok {
		return nil, fmt.Errorf("prepare %s: an instance of another subject", r.family.Name)
	}
	j, err := r.prepare(t.Instance)
	if err != nil {
		return nil, err
	}
	return &trialJob{job: j, trial: t, runner: r.runner}, nil
}

type trialJob struct {
	*job
	trial  *trialInstance
	runner *runner
}

// Reset uploads the values again: the kernels work in place.
func (t *trialJob) Reset(s device.Stream) error {
	t.stream = s
	return t.upload(context.Background(), s, t.inst.Bytes())
}

func (t *trialJob) Run(s device.Stream) error { return t.run(context.Background(), s, levels.Follow{}) }

func (t *trialJob) Work() float64 { return t.splittings() }

// Check certifies the structure and compares its value with the reference;
// for few agents the whole table is compared too.
func (t *trialJob) Check(s device.Stream) error {
	t.stream = s
	if err := s.Sync(); err != nil {
		return err
	}
	word, err := t.totalBits()
	if err != nil {
		return err
	}
	_, claimed := decode(t.inst.Type, word)
	r := NewResult(t.inst)
	if r.Structure, err = t.structure(); err != nil {
		return err
	}
	if err := r.Certify(t.inst, claimed); err != nil && !errors.Is(err, solve.ErrInfeasible) {
		return err
	}
	if err := t.trial.agree(r); err != nil {
		return err
	}
	if t.inst.N > 14 || t.runner.family.Target == device.Host {
		return nil
	}
	return t.compareTable(s)
}

// Table downloads f, as the device holds it: csg/tiles has the lower half alone.
func (t *trialJob) Table(s device.Stream) ([]byte, error) {
	b := make([]byte, t.table().Len())
	return b, s.Download(b, t.table(), 0)
}

// Checkpoints downloads the cycles that a profiled variant spent at each of
// Algorithm 7's checkpoints, summed over its runs.
func (t *trialJob) Checkpoints(s device.Stream) ([]uint64, error) {
	r, ok := t.engine.(*splits)
	if !ok || r.cycles == nil {
		return nil, fmt.Errorf("%s: not built with profile=on", t.runner.variant.Label)
	}
	b := make([]byte, 8*gencsg.SplitsCheckpoints)
	if err := s.Download(b, r.cycles, 0); err != nil {
		return nil, err
	}
	cycles := make([]uint64, gencsg.SplitsCheckpoints)
	for i := range cycles {
		cycles[i] = wordOf([8]byte(b[8*i:]))
	}
	return cycles, nil
}

// compareTable holds f of every coalition against the sequential method's.
func (t *trialJob) compareTable(s device.Stream) error {
	got, err := t.Table(s)
	if err != nil {
		return err
	}
	var want []byte
	switch m := t.trial.method; t.inst.Type {
	case Int16:
		want = tableBytes(t.inst.I16, m)
	case Int32:
		want = tableBytes(t.inst.I32, m)
	case Int64:
		want = tableBytes(t.inst.I64, m)
	case Float32:
		want = tableBytes(t.inst.F32, m)
	case Float64:
		want = tableBytes(t.inst.F64, m)
	}
	size := t.inst.Type.Size()
	for c := range len(got) / size {
		var g, w [8]byte
		copy(g[:], got[c*size:(c+1)*size])
		copy(w[:], want[c*size:(c+1)*size])
		x, xs := decode(t.inst.Type, wordOf(g))
		if y, ys := decode(t.inst.Type, wordOf(w)); x != y {
			return fmt.Errorf("%w: f of coalition %d %s is %s, expected %s", ErrCheck, c, t.inst.Coalition(uint64(c)), xs, ys)
		}
	}
	return nil
}

func tableBytes[T Number](v []T, m Method) []byte {
	f, _ := Table(v, m)
	return device.Bytes(f)
}
