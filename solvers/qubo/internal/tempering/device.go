// Package tempering runs qubo/temper: replica exchange for sparse problems, 32
// replicas a block, with cluster moves where they pay. The tuner's subject of the
// family stands beside it, because a trial reads the replicas on the device.
package tempering

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"time"

	"coalesce/generated/qubo"
	"coalesce/runtime/device"
	"coalesce/solvers/qubo/internal/draw"
	"coalesce/solvers/qubo/internal/elite"
	"coalesce/solvers/qubo/internal/search"
	"coalesce/solvers/qubo/problem"
)

// tempering runs qubo/temper: replica exchange (K. Hukushima and K. Nemoto, J.
// Phys. Soc. Jpn. 65, 1996) for sparse problems, a ladder of temperatures a
// block, with isoenergetic cluster moves where clusters do not percolate (J.
// Houdayer, Eur. Phys. J. B 22, 2001; Z. Zhu, A. J. Ochoa and H. G. Katzgraber,
// Phys. Rev. Lett. 115, 2015).
//
// A block holds 32 replicas, bit k of a word each; lane k of every warp works
// for replica k. A warp reads the words of 32 neighbours at once, turns them
// round so that a lane has its replica's 32 bits, and sums up the fields of all
// variables that these are neighbours of, one after the other. A flip is
// accepted by Metropolis' rule in integers. Variables of a colour have no pairs:
// warps share them, and meet at a barrier before the next colour.
//
// After a sweep a block keeps its best replica, and neighbours on the ladder
// change places. Where replicas come in pairs of one temperature, a cluster in
// which they differ changes sides now and then, for all pairs at once.
//
// Some blocks of a large problem anneal instead, all replicas alike. The host
// looks at the blocks' best after each round of sweeps.
type tempering struct {
	temperSetup
	temperBuffers
	kernels *qubo.TemperKernels
	streams [2]device.Stream // of the sweeps; to stop them
	scope   device.Scope     // holds the memory, the streams and the module
	every   int              // sweeps between cluster moves; 0: none. A search may end them
}

// temperSetup is what opening decides: the variant, the problem as the variant holds it, and the blocks.
type temperSetup struct {
	variant *device.Variant
	form    temperForm
	needs   requirements
	layout  *temperLayout
	p       *problem.Normal
	blocks  int
	anneals int // blocks that anneal: the last ones
	shared  int // bytes of a block
}

// temperBuffers are the memory on the device: the problem in the first row, the searches' state in the second.
type temperBuffers struct {
	slots, weights, chunks, tasks, colours, visits, rows, columns device.Buffer
	ladders, now, spare, kept, scores, control, record            device.Buffer
}

// clusters reports whether cluster moves may pay.
func (s requirements) clusters() bool { return s.degree <= clusterDegree && s.most <= clusterHub }

const (
	clusterDegree = 6    // neighbours of a variable, in the mean, above which clusters percolate
	clusterHub    = 64   // neighbours of one variable above which its part of a move takes too long
	clusterEvery  = 10   // sweeps between cluster moves
	clusterShare  = 0.9  // share of the differing variables in a cluster above which cluster moves end
	clusterLook   = 100  // sweeps before that share is judged
	migrateEvery  = 2000 // sweeps after which blocks with cluster moves get another's best
	inviteEvery   = 500  // and after which some of those without do
	inviteFour    = 4    // of the latter, of eight in a row
	maxMigrants   = 128  // blocks that get another's best at once
	annealFrom    = 1 << 15
	annealOnly    = 1 << 18
	temperRound   = 12 * time.Millisecond
	temperLong    = 200 * time.Millisecond // where combining two solutions takes long
	workRound     = 64                     // sweeps of a round, at most, where a run depends on the seed alone
)

// settings are choices of newTemper's that tests make.
type settings struct {
	blocks int // 0: as many as the device runs at once
	every  int // sweeps between cluster moves; 0: where they may pay, below 0: never
}

