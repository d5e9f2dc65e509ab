package csg

import (
	"context"
	"fmt"
	"math/bits"

	gencsg "coalesce/generated/csg"
	"coalesce/runtime/device"
	"coalesce/solvers/csg/internal/cancel"
	"coalesce/solvers/csg/internal/levels"
	"coalesce/solvers/csg/internal/reference"
)

// splits runs the published kernel, csg/splits: GPU-CSG (Svensson et al.,
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
//   - Number psi runs below 2^(|C|-1), the highest member staying in the
//     complement, so each splitting is made once. The report's integer
//     construction reaches every splitting only with psi up to C itself.
//   - With the table kept, value and splitting are one 64-bit atomic maximum.
type splits struct {
	family  *device.Family
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

func (r *splits) is(param, value string) bool { return r.family.Value(r.variant, param) == value }

// alloc takes the device memory of an instance of n agents.
func (r *splits) alloc(d device.Device, s device.Stream) (err error) {
	if r.f, err = d.Alloc(int64(Value(r.family.Value(r.variant, "value")).Size()) << r.n); err != nil {
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
	if !r.is("method", string(IDP)) {
		return nil
	}
	r.numbers, r.lengths = map[int]device.Buffer{}, map[int]int{}
	for size := 2; size < r.n; size++ {
		low, high := levels.Sizes(r.n, size)
		if low == 1 || low > high {
			continue
		}
		list := levels.Numbers(size, low)
		if r.numbers[size], err = d.Alloc(int64(len(list)) * 4); err != nil {
			return err
		}
		r.lengths[size] = len(list)
		if err = s.Upload(r.numbers[size], 0, wordBytes(list)); err != nil {
			return err
		}
	}
	return nil
}

// run enqueues every level: afterwards f holds f(C) for every coalition that
// the method evaluates, and v(C) for the others.
func (r *splits) run(ctx context.Context, s device.Stream, _ levels.Follow) error {
	s = cancel.Stream{Stream: s, Context: ctx}
	block := r.family.Int(r.variant, "block")
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

// most blocks of one launch.
const gridBlocks = 1<<31 - 1

func (r *splits) level(s device.Stream, size int) error {
	lambda, alpha, block := r.family.Int(r.variant, "lambda"), r.family.Int(r.variant, "alpha"), r.family.Int(r.variant, "block")
	psi := uint64(1) << (size - 1)
	part := r.numbers[size]
	if r.is("method", string(IDP)) && size < r.n {
		if low, high := levels.Sizes(r.n, size); low > high {
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
		step := gridBlocks / ((psi + per - 1) / per) * uint64(alpha)
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
			c = levels.Next(c)
		}
	}
	return nil
}

func (r *splits) upload(ctx context.Context, s device.Stream, values []byte) error {
	return cancel.Upload(ctx, s, r.f, 0, values)
}

func (r *splits) table() device.Buffer { return r.f }

func (r *splits) total() (device.Buffer, int64) { return r.f, 1<<r.n - 1 }

func (r *splits) splittings() float64 {
	return reference.SplittingCount(Method(r.family.Value(r.variant, "method")), r.n)
}

// split reads the table where it was kept and finds the first splitting that
// attains f(c) otherwise.
func (r *splits) split(s device.Stream, c uint64) (uint64, error) {
	var word [8]byte
	if r.kept != nil {
		if err := s.Download(word[:], r.kept, int64(c)*8); err != nil {
			return 0, err
		}
		split := uint64(uint32(wordOf(word)))
		if split == 1<<32-1 {
			split = 0
		}
		return split, nil
	}
	if err := s.Fill(r.found, 0, 8, 0xff); err != nil {
		return 0, err
	}
	block := r.family.Int(r.variant, "block")
	psi := uint64(1) << (bits.OnesCount64(c) - 1)
	per := uint64(gencsg.SplitsRun * block)
	g := device.Grid{Blocks: int64((psi + per - 1) / per), Threads: block}
	if err := r.kernels.Attain(s, g, r.f, r.found, c, psi); err != nil {
		return 0, err
	}
	if err := s.Download(word[:], r.found, 0); err != nil {
		return 0, err
	}
	number := wordOf(word)
	if number == 1<<64-1 {
		return 0, nil
	}
	return deposit(number, c), nil
}

// deposit maps the members of an index to the members of c (initialSplit).
func deposit(index, c uint64) uint64 {
	var s uint64
	for ; index != 0; index >>= 1 {
		low := c & -c
		if index&1 != 0 {
			s |= low
		}
		c ^= low
	}
	return s
}

func (r *splits) free() error {
	all := []device.Buffer{r.f, r.kept, r.cycles, r.found}
	for _, b := range r.numbers {
		all = append(all, b)
	}
	return freeAll(all...)
}
