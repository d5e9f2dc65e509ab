package tempering

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"coalesce/generated/qubo"
	"coalesce/runtime/device"
	"coalesce/solvers/qubo/internal/draw"
	"coalesce/solvers/qubo/internal/elite"
	"coalesce/solvers/qubo/internal/reference"
	"coalesce/solvers/qubo/internal/search"
	"coalesce/solvers/qubo/problem"
)

// Search implements search.Searcher.
func (t *tempering) Search(ctx context.Context, p *problem.Normal, o search.Options, found func(int64, []uint64, time.Duration)) (did search.Work, err error) {
	if p != t.p {
		return did, fmt.Errorf("qubo/temper: a problem of %d variables that it was not opened for", p.N)
	}
	if p.N <= reference.Tiny {
		reference.SearchExhaustively(p, o, found)
		return did, nil
	}
	own := *t // a search may end cluster moves
	o.Rules = withRules(o.Rules, p.N)
	r := &temperingRun{tempering: &own, Rounds: o.NewRounds(ctx, found), pool: elite.NewPool(p, o.Rules.Pool, o.Rules.Distance),
		blockScores: blockScores{top: make([]int64, t.blocks), seen: make([]int64, qubo.TemperScoreScores*t.blocks)}, clusterMoves: clusterMoves{clusters: t.every}}
	defer r.End()
	r.forget()
	x := o.Start
	if x == nil {
		x = make([]uint64, problem.Words(p.N))
	}
	r.crosser, r.delta = elite.NewCrosser(p, r.pool.Mirror), make([]int64, p.N)
	r.Improve(p.Value(x), x)
	if err := t.streams[0].Fill(t.control, 0, 8, 0); err != nil {
		return did, err
	}
	did, err = r.Run(search.Method{
		Halt:     func() error { return errors.Join(t.streams[1].Fill(t.control, 0, 8, 1), t.streams[1].Sync()) },
		Patience: o.Rules.Restart, Restart: r.restart,
		Take: func(x []uint64) error {
			r.taken = x
			return nil
		},
		Round: r.round,
	})
	if err == nil && r.pace > 0 { // there were rounds
		err = r.look(true)
	}
	if err == nil {
		r.reportElites()
	}
	return did, err
}

// A temperingRun is one search under way.
type temperingRun struct {
	*tempering
	*search.Rounds
	pool  *elite.Pool
	taken []uint64 // a solution of another search that no block has got yet; nil: none
	blockScores
	sweepRates
	recombination
	clusterMoves
	course temperCourse
}

// blockScores are what the host has read of the blocks, which look writes.
type blockScores struct {
	top     []int64       // of each block, when it was last looked at
	seen    []int64       // scores of the blocks, as last read
	looked  time.Time     // when the best of the blocks were last downloaded
	looking time.Duration // how long that took
	delta   []int64       // of a solution that ascends
}

// sweepRates are how fast sweeps are, which measure writes after each round.
type sweepRates struct {
	pace  float64 // seconds of a sweep
	flips float64 // of a sweep
}

// recombination is the state of combineMigrants.
type recombination struct {
	crosser  *elite.Crosser
	migrants migrants
	combined bool          // combining has changed the best since a block last got it
	cost     time.Duration // of combining two solutions
}

// clusterMoves are when cluster moves are made, and what they have exchanged.
type clusterMoves struct {
	since    int      // sweeps since the last migration
	grown    [2]int64 // of cluster moves: variables exchanged, and those that differed
	clusters int      // sweeps between cluster moves, at first
}

// roundLength returns the length of the next round, in sweeps, and the sweeps left. A round takes a
// small part of the time left, or, where the run depends on the seed alone, ends about where the
// limit on work is met.
func (r *temperingRun) roundLength(number int64) (limit, left int) {
	if number == 0 {
		return 1, 0
	}
	if r.Work > 0 {
		return max(1, min(cmp.Or(r.Rules.Round, workRound), int(float64(r.Work-r.Spent)/max(1, r.flips)))), 0
	}
	round := max(temperRound, min(migrantsWork*r.cost, temperLong)).Seconds()
	if !r.Deadline.IsZero() {
		time := time.Until(r.Deadline).Seconds()
		left = max(1, int(time/r.pace))
		round = min(round, time)
	}
	limit = max(1, min(1<<16, int(round/r.pace)))
	if r.Rules.Round > 0 {
		if limit = r.Rules.Round; left > 0 {
			limit = min(limit, left)
		}
	}
	return limit, left
}

// round makes a round of sweeps.
func (r *temperingRun) round() error {
	sweeps, left := r.roundLength(r.Number)
	var words []int64
	if r.anneals > 0 {
		sweeps, words = r.course.advance(r.tempering, sweeps, left)
	}
	if r.Number == 0 || r.anneals > 0 {
		if err := r.uploadLadders(words); err != nil {
			return err
		}
	}
	began := time.Now()
	if err := r.enqueueRound(r.Options, r.Number, sweeps); err != nil {
		return err
	}
	r.combineMigrants(r.Number, began.Add(time.Duration(float64(sweeps)*r.pace*float64(time.Second))))
	if err := r.streams[0].Download(device.Bytes(r.seen), r.scores, 0); err != nil {
		return err
	}
	r.measure(time.Since(began), sweeps)
	if err := r.look(false); err != nil {
		return err
	}
	r.since += sweeps
	return errors.Join(r.fetchMigrants(r.Number), r.seedBlocks(r.Number))
}

