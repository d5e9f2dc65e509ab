// Package tabu runs qubo/bulk: hundreds of tabu searches at once on a device, or on
// an island of its own on each of several. The tuner's subject of the family stands
// beside it, because a trial reads the searches' memory on the device.
package tabu

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"coalesce/generated/qubo"
	"coalesce/runtime/device"
	"coalesce/solvers/qubo/internal/search"
	"coalesce/solvers/qubo/problem"
)

// Island runs qubo/bulk: hundreds of one-flip tabu searches (F. Glover, Z. Lü and J.-K. Hao,
// "Diversification-driven tabu search for unconstrained binary quadratic problems", 4OR 8, 2010)
// that share a pool of elite solutions, in the manner of R. Yasudo et al., "Adaptive bulk search",
// ICPP 2020, on a GPU.
//
// A search is run by one block or, where the registers of one block do not hold it, by a cluster
// of blocks. Its threads hold x and the gain of every flip in registers. A step finds the largest
// of all gains, with one barrier, reads the row of the matrix for the variable flipped, and
// updates every gain. Arithmetic is exact: gains are integers and are never rebuilt.
//
// A search goes on in episodes. One of five operators makes a start from elites. The search walks
// there, each step by the best of the flips that lead there, and searches from there until it
// stalls. Flipped variables are tabu in a queue whose length changes at random between tenure and
// tenure + spread; a flip to a new best of the episode is never tabu. The operators are: random,
// which flips each variable with probability 1/4; relink, which walks a quarter to three quarters
// of the way towards an elite (path relinking); cross, which takes from each of two elites half of
// the bits in which they differ; mutate, an elite with each bit flipped with probability 1/16; and
// majority, of three elites.
//
// After a round of some flips a search, one block lets the best solution of each search into the
// pool, in the order of their values; elites differ in at least `distance` variables. Operators
// are chosen in proportion to their credit: new elites by flips spent, averaged over rounds.
// Searches read the pool as the round before left it, so that a run of a given number of flips
// depends on the seed, the variant and the number of searches alone.
//
// The host reads a few words after each round, and the best solution when it is new. After some
// rounds without a better one the search begins anew, with an empty pool. Rules set the parameters
// of all this.
type Island struct {
	variant *device.Variant
	kernels *qubo.BulkKernels
	form    layout
	p       *problem.Normal
	rules   parameters
	Without []string         // operators to leave out; random stays where all are named
	streams [2]device.Stream // the searches' own, and one to stop them with

	life int     // restarts so far
	seen []int64 // control words, as last read

	scope device.Scope // holds the memory, the streams and the module

	rows, diag, gains, now, kept, scores, elites, control, migrants, migrantValues device.Buffer
}

// parameters are the parameters of the method. Flips and stall count in
// variables.
type parameters struct {
	searches       int
	flips, stall   int // of a round and search; without a new best, to the end of an episode
	tenure, spread int // flips
	pool, distance int // elites; variables in which they differ
	restart        int // rounds without a better solution, after which the search begins anew; Never: no restart
}

// controlWords are the words of 8 bytes before the values of elites, and those.
const controlWords = qubo.BulkControlValues + qubo.BulkElites

// rulesFor are the default parameters on a device.
func (b *Island) rulesFor(f device.Facts) parameters {
	n := b.p.N
	r := parameters{
		flips: 8 * n, stall: 4 * n, pool: 32, distance: max(1, n/100),
		tenure: min(n/150+2, n/4), spread: min(12, n/4), restart: idleLimit,
	}
	const registers, threads, blocks = 65536, 2048, 32 // of a multiprocessor
	each := (max(32, b.kernels.Resources("search").Registers) + 7) / 8 * 8
	r.searches = max(1, f.SMs) * max(1, min(registers/(each*b.form.block), threads/b.form.block, blocks))
	if b.form.cluster > 1 { // multiprocessors that lie together limit the clusters at once
		r.searches = cmp.Or(b.kernels.Resources("search").Clusters, max(1, r.searches/b.form.cluster))
	}
	return r
}

