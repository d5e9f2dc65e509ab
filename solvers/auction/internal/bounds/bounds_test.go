package bounds

import (
	"context"
	"math"
	"testing"

	"coalesce/generated/auction"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/solvers/auction/internal/packing"
	"coalesce/solvers/lp"
)

// optimum is a child's, by the simplex method.
func optimum(c *packing.Children, child int) float64 {
	a := &lp.Matrix{Rows: len(c.Rows)}
	var prices []float64
	for _, p := range c.Prices {
		prices = append(prices, float64(p))
	}
	for _, rows := range rowsOfColumns(c) {
		list := []int32{}
		for _, i := range rows {
			list = append(list, int32(i))
		}
		a.Columns = append(a.Columns, list)
	}
	for _, most := range c.Most {
		a.Most = append(a.Most, float64(most))
	}
	s := lp.New(a, prices)
	for k := range c.Prices {
		if c.Live[child][k/32]>>(k%32)&1 == 0 {
			s.Bound(k, 0, 0)
		}
	}
	s.Solve(context.Background(), math.Inf(-1), 0)
	return s.Objective()
}

// check holds bounds of children against the optima of their linear programs.
func check(t *testing.T, c *packing.Children, got *packing.Bounds, gap float64) {
	t.Helper()
	if len(got.Values) != len(c.Live) || len(got.Y) != len(c.Live) {
		t.Fatalf("%d bounds and %d lists of prices for %d children", len(got.Values), len(got.Y), len(c.Live))
	}
	for k, value := range got.Values {
		for i, y := range got.Y[k] {
			if !(y >= 0) {
				t.Errorf("child %d of %d columns: row %d has the price %v", k, len(c.Prices), i, y)
			}
		}
		exact, best := boundOf(c, k, got.Y[k]), optimum(c, k)
		if math.Abs(exact-float64(value)) > 1e-5*(1+exact) {
			t.Errorf("child %d of %d columns, %d rows: the bound is said to be %v and is %v", k, len(c.Prices), len(c.Rows), value, exact)
		}
		if exact < best-1e-6*(1+best) || exact > best+gap*(1+best) && exact > float64(c.Enough[k]) {
			t.Errorf("child %d of %d columns, %d rows: the bound is %v, the optimum %v", k, len(c.Prices), len(c.Rows), exact, best)
		}
	}
}

// drawn is draw, where one child in three may stop at its optimum and a percent more.
func drawn(seed uint64, columns, rows, children int) *packing.Children {
	c := drawChildren(seed, columns, rows, children)
	for k := 2; k < children; k += 3 {
		c.Enough[k] = float32(1.01 * optimum(c, k))
	}
	return c
}

// Plain steps come to the optima of linear programs; a child that may stop does.
func TestHost(t *testing.T) {
	for seed, size := range [][3]int{{1, 1, 2}, {1, 0, 1}, {5, 3, 4}, {40, 20, 9}, {150, 60, 10}, {300, 120, 6}, {33, 300, 5}} {
		c := drawn(uint64(seed), size[0], size[1], size[2])
		check(t, c, BoundOnHost(t.Context(), c), near)
	}
}

func TestEmulatedVariants(t *testing.T) {
	d := emulatedtest.Open(t)
	for turn, v := range emulatedtest.Variants(&auction.Bounds) {
		t.Run(v.Label, func(t *testing.T) {
			b, err := Open(d, v)
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			sizes := [][3]int{{1, 1, 2}, {1, 0, 1}, {5, 3, 4}, {70, 30, 9}}
			if !emulatedtest.Thorough() && turn%2 == 1 {
				sizes[3] = [3]int{35, 30, 3} // the other variants run the largest
			}
			for seed, size := range sizes {
				c := drawn(uint64(seed), size[0], size[1], size[2])
				got, err := b.Bound(t.Context(), c)
				if err != nil {
					t.Fatal(err)
				}
				check(t, c, got, near)
			}
		})
	}
}
