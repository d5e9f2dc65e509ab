package tabu

import (
	"errors"
	"fmt"
	"slices"

	"coalesce/autotune/subject"
	"coalesce/generated/qubo"
	"coalesce/runtime/device"
	"coalesce/solvers/cores"
	"coalesce/solvers/qubo/internal/draw"
	"coalesce/solvers/qubo/internal/elite"
	"coalesce/solvers/qubo/internal/search"
	"coalesce/solvers/qubo/problem"
)

// Subject is qubo/bulk for the tuner. The time of a number of flips is measured, however many
// searches make them.
type Subject struct{}

// Family is qubo/bulk.
func (Subject) Family() *device.Family { return &qubo.Bulk }

// Fixed are the types of coefficients, each of which is tuned by itself.
func (Subject) Fixed() []map[string]string {
	var all []map[string]string
	for _, row := range []string{"int8", "int16", "int32", "int64", "bits", "float32", "pairs"} {
		all = append(all, map[string]string{"row": row})
	}
	return all
}

// Sizes are numbers of variables: few where the device is not a GPU.
func (Subject) Sizes(f device.Facts) []int {
	if f.Kind == device.CUDA {
		return []int{1000, 2500, 3500, 5000, 7000}
	}
	return []int{60, 120}
}

// Feasible holds the variables, the clusters and the memory of the matrix against a device.
func (Subject) Feasible(v *device.Variant, f device.Facts, size int) error {
	form, err := needs{n: size, size: 1}.formOn(f, v)
	if need := int64(form.rowBytes()) * int64(size); err == nil && f.Free > 0 && need > f.Free/10*9 {
		err = fmt.Errorf("a matrix of %s, %s has %s free: %w", device.Size(need), f, device.Size(f.Free), device.ErrMemory)
	}
	return err
}

// A trial is a problem that rows of a type hold: one to time, or a case, whose searches the host
// checks.
type trial struct {
	p      *problem.Normal
	isCase bool
}

// Size is the number of variables.
func (t *trial) Size() int { return t.p.N }

// newTrial draws a problem that rows of a type hold exactly. For bits there is a weight between
// any two variables, all of one size; for other rows between about half of the pairs, some of the
// largest size that the type allows.
func newTrial(row string, n int, seed uint64) *trial {
	largest := largestWeight(row, n+3) // a diagonal counts as three
	one := func(i, j int) int64 {
		u := draw.Coins(seed, uint64(min(i, j)), uint64(max(i, j)))
		switch {
		case u&31 == 0 || row == "bits" && u&32 != 0:
			return largest
		case row == "bits":
			return -largest
		}
		return int64(u>>1%uint64(2*largest+1)) - largest
	}
	return &trial{p: draw.Dense(n, func(i, j int) int64 {
		if w := one(i, j); w&1 == 0 || w == largest {
			return w
		}
		return 0
	}, func(i int) int64 { return 3 * one(i, i) })}
}

// Cases have 1 variable, 13, 33 (one more than a warp), 97 and 128 (about the capacity of the
// smallest variant), and more variables than a block of a cluster holds.
func (Subject) Cases(fixed map[string]string) ([]subject.Case, error) {
	var cases []subject.Case
	for k, n := range []int{1, 13, 33, 97, 128, 1000, 2500} {
		if n == 1 && fixed["row"] == "bits" { // one variable has no weight
			continue
		}
		cases = append(cases, subject.Case{Name: fmt.Sprintf("%d variables", n), Instance: drawCase(fixed["row"], n, uint64(k))})
	}
	return cases, nil
}

func drawCase(row string, n int, seed uint64) *trial {
	t := newTrial(row, n, seed<<40)
	t.isCase = true
	return t
}

// DrawCase draws a problem that few searches of few flips verify.
func (Subject) DrawCase(fixed map[string]string, size int, seed uint64) (subject.Instance, error) {
	return drawCase(fixed["row"], size, seed), nil
}

