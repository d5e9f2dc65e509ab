package tuned

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"coalesce/runtime/device"
)

// A frozen database takes what was measured at the size or on both sides of it, for this
// workload, on this class of device, and refuses and tells of all else.
func TestFrozen(t *testing.T) {
	db, err := New(tunedAt(20, 50, 10, 20), tunedAt(24, 50, 10, 20))
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := facts
	elsewhere.SMs++
	another := map[string]string{"value": "float64"}
	for _, c := range []struct {
		name  string
		db    *Database
		facts device.Facts
		w     Workload
		level string // of the choice without a policy
		ok    bool
	}{
		{"exact", db, facts, Workload{Fixed: int32s, Size: 20}, Exact, true},
		{"between", db, facts, Workload{Fixed: int32s, Size: 22}, Interpolated, true},
		{"near", db, facts, Workload{Fixed: int32s, Size: 25}, Nearest, false},
		{"far", db, facts, Workload{Fixed: int32s, Size: 100}, Extrapolated, false},
		{"kin", db, elsewhere, Workload{Fixed: int32s, Size: 20}, "", false},
		{"nothing", nil, facts, Workload{Fixed: int32s, Size: 20}, Safe, false},
		{"a single variant", nil, facts, Workload{Fixed: another, Size: 20}, Safe, true},
	} {
		plain, err := c.db.Choose(family(), c.facts, c.w, nil)
		if err != nil || c.level != "" && plain.Level != c.level {
			t.Fatalf("%s: %s, %v; want %s", c.name, plain.Level, err, c.level)
		}
		for _, frozen := range []bool{false, true} {
			var met []Guess
			got, err := c.db.By(Policy{Frozen: frozen, Guessed: func(g Guess) { met = append(met, g) }}).Choose(family(), c.facts, c.w, nil)
			if refused := errors.Is(err, ErrNotTuned); refused != (frozen && !c.ok) {
				t.Errorf("%s, frozen %v: %v", c.name, frozen, err)
			} else if refused && (got.Variant != nil || !strings.Contains(err.Error(), plain.Level) || !strings.Contains(err.Error(), "coalesce tune csg")) {
				t.Errorf("%s: %v, %v", c.name, got.Variant, err)
			} else if !refused && got.Variant.Label != plain.Variant.Label {
				t.Errorf("%s: %s, without a policy %s", c.name, got.Variant.Label, plain.Variant.Label)
			}
			if c.ok != (len(met) == 0) {
				t.Errorf("%s: told of %v", c.name, met)
			}
			for _, g := range met {
				if g.Family != family().Name || g.Class != c.facts.Class() || !maps.Equal(g.Fixed, c.w.Fixed) || g.Size != c.w.Size || g.Level != plain.Level {
					t.Errorf("%s: told of %+v", c.name, g)
				}
			}
		}
	}
}

// A pin overrules what was measured, is no guess, and must fit.
func TestPinned(t *testing.T) {
	db, err := New(tunedAt(20, 50, 10, 20))
	if err != nil {
		t.Fatal(err)
	}
	w := Workload{Fixed: int32s, Size: 20}
	pin := func(label string) *Database {
		return db.By(Policy{Pinned: map[string]string{family().Name: label, "other/family": "x"}, Frozen: true})
	}
	if c, err := pin("a=3,value=int32").Choose(family(), facts, w, nil); err != nil || c.Variant.Label != "a=3,value=int32" || c.Level != ByName {
		t.Errorf("%v, %v", c.Variant, err)
	}
	for label, want := range map[string]string{
		"a=9,value=int32":   "no variant",
		"a=1,value=float64": "the instance needs value=int32",
	} {
		if _, err := pin(label).Choose(family(), facts, w, nil); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "pinned for csg/splits") {
			t.Errorf("%s: %v, want %q", label, err, want)
		}
	}
	no := fmt.Errorf("too large")
	if _, err := pin("a=3,value=int32").Choose(family(), facts, w, func(*device.Variant) error { return no }); !errors.Is(err, no) {
		t.Errorf("what cannot run: %v", err)
	}
	if c, err := pin("").Choose(family(), facts, w, nil); err != nil || c.Variant.Label != "a=2,value=int32" {
		t.Errorf("without a pin: %v, %v", c.Variant, err)
	}
}

