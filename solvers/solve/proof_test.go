package solve

import (
	"math"
	"strings"
	"testing"
)

func TestProofs(t *testing.T) {
	for _, c := range []struct {
		value, bound Number
		gap          float64
		proven       bool
	}{
		{"3", "3", 0, true},
		{"3", "4", 1, true},
		{"4", "3", 1, true},
		{"-0.5", "0.25", 0.75, true},
		{"9223372036854775807", "9223372036854775806", 1, true},
		{"0.1", "0.3", 0.2, true}, // in decimals, though not in float64
		{"1e300", "1e300", 0, true},
		{"5e-324", "0", 5e-324, true},
		{"12345678901234567890.5", "12345678901234567890.25", 0.25, true},
		{"9007199254740993", "0", 9007199254740994, true}, // the gap is rounded up
		{"", "4", 0, false},
		{"3", "", 0, false},
		{"3", "inf", 0, false},
		{"-inf", "3", 0, false},
		{"inf", "inf", 0, false},
		{"1e308", "-1e308", 0, false}, // farther apart than any float64
		{"1e999999999", "0", 0, false},
		{"1/3", "0", 0, false},
		{"0x10", "16", 0, false},
	} {
		r := Report{Value: c.value}
		r.SetProvenBound(c.bound)
		if r.Proven != c.proven || c.proven && (r.Gap == nil || *r.Gap != c.gap || r.Bound != c.bound) || !c.proven && (r.Gap != nil || r.Bound != "") {
			t.Errorf("value %q, bound %q: found proven %t, bound %q, gap %s, expected %t and %v", c.value, c.bound, r.Proven, r.Bound, r.gapText(), c.proven, c.gap)
		}
		if err := r.CheckClaims(); err != nil {
			t.Errorf("value %q, bound %q: %v", c.value, c.bound, err)
		}
	}
	var none Report
	none.ProveInfeasible()
	if err := none.CheckClaims(); err != nil || !none.Proven {
		t.Errorf("no solution is feasible: proven %t, %v", none.Proven, err)
	}
}

func TestWrongClaims(t *testing.T) {
	gap := func(x float64) *float64 { return &x }
	for _, c := range []struct {
		r    Report
		want string
	}{
		{Report{Value: "3", Proven: true}, "proven with the value 3 and the bound null"},
		{Report{Bound: "3", Gap: gap(0), Proven: true}, "proven with the value null and the bound 3"},
		{Report{Value: "3", Bound: "3", Proven: true}, "the bound is 3 and the gap null"},
		{Report{Value: "3", Gap: gap(0)}, "the bound is null and the gap 0"},
		{Report{Value: "3", Bound: "4", Gap: gap(0.5), Proven: true}, "the gap is 0.5: expected 1"},
		{Report{Value: "3", Bound: "4", Gap: gap(math.Nextafter(1, 0)), Proven: true}, "expected 1"},
		{Report{Value: "3", Bound: "4", Gap: gap(math.Nextafter(1, 2)), Proven: true}, "expected 1"},
		{Report{Value: "3", Bound: "4", Gap: gap(-1)}, "finite number of at least 0"},
		{Report{Value: "3", Bound: "4", Gap: gap(math.NaN())}, "finite number of at least 0"},
		{Report{Value: "3", Bound: "4", Gap: gap(math.Inf(1)), Proven: true}, "finite number of at least 0"},
		{Report{Value: "-inf", Bound: "4", Gap: gap(1), Proven: true}, "expected finite numbers"},
		{Report{Value: "3", Bound: "1e999999999", Gap: gap(1), Proven: true}, "expected finite numbers"},
	} {
		if err := c.r.CheckClaims(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: found %v, expected %q", c.r, err, c.want)
		}
	}
	if err := (&Report{Value: "3"}).CheckClaims(); err != nil {
		t.Errorf("no claim is wrong: %v", err)
	}
}
