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
		if err := x.agree(&solve.Report{Value: c.value}); (err == nil) != c.right || err != nil && !errors.Is(err, errWrong) {
			t.Errorf("value %q, timed %v: %v", c.value, c.timed, err)
		}
	}
}

// Measurements at another size count where the rule names the same algorithm there, whatever its
// thresholds.
func TestSpeaks(t *testing.T) {
	f := Family("toy/algorithm", []string{"algorithm", "bound"},
		Algorithm{Values: []string{"a", "1"}}, Algorithm{Values: []string{"a", "2"}}, Algorithm{Values: []string{"b", "1"}})
	w := Workload(nil, 50, func(size int) (*device.Variant, string) {
		switch {
		case size < 10:
			return &f.Variants[2], "small"
		case size < 40:
			return &f.Variants[1], "middling"
		}
		return &f.Variants[0], "large"
	})
	if w.Suits != &f.Variants[0] || w.Why != "large" || !w.Speaks(60) || !w.Speaks(20) || w.Speaks(5) {
		t.Errorf("suits %s, %s; sizes 60, 20 and 5 speak: %v, %v, %v", w.Suits.Label, w.Why, w.Speaks(60), w.Speaks(20), w.Speaks(5))
	}
}
