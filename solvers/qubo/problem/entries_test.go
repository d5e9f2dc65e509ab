package problem

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

// Entries in any order, of any triangle, repeated or not, become the terms that a
// matrix of them has.
func TestEntries(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 9))
	for try := range 3000 {
		n := r.IntN(9)
		if try%500 == 0 {
			n = 300 // more entries than one core lists
		}
		e := NewEntries(1 << 30)
		e.Twice = r.IntN(2) == 0
		matrix := make([]float64, n*n)
		seen := map[[2]int]int{}
		first, again := -1, -1
		kind, real, swap := r.IntN(4), r.IntN(3) == 0, r.IntN(2) == 0
		add := func(i, j int) {
			v := float64(r.IntN(7) - 3)
			if k, ok := seen[[2]int{min(i, j), max(i, j)}]; ok && again < 0 {
				first, again = k, len(e.i)
			}
			seen[[2]int{min(i, j), max(i, j)}] = len(e.i)
			if real {
				v /= 4
			}
			if err := e.AddReal(i, j, v); err != nil {
				t.Fatal(err)
			}
			if i == j || !e.Twice {
				matrix[min(i, j)*n+max(i, j)] += v
			} else {
				matrix[min(i, j)*n+max(i, j)] += 2 * v
			}
		}
		for i := range n {
			for j := range n {
				switch {
				case kind == 0 && r.IntN(4) > 0: // all over, some again
					add(r.IntN(n), r.IntN(n))
				case kind == 1 && i <= j && r.IntN(4) > 0: // a triangle, row by row
					if swap {
						add(j, i)
					} else {
						add(i, j)
					}
				case kind == 2 && j <= i && r.IntN(4) > 0: // a triangle, column by column
					if swap {
						add(j, i)
					} else {
						add(i, j)
					}
				case kind == 3 && r.IntN(4) > 0: // all of a matrix
					add(i, j)
				}
			}
		}
		_, err := e.Instance(n, false)
		var repeated *RepeatedError
		if errors.As(err, &repeated) != (again >= 0) {
			t.Fatalf("%v and %v: %v, want entry %d again as %d", e.i, e.j, err, first, again)
		}
		if repeated != nil && (e.i[repeated.First] != e.i[repeated.Again] || e.j[repeated.First] != e.j[repeated.Again]) &&
			(e.i[repeated.First] != e.j[repeated.Again] || e.j[repeated.First] != e.i[repeated.Again]) || repeated != nil && repeated.First >= repeated.Again {
			t.Fatalf("%v and %v: %v", e.i, e.j, err)
		}
		inst, err := e.Instance(n, true)
		if err == nil {
			err = inst.Check()
		}
		if err != nil {
			t.Fatal(err)
		}
		got := make([]float64, n*n)
		for i := range n {
			for k := inst.Start[i]; k < inst.Start[i+1]; k++ {
				if j := int(inst.Col[k]); j > i && inst.Int != nil {
					got[i*n+j] = float64(inst.Int.Pair[k])
				} else if j > i {
					got[i*n+j] = inst.Real.Pair[k]
				}
			}
			if inst.Int != nil {
				got[i*n+i] = float64(inst.Int.Linear[i])
			} else {
				got[i*n+i] = inst.Real.Linear[i]
			}
		}
		if !slices.Equal(got, matrix) {
			t.Fatalf("%d variables, kind %d: got %v, want %v", n, kind, got, matrix)
		}
		for k := range inst.Start[n] {
			if inst.Int != nil && inst.Int.Pair[k] == 0 || inst.Real != nil && inst.Real.Pair[k] == 0 {
				t.Fatal("a pair of 0 is kept")
			}
		}
	}
}
