package qubo

import (
	"context"
	"sync"
	"testing"
	"time"

	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/runtime/host"
	"coalesce/solvers/qubo/problem"
	"coalesce/solvers/solve"
)

// other is a search that knows one solution, and ends the solve beside it when that has
// taken it and given one.
type other struct {
	knows problem.Bits
	end   func()

	mu           sync.Mutex
	given, taken int
	wrong        bool // some solution was not of all variables
}

func (o *other) Send(x problem.Bits) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.given++
	o.wrong = o.wrong || x.Len() != o.knows.Len()
	o.over()
}

func (o *other) Receive() problem.Bits {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.taken++
	o.over()
	if o.taken == 1 {
		return o.knows
	}
	return problem.Bits{}
}

func (o *other) over() {
	if o.given > 0 && o.taken > 1 {
		o.end()
	}
}

// A search gives what it comes to while it runs, and goes on from what it takes: whole
// solutions, where it searches parts one after the other too.
func TestExchange(t *testing.T) {
	one, err := Palubeckis(60, 100, 5)
	if err != nil {
		t.Fatal(err)
	}
	cpu := host.Open(1)
	defer cpu.Close()
	for _, parts := range []int{1, 2} {
		inst := apart(t, one, parts)
		best := solved(t, inst, Options{Work: 300_000})
		for name, d := range map[string]device.Device{"bulk": emulatedtest.Open(t), "host": cpu} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			o := &other{knows: best.Solution, end: cancel}
			r, err := Solve(ctx, inst, Options{Settings: solve.Settings{Devices: []device.Device{d}, Algorithm: name, TimeLimit: time.Hour}, Unreduced: parts == 1, Exchange: o})
			if err != nil {
				t.Fatal(err)
			}
			// The part that is searched first is as good as the other search's.
			if o.given == 0 || o.taken < 2 || o.wrong || float64(parts)*r.Value.Float() < best.Value.Float() {
				t.Errorf("%s, %d parts: took %d times, gave %d, all whole: %t, found %s of %s", name, parts, o.taken, o.given, !o.wrong, r.Value, best.Value)
			}
			cancel()
		}
	}
}

// apart is an instance so many times, side by side.
func apart(t *testing.T, one *problem.Instance, times int) *problem.Instance {
	t.Helper()
	b := problem.NewBuilder(times * one.N)
	b.Maximize()
	x := make([]uint64, (one.N+63)/64)
	unit := func(list ...int) int64 {
		clear(x)
		for _, i := range list {
			x[i>>6] |= 1 << (i & 63)
		}
		return one.ValueInt(x)
	}
	for k := range times {
		for i := range one.N {
			b.LinearInt(k*one.N+i, unit(i))
			for j := range i {
				if c := unit(i, j) - unit(i) - unit(j); c != 0 {
					b.PairInt(k*one.N+i, k*one.N+j, c)
				}
			}
		}
	}
	inst, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return inst
}
