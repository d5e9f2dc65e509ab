package tuned

import "testing"

// What won at both tuned sizes around one stays there, though another took a little less, as where samples scatter;
// what took much less does not wait for a winner's crown.
func TestWonAtBoth(t *testing.T) {
	for _, c := range []struct {
		other int64 // time of a=3 at size 16, of 100; at 24 twice that
		want  string
	}{{97, "a=2,value=int32"}, {90, "a=3,value=int32"}} {
		low, high := tunedAt(16, 150, 100, c.other), tunedAt(24, 300, 200, 2*c.other)
		low.Winner, high.Winner = "a=2,value=int32", "a=2,value=int32"
		db, err := New(low, high)
		if err != nil {
			t.Fatal(err)
		}
		got, err := db.Choose(family(), facts, Workload{Fixed: int32s, Size: 20}, nil)
		if err != nil || got.Variant.Label != c.want || got.Level != Interpolated {
			t.Errorf("a=3 takes %d of 100: chose %v (%v, %v), expected %s", c.other, got.Variant.Label, got.Level, err, c.want)
		}
	}
}

// Beyond the tuned sizes a variant grows by a quarter of its own growth and three quarters of that of all.
func TestGrowthBeyond(t *testing.T) {
	for _, c := range []struct {
		second int64 // time of a=2 at size 20, of 100 at 10; a=1 takes 50 and 100 there
		want   string
	}{{125, "a=1,value=int32"}, {101, "a=2,value=int32"}} {
		low, high := tunedAt(10, 50, 100), tunedAt(20, 100, c.second)
		high.Winner = "a=1,value=int32"
		db, err := New(low, high)
		if err != nil {
			t.Fatal(err)
		}
		got, err := db.Choose(family(), facts, Workload{Fixed: int32s, Size: 50}, nil)
		if err != nil || got.Variant.Label != c.want || got.Level != Extrapolated {
			t.Errorf("a=2 takes %d at 20: chose %v (%v, %v), expected %s", c.second, got.Variant.Label, got.Level, err, c.want)
		}
	}
}
