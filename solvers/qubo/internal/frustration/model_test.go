package frustration

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"coalesce/solvers/qubo/problem"
)

// The value of a solution is the top less twice the magnitudes of the edges that it leaves unsatisfied, in all forms and senses, with
// fixed variables and without.
func TestModel(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for round := range 500 {
		n := r.IntN(9)
		b := problem.NewBuilder(n)
		form := []problem.Form{problem.QUBO, problem.Ising, problem.MaxCut}[round%3]
		b.Form(form)
		if b.Maximize(); r.IntN(2) == 0 {
			b.Minimize()
		}
		coeff := func() float64 { return float64(r.IntN(41) - 20) }
		if round%2 == 0 { // exact in 54 bits
			coeff = func() float64 { return float64(r.IntN(1<<30)-1<<29) / 1024 }
		}
		for i := range n {
			if form != problem.MaxCut && r.IntN(3) > 0 {
				b.Linear(i, coeff())
			}
			for j := range i {
				if r.IntN(2) == 0 {
					b.Pair(i, j, coeff())
				}
			}
		}
		inst, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		given := make([]int8, n)
		for i := range given {
			if given[i] = -1; r.IntN(4) == 0 {
				given[i] = int8(r.IntN(2))
			}
		}
		m := New(inst, given)
		if m == nil {
			t.Fatal("no model")
		}
		for range 10 {
			up := make([]bool, m.N)
			for v := range up {
				up[v] = r.IntN(2) == 0
			}
			loss := new(big.Int)
			for e, end := range m.Ends {
				if (up[end[0]] != up[end[1]]) != m.Odd[e] {
					loss.Add(loss, big.NewInt(m.Cap[e]))
				}
			}
			x := m.Spins(up)
			for i, v := range given {
				if v >= 0 && problem.Bit(x, i) != uint64(v) {
					t.Fatalf("variable %d is not %d", i, v)
				}
			}
			if got, want := m.Bound(loss, m.Shift), inst.Amount(x); got != want {
				t.Fatalf("round %d, %s: %v, the instance %v", round, inst, got, want)
			}
			if rest, modulus := m.Step(); m.Whole && new(big.Int).Mod(new(big.Int).Sub(loss, big.NewInt(rest)), big.NewInt(modulus)).Sign() != 0 {
				t.Fatalf("the loss %v is not %d modulo %d", loss, rest, modulus)
			}
		}
	}
}
