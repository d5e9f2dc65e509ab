package model

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/solvers/model/problem"
	"coalesce/solvers/solve"
)

// drawPolynomial draws a model of degree three or four without constraints, with decimals that one kernel in two cannot hold in 16 bits.
func drawPolynomial(r *rand.Rand) *problem.Model {
	m := problem.New([]problem.Sense{problem.Minimize, problem.Maximize}[r.IntN(2)])
	n, spread := 5+r.IntN(8), []int64{40, 400_000}[r.IntN(2)]
	for i := range n {
		if name := fmt.Sprintf("v%d", i); r.IntN(2) == 0 {
			m.AddSpin(name)
		} else {
			m.AddBinary(name)
		}
	}
	for range 6 * n {
		list := make([]int32, 1+r.IntN(4))
		for k := range list {
			list[k] = int32(r.IntN(n))
		}
		m.AddTerm(problem.Decimal{Digits: r.Int64N(spread) - spread/2, Exponent: -1}, list...)
	}
	m.AddTerm(problem.DecimalOfInteger(3), 0, 1, 2)
	return m
}

// Searches on a device find what exhaustion finds, twice the same for a number of moves, from a start too, and refuse what they do not take.
func TestPolynomialsOnDevice(t *testing.T) {
	d := emulatedtest.Open(t)
	for seed := range 8 {
		m := drawPolynomial(rand.New(rand.NewPCG(uint64(seed), 5)))
		want, err := Reference(m)
		if err != nil {
			t.Fatal(err)
		}
		o := Options{Settings: solve.Settings{Seed: 1, Devices: []device.Device{d}}, Work: 200}
		r, err := Solve(t.Context(), m, o)
		if err != nil {
			t.Fatal(err)
		}
		if value := solve.Number(problem.RatText(want)); r.Value != value || r.Algorithm != Polynomial {
			t.Errorf("seed %d: found %s by %s, expected %s by %s", seed, r.Value, r.Algorithm, value, Polynomial)
		}
		o.Start = problem.Values(r.Solution)
		o.Work = 1
		if again, err := Solve(t.Context(), m, o); err != nil || again.Value != r.Value {
			t.Errorf("seed %d: from the best %s found %+v, %v", seed, r.Value, again, err)
		}
	}
	m := drawPolynomial(rand.New(rand.NewPCG(1, 5)))
	m.AddConstraint(problem.Constraint{Terms: []problem.Linear{{Coefficient: problem.DecimalOfInteger(1), Variable: 0}}, High: &problem.Decimal{}})
	o := Options{Settings: solve.Settings{Algorithm: Polynomial, Devices: []device.Device{d}}, Work: 10}
	if _, err := Solve(t.Context(), m, o); err == nil {
		t.Error("constraints are taken")
	}
}
