package tabu

import (
	"testing"

	"coalesce/generated/qubo"
	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/solvers/qubo/internal/elite"
	"coalesce/solvers/qubo/internal/qubotest"
	"coalesce/solvers/qubo/internal/search"
	"coalesce/solvers/qubo/problem"
	"coalesce/solvers/solve"
)

// Every step of a tabu search from x = 0, by each kind of row, is a best one of
// those that are not tabu or lead to a new best: it is followed on the host.
func TestBulkSteps(t *testing.T) {
	t.Parallel()
	d := emulatedtest.Open(t)
	for _, c := range []struct {
		label string
		n     int
		wide  bool // the gains that the type just holds; else few, so that many are equal
	}{
		{"block=32,items=4,row=int8,cluster=1,searches=0,meet=barrier", 90, false},
		{"block=32,items=4,row=int16,cluster=1,searches=0,meet=barrier", 26, true},
		{"block=32,items=4,row=int32,cluster=1,searches=0,meet=barrier", 26, true},
		{"block=32,items=4,row=int64,cluster=1,searches=0,meet=barrier", 90, false},
		{"block=32,items=4,row=float32,cluster=1,searches=0,meet=barrier", 1, true},
		{"block=32,items=4,row=float32,cluster=1,searches=0,meet=barrier", 26, true},
		{"block=128,items=24,row=float32,cluster=1,searches=4,meet=barrier", 1200, false},
		{"block=32,items=4,row=pairs,cluster=1,searches=0,meet=barrier", 1, true},
		{"block=32,items=4,row=pairs,cluster=1,searches=0,meet=barrier", 26, true},
		{"block=32,items=4,row=pairs,cluster=1,searches=0,meet=barrier", 90, false},
		{"block=32,items=80,row=pairs,cluster=1,searches=0,meet=barrier", 1500, false},
	} {
		var seen stepsSeen
		most := min(80, 4*c.n-3) // one variable: until it is tabu
		for seed := uint64(1); seed <= 20 && !seen.all(c.n, c.wide); seed++ {
			v := qubo.Bulk.Variant(c.label)
			p := qubotest.Dense(c.n, 3, 2, 6, 0.3, seed)
			for i := range p.Diag { // a few variables all over, the others do not pay
				if _, weight := p.Row(i); i%(c.n/24+1) > 0 {
					p.Diag[i] = -6 * int64(len(weight))
				}
			}
			if c.wide {
				p = qubotest.DenseFor(qubo.Bulk.Value(v, "row"), c.n, seed)
			}
			l, err := newIslands([]device.Device{d}, v, p, func(b *Island) parameters {
				return parameters{searches: 1, stall: 1 << 20, tenure: min(18, c.n*2/3), pool: 2, distance: 1}
			})
			if err != nil {
				t.Fatal(err)
			}
			l[0].Without = []string{"random", "cross", "mutate", "majority"} // to an elite that is x: the search begins at once
			l[0].follow(t, most, &seen)
			if err := l[0].Close(); err != nil {
				t.Error(err)
			}
		}
		if !seen.all(c.n, c.wide) {
			t.Errorf("%s, %d variables: %+v: not all there is was seen", c.label, c.n, seen)
		}
	}
}

// Gains as large as a kind of row holds, of either sign, are met on the way and right,
// and larger ones are refused.
func TestBulkLimits(t *testing.T) {
	d := emulatedtest.Open(t)
	for label, most := range map[string]int64{
		"block=32,items=4,row=int8,cluster=1,searches=0,meet=barrier":    1<<23 - 1,
		"block=32,items=4,row=int32,cluster=1,searches=0,meet=barrier":   1<<30 - 1,
		"block=32,items=4,row=float32,cluster=1,searches=0,meet=barrier": 1<<23 - 1,
		"block=32,items=4,row=pairs,cluster=1,searches=0,meet=barrier":   1<<14 - 1,
	} {
		p := &problem.Normal{N: 4, Diag: []int64{most, -most, most - 100, -most}, Start: []int64{0, 0, 0, 1, 2}, Col: []int32{3, 2}, Weight: []int64{100, 100}, Sense: 1, Exact: true}
		v := qubo.Bulk.Variant(label)
		l, err := newIslands([]device.Device{d}, v, p, func(b *Island) parameters {
			return parameters{searches: 1, stall: 1 << 20, tenure: 5, pool: 2, distance: 1}
		})
		if err != nil {
			t.Fatal(err)
		}
		l[0].Without = []string{"random", "cross", "mutate", "majority"}
		l[0].follow(t, 4, &stepsSeen{})
		if err := l[0].Close(); err != nil {
			t.Error(err)
		}
		p.Diag[1]--
		p.Known = nil
		if _, err := needsOf(p).layoutFor(v); err == nil {
			t.Errorf("%s: gains of %d, expected an error", label, most+1)
		}
	}
}

