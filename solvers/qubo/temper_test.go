package qubo

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"coalesce/autotune/verify"
	"coalesce/generated/qubo"
	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
)

// sparseProblem makes a problem of pairs, each with its weight.
func sparseProblem(n int, diag func(i int) int64, pairs map[[2]int]int64) *normal {
	p := &normal{n: n, start: make([]int64, n+1), diag: make([]int64, n), scale: 1, sense: 1, exact: true}
	for i := range n {
		p.diag[i] = diag(i)
		for j := range n {
			if w := pairs[[2]int{min(i, j), max(i, j)}]; w != 0 && i != j {
				p.col, p.weight = append(p.col, int32(j)), append(p.weight, w)
			}
		}
		p.start[i+1] = int64(len(p.col))
	}
	return p
}

// temperCases are problems that break layouts and moves.
func temperCases() map[string]*normal {
	r := rand.New(rand.NewPCG(8, 9))
	small := func(int) int64 { return r.Int64N(9) - 4 }
	none := func(int) int64 { return 0 }
	torus, star, ring, odd, two := map[[2]int]int64{}, map[[2]int]int64{}, map[[2]int]int64{}, map[[2]int]int64{}, map[[2]int]int64{}
	const side = 8
	for a := range side {
		for b := range side {
			for _, to := range []int{a*side + (b+1)%side, (a+1)%side*side + b} {
				torus[[2]int{min(a*side+b, to), max(a*side+b, to)}] = 2 - 4*r.Int64N(2)
			}
		}
	}
	for k := 1; k < 80; k++ {
		star[[2]int{0, k}] = 3 - 6*r.Int64N(2)
		ring[[2]int{k - 1, k}] = 5
		two[[2]int{k - 1, k}] = int64(k%3+1) * (2 - 4*r.Int64N(2))
	}
	ring[[2]int{0, 79}] = -5
	for range 150 {
		a, b := r.IntN(40), r.IntN(40)
		odd[[2]int{min(a, b), max(a, b)}] = r.Int64N(2000) - 1000
	}
	return map[string]*normal{
		"no variable": sparseProblem(0, none, nil), "one": sparseProblem(1, small, nil), "two": sparseProblem(2, none, map[[2]int]int64{{0, 1}: -7}),
		"torus": sparseProblem(side*side, none, torus), "star": sparseProblem(80, small, star), "ring": sparseProblem(80, small, ring),
		"weights": sparseProblem(40, small, odd), "several units": sparseProblem(80, small, two), "no pair": sparseProblem(33, small, nil),
		"complete": bulkProblem(37, 1, 6, 20, 1, 4), "large": bulkProblem(20, 1<<20, 3, 1<<20, 0.5, 4),
	}
}

// TestTemperLayout holds the layout against the problem: neighbours, weights and
// colours.
func TestTemperLayout(t *testing.T) {
	for name, p := range temperCases() {
		for _, v := range qubo.Temper.Variants {
			f, err := p.temperNeeds().form(&v)
			if err != nil {
				continue
			}
			l, err := f.layout(p)
			if err != nil {
				t.Fatal(err)
			}
			seen, task := make([]bool, p.n), 0
			colour := make([]int, p.n)
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
				if v.place&temperLast == 0 {
					continue
				}
				i := l.order[v.place&^temperLast]
				col, weight := p.row(int(i))
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
				if base := int64(v.base) + negative; base != p.diag[i]<<f.shift {
					t.Fatalf("%s: variable %d begins at %d, expected %d", name, i, base, p.diag[i]<<f.shift)
				}
				negative = 0
				seen[i], colour[i] = true, c
				clear(row)
			}
			if slices.Contains(seen, false) {
				t.Errorf("%s, %s: a variable is not visited", name, about(f))
			}
			x := randomBits(rand.New(rand.NewPCG(1, 2)), p.n)
			if !slices.Equal(l.unpack(l.pack(x)), x) {
				t.Errorf("%s: not what was packed", name)
			}
		}
	}
}

func about(f temperForm) string { return fmt.Sprintf("%+v", f) }

