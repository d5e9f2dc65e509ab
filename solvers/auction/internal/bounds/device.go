package bounds

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"coalesce/generated/auction"
	"coalesce/runtime/device"
	"coalesce/solvers/auction/internal/packing"
)

// A Bounder bounds children on a device, for several goroutines at once.
type Bounder struct {
	device  device.Device
	variant *device.Variant
	kernels *auction.BoundsKernels

	mu    sync.Mutex
	scope device.Scope     // holds the kernels and the buffers of all launches
	spare []*launchBuffers // those that no goroutine uses
}

// launchBuffers has the stream and the buffers of one launch. A goroutine owns it until the launch ends.
type launchBuffers struct {
	stream                      device.Stream
	words, lists, reals, prices device.Buffer
}

// CheckFits returns an error if a variant cannot bound children of so many columns and rows on a device.
func CheckFits(v *device.Variant, f device.Facts, columns, rows int) error {
	return f.BlockFits(auction.Bounds.Int(v, "block"), sharedBytes(columns, rows)+1024)
}

// HasRoom reports whether the device has room for the children.
func (b *Bounder) HasRoom(c *packing.Children) bool {
	return CheckFits(b.variant, b.device.Facts(), len(c.Prices), len(c.Rows)) == nil
}

// sharedBytes is the dynamic shared memory of a block.
func sharedBytes(columns, rows int) int64 { return 16 * int64(columns+rows) }

// Open loads a variant.
func Open(d device.Device, v *device.Variant) (*Bounder, error) {
	b := &Bounder{device: d, variant: v}
	var err error
	if b.kernels, err = auction.LoadBounds(d, v); err != nil {
		return nil, err
	}
	b.scope.CloseLater(b.kernels)
	return b, nil
}

// Close frees what the bounder took, when no goroutine uses it.
func (b *Bounder) Close() error { return b.scope.Close() }

// takeBuffers returns the buffers of a launch, which the caller gives back.
func (b *Bounder) takeBuffers() (*launchBuffers, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if last := len(b.spare) - 1; last >= 0 {
		l := b.spare[last]
		b.spare = b.spare[:last]
		return l, nil
	}
	l := &launchBuffers{}
	var err error
	l.stream, err = b.scope.NewStream(b.device)
	return l, err
}

func (b *Bounder) freeBuffers(l *launchBuffers) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.spare = append(b.spare, l)
}

// ensureBuffer replaces the buffer at `at` by one of so many bytes, unless it is as large; its content is lost.
func (b *Bounder) ensureBuffer(at *device.Buffer, bytes int64) error {
	if *at != nil && (*at).Len() >= bytes {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.scope.AllocAll(b.device, device.BufferFor(at, max(2*bytes, 1<<16)))
}

// Bound is a packing.Bounder for children that the device has room for, with an error besides.
func (b *Bounder) Bound(ctx context.Context, c *packing.Children) (*packing.Bounds, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l, err := b.takeBuffers()
	if err != nil {
		return nil, err
	}
	defer b.freeBuffers(l)
	p := packChildren(c)
	if err := b.upload(l, p); err != nil {
		return nil, err
	}
	if err := b.launch(l.stream, l, p); err != nil {
		return nil, err
	}
	return b.download(l.stream, l, p)
}

// packedChildren has children in the layout that the kernel reads.
type packedChildren struct {
	words                            []uint32
	lists                            []uint16
	reals                            []float32
	children, columns, rows, entries int
	steps                            int
}

func packChildren(c *packing.Children) *packedChildren {
	n, m := len(c.Prices), len(c.Rows)
	p := &packedChildren{children: len(c.Live), columns: n, rows: m, steps: stepsOf(c), words: make([]uint32, 1, m+n+2)}
	put := func(lists [][]uint16, first int) {
		for _, list := range lists {
			p.lists = append(p.lists, list...)
			p.words = append(p.words, uint32(len(p.lists)-first))
		}
	}
	put(c.Rows, 0)
	p.entries = len(p.lists)
	p.words = append(p.words, 0)
	put(rowsOfColumns(c), p.entries)
	for _, live := range c.Live {
		p.words = append(p.words, live...)
	}
	for _, part := range [][]float32{c.Prices, c.Most, c.X, c.Y, {initialWeight(c)}, c.Enough} {
		p.reals = append(p.reals, part...)
	}
	return p
}

func (b *Bounder) upload(l *launchBuffers, p *packedChildren) error {
	err := errors.Join(b.ensureBuffer(&l.words, 4*int64(len(p.words))), b.ensureBuffer(&l.lists, 2*int64(len(p.lists))),
		b.ensureBuffer(&l.reals, 4*int64(len(p.reals))), b.ensureBuffer(&l.prices, p.answerBytes()))
	if err != nil {
		return err
	}
	return errors.Join(l.stream.Upload(l.words, 0, device.Bytes(p.words)), l.stream.Upload(l.lists, 0, device.Bytes(p.lists)),
		l.stream.Upload(l.reals, 0, device.Bytes(p.reals)))
}

// answerBytes is the size of the answer in bytes.
func (p *packedChildren) answerBytes() int64 { return 4 * int64(p.children) * int64(p.rows+1) }

func (b *Bounder) launch(s device.Stream, l *launchBuffers, p *packedChildren) error {
	grid := device.Grid{Blocks: int64(p.children), Threads: auction.Bounds.Int(b.variant, "block"), Shared: int(sharedBytes(p.columns, p.rows))}
	return b.kernels.Bound(s, grid, l.words, l.lists, l.reals, l.prices, uint64(p.columns), uint64(p.rows), uint64(p.entries), uint64(p.steps))
}

func (b *Bounder) download(s device.Stream, l *launchBuffers, p *packedChildren) (*packing.Bounds, error) {
	all := make([]float32, p.children*(p.rows+1))
	if err := s.Download(device.Bytes(all), l.prices, 0); err != nil {
		return nil, fmt.Errorf("bounds of %d children: %w", p.children, err)
	}
	found := &packing.Bounds{}
	for ; len(all) > 0; all = all[p.rows+1:] {
		found.Y, found.Values = append(found.Y, all[:p.rows]), append(found.Values, all[p.rows])
	}
	return found, nil
}
