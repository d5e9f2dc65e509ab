package families

import (
	"context"
	"testing"

	"coalesce/solvers/assignment/internal/draw"
	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/problem"
)

// Every method of the host but paths, which takes milliseconds, tells how many rows are matched, also in the course of its search.
func TestMethodsTell(t *testing.T) {
	for _, cols := range []int{60, 75} {
		inst, err := draw.Generate("machol", 60, cols, 0, 3, problem.Int32)
		if err != nil {
			t.Fatal(err)
		}
		p, err := problem.Normalise(inst)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range HostMethods() {
			if m.Name == "paths" {
				continue
			}
			var told []int
			tell := engine.Reporter{Report: func(s engine.Progress) { told = append(told, s.Matched) }}
			if _, err := m.Solve(context.Background(), p, nil, engine.Host{Threads: 1, Telling: tell}); err != nil {
				t.Fatal(m.Name, err)
			}
			if len(told) < 2 {
				t.Errorf("%s, %d columns: told %d times, expected once a phase at least", m.Name, cols, len(told))
			}
			for k, matched := range told {
				if matched < 0 || matched > p.Rows || k > 0 && m.Name != "host" && matched < told[k-1] { // the host begins anew with finer prices
					t.Errorf("%s, %d columns: told of %v matched rows of %d", m.Name, cols, told, p.Rows)
				}
			}
		}
	}
}
