package assignment

import (
	"errors"
	"fmt"

	"coalesce/autotune/subject"
	"coalesce/generated/assignment"
	"coalesce/runtime/device"
)

// tunablePrime is the family of first prices, assignment/prime.
type tunablePrime struct{}

func (tunablePrime) Family() *device.Family { return &assignment.Prime }

func (tunablePrime) Fixed() []map[string]string { return tunableCheck{}.Fixed() }

func (tunablePrime) Sizes(f device.Facts) []int { return sides(f) }

func (tunablePrime) Feasible(v *device.Variant, f device.Facts, size int) error {
	return feasible(&assignment.Prime, v, f, size)
}

// A primeInstance says how much of the gap that the columns' minima leave to the
// optimum prices may leave: 1 for as much.
type primeInstance struct {
	*trialInstance
	share float64
}

// Cases are products and distances, whose structure prices find, and random
// costs.
func (tunablePrime) Cases(fixed map[string]string) ([]subject.Case, error) {
	var cases []subject.Case
	for k, c := range []struct {
		d     Drawing
		share float64
	}{
		{Drawing{Kind: "machol", Rows: 33, Cols: 33, Permuted: true, Shift: 500}, 0.3},
		{Drawing{Kind: "geom", Rows: 60, Cols: 60, Range: 100000}, 0.5},
		{Drawing{Kind: "uniform", Rows: 40, Cols: 40, Range: 1000}, 1},
	} {
		c.d.Type, c.d.Seed = Value(fixed["value"]), uint64(k+1)<<40
		trial, err := newTrial(Draw(c.d))
		if err != nil {
			return nil, err
		}
		cases = append(cases, subject.Case{Name: fmt.Sprintf("%s, %d x %d", c.d.Kind, c.d.Rows, c.d.Cols), Instance: &primeInstance{trial, c.share}})
	}
	return cases, nil
}

// Instance is distances in a square, whose prices take the most iterations.
func (tunablePrime) Instance(fixed map[string]string, size int, seed uint64) (subject.Instance, error) {
	trial, err := newTrial(Draw(Drawing{Kind: "geom", Rows: size, Cols: size, Range: 1e6, Seed: seed << 40, Type: Value(fixed["value"])}))
	return &primeInstance{trial, 1}, err
}

func (tunablePrime) Open(d device.Device, v *device.Variant) (subject.Runner, error) {
	return primeRunner{d, v}, nil
}

type primeRunner struct {
	device  device.Device
	variant *device.Variant
}

func (primeRunner) Close() error { return nil }

func (r primeRunner) Prepare(inst subject.Instance) (subject.Job, error) {
	t, ok := inst.(*primeInstance)
	if !ok {
		return nil, errors.New("prepare assignment/prime: an instance of another subject")
	}
	j := &primeJob{t: t, m: &matrix{rows: t.p.rows, cols: t.p.cols}}
	var err error
	if j.primer, err = newPrimer(r.device, r.variant, t.p.rows, t.p.cols); err != nil {
		return nil, err
	}
	j.schedule.chance = 0 // prices are wanted of any costs
	if j.m.costs, err = r.device.Alloc(int64(len(t.p.inst.Bytes()))); err != nil {
		return nil, errors.Join(err, j.primer.Close())
	}
	if j.prices, err = r.device.Alloc(8 * int64(t.p.cols)); err != nil {
		return nil, errors.Join(err, j.m.costs.Free(), j.primer.Close())
	}
	return j, nil
}

type primeJob struct {
	*primer
	t      *primeInstance
	m      *matrix
	prices device.Buffer
}

// Reset uploads the costs and spoils what a run writes.
func (j *primeJob) Reset(s device.Stream) error {
	return errors.Join(s.Fill(j.prices, 0, j.prices.Len(), 0xa5), s.Upload(j.m.costs, 0, j.t.p.inst.Bytes()))
}

func (j *primeJob) Run(s device.Stream) error {
	_, err := j.prime(s, j.t.p, j.m, j.prices)
	return err
}

// Check holds the dual bound that the prices give against the optimum where the
// reference is asked, and their size elsewhere.
func (j *primeJob) Check(s device.Stream) error {
	p := j.t.p
	prices := make([]int64, p.cols)
	if err := s.Download(bytesOf(prices), j.prices, 0); err != nil {
		return err
	}
	for k, v := range prices {
		if v < -far || v > far {
			return fmt.Errorf("%w: column %d: found the price %d", ErrCheck, k, v)
		}
	}
	if p.cols > few {
		return nil
	}
	sol, err := reference(p, nil)
	if err != nil {
		return err
	}
	best := int64(0) // the optimum, as both sides' duals add up to it
	for _, list := range [][]int64{sol.u, sol.v} {
		for _, x := range list {
			best += x
		}
	}
	columns := make([]int64, p.cols)
	for k := range columns {
		columns[k] = far
		for i := range p.rows {
			columns[k] = min(columns[k], p.cost(i, k))
		}
	}
	found, plain := dualBound(p, prices), dualBound(p, columns)
	if found > best || j.t.share < 1 && float64(best-found) > j.t.share*float64(best-plain) {
		return fmt.Errorf("%w: prices give the bound %d, expected at most the optimum %d and at most %v of the gap of the columns' minima, %d", ErrCheck, found, best, j.t.share, plain)
	}
	return nil
}

// dualBound is the dual value of column prices v of a square problem.
func dualBound(p *normal, v []int64) (sum int64) {
	for i := range p.rows {
		u := far
		for j := range p.cols {
			u = min(u, p.cost(i, j)-v[j])
		}
		sum += u
	}
	for _, x := range v {
		sum += x
	}
	return sum
}

// Work is the number of pairs.
func (j *primeJob) Work() float64 { return float64(j.rows) * float64(j.cols) }

func (j *primeJob) Close() error {
	return errors.Join(j.prices.Free(), j.m.costs.Free(), j.primer.Close())
}
