package ranks

import (
	"slices"
	"testing"

	"coalesce/runtime/collective"
	"coalesce/runtime/collective/collectivetest"
	"coalesce/runtime/device"
)

// Devices of a class share the work, and of ranks that share a device one has a part.
func TestPart(t *testing.T) {
	places := []Place{{"GPU-a", "H200"}, {"GPU-b", "H200"}, {"GPU-a", "H200"}, {"host one", "Xeon"}, {"GPU-c", "H200"}, {"host one", "Xeon"}}
	want := []string{"1/3", "2/3", "", "1/1", "3/3", ""}
	ranks, got := collectivetest.Ranks(len(places)), make([]string, len(places))
	err := collective.OnAll(len(places), func(k int) error {
		part, classes, devices, err := TuningPart(ranks[k], places[k])
		if classes != 2 || devices != 4 {
			t.Errorf("rank %d: %d classes, %d devices, expected 2 and 4", k, classes, devices)
		}
		got[k] = part
		return err
	})
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v: parts %q, expected %q", err, got, want)
	}
}

// GPUs are told apart by what they are, other devices by their host.
func TestPlaceOf(t *testing.T) {
	gpu := device.Facts{Kind: device.CUDA, UUID: "GPU-a", Name: "H200"}
	one, err := PlaceOf(gpu)
	gpu.Index = 3
	again, failed := PlaceOf(gpu)
	if err != nil || failed != nil || one != again || one.Device != "GPU-a" {
		t.Errorf("one GPU has the places %v and %v: %v %v", one, again, err, failed)
	}
	host, err := PlaceOf(device.Facts{Kind: device.Host})
	emulated, failed := PlaceOf(device.Facts{Kind: "emulated"})
	if err != nil || failed != nil || host.Device == emulated.Device || host.Class == emulated.Class {
		t.Errorf("the host is %v, the emulated device %v: %v %v", host, emulated, err, failed)
	}
}
