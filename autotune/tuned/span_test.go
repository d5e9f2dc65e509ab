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

// What won at both tuned sizes around one stays there, though another took a little less, as where samples scatter;
// another that took much less is chosen.
func TestWonAtBoth(t *testing.T) {
	for other, want := range map[int64]string{97: "a=2,value=int32", 90: "a=3,value=int32"} { // of a=3 at size 16, where a=2 takes 100; at 24 twice that
		low, high := tunedAt(16, 150, 100, other), tunedAt(24, 300, 200, 2*other)
		low.Winner, high.Winner = "a=2,value=int32", "a=2,value=int32"
		if got := chosen(t, low, high, Workload{Fixed: int32s, Size: 20}, Interpolated); got != want {
			t.Errorf("a=3 takes %d of 100: chose %s, expected %s", other, got, want)
		}
	}
}

// Beyond the tuned sizes a variant grows by a quarter of its own growth and three quarters of that of all.
func TestGrowthBeyond(t *testing.T) {
	for second, want := range map[int64]string{125: "a=1,value=int32", 101: "a=2,value=int32"} { // of a=2 at size 20, of 100 at 10; a=1 takes 50 and 100
		low, high := tunedAt(10, 50, 100), tunedAt(20, 100, second)
		high.Winner = "a=1,value=int32"
		if got := chosen(t, low, high, Workload{Fixed: int32s, Size: 50}, Extrapolated); got != want {
			t.Errorf("a=2 takes %d at 20: chose %s, expected %s", second, got, want)
		}
	}
}

// A variant without a result at the larger tuned size was slow there or, where it has no room for that size, tells nothing
// by having none.
func TestHolds(t *testing.T) {
	low, high := tunedAt(20, 0, 100, 110), tunedAt(40, 0, 0, 119, 300)
	for most, want := range map[int]string{30: "a=2,value=int32", 40: "a=3,value=int32"} { // of a=2
		holds := func(v *device.Variant, size int) bool { return v.Label != "a=2,value=int32" || size <= most }
		if got := chosen(t, low, high, Workload{Fixed: int32s, Size: 30, Holds: holds}, Interpolated); got != want {
			t.Errorf("room for %d: chose %s, expected %s", most, got, want)
		}
	}
	if got := chosen(t, low, high, Workload{Fixed: int32s, Size: 30}, Interpolated); got != "a=3,value=int32" {
		t.Errorf("nobody knows what has room: chose %s", got)
	}
}
