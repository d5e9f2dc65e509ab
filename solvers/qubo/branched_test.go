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

// Dense programs of a few variables more than those that are always exact end when branch and bound or a visit of all solutions has
// proven them, long before their time limit, with the value that a search finds.
func TestBranchedPartsAreProven(t *testing.T) {
	d := host.Open(2)
	defer d.Close()
	for seed := range uint64(10) { // from 4 on with real coefficients, which int64 rounds; the last two are Ising models without fields
		r := rand.New(rand.NewPCG(seed, 30))
		n := problem.FewVariables + 1 + int(seed%4)
		b := problem.NewBuilder(n)
		b.Maximize()
		if seed >= 8 {
			b.Form(problem.Ising)
		}
		for i := range n {
			for j := range i + 1 {
				switch {
				case seed >= 8 && i == j:
				case seed == 8:
					b.PairInt(i, j, r.Int64N(2)*2-1)
				case seed < 4 && i == j:
					b.LinearInt(i, r.Int64N(201)-100)
				case seed < 4:
					b.PairInt(i, j, r.Int64N(201)-100)
				case i == j:
					b.Linear(i, r.NormFloat64())
				default:
					b.Pair(i, j, r.NormFloat64())
				}
			}
		}
		inst, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		o := Options{Settings: solve.Settings{Devices: []device.Device{d}, TimeLimit: time.Hour}}
		found, err := Solve(context.Background(), inst, o)
		if err != nil || !found.Proven {
			t.Fatalf("seed %d: %v, %+v", seed, err, found)
		}
		o.Solutions, o.TimeLimit = 2, 300*time.Millisecond // a search: several solutions are not branched
		searched, err := Solve(context.Background(), inst, o)
		if err != nil || searched.Value != found.Value {
			t.Errorf("seed %d: branch and bound found %s, the search %s (%v)", seed, found.Value, searched.Value, err)
		}
	}
}
