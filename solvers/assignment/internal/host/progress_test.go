package host

import (
	"context"
	"math/big"
	"testing"

	"coalesce/solvers/assignment/internal/draw"
	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/problem"
)

// What is told never bounds more than the optimum, and the last of it bounds nearly that.
func TestTold(t *testing.T) {
	for _, c := range []struct {
		kind       string
		rows, cols int
		costs      int64
		as         problem.Value
	}{
		{"spatial", 1200, 1200, 1000, problem.Float64},
		{"machol", 900, 900, 0, problem.Int32},
		{"uniform", 700, 1100, 1 << 40, problem.Int64},
		{"uniform", 300, 1500, 50, problem.Int32},
		{"geom", 1500, 1500, 1 << 20, problem.Int32},
	} {
		inst, err := draw.Generate(c.kind, c.rows, c.cols, c.costs, 5, c.as)
		if err != nil {
			t.Fatal(err)
		}
		for _, maximize := range []bool{false, true} {
			inst.Maximize = maximize
			p, err := problem.Normalise(inst)
			if err != nil {
				t.Fatal(err)
			}
			var told []engine.Progress
			sol, err := Solve(context.Background(), p, nil, engine.Host{Threads: 2, Telling: engine.Reporter{Report: func(s engine.Progress) { told = append(told, s) }}})
			if err != nil {
				t.Fatal(err)
			}
			optimum := new(big.Int)
			for i, j := range sol.Column {
				optimum.Add(optimum, big.NewInt(p.Cost(i, int(j))))
			}
			for _, s := range told {
				if s.Matched < 0 || s.Matched > p.Rows || s.Dual.Cmp(optimum) > 0 {
					t.Errorf("%+v, maximise %t: told of %d rows and the bound %s, the optimum is %s", c, maximize, s.Matched, s.Dual, optimum)
				}
			}
			if len(told) == 0 {
				t.Errorf("%+v, maximise %t: told nothing", c, maximize)
				continue
			}
			last := told[len(told)-1]
			far := new(big.Int).Mul(new(big.Int).Sub(optimum, last.Dual), big.NewInt(20))
			if far.Cmp(new(big.Int).Abs(optimum)) > 0 {
				t.Errorf("%+v, maximise %t: the last bound is %s, the optimum %s", c, maximize, last.Dual, optimum)
			}
		}
	}
}
