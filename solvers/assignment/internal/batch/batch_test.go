package batch

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"coalesce/autotune/tuned"
	"coalesce/generated/assignment"
	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/solvers/assignment/internal/draw"
	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/internal/enginetest"
	"coalesce/solvers/assignment/internal/reference"
	"coalesce/solvers/assignment/problem"
)

// batchCase is instances of one type with their least costs.
type batchCase struct {
	problems []*problem.Normal
	want     []int64
}

// drawBatch draws small dense instances without limits, of one type, and adds
// structured and rectangular ones.
func drawBatch(t *testing.T, value problem.Value, count int, seed uint64) *batchCase {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 7))
	c := &batchCase{}
	add := func(inst *problem.Instance) {
		p, err := problem.Normalise(inst)
		if err != nil {
			t.Fatal(err)
		}
		c.problems = append(c.problems, p)
		s, err := reference.Solve(p, nil)
		want := problem.Infinity
		if err == nil {
			if want, err = enginetest.CheckOptimal(p, s); err != nil {
				t.Fatal(err)
			}
		}
		c.want = append(c.want, want)
	}
	for len(c.problems) < count {
		inst, err := enginetest.RandomProblem(r, 9)
		if err != nil {
			t.Fatal(err)
		}
		inst.Limit = nil
		if inst.Dense() && inst.Type == value && inst.Rows > 0 && inst.Cols > 0 {
			add(inst)
		}
	}
	for _, k := range []struct {
		kind       string
		rows, cols int
		spread     int64
	}{{"uniform", 40, 40, 1000000}, {"uniform", 37, 37, 20}, {"uniform", 20, 70, 1000}, {"uniform", 70, 33, 50},
		{"geom", 33, 33, 1000000}, {"machol", 24, 24, 10}, {"twocost", 30, 30, 100}, {"equal", 35, 40, 1}} {
		inst, err := draw.Generate(k.kind, k.rows, k.cols, k.spread, seed<<40, value)
		if err != nil {
			t.Logf("%s: %v", k.kind, err)
			continue
		}
		if inst.Points == nil {
			add(inst)
		}
	}
	return c
}

// upload lays the instances out as the engine takes them, with gaps between
// rows; every other tall one as it was before transposing.
func (c *batchCase) upload(t *testing.T, d device.Device, s device.Stream) (device.Buffer, []DenseLayout) {
	t.Helper()
	size := c.problems[0].Instance.Type.Size()
	var image []byte
	var shapes []DenseLayout
	for k, p := range c.problems {
		inst := p.Instance
		if p.Transposed && k%2 == 0 {
			inst = inst.Transpose()
		}
		gap := k % 3
		shapes = append(shapes, DenseLayout{int64(len(image) / size), int64(inst.Cols + gap), inst.Rows, inst.Cols, p.Scale})
		row := inst.Cols * size
		for i := range inst.Rows {
			image = append(image, inst.Bytes()[i*row:(i+1)*row]...)
			image = append(image, make([]byte, gap*size)...)
		}
	}
	b, err := d.Alloc(int64(len(image)))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Upload(b, 0, image); err != nil {
		t.Fatal(err)
	}
	return b, shapes
}

// batchSample is variants that have every value of every parameter; the few
// that differ in a number alone are left to COALESCE_VARIANTS=every.
func batchSample() []*device.Variant {
	f := &assignment.Batch
	covered := map[string]bool{}
	if !emulatedtest.EveryVariant() {
		for _, k := range []string{"block=64", "block=1024", "rounds=8", "rounds=32", "rounds=64", "flight=4", "flight=16"} {
			covered[k] = true
		}
	}
	var list []*device.Variant
	for i := range f.Variants {
		fresh := emulatedtest.EveryVariant()
		for p, value := range f.Variants[i].Values {
			k := f.Params[p] + "=" + value
			fresh = fresh || !covered[k]
			covered[k] = true
		}
		if fresh {
			list = append(list, &f.Variants[i])
		}
	}
	return list
}

func TestBatchVariants(t *testing.T) {
	d := emulatedtest.Open(t)
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	cases := map[problem.Value]*batchCase{}
	for _, v := range batchSample() {
		value := problem.Value(assignment.Batch.Value(v, "value"))
		c := cases[value]
		if c == nil {
			c = drawBatch(t, value, 25, 3)
			cases[value] = c
		}
		t.Run(v.Label, func(t *testing.T) {
			costs, shapes := c.upload(t, d, s)
			defer costs.Free()
			b, err := Open(d, v, shapes, true)
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			for range 2 { // the second run finds the memory of the first
				if err := b.Solve(context.Background(), s, costs); err != nil {
					t.Fatal(err)
				}
				for k, p := range c.problems {
					if err := c.judge(b, k); err != nil {
						t.Errorf("problem %d, %s: %v", k, p.Instance.Source, err)
					}
				}
			}
		})
	}
}

