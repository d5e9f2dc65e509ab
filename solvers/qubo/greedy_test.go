package qubo

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"coalesce/runtime/device"
	"coalesce/runtime/host"
	"coalesce/solvers/qubo/problem"
	"coalesce/solvers/solve"
)

// A solve that ends before its search found anything has the solution of one pass over the coefficients, not all zeros.
func TestEndedBeforeTheSearch(t *testing.T) {
	d := host.Open(1)
	defer d.Close()
	random := rand.New(rand.NewPCG(3, 3))
	const n = 300
	for name, enter := range map[string]func(b *problem.Builder){
		"dense": func(b *problem.Builder) {
			for i := range n {
				b.LinearInt(i, random.Int64N(201)-100)
				for j := range i {
					b.PairInt(j, i, random.Int64N(201)-100)
				}
			}
		},
		"losses alone, gains together": func(b *problem.Builder) {
			for i := range n {
				b.LinearInt(i, -7)
				for j := range i {
					b.PairInt(j, i, 1+random.Int64N(3))
				}
			}
		},
		"no linear terms": func(b *problem.Builder) {
			for i := range n {
				for j := range i {
					b.PairInt(j, i, random.Int64N(3)-1)
				}
			}
		},
	} {
		b := problem.NewBuilder(n)
		b.Maximize()
		enter(b)
		inst, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		for _, o := range []Options{{}, {Settings: solve.Settings{TimeLimit: 1}}, {Unreduced: true}} {
			ctx := ended
			if o.TimeLimit > 0 {
				ctx = t.Context()
			}
			o.Devices = []device.Device{d}
			r, err := Solve(ctx, inst, o)
			if err != nil || r.Value.Float() <= 0 || r.Stopped == r.Proven {
				t.Errorf("%s, %+v: found %+v, %v, expected a value above 0 that is proven, or of a solve that was stopped", name, o, r, err)
			}
		}
		p, err := inst.Normal()
		if err != nil {
			t.Fatal(err)
		}
		for rows := range 30 { // ended in the middle, a solution has the value that is said
			v, x := greedy(p, func() bool { rows--; return rows < 0 })
			if got := p.Value(x); got != v || v < 0 {
				t.Errorf("%s: found %d, recomputed %d", name, v, got)
			}
		}
		if v, _ := greedy(p, func() bool { return false }); v <= 0 {
			t.Errorf("%s: a whole pass found %d", name, v)
		}
		clock := time.Now()
		if _, err := Solve(t.Context(), inst, Options{Settings: solve.Settings{Devices: []device.Device{d}, TimeLimit: 50 * time.Millisecond}}); err != nil || time.Since(clock) > 5*time.Second {
			t.Errorf("%s: %v after %v", name, err, time.Since(clock))
		}
	}
}
