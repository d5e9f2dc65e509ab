package coreprice

import (
	"testing"

	"coalesce/generated/assignment"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/solvers/assignment/internal/enginetest"
	"coalesce/solvers/assignment/internal/reference"
	"coalesce/solvers/assignment/problem"
)

func TestCoreLimits(t *testing.T) {
	d := emulatedtest.Open(t)
	for name, p := range enginetest.ShardCases(t, problem.Int64, 8) {
		if p.Limit == problem.Infinity {
			continue
		}
		want, err := reference.Solve(p, nil)
		if err != nil {
			t.Fatal(name, err)
		}
		total, err := enginetest.CheckOptimal(p, want)
		if err != nil {
			t.Fatal(name, err)
		}
		if err := coreAgrees(t, d, enginetest.SafeOf(&assignment.Core, problem.Int64), p, nil, total); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
