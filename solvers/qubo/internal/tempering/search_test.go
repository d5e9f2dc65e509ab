package tempering

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"coalesce/autotune/tuned"
	"coalesce/autotune/verify"
	"coalesce/generated/qubo"
	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/solvers/qubo/internal/draw"
	"coalesce/solvers/qubo/internal/qubotest"
	"coalesce/solvers/qubo/internal/reference"
	"coalesce/solvers/qubo/internal/search"
	"coalesce/solvers/qubo/problem"
	"coalesce/solvers/solve"
)

// TestTemperLayout holds the layout against the problem: neighbours, weights and
// colours.
func TestTemperLayout(t *testing.T) {
	for name, p := range qubotest.SparseCases() {
		for _, v := range qubo.Temper.Variants {
			f, err := needsOf(p).layoutFor(&v)
			if err != nil {
				continue
			}
			l, err := f.layout(p)
			if err != nil {
				t.Fatal(err)
			}
			seen, task := make([]bool, p.N), 0
			colour := make([]int, p.N)
			row, negative := map[int32]int64{}, int64(0)
			for c, k := 0, 0; k < len(l.visits)-1; k++ {
				chunk, _ := slices.BinarySearchFunc(l.chunks, uint32(k), func(first, k uint32) int {
					if first <= k {
						return -1
					}
					return 1
				})
				chunk--
				for uint32(chunk) >= l.tasks[task+1] {
					task++
				}
				for uint32(task) >= l.colours[c+1] {
					c++
				}
				v := l.visits[k]
				for e := range slotsOf {
					j := l.order[l.slots[chunk*slotsOf+e]]
					switch {
					case f.unit == 0 && uint32(e) >= v.a && uint32(e) < v.a+v.b:
						row[j] += int64(l.weights[chunk*slotsOf+e])
					case f.unit != 0 && v.b>>e&1 != 0:
						row[j] -= f.unit << f.shift
						negative += f.unit << f.shift
					case f.unit != 0 && v.a>>e&1 != 0:
						row[j] += f.unit << f.shift
					}
				}
				if v.place&qubo.TemperLast == 0 {
					continue
				}
				i := l.order[v.place&^qubo.TemperLast]
				col, weight := p.Row(int(i))
				for e, j := range col {
					if row[j] != weight[e]<<f.shift {
						t.Fatalf("%s, %s: pair %d %d weighs %d, expected %d", name, about(f), i, j, row[j], weight[e]<<f.shift)
					}
					if seen[j] && colour[j] == c {
						t.Fatalf("%s: %d and %d have one colour", name, i, j)
					}
				}
				if seen[i] {
					t.Fatalf("%s: variable %d twice", name, i)
				}
				if base := int64(v.base) + negative; base != p.Diag[i]<<f.shift {
					t.Fatalf("%s: variable %d begins at %d, expected %d", name, i, base, p.Diag[i]<<f.shift)
				}
				negative = 0
				seen[i], colour[i] = true, c
				clear(row)
			}
			if slices.Contains(seen, false) {
				t.Errorf("%s, %s: a variable is not visited", name, about(f))
			}
			x := draw.RandomSolution(rand.New(rand.NewPCG(1, 2)), p.N)
			if !slices.Equal(l.unpack(l.pack(x)), x) {
				t.Errorf("%s: not what was packed", name)
			}
		}
	}
}

func about(f temperForm) string { return fmt.Sprintf("%+v", f) }

