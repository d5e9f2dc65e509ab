package ways

import (
	"errors"
	"testing"

	"coalesce/autotune"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/solvers/auction/internal/bidders"
	"coalesce/solvers/solve"
)

// The tuner compares algorithms with the one with which a solve of such an auction begins where nothing
// was measured.
func TestPredicted(t *testing.T) {
	s := &solve.Settings{Devices: emulatedtest.Several(t, 1)}
	facts := s.Devices[0].Facts()
	sub := Subject[int](nil, nil, nil)
	for _, fixed := range sub.Fixed() {
		for _, items := range []int{2, 14, 25, 26, 30, 36, 37, 1000} {
			want := Branch
			if items <= bidders.MaxItemsOnDevice || fixed["bids"] == alternatives && items <= bidders.MaxItemsOnDevice+mostDummies {
				want = Bidders
			}
			w, err := sub.(autotune.Predictor).Workload(fixed, facts, items)
			if err != nil || Name(w.Suits) != want {
				t.Errorf("%v, %d items: predicted %v, %v, expected %s", fixed, items, w.Suits, err, want)
			}
			if items > 100 {
				continue
			}
			asked := draw(fixed["bids"], items, 0, 1)
			tables, lists := bidders.New(asked, func(id int64) bool { return id >= int64(items) })
			var refused error
			if lists == nil {
				refused = errors.New("too many items")
			}
			c, err := Choose(s, items, len(asked), tables, refused, nil)
			if err != nil || c.Variant != w.Suits {
				t.Errorf("%v, %d items: a solve begins with %v, %v, expected %s", fixed, items, c.Variant, err, w.Suits.Label)
			}
		}
	}
}
