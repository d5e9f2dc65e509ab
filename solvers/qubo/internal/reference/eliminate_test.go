package reference

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"coalesce/solvers/qubo/problem"
)

// The solution of an elimination is a best one, whatever ties there are; with a larger core it is refused.
func TestEliminate(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 21))
	followed, cores := 0, 0
	for range 1500 {
		n := 1 + r.IntN(11)
		rows := &problem.Rows{Diag: make([]*big.Int, n), Weight: make([]map[int32]*big.Int, n)}
		all := make([]int32, n)
		for i := range n {
			rows.Diag[i], rows.Weight[i], all[i] = big.NewInt(int64(r.IntN(5)-2)), map[int32]*big.Int{}, int32(i)
		}
		for range r.IntN(4*n + 1) {
			if i, j := int32(r.IntN(n)), int32(r.IntN(n)); i != j {
				w := int64(r.IntN(9) - 4)
				if rows.Weight[i][j] == nil { // half of it against each end, so that the first order decides little
					rows.Weight[i][j], rows.Weight[j][i] = big.NewInt(2*w), big.NewInt(2*w)
					rows.Diag[i].Sub(rows.Diag[i], big.NewInt(w))
					rows.Diag[j].Sub(rows.Diag[j], big.NewInt(w))
				}
			}
		}
		// The elimination takes the rows over.
		f := rows.SmallProblem(all)
		for i := range f.Diag {
			f.Diag[i] = new(big.Int).Set(f.Diag[i])
		}
		best := f.Value(0)
		for x := range uint64(1) << n {
			if v := f.Value(x); v.Cmp(best) > 0 {
				best = v
			}
		}
		e, ok := Eliminate(rows)
		if !ok {
			t.Fatal("a core of few variables was refused")
		}
		followed, cores = followed+len(e.steps), cores+len(e.cores)
		x, complete := e.Solve(func() bool { return false })
		if got := f.Value(x[0]); !complete || got.Cmp(best) != 0 {
			t.Fatalf("found %v (complete %v), the best is %v", got, complete, best)
		}
	}
	if followed < 1000 || cores < 100 {
		t.Errorf("%d variables followed, %d cores were left: too few to tell", followed, cores)
	}
	n := CoreVariables + 1
	rows := &problem.Rows{Diag: make([]*big.Int, n), Weight: make([]map[int32]*big.Int, n)}
	for i := range n {
		rows.Diag[i], rows.Weight[i] = big.NewInt(int64(n)), map[int32]*big.Int{}
		for j := range n {
			if i != j {
				rows.Weight[i][int32(j)] = big.NewInt(-2)
			}
		}
	}
	if _, ok := Eliminate(rows); ok {
		t.Errorf("a core of %d variables was taken", n)
	}
}
