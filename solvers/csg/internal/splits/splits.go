// Package splits runs the published kernels of coalition structure generation, csg/splits.
package splits

import (
	"context"
	"fmt"
	"math/bits"

	gencsg "coalesce/generated/csg"
	"coalesce/runtime/device"
	"coalesce/solvers/csg/internal/cancel"
	"coalesce/solvers/csg/internal/engine"
	"coalesce/solvers/csg/internal/levels"
	"coalesce/solvers/csg/internal/reference"
	"coalesce/solvers/csg/problem"
)

// An Engine runs the published kernel, csg/splits: GPU-CSG (Svensson et al.,
// Algorithm 7) and the kernel of the report before it. The structure is the
// papers'; where they are wrong or silent, it is mended:
//
//   - A level needs many launches when each covers one C0; origin=rank and
//     origin=each unrank the coalitions of a block, so a level is one launch.
//   - No thread jumps over a barrier: threads without a splitting of their own
//     repeat number 0, the coalition whole, which changes nothing.
//   - Bests start below every value, not at 0: values may be negative.
//   - The grand coalition is evaluated; coalitions after a level's last are
//     the empty one.
//   - problem.Number psi runs below 2^(|C|-1), the highest member staying in the
//     complement, so each splitting is made once. The report's integer
//     construction reaches every splitting only with psi up to C itself.
//   - With the table kept, value and splitting are one 64-bit atomic maximum.
type Engine struct {
	variant *device.Variant
	kernels *gencsg.SplitsKernels
	n       int
	f       device.Buffer
	kept    device.Buffer // the table O; nil unless kept
	cycles  device.Buffer // the checkpoints, nil unless profiled
	found   device.Buffer
	numbers map[int]device.Buffer // by size: the splittings IDP evaluates
	lengths map[int]int
}

func (r *Engine) is(param, value string) bool { return gencsg.Splits.Value(r.variant, param) == value }

// Load loads a variant on a device.
func Load(d device.Device, v *device.Variant) (engine.LoadedVariant, error) {
	k, err := gencsg.LoadSplits(d, v)
	if err != nil {
		return nil, err
	}
	return &loaded{k, v}, nil
}

type loaded struct {
	*gencsg.SplitsKernels
	variant *device.Variant
}

func (l *loaded) Engine(n int) engine.Engine {
	return &Engine{variant: l.variant, kernels: l.SplitsKernels, n: n}
}

// Memory is the memory of a device for n agents, in bytes.
func Memory(v *device.Variant, n int) int64 {
	b := int64(problem.Value(gencsg.Splits.Value(v, "value")).Size()) << n
	if gencsg.Splits.Value(v, "table") == "keep" {
		b += 8 << n
	}
	return b
}

// MaxAgents is the most agents: coalitions are 32-bit masks.
const MaxAgents = 32

// Alloc takes the device memory of an instance of n agents.
func (r *Engine) Alloc(d device.Device, s device.Stream) (err error) {
	if r.f, err = d.Alloc(int64(problem.Value(gencsg.Splits.Value(r.variant, "value")).Size()) << r.n); err != nil {
		return err
	}
	if r.found, err = d.Alloc(8); err != nil {
		return err
	}
	if r.is("table", "keep") {
		if r.kept, err = d.Alloc(8 << r.n); err != nil {
			return err
		}
	}
	if r.is("profile", "on") {
		if r.cycles, err = d.Alloc(8 * gencsg.SplitsCheckpoints); err != nil {
			return err
		}
		if err = s.Fill(r.cycles, 0, 8*gencsg.SplitsCheckpoints, 0); err != nil {
			return err
		}
	}
	if !r.is("method", string(reference.IDP)) {
		return nil
	}
	r.numbers, r.lengths = map[int]device.Buffer{}, map[int]int{}
	for size := 2; size < r.n; size++ {
		low, high := levels.IDPSizes(r.n, size)
		if low == 1 || low > high {
			continue
		}
		list := levels.IDPSplittings(size, low)
		if r.numbers[size], err = d.Alloc(int64(len(list)) * 4); err != nil {
			return err
		}
		r.lengths[size] = len(list)
		if err = s.Upload(r.numbers[size], 0, device.Bytes(list)); err != nil {
			return err
		}
	}
	return nil
}

