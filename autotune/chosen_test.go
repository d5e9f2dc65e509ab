package autotune_test

import (
	"maps"
	"testing"
	"time"

	"coalesce/autotune"
	"coalesce/autotune/internal/fake"
	"coalesce/autotune/tuned"
	"coalesce/runtime/device"
)

// An odd subject's even sizes suit another workload.
type odd struct{ named }

func (odd) Workload(fixed map[string]string, _ device.Facts, size int) (tuned.Workload, error) {
	w := tuned.Workload{Fixed: maps.Clone(fixed), Size: size}
	if size%2 == 0 {
		w.Fixed = map[string]string{"value": "another"}
	}
	return w, nil
}

func (odd) Sizes(device.Facts) []int { return []int{100, 201, 400} }

// A budget goes to the sizes at which solves choose a variant for the workload, unless others were asked for.
func TestChosen(t *testing.T) {
	for _, asked := range [][]int{nil, {100, 201}} {
		s := simulatedFamilies(1, 1)
		s.tasks[0].Subject, s.tasks[0].Sizes = odd{s.tasks[0].Subject.(named)}, asked
		d := &fake.Device{F: device.Facts{Kind: device.Host, Name: "fake"}}
		untuned, known := autotune.CountUntuned(&tuned.Database{}, s.tasks[0].Subject, d.F)
		if untuned != 1 || known != 1 {
			t.Errorf("%d of %d sizes are untuned, expected one", untuned, known)
		}
		s.tune(t, 11, time.Minute, "")
		if want := max(1, len(asked)); len(s.keys()) != want {
			t.Errorf("sizes %v asked for: winners %v, expected %d", asked, s.keys(), want)
		}
	}
}
