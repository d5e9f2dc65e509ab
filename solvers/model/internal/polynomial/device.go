package polynomial

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"coalesce/autotune/tuned"
	"coalesce/generated/model"
	"coalesce/runtime/device"
	"coalesce/solvers/model/problem"
	"coalesce/solvers/solve"
)

// value is the type of coefficients.
func (t *Terms) value() string {
	if t.packed {
		return "int16"
	}
	return "int64"
}

// checkFits says why a variant cannot take so many variables.
func checkFits(v *device.Variant, f device.Facts, n int) error {
	if n > mostBound && model.Polynomial.Value(v, "change") == "pair" {
		return fmt.Errorf("found %d variables, expected at most %d", n, mostBound)
	}
	if err := f.BlockFits(model.Polynomial.Int(v, "block"), int64(sharedBytes(v, n)+1024)); err != nil {
		return fmt.Errorf("%d variables: %w", n, err)
	}
	return nil
}

// workload is the description by which a variant is chosen. On an H200 few threads a block make the most moves a second, at 60 to 2,000
// variables (docs/notes/models.md).
func workload(value string, n int, bundled bool) tuned.Workload {
	w := tuned.Workload{Fixed: map[string]string{"value": value}, Size: n}
	change := "term"
	if bundled {
		change = "pair"
	}
	if v := model.Polynomial.Variant("block=64,flight=1,change=" + change + ",value=" + value); v != nil {
		w.Prior = tuned.Prior{Variant: v, Why: "the most moves a second on an H200"}
	}
	return w
}

// Choose is the variant for a polynomial on the devices of the settings, the fastest that is known. Errors of what no variant takes
// wrap ErrUnfit.
func (t *Terms) Choose(s *solve.Settings) (tuned.Choice, error) {
	facts := s.WeakestFacts()
	c, err := s.Choose(&model.Polynomial, facts, workload(t.value(), t.n, t.bundled), func(v *device.Variant) error {
		if !t.bundled && model.Polynomial.Value(v, "change") == "pair" {
			return errors.New("found few terms of two variables with the same coefficient")
		}
		return checkFits(v, facts, t.n)
	})
	if err != nil && !errors.Is(err, tuned.ErrNotTuned) {
		err = fmt.Errorf("%w: %w", ErrUnfit, err)
	}
	return c, err
}

// Walks are searches of a polynomial on a device, as many as it runs at once.
type Walks struct {
	*Terms
	variant *device.Variant
	kernels *model.PolynomialKernels
	stream  device.Stream
	scope   device.Scope
	grid    device.Grid
	memory  buffers
}

// buffers are the memory on the device. Rows and values are of good solutions and of the tops of walks, which change places each round.
type buffers struct {
	from, words, weights, sheaves device.Buffer
	rows, values                  [2]device.Buffer
}

// resident is how many blocks a device runs at once.
func resident(f device.Facts, k *model.PolynomialKernels, block, shared int) int {
	const registers, threads, blocks, reserved = 65536, 2048, 32, 1024 // of a multiprocessor
	each := (max(32, k.Resources("walk").Registers) + 7) / 8 * 8
	many := min(registers/(each*block), threads/block, blocks)
	if f.SharedPerBlock > 0 {
		many = min(many, (int(f.SharedPerBlock)+reserved)/(shared+reserved))
	}
	return max(1, f.SMs) * max(1, many)
}

