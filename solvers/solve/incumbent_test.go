package solve

import "testing"

func TestIncumbents(t *testing.T) {
	for _, c := range []struct {
		value, bound Number
		want         string
	}{
		{"", "", "no solution yet"},
		{"", "7", "no solution yet"},
		{"-3", "", "-3, no bound is known"},
		{"-3", "inf", "-3, no bound is known"},
		{"5", "5", "5, the bound is 5, the gap 0"},
		{"9007199254740993", "9007199254740995", "9007199254740993, the bound is 9007199254740995, the gap 2"},
		{"0.5", "-1", "0.5, the bound is -1, the gap 1.5"},
	} {
		i := NewIncumbent(2, c.value, c.bound, 9)
		if i.Seconds != 2 || i.Value != c.value || i.Work != 9 || (i.Gap == nil) != (i.Bound == "") {
			t.Errorf("value %q, bound %q: found %+v", c.value, c.bound, i)
		}
		if i.String() != c.want {
			t.Errorf("value %q, bound %q: found %q, expected %q", c.value, c.bound, i, c.want)
		}
	}
}
