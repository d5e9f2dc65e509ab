package problem_test

import (
	"testing"

	"coalesce/solvers/assignment/internal/enginetest"
)

func TestTranspose(t *testing.T) {
	for _, inst := range enginetest.InstancesOfEveryForm(t) {
		other := inst.Transpose()
		if err := other.Check(); err != nil {
			t.Fatal(err)
		}
		for i := range inst.Rows {
			for j := range inst.Cols {
				if inst.CostDecimals(i, j) != other.CostDecimals(j, i) {
					t.Fatalf("%s: row %d, column %d: found %s, expected %s", inst.Source, i, j, other.CostDecimals(j, i), inst.CostDecimals(i, j))
				}
			}
		}
	}
}