// A guess among algorithms, which are no kernels, is told and not refused.
func TestFrozenAlgorithms(t *testing.T) {
	f := &device.Family{Name: "csg/algorithm", Params: []string{"algorithm"}, Variants: []device.Variant{
		{Label: "algorithm=a", Values: []string{"a"}, Safe: true}, {Label: "algorithm=b", Values: []string{"b"}}}}
	told := 0
	db := (&Database{}).By(Policy{Frozen: true, Guessed: func(Guess) { told++ }})
	c, err := db.Choose(f, device.Facts{Kind: device.Host}, Workload{Size: 9, Suits: &f.Variants[1]}, nil)
	if err != nil || c.Variant != &f.Variants[1] || told != 1 {
		t.Errorf("%v, %v, told %d times; expected the predicted one, told once", c.Variant, err, told)
	}
}

// Results at sizes that do not speak for this one are passed over, unless they are of this size.
func TestSpeaks(t *testing.T) {
	f := family()
	w := Workload{Fixed: int32s, Size: 20, Suits: &f.Variants[3], Why: "the largest a", Speaks: func(size int) bool { return size > 15 }}
	for _, tc := range []struct {
		sizes []int
		level string
	}{
		{[]int{9, 12}, Predicted}, {[]int{9, 40}, Nearest}, {[]int{18, 22}, Interpolated}, {[]int{9, 18}, Nearest}, {[]int{9, 20}, Exact},
	} {
		var entries []Entry
		for _, size := range tc.sizes {
			entries = append(entries, tunedAt(size, 50, 10, 30))
		}
		db, err := New(entries...)
		if err != nil {
			t.Fatal(err)
		}
		c, err := db.Choose(f, facts, w, nil)
		want := "2"
		if tc.level == Predicted {
			want = "4"
		}
		if err != nil || f.Value(c.Variant, "a") != want || c.Level != tc.level {
			t.Errorf("sizes %d tuned: chose %v: %v, expected a=%s (%s)", tc.sizes, c.Variant, c.Reason(), want, tc.level)
		}
	}
}

// Another class's results near the size come before this class's far from it, and after those
// near it.
func TestNearBeforeFar(t *testing.T) {
	f := family()
	other := func(e Entry) Entry {
		e.Class = "cuda|Another GPU|9.0|132sm|smem0"
		return e
	}
	for _, tc := range []struct {
		own, size int
		want      string
	}{{1000, 4000, "3"}, {1000, 1500, "2"}, {1000, 9000, "2"}, {4300, 4000, "2"}, {5000, 4000, "3"}} {
		db, err := New(tunedAt(tc.own, 50, 10, 20), other(tunedAt(4000, 90, 60, 20)))
		if err != nil {
			t.Fatal(err)
		}
		here := facts
		c, err := db.Choose(f, here, Workload{Fixed: int32s, Size: tc.size}, nil)
		if err != nil || f.Value(c.Variant, "a") != tc.want {
			t.Errorf("tuned here at %d, there at 4000: for %d chose %v (%s), %v, expected a=%s", tc.own, tc.size, c.Variant, c.Reason(), err, tc.want)
		}
	}
}

// Another class's sizes on both sides, one of them much nearer than the only size of this class, tell more than that.
func TestMuchNearer(t *testing.T) {
	f := family()
	other := func(e Entry) Entry {
		e.Class = "cuda|Another GPU|9.0|132sm|smem0"
		return e
	}
	db, err := New(tunedAt(22, 50, 10, 20), other(tunedAt(18, 90, 60, 20)), other(tunedAt(22, 900, 600, 500)))
	if err != nil {
		t.Fatal(err)
	}
	for size, want := range map[int]string{19: "3", 18: "3", 21: "2", 22: "2", 23: "2", 17: "2"} {
		c, err := db.Choose(f, facts, Workload{Fixed: int32s, Size: size}, nil)
		if err != nil || f.Value(c.Variant, "a") != want {
			t.Errorf("tuned here at 22, there at 18 and 22: for %d chose %v (%s), %v, expected a=%s", size, c.Variant, c.Reason(), err, want)
		}
	}
}
