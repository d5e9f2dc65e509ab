package host

import (
	"fmt"

	"coalesce/runtime/device"
)

// BlockRange is a host's stream that runs, of every launch, blocks first to end-1 alone: the
// others are another process's.
func BlockRange(s device.Stream, first, end int64) device.Stream {
	return part{s, first, end}
}

type part struct {
	device.Stream
	first, end int64
}

func (p part) Launch(k device.Kernel, g device.Grid, args ...device.Arg) error {
	h, ok := k.(*kernel)
	if !ok || p.first < 0 || p.end > g.Blocks {
		return fmt.Errorf("host: blocks %d to %d of a grid of %d", p.first, p.end, g.Blocks)
	}
	some, blocks := *h, g.Blocks
	some.run = func(block, _ int64, args []device.Arg) { h.run(p.first+block, blocks, args) }
	g.Blocks = p.end - p.first
	return p.Stream.Launch(&some, g, args...)
}