// Coefficients that float32 does not hold are rounded for it where it is asked for by name.
func TestBulkRounded(t *testing.T) {
	d := emulatedtest.Open(t)
	p := qubotest.Dense(40, 1<<36, 1, 1<<38, 0.8, 3)
	p.Exact = false
	e, err := Open(p, search.Setup{Settings: solve.Settings{Devices: []device.Device{d}, Variant: "block=32,items=4,row=float32,cluster=1,searches=0,meet=barrier"}})
	if err != nil {
		t.Fatal(err)
	}
	q := e.Members[0].(search.Rounded).Problem
	if s := q.Spans(); s.Delta > float32s || s.Delta < float32s/4 {
		t.Errorf("gains of up to %d, expected about %d", s.Delta, float32s)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

// stepsSeen counts free steps, tabu steps to a new best, and steps with equals.
type stepsSeen struct{ free, freed, equal int }

func (s stepsSeen) all(n int, wide bool) bool {
	return s.free > 0 && (n == 1 || s.freed > 0) && (wide || s.equal > 0)
}

// follow repeats a search of one step, two, and so on, and holds the last step of each
// against the gains.
func (b *Island) follow(t *testing.T, most int, seen *stepsSeen) {
	p, f := b.p, b.form
	x, gains := make([]uint64, problem.Words(p.N)), make([]int64, p.N)
	tabu, ring, value, top := make([]bool, p.N), []int(nil), int64(0), int64(0)
	for step := range most {
		if err := b.resetPool(search.Options{Start: make([]uint64, problem.Words(p.N))}); err != nil {
			t.Fatal(err)
		}
		if err := b.enqueueRound(search.Options{Seed: 3}, 0, int64(step+1)); err != nil {
			t.Fatal(err)
		}
		if err := b.recompute(); err != nil {
			t.Fatal(err)
		}
		record := make([]uint32, f.record())
		if err := b.streams[0].Download(device.Bytes(record), b.now, 0); err != nil {
			t.Fatal(err)
		}
		next := f.unpack(record, p.N)
		p.Deltas(x, gains)
		best, like := int64(-1<<62), 0
		for i, gain := range gains {
			switch admitted := !tabu[i] || value+gain > top; {
			case admitted && gain > best:
				best, like = gain, 1
			case admitted && gain == best:
				like++
			}
		}
		i := 0
		for i < p.N-1 && problem.Bit(x, i) == problem.Bit(next, i) {
			i++
		}
		if like == 0 || elite.HammingDistance(x, next) != 1 || gains[i] != best || tabu[i] && value+gains[i] <= top {
			t.Fatalf("%s: step %d changes %d variables, the first of them number %d, which gains %d, tabu %v; expected one that gains %d",
				b.variant.Label, step, elite.HammingDistance(x, next), i, gains[i], tabu[i], best)
		}
		switch {
		case tabu[i]:
			seen.freed++
		default:
			seen.free++
		}
		if like > 1 {
			seen.equal++
		}
		for range 2 {
			if len(ring) > b.rules.tenure {
				tabu[ring[0]], ring = false, ring[1:]
			}
		}
		tabu[i], ring = true, append(ring, i)
		x, value = next, value+best
		top = max(top, value)
	}
}
