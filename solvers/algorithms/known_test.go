package algorithms

import (
	"errors"
	"testing"

	"coalesce/runtime/device"
	"coalesce/solvers/solve"
)

// Of a known value, a timed run may fall short; one that verifies may not, and none is above.
func TestKnown(t *testing.T) {
	for _, c := range []struct {
		value solve.Number
		timed bool
		right bool
	}{{"7", false, true}, {"7", true, true}, {"6", false, false}, {"6", true, true}, {"8", false, false}, {"8", true, false}, {"", true, false}} {
		x := &instance[int]{known: func(int) solve.Number { return "7" }, timed: c.timed}
		if err := x.checkAnswer(&solve.Report{Value: c.value}); (err == nil) != c.right || err != nil && !errors.Is(err, errWrong) {
			t.Errorf("value %q, timed %v: %v", c.value, c.timed, err)
		}
	}
}

// Measurements at another size count where the rule names the same algorithm there, whatever its
// thresholds.
func TestComparable(t *testing.T) {
	f := NewFamily("toy/algorithm", []string{"algorithm", "bound"},
		Algorithm{Values: []string{"a", "1"}}, Algorithm{Values: []string{"a", "2"}}, Algorithm{Values: []string{"b", "1"}})
	w := PredictedWorkload(nil, 50, func(size int) (*device.Variant, string) {
		switch {
		case size < 10:
			return &f.Variants[2], "small"
		case size < 40:
			return &f.Variants[1], "middling"
		}
		return &f.Variants[0], "large"
	})
	if w.Prior.Variant != &f.Variants[0] || w.Prior.Why != "large" || w.Comparable(nil, 60) != nil || w.Comparable(nil, 20) != nil || w.Comparable(nil, 5) == nil {
		t.Errorf("prior %s, %s; sizes 60, 20 and 5: %v, %v, %v", w.Prior.Variant.Label, w.Prior.Why, w.Comparable(nil, 60), w.Comparable(nil, 20), w.Comparable(nil, 5))
	}
}
