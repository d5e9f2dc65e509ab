package hosttiles

import (
	"context"
	"fmt"
	"math/bits"

	gencsg "coalesce/generated/csg"
	"coalesce/runtime/collective"
	"coalesce/runtime/device"
	"coalesce/runtime/host"
	"coalesce/solvers/csg/internal/cancel"
	"coalesce/solvers/csg/internal/engine"
	"coalesce/solvers/csg/internal/reference"
	"coalesce/solvers/csg/problem"
)

// An Engine runs csg/hosttiles: f over the coalitions without the last agent,
// then one pass over the values of those with it.
type Engine struct {
	variant *device.Variant
	kernels *gencsg.HosttilesKernels
	n       int
	workers int
	blocks  int              // blocks of goroutines in the launch of the last step; its output has a value for each
	ranks   collective.Ranks // nil: this process alone
	lower   bool             // coalitions with the last agent are left out
	f, out  device.Buffer
}

// Load loads a variant on a host, which shares the work with those of other ranks unless ranks is nil.
func Load(d device.Device, v *device.Variant, ranks collective.Ranks) (engine.LoadedVariant, error) {
	k, err := gencsg.LoadHosttiles(d, v)
	if err != nil {
		return nil, err
	}
	return &loaded{k, v, ranks}, nil
}

type loaded struct {
	*gencsg.HosttilesKernels
	variant *device.Variant
	ranks   collective.Ranks
}

func (l *loaded) Engine(n int) engine.Engine {
	return &Engine{variant: l.variant, kernels: l.HosttilesKernels, n: n, ranks: l.ranks}
}

// Memory is the memory of a host for n agents, in bytes, beside the instance's values.
func Memory(v *device.Variant, n int) int64 {
	return int64(problem.Value(gencsg.Hosttiles.Value(v, "value")).Size()) << n
}

func (r *Engine) Alloc(d device.Device, _ device.Stream) (err error) {
	r.workers = d.Facts().SMs
	size := int64(problem.Value(gencsg.Hosttiles.Value(r.variant, "value")).Size())
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
	r.out, err = d.Alloc(size * int64(OutLen(r.n, r.blocks)))
	return err
}

func (r *Engine) Free() error { return engine.FreeAll(r.f, r.out) }

func (r *Engine) Upload(ctx context.Context, s device.Stream, values []byte) error {
	return cancel.Upload(ctx, s, r.f, 0, values)
}

func (r *Engine) Run(ctx context.Context, s device.Stream, progress engine.Progress) error {
	s = cancel.Stream{Stream: s, Context: ctx}
	if r.lower {
		return runLevels(r.kernels, s, r.f, r.n-1, gencsg.Hosttiles.Int(r.variant, "k"), r.workers, int(r.f.Len()>>(r.n-1)), r.ranks, progress)
	}
	return Run(r.kernels, s, r.f, r.out, r.n, gencsg.Hosttiles.Int(r.variant, "k"), OutLen(r.n, r.blocks), r.workers, r.ranks, progress)
}

// BytesSent implements engine.Sender.
func (r *Engine) BytesSent() int64 { return engine.BytesSent(r.ranks) }

func (r *Engine) TileBits() int { return gencsg.Hosttiles.Int(r.variant, "k") }

func (r *Engine) Tables() ([]device.Device, []device.Buffer) {
	return nil, []device.Buffer{r.f}
}

func (r *Engine) SkipLastAgent() { r.lower = true }

func (r *Engine) Table() device.Buffer          { return r.f }
func (r *Engine) Total() (device.Buffer, int64) { return r.out, 0 }
func (r *Engine) Splittings() float64           { return reference.SplittingCount(reference.Apart, r.n) }

// Split returns one part of a best splitting of c, 0 where c is a block. Of all agents, the part
// with the last agent is a block and has its own value.
func (r *Engine) Split(s device.Stream, c uint64) (uint64, error) {
	if err := s.Sync(); err != nil {
		return 0, err
	}
	switch t := problem.Value(gencsg.Hosttiles.Value(r.variant, "value")); t {
	case problem.Int32:
		return splitOf[int32](r, c), nil
	case problem.Int64:
		return splitOf[int64](r, c), nil
	case problem.Float32:
		return splitOf[float32](r, c), nil
	case problem.Float64:
		return splitOf[float64](r, c), nil
	default:
		return 0, fmt.Errorf("%s: value type %q", gencsg.Hosttiles.Name, t)
	}
}

func splitOf[T problem.Number](r *Engine, c uint64) uint64 {
	f := host.Slice[T](device.Ptr(r.f))
	last := uint64(1) << (r.n - 1)
	if c&last == 0 {
		return reference.AttainingPart(f, c)
	}
	if bits.OnesCount64(c) < r.n {
		return 0 // the last agent's block, which the splitting of all agents found
	}
	return reference.AttainingLast(f, c, host.Slice[T](device.Ptr(r.out))[0])
}
