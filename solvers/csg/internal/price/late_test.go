package price

import (
	"testing"
	"time"
)

// A search is given up before a round that would end too late, and never where time has no limit.
func TestLate(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		elapsed, round, limit time.Duration
		late                  bool
	}{
		{100 * ms, 30 * ms, 0, false},
		{100 * ms, 30 * ms, 220 * ms, false},
		{100 * ms, 30 * ms, 219 * ms, true},
		{300 * ms, 0, 219 * ms, true},
	} {
		if got := late(c.elapsed, c.round, c.limit); got != c.late {
			t.Errorf("%v, a round of %v, of %v: late %t, expected %t", c.elapsed, c.round, c.limit, got, c.late)
		}
	}
}
