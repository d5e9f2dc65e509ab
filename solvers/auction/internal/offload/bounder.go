package offload

import (
	"cmp"
	"context"
	"time"

	"coalesce/generated/auction"
	"coalesce/runtime/device"
	"coalesce/solvers/auction/internal/bounds"
	"coalesce/solvers/auction/internal/packing"
	"coalesce/solvers/solve"
)

// maxQuiet is the time without a better packing after which searches on a GPU end, so that the GPU
// bounds children: it has no room for both at once.
const maxQuiet = 500 * time.Millisecond

// maxEmulatedChildren is the most children that an emulated device bounds; each takes a tenth of a second.
const maxEmulatedChildren = 16

// openBounder opens the bounder of the first device for problems of so many bids. Where that fails, it
// notes the reason and returns nil.
func (s *Companion) openBounder(bids int) *bounds.Bounder {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bounder != nil || s.boundErr != nil {
		return s.bounder
	}
	d := s.o.Devices[0]
	chosen := solve.Settings{Tuning: s.o.Tuning}
	choice, err := chosen.Choose(&auction.Bounds, d.Facts(), bounds.Workload(bids), func(v *device.Variant) error { return bounds.CheckFits(v, d.Facts(), 0, 0) })
	if err == nil {
		s.bounder, err = bounds.Open(d, choice.Variant)
	}
	if err != nil {
		s.boundErr = err
	}
	return s.bounder
}

// bound is a packing.Bounder. It bounds nothing while searches run.
func (s *Companion) bound(ctx context.Context, c *packing.Children) *packing.Bounds {
	b := s.idle.Load()
	if b == nil || !b.HasRoom(c) {
		return nil
	}
	if s.isEmulated() {
		if len(c.Live) > maxEmulatedChildren {
			return nil
		}
		s.idle.Store(nil) // after one node
	}
	got, err := b.Bound(ctx, c)
	if err != nil {
		if ctx.Err() == nil {
			s.idle.Store(nil)
			s.mu.Lock()
			defer s.mu.Unlock()
			s.boundErr = cmp.Or(s.boundErr, err)
		}
		return nil
	}
	s.nodes.Add(1)
	s.children.Add(int64(len(c.Live)))
	return got
}

// Close frees the bounder's memory on the device, when the tree is done.
func (s *Companion) Close() error {
	if s.bounder == nil {
		return nil
	}
	return s.bounder.Close()
}