func (c *batchCase) judge(b *Engine, k int) error {
	p := c.problems[k]
	sol, full := b.Solution(k)
	if !full {
		if c.want[k] != problem.Infinity {
			return fmt.Errorf("no full matching, expected %d", c.want[k])
		}
		return enginetest.CheckViolator(p, HallViolator(p, sol.Column))
	}
	if err := b.VerifySolution(k, p, sol); err != nil {
		return err
	}
	got, err := enginetest.CheckOptimal(p, sol)
	if err == nil && got != c.want[k] {
		err = fmt.Errorf("found %d, expected %d", got, c.want[k])
	}
	return err
}

// The kernel that checks must see every kind of wrong answer.
func TestBatchCheckFindsCorruption(t *testing.T) {
	d := emulatedtest.Open(t)
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx := context.Background()
	draw := func(rows, cols int) *problem.Normal {
		inst, err := draw.Generate("uniform", rows, cols, 1000, 1<<40, problem.Int32)
		if err != nil {
			t.Fatal(err)
		}
		p, err := problem.Normalise(inst)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	c := &batchCase{problems: []*problem.Normal{draw(7, 7), draw(5, 9), draw(12, 6), draw(300, 3)}}
	costs, shapes := c.upload(t, d, s)
	defer costs.Free()
	b, err := Open(d, enginetest.SafeOf(&assignment.Batch, problem.Int32), shapes, true)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if err := b.Solve(ctx, s, costs); err != nil {
		t.Fatal(err)
	}
	good := append([]byte(nil), b.back...)
	free := func(s *engine.Solution) int {
		for j := range s.V {
			if used := func() bool {
				for _, k := range s.Column {
					if int(k) == j {
						return true
					}
				}
				return false
			}(); !used {
				return j
			}
		}
		return 0
	}
	for _, harm := range []struct {
		name  string
		loose bool // needs more columns than rows
		do    func(s *engine.Solution)
	}{
		{"column taken twice", false, func(s *engine.Solution) { s.Column[0] = s.Column[1] }},
		{"no column", false, func(s *engine.Solution) { s.Column[2] = -1 }},
		{"column beyond the last", false, func(s *engine.Solution) { s.Column[2] = int32(len(s.V)) }},
		{"columns exchanged", false, func(s *engine.Solution) { s.Column[0], s.Column[1] = s.Column[1], s.Column[0] }},
		{"u too large", false, func(s *engine.Solution) { s.U[1]++ }},
		{"u too small", false, func(s *engine.Solution) { s.U[1]-- }},
		{"v too large", false, func(s *engine.Solution) { s.V[s.Column[2]]++ }},
		{"v too small", false, func(s *engine.Solution) { s.V[s.Column[2]]-- }},
		{"u out of range", false, func(s *engine.Solution) { s.U[0] = math.MinInt64 }},
		{"v of a free column", true, func(s *engine.Solution) { s.V[free(s)]-- }},
		{"duals shifted", true, func(s *engine.Solution) {
			for i := range s.U {
				s.U[i]--
			}
			for j := range s.V {
				s.V[j]++
			}
		}},
	} {
		for k, p := range c.problems {
			if harm.loose && p.Rows == p.Cols {
				continue
			}
			copy(b.back, good)
			sol, _ := b.Solution(k)
			harm.do(sol)
			if err := errors.Join(s.Upload(b.Answers, 0, b.back),
				b.kernels.Check(s, device.Grid{Blocks: b.grid.Blocks, Threads: b.grid.Threads}, costs, b.table, b.Answers, uint64(b.words)),
				s.Download(b.back, b.Answers, 0)); err != nil {
				t.Fatal(err)
			}
			for other, q := range c.problems {
				sol, _ := b.Solution(other)
				if err := b.VerifySolution(other, q, sol); errors.Is(err, problem.ErrCheck) != (other == k) {
					t.Errorf("%s in problem %d: problem %d is judged %v", harm.name, k, other, err)
				}
			}
		}
	}
}

// A block takes the columns in waves of a column a thread; state in shared memory bounds the sides, state elsewhere does not.
func TestWorkload(t *testing.T) {
	facts := device.Facts{Kind: device.CUDA, Name: "fake", Major: 9, SMs: 132, ThreadsPerBlock: 1024, SharedPerBlock: 227 << 10}
	w := Workload(tuned.Workload{Size: 600}, facts)
	for i := range assignment.Batch.Variants {
		v := &assignment.Batch.Variants[i]
		block := assignment.Batch.Int(v, "block")
		if full, more := w.WaveCost(v, 2*block, facts.SMs), w.WaveCost(v, 2*block+1, facts.SMs); full != 0 || more <= 0 {
			t.Errorf("%s: two waves of columns cost %v, and a column more %v", v.Label, full, more)
		}
		if shared := assignment.Batch.Value(v, "state") == "shared"; !w.HasRoom(v, 100) || w.HasRoom(v, 1<<20) == shared {
			t.Errorf("%s: room for sides of 100: %v, of 2^20: %v", v.Label, w.HasRoom(v, 100), w.HasRoom(v, 1<<20))
		}
	}
}