func startTemper(t *testing.T, d device.Device, label string, p *normal, rules temperRules) *temper {
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

// TestTemperRound holds the words of rounds against the model's, bit by bit.
func TestTemperRound(t *testing.T) {
	d := emulatedtest.Open(t)
	labels := []string{"block=64,state=shared,weight=unit", "block=64,state=global,weight=int32"}
	if emulatedtest.Every {
		labels = nil
		for _, v := range qubo.Temper.Variants {
			labels = append(labels, v.Label)
		}
	}
	for _, label := range labels {
		for name, p := range temperCases() {
			if _, err := p.temperNeeds().form(qubo.Temper.Variant(label)); err != nil || p.n == 0 {
				continue
			}
			t.Run(label+" "+name, func(t *testing.T) {
				const blocks = 2
				m := startTemper(t, d, label, p, temperRules{blocks, 2})
				var models [blocks]*temperModel
				for b := range models {
					models[b] = newTemperModel(p, m.form, m.layout)
				}
				annealing := make([]int64, ladderSize)
				for k := range replicas {
					annealing[ladderFrom+k], annealing[ladderTo+k] = m.rung(m.needs.temperature), m.rung(m.needs.temperature/7)
				}
				m.anneals = 1
				if err := m.upload(annealing); err != nil {
					t.Fatal(err)
				}
				for number, sweeps := range []int{1, 4} {
					if err := m.round(searchOptions{seed: 5, work: 1}, int64(number), sweeps); err != nil {
						t.Fatal(err)
					}
					for b, model := range models {
						ladder := annealing
						if b == 0 {
							ladder = m.ladder(0)
						}
						model.round(5, number, b, blocks, sweeps, m.every, ladder)
						now, kept := make([]uint32, p.n), make([]uint32, len(model.kept))
						scores := make([]int64, temperScores)
						if err := m.streams[0].Download(rawBytes(now), m.now, int64(4*b*p.n)); err != nil {
							t.Fatal(err)
						}
						if err := m.streams[0].Download(rawBytes(kept), m.kept, int64(4*b*len(kept))); err != nil {
							t.Fatal(err)
						}
						if err := m.streams[0].Download(rawBytes(scores), m.scores, int64(8*b*temperScores)); err != nil {
							t.Fatal(err)
						}
						if !slices.Equal(now, model.x) {
							t.Fatalf("round %d, block %d: words\n%x, the model's\n%x", number, b, now, model.x)
						}
						want := []int64{model.best, model.flips, int64(sweeps), model.grown[0], model.grown[1]}
						if !slices.Equal(kept, model.kept) || !slices.Equal(scores[:5], want) {
							t.Fatalf("round %d, block %d: kept %x, scores %d; the model's %x, %d", number, b, kept, scores[:5], model.kept, want)
						}
						if v := p.value(m.layout.unpack(kept)); v<<m.form.shift != scores[temperKept] {
							t.Fatalf("kept %d, recomputed %d", scores[temperKept]>>m.form.shift, v)
						}
						for k, v := range model.value {
							if got := p.value(model.solution(k)) << m.form.shift; v != got {
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
		p := sparseProblem(18, func(i int) int64 { return int64(i%5) - 2 }, func() map[[2]int]int64 {
			pairs := map[[2]int]int64{}
			for k := range 18 {
				pairs[[2]int{min(k, (k+1)%18), max(k, (k+1)%18)}] = 3 - 6*int64(k%2)
				pairs[[2]int{min(k, (k+5)%18), max(k, (k+5)%18)}] = -3
			}
			return pairs
		}())
		best, _ := exhaust(p)
		m := startTemper(t, d, "block=64,state=shared,weight=unit", p, temperRules{2, every})
		var values []int64
		did, err := m.search(ctx, p, searchOptions{began: time.Now(), target: &best, seed: 1, deadline: time.Now().Add(time.Minute)}, bulkFound(t, p, &values))
		if err != nil || values[len(values)-1] != best {
			t.Fatalf("found %d in %d flips (%v), the best is %d", values, did.Flips, err, best)
		}
		var runs [2][]int64
		var total [2]work
		for k := range runs {
			elites := 0
			o := searchOptions{began: time.Now(), work: 9000, seed: 9, start: []uint64{5}, elite: func(v int64, x []uint64) {
				if elites++; p.value(x) != v {
					t.Errorf("an elite of %d, recomputed %d", v, p.value(x))
				}
			}}
			if total[k], err = m.search(ctx, p, o, bulkFound(t, p, &runs[k])); err != nil || elites == 0 {
				t.Fatalf("%d elites, %v", elites, err)
			}
		}
		if !slices.Equal(runs[0], runs[1]) || total[0] != total[1] || total[0].Flips < 9000 || runs[0][0] != p.value([]uint64{5}) {
			t.Errorf("two runs of one seed: %d %v and %d %v", runs[0], total[0], runs[1], total[1])
		}
		unreachable, began := best+1, time.Now()
		_, err = m.search(ctx, p, searchOptions{began: began, target: &unreachable, deadline: began.Add(80 * time.Millisecond)}, func(int64, []uint64, time.Duration) {})
		if late := time.Since(began); err != nil || late < 80*time.Millisecond || late > 5*time.Second {
			t.Errorf("a limit of 80 ms ended after %v: %v", late, err)
		}
	}
}

// TestTemperCourse holds annealing against what a course is.
func TestTemperCourse(t *testing.T) {
	m := &temper{needs: temperNeeds{temperature: 2}, form: temperForm{shift: 8}}
	var c temperCourse
	last, done := int64(1)<<60, 0
	for c.done < c.length || done == 0 {
		sweeps, words := c.step(m, 50, 0)
		if words[ladderFrom] > last || words[ladderTo] > words[ladderFrom] || sweeps < 1 || sweeps > 50 {
			t.Fatalf("after %d sweeps %d more from %d to %d, before it was %d", done, sweeps, words[ladderFrom], words[ladderTo], last)
		}
		last = words[ladderTo]
		done += sweeps
	}
	if done != annealFirst || last != 0 {
		t.Errorf("%d sweeps to temperature %d, expected %d to 0", done, last, annealFirst)
	}
	if c.step(m, 50, 600); c.length != 525 {
		t.Errorf("a last course of %d sweeps of 600, expected 525", c.length)
	}
	for c.done < c.length {
		c.step(m, 50, 600)
	}
	if sweeps, words := c.step(m, 50, 75); sweeps != 50 || words[ladderFrom] != m.rung(2*annealCold) || words[ladderTo] != words[ladderFrom] {
		t.Errorf("after the last course %d sweeps from %d to %d", sweeps, words[ladderFrom], words[ladderTo])
	}
}

func TestExchange(t *testing.T) {
	var e exchange
	give, take := e.member(0)
	other, read := e.member(1)
	if take() != nil || read() != nil {
		t.Error("an empty exchange has something")
	}
	x := []uint64{7}
	give(x)
	x[0] = 8
	if got := read(); len(got) != 1 || got[0] != 7 {
		t.Errorf("took %d, 7 was given", got)
	}
	if read() != nil || take() != nil {
		t.Error("what was taken, or given by oneself, came again")
	}
	for k := range uint64(3 * postsMost) {
		other([]uint64{k})
	}
	if got := take(); got[0] != 3*postsMost-1 || take() != nil || len(e.posts) != postsMost {
		t.Errorf("took %d of %d posts, expected the last given", got, len(e.posts))
	}
}

// TestTemperEngine holds the engine, and the team, against the best of all
// solutions, also where coefficients are rounded.
func TestTemperEngine(t *testing.T) {
	d := emulatedtest.Open(t)
	r := rand.New(rand.NewPCG(4, 4))
	for _, size := range []int64{1, 90, 1 << 40} {
		p := sparseProblem(20, func(int) int64 { return r.Int64N(5) }, func() map[[2]int]int64 {
			pairs := map[[2]int]int64{}
			for k := range 20 {
				pairs[[2]int{min(k, (k+1)%20), max(k, (k+1)%20)}] = -r.Int64N(size) - 1
			}
			return pairs
		}())
		for k := range p.diag {
			p.diag[k] *= size
		}
		best, _ := exhaust(p)
		for name, open := range map[string]func(device.Device, *normal, Options) (opened, error){"temper": openTemperEngine, "team": openTeam} {
			e, err := open(d, p, Options{Others: []device.Device{d}[:int(size%2)]})
			if err != nil {
				t.Fatal(err)
			}
			var values []int64
			o := searchOptions{began: time.Now(), target: &best, seed: 3, workers: 1, deadline: time.Now().Add(time.Minute)}
			if _, err := e.search.search(context.Background(), p, o, bulkFound(t, p, &values)); err != nil || values[len(values)-1] != best {
				t.Errorf("%s, weights up to %d, %s: found %d (%v), the best is %d", name, size, e.label, values, err, best)
			}
			if err := e.close(); err != nil {
				t.Error(err)
			}
		}
	}
	dense := bulkProblem(30, 4, 1, 4, 1, 1)
	if e, err := openTeam(d, dense, Options{}); err != nil || sparse(dense) || temperLabel(e.label) {
		t.Errorf("a dense problem is searched by %s (%v)", e.label, err)
	} else if err := e.close(); err != nil {
		t.Error(err)
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
	sub := tunableTemper{}
	for _, fixed := range sub.Fixed() {
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
		if err := verify.Once(s, job); err != nil {
			t.Error(err)
		}
		job.(*temperJob).sweeps++
		if err := job.Check(s); !errors.Is(err, ErrCheck) {
			t.Errorf("%s: the words of fewer sweeps pass: %v", label, err)
		}
		if err := job.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestCross holds combined solutions against the coefficients and against the
// best side of each component.
func TestCross(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for name, p := range temperCases() {
		pool := newPool(p, 0)
		c := newCrosser(p, pool.mirror)
		for range 50 {
			x, y := randomBits(r, p.n), randomBits(r, p.n)
			before, other := p.value(x), p.value(y)
			gained := c.cross(x, y)
			if v := p.value(x); v != before+gained || v < max(before, other) {
				t.Fatalf("%s: %d and %d made %d, which gained %d", name, before, other, v, gained)
			}
		}
	}
	// Each of many small components has its best side in one of two solutions.
	p := sparseProblem(60, func(int) int64 { return r.Int64N(9) - 4 }, func() map[[2]int]int64 {
		pairs := map[[2]int]int64{}
		for k := 0; k < 60; k += 3 {
			pairs[[2]int{k, k + 1}], pairs[[2]int{k + 1, k + 2}] = r.Int64N(9)-4, r.Int64N(9)-4
		}
		return pairs
	}())
	x, y := randomBits(r, p.n), randomBits(r, p.n)
	var want int64
	for k := 0; k < 60; k += 3 {
		part := func(x []uint64) int64 {
			only := make([]uint64, 1)
			only[0] = x[0] & (7 << k)
			return p.value(only)
		}
		want += max(part(x), part(y))
	}
	newCrosser(p, false).cross(x, y)
	if v := p.value(x); v < want {
		t.Errorf("combined to %d, the better sides make %d", v, want)
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
		{14000, 2, 12, "block=512,state=shared,weight=unit"},
		{20000, 2, 4, "block=1024,state=shared,weight=unit"},
		{50000, 2, 12, "block=1024,state=shared,weight=unit"},
		{50000, 2, 4, "block=1024,state=global,weight=unit"},
		{1000000, 0, 12, "block=1024,state=global,weight=int32"},
	} {
		v, err := temperVariant(hopper, temperNeeds{n: c.n, unit: c.unit, degree: c.degree, delta: 12, sum: 12 * int64(c.n), temperature: 3})
		if err != nil || v.Label != c.want {
			t.Errorf("%d variables of %g neighbours: %v (%v), want %s", c.n, c.degree, v, err, c.want)
		}
	}
	if _, err := temperVariant(hopper, temperNeeds{n: 10, delta: 1 << 40, sum: 1 << 43, temperature: 1 << 39}); err == nil {
		t.Error("gains of 2^40 fit, expected an error")
	}
}
