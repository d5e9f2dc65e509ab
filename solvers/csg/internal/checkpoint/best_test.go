package checkpoint

import (
	"errors"
	"testing"

	"coalesce/solvers/csg/problem"
)

// What one run has found is the best so far of a later run.
func TestBest(t *testing.T) {
	inst, err := problem.NewInstance([]int32{0, 1, 2, 9, 4, 1, 1, 1, 8, 1, 1, 1, 30, 1, 1, 7}, "test")
	if err != nil {
		t.Fatal(err)
	}
	a := problem.Incumbent{Instance: inst}
	a.Offer(problem.Structure{3, 12}, "500")
	b := problem.NewIncumbent(inst)
	if err := DecodeBest(EncodeBest(&a), b); err != nil || b.Bound != "500" || b.Value != a.Value || b.Value != "39" {
		t.Errorf("found %+v, %v", b, err)
	}
	if err := DecodeBest(EncodeBest(&a)[:9], b); !errors.Is(err, ErrRefused) {
		t.Errorf("cut off: found %v", err)
	}
}
