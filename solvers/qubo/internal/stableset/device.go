package stableset

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"time"

	"coalesce/autotune/tuned"
	"coalesce/generated/qubo"
	"coalesce/runtime/device"
	"coalesce/solvers/qubo/internal/elite"
	"coalesce/solvers/qubo/internal/search"
	"coalesce/solvers/qubo/problem"
)

// walks runs qubo/stableset: a warp a walk, half of them by swaps and half by penalties. A warp keeps its set and the counts of
// neighbours in registers, and reads the rows of the vertices that move.
type walks struct {
	*graph
	p       *problem.Normal
	variant *device.Variant
	kernels *qubo.StablesetKernels
	streams [2]device.Stream // of the walks; to stop them
	scope   device.Scope
	block   int // threads
	count   int // walks
	shared  int // bytes of a block
	half    int // words of 32 vertices of a row
	walkBuffers
}

// walkBuffers are the memory on the device.
type walkBuffers struct{ matrix, sets, tops, penalties, scores, control device.Buffer }

// wordsOf is the number of words of 32 vertices.
func wordsOf(n int) int { return (n + 31) / 32 }

// sharedBytes is the dynamic shared memory of a block: stamps and a ring, or penalties, a walk.
func sharedBytes(block, n int) int { return block / 32 * 4 * (32*wordsOf(n) + qubo.StablesetRing/2) }

// checkFits is an error where a variant cannot take sets of so many vertices, of n.
func checkFits(v *device.Variant, f device.Facts, n, size int) error {
	if most := 1024 * qubo.Stableset.Int(v, "items"); n > most {
		return fmt.Errorf("%d vertices: expected at most %d", n, most)
	}
	if depth := qubo.Stableset.Int(v, "depth"); size >= 1<<depth {
		return fmt.Errorf("sets of %d vertices: expected at most %d", size, 1<<depth-1)
	}
	if err := f.BlockFits(0, int64(sharedBytes(qubo.Stableset.Int(v, "block"), n)+1024)); err != nil {
		return fmt.Errorf("%d vertices: %w", n, err)
	}
	return nil
}

// workloadFor is the description by which a variant is chosen for sets of so many vertices, of n.
func workloadFor(f device.Facts, n, size int) (tuned.Workload, error) {
	var suits *device.Variant
	for k := range qubo.Stableset.Variants {
		v := &qubo.Stableset.Variants[k]
		if checkFits(v, f, n, size) == nil && qubo.Stableset.Int(v, "block") == usualBlock &&
			(suits == nil || registersOf(v) < registersOf(suits)) {
			suits = v
		}
	}
	if suits == nil {
		return tuned.Workload{}, fmt.Errorf("no variant of qubo/stableset for sets of %d of %d vertices", size, n)
	}
	return tuned.Workload{Fixed: map[string]string{"depth": qubo.Stableset.Value(suits, "depth")}, Size: n,
		Comparable: func(v *device.Variant, _ int) error { return checkFits(v, f, n, size) },
		Prior:      tuned.Prior{Variant: suits, Why: "the fewest registers that hold the sets"}}, nil
}

// usualBlock is the number of threads of a block where nothing was measured.
const usualBlock = 64

// registersOf grows with the registers that a variant needs.
func registersOf(v *device.Variant) int {
	return qubo.Stableset.Int(v, "items") * qubo.Stableset.Int(v, "depth")
}

// expectedSize is a size that the largest sets are not expected to exceed: half as many again as a short walk finds.
func (g *graph) expectedSize() int {
	const steps = 4096
	w := newWalk(g, 1, 1, newSwaps(g.n))
	for range steps {
		w.step(w)
	}
	return w.top + w.top/2 + 1
}

// Open makes qubo/stableset ready on every device; the error wraps search.ErrUnfit where no variant holds the problem.
func Open(p *problem.Normal, o search.Setup) (search.OpenedEngine, error) {
	if !Is(p) {
		return search.OpenedEngine{}, fmt.Errorf("%w: it is not one of maximum stable sets", search.ErrUnfit)
	}
	facts, g := o.WeakestFacts(), newGraph(p)
	size := g.expectedSize()
	c, err := search.ChooseVariant(&qubo.Stableset, facts, o, func(v *device.Variant) error { return checkFits(v, facts, p.N, size) },
		func() (tuned.Workload, error) { return workloadFor(facts, p.N, size) })
	if err != nil {
		return search.OpenedEngine{}, fmt.Errorf("%w: %w", search.ErrUnfit, err)
	}
	e := search.OpenedEngine{Label: c.Variant.Label, Reason: c.Reason(), Used: map[string]search.Rules{"stableset": {}}}
	var closes []func() error
	e.Close = func() (err error) {
		for _, give := range closes {
			err = errors.Join(err, give())
		}
		return err
	}
	for _, d := range o.Devices {
		w, err := newWalks(d, c.Variant, p, g, 0)
		if err != nil {
			return search.OpenedEngine{}, errors.Join(err, e.Close())
		}
		e.Members, closes = append(e.Members, w), append(closes, w.Close)
	}
	return e, nil
}

