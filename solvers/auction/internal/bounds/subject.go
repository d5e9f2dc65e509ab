package bounds

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"

	"coalesce/autotune/subject"
	"coalesce/autotune/tuned"
	"coalesce/generated/auction"
	"coalesce/runtime/device"
	"coalesce/solvers/auction/internal/packing"
	"coalesce/solvers/cores"
)

// Subjects are the families of bounds, for the tuner.
func Subjects() []subject.Subject { return []subject.Subject{tunableFamily{}} }

// Workload is the description by which a variant is chosen for problems of so many bids. A block's groups of
// lanes pass over the bids in waves.
func Workload(bids int) tuned.Workload {
	return tuned.Workload{Fixed: map[string]string{}, Size: bids, WaveCost: func(v *device.Variant, size, _ int) float64 {
		return tuned.WaveQuantization(size, auction.Bounds.Int(v, "block")/auction.Bounds.Int(v, "lanes"))
	}}
}

// tunableFamily is auction/bounds for the tuner, which times the children of a node.
type tunableFamily struct{}

func (tunableFamily) Family() *device.Family { return &auction.Bounds }

func (tunableFamily) Workloads() []map[string]string { return []map[string]string{{}} }

// SizeUnit are bids: a child's program has a column for each. More than 2^20 fit no device's shared
// memory.
func (tunableFamily) SizeUnit() (unit string, most int) { return "bids", 1 << 20 }

func (tunableFamily) Sizes(f device.Facts) []int {
	if f.Kind == device.CUDA {
		return []int{200, 250, 300, 450, 540, 640, 700} // blocks of 256 or 512 threads take fewer passes over the bids by turns
	}
	return []int{20, 40}
}

// Workload is the description by which solves choose.
func (tunableFamily) Workload(_ map[string]string, _ device.Facts, size int) (tuned.Workload, error) {
	return Workload(size), nil
}

func (tunableFamily) Feasible(v *device.Variant, f device.Facts, size int) error {
	return CheckFits(v, f, size, size/2)
}

// Cases have one column, no rows, rows that allow two, and children without columns.
func (tunableFamily) Cases(map[string]string) ([]subject.Case, error) {
	return []subject.Case{
		{Name: "one column", Instance: newTrial(drawChildren(1, 1, 1, 2))},
		{Name: "no rows", Instance: newTrial(drawChildren(2, 3, 0, 2))},
		{Name: "few columns", Instance: newTrial(drawChildren(3, 5, 3, 4))},
		{Name: "more rows than columns", Instance: newTrial(drawChildren(4, 33, 50, 3))},
		{Name: "children without columns", Instance: newTrial(drawChildren(5, 70, 30, 9))},
	}, nil
}

// Instance has half as many rows as columns, and children as strong branching on a third of them.
func (tunableFamily) Instance(_ map[string]string, size int, seed uint64) (subject.Instance, error) {
	return newTrial(drawChildren(seed, size, size/2, max(2, 2*size/3))), nil
}

func (tunableFamily) Open(d device.Device, v *device.Variant) (subject.Runner, error) {
	return subject.Open(&auction.Bounds, v, func(t *trial) (subject.Job, error) {
		b, err := Open(d, v)
		if err != nil {
			return nil, err
		}
		j := &job{trial: t, bounder: b, packed: packChildren(t.children)}
		if j.lane, err = b.takeBuffers(); err == nil {
			err = errors.Join(b.upload(j.lane, j.packed), j.lane.stream.Sync())
		}
		if err != nil {
			return nil, errors.Join(err, b.Close())
		}
		return j, nil
	})
}

// A trial has children, and for every stride-th of them the bound of the host's steps.
type trial struct {
	children *packing.Children
	stride   int
	want     func() *packing.Bounds
}

// compared is the most children of a trial that the host bounds. All 466 children of a trial of 700
// bids took the host half a minute (coalesce tune auction --family auction/bounds, beside an H200).
const compared = 16

func newTrial(c *packing.Children) *trial {
	stride := max(1, (len(c.Live)+compared-1)/compared)
	return &trial{c, stride, sync.OnceValue(func() *packing.Bounds {
		n := (len(c.Live) + stride - 1) / stride
		all := &packing.Bounds{Values: make([]float32, n), Y: make([][]float32, n)}
		cores.Pieces(n, func(k int) { // a child's steps depend on no other child
			one := *c
			one.Live, one.Enough = c.Live[k*stride:][:1], c.Enough[k*stride:][:1]
			b := BoundOnHost(context.Background(), &one)
			all.Values[k], all.Y[k] = b.Values[0], b.Y[0]
		})
		return all
	})}
}