// Open loads a variant, takes memory and uploads the terms.
func (t *Terms) Open(d device.Device, v *device.Variant) (w *Walks, err error) {
	w = &Walks{Terms: t, variant: v}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("model/polynomial on %s: %w", d.Facts(), err), w.Close())
			w = nil
		}
	}()
	if w.kernels, err = model.LoadPolynomial(d, v); err != nil {
		return w, err
	}
	w.scope.CloseLater(w.kernels)
	block := model.Polynomial.Int(v, "block")
	shared := sharedBytes(v, t.n)
	w.grid = device.Grid{Blocks: int64(resident(d.Facts(), w.kernels, block, shared)), Threads: block, Shared: shared}
	if w.stream, err = w.scope.NewStream(d); err != nil {
		return w, err
	}
	row := 4 * int64(t.rowWords()) * w.grid.Blocks
	err = w.scope.AllocAll(d, device.BufferFor(&w.memory.from, 4*int64(len(t.from))), device.BufferFor(&w.memory.words, 8*int64(len(t.words))), device.BufferFor(&w.memory.weights, 8*int64(len(t.weights))),
		device.BufferFor(&w.memory.sheaves, 8*int64(len(t.sheaves))),
		device.BufferFor(&w.memory.rows[0], row), device.BufferFor(&w.memory.rows[1], row), device.BufferFor(&w.memory.values[0], 8*w.grid.Blocks), device.BufferFor(&w.memory.values[1], 8*w.grid.Blocks))
	if err != nil {
		return w, err
	}
	return w, errors.Join(w.stream.Upload(w.memory.from, 0, device.Bytes(t.from)), w.stream.Upload(w.memory.words, 0, device.Bytes(t.words)), w.stream.Upload(w.memory.weights, 0, device.Bytes(t.weights)),
		w.stream.Upload(w.memory.sheaves, 0, device.Bytes(t.sheaves)))
}

// Close gives back the memory and the module.
func (w *Walks) Close() error { return w.scope.Close() }

// Steps of a walk in the first round, and the time that rounds are to take.
const (
	firstSteps = 1 << 7
	roundTime  = 20 * time.Millisecond
)

// Search makes rounds of steps until the context ends or each walk has made work moves, 0: no limit, with which it depends on the seed
// alone. found is called with each better solution, from bits start on, nil: drawn ones. It returns the moves of all walks.
func (w *Walks) Search(ctx context.Context, start []uint8, seed uint64, work int64, found func(value int64, x []uint8)) (moves int64, err error) {
	count, words := int(w.grid.Blocks), w.rowWords()
	random := rand.New(rand.NewPCG(seed, 64))
	rows, values := make([]uint32, count*words), make([]int64, count)
	for k := range rows {
		rows[k] = random.Uint32()
	}
	for k := range values {
		values[k] = math.MaxInt64
	}
	if start != nil {
		copy(rows, w.row(start))
		values[0] = w.form.Value(start) - w.form.Offset
	}
	if err := errors.Join(w.stream.Upload(w.memory.rows[0], 0, device.Bytes(rows)), w.stream.Upload(w.memory.values[0], 0, device.Bytes(values))); err != nil {
		return 0, err
	}
	best, steps := int64(math.MaxInt64), int64(firstSteps)
	for round := uint64(0); ctx.Err() == nil && (work <= 0 || moves < work*int64(count)); round++ {
		if work > 0 {
			steps = min(steps, work-moves/int64(count))
		}
		began, from, to := time.Now(), round%2, 1-round%2
		err := errors.Join(w.kernels.Walk(w.stream, w.grid, w.memory.from, w.memory.words, w.memory.weights, w.memory.sheaves, uint64(w.n), w.memory.rows[from], w.memory.values[from], w.memory.rows[to], w.memory.values[to], uint64(steps), seed, round),
			w.stream.Download(device.Bytes(values), w.memory.values[to], 0))
		if err != nil {
			return moves, err
		}
		moves += steps * int64(count)
		switch took := time.Since(began); {
		case work > 0: // alike in all runs
			steps = min(1<<14, 2*steps)
		case took < roundTime/2:
			steps *= 2
		case took > 2*roundTime:
			steps = max(1, steps/2)
		}
		at := 0
		for k, v := range values {
			if v < values[at] {
				at = k
			}
		}
		if values[at] >= best {
			continue
		}
		row := make([]uint32, words)
		if err := w.stream.Download(device.Bytes(row), w.memory.rows[to], int64(4*at*words)); err != nil {
			return moves, err
		}
		x := w.bits(row)
		best = values[at]
		if v := w.form.Value(x); v != best+w.form.Offset {
			return moves, fmt.Errorf("%w: model/polynomial %s: %d on the device, %d recomputed", problem.ErrCheck, w.variant.Label, best+w.form.Offset, v)
		}
		found(best+w.form.Offset, x)
	}
	return moves, nil
}