// Run enqueues every level: afterwards f holds f(C) for every coalition that
// the method evaluates, and v(C) for the others.
func (r *Engine) Run(ctx context.Context, s device.Stream, _ engine.Progress) error {
	s = cancel.Stream{Stream: s, Context: ctx}
	block := gencsg.Splits.Int(r.variant, "block")
	wide := device.Grid{Blocks: (int64(1)<<r.n + int64(block) - 1) / int64(block), Threads: block}
	wide.Blocks = min(wide.Blocks, 1<<16)
	if r.kept != nil {
		if err := r.kernels.Prepare(s, wide, r.f, r.kept, uint64(r.n)); err != nil {
			return err
		}
	}
	for size := 2; size <= r.n; size++ {
		if err := r.level(s, size); err != nil {
			return fmt.Errorf("coalitions of %d agents: %w", size, err)
		}
		if r.kept != nil {
			if err := r.kernels.Settle(s, wide, r.f, r.kept, uint64(size), uint64(r.n)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *Engine) level(s device.Stream, size int) error {
	lambda, alpha, block := gencsg.Splits.Int(r.variant, "lambda"), gencsg.Splits.Int(r.variant, "alpha"), gencsg.Splits.Int(r.variant, "block")
	psi := uint64(1) << (size - 1)
	part := r.numbers[size]
	if r.is("method", string(reference.IDP)) && size < r.n {
		if low, high := levels.IDPSizes(r.n, size); low > high {
			return nil
		}
		if part != nil {
			psi = uint64(r.lengths[size])
		}
	}
	launch := func(c0, first, count, psi uint64) error {
		per := uint64(lambda * block)
		spread := (psi + per - 1) / per
		groups := (count + uint64(alpha) - 1) / uint64(alpha)
		g := device.Grid{Blocks: int64(spread * groups), Threads: block}
		if part != nil {
			return r.kernels.Sizes(s, g, r.f, r.kept, part, c0, first, count, uint64(size), uint64(r.n), spread, psi)
		}
		return r.kernels.Level(s, g, r.f, r.kept, r.cycles, c0, first, count, uint64(size), uint64(r.n), spread, psi)
	}
	count := uint64(levels.Binomial(r.n, size))
	if !r.is("origin", "launch") {
		per := uint64(lambda * block)
		step := engine.MaxBlocks / ((psi + per - 1) / per) * uint64(alpha)
		for first := uint64(0); first < count; first += step {
			if err := launch(0, first, min(step, count-first), psi); err != nil {
				return err
			}
		}
		return nil
	}
	c := uint64(1)<<size - 1
	for first := uint64(0); first < count; first += uint64(alpha) {
		number := psi
		if r.is("construct", "integer") {
			number = c + 1
		}
		here := min(uint64(alpha), count-first)
		if err := launch(c, first, here, number); err != nil {
			return err
		}
		for range here {
			c = levels.NextSet(c)
		}
	}
	return nil
}

func (r *Engine) Upload(ctx context.Context, s device.Stream, values []byte) error {
	return cancel.Upload(ctx, s, r.f, 0, values)
}

func (r *Engine) Table() device.Buffer { return r.f }

func (r *Engine) Total() (device.Buffer, int64) { return r.f, 1<<r.n - 1 }

func (r *Engine) Splittings() float64 {
	return reference.SplittingCount(reference.Method(gencsg.Splits.Value(r.variant, "method")), r.n)
}

// Split reads the table where it was kept and finds the first splitting that
// attains f(c) otherwise.
func (r *Engine) Split(s device.Stream, c uint64) (uint64, error) {
	var word [8]byte
	if r.kept != nil {
		if err := s.Download(word[:], r.kept, int64(c)*8); err != nil {
			return 0, err
		}
		split := uint64(uint32(engine.DecodeWord(word)))
		if split == 1<<32-1 {
			split = 0
		}
		return split, nil
	}
	if err := s.Fill(r.found, 0, 8, 0xff); err != nil {
		return 0, err
	}
	block := gencsg.Splits.Int(r.variant, "block")
	psi := uint64(1) << (bits.OnesCount64(c) - 1)
	per := uint64(gencsg.SplitsRun * block)
	g := device.Grid{Blocks: int64((psi + per - 1) / per), Threads: block}
	if err := r.kernels.Attain(s, g, r.f, r.found, c, psi); err != nil {
		return 0, err
	}
	if err := s.Download(word[:], r.found, 0); err != nil {
		return 0, err
	}
	number := engine.DecodeWord(word)
	if number == 1<<64-1 {
		return 0, nil
	}
	return engine.Deposit(number, c), nil
}

func (r *Engine) Free() error {
	all := []device.Buffer{r.f, r.kept, r.cycles, r.found}
	for _, b := range r.numbers {
		all = append(all, b)
	}
	return engine.FreeAll(all...)
}

// Checkpoints downloads the cycles that a profiled variant spent at each of
// Algorithm 7's checkpoints, summed over its runs; nil where the variant is not profiled.
func (r *Engine) Checkpoints(s device.Stream) ([]uint64, error) {
	if r.cycles == nil {
		return nil, nil
	}
	cycles := make([]uint64, gencsg.SplitsCheckpoints)
	return cycles, s.Download(device.Bytes(cycles), r.cycles, 0)
}
