package multistart

import (
	"errors"
	"fmt"
	"math"
	"unsafe"

	"coalesce/autotune/tuned"
	"coalesce/generated/qubo"
	"coalesce/runtime/device"
	"coalesce/solvers/qubo/internal/evaluate"
	"coalesce/solvers/qubo/internal/search"
	"coalesce/solvers/qubo/problem"
	"coalesce/solvers/solve"
)

// deviceStarter is massive multi-start on a device: qubo/multistart has the paper's own steps,
// qubo/evaluate objectives and gains.
type deviceStarter struct {
	p       *problem.Normal
	s       device.Stream
	many    *evaluate.Evaluator
	kernels *qubo.MultistartKernels
	block   int
	shared  int // bytes of an ascending block
	samples int
	batch   int
	blend   string
	climber *hostStarter // where solutions ascend on the host; nil: they ascend on the device
	scope   device.Scope // holds all of it but the stream
	// x holds samples, then slots.
	x, best, twice, gain, flips, sums device.Buffer
	back                              []byte
}

// openStarter loads both families, takes memory for a number of samples and of
// slots, and uploads the matrix.
func openStarter(d device.Device, s device.Stream, p *problem.Normal, t *tuned.Database, kind string, samples, batch int) (*deviceStarter, error) {
	if err := evaluate.CheckCoefficients(p, kind, p.Spans(), evaluate.UnitOf(p)); err != nil {
		return nil, err
	}
	v, w, err := chooseVariants(d.Facts(), t, p.N, kind, batch)
	if err != nil {
		return nil, err
	}
	return openStarterAs(d, s, p, v, w, samples, batch)
}

// chooseVariants are the variants of both families for n variables with coefficients of a kind.
func chooseVariants(facts device.Facts, t *tuned.Database, n int, kind string, count int) (v, w *device.Variant, err error) {
	o := solve.Settings{Tuning: t}
	many, err := o.Choose(&qubo.Evaluate, facts, evaluate.Workload(kind, n, count), func(v *device.Variant) error { return evaluate.CheckFits(v, facts) })
	if err != nil {
		return nil, nil, err
	}
	climb, err := o.Choose(&qubo.Multistart, facts, tuned.Workload{Fixed: map[string]string{"weight": kind}, Size: n},
		func(v *device.Variant) error { return checkAscent(v, facts, n) })
	return many.Variant, climb.Variant, err
}

// Workload is the workload for which a variant is chosen.
func (t subjectOf) Workload(fixed map[string]string, _ device.Facts, size int) (tuned.Workload, error) {
	if t.kernels != &qubo.Evaluate {
		return tuned.Workload{Fixed: fixed, Size: size}, nil
	}
	few, many := evaluate.Workload(fixed["weight"], size, 1), evaluate.Workload(fixed["weight"], size, math.MaxInt)
	if _, ok := fixed["solutions"]; ok {
		return few, nil
	}
	return many, nil
}

// checkAscent says why a block of a variant of qubo/multistart cannot climb with n variables.
func checkAscent(v *device.Variant, facts device.Facts, n int) error {
	f := &qubo.Multistart
	side := evaluate.SideOf(n)
	if err := facts.BlockFits(0, int64(ascendShared(f.Value(v, "state"), f.Value(v, "weight"), side)+1024)); err != nil {
		return fmt.Errorf("%d variables: %w", n, err)
	}
	return nil
}

// ascendShared is the dynamic shared memory of an ascending block: a byte for
// four variables and, with that state, the gains.
func ascendShared(state, kind string, side int) int {
	bytes := side / 4
	switch {
	case state != "shared":
	case kind == evaluate.Float64:
		bytes += 8 * side
	default:
		bytes += 4 * side
	}
	return bytes
}

// openStarterAs opens two variants with the same type of coefficients.
func openStarterAs(d device.Device, s device.Stream, p *problem.Normal, v, w *device.Variant, samples, batch int) (*deviceStarter, error) {
	e, err := evaluate.Open(d, s, v, p)
	if err != nil {
		return nil, err
	}
	return openStarterWith(d, s, p, e, w, samples, batch)
}

// openStarterOn is openStarterAs with the matrix laid out before.
func openStarterOn(d device.Device, s device.Stream, p *problem.Normal, m *evaluate.SquareMatrix, v, w *device.Variant, samples, batch int) (*deviceStarter, error) {
	e, err := evaluate.OpenLaid(d, s, v, m)
	if err != nil {
		return nil, err
	}
	return openStarterWith(d, s, p, e, w, samples, batch)
}

// openStarterWith opens a variant of qubo/multistart beside an evaluator, which the starter closes.
func openStarterWith(d device.Device, s device.Stream, p *problem.Normal, e *evaluate.Evaluator, w *device.Variant, samples, batch int) (_ *deviceStarter, err error) {
	f := &qubo.Multistart
	g := &deviceStarter{p: p, s: s, many: e, block: f.Int(w, "block"),
		shared: ascendShared(f.Value(w, "state"), f.Value(w, "weight"), e.Side), samples: samples, batch: batch}
	defer func() {
		if err != nil {
			err = errors.Join(err, g.Close())
		}
	}()
	g.scope.CloseLater(e)
	if g.kernels, err = qubo.LoadMultistart(d, w); err != nil {
		return nil, err
	}
	g.scope.CloseLater(g.kernels)
	room, slot := int64(max(samples, batch)), int64(8*e.Words())
	if err := g.scope.AllocAll(d, device.BufferFor(&g.x, room*slot), device.BufferFor(&g.best, slot), device.BufferFor(&g.twice, 8*room), device.BufferFor(&g.flips, 8*int64(batch)), device.BufferFor(&g.sums, 16),
		device.BufferFor(&g.gain, int64(batch)*int64(e.Side)*int64(e.GainBytes()))); err != nil {
		return nil, err
	}
	g.back = make([]byte, 16*max(1, batch))
	return g, nil
}