// newTemper loads a variant, lays a problem out, uploads it and takes memory.
func newTemper(d device.Device, v *device.Variant, p *problem.Normal, rules settings) (t *tempering, err error) {
	t = &tempering{temperSetup: temperSetup{variant: v, p: p, needs: needsOf(p), blocks: rules.blocks}, every: max(0, rules.every)}
	if t.form, err = t.needs.layoutFor(v); err != nil {
		return nil, err
	}
	if err = t.form.checkFits(d.Facts(), p.N, false); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("qubo/temper on %s: %w", d.Facts(), err), t.Close())
			t = nil
		}
	}()
	if t.layout, err = t.form.layout(p); err != nil {
		return t, err
	}
	if t.kernels, err = qubo.LoadTemper(d, v); err != nil {
		return t, err
	}
	t.scope.CloseLater(t.kernels)
	if rules.every == 0 && t.needs.clusters() && t.form.checkFits(d.Facts(), p.N, true) == nil {
		t.every = clusterEvery
	}
	t.shared = t.form.sharedBytes(p.N, t.every > 0)
	if t.blocks == 0 {
		t.blocks = t.resident(d.Facts())
	}
	if p.N >= annealFrom {
		t.anneals = t.blocks / 2
	}
	if p.N >= annealOnly {
		t.anneals = t.blocks
	}
	for k := range t.streams {
		if t.streams[k], err = t.scope.NewStream(d); err != nil {
			return t, err
		}
	}
	return t, t.uploadProblem(d)
}

// resident is how many blocks a device runs at once, or has memory for.
func (t *tempering) resident(f device.Facts) int {
	const registers, threads, blocks, reserved = 65536, 2048, 32, 1024 // of a multiprocessor
	each := (max(32, t.kernels.Resources("sweep").Registers) + 7) / 8 * 8
	many := min(registers/(each*t.form.block), threads/t.form.block, blocks)
	if f.SharedPerBlock > 0 {
		many = min(many, (int(f.SharedPerBlock)+reserved)/(t.shared+t.form.staticBytes()+reserved))
	}
	many = max(1, f.SMs) * max(1, many)
	if f.Free > 0 {
		many = min(many, max(1, int(f.Free/2/int64(4*t.p.N*t.copies()+1))))
	}
	return many
}

// copies are the words a variable and block in global memory: of the replicas,
// and of clusters and their queues.
func (t *tempering) copies() int {
	switch {
	case t.every == 0:
		return 1
	case t.form.shared:
		return 3
	}
	return 4
}

// uploadProblem takes memory and uploads the problem.
func (t *tempering) uploadProblem(d device.Device) error {
	l, n, blocks := t.layout, int64(t.p.N), int64(t.blocks)
	spare := int64(t.copies()-1) * 4 * n * blocks
	record := 4 * ((n + 31) / 32)
	for _, want := range []struct {
		buffer *device.Buffer
		data   []byte
		bytes  int64
	}{
		{&t.slots, device.Bytes(l.slots), 0}, {&t.weights, device.Bytes(l.weights), 0}, {&t.chunks, device.Bytes(l.chunks), 0},
		{&t.tasks, device.Bytes(l.tasks), 0}, {&t.colours, device.Bytes(l.colours), 0}, {&t.visits, device.Bytes(l.visits), 0},
		{&t.rows, device.Bytes(l.rows), 0}, {&t.columns, device.Bytes(l.columns), 0},
		{&t.ladders, nil, 8 * qubo.TemperLadderRungs * blocks}, {&t.now, nil, 4 * n * blocks}, {&t.spare, nil, spare},
		{&t.kept, nil, record * blocks}, {&t.scores, nil, 8 * qubo.TemperScoreScores * blocks}, {&t.control, nil, 8 * qubo.TemperControlControls}, {&t.record, nil, record},
	} {
		var err error
		if *want.buffer, err = t.scope.Alloc(d, max(16, want.bytes+int64(len(want.data)))); err != nil {
			return err
		}
		if len(want.data) > 0 {
			if err := t.streams[0].Upload(*want.buffer, 0, want.data); err != nil {
				return err
			}
		}
	}
	return nil
}

// Close gives back the memory and the module.
func (t *tempering) Close() error { return t.scope.Close() }

