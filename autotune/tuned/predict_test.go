package tuned

import (
	"testing"

	"coalesce/runtime/device"
)

// chosen is what is chosen for a workload from entries of two other sizes, on a level.
func chosen(t *testing.T, low, high Entry, w Workload, level string) string {
	t.Helper()
	db, err := New(low, high)
	if err != nil {
		t.Fatal(err)
	}
	got, err := db.Choose(family(), facts, w, nil)
	if err != nil || got.Level != level {
		t.Fatalf("chose on the level %v (%v), expected %s", got.Level, err, level)
	}
	return got.Variant.Label
}

// What won at both tuned sizes around one stays there, though another took less, which its samples did not prove; between sizes with
// different winners the least time counts.
func TestWonAtBoth(t *testing.T) {
	for high, want := range map[string]string{"a=2,value=int32": "a=2,value=int32", "a=4,value=int32": "a=3,value=int32"} { // winner at 24
		low, up := tunedAt(16, 150, 100, 90, 140), tunedAt(24, 300, 200, 180, 190)
		low.Winner, up.Winner = "a=2,value=int32", high
		if got := chosen(t, low, up, Workload{Fixed: int32s, Size: 20}, Interpolated); got != want {
			t.Errorf("%s won at 24: chose %s, expected %s", high, got, want)
		}
	}
}

// A variant without a result at the larger tuned size was slow there or, where it has no room for that size, tells nothing
// by having none.
func TestHasRoom(t *testing.T) {
	low, high := tunedAt(20, 0, 100, 110), tunedAt(40, 0, 0, 119, 300)
	for most, want := range map[int]string{30: "a=2,value=int32", 40: "a=3,value=int32"} { // of a=2
		holds := func(v *device.Variant, size int) bool { return v.Label != "a=2,value=int32" || size <= most }
		if got := chosen(t, low, high, Workload{Fixed: int32s, Size: 30, HasRoom: holds}, Interpolated); got != want {
			t.Errorf("room for %d: chose %s, expected %s", most, got, want)
		}
	}
	if got := chosen(t, low, high, Workload{Fixed: int32s, Size: 30}, Interpolated); got != "a=3,value=int32" {
		t.Errorf("nobody knows what has room: chose %s", got)
	}
}