// HasVariant reports whether a label is of a variant of qubo/stableset.
func HasVariant(label string) bool { return qubo.Stableset.Variant(label) != nil }

// newWalks loads a variant, takes memory for count walks, 0: as many as the device runs at once, and uploads the graph.
func newWalks(d device.Device, v *device.Variant, p *problem.Normal, g *graph, count int) (w *walks, err error) {
	w = &walks{graph: g, p: p, variant: v, block: qubo.Stableset.Int(v, "block"), count: count, half: wordsOf(g.n)}
	w.shared = sharedBytes(w.block, g.n)
	if err := checkFits(v, d.Facts(), g.n, 0); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("qubo/stableset on %s: %w", d.Facts(), err), w.Close())
			w = nil
		}
	}()
	if w.kernels, err = qubo.LoadStableset(d, v); err != nil {
		return w, err
	}
	w.scope.CloseLater(w.kernels)
	if w.count == 0 {
		w.count = w.resident(d.Facts()) * w.block / 32
	}
	for k := range w.streams {
		if w.streams[k], err = w.scope.NewStream(d); err != nil {
			return w, err
		}
	}
	row, all := int64(4*w.half), int64(w.count)
	err = w.scope.AllocAll(d, device.BufferFor(&w.matrix, row*int64(g.n)), device.BufferFor(&w.sets, row*all), device.BufferFor(&w.tops, row*all),
		device.BufferFor(&w.penalties, 16*row*all), device.BufferFor(&w.scores, 8*qubo.StablesetScoreScores*all), device.BufferFor(&w.control, 8*qubo.StablesetControlControls))
	if err != nil {
		return w, err
	}
	rows := make([]uint32, 0, w.half*g.n)
	for v := range g.n {
		row := halves(g.row(v), w.half)
		row[v/32] &^= 1 << (v % 32)
		rows = append(rows, row...)
	}
	return w, w.streams[0].Upload(w.matrix, 0, device.Bytes(rows))
}

// halves are the words of 32 vertices of those of 64.
func halves(set []uint64, count int) []uint32 {
	out := make([]uint32, count)
	for k := range out {
		out[k] = uint32(set[k/2] >> (k % 2 * 32))
	}
	return out
}

// whole are the words of 64 vertices of those of 32.
func (g *graph) whole(half []uint32) []uint64 {
	set := make([]uint64, g.words)
	for k, x := range half {
		set[k/2] |= uint64(x) << (k % 2 * 32)
	}
	return set
}

// resident is how many blocks a device runs at once.
func (w *walks) resident(f device.Facts) int {
	const registers, threads, blocks, reserved = 65536, 2048, 32, 1024 // of a multiprocessor
	each := (max(32, w.kernels.Resources("walk").Registers) + 7) / 8 * 8
	many := min(registers/(each*w.block), threads/w.block, blocks)
	if f.SharedPerBlock > 0 {
		many = min(many, (int(f.SharedPerBlock)+reserved)/(w.shared+reserved))
	}
	return max(1, f.SMs) * max(1, many)
}

// Close gives back the memory and the module.
func (w *walks) Close() error { return w.scope.Close() }

// begin clears all walks: sets are empty, but for the first one's, and nothing is penalized.
func (w *walks) begin(first []uint64) error {
	s := w.streams[0]
	scores := make([]int64, qubo.StablesetScoreScores*w.count)
	for k := range w.count {
		scores[k*qubo.StablesetScoreScores+qubo.StablesetScoreDelay] = firstDelay
	}
	err := errors.Join(s.Fill(w.sets, 0, w.sets.Len(), 0), s.Fill(w.tops, 0, w.tops.Len(), 0), s.Fill(w.penalties, 0, w.penalties.Len(), 0),
		s.Fill(w.control, 0, w.control.Len(), 0), s.Upload(w.scores, 0, device.Bytes(scores)))
	if first != nil && err == nil {
		err = s.Upload(w.sets, 0, device.Bytes(halves(first, w.half)))
	}
	return err
}

// enqueue enqueues steps of every walk; a target of 0 is none, and ends reports whether the host may end them.
func (w *walks) enqueue(seed uint64, round int64, steps, target int, ends bool) error {
	mode := uint64(0)
	if ends {
		mode |= qubo.StablesetModeStops
	}
	if target > 0 {
		mode |= qubo.StablesetModeStopping
	}
	g := device.Grid{Blocks: int64(w.count * 32 / w.block), Threads: w.block, Shared: w.shared}
	return w.kernels.Walk(w.streams[0], g, w.matrix, uint64(w.n), uint64(w.half), w.sets, w.tops, w.penalties, w.scores, w.control,
		uint64(steps), seed, uint64(round), uint64(target), mode)
}