// Instance draws a problem to be timed.
func (Subject) Instance(fixed map[string]string, size int, seed uint64) (subject.Instance, error) {
	return newTrial(fixed["row"], size, seed<<40), nil
}

// Open takes a variant; a trial takes the memory.
func (Subject) Open(d device.Device, v *device.Variant) (subject.Runner, error) {
	return subject.Open(&qubo.Bulk, v, func(t *trial) (subject.Job, error) { return newTrialJob(d, v, t) })
}

const (
	trialRounds = 3       // the first round has no elites to begin from, the last has those of two rounds
	trialFlips  = 1 << 22 // of all rounds together, about
)

// newTrialJob lays a trial out on the device.
func newTrialJob(d device.Device, v *device.Variant, t *trial) (subject.Job, error) {
	l, err := newIslands([]device.Device{d}, v, t.p, func(b *Island) parameters {
		rules := b.rules
		rules.flips = max(1, trialFlips/trialRounds/rules.searches)
		if t.isCase {
			rules.searches, rules.pool = 4, 4
			rules.flips, rules.stall = min(2*t.p.N, 1500), min(t.p.N, 500)
			if t.p.N >= 1000 && d.Facts().Kind == device.Emulated { // thousands of threads a step
				rules.flips = 30
			}
		}
		return rules
	})
	if err != nil {
		return nil, err
	}
	b := l[0]
	if err := b.streams[0].Sync(); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return &trialJob{on: b, own: b.streams[0], twice: t.isCase}, nil
}

type trialJob struct {
	on    *Island
	own   device.Stream
	twice bool // Check runs again
}

// Reset empties the pool and overwrites the memory that Run writes, so that a Run that writes
// nothing is noticed.
func (j *trialJob) Reset(s device.Stream) error {
	b := j.on
	b.streams[0] = s
	var errs []error
	for _, buffer := range []device.Buffer{b.gains, b.now, b.kept, b.scores, b.elites} {
		errs = append(errs, s.Fill(buffer, 0, buffer.Len(), 0xa5))
	}
	return errors.Join(append(errs, b.begin(search.Options{}))...)
}

// Run makes the rounds.
func (j *trialJob) Run(s device.Stream) error {
	j.on.streams[0] = s
	for number := range int64(trialRounds) {
		if err := j.on.round(search.Options{Seed: 1}, number, int64(j.on.rules.flips)); err != nil {
			return err
		}
	}
	return nil
}

// Check holds searches and pool against the coefficients, of a problem with many searches some
// eight of them, and of a case a second run with the same seed against the first.
func (j *trialJob) Check(s device.Stream) error {
	b := j.on
	every := 1
	if b.rules.searches > 8 {
		every = max(1, b.rules.searches/8)
	}
	if err := errors.Join(b.look(), b.verify(every)); err != nil {
		return err
	}
	if flips := b.seen[qubo.BulkControlFlips]; flips != int64(j.Work()) {
		return fmt.Errorf("%w: %d flips, expected %d", problem.ErrCheck, flips, int64(j.Work()))
	}
	if !j.twice {
		return nil
	}
	first, scores := slices.Clone(b.seen), make([]int64, qubo.BulkScoreScores*b.rules.searches)
	again := slices.Clone(scores)
	if err := errors.Join(s.Download(device.Bytes(scores), b.scores, 0), j.Reset(s), j.Run(s), s.Download(device.Bytes(again), b.scores, 0), b.look()); err != nil {
		return err
	}
	if !slices.Equal(first, b.seen) || !slices.Equal(scores, again) {
		return fmt.Errorf("%w: a second run of the same seed ended elsewhere", problem.ErrCheck)
	}
	return nil
}

// Work is the number of flips.
func (j *trialJob) Work() float64 {
	return trialRounds * float64(j.on.rules.searches) * float64(j.on.rules.flips)
}

// Close frees the memory of the trial.
func (j *trialJob) Close() error {
	j.on.streams[0] = j.own
	return j.on.Close()
}