// Size is the number of columns.
func (t *trial) Size() int { return len(t.children.Prices) }

// A job is a trial on a device.
type job struct {
	trial   *trial
	bounder *Bounder
	lane    *launchBuffers
	packed  *packedChildren
}

// Reset overwrites all that a run writes, so that Check cannot pass on old results.
func (j *job) Reset(s device.Stream) error {
	return s.Fill(j.lane.prices, 0, j.packed.answerBytes(), 0xa5)
}

// Run enqueues the steps of all children.
func (j *job) Run(s device.Stream) error { return j.bounder.launch(s, j.lane, j.packed) }

// Check computes every bound again from its prices, and compares the bounds of the compared children
// with the host's. Device and host round differently, so that their steps end at different points
// equally near to the optimum: the bounds have to agree within near.
func (j *job) Check(s device.Stream) error {
	got, err := j.bounder.download(s, j.lane, j.packed)
	if err != nil {
		return err
	}
	c, want := j.trial.children, j.trial.want()
	for k, value := range got.Values {
		for i, y := range got.Y[k] {
			if !(y >= 0) {
				return fmt.Errorf("child %d: row %d has the price %v, expected 0 or more", k, i, y)
			}
		}
		if exact := boundOf(c, k, got.Y[k]); !(math.Abs(exact-float64(value)) <= 1e-5*(1+exact)) {
			return fmt.Errorf("child %d: the bound is %v, its prices give %v", k, value, exact)
		}
		if k%j.trial.stride != 0 {
			continue
		}
		if most := max(want.Values[k/j.trial.stride], c.Enough[k]); value > most+near*(1+most) {
			return fmt.Errorf("child %d: the bound is %v, expected about %v", k, value, most)
		}
	}
	return nil
}

// near is the allowed difference from the optimum after all steps, as a share of the bound.
const near = 2e-3

// boundOf is the bound that row prices give for a child.
func boundOf(c *packing.Children, child int, y []float32) float64 {
	has := func(k uint16) bool { return c.Live[child][k/32]>>(k%32)&1 != 0 }
	rest := make([]float64, len(c.Prices))
	total := 0.0
	for i, row := range c.Rows {
		some := false
		for _, k := range row {
			rest[k] -= float64(y[i])
			some = some || has(k)
		}
		if some {
			total += float64(y[i]) * float64(c.Most[i])
		}
	}
	for k, r := range rest {
		if has(uint16(k)) {
			total += max(0, r+float64(c.Prices[k]))
		}
	}
	return total
}

// Work is the number of row entries that the steps read, each entry twice a step.
func (j *job) Work() float64 {
	return 2 * float64(j.packed.steps) * float64(j.packed.entries) * float64(j.packed.children)
}

// Demand is an addition for each of them: the lists and sums stay in shared memory.
func (j *job) Demand() subject.Demand {
	return subject.Demand{Operations: j.Work(), Arithmetic: device.Float32}
}

// Close frees the device's memory.
func (j *job) Close() error { return j.bounder.Close() }

// drawChildren draws children of a linear program of so many columns and rows: a column is in about ten
// rows, some of which allow two, or in none; some children have no columns.
func drawChildren(seed uint64, columns, rows, children int) *packing.Children {
	r := rand.New(rand.NewPCG(seed, uint64(columns)))
	c := &packing.Children{}
	for range columns {
		c.Prices, c.X = append(c.Prices, float32(1+r.IntN(1000))/1000), append(c.X, float32(r.IntN(3))/2)
	}
	for range rows {
		var row []uint16
		for k := range columns {
			if k%13 != 5 && r.IntN(max(rows, 10)) < 10 {
				row = append(row, uint16(k))
			}
		}
		if len(row) > 0 {
			c.Rows, c.Most, c.Y = append(c.Rows, row), append(c.Most, float32(1+r.IntN(10)/9)), append(c.Y, r.Float32()/4)
		}
	}
	for k := range children {
		live := make([]uint32, (columns+31)/32)
		for j := range columns {
			if k%7 != 3 && (k == 0 || r.IntN(4) > 0) {
				live[j/32] |= 1 << (j % 32)
			}
		}
		c.Live, c.Enough = append(c.Live, live), append(c.Enough, -1)
	}
	return c
}