func startTemper(t *testing.T, d device.Device, label string, p *problem.Normal, rules settings) *tempering {
	t.Helper()
	v := qubo.Temper.Variant(label)
	if v == nil {
		t.Fatalf("no variant %s", label)
	}
	m, err := newTemper(d, v, p, rules)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// TestTemperVariants holds the words of rounds against the model's, bit by bit.
func TestTemperVariants(t *testing.T) {
	d := emulatedtest.Open(t)
	for _, v := range emulatedtest.Variants(&qubo.Temper) {
		label := v.Label
		for name, p := range qubotest.SparseCases() {
			if _, err := needsOf(p).layoutFor(qubo.Temper.Variant(label)); err != nil || p.N == 0 {
				continue
			}
			t.Run(label+" "+name, func(t *testing.T) {
				const blocks = 2
				m := startTemper(t, d, label, p, settings{blocks, 2})
				var models [blocks]*blockModel
				for b := range models {
					models[b] = newModel(p, m.form, m.layout)
				}
				annealing := make([]int64, qubo.TemperLadderRungs)
				for k := range replicas {
					annealing[qubo.TemperLadderFrom+k], annealing[qubo.TemperLadderTo+k] = m.deviceTemperature(m.needs.temperature), m.deviceTemperature(m.needs.temperature/7)
				}
				m.anneals = 1
				if err := m.uploadLadders(annealing); err != nil {
					t.Fatal(err)
				}
				for number, sweeps := range []int{1, 4} {
					if err := m.enqueueRound(search.Options{Seed: 5, Work: 1}, int64(number), sweeps); err != nil {
						t.Fatal(err)
					}
					for b, model := range models {
						ladder := annealing
						if b == 0 {
							ladder = m.ladder(0)
						}
						model.round(5, number, b, blocks, sweeps, m.every, ladder)
						now, kept := make([]uint32, p.N), make([]uint32, len(model.kept))
						scores := make([]int64, qubo.TemperScoreScores)
						if err := m.streams[0].Download(device.Bytes(now), m.now, int64(4*b*p.N)); err != nil {
							t.Fatal(err)
						}
						if err := m.streams[0].Download(device.Bytes(kept), m.kept, int64(4*b*len(kept))); err != nil {
							t.Fatal(err)
						}
						if err := m.streams[0].Download(device.Bytes(scores), m.scores, int64(8*b*qubo.TemperScoreScores)); err != nil {
							t.Fatal(err)
						}
						if !slices.Equal(now, model.x) {
							t.Fatalf("round %d, block %d: words\n%x, the model's\n%x", number, b, now, model.x)
						}
						want := []int64{model.best, model.flips, int64(sweeps), model.grown[0], model.grown[1]}
						if !slices.Equal(kept, model.kept) || !slices.Equal(scores[:5], want) {
							t.Fatalf("round %d, block %d: kept %x, scores %d; the model's %x, %d", number, b, kept, scores[:5], model.kept, want)
						}
						if v := p.Value(m.layout.unpack(kept)); v<<m.form.shift != scores[qubo.TemperScoreKept] {
							t.Fatalf("kept %d, recomputed %d", scores[qubo.TemperScoreKept]>>m.form.shift, v)
						}
						for k, v := range model.value {
							if got := p.Value(model.solution(k)) << m.form.shift; v != got {
								t.Fatalf("replica %d is at %d, recomputed %d", k, v, got)
							}
						}
					}
				}
			})
		}
	}
}

// TestTemperSearch holds searches against the best of all solutions, one seed
// against itself, and a limit.
func TestTemperSearch(t *testing.T) {
	d := emulatedtest.Open(t)
	ctx := context.Background()
	for _, every := range []int{-1, 3} {
		p := qubotest.Sparse(18, func(i int) int64 { return int64(i%5) - 2 }, func() map[[2]int]int64 {
			pairs := map[[2]int]int64{}
			for k := range 18 {
				pairs[[2]int{min(k, (k+1)%18), max(k, (k+1)%18)}] = 3 - 6*int64(k%2)
				pairs[[2]int{min(k, (k+5)%18), max(k, (k+5)%18)}] = -3
			}
			return pairs
		}())
		best, _ := reference.Exhaust(p)
		m := startTemper(t, d, "block=64,state=shared,weight=unit", p, settings{2, every})
		var values []int64
		did, err := m.Search(ctx, p, search.Options{Began: time.Now(), Target: &best, Seed: 1, Deadline: time.Now().Add(time.Minute)}, qubotest.CollectImprovements(t, p, &values))
		if err != nil || values[len(values)-1] != best {
			t.Fatalf("found %d in %d flips (%v), the best is %d", values, did.Flips, err, best)
		}
		var runs [2][]int64
		var total [2]search.Work
		for k := range runs {
			elites := 0
			o := search.Options{Began: time.Now(), Work: 9000, Seed: 9, Start: []uint64{5}, Elite: func(v int64, x []uint64) {
				if elites++; p.Value(x) != v {
					t.Errorf("an elite of %d, recomputed %d", v, p.Value(x))
				}
			}}
			if total[k], err = m.Search(ctx, p, o, qubotest.CollectImprovements(t, p, &runs[k])); err != nil || elites == 0 {
				t.Fatalf("%d elites, %v", elites, err)
			}
		}
		if !slices.Equal(runs[0], runs[1]) || total[0] != total[1] || total[0].Flips < 9000 || runs[0][0] != p.Value([]uint64{5}) {
			t.Errorf("two runs of one seed: %d %v and %d %v", runs[0], total[0], runs[1], total[1])
		}
		unreachable, began := best+1, time.Now()
		_, err = m.Search(ctx, p, search.Options{Began: began, Target: &unreachable, Deadline: began.Add(80 * time.Millisecond)}, func(int64, []uint64, time.Duration) {})
		if late := time.Since(began); err != nil || late < 80*time.Millisecond || late > 5*time.Second {
			t.Errorf("a limit of 80 ms ended after %v: %v", late, err)
		}
	}
}

// TestTemperCourse holds annealing against what a course is.
func TestTemperCourse(t *testing.T) {
	m := &tempering{temperSetup: temperSetup{needs: requirements{temperature: 2}, form: temperForm{shift: 8}}}
	var c temperCourse
	last, done := int64(1)<<60, 0
	for c.done < c.length || done == 0 {
		sweeps, words := c.advance(m, 50, 0)
		if words[qubo.TemperLadderFrom] > last || words[qubo.TemperLadderTo] > words[qubo.TemperLadderFrom] || sweeps < 1 || sweeps > 50 {
			t.Fatalf("after %d sweeps %d more from %d to %d, before it was %d", done, sweeps, words[qubo.TemperLadderFrom], words[qubo.TemperLadderTo], last)
		}
		last = words[qubo.TemperLadderTo]
		done += sweeps
	}
	if done != annealFirst || last != 0 {
		t.Errorf("%d sweeps to temperature %d, expected %d to 0", done, last, annealFirst)
	}
	if c.advance(m, 50, 600); c.length != 525 {
		t.Errorf("a last course of %d sweeps of 600, expected 525", c.length)
	}
	for c.done < c.length {
		c.advance(m, 50, 600)
	}
	if sweeps, words := c.advance(m, 50, 75); sweeps != 50 || words[qubo.TemperLadderFrom] != m.deviceTemperature(2*annealCold) || words[qubo.TemperLadderTo] != words[qubo.TemperLadderFrom] {
		t.Errorf("after the last course %d sweeps from %d to %d", sweeps, words[qubo.TemperLadderFrom], words[qubo.TemperLadderTo])
	}
}

// Every case of the tuner's subject is answered as by the model, and a wrong
// answer is noticed.
func TestTemperSubject(t *testing.T) {
	d := emulatedtest.Open(t)
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	sub := Subject{}
	for _, fixed := range sub.Workloads() {
		label := "block=64,state=shared,weight=unit"
		if fixed["weight"] != "unit" {
			label = "block=64,state=global,weight=int32"
		}
		v := qubo.Temper.Variant(label)
		cases, err := sub.Cases(fixed)
		if err != nil {
			t.Fatal(err)
		}
		run, err := sub.Open(d, v)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := verify.Cases(context.Background(), d, s, sub, v, run, cases); err != nil || n != len(cases) {
			t.Errorf("%s: %d of %d cases: %v", label, n, len(cases), err)
		}
		job, err := run.Prepare(cases[3].Instance)
		if err != nil {
			t.Fatal(err)
		}
		if err := verify.RunPoisoned(s, job); err != nil {
			t.Error(err)
		}
		job.(*trialJob).sweeps++
		if err := job.Check(s); !errors.Is(err, problem.ErrCheck) {
			t.Errorf("%s: the words of fewer sweeps pass: %v", label, err)
		}
		if err := job.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestTemperChoice pins the variants of some shapes.
func TestTemperChoice(t *testing.T) {
	hopper := device.Facts{Kind: device.CUDA, SharedPerBlock: 227 << 10}
	for _, c := range []struct {
		n      int
		unit   int64
		degree float64
		want   string
	}{
		{100, 2, 12, "block=64,state=shared,weight=unit"},
		{800, 2, 4, "block=128,state=shared,weight=unit"},
		{2000, 2, 12, "block=256,state=shared,weight=unit"},
		{2000, 0, 12, "block=256,state=shared,weight=int32"},
		{8000, 2, 4, "block=512,state=shared,weight=unit"},
		{14000, 2, 4, "block=1024,state=shared,weight=unit"},
		{14000, 2, 12, "block=1024,state=shared,weight=unit"},
		{20000, 2, 4, "block=1024,state=shared,weight=unit"},
		{50000, 2, 12, "block=1024,state=shared,weight=unit"},
		{50000, 2, 4, "block=1024,state=global,weight=unit"},
		{1000000, 0, 12, "block=1024,state=global,weight=int32"},
	} {
		v, err := variantFor(hopper, requirements{n: c.n, unit: c.unit, degree: c.degree, delta: 12, sum: 12 * int64(c.n), temperature: 3})
		if err != nil || v.Label != c.want {
			t.Errorf("%d variables of %g neighbours: %v (%v), want %s", c.n, c.degree, v, err, c.want)
		}
	}
	if _, err := variantFor(hopper, requirements{n: 10, delta: 1 << 40, sum: 1 << 43, temperature: 1 << 39}); err == nil {
		t.Error("gains of 2^40 fit, expected an error")
	}
}

// What the subject says a variant is chosen for is what choosing for its lattices takes.
func TestTemperWorkload(t *testing.T) {
	facts := device.Facts{Kind: device.CUDA, Major: 9, SharedPerBlock: 232448}
	for _, fixed := range (Subject{}).Workloads() {
		for _, side := range []int{3, 30, 120} {
			w, err := Subject{}.Workload(fixed, facts, side*side)
			if err != nil {
				t.Fatal(err)
			}
			c, err := chooseVariant(facts, drawTorus(fixed["weight"], side*side, 1), search.Setup{Settings: solve.Settings{Tuning: &tuned.Database{}}})
			if err != nil || c.Variant != w.Prior.Variant || w.Size != side*side || w.Fixed["weight"] != fixed["weight"] {
				t.Errorf("%v, %d variables: %v with %s, chosen %v, %v", fixed, side*side, w.Fixed, w.Prior.Variant.Label, c.Variant, err)
			}
		}
	}
}