// enqueueRound enqueues sweeps sweeps of every block.
func (t *tempering) enqueueRound(o search.Options, number int64, sweeps int) error {
	target, mode := int64(math.MaxInt64), uint64(0)
	if o.Work == 0 {
		mode = qubo.TemperModeStops
		if o.Target != nil && *o.Target < math.MaxInt64>>t.form.shift {
			target, mode = *o.Target<<t.form.shift, qubo.TemperModeStops|qubo.TemperModeStopping
		}
	}
	if number == 0 {
		mode |= qubo.TemperModeFresh
	}
	g := device.Grid{Blocks: int64(t.blocks), Threads: t.form.block, Shared: t.shared}
	return t.kernels.Sweep(t.streams[0], g, t.slots, t.weights, t.chunks, t.tasks, t.colours, t.visits, t.rows, t.columns,
		uint64(t.p.N), uint64(len(t.layout.colours)-1), t.form.unit<<t.form.shift, t.ladders, t.now, t.spare, t.kept, t.scores, t.control,
		uint64(sweeps), uint64(t.every), o.Seed, uint64(number), target, mode)
}

// setReplicas sets replicas of a block, a bit each of mask, to x.
func (t *tempering) setReplicas(x []uint64, block int, mask uint32) error {
	return errors.Join(t.streams[0].Upload(t.record, 0, device.Bytes(t.layout.pack(x))), t.sow(block, mask))
}

func (t *tempering) sow(block int, mask uint32) error {
	g := device.Grid{Blocks: int64(max(1, min(1<<10, t.p.N/qubo.TemperPlanters))), Threads: qubo.TemperPlanters}
	return t.kernels.Plant(t.streams[0], g, t.now, t.record, uint64(t.p.N), uint64(block), uint64(mask))
}

// migrate gives blocks with ladders, about maxMigrants at a time and in turn, the best solution of another block in place of one of
// their two coldest replicas. With cluster moves that is a block drawn at random. Without, it is the better of two, by the scores seen,
// and four of eight blocks in a row get none: they go on by themselves.
func (t *tempering) migrate(seed uint64, number int64, seen []int64) error {
	size := int64(4 * ((t.p.N + 31) / 32))
	many := uint64(t.blocks - t.anneals)
	step := (many + maxMigrants - 1) / maxMigrants
	for block := uint64(number) % step; block < many; block += step {
		other := func(k uint64) uint64 {
			return (block + 1 + draw.RandomWord(seed, uint64(number), block+k<<32)%(many-1)) % many
		}
		from := other(0)
		if t.every == 0 {
			if block%8 < inviteFour {
				continue
			}
			if second := other(1); seen[second*qubo.TemperScoreScores+qubo.TemperScoreKept] > seen[from*qubo.TemperScoreScores+qubo.TemperScoreKept] {
				from = second
			}
		}
		if err := errors.Join(t.streams[0].Copy(t.record, 0, t.kept, int64(from)*size, size), t.sow(int(block), 2)); err != nil {
			return err
		}
	}
	return nil
}

// uploadLadders sets the ladders: annealing blocks have one in common.
func (t *tempering) uploadLadders(annealing []int64) error {
	words := make([]int64, 0, qubo.TemperLadderRungs*t.blocks)
	for b := range t.blocks {
		if b < t.blocks-t.anneals {
			words = append(words, t.ladder(b)...)
		} else {
			words = append(words, annealing...)
		}
	}
	return t.streams[0].Upload(t.ladders, 0, device.Bytes(words))
}

// downloadBest brings a block's best, its value recomputed.
func (t *tempering) downloadBest(block int, value int64) ([]uint64, error) {
	record := make([]uint32, (t.p.N+31)/32)
	if err := t.streams[0].Download(device.Bytes(record), t.kept, int64(block*4*len(record))); err != nil {
		return nil, err
	}
	x := t.layout.unpack(record)
	if v := t.p.Value(x); v != value {
		return nil, fmt.Errorf("%w: qubo/temper %s: %d on the device, %d recomputed", problem.ErrCheck, t.variant.Label, value, v)
	}
	return x, nil
}

// withRules are the rules of replica exchange for n variables: a round takes as
// long as suits where its sweeps are not given.
func withRules(r search.Rules, n int) search.Rules {
	r = r.ForSize(n)
	return search.Rules{Round: r.Round, Pool: cmp.Or(r.Pool, elite.DefaultSize), Distance: cmp.Or(r.Distance, 1+n/500), Restart: cmp.Or(r.Restart, search.Never)}
}