// reportElites calls Elite with the pool.
func (r *temperingRun) reportElites() {
	for _, e := range r.pool.Elites {
		if r.Elite != nil {
			r.Elite(e.Value, e.X)
		}
	}
}

// restart restarts all blocks with other random numbers. The best solution stays and is combined with
// what they find.
func (r *temperingRun) restart() error {
	if err := r.look(true); err != nil {
		return err
	}
	r.reportElites()
	r.Did.Restarts += int64(r.blocks)
	r.Seed, r.Start = draw.RandomWord(r.Seed, uint64(r.Restarts), 1), nil
	r.pool.Elites, r.migrants, r.course = nil, migrants{}, temperCourse{}
	r.every, r.since, r.grown, r.combined = r.clusters, 0, [2]int64{}, false
	r.forget()
	return nil
}

// forget discards the best values of all blocks.
func (r *temperingRun) forget() {
	for k := range r.top {
		r.top[k] = math.MinInt64
	}
}

// climb flips variables of x whose flip raises the value until none is left, and returns the rise.
// delta is updated.
func climb(p *problem.Normal, x []uint64, delta []int64) (gained int64) {
	p.Deltas(x, delta)
	for more := true; more; {
		more = false
		for i := range delta {
			if d := delta[i]; d > 0 {
				problem.Flip(p, x, delta, i)
				gained, more = gained+d, true
			}
		}
	}
	return gained
}

// measure adds up the flips of a round of sweeps sweeps that took so long, and updates the pace.
func (r *temperingRun) measure(took time.Duration, sweeps int) {
	flips, top := int64(0), int64(math.MinInt64)
	for b := range r.blocks {
		flips += r.seen[b*qubo.TemperScoreScores+qubo.TemperScoreFlips]
		top = max(top, r.seen[b*qubo.TemperScoreScores+qubo.TemperScoreKept])
	}
	r.EndRound(top)
	r.Did.Flips += flips
	r.Spent += max(flips, int64(sweeps)) // so that a search without flips ends too
	r.flips = float64(flips) / float64(sweeps)
	pace := took.Seconds() / float64(sweeps)
	r.pace = cmp.Or(r.pace, pace)
	r.pace = max(1e-8, (r.pace+pace)/2)
}

// Elites brought after a round, at most; and how many times what that took
// passes before it is done again.
const (
	eliteLooks = 2
	lookShare  = 4
)

// look downloads the blocks' bests that have improved: the best of all, and some that may enter the
// pool. For a large problem it is skipped while it would take more than a small part of the time,
// except at the end.
func (r *temperingRun) look(last bool) error {
	began := time.Now()
	if r.Work == 0 && !last && began.Sub(r.looked) < lookShare*r.looking {
		return nil
	}
	defer func() { r.looked, r.looking = time.Now(), time.Since(began) }()
	var better []int
	for b := range r.blocks {
		if v := r.seen[b*qubo.TemperScoreScores+qubo.TemperScoreKept]; v > r.top[b] {
			r.top[b] = v
			better = append(better, b)
		}
	}
	slices.SortStableFunc(better, func(a, b int) int { return cmp.Compare(r.top[b], r.top[a]) })
	for _, b := range better[:min(len(better), eliteLooks)] {
		value := r.top[b] >> r.form.shift
		full := len(r.pool.Elites) == r.pool.Size
		if value <= r.Best && full && value <= r.pool.Elites[r.pool.Size-1].Value {
			break
		}
		x, err := r.tempering.downloadBest(b, value)
		if err != nil {
			return err
		}
		r.offer(value+climb(r.p, x, r.delta), x)
	}
	return nil
}

// offer offers a solution to the pool, and reports it where it is the best so far.
func (r *temperingRun) offer(value int64, x []uint64) {
	if taken, _ := r.pool.Add(value, x); taken && r.Give != nil {
		r.Give(x)
	}
	r.Improve(value, x)
}

// seedBlocks writes solutions to blocks with ladders: the start, the best solution where the host
// combined it, solutions of other searches, and solutions of other blocks. It ends cluster moves
// where clusters have nearly all of the variables in which two replicas differ.
func (r *temperingRun) seedBlocks(number int64) error {
	ladders := r.blocks - r.anneals
	if r.every > 0 {
		for b := range r.blocks {
			r.grown[0] += r.seen[b*qubo.TemperScoreScores+qubo.TemperScoreCluster]
			r.grown[1] += r.seen[b*qubo.TemperScoreScores+qubo.TemperScoreDiffer]
		}
	}
	switch {
	case ladders == 0:
		return nil
	case number == 0 && r.Start != nil:
		return r.setReplicas(r.Start, 0, 1)
	case r.every > 0 && r.since >= clusterLook && float64(r.grown[0]) > clusterShare*float64(r.grown[1]):
		r.every = 0
		return r.uploadLadders(make([]int64, qubo.TemperLadderRungs))
	case r.combined:
		r.combined = false
		return r.setReplicas(r.X, int(number)%ladders, 1)
	case ladders > 1 && (r.every > 0 && r.since >= migrateEvery || r.every == 0 && r.since >= inviteEvery):
		r.since, r.grown = 0, [2]int64{}
		return r.migrate(r.Seed, number, r.seen)
	}
	if x := r.taken; x != nil {
		r.taken = nil
		return r.setReplicas(x, int(number)%ladders, 1)
	}
	return nil
}
