package auction

import (
	"bytes"
	"context"
	"reflect"
	"testing"

	"coalesce/solvers/solve"
)

// What is drawn is an auction that is written, read back the same, and solved alike by
// branch and cut and by the reference.
func TestGenerate(t *testing.T) {
	for _, name := range Distributions() {
		if AboutDistribution(name) == "" {
			t.Errorf("nothing is said about %s", name)
		}
		a, err := Generate(name, 12, 30, 4)
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if notes, err := Write(&text, a, CATS); err != nil || len(notes) > 0 {
			t.Fatalf("%s: %v %v", name, notes, err)
		}
		back, err := ReadFrom(&text, "back")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if back.Goods != a.Goods || back.Dummies != a.Dummies || back.Scale != a.Scale || len(back.Bids) != len(a.Bids) || len(back.Notes) != 1 {
			t.Fatalf("%s: drawn %d goods and %d bids, read %d and %d, notes %v", name, a.Goods, len(a.Bids), back.Goods, len(back.Bids), back.Notes)
		}
		for i, b := range a.Bids {
			if got := back.Bids[i]; got.Price != b.Price || !reflect.DeepEqual(got.Goods, b.Goods) {
				t.Fatalf("%s: drawn %+v, read %+v", name, b, got)
			}
		}
		want, err := Reference(back)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, err := Solve(context.Background(), a, Options{Settings: solve.Settings{Algorithm: Branch}})
		if err != nil || got.Value != want.Value || !got.Proven || name != "L8" && got.Value == "0" {
			t.Errorf("%s: %s, proven %t, %v, the reference finds %s", name, got.Value, got.Proven, err, want.Value)
		}
	}
	if _, err := Generate("L9", 3, 3, 1); err == nil || AboutDistribution("L9") != "" {
		t.Error("L9 is drawn")
	}
}
