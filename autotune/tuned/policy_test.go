package tuned

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

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
		{"far", db, facts, Workload{Fixed: int32s, Size: 100}, Nearest, false},
		{"kin", db, elsewhere, Workload{Fixed: int32s, Size: 20}, "", false},
		{"nothing", nil, facts, Workload{Fixed: int32s, Size: 20}, Safe, false},
		{"a single variant", nil, facts, Workload{Fixed: another, Size: 20}, Safe, true},
	} {
		plain, err := c.db.Choose(family(), c.facts, c.w, nil)
		if err != nil || c.level != "" && plain.Level != c.level {
			t.Fatalf("%s: %s, %v; want %s", c.name, plain.Level, err, c.level)
		}
		for _, frozen := range []bool{false, true} {
			var met []UnmeasuredChoice
			got, err := c.db.WithPolicy(Policy{Frozen: frozen, Guessed: func(g UnmeasuredChoice) { met = append(met, g) }}).Choose(family(), c.facts, c.w, nil)
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
		return db.WithPolicy(Policy{Pinned: map[string]string{family().Name: label, "other/family": "x"}, Frozen: true})
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
	db := (&Database{}).WithPolicy(Policy{Frozen: true, Guessed: func(UnmeasuredChoice) { told++ }})
	c, err := db.Choose(f, device.Facts{Kind: device.Host}, Workload{Size: 9, Prior: Prior{Variant: &f.Variants[1]}}, nil)
	if err != nil || c.Variant != &f.Variants[1] || told != 1 {
		t.Errorf("%v, %v, told %d times; expected the predicted one, told once", c.Variant, err, told)
	}
}

// Results at sizes that are not comparable with this one are passed over, unless they are of this size.
func TestComparable(t *testing.T) {
	f := family()
	w := Workload{Fixed: int32s, Size: 20, Prior: Prior{&f.Variants[3], "the largest a"}, Comparable: func(_ *device.Variant, size int) error {
		if size <= 15 {
			return errors.New("small sizes are others' matter")
		}
		return nil
	}}
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

// Another class's sizes take their place among this class's.
func TestSizesOfKin(t *testing.T) {
	f := family()
	other := func(e Entry) Entry {
		e.Class = "cuda|Another GPU|9.0|132sm|smem0"
		return e
	}
	for _, tc := range []struct {
		name    string
		entries []Entry
		want    map[int]string // a, by size
	}{
		{"at 1000, there at 4000", []Entry{tunedAt(1000, 50, 10, 20), other(tunedAt(4000, 90, 60, 20))},
			map[int]string{1000: "2", 1500: "2", 3500: "3", 4000: "3", 9000: "3"}},
		{"at 5000, there at 4000", []Entry{tunedAt(5000, 50, 10, 20), other(tunedAt(4000, 90, 60, 20))}, map[int]string{4000: "3", 5000: "2", 5100: "2"}},
		{"at 22, there at 18 and 22", []Entry{tunedAt(22, 50, 10, 20), other(tunedAt(18, 90, 60, 20)), other(tunedAt(22, 900, 600, 500))},
			map[int]string{17: "3", 18: "3", 19: "3", 21: "2", 22: "2", 23: "2"}},
		{"at 16 and 24, there at 16 what was not tried here", []Entry{tunedAt(16, 50, 10), tunedAt(24, 200, 42, 40), other(tunedAt(16, 100, 20, 30))},
			map[int]string{16: "2", 22: "2", 24: "3"}},
		{"at 24 and 28, there at 24 with one time far off", []Entry{tunedAt(24, 43, 42, 44), tunedAt(28, 290, 285, 300), other(tunedAt(24, 46, 45, 260, 46))},
			map[int]string{24: "2", 27: "2", 28: "2"}},
	} {
		db, err := New(tc.entries...)
		if err != nil {
			t.Fatal(err)
		}
		for size, want := range tc.want {
			c, err := db.Choose(f, facts, Workload{Fixed: int32s, Size: size}, nil)
			if err != nil || f.Value(c.Variant, "a") != want {
				t.Errorf("tuned here %s: for %d chose %v (%s), %v, expected a=%s", tc.name, size, c.Variant, c.Reason(), err, want)
			}
		}
	}
}

// A host's results at sizes on both sides say more of a size than another host's at that size, and those of a
// host with other vector instructions nothing.
func TestHostsApart(t *testing.T) {
	f := family()
	here := device.Facts{Kind: device.Host, Name: facts.Name, Instructions: "sse4.2", SMs: 4}
	own := []Entry{tunedAt(16, 50, 10, 20), tunedAt(24, 50, 10, 20)}
	for i := range own {
		own[i].Class = here.Class()
	}
	kin := tunedAt(20, 50, 20, 10)
	kin.Class = strings.Replace(here.Class(), here.Name, "Another host", 1)
	db, err := New(own[0], own[1], kin)
	if err != nil {
		t.Fatal(err)
	}
	for size, want := range map[int]string{20: "2", 40: "2"} {
		if c, err := db.Choose(f, here, Workload{Fixed: int32s, Size: size}, nil); err != nil || f.Value(c.Variant, "a") != want {
			t.Errorf("size %d: chose %v (%s), %v, expected a=%s", size, c.Variant, c.Reason(), err, want)
		}
	}
	db, err = New(kin)
	if err != nil {
		t.Fatal(err)
	}
	if c, err := db.Choose(f, here, Workload{Fixed: int32s, Size: 20}, nil); err != nil || f.Value(c.Variant, "a") != "3" || !strings.Contains(c.Reason(), "(another host of the same instructions)") {
		t.Errorf("of another host alone: chose %v (%s), %v, expected a=3", c.Variant, c.Reason(), err)
	}
	here.Instructions = "avx2"
	if c, err := db.Choose(f, here, Workload{Fixed: int32s, Size: 20}, nil); err != nil || c.Level == Exact || strings.Contains(c.Reason(), "same instructions") {
		t.Errorf("of a host with other instructions: chose %v (%s), %v", c.Variant, c.Reason(), err)
	}
}

// Between a size tuned here and one tuned on another class, times are predicted in those of this class: as
// both were tuned at 10, where this class takes three times as long.
func TestTimesOfKin(t *testing.T) {
	f := family()
	list := []Entry{tunedAt(10, 3000, 1500), tunedAt(10, 1000, 500), tunedAt(40, 4000, 2000)}
	for i := range list[1:] {
		list[1+i].Class = "cuda|Another GPU|9.0|132sm|smem0"
	}
	db, err := New(list...)
	if err != nil {
		t.Fatal(err)
	}
	w := Workload{Fixed: int32s, Size: 20}
	c, err := db.Choose(f, facts, w, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range c.Candidates(w, nil) {
		if want := map[string]time.Duration{"1": 6000, "2": 3000}[f.Value(x.Variant, "a")]; (x.Time - want).Abs() > 1 {
			t.Errorf("%s is predicted to take %v, expected %v", x.Variant.Label, x.Time, want)
		}
	}
}

// Where the last wave of blocks is not full, times grow by steps: 101 blocks take more than half as long as 200
// on 100 multiprocessors.
func TestWaveCost(t *testing.T) {
	f := family()
	here := facts
	here.SMs = 100
	class := func(list ...Entry) *Database {
		for i := range list {
			list[i].Class = here.Class()
		}
		db, err := New(list...)
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
	w := Workload{Fixed: int32s, WaveCost: func(v *device.Variant, size, sms int) float64 {
		if f.Value(v, "a") == "2" {
			return WaveQuantization(size, sms) // large blocks: at 200 all multiprocessors have two, at 210 some have a third
		}
		return WaveQuantization(10*size, sms)
	}}
	for _, tc := range []struct {
		size int
		db   *Database
		want string
	}{
		{199, class(tunedAt(100, 0, 1000, 1010), tunedAt(200, 0, 2000, 2020)), "2"},
		{110, class(tunedAt(100, 0, 1000, 1010), tunedAt(200, 0, 2000, 2020)), "3"},
		{210, class(tunedAt(200, 0, 2000, 2020)), "3"}, // nearest
		{195, class(tunedAt(200, 0, 2000, 2020)), "2"},
		{200, class(tunedAt(200, 0, 2000, 2020)), "2"},
	} {
		w.Size = tc.size
		c, err := tc.db.Choose(f, here, w, nil)
		if err != nil || f.Value(c.Variant, "a") != tc.want {
			t.Errorf("%d blocks: chose %v (%s), %v, expected a=%s", tc.size, c.Variant, c.Reason(), err, tc.want)
		}
	}
	// Without steps what won at both sizes stays.
	w.Size, w.WaveCost = 110, nil
	if c, err := class(tunedAt(100, 0, 1000, 1010), tunedAt(200, 0, 2000, 2020)).Choose(f, here, w, nil); err != nil || f.Value(c.Variant, "a") != "2" {
		t.Errorf("no steps: chose %v, %v, expected a=2", c.Variant, err)
	}
}

// Promising is what was fast at the nearest size where it was tried and was not tried at this one.
func TestPromising(t *testing.T) {
	f := family()
	kin := tunedAt(25, 90, 21, 20)
	kin.Class = "cuda|Another GPU|9.0|132sm|smem0"
	db, err := New(tunedAt(10, 50, 10, 10), tunedAt(20, 50, 20), tunedAt(40, 40, 60, 42, 41), kin)
	if err != nil {
		t.Fatal(err)
	}
	for size, want := range map[int]string{
		20: "3 4",   // 2 has a result, 3 won on the other GPU at 25, 4 was fast at 40
		22: "2 3 4", // 2 won at 20
		12: "2 3 4",
		10: "4",
		40: "",
	} {
		labels, err := db.PromisingVariants(f, facts, Workload{Fixed: int32s, Size: size})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range labels {
			got = append(got, f.Value(f.Variant(l), "a"))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("size %d: %v, expected %s", size, got, want)
		}
	}
}
