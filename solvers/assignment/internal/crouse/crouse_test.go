package crouse

import (
	"slices"
	"testing"
)

// SciPy 1.17.1 gave these columns of drawn costs, which have several best matchings.
func TestMatch(t *testing.T) {
	var w Matcher
	for _, c := range []struct {
		rows, cols int
		maximize   bool
		costs      []int32
		want       []int32
	}{
		{4, 4, false, []int32{2, 2, 0, 2, 1, 1, 1, 0, 2, 0, 0, 1, 1, 1, 0, 0}, []int32{2, 3, 1, 0}},
		{3, 5, true, []int32{0, 0, 0, 2, 0, 1, 2, 0, 0, 1, 0, 2, 0, 2, 2}, []int32{3, 1, 4}},
		{5, 3, false, []int32{2, 0, 1, 1, 1, 1, 2, 1, 0, 2, 1, 2, 0, 1, 2}, []int32{1, -1, 2, -1, 0}},
		{6, 6, true, []int32{0, 0, 1, 2, 0, 2, 1, 0, 1, 2, 2, 2, 0, 0, 2, 2, 2, 0, 0, 1, 1, 1, 2, 0, 1, 0, 0, 2, 0, 0, 0, 0, 0, 2, 1, 1}, []int32{5, 4, 2, 1, 0, 3}},
		{0, 2, false, nil, []int32{}},
	} {
		found := make([]int32, c.rows)
		if full := Match(&w, c.rows, c.cols, c.costs, c.maximize, found); !full || !slices.Equal(found, c.want) {
			t.Errorf("%d x %d: found %v, %v, expected %v", c.rows, c.cols, found, full, c.want)
		}
	}
}
