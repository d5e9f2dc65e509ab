package assignment

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"coalesce/autotune/tuned"
	"coalesce/generated/assignment"
	"coalesce/runtime/collective"
	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/runtime/host"
)

// shardCases are those of all families, and some with a limit and repairs.
func shardCases(t *testing.T, value Value, small int) map[string]*normal {
	t.Helper()
	cases := treeCases(t, value, small)
	r := rand.New(rand.NewPCG(4, 81))
	for k := 0; k < small; {
		inst, err := draw(r, 14)
		if err != nil {
			t.Fatal(err)
		}
		if inst.Type != value || inst.Limit == nil || !inst.Dense() {
			continue
		}
		p, err := normalise(inst)
		if err != nil {
			t.Fatal(err)
		}
		cases[fmt.Sprintf("limit %d, %d x %d", k, inst.Rows, inst.Cols)] = p
		k++
	}
	return cases
}

// shardsAgree solves every case on a group of n devices, without and with a
// start, and checks the certificate over the shards.
func shardsAgree(t *testing.T, n int, f *device.Family, value Value, open func(*collective.Group, *device.Variant, int, int) (shardedEngine, error), cases map[string]*normal) {
	t.Helper()
	devices := emulatedtest.Several(t, n)
	db, err := tuned.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(4, 80))
	for name, p := range cases {
		want := far
		if s, err := reference(p, nil); err == nil {
			if want, err = prove(p, s); err != nil {
				t.Fatal(name, err)
			}
		}
		g, err := collective.Open(devices)
		if err != nil {
			t.Fatal(name, err)
		}
		e, err := open(g, safeOf(f, value), p.rows, p.cols)
		if err != nil {
			t.Fatal(name, err)
		}
		c := &spreading{group: g, engine: e}
		if err := c.take(p, Options{Database: db}); err != nil {
			t.Fatal(name, err)
		}
		if err := c.upload(context.Background(), p.inst.Bytes()); err != nil {
			t.Fatal(name, err)
		}
		for _, from := range []*duals{nil, startOf(p, r)} {
			err := agrees(p, from, func(p *normal, start *duals) (*solution, error) {
				sol, err := e.solve(context.Background(), p, c.costs, start)
				if err != nil || p.rows == 0 {
					return sol, err
				}
				_, err = checkShards(context.Background(), p, c.checks, sol)
				return sol, err
			}, want)
			if err != nil {
				t.Errorf("%d devices, %s, start %v: %v", n, name, from != nil, err)
			}
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

// safeOf is a family's safe variant for a type of costs.
func safeOf(f *device.Family, value Value) *device.Variant {
	for i := range f.Variants {
		if v := &f.Variants[i]; v.Safe && f.Value(v, "value") == string(value) {
			return v
		}
	}
	return nil
}

func TestCoreOnSeveralDevices(t *testing.T) {
	for n, value := range map[int]Value{1: Int64, 2: Int32, 3: Float64} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			shardsAgree(t, n, &assignment.Core, value, newCoreShards, shardCases(t, value, 6))
		})
	}
}

func TestCoreLimits(t *testing.T) {
	d := emulatedtest.Open(t)
	for name, p := range shardCases(t, Int64, 8) {
		if p.limit == far {
			continue
		}
		want, err := reference(p, nil)
		if err != nil {
			t.Fatal(name, err)
		}
		total, err := prove(p, want)
		if err != nil {
			t.Fatal(name, err)
		}
		if err := coreAgrees(t, d, safeOf(&assignment.Core, Int64), p, nil, total); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSolveSharded(t *testing.T) {
	devices := emulatedtest.Several(t, 3)
	inst, err := Generate("uniform", 50, 61, 100, 1<<40, Int32)
	if err != nil {
		t.Fatal(err)
	}
	want, err := Solve(context.Background(), host.Open(1), inst, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, transposed := range []bool{false, true} {
		if transposed {
			inst = inst.transpose()
		}
		r, err := SolveSharded(context.Background(), devices, inst, Options{Duals: true})
		if err != nil {
			t.Fatal(err)
		}
		if r.Exact != want.Exact || !r.Proven || r.Certificate.By == "host" || r.Counts.Stages == (Stages{}) {
			t.Errorf("found %s by %s, certificate %+v, stages %+v, want %s", r.Exact, r.Variant, r.Certificate, r.Counts.Stages, want.Exact)
		}
	}
	big := &Instance{Rows: 1 << 20, Cols: 1 << 20, Type: Int32}
	err = fitsTogether(devices, &normal{inst: big, rows: big.Rows, cols: big.Cols})
	if !errors.Is(err, device.ErrMemory) || !strings.Contains(err.Error(), "enough for about 28377 x 28377") {
		t.Errorf("refusal: %v", err)
	}
}

func TestDrawnOnDevices(t *testing.T) {
	devices := emulatedtest.Several(t, 2)
	for _, value := range []Value{Int32, Float64} {
		w := Drawing{Kind: "uniform", Rows: 33, Cols: 40, Seed: 1 << 40, Type: value}
		inst, err := Draw(w)
		if err != nil {
			t.Fatal(err)
		}
		want, err := Solve(context.Background(), host.Open(1), inst, Options{})
		if err != nil {
			t.Fatal(err)
		}
		d, err := OpenDrawnSharded(context.Background(), devices, w, Options{})
		if err != nil {
			t.Fatal(err)
		}
		at := 0
		for k, m := range d.job.spread.costs {
			costs := make([]byte, m.costs.Len())
			if err := d.job.spread.group.Streams[k].Download(costs, m.costs, 0); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(costs, inst.Bytes()[at:at+len(costs)]) {
				t.Errorf("%s: device %d drew other costs", value, k)
			}
			at += len(costs)
		}
		r, err := d.Solve(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if r.Exact != want.Exact || !r.Proven {
			t.Errorf("%s: found %s, want %s", value, r.Exact, want.Exact)
		}
		alone, err := OpenDrawn(context.Background(), devices[0], w, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r, err = alone.Solve(context.Background()); err != nil || r.Exact != want.Exact {
			t.Errorf("%s: %v: one device found %s, want %s", value, err, r.Exact, want.Exact)
		}
		if err := errors.Join(d.Close(), alone.Close()); err != nil {
			t.Error(err)
		}
	}
}

// What core gives up another family solves, where the costs are.
func TestShardedSuccessor(t *testing.T) {
	devices := emulatedtest.Several(t, 2)
	inst, err := Generate("uniform", 30, 30, 100, 1<<40, Int32)
	if err != nil {
		t.Fatal(err)
	}
	for _, limit := range []*float64{nil, new(float64)} {
		if inst.Limit = limit; limit != nil {
			*limit = 5 // only the host's method takes it
		}
		want, err := Solve(context.Background(), host.Open(1), inst, Options{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := OpenSharded(context.Background(), devices, inst, Options{})
		if err != nil {
			t.Fatal(err)
		}
		s.job.spread.engine.(*coreShards).schedule.rounds = 0
		r, err := s.Solve(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		next := "assignment/classical"
		if limit != nil {
			next = "host"
		}
		if r.Exact != want.Exact || !r.Proven || !strings.HasPrefix(r.Counts.Switch, next) {
			t.Errorf("found %s by %q, want %s by %s", r.Exact, r.Counts.Switch, want.Exact, next)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
