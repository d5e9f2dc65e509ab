package offload

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/solvers/auction/internal/packing"
	"coalesce/solvers/solve"
)

// siblings are so many children of three columns, of which two fit one row: without the first,
// without the second and so on.
func siblings(count int) *packing.Children {
	c := &packing.Children{Prices: []float32{1, 0.75, 0.5}, Rows: [][]uint16{{0, 1}}, Most: []float32{1}, X: make([]float32, 3), Y: make([]float32, 1)}
	for k := range count {
		c.Live = append(c.Live, []uint32{7 &^ (1 << (k % 3))})
		c.Enough = append(c.Enough, -1)
	}
	return c
}

// A device bounds children when its searches have ended and not before; after it is lost it does
// not, and the report says why.
func TestDeviceBoundsChildren(t *testing.T) {
	for _, launches := range []int64{1 << 40, 0} {
		d := emulatedtest.NewLosing(emulatedtest.Open(t), launches)
		var set packing.Settings
		s := Attach(&set, solve.Settings{Devices: []device.Device{d}}, time.Now())
		if set.Bounds(t.Context(), siblings(3)) != nil {
			t.Error("children are bounded before searches were")
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		set.Heuristic(ended, clash(rand.New(rand.NewPCG(1, 2)), 10, 0.5, 100), packing.Exchange{})
		if set.Bounds(t.Context(), siblings(maxEmulatedChildren+1)) != nil {
			t.Error("an emulated device bounds many children")
		}
		got := set.Bounds(t.Context(), siblings(3))
		if lost := launches == 0; (got == nil) != lost {
			t.Errorf("after %d launches: %v", launches, got)
		}
		if got != nil {
			for k, want := range []float32{1.25, 1.5, 1} {
				if x := got.Values[k]; x < want-1e-3 || x > want+1e-2 {
					t.Errorf("child %d: the bound is %v, expected %v", k, x, want)
				}
			}
		}
		if set.Bounds(t.Context(), siblings(3)) != nil {
			t.Error("an emulated device, or one that is lost, bounds children twice")
		}
		var r solve.Report
		did, note := s.Report(&r), map[bool]string{false: "emulated bounded 3 children of 1 nodes", true: "children of nodes are tried on the host: "}[launches == 0]
		if notes := strings.Join(r.Notes, "; "); !strings.Contains(notes, note) || (did.Children == 3) == (launches == 0) {
			t.Errorf("%+v with notes %q, expected %q", did, notes, note)
		}
		if err := s.Close(); err != nil && launches > 0 {
			t.Error(err)
		}
	}
}
