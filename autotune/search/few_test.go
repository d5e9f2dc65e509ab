package search

import (
	"errors"
	"strings"
	"testing"
	"time"

	"coalesce/runtime/device"
)

// Variants that run at few sizes are tried there early: where time is short, one that runs at the least size
// alone, and is the fastest there, wins.
func TestMadeForFewSizes(t *testing.T) {
	alone := func(v *device.Variant) bool {
		return strings.HasPrefix(v.Label, "x=6,") || strings.HasPrefix(v.Label, "x=7,")
	}
	b := newBench(func(v *device.Variant, size int) time.Duration {
		if alone(v) {
			return time.Millisecond
		}
		return 2 * time.Millisecond
	})
	p := plan(b, family(12))
	p.Feasible = func(v *device.Variant, size int) error {
		if alone(v) && size > 16 {
			return errors.New("no room")
		}
		return nil
	}
	p.Turn, p.Screened, p.Budget, p.Grace = 2, 12, time.Millisecond, time.Minute
	o, err := Run(t.Context(), b, p)
	if err != nil {
		t.Fatal(err)
	}
	if len(o.Sizes) != 1 || o.Sizes[0].Size != 16 || !alone(o.Sizes[0].Winner) {
		t.Errorf("winners %s, expected one that runs at size 16 alone", winners(o))
	}
	tried := map[string]bool{}
	for _, a := range b.asked {
		if a.Phase == PhaseSize {
			tried[a.Variant.Label] = true
		}
	}
	if len(tried) != leastTried {
		t.Errorf("%d variants were tried at size 16, expected %d, for which there was time", len(tried), leastTried)
	}
}
