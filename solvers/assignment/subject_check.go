package assignment

import (
	"errors"
	"fmt"

	"coalesce/autotune/subject"
	"coalesce/generated/assignment"
	"coalesce/runtime/device"
)

// tunableCheck is the family that certifies, assignment/check, with planted
// problems.
type tunableCheck struct{}

func (tunableCheck) Family() *device.Family { return &assignment.Check }

// Fixed: the range of costs makes no difference to it.
func (tunableCheck) Fixed() []map[string]string {
	var all []map[string]string
	for _, value := range []Value{Int32, Int64, Float32, Float64} {
		all = append(all, map[string]string{"value": string(value)})
	}
	return all
}

func (tunableCheck) Sizes(f device.Facts) []int { return sides(f) }

func (tunableCheck) Feasible(v *device.Variant, f device.Facts, size int) error {
	return feasible(&assignment.Check, v, f, size)
}

// Cases are sound certificates and spoiled ones: a dual too large or too small
// by one unit, a pair too cheap, columns exchanged.
func (tunableCheck) Cases(fixed map[string]string) ([]subject.Case, error) {
	value := Value(fixed["value"])
	var cases []subject.Case
	for k, shape := range [][2]int{{0, 0}, {0, 3}, {1, 1}, {3, 5}, {40, 40}, {37, 45}, {70, 130}} {
		p := plant(value, shape[0], shape[1], k%2 == 1, false, uint64(k+1)<<40)
		cases = append(cases, subject.Case{Name: fmt.Sprintf("sound, %d x %d", p.rows, p.cols), Instance: p})
	}
	for k, spoil := range []struct {
		name  string
		spoil func(p *planted)
	}{
		{"a dual too large", func(p *planted) { p.sol.u[40] += 700 }},
		{"a dual too small", func(p *planted) { p.sol.u[0]-- }},
		{"an unmatched column's dual", func(p *planted) { p.sol.v[p.free()]-- }},
		{"columns exchanged", func(p *planted) {
			c := p.sol.column
			c[3], c[30] = c[30], c[3]
		}},
		{"a column twice", func(p *planted) { p.sol.column[20] = p.sol.column[21] }},
		{"a forbidden pair", func(p *planted) { p.inst.forbid(40*p.cols + int(p.sol.column[40])) }},
	} {
		p := plant(value, 41, 43, k%2 == 1, false, uint64(k+100)<<40)
		spoil.spoil(p)
		p.wrong = true
		cases = append(cases, subject.Case{Name: spoil.name, Instance: p})
	}
	return cases, nil
}

func (tunableCheck) Instance(fixed map[string]string, size int, seed uint64) (subject.Instance, error) {
	return plant(Value(fixed["value"]), size, size, false, false, seed<<40), nil
}

func (tunableCheck) Open(d device.Device, v *device.Variant) (subject.Runner, error) {
	return checkRunner{d, v}, nil
}

type checkRunner struct {
	device  device.Device
	variant *device.Variant
}

func (checkRunner) Close() error { return nil }

func (r checkRunner) Prepare(inst subject.Instance) (subject.Job, error) {
	p, ok := inst.(*planted)
	if !ok {
		return nil, errors.New("prepare assignment/check: an instance of another subject")
	}
	c, err := newChecker(r.device, r.variant, p.rows, p.cols)
	if err != nil {
		return nil, err
	}
	j := &checkJob{shard: shard{checker: c, m: &matrix{rows: p.rows, cols: p.cols}}, p: p}
	if j.m.costs, err = r.device.Alloc(int64(len(p.inst.Bytes()))); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return j, nil
}

type checkJob struct {
	shard
	p *planted
}

// Reset uploads the costs and spoils what a run writes.
func (j *checkJob) Reset(s device.Stream) error {
	j.stream = s
	if err := s.Fill(j.work, 0, j.work.Len(), 0xa5); err != nil {
		return err
	}
	return s.Upload(j.m.costs, 0, j.p.inst.Bytes())
}

// Run uploads the solution and enqueues the kernels.
func (j *checkJob) Run(s device.Stream) error {
	j.stream = s
	return j.launch(j.p.normal, j.p.sol)
}

// Check reads what was found.
func (j *checkJob) Check(s device.Stream) error {
	j.stream = s
	total := newFindings()
	if err := j.collect(&total); err != nil {
		return err
	}
	err := total.judge(j.p.normal, j.p.sol)
	if j.p.wrong && err == nil {
		return fmt.Errorf("%w: a spoiled certificate passed", ErrCheck)
	}
	if j.p.wrong && errors.Is(err, ErrCheck) {
		return nil
	}
	return err
}

// Work is the number of pairs.
func (j *checkJob) Work() float64 { return float64(j.rows) * float64(j.cols) }

func (j *checkJob) Close() error { return errors.Join(j.m.costs.Free(), j.checker.Close()) }
