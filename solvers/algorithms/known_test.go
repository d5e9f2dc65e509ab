package algorithms

import (
	"errors"
	"testing"

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
