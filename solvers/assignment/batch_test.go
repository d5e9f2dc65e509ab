package assignment

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"coalesce/generated/assignment"
	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
)

// batchCase is instances of one type with their least costs.
type batchCase struct {
	problems []*normal
	want     []int64
}

// drawBatch draws small dense instances without limits, of one type, and adds
// structured and rectangular ones.
func drawBatch(t *testing.T, value Value, count int, seed uint64) *batchCase {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 7))
	c := &batchCase{}
	add := func(inst *Instance) {
		p, err := normalise(inst)
		if err != nil {
			t.Fatal(err)
		}
		c.problems = append(c.problems, p)
		s, err := reference(p, nil)
		want := far
		if err == nil {
			if want, err = prove(p, s); err != nil {
				t.Fatal(err)
			}
		}
		c.want = append(c.want, want)
	}
	for len(c.problems) < count {
		inst, err := draw(r, 9)
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
		inst, err := Generate(k.kind, k.rows, k.cols, k.spread, seed<<40, value)
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
func (c *batchCase) upload(t *testing.T, d device.Device, s device.Stream) (device.Buffer, []batchShape) {
	t.Helper()
	size := c.problems[0].inst.Type.Size()
	var image []byte
	var shapes []batchShape
	for k, p := range c.problems {
		inst := p.inst
		if p.transposed && k%2 == 0 {
			inst = inst.transpose()
		}
		gap := k % 3
		shapes = append(shapes, batchShape{int64(len(image) / size), int64(inst.Cols + gap), inst.Rows, inst.Cols, p.scale})
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
	if !emulatedtest.Every {
		for _, k := range []string{"block=64", "block=1024", "rounds=8", "rounds=32", "rounds=64", "flight=4", "flight=16"} {
			covered[k] = true
		}
	}
	var list []*device.Variant
	for i := range f.Variants {
		fresh := emulatedtest.Every
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
	cases := map[Value]*batchCase{}
	for _, v := range batchSample() {
		value := Value(assignment.Batch.Value(v, "value"))
		c := cases[value]
		if c == nil {
			c = drawBatch(t, value, 25, 3)
			cases[value] = c
		}
		t.Run(v.Label, func(t *testing.T) {
			costs, shapes := c.upload(t, d, s)
			defer costs.Free()
			b, err := newBatch(d, v, shapes, true)
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			for range 2 { // the second run finds the memory of the first
				if err := b.solve(context.Background(), s, costs); err != nil {
					t.Fatal(err)
				}
				for k, p := range c.problems {
					if err := c.judge(b, k); err != nil {
						t.Errorf("problem %d, %s: %v", k, p.inst.Source, err)
					}
				}
			}
		})
	}
}

func (c *batchCase) judge(b *batch, k int) error {
	p := c.problems[k]
	sol, full := b.solution(k)
	if !full {
		if c.want[k] != far {
			return fmt.Errorf("no full matching, expected %d", c.want[k])
		}
		return violates(p, violator(p, sol.column))
	}
	if err := b.prove(k, p, sol); err != nil {
		return err
	}
	got, err := prove(p, sol)
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
	draw := func(rows, cols int) *normal {
		inst, err := Generate("uniform", rows, cols, 1000, 1<<40, Int32)
		if err != nil {
			t.Fatal(err)
		}
		p, err := normalise(inst)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	c := &batchCase{problems: []*normal{draw(7, 7), draw(5, 9), draw(12, 6), draw(300, 3)}}
	costs, shapes := c.upload(t, d, s)
	defer costs.Free()
	b, err := newBatch(d, safeOf(&assignment.Batch, Int32), shapes, true)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if err := b.solve(ctx, s, costs); err != nil {
		t.Fatal(err)
	}
	good := append([]byte(nil), b.back...)
	free := func(s *solution) int {
		for j := range s.v {
			if used := func() bool {
				for _, k := range s.column {
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
		do    func(s *solution)
	}{
		{"column taken twice", false, func(s *solution) { s.column[0] = s.column[1] }},
		{"no column", false, func(s *solution) { s.column[2] = -1 }},
		{"column beyond the last", false, func(s *solution) { s.column[2] = int32(len(s.v)) }},
		{"columns exchanged", false, func(s *solution) { s.column[0], s.column[1] = s.column[1], s.column[0] }},
		{"u too large", false, func(s *solution) { s.u[1]++ }},
		{"u too small", false, func(s *solution) { s.u[1]-- }},
		{"v too large", false, func(s *solution) { s.v[s.column[2]]++ }},
		{"v too small", false, func(s *solution) { s.v[s.column[2]]-- }},
		{"u out of range", false, func(s *solution) { s.u[0] = math.MinInt64 }},
		{"v of a free column", true, func(s *solution) { s.v[free(s)]-- }},
		{"duals shifted", true, func(s *solution) {
			for i := range s.u {
				s.u[i]--
			}
			for j := range s.v {
				s.v[j]++
			}
		}},
	} {
		for k, p := range c.problems {
			if harm.loose && p.rows == p.cols {
				continue
			}
			copy(b.back, good)
			sol, _ := b.solution(k)
			harm.do(sol)
			if err := errors.Join(s.Upload(b.answers, 0, b.back),
				b.kernels.Check(s, device.Grid{Blocks: b.grid.Blocks, Threads: b.grid.Threads}, costs, b.table, b.answers, uint64(b.words)),
				s.Download(b.back, b.answers, 0)); err != nil {
				t.Fatal(err)
			}
			for other, q := range c.problems {
				sol, _ := b.solution(other)
				if err := b.prove(other, q, sol); errors.Is(err, ErrCheck) != (other == k) {
					t.Errorf("%s in problem %d: problem %d is judged %v", harm.name, k, other, err)
				}
			}
		}
	}
}
