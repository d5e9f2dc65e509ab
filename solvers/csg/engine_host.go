package csg

import (
	"context"
	"fmt"
	"math/bits"

	gencsg "coalesce/generated/csg"
	"coalesce/runtime/collective"
	"coalesce/runtime/device"
	"coalesce/runtime/host"
	"coalesce/solvers/csg/internal/cancel"
	"coalesce/solvers/csg/internal/levels"
	"coalesce/solvers/csg/internal/onhost"
	"coalesce/solvers/csg/internal/reference"
)

// hosttiles runs csg/hosttiles: f over the coalitions without the last agent,
// then one pass over the values of those with it.
type hosttiles struct {
	family  *device.Family
	variant *device.Variant
	kernels *gencsg.HosttilesKernels
	n       int
	workers int
	blocks  int              // blocks of goroutines in the launch of the last step; its output has a value for each
	ranks   collective.Ranks // nil: this process alone
	lower   bool             // coalitions with the last agent are left out
	f, out  device.Buffer
}

func (r *hosttiles) alloc(d device.Device, _ device.Stream) (err error) {
	r.workers = d.Facts().SMs
	size := int64(Value(r.family.Value(r.variant, "value")).Size())
	n := r.n
	if r.lower {
		n--
	}
	if r.f, err = d.Alloc(size << n); err != nil {
		return err
	}
	r.blocks = r.workers
	if r.ranks != nil { // all ranks take the same number of blocks, though their hosts may differ in cores
		r.blocks = 2 * r.ranks.Size()
	}
	r.out, err = d.Alloc(size * int64(onhost.Out(r.n, r.blocks)))
	return err
}

func (r *hosttiles) free() error { return freeAll(r.f, r.out) }

func (r *hosttiles) upload(ctx context.Context, s device.Stream, values []byte) error {
	return cancel.Upload(ctx, s, r.f, 0, values)
}

func (r *hosttiles) run(ctx context.Context, s device.Stream, w levels.Follow) error {
	s = cancel.Stream{Stream: s, Context: ctx}
	if r.lower {
		return onhost.Levels(r.kernels, s, r.f, r.n-1, r.family.Int(r.variant, "k"), r.workers, int(r.f.Len()>>(r.n-1)), r.ranks, w)
	}
	return onhost.Run(r.kernels, s, r.f, r.out, r.n, r.family.Int(r.variant, "k"), onhost.Out(r.n, r.blocks), r.workers, r.ranks, w)
}

// Sent implements sender.
func (r *hosttiles) Sent() int64 {
	if s, ok := r.ranks.(sender); ok {
		return s.Sent()
	}
	return 0
}

func (r *hosttiles) tileBits() int { return r.family.Int(r.variant, "k") }

func (r *hosttiles) tables() ([]device.Device, []device.Buffer) {
	return nil, []device.Buffer{r.f}
}

func (r *hosttiles) lowerOnly() { r.lower = true }

func (r *hosttiles) table() device.Buffer          { return r.f }
func (r *hosttiles) total() (device.Buffer, int64) { return r.out, 0 }
func (r *hosttiles) splittings() float64           { return reference.SplittingCount(Apart, r.n) }

// split returns one part of a best splitting of c, 0 where c is a block. Of all agents, the part
// with the last agent is a block and has its own value.
func (r *hosttiles) split(s device.Stream, c uint64) (uint64, error) {
	if err := s.Sync(); err != nil {
		return 0, err
	}
	switch t := Value(r.family.Value(r.variant, "value")); t {
	case Int32:
		return splitOf[int32](r, c), nil
	case Int64:
		return splitOf[int64](r, c), nil
	case Float32:
		return splitOf[float32](r, c), nil
	case Float64:
		return splitOf[float64](r, c), nil
	default:
		return 0, fmt.Errorf("%s: value type %q", r.family.Name, t)
	}
}

func splitOf[T Number](r *hosttiles, c uint64) uint64 {
	f := host.Slice[T](device.Ptr(r.f))
	last := uint64(1) << (r.n - 1)
	if c&last == 0 {
		return reference.Attaining(f, c)
	}
	if bits.OnesCount64(c) < r.n {
		return 0 // the last agent's block, which the splitting of all agents found
	}
	return reference.AttainingLast(f, c, host.Slice[T](device.Ptr(r.out))[0])
}
