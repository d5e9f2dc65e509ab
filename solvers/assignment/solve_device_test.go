package assignment

import (
	"context"
	"errors"
	"strings"
	"testing"

	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/solvers/assignment/internal/draw"
	"coalesce/solvers/assignment/internal/enginetest"
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/solve"
)

// A sparse instance without a full matching is refuted on the device, one of
// points is certified there.
func TestImplicitOnDevice(t *testing.T) {
	d := emulatedtest.Open(t)
	inst := &problem.Instance{Rows: 3, Cols: 3, Type: problem.Int32, I32: []int32{5, 6, 7, 8}, Sparse: &problem.Sparse{Start: []int64{0, 1, 2, 4}, Col: []int32{1, 1, 0, 2}}}
	r, err := Solve(context.Background(), inst, on(Options{}, d))
	var none *problem.InfeasibleError
	if !errors.As(err, &none) || !r.Proven || len(none.Hall.Members) <= len(none.Hall.Partners) || !strings.HasPrefix(r.Variant, "assignment/core ") {
		t.Errorf("found %v by %s, expected a proof that there is no full matching by assignment/core", err, r.Variant)
	}
	drawn, err := draw.Draw(draw.Drawing{Kind: "geom", Points: true, Rows: 90, Cols: 60, Range: 1000, Seed: enginetest.Seed, Type: problem.Int64})
	if err != nil {
		t.Fatal(err)
	}
	if r, err = Solve(context.Background(), drawn, on(Options{}, d)); err != nil {
		t.Fatal(err)
	}
	want := solved(t, drawn, Options{Settings: solve.Settings{Algorithm: "reference"}})
	if r.Value.String() != want.Value.String() || !strings.HasPrefix(r.Variant, "assignment/core ") || !strings.Contains(r.Certificate.By, "assignment/pointcheck") {
		t.Errorf("found %s by %s, checked by %s, expected %s", r.Value.String(), r.Variant, r.Certificate.By, want.Value.String())
	}
}
