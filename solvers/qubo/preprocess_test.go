package qubo

import (
	"math/rand/v2"
	"testing"
)

// scattered draws a problem of variables with few pairs, those of even and of
// odd number apart. Its linear terms are small, or lean against the pairs so
// that no rule but those of degrees fires.
func scattered(r *rand.Rand, n, pairs int) *normal {
	d := newDraft(1 << 30)
	lean := int64(r.IntN(2))
	for i := range n {
		d.add(i, i, int64(r.IntN(7)-3))
	}
	for range pairs {
		if i, j := r.IntN(n), r.IntN(n); (i-j)%2 == 0 && i != j {
			w := int64(r.IntN(31)-15) * 2
			d.add(i, j, w)
			d.add(i, i, -lean*w/2)
			d.add(j, j, -lean*w/2)
		}
	}
	inst, err := d.instance(n, true)
	if err != nil {
		panic(err)
	}
	p, err := inst.normal()
	if err != nil {
		panic(err)
	}
	return p
}

// What is left, solved exhaustively, gives an optimum of the whole; any
// solution of the parts is worth what reduce says.
func TestReduceKeepsTheOptimum(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	eliminated, fixed, several := 0, 0, 0
	for range 1500 {
		n := 1 + r.IntN(13)
		pairs, given := r.IntN(4*n+1), []int8(nil)
		if r.IntN(3) == 0 {
			n, pairs = 13, 52 // enough for two components without variables of degree 2
		}
		p := scattered(r, n, pairs)
		if n < 13 && r.IntN(3) == 0 {
			given = make([]int8, n)
			for i := range given {
				given[i] = int8(r.IntN(5)) - 3
				given[i] = max(given[i], -1)
			}
		}
		red := reduce(p, given, r.IntN(5) == 0, never)
		best, total := optimum(p, given), red.constant
		solutions := make([][]uint64, len(red.parts))
		for k, c := range red.parts {
			var v int64
			v, solutions[k] = exhaust(c.p)
			if b := c.bound; v > b {
				t.Fatalf("value %d is above the bound %d", v, b)
			}
			total += v
		}
		x := red.restore(solutions)
		if got := p.value(x); got != best || got != total {
			t.Fatalf("n=%d: value %d, told %d, want %d", n, got, total, best)
		}
		for i, v := range given {
			if v >= 0 && int8(bit(x, i)) != v {
				t.Fatalf("variable %d was to be %d", i, v)
			}
		}
		total = red.constant
		for k, c := range red.parts {
			solutions[k] = solution(r, c.p.n)
			total += c.p.value(solutions[k])
		}
		if x = red.restore(solutions); p.value(x) < total || len(red.steps) == 0 && p.value(x) != total {
			t.Fatalf("value %d of any solution, told %d", p.value(x), total)
		}
		for k := range red.parts {
			for v, y := 0, red.project(k, x); v < red.parts[k].p.n; v++ {
				if bit(y, v) != bit(solutions[k], v) {
					t.Fatal("project does not undo restore")
				}
			}
		}
		eliminated += len(red.steps)
		several += max(0, len(red.parts)-1)
		for _, v := range red.fixed {
			if v >= 0 {
				fixed++
			}
		}
	}
	if eliminated < 500 || fixed < 500 || several < 10 {
		t.Errorf("%d eliminated, %d fixed, %d more components: the rules were not tried", eliminated, fixed, several)
	}
}

// Trees and cycles are solved by elimination alone.
func TestReduceSolvesCycles(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	const n = 200000
	d := newDraft(1 << 30)
	for i := range n {
		d.add(i, (i+1)%n, int64(r.IntN(9)-4))
		d.add(i, i, int64(r.IntN(9)-4))
	}
	inst, err := d.instance(n, true)
	if err != nil {
		t.Fatal(err)
	}
	p, err := inst.normal()
	if err != nil {
		t.Fatal(err)
	}
	red := reduce(p, nil, false, never)
	if red.left() > 0 {
		t.Fatalf("%d variables are left of a cycle", red.left())
	}
	if x := red.restore(nil); p.value(x) != red.constant {
		t.Errorf("value %d, told %d", p.value(x), red.constant)
	}
}

// The cut of an even cycle, and of a grid with negative weights turned round,
// meets the bound.
func TestBoundOfBipartiteGraphs(t *testing.T) {
	d := newDraft(1 << 30)
	const side = 4
	for i := range side {
		for j := range side {
			if i+1 < side {
				d.add(i*side+j, (i+1)*side+j, int64(1+i))
			}
			if j+1 < side {
				d.add(i*side+j, i*side+j+1, int64(2+j))
			}
		}
	}
	inst, err := d.instance(side*side, false)
	if err != nil {
		t.Fatal(err)
	}
	inst.Form = MaxCut
	p, err := inst.normal()
	if err != nil {
		t.Fatal(err)
	}
	found := p.measure()
	if v, _ := exhaust(p); v != found.bound() {
		t.Errorf("the cut is %d, the bound %d", v, found.bound())
	}
}