// download brings the sets of walk k from a buffer.
func (w *walks) download(from device.Buffer, k int) ([]uint64, error) {
	half := make([]uint32, w.half)
	err := w.streams[0].Download(device.Bytes(half), from, int64(4*k*w.half))
	return w.whole(half), err
}

// Steps of a walk in the first round, and the time that rounds are to take.
const (
	deviceSteps = 1 << 8
	deviceRound = 10 * time.Millisecond
)

// Search implements search.Searcher.
func (w *walks) Search(ctx context.Context, p *problem.Normal, o search.Options, found func(int64, []uint64, time.Duration)) (search.Work, error) {
	if p != w.p {
		return search.Work{}, fmt.Errorf("qubo/stableset: a problem of %d variables that it was not opened for", p.N)
	}
	r := o.NewRounds(ctx, found)
	defer r.End()
	x := make([]uint64, problem.Words(p.N))
	if o.Start != nil {
		copy(x, o.Start)
	}
	r.Improve(p.Value(x), x)
	if r.Done() {
		return r.Did, nil
	}
	var first []uint64
	if o.Start != nil {
		host := newWalk(w.graph, 1, 1, nil)
		host.begin(o.Start)
		first = host.set
	}
	if err := w.begin(first); err != nil {
		return r.Did, err
	}
	s := &deviceSearch{walks: w, Rounds: r, pool: elite.NewPool(p, elite.DefaultSize, 1+p.N/500), steps: deviceSteps, scores: make([]int64, qubo.StablesetScoreScores*w.count)}
	if o.Work == 0 && o.Target != nil {
		s.target = max(1, int((*o.Target-w.base+w.gain-1)/w.gain))
	}
	return r.Run(search.Method{Round: s.round,
		Halt: func() error { return errors.Join(w.streams[1].Fill(w.control, 0, 8, 1), w.streams[1].Sync()) }})
}

// A deviceSearch is one search under way.
type deviceSearch struct {
	*walks
	*search.Rounds
	pool   *elite.Pool
	steps  int // of the next round
	target int // size at which walks end; 0: none
	scores []int64
}

// round makes steps of all walks, and takes the largest sets.
func (s *deviceSearch) round() error {
	steps := s.steps
	if s.Work > 0 {
		steps = max(1, min(steps, int((s.Work-s.Spent)/int64(2*s.count))))
	}
	began := time.Now()
	if err := s.enqueue(s.Seed, s.Number, steps, s.target, s.Work == 0); err != nil {
		return err
	}
	if err := s.streams[0].Download(device.Bytes(s.scores), s.walks.scores, 0); err != nil {
		return err
	}
	took := time.Since(began)
	switch {
	case s.Work > 0: // alike in all runs
		s.steps = min(1<<14, 2*s.steps)
	case took < deviceRound/2:
		s.steps *= 2
	case took > 2*deviceRound:
		s.steps = max(1, s.steps/2)
	}
	top, at, flips := int64(0), 0, int64(0)
	for k := range s.count {
		score := s.scores[k*qubo.StablesetScoreScores:]
		flips += score[qubo.StablesetScoreMoved]
		if size := score[qubo.StablesetScoreTop]; size > top {
			top, at = size, k
		}
	}
	s.Did.Flips += flips
	s.Spent += max(flips, int64(steps))
	if err := s.offerSet(s.tops, at); err != nil {
		return err
	}
	if s.Elite == nil && s.Give == nil {
		return nil
	}
	return s.offerSet(s.sets, int(s.Number)%s.count)
}

// offerSet checks the set of walk k in a buffer, and offers it.
func (s *deviceSearch) offerSet(from device.Buffer, k int) error {
	set, err := s.download(from, k)
	if err != nil {
		return err
	}
	size := 0
	for _, word := range set {
		size += bits.OnesCount64(word)
	}
	x := make([]uint64, s.words)
	s.solution(x, set)
	value := s.value(size)
	if v := s.p.Value(x); v != value {
		return fmt.Errorf("%w: qubo/stableset %s: %d on the device, %d recomputed", problem.ErrCheck, s.variant.Label, value, v)
	}
	s.Improve(value, x)
	if s.Elite == nil && s.Give == nil {
		return nil
	}
	if taken, _ := s.pool.Add(value, x); taken {
		if s.Elite != nil {
			s.Elite(value, slices.Clone(x))
		}
		if s.Give != nil {
			s.Give(x)
		}
	}
	return nil
}
