package tabu

import (
	"context"
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

func startIslands(t *testing.T, devices []device.Device, label string, p *problem.Normal) islandGroup {
	t.Helper()
	l, err := newIslands(devices, qubo.Bulk.Variant(label), p, fewSearches)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

const smallBulk = "block=32,items=4,row=int8,cluster=1,searches=0,meet=barrier"

// all are the islands as searches of one problem.
func (l islandGroup) all() search.Islands {
	var all search.Islands
	for _, b := range l {
		all.Members = append(all.Members, b)
	}
	return all
}

// A run of so much work depends on the seed and the number of islands alone.
func TestIslandsRepeat(t *testing.T) {
	p := qubotest.DenseFor("int8", 97, 3)
	devices := emulatedtest.OpenSeveral(t, 3)
	for count := 2; count <= 3; count++ {
		l := startIslands(t, devices[:count], smallBulk, p)
		var runs [2][]int64
		var did [2]search.Work
		for k := range runs {
			var err error
			flips := int64(6*l[0].rules.flips*l[0].rules.searches) * int64(count)
			did[k], err = l.all().Search(context.Background(), p, search.Options{Began: time.Now(), Work: flips, Seed: 5}, qubotest.CollectImprovements(t, p, &runs[k]))
			if err != nil || did[k].Flips < flips {
				t.Fatalf("%d flips of %d: %v", did[k].Flips, flips, err)
			}
			for number, b := range l {
				if err := b.recompute(); err != nil {
					t.Errorf("%d islands, number %d: %v", count, number, err)
				}
			}
			for _, b := range l[1:] {
				if slices.Equal(b.seen, l[0].seen) {
					t.Error("two islands went the same way")
				}
			}
		}
		if !slices.Equal(runs[0], runs[1]) || did[0] != did[1] {
			t.Errorf("two runs of %d islands: %v %v and %v %v", count, runs[0], did[0], runs[1], did[1])
		}
	}
}

// A search that finds nothing better for some rounds begins anew, and its flips
// and its best stay.
func TestIslandBeginsAnew(t *testing.T) {
	p := qubotest.DenseFor("int8", 97, 3)
	b := startBulk(t, emulatedtest.Open(t), qubo.Bulk.Variant(smallBulk), p)
	flips := int64(4 * idleLimit * b.rules.flips * b.rules.searches)
	var found []int64
	elites := 0
	did, err := b.Search(context.Background(), p, search.Options{Began: time.Now(), Work: flips, Seed: 5, Elite: func(v int64, x []uint64) {
		elites++
		if p.Value(x) != v {
			t.Errorf("an elite of %d, expected %d", p.Value(x), v)
		}
	}}, qubotest.CollectImprovements(t, p, &found))
	if err != nil || did.Flips < flips {
		t.Fatalf("%d flips of %d (%v)", did.Flips, flips, err)
	}
	if b.life == 0 || b.seen[qubo.BulkControlRounds] >= 4*idleLimit {
		t.Errorf("began anew %d times, its last life has %d rounds", b.life, b.seen[qubo.BulkControlRounds])
	}
	if err := b.recompute(); err != nil {
		t.Error(err)
	}
	if best := found[len(found)-1]; !slices.IsSorted(found) || best < b.seen[qubo.BulkControlBest] || elites < 2 {
		t.Errorf("best %v, %d elites", found, elites)
	}
}

// Elites of another search enter the pool, the best of them, and earn no operator's credit.
func TestElitesOfOthers(t *testing.T) {
	p := qubotest.DenseFor("int8", 128, 3)
	l := startIslands(t, emulatedtest.OpenSeveral(t, 2), smallBulk, p)
	for k, b := range l {
		if err := b.resetPool(search.Options{}); err != nil {
			t.Fatal(err)
		}
		for number := range int64(3) {
			if err := b.enqueueRound(search.Options{Seed: 7 + uint64(k)}, number, 25); err != nil {
				t.Fatal(err)
			}
		}
		if err := b.downloadControl(); err != nil {
			t.Fatal(err)
		}
	}
	b, before, from := l[0], slices.Clone(l[0].seen), l[1].seen
	elites := make([]byte, from[qubo.BulkControlCount]*int64(4*b.form.record()))
	if err := l[1].streams[0].Download(elites, l[1].elites, 0); err != nil {
		t.Fatal(err)
	}
	if err := b.admit(from[qubo.BulkControlValues:][:from[qubo.BulkControlCount]], elites); err != nil {
		t.Fatal(err)
	}
	if err := b.recompute(); err != nil {
		t.Errorf("after the exchange: %v", err)
	}
	if got, most := b.seen[qubo.BulkControlBest], max(before[qubo.BulkControlBest], from[qubo.BulkControlBest]); got != most {
		t.Errorf("%d at best, the other's best was %d and its own %d", got, from[qubo.BulkControlBest], before[qubo.BulkControlBest])
	}
	if !slices.Equal(b.seen[qubo.BulkControlWeights:][:qubo.BulkOperatorOperators], before[qubo.BulkControlWeights:][:qubo.BulkOperatorOperators]) || b.seen[qubo.BulkControlFlips] != before[qubo.BulkControlFlips] {
		t.Error("migrants changed the operators' weights or the flips")
	}
	if b.seen[qubo.BulkControlEntered] == before[qubo.BulkControlEntered] {
		t.Error("no elite entered the pool")
	}
}

// A search gives what it finds, and lets in what others give: nothing is left to
// find for one that is given the best.
func TestBulkGivesAndTakes(t *testing.T) {
	p := qubotest.DenseFor("int8", 20, 5)
	l := startIslands(t, []device.Device{emulatedtest.Open(t)}, smallBulk, p)
	best, x := reference.Exhaust(p)
	var given, values []int64
	gifts := [][]uint64{x}
	o := search.Options{Began: time.Now(), Work: 3, Seed: 1,
		Give: func(x []uint64) { given = append(given, p.Value(x)) },
		Take: func() []uint64 {
			if len(gifts) == 0 {
				return nil
			}
			x := gifts[0]
			gifts = gifts[1:]
			return x
		}}
	if _, err := l[0].Search(context.Background(), p, o, qubotest.CollectImprovements(t, p, &values)); err != nil {
		t.Fatal(err)
	}
	if len(gifts) > 0 || values[len(values)-1] != best || !slices.Equal(given, values[1:]) {
		t.Errorf("found %d and gave %d, was given %d", values, given, best)
	}
	if err := l[0].recompute(); err != nil {
		t.Error(err)
	}
}

// A search that is given something before every round keeps its pool right.
func TestBulkTakesEveryRound(t *testing.T) {
	p := qubotest.DenseFor("int8", 128, 3)
	b := startBulk(t, emulatedtest.Open(t), qubo.Bulk.Variant(smallBulk), p)
	b.rules.flips = 20
	r := rand.New(rand.NewPCG(1, 2))
	var values []int64
	o := search.Options{Began: time.Now(), Work: 14 * 20 * int64(b.rules.searches), Seed: 1, Take: func() []uint64 { return draw.RandomSolution(r, p.N) }}
	did, err := b.Search(context.Background(), p, o, qubotest.CollectImprovements(t, p, &values))
	if err != nil || did.Restarts < 8*int64(b.rules.searches) {
		t.Fatalf("%+v: %v", did, err)
	}
	if err := b.recompute(); err != nil {
		t.Error(err)
	}
}

// One island that meets the target ends the others; so do time and ctx.
func TestIslandsEnd(t *testing.T) {
	p := qubotest.DenseFor("int8", 20, 5)
	l := startIslands(t, emulatedtest.OpenSeveral(t, 2), smallBulk, p)
	best, _ := reference.Exhaust(p)
	var values []int64
	o := search.Options{Began: time.Now(), Target: &best, Seed: 1, Deadline: time.Now().Add(time.Minute)}
	if did, err := l.all().Search(context.Background(), p, o, qubotest.CollectImprovements(t, p, &values)); err != nil || values[len(values)-1] != best {
		t.Fatalf("found %d in %d flips (%v), the best is %d", values, did.Flips, err, best)
	}
	unreachable := best + 1
	for _, limit := range []time.Duration{50 * time.Millisecond, 0} {
		began := time.Now()
		ctx, cancel := context.WithCancel(context.Background())
		o := search.Options{Began: began, Target: &unreachable}
		if limit > 0 {
			o.Deadline = began.Add(limit)
		} else {
			time.AfterFunc(50*time.Millisecond, cancel)
		}
		_, err := l.all().Search(ctx, p, o, func(int64, []uint64, time.Duration) {})
		if late := time.Since(began); err != nil || late < 50*time.Millisecond || late > 5*time.Second {
			t.Errorf("an end after 50 ms came after %v: %v", late, err)
		}
		cancel()
	}
}