// A sight of a search is its downloaded state.
type sight struct {
	search    int64
	words     []int64
	kept, now []uint32
	gains     []byte
}

// see downloads the results of a search.
func (b *Island) see(search int64) (sight, error) {
	s, f := b.streams[0], b.form
	x := sight{search, make([]int64, qubo.BulkScoreScores), make([]uint32, f.record()), make([]uint32, f.record()), make([]byte, f.capacity()*f.gain())}
	return x, errors.Join(s.Download(device.Bytes(x.words), b.scores, 8*qubo.BulkScoreScores*search), s.Download(device.Bytes(x.kept), b.kept, search*int64(4*len(x.kept))),
		s.Download(device.Bytes(x.now), b.now, search*int64(4*len(x.now))), s.Download(x.gains, b.gains, search*int64(len(x.gains))))
}

// verify recomputes from the coefficients, on all cores, the value, the gains and the best solution of
// every every-th search, and the values and distances of all elites. Errors wrap problem.ErrCheck.
func (b *Island) verify(every int) error {
	var seen []sight
	for k := int64(0); k < int64(b.rules.searches); k += int64(every) {
		x, err := b.see(k)
		if err != nil {
			return err
		}
		seen = append(seen, x)
	}
	wrong := make([]error, len(seen))
	cores.Pieces(len(seen), func(k int) { wrong[k] = b.hold(&seen[k]) })
	for _, err := range wrong {
		if err != nil {
			return err
		}
	}
	return b.verifyPool()
}

// hold compares a search with the coefficients.
func (b *Island) hold(seen *sight) error {
	f, n := b.form, b.p.N
	if v := b.p.Value(f.unpack(seen.kept, n)); seen.words[qubo.BulkScoreKept] != v {
		return fmt.Errorf("%w: search %d has kept %d, recomputed %d", problem.ErrCheck, seen.search, seen.words[qubo.BulkScoreKept], v)
	}
	x := f.unpack(seen.now, n)
	if v := b.p.Value(x); seen.words[qubo.BulkScoreValue] != v {
		return fmt.Errorf("%w: search %d is at %d, recomputed %d", problem.ErrCheck, seen.search, seen.words[qubo.BulkScoreValue], v)
	}
	want := make([]int64, n)
	b.p.Deltas(x, want)
	for t := range f.threads() {
		for item := range f.items {
			i := f.variable(t, item)
			if i >= n {
				continue
			}
			if got := f.gainAt(seen.gains, t, item); got != want[i] {
				return fmt.Errorf("%w: search %d: gain %d of variable %d, recomputed %d", problem.ErrCheck, seen.search, got, i, want[i])
			}
		}
	}
	return nil
}

// verifyPool holds the elites, as last looked at, against the coefficients and
// against one another.
func (b *Island) verifyPool() error {
	pool := make([][]uint64, b.seen[qubo.BulkControlCount])
	for e := range pool {
		x, err := b.elite(int64(e))
		if err != nil {
			return err
		}
		pool[e] = x
		v := b.p.Value(x)
		if v != b.seen[qubo.BulkControlValues+e] || v > b.seen[qubo.BulkControlBest] {
			return fmt.Errorf("%w: elite %d has %d, the best %d, recomputed %d", problem.ErrCheck, e, b.seen[qubo.BulkControlValues+e], b.seen[qubo.BulkControlBest], v)
		}
		for other, y := range pool[:e] {
			if d := elite.Distance(x, y); d < b.rules.distance {
				return fmt.Errorf("%w: elites %d and %d are %d apart, expected %d", problem.ErrCheck, e, other, d, b.rules.distance)
			}
		}
	}
	return nil
}

// integerAt is the signed integer number at of b, whose integers have size bytes each.
func integerAt(b []byte, at, size int) int64 {
	var v uint64
	for k := range size {
		v |= uint64(b[at*size+k]) << (8 * k)
	}
	return int64(v<<(64-8*size)) >> (64 - 8*size)
}