// grid has a thread for every word of count solutions.
func (g *deviceStarter) grid(count int) device.Grid {
	return device.Grid{Blocks: int64(max(1, min((count*g.many.Words()+g.block-1)/g.block, 1<<14))), Threads: g.block}
}

func (g *deviceStarter) sample(count int, seed uint64) (float64, error) {
	if count > g.samples {
		return 0, fmt.Errorf("%d samples, opened for %d", count, g.samples)
	}
	if err := g.enqueueSamples(count, seed); err != nil {
		return 0, err
	}
	if err := g.s.Download(g.back[:16], g.sums, 0); err != nil {
		return 0, err
	}
	if g.many.HasFloats() {
		return *(*float64)(unsafe.Pointer(&g.back[0])) / 2, nil
	}
	return float64(*(*int64)(unsafe.Pointer(&g.back[0]))) / 2, nil
}

// enqueueSamples draws, evaluates and reduces.
func (g *deviceStarter) enqueueSamples(count int, seed uint64) error {
	e := g.many
	if err := g.kernels.Sample(g.s, g.grid(count), g.x, uint64(g.p.N), uint64(e.Side), uint64(count), seed, g.twice); err != nil {
		return err
	}
	if err := e.AddValues(g.s, g.x, count, g.twice); err != nil {
		return err
	}
	return g.kernels.Summarise(g.s, device.Grid{Blocks: 1, Threads: g.block}, g.twice, uint64(count), g.sums)
}

func (g *deviceStarter) begin(x []uint64) error {
	wide := make([]uint64, g.many.Words())
	copy(wide, x)
	if err := g.s.Upload(g.best, 0, device.Bytes(wide)); err != nil {
		return err
	}
	for s := range g.batch {
		if err := g.s.Copy(g.x, int64(8*s*len(wide)), g.best, 0, int64(8*len(wide))); err != nil {
			return err
		}
	}
	return nil
}

func (g *deviceStarter) runBatch(count int, counter, strides, seed uint64, threshold float64, limit int64) ([]outcome, error) {
	e := g.many
	if err := g.kernels.Diversify(g.s, g.grid(count), g.x, g.best, uint64(g.p.N), uint64(e.Side), uint64(count), counter, strides, seed, blends(g.blend), g.twice); err != nil {
		return nil, err
	}
	if g.climber != nil {
		return g.climb(count, threshold, limit)
	}
	if err := e.AddGains(g.s, g.x, count, g.twice, g.gain); err != nil {
		return nil, err
	}
	grid := device.Grid{Blocks: int64(count), Threads: g.block, Shared: g.shared}
	if err := g.kernels.Ascend(g.s, grid, e.Rows, g.x, g.gain, uint64(e.Side), uint64(g.p.N), e.Unit, 2*threshold, uint64(limit), g.twice, g.flips); err != nil {
		return nil, err
	}
	values, flips := g.back[:8*count], g.back[8*count:16*count]
	if err := errors.Join(g.s.Download(values, g.twice, 0), g.s.Download(flips, g.flips, 0)); err != nil {
		return nil, err
	}
	list := make([]outcome, count)
	for s := range list {
		list[s] = outcome{e.Objective(values[8*s:]), *(*int64)(unsafe.Pointer(&flips[8*s]))}
	}
	return list, nil
}

// climb divides the rest of a round as the paper does: the device evaluates, and a core of the
// host takes the solutions that pass the screen to a local optimum.
func (g *deviceStarter) climb(count int, threshold float64, limit int64) ([]outcome, error) {
	values := g.back[:8*count]
	if err := errors.Join(g.many.AddValues(g.s, g.x, count, g.twice), g.s.Download(values, g.twice, 0)); err != nil {
		return nil, err
	}
	list := make([]outcome, count)
	for s := range list {
		list[s] = outcome{g.many.Objective(values[8*s:]), -1}
		if !(float64(list[s].value) > threshold) {
			continue
		}
		x, err := g.solution(s)
		if err != nil {
			return nil, err
		}
		g.climber.ascend(x, &list[s], limit)
		if err := g.s.Upload(g.x, int64(8*s*g.many.Words()), device.Bytes(x)); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (g *deviceStarter) solution(slot int) ([]uint64, error) {
	x := make([]uint64, g.many.Words())
	err := g.s.Download(device.Bytes(x), g.x, int64(8*slot*len(x)))
	return x[:problem.Words(g.p.N)], err
}

func (g *deviceStarter) makeBest(slot int) error {
	if g.blend == search.BlendStart {
		return nil // what is blended with stays the starting solution
	}
	size := int64(8 * g.many.Words())
	return g.s.Copy(g.best, 0, g.x, int64(slot)*size, size)
}

// blends is 0 where solutions are blended with nothing.
func blends(with string) uint64 {
	if with == search.BlendNone {
		return 0
	}
	return 1
}

// Close frees the memory and unloads the kernels; the stream is the caller's.
func (g *deviceStarter) Close() error { return g.scope.Close() }