// takeIsland loads a variant and allocates the memory for a problem in a form. rules may be nil.
func takeIsland(d device.Device, v *device.Variant, form layout, p *problem.Normal, rules func(*Island) parameters) (b *Island, err error) {
	b = &Island{variant: v, form: form, p: p, seen: make([]int64, controlWords)}
	facts, rowBytes := d.Facts(), int64(b.form.rowBytes())
	free := facts.Free
	if need := rowBytes * int64(p.N); free > 0 && need > free*9/10 {
		return nil, fmt.Errorf("qubo/bulk: a matrix of %d rows of %d bytes, %s has %d free: %w", p.N, rowBytes, facts, free, device.ErrMemory)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("qubo/bulk on %s: %w", facts, err), b.Close())
			b = nil
		}
	}()
	if b.kernels, err = qubo.LoadBulk(d, v); err != nil {
		return b, err
	}
	b.scope.CloseLater(b.kernels)
	for k := range b.streams {
		if b.streams[k], err = b.scope.NewStream(d); err != nil {
			return b, err
		}
	}
	if b.rules = b.rulesFor(facts); rules != nil {
		b.rules = rules(b)
	}
	searches, record := int64(b.rules.searches), int64(4*b.form.record())
	each := int64(b.form.capacity()*b.form.gain()) + 2*record + 8*qubo.BulkScoreScores
	if need := rowBytes*int64(p.N) + searches*each; free > 0 && need > free {
		return b, fmt.Errorf("%d searches of %d bytes beside the matrix, %d bytes are free: %w", searches, each, free, device.ErrMemory)
	}
	if err = b.scope.AllocAll(d, device.BufferFor(&b.rows, rowBytes*int64(p.N)), device.BufferFor(&b.diag, int64(b.form.capacity()*b.form.gain())),
		device.BufferFor(&b.gains, searches*int64(b.form.capacity()*b.form.gain())), device.BufferFor(&b.now, searches*record), device.BufferFor(&b.kept, searches*record),
		device.BufferFor(&b.scores, searches*8*qubo.BulkScoreScores), device.BufferFor(&b.elites, int64(b.rules.pool)*record), device.BufferFor(&b.control, 8*controlWords),
		device.BufferFor(&b.migrants, int64(b.rules.pool)*record), device.BufferFor(&b.migrantValues, int64(b.rules.pool)*8*qubo.BulkScoreScores)); err != nil {
		return b, err
	}
	return b, b.streams[0].Upload(b.diag, 0, b.form.diagOf(p))
}

// Close gives back the memory and the module.
func (b *Island) Close() error { return b.scope.Close() }

// resetPool empties the pool, or leaves the given start alone in it.
func (b *Island) resetPool(o search.Options) error {
	control := make([]int64, controlWords)
	operators := b.usedOperators()
	for _, k := range operators {
		control[qubo.BulkControlWeights+k] = int64(1024 / len(operators))
	}
	s := b.streams[0]
	if o.Start != nil {
		control[qubo.BulkControlCount], control[qubo.BulkControlEntered] = 1, 1
		control[qubo.BulkControlBest] = b.p.Value(o.Start)
		control[qubo.BulkControlValues] = control[qubo.BulkControlBest]
		if err := s.Upload(b.elites, 0, device.Bytes(b.form.pack(o.Start, b.p.N))); err != nil {
			return err
		}
	}
	return s.Upload(b.control, 0, device.Bytes(control))
}

// enqueueRound enqueues flips flips in each search, after which the best solutions enter the pool.
func (b *Island) enqueueRound(o search.Options, number, flips int64) error {
	target, mode := int64(math.MaxInt64), uint64(qubo.BulkModeStops)
	if o.Target != nil && o.Work == 0 {
		target, mode = *o.Target, qubo.BulkModeStops|qubo.BulkModeStopping
	}
	r, s := b.rules, b.streams[0]
	g := device.Grid{Blocks: int64(r.searches * b.form.cluster), Threads: b.form.block, Cluster: b.form.cluster}
	seed := o.Seed + uint64(b.life)*0xd1342543de82ef95
	return errors.Join(
		b.kernels.Search(s, g, b.rows, b.diag, uint64(b.p.N), b.form.shiftArgument(), b.gains, b.now, b.kept, b.scores, b.elites,
			b.control, uint64(flips), uint64(r.stall), uint64(r.tenure), uint64(r.spread), seed, uint64(number), target, mode),
		b.kernels.Gather(s, device.Grid{Blocks: 1, Threads: qubo.BulkJudges}, b.kept, b.scores, b.elites, b.control,
			uint64(r.searches), uint64(r.pool), uint64(r.distance), uint64(2*r.pool)))
}

// downloadControl downloads the control words, once all enqueued work is done.
func (b *Island) downloadControl() error {
	return b.streams[0].Download(device.Bytes(b.seen), b.control, 0)
}

// halt makes the searches end within a few flips.
func (b *Island) halt() error {
	return errors.Join(b.streams[1].Fill(b.control, 8*qubo.BulkControlStop, 8, 1), b.streams[1].Sync())
}

// downloadBest downloads the best elite and recomputes its value, from x, whose value is known.
func (b *Island) downloadBest(x []uint64, known int64) (int64, []uint64, error) {
	values := b.seen[qubo.BulkControlValues:][:b.seen[qubo.BulkControlCount]]
	top := 0
	for e, v := range values {
		if v > values[top] {
			top = e
		}
	}
	y, err := b.downloadElite(int64(top))
	if err != nil {
		return 0, nil, err
	}
	value := b.p.ValueFrom(x, known, y)
	if value != b.seen[qubo.BulkControlBest] {
		return 0, nil, fmt.Errorf("%w: qubo/bulk %s: %d on the device, %d recomputed", problem.ErrCheck, b.variant.Label, b.seen[qubo.BulkControlBest], value)
	}
	return value, y, nil
}

// reportElites calls elite with every elite of the pool.
func (b *Island) reportElites(elite func(int64, []uint64)) error {
	for e := range b.seen[qubo.BulkControlCount] {
		x, err := b.downloadElite(e)
		if err != nil {
			return err
		}
		elite(b.seen[qubo.BulkControlValues+e], x)
	}
	return nil
}

func (b *Island) downloadElite(e int64) ([]uint64, error) {
	record := make([]uint32, b.form.record())
	err := b.streams[0].Download(device.Bytes(record), b.elites, e*int64(4*len(record)))
	return b.form.unpack(record, b.p.N), err
}
