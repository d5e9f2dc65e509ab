package plan

import (
	"errors"
	"testing"

	"coalesce/autotune"
	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/solvers/auction/internal/bidders"
	"coalesce/solvers/solve"
)

// The tuner compares algorithms with the one with which a solve of such an auction begins where nothing
// was measured.
func TestPredicted(t *testing.T) {
	s := &solve.Settings{Devices: emulatedtest.OpenSeveral(t, 1)}
	facts := s.Devices[0].Facts()
	sub := NewSubject(nil, nil)
	for _, fixed := range sub.Workloads() {
		for _, items := range []int{2, 14, 25, 26, 30, 36, 37, 1000} {
			want := Branch
			if items <= bidders.MaxItemsOnDevice || fixed["bids"] == alternatives && items <= bidders.MaxItemsOnDevice+mostDummies {
				want = Bidders
			}
			w, err := sub.(autotune.Predictor).Workload(fixed, facts, items)
			if err != nil || AlgorithmName(w.Prior.Variant) != want {
				t.Errorf("%v, %d items: predicted %v, %v, expected %s", fixed, items, w.Prior.Variant, err, want)
			}
			if items > 100 {
				continue
			}
			a := drawAuction(fixed["bids"], items, 0, 1)
			tables, lists := bidders.New(a)
			var refused error
			if lists == nil {
				refused = errors.New("too many items")
			}
			c, err := Choose(s, items, len(a.Bids), tables, refused, nil)
			if err != nil || c.Variant != w.Prior.Variant {
				t.Errorf("%v, %d items: a solve begins with %v, %v, expected %s", fixed, items, c.Variant, err, w.Prior.Variant.Label)
			}
		}
	}
}

// A larger threshold is tried only where it makes a difference.
func TestThreshold(t *testing.T) {
	sub := NewSubject(nil, nil)
	larger := Table.Variant("algorithm=bidders,seconds=5")
	card, host, slow := device.Facts{Kind: device.CUDA, SMs: 132}, device.Facts{Kind: device.Host, SMs: 16}, device.Facts{Kind: device.Host, SMs: 1}
	for _, c := range []struct {
		facts  device.Facts
		items  int
		larger bool
	}{{card, 14, false}, {card, 25, false}, {card, 1000, false}, {host, 10, false}, {slow, 25, true}} {
		if err := sub.Feasible(larger, c.facts, c.items); (err == nil) != c.larger {
			t.Errorf("%s, %d items: %v", c.facts.Kind, c.items, err)
		}
		if err := sub.Feasible(leastBidders(), c.facts, c.items); err != nil && c.items < 100 {
			t.Errorf("%s, %d items: %v", c.facts.Kind, c.items, err)
		}
	}
}
