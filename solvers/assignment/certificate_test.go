package assignment

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"coalesce/solvers/assignment/internal/draw"
	"coalesce/solvers/assignment/internal/enginetest"
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/solve"
)

// certified is an instance with an optimal answer that checks.
func certified(t *testing.T, inst *problem.Instance) (column []int32, d problem.Duals) {
	t.Helper()
	r := solved(t, inst, Options{Settings: solve.Settings{Algorithm: "reference"}, Duals: true})
	return r.Column, *r.Duals
}

// Every change of a certified answer is found out.
func TestCorruptionIsFound(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, inst := range enginetest.InstancesOfEveryForm(t) {
		column, d := certified(t, inst)
		for k := range 40 {
			column, d := slices.Clone(column), problem.Duals{U: slices.Clone(d.U), V: slices.Clone(d.V), Scale: d.Scale}
			i, j := r.IntN(inst.Rows), r.IntN(inst.Cols)
			delta := int64(1) << r.IntN(60)
			if k%2 == 0 {
				delta = -delta
			}
			what := ""
			switch k % 10 {
			case 0, 1: // always wrong: u and v are bound by equality on the matching
				what = "a dual of a row"
				d.U[i] += delta
			case 2, 3:
				what = "a dual of a column"
				d.V[j] += delta
			case 4:
				what = "two rows of one column"
				column[i] = int32(j)
				if column[(i+1)%inst.Rows] == int32(j) {
					column[(i+2)%inst.Rows] = int32(j)
				} else {
					column[(i+1)%inst.Rows] = int32(j)
				}
			case 5:
				what = "a column that is not there"
				column[i] = int32(inst.Cols + r.IntN(5))
			case 6:
				what = "a pair left out"
				if column[i] < 0 {
					continue
				}
				column[i] = -1
			case 7:
				what = "a dual out of range"
				d.U[i] = math.MinInt64 + int64(k)
			case 8:
				what = "another scale"
				d.Scale = -d.Scale
			case 9:
				what = "a dual missing"
				d.V = d.V[:len(d.V)-1]
			}
			_, err := problem.Check(inst, column, d)
			if what == "a pair left out" && err == nil && inst.Limit != nil {
				continue // the limit may be what the pair costs
			}
			if (k%10 < 4) && err == nil {
				// A dual of an unmatched row or column may only be what it is.
				t.Errorf("%s: %s, by %d: not found", inst.Source, what, delta)
			} else if !errors.Is(err, problem.ErrCheck) {
				t.Errorf("%s: %s: found %v", inst.Source, what, err)
			}
		}
	}
}

// Swapping two rows' columns is found unless it costs the same.
func TestSwapIsFound(t *testing.T) {
	inst, err := draw.Generate("uniform", 20, 20, 1e6, enginetest.Seed, problem.Float32)
	if err != nil {
		t.Fatal(err)
	}
	column, d := certified(t, inst)
	for i := range column {
		for k := range i {
			swapped := slices.Clone(column)
			swapped[i], swapped[k] = swapped[k], swapped[i]
			if _, err := problem.Check(inst, swapped, d); err == nil {
				before, _ := totalCost(inst, column)
				if after, _ := totalCost(inst, swapped); after != before {
					t.Errorf("rows %d and %d swapped: not found", i, k)
				}
			}
		}
	}
}

// A matching on a forbidden pair is found, and duals that are not feasible on
// one pair alone.
func TestPairIsFound(t *testing.T) {
	x := problem.Forbidden[int32](false)
	inst := enginetest.MatrixOf(t, 2, 1, x, 5, 2)
	if _, err := problem.Check(inst, []int32{1, 0}, problem.Duals{U: []int64{1, 5}, V: []int64{0, 0}, Scale: 1}); err == nil || !strings.Contains(err.Error(), "row 0: found it matched to column 1, which is forbidden") {
		t.Errorf("found %v", err)
	}
	if c, err := problem.Check(inst, []int32{0, 1}, problem.Duals{U: []int64{1, 2}, V: []int64{0, 0}, Scale: 1}); err != nil || c.Pairs != 3 || c.Primal != "3" {
		t.Errorf("found %+v, %v", c, err)
	}
	if _, err := problem.Check(inst, []int32{0, 1}, problem.Duals{U: []int64{-3, 2}, V: []int64{4, 0}, Scale: 1}); err == nil || !strings.Contains(err.Error(), "row 1, column 0: found duals 2 and 4, expected them to add up to at most the cost 5") {
		t.Errorf("found %v", err)
	}
	nan := enginetest.MatrixOf(t, 1, math.NaN())
	for _, u := range []int64{0, -problem.MaxDual} {
		if _, err := problem.Check(nan, []int32{0}, problem.Duals{U: []int64{u}, V: []int64{-problem.MaxDual}, Scale: 1}); err == nil {
			t.Error("not a number: not found")
		}
	}
}

func TestHall(t *testing.T) {
	x := problem.Forbidden[int32](false)
	inst := enginetest.MatrixOf(t, 3, 1, x, x, 2, x, x, 3, 4, 5)
	h, err := problem.CheckHall(inst, []int32{0, 1})
	if err != nil || len(h.Partners) != 1 || h.Partners[0] != 0 {
		t.Errorf("found %+v, %v", h, err)
	}
	for _, members := range [][]int32{{0}, {0, 2}, {0, 1, 2}, {0, 0}, {0, 3}, {-1}, {}} {
		if _, err := problem.CheckHall(inst, members); !errors.Is(err, problem.ErrCheck) {
			t.Errorf("%v: found %v", members, err)
		}
	}
}
