package tabu

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"coalesce/generated/qubo"
	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/solvers/qubo/internal/draw"
	"coalesce/solvers/qubo/internal/qubotest"
	"coalesce/solvers/qubo/internal/reference"
	"coalesce/solvers/qubo/internal/search"
	"coalesce/solvers/qubo/problem"
)

// fewSearches are rules for tests.
func fewSearches(b *Island) parameters {
	r := b.rules
	r.searches, r.pool, r.flips, r.stall = 3, 4, 3*b.p.N, b.p.N
	return r
}

func startBulk(t *testing.T, d device.Device, v *device.Variant, p *problem.Normal) *Island {
	t.Helper()
	l, err := newIslands([]device.Device{d}, v, p, fewSearches)
	if err != nil {
		t.Fatal(err)
	}
	b := l[0]
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// recompute holds what the device says of every search and elite against the
// coefficients.
func (b *Island) recompute() error { return errors.Join(b.downloadControl(), b.verify(1)) }

// TestBulkVariants holds gains, values and elites of three rounds against the coefficients,
// by one variant of every value of a parameter: one of every pair would be 71 variants.
// A search of more than 512 threads, which a step keeps busy for long, has 33 variables, and one
// of 256 or more makes a quarter of the flips.
func TestBulkVariants(t *testing.T) {
	t.Parallel()
	d := emulatedtest.Open(t)
	list := emulatedtest.SampleVariants(&qubo.Bulk, 1)
	if emulatedtest.EveryVariant() {
		list = emulatedtest.Variants(&qubo.Bulk)
	}
	for _, v := range list {
		t.Run(v.Label, func(t *testing.T) {
			f, err := requirements{}.layoutFor(v)
			if err != nil {
				t.Fatal(err)
			}
			sizes := []int{13, 97}
			if !emulatedtest.EveryVariant() && f.threads() > 512 {
				sizes = []int{33}
			}
			if f.cluster > 1 && f.capacity() <= 256 {
				sizes = append(sizes, f.capacity()-5) // of all blocks
			}
			for _, n := range sizes {
				p := qubotest.DenseFor(f.row, n, uint64(n))
				if f.items > 32 && f.row == "int8" {
					p = qubotest.Dense(n, 127, 1, 300, 0.9, uint64(n)) // odd weights
				}
				b := startBulk(t, d, v, p)
				if err := b.resetPool(search.Options{}); err != nil {
					t.Fatal(err)
				}
				flips := int64(b.rules.flips)
				if !emulatedtest.Thorough() && f.threads() >= 256 {
					flips = flips/4 + 1
				}
				for number := range int64(3) {
					if err := b.enqueueRound(search.Options{Seed: 7}, number, flips); err != nil {
						t.Fatal(err)
					}
					if err := b.recompute(); err != nil {
						t.Fatalf("%d variables, round %d: %v", n, number, err)
					}
				}
			}
		})
	}
}

func TestBulkForm(t *testing.T) {
	for i := range qubo.Bulk.Variants {
		v := &qubo.Bulk.Variants[i]
		f, err := requirements{}.layoutFor(v)
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(3, 4))
		for _, n := range []int{1, f.capacity() - 1, f.capacity()} {
			x := draw.RandomSolution(r, n)
			if !slices.Equal(f.unpack(f.pack(x, n), n), x) {
				t.Errorf("%s: %d variables: not what was packed", v.Label, n)
			}
		}
	}
	if _, err := needsOf(qubotest.Dense(20, 100, 3, 1, 1, 1)).layoutFor(qubo.Bulk.Variant("block=32,items=4,row=int8,cluster=1,searches=0,meet=barrier")); err == nil {
		t.Error("weights of 300 in multiples of 3 fit bytes, expected an error")
	}
}

// bulkVariant is the one for a problem on a device without clusters.
func bulkVariant(p *problem.Normal) (*device.Variant, error) {
	return needsOf(p).variant(device.Facts{})
}

func TestBulkSearch(t *testing.T) {
	d := emulatedtest.Open(t)
	p := qubotest.DenseFor("int8", 20, 5)
	v, err := bulkVariant(p)
	if err != nil {
		t.Fatal(err)
	}
	b := startBulk(t, d, v, p)
	best, _ := reference.Exhaust(p)
	ctx := context.Background()

	var values []int64
	did, err := b.Search(ctx, p, search.Options{Began: time.Now(), Target: &best, Seed: 1, Deadline: time.Now().Add(time.Minute)}, qubotest.CollectImprovements(t, p, &values))
	if err != nil || values[len(values)-1] != best {
		t.Fatalf("found %d in %d flips (%v), the best is %d", values, did.Flips, err, best)
	}

	var runs [2][]int64
	var total [2]search.Work
	for k := range runs {
		total[k], err = b.Search(ctx, p, search.Options{Began: time.Now(), Work: 600, Seed: 9, Start: []uint64{5}}, qubotest.CollectImprovements(t, p, &runs[k]))
		if err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(runs[0], runs[1]) || total[0] != total[1] {
		t.Errorf("two runs of one seed: %d %v and %d %v", runs[0], total[0], runs[1], total[1])
	}
	if runs[0][0] != p.Value([]uint64{5}) || total[0].Flips < 600 || total[0].Flips > 600+3 {
		t.Errorf("began at %d, %d flips; expected %d and 600", runs[0][0], total[0].Flips, p.Value([]uint64{5}))
	}

	unreachable := best + 1
	began := time.Now()
	_, err = b.Search(ctx, p, search.Options{Began: began, Target: &unreachable, Deadline: began.Add(50 * time.Millisecond)}, func(int64, []uint64, time.Duration) {})
	if late := time.Since(began); err != nil || late < 50*time.Millisecond || late > 5*time.Second {
		t.Errorf("a limit of 50 ms ended after %v: %v", late, err)
	}
}

func TestBulkNeeds(t *testing.T) {
	p := qubotest.Dense(90, 50, 4, 1000, 0.5, 3)
	s := p.Spans()
	if got := needsOf(p); got.weight != s.Weight || got.delta != s.Delta || got.grain < 4 || got.n != 90 {
		t.Errorf("needs %+v of spans %+v and multiples of 4", got, s)
	}
}

func TestBulkElites(t *testing.T) {
	d := emulatedtest.Open(t)
	for _, n := range []int{5, 40} {
		p := qubotest.DenseFor("int8", n, 8)
		v, err := bulkVariant(p)
		if err != nil {
			t.Fatal(err)
		}
		b := startBulk(t, d, v, p)
		var values []int64
		elites := 0
		o := search.Options{Began: time.Now(), Work: 3000, Seed: 2, Elite: func(v int64, x []uint64) {
			if elites++; p.Value(x) != v {
				t.Errorf("an elite of %d, recomputed %d", v, p.Value(x))
			}
		}}
		if _, err := b.Search(context.Background(), p, o, qubotest.CollectImprovements(t, p, &values)); err != nil {
			t.Fatal(err)
		}
		if n == 5 {
			if best, _ := reference.Exhaust(p); values[len(values)-1] != best {
				t.Errorf("found %d, the best is %d", values, best)
			}
		}
		if elites == 0 {
			t.Error("no elite was told of")
		}
	}
}
