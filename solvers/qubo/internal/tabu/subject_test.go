package tabu

import (
	"context"
	"errors"
	"strings"
	"testing"

	"coalesce/autotune/tuned"
	"coalesce/autotune/verify"
	"coalesce/generated/qubo"
	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/solvers/qubo/internal/search"
	"coalesce/solvers/qubo/problem"
	"coalesce/solvers/solve"
)

// Every case of the tuner's subject is answered right by a variant of each type of
// row, and a wrong answer is noticed.
func TestBulkSubject(t *testing.T) {
	t.Parallel()
	d := emulatedtest.Open(t)
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	sub := Subject{}
	for _, fixed := range sub.Workloads() {
		label := "block=32,items=4,row=" + fixed["row"] + ",cluster=1,searches=0,meet=barrier"
		if fixed["row"] == "bits" {
			label = strings.Replace(label, "items=4", "items=32", 1)
		}
		v := qubo.Bulk.Variant(label)
		cases, err := sub.Cases(fixed)
		if err != nil {
			t.Fatal(err)
		}
		run, err := sub.Open(d, v)
		if err != nil {
			t.Fatal(err)
		}
		fit := 0
		for _, c := range cases {
			if sub.Feasible(v, d.Facts(), c.Instance.Size()) == nil {
				fit++
			}
		}
		if n, err := verify.Cases(context.Background(), d, s, sub, v, run, cases); err != nil || n != fit || n < 4 {
			t.Errorf("%s: %d of %d cases: %v", v.Label, n, fit, err)
		}
		job, err := run.Prepare(cases[3].Instance)
		if err != nil {
			t.Fatal(err)
		}
		if err := verify.RunPoisoned(s, job); err != nil {
			t.Error(err)
		}
		b := job.(*trialJob).on
		if err := job.Check(&wavering{Stream: s, of: b.scores}); !errors.Is(err, problem.ErrCheck) || !strings.Contains(err.Error(), "a second run") {
			t.Errorf("%s: a second run with other scores passes: %v", v.Label, err)
		}
		if err := verify.RunPoisoned(s, job); err != nil {
			t.Error(err)
		}
		b.p.Diag[0]++
		if err := job.Check(s); !errors.Is(err, problem.ErrCheck) {
			t.Errorf("%s: another problem's gains pass: %v", v.Label, err)
		}
		b.p.Diag[0]--
		b.rules.distance = 98
		if err := b.verifyPool(); b.seen[qubo.BulkControlCount] > 1 && !errors.Is(err, problem.ErrCheck) {
			t.Errorf("%s: elites that are too near pass: %v", v.Label, err)
		}
		if err := job.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, c := range []struct {
		label string
		size  int
		facts device.Facts
		fits  bool
	}{
		{"block=32,items=4,row=int8,cluster=1,searches=0,meet=barrier", 128, device.Facts{}, true},
		{"block=32,items=4,row=int8,cluster=1,searches=0,meet=barrier", 129, device.Facts{}, false},
		{"block=32,items=4,row=int8,cluster=2,searches=0,meet=barrier", 200, device.Facts{Major: 9}, true},
		{"block=32,items=4,row=int8,cluster=2,searches=0,meet=barrier", 200, device.Facts{Major: 8}, false},
		{"block=1024,items=64,row=int8,cluster=1,searches=0,meet=barrier", 60000, device.Facts{Free: 1 << 30}, false},
	} {
		if err := sub.Feasible(qubo.Bulk.Variant(c.label), c.facts, c.size); (err == nil) != c.fits {
			t.Errorf("%d variables in %s on %+v: %v", c.size, c.label, c.facts, err)
		}
	}
}

// A wavering stream changes the second download of a buffer, as a kernel would whose threads do not wait
// for one another.
type wavering struct {
	device.Stream
	of    device.Buffer
	times int
}

func (w *wavering) Download(dst []byte, src device.Buffer, off int64) error {
	err := w.Stream.Download(dst, src, off)
	if src == w.of {
		if w.times++; w.times == 2 {
			dst[0] ^= 1
		}
	}
	return err
}

// TestBulkChoice pins the choice by shape. Winners of tuning come first if they leave little room
// unused.
func TestBulkChoice(t *testing.T) {
	p := newTrial("int8", 2500, 1).p
	shape := func(n int, row string) requirements {
		s := requirements{n: n, weight: 100, delta: 1 << 22, grain: 1}
		switch row {
		case "bits":
			s.weight, s.size = 14, 14
		case "int16":
			s.weight = 1000
		case "int32":
			s.weight = 1 << 20
		case "int64":
			s.weight = 1 << 40
		}
		return s
	}
	hopper, ampere := device.Facts{Kind: device.CUDA, Major: 9}, device.Facts{Kind: device.CUDA, Major: 8}
	for _, c := range []struct {
		facts device.Facts
		needs requirements
		want  string
	}{
		{hopper, shape(120, "int8"), "block=32,items=4,row=int8,cluster=1,searches=0,meet=barrier"},
		{hopper, shape(2500, "int8"), "block=32,items=80,row=int8,cluster=1,searches=0,meet=barrier"},
		{hopper, shape(7000, "int8"), "block=64,items=112,row=int8,cluster=1,searches=0,meet=barrier"},
		{hopper, shape(16384, "int8"), "block=512,items=32,row=int8,cluster=1,searches=0,meet=barrier"},
		{hopper, shape(16385, "int8"), "block=64,items=128,row=int8,cluster=4,searches=0,meet=messages"},
		{hopper, shape(40000, "int8"), "block=64,items=128,row=int8,cluster=8,searches=0,meet=messages"},
		{hopper, shape(20000, "bits"), "block=128,items=64,row=bits,cluster=4,searches=0,meet=messages"},
		{hopper, shape(65536, "bits"), "block=128,items=64,row=bits,cluster=8,searches=0,meet=messages"},
		{hopper, shape(65536, "int16"), "block=128,items=64,row=int16,cluster=8,searches=0,meet=messages"},
		{hopper, shape(65536, "int32"), "block=128,items=32,row=int32,cluster=16,searches=0,meet=messages"},
		{hopper, shape(65536, "int64"), "block=1024,items=64,row=int64,cluster=1,searches=0,meet=barrier"},
		{ampere, shape(40000, "int8"), "block=1024,items=64,row=int8,cluster=1,searches=0,meet=barrier"},
	} {
		v, err := c.needs.variant(c.facts)
		if err != nil {
			t.Errorf("%+v: %v", c.needs, err)
		} else if v.Label != c.want {
			t.Errorf("%+v on %s: %s, want %s", c.needs, c.facts, v.Label, c.want)
		}
	}
	const suits = "block=32,items=80,row=int8,cluster=1,searches=0,meet=barrier"
	const tight, roomy = "block=128,items=20,row=int8,cluster=1,searches=0,meet=barrier", "block=128,items=40,row=int8,cluster=1,searches=0,meet=barrier"
	for _, c := range []struct {
		label       string
		size        int // at which it won
		want, level string
	}{
		{"", p.N, suits, tuned.Predicted},
		{tight, p.N, tight, tuned.Exact},
		{tight, p.N + 1, tight, tuned.Nearest},
		{roomy, p.N, roomy, tuned.Exact},
		{roomy, p.N + 1, suits, tuned.Predicted}, // much room to spare: of other sizes' winners
	} {
		db := &tuned.Database{}
		if v := qubo.Bulk.Variant(c.label); v != nil {
			var err error
			db, err = tuned.New(tuned.Entry{Family: qubo.Bulk.Name, Class: hopper.Class(), Fixed: map[string]string{"row": "int8"}, Size: c.size,
				Protocol: tuned.Protocol, Winner: c.label, Results: []tuned.Result{{Variant: c.label, Hash: tuned.Hash(v.Hash), Nanos: 1000}}})
			if err != nil {
				t.Fatal(err)
			}
		}
		got, err := chooseVariant(hopper, p, search.Setup{Settings: solve.Settings{Tuning: db}})
		if err != nil || got.Variant.Label != c.want || got.Level != c.level {
			t.Errorf("%q tuned at %d: %s by %q (%v), want %s by %q", c.label, c.size, got.Variant.Label, got.Level, err, c.want, c.level)
		}
	}
	if _, err := chooseVariant(ampere, p, search.Setup{Settings: solve.Settings{Variant: "block=32,items=4,row=int8,cluster=2,searches=0,meet=barrier"}}); err == nil {
		t.Error("a variant of clusters, asked for on a device without: no error")
	}
}

// What the subject says a variant is chosen for is what choosing for its problems takes.
func TestBulkWorkload(t *testing.T) {
	hopper := device.Facts{Kind: device.CUDA, Major: 9}
	for _, fixed := range (Subject{}).Workloads() {
		for _, n := range []int{60, 120, 300} {
			w, err := Subject{}.Workload(fixed, hopper, n)
			if err != nil {
				t.Errorf("%v, %d variables: %v", fixed, n, err)
				continue
			}
			c, err := chooseVariant(hopper, newTrial(fixed["row"], n, 1).p, search.Setup{Settings: solve.Settings{Tuning: &tuned.Database{}}})
			if err != nil || w.Size != n || c.Variant != w.Prior.Variant {
				t.Errorf("%v, %d variables: %v with %s, chosen %v, %v", fixed, n, w.Fixed, w.Prior.Variant.Label, c.Variant, err)
			}
			for i := range qubo.Bulk.Variants {
				v := &qubo.Bulk.Variants[i]
				if qubo.Bulk.Value(v, "row") == fixed["row"] && w.HasRoom(v, 3000) != (Subject{}.Feasible(v, hopper, 3000) == nil) {
					t.Errorf("%s: room for 3000 variables: %v", v.Label, w.HasRoom(v, 3000))
				}
			}
		}
	}
	if _, err := (Subject{}).Workload(map[string]string{"row": "int8"}, hopper, 1<<24); err == nil {
		t.Error("more variables than any variant holds: no error")
	}
}
