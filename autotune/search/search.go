// Package search looks for the best variant of a family within a budget. It
// asks a Bench for trials and knows no device: tests give it a simulated one.
//
// The order is the safe point and earlier winners, so that whenever the search is stopped its best is at least as good as
// what runs without tuning; then what package propose proposes. Every variant is verified before it is timed. Successive halving times all of them briefly at the
// middle size, a quarter of them at every size, and the best few of each size in interleaved
// rounds, of the middle size first; "exhaustive" leaves out the halving.
package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"coalesce/autotune/trial"
	"coalesce/runtime/device"
)

// Strategies.
const (
	Halving    = "halving"
	Exhaustive = "exhaustive"
)

// Phases, as progress and trials name them.
const (
	PhaseScreen = "screen" // all, briefly, at the middle size
	PhaseSize   = "size"   // the survivors, briefly, at each size
	PhaseFinal  = "final"  // the best of a size, in rounds
	PhaseCross  = "cross"  // winners of one size at the others
)

// The fixed numbers of the search.
const (
	keepOne       = 4    // survivors: one in this many,
	keepLeast     = 8    // but at least these
	finalists     = 6    // beside the safe point and the incumbent
	rounds        = 3    // of the final, of two instances by turns
	moreRounds    = 3    // of those that are tied then,
	leastScreened = 8    // before a size is decided within the grace,
	leastTried    = 5    // of those at another size
	variedRounds  = 9    // where times depend on the instance
	doubtRounds   = 12   // after these, of what may be faster than the winner by more than sameSpeed
	longer        = 2    // times a glance: a measurement of a round, about
	hopeless      = 3    // times the best: one sample is enough
	alsoRan       = 1.5  // times the best after a final round: out
	beyondDoubt   = 10   // times the best at a glance: slower whatever other processes did meanwhile
	behind        = 1.3  // the same, where samples taken beside other processes are discarded
	crossed       = 3    // fastest of a turn's size, measured at the sizes next to it
	baseline      = 20   // variants between two measurements of the safe point
	driftLimit    = 0.02 // relative change of the safe point that is reported
	screenShare   = 0.5  // of the budget
)

// MostInstances is how many instances of a size a search times at most.
const MostInstances = rounds + variedRounds + doubtRounds

// A TrialRequest is one trial the search wants.
type TrialRequest struct {
	Variant  *device.Variant
	Size     int
	Action   string // trial.ActionVerify or trial.ActionMeasure
	Phase    string
	Brief    bool          // a few samples for screening
	Rounds   int           // the measurement is one of so many
	Instance int           // which random instance to time
	Bound    time.Duration // one sample slower than this is enough; 0 for none
	Timeout  time.Duration // after which the trial is given up
}

// A Bench runs trials. An error ends the search; failed trials are no errors.
type Bench interface {
	RunExperiment(ctx context.Context, a TrialRequest) (trial.Trial, error)
}

// A Plan says what to search.
type Plan struct {
	Family   *device.Family
	Fixed    map[string]string
	Sizes    []int // ascending
	Feasible func(v *device.Variant, size int) error
	Previous map[int]string // labels of earlier winners by size, or of the variants that would run there
	Likely   []string       // labels of what won elsewhere, once for each win
	// Promising are the labels that each size tries first, the best first, after the safe point and earlier winners.
	Promising map[int][]string
	Strategy  string        // default Halving
	Seed      uint64        // of the shuffle
	Budget    time.Duration // 0 for none
	// Grace is how much longer than Budget the search may take to finish the size that it decides
	// when Budget is spent.
	Grace time.Duration
	// Turn, where it is not 0, decides the Turn-th size of SizeOrder alone, for one of several searches
	// of a workload that repeat each other's trials without running them. Screened is how
	// many variants those before have screened, beyond which this one does not go; 0: none was before.
	Turn, Screened int
	Timeout        time.Duration // least time a trial is given; default 1 minute
	Now            func() time.Time
	Observe        func(Progress) // called after each trial; may be nil
	// Prepare is called with each variant some time before its first trial at a size, for it to be compiled meanwhile, and
	// Ahead is how many variants are picked before those before them have been tried; may be nil and 0.
	Prepare func(v *device.Variant)
	Ahead   int
	// Decided is called when the search of a size has ended and has a winner, which
	// later trials of other sizes no longer change; may be nil.
	Decided func(SizeOutcome)
	// Varied says that times depend on the instance (subject.VaryingSubject).
	Varied bool
	// Alone says that no other process can have slowed a trial's samples unnoticed.
	Alone bool
	// Noise is the relative MAD, and the part of the cores that other processes take, above which times
	// crown no one; default NoiseLimit. A winner may take over half of Noise longer than another neither.
	Noise float64
	// Only are the labels to try at each size; nil for all.
	Only map[int][]string
	// Have are, with Turn, the sizes decided before.
	Have map[int]DecidedSize
}

// Progress is where the search stands.
type Progress struct {
	Phase       string
	Size        int
	Done, Total int // of the phase
	Counts      map[trial.Status]int
	Trial       trial.Trial // the one just ended
	Best        string      // fastest at Size so far, "" for none
	BestTime    time.Duration
	SafeTime    time.Duration // 0 if not measured at Size
	Remaining   time.Duration // of the budget; 0 without one
}

// A SizeOutcome is the decision at one size.
type SizeOutcome struct {
	Size     int
	Winner   *device.Variant
	Why      string
	Safe     string     // label of the safe point, "" if it was not measured here
	Results  []Measured // fastest first
	Complete bool       // the final rounds were run to their end
	Noisy    bool       // times that Plan.Noise does not allow might have changed the winner
}

// A Failure is a variant that will never win.
type Failure struct {
	Variant *device.Variant
	Size    int
	Status  trial.Status
	Error   string
}

// Outcome of a search.
type Outcome struct {
	Sizes []SizeOutcome // where something is proven, ascending
	Noisy []int         // sizes not decided, as times are not what Plan.Noise allows
	// Crossed are, with Turn, times at the sizes of Plan.Have next to the turn's, of the variants that are fast
	// at the turn's size. They have a winner where such a size was decided again.
	Crossed    []SizeOutcome
	Failures   []Failure
	Counts     map[trial.Status]int // trials
	Points     int                  // variants with the fixed parameters
	Infeasible int                  // of them, at every size
	Tried      int                  // variants with a trial
	Timed      int                  // of them, those with a time at some size
	Drift      float64              // largest relative change of the safe point while screening
	Stopped    string               // Done, OverBudget or Interrupted
}

// Why a search stopped.
const (
	Done        = "done"
	OverBudget  = "budget"
	Interrupted = "interrupted"
)

// Run searches. The outcome stands even beside an error.
func Run(ctx context.Context, bench Bench, plan Plan) (Outcome, error) {
	s := newSearch(ctx, bench, plan)
	s.out.Stopped = Done
	err := s.runPhases()
	switch {
	case err == nil && s.cut:
		s.out.Stopped = OverBudget
	case errors.Is(err, errBudget):
		s.out.Stopped, err = OverBudget, nil
	case ctx.Err() != nil:
		s.out.Stopped, err = Interrupted, nil
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			s.out.Stopped = OverBudget
		}
	}
	s.decideAllSizes()
	return s.out, err
}

// errBudget ends a search whose time is spent.
var errBudget = errors.New("budget spent")

// A candidate is a variant that the search may try, with all that is known of it.
type candidate struct {
	v        *device.Variant
	verified bool
	dead     bool
	tried    bool
	varied   bool         // of Plan
	barred   map[int]bool // sizes it cannot run
	brief    map[int]trial.Sample
	rounds   map[int][]trial.Sample
	work     map[int]float64
	ceilings map[int]*trial.Ceiling
}

// timeAt is the time at a size.
func (c *candidate) timeAt(size int) (Measured, bool) {
	if c.dead || !c.tried {
		return Measured{}, false
	}
	m := Measured{Variant: c.v, Work: c.work[size], Ceiling: c.ceilings[size]}
	if r := c.rounds[size]; len(r) > 0 {
		var within []float64
		m.Sample, m.Final, m.Varied, m.Instances = poolSamples(r), true, c.varied, min(len(r), leastInstances)
		for _, one := range r {
			m.Rounds = append(m.Rounds, float64(one.Median))
			within = append(within, one.Noise())
		}
		if m.Scatter = m.Sample.Noise(); c.varied {
			m.Scatter = sortedMedian(within)
		}
		return m, true
	}
	b, ok := c.brief[size]
	m.Sample, m.Scatter, m.Instances = b, b.Noise(), 1
	return m, ok
}

type search struct {
	ctx   context.Context
	bench Bench
	Plan
	deadline time.Time // zero without a budget
	hard     time.Time // the deadline and the grace
	order    []*candidate
	sure     int            // of the order: the safe point and earlier winners
	wins     map[string]int // of Plan.Likely, by label
	safe     *candidate     // nil when there is none
	slowest  map[int]time.Duration
	timed    map[int]walls // trials that measured, by size
	complete map[int]bool
	cut      bool // a phase was cut short by its share of the budget
	out      Outcome

	phase       string
	done, total int
}

// walls are how long trials took, the making of their instances included.
type walls struct {
	n    int
	wall time.Duration
}

func newSearch(ctx context.Context, bench Bench, plan Plan) *search {
	s := &search{ctx: ctx, bench: bench, Plan: plan, slowest: map[int]time.Duration{}, timed: map[int]walls{}, complete: map[int]bool{}}
	s.out.Counts = map[trial.Status]int{}
	if s.Now == nil {
		s.Now = time.Now
	}
	if s.Timeout == 0 {
		s.Timeout = time.Minute
	}
	if s.Noise == 0 {
		s.Noise = NoiseLimit
	}
	if s.Budget > 0 {
		s.deadline = s.Now().Add(s.Budget)
		s.hard = s.deadline.Add(s.Grace)
	}
	s.enumerate()
	return s
}

// enumerate lists the candidates: what is known first, the others in a seeded shuffle.
func (s *search) enumerate() {
	s.wins = map[string]int{}
	for _, label := range s.Likely {
		s.wins[label]++
	}
	var previous, likely, rest []*candidate
	for i := range s.Family.Variants {
		v := &s.Family.Variants[i]
		if s.Family.CheckWorkload(v, s.Fixed) != nil {
			continue
		}
		s.out.Points++
		c := &candidate{v: v, varied: s.Varied, barred: map[int]bool{}, brief: map[int]trial.Sample{}, rounds: map[int][]trial.Sample{}, work: map[int]float64{}, ceilings: map[int]*trial.Ceiling{}}
		for _, size := range s.Sizes {
			c.barred[size] = s.Only != nil && !slices.Contains(s.Only[size], v.Label) ||
				s.Feasible != nil && s.Feasible(v, size) != nil
		}
		if !slices.ContainsFunc(s.Sizes, func(size int) bool { return !c.barred[size] }) {
			s.out.Infeasible++
			continue
		}
		switch {
		case v.Safe && s.safe == nil:
			s.safe = c
		case s.wonBefore(v):
			previous = append(previous, c)
		case s.wins[v.Label] > 0:
			likely = append(likely, c)
		default:
			rest = append(rest, c)
		}
	}
	rng := rand.New(rand.NewPCG(s.Seed, 0x636f616c65736365))
	rng.Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
	slices.SortStableFunc(likely, func(a, b *candidate) int { return cmp.Compare(s.wins[b.v.Label], s.wins[a.v.Label]) })
	if s.safe != nil {
		s.order = append(s.order, s.safe)
	}
	s.sure = len(s.order) + len(previous)
	s.order = slices.Concat(s.order, previous, likely, rest)
}

func (s *search) wonBefore(v *device.Variant) bool {
	return slices.Contains(slices.Collect(maps.Values(s.Previous)), v.Label)
}

// check returns why the search must stop now, if it must.
func (s *search) check() error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	if !s.hard.IsZero() && !s.Now().Before(s.hard) {
		return errBudget
	}
	return nil
}

// budgetShareEnd is the point in time when a part of the remaining budget is spent.
func (s *search) budgetShareEnd(part float64) time.Time {
	if s.deadline.IsZero() {
		return time.Time{}
	}
	now := s.Now()
	return now.Add(time.Duration(part * float64(s.deadline.Sub(now))))
}

// deadlinePassed reports whether t has come, zero being never; what is left out then was
// cut short by the budget.
func (s *search) deadlinePassed(t time.Time) bool {
	late := !t.IsZero() && !s.Now().Before(t)
	s.cut = s.cut || late
	return late
}

// runTrial verifies a candidate if need be and measures it at a size. A trial that
// fails is no error.
func (s *search) runTrial(c *candidate, size int, a TrialRequest) error {
	if c.dead || c.barred[size] {
		return nil
	}
	a.Variant, a.Size, a.Phase = c.v, size, s.phase
	if !c.verified {
		v := a
		v.Action, v.Timeout = trial.ActionVerify, s.Timeout
		t, err := s.do(c, v)
		if err != nil || t.Status != trial.OK {
			return err
		}
		c.verified = true
	}
	a.Action = trial.ActionMeasure
	a.Timeout = 10 * s.Timeout // nothing is known of this size
	if w, ok := s.slowest[size]; ok {
		a.Timeout = max(s.Timeout, 10*w)
	}
	t, err := s.do(c, a)
	if err != nil || t.Status != trial.OK {
		return err
	}
	best := t.Best()
	if best == nil {
		return fmt.Errorf("%s at size %d: the trial is ok and has no samples", c.v.Label, size)
	}
	sample := *best
	if !s.Alone && !s.Varied { // whatever else runs on a host adds time, and takes none away
		sample.Median = sample.Q1
	}
	if a.Brief {
		c.brief[size] = sample
	} else {
		c.rounds[size] = append(c.rounds[size], sample)
	}
	c.work[size], c.ceilings[size] = t.Work, t.Ceiling
	s.slowest[size] = max(s.slowest[size], time.Duration(t.Wall))
	s.timed[size] = walls{s.timed[size].n + 1, s.timed[size].wall + time.Duration(t.Wall)}
	return nil
}

// do runs a trial and draws the consequences of its failure.
func (s *search) do(c *candidate, a TrialRequest) (trial.Trial, error) {
	if err := s.check(); err != nil {
		return trial.Trial{}, err
	}
	t, err := s.bench.RunExperiment(s.ctx, a)
	if err != nil {
		return t, err
	}
	s.out.Counts[t.Status]++
	c.tried = true
	switch t.Status {
	case trial.OK:
	case trial.Constraint, trial.Memory:
		if a.Action == trial.ActionVerify {
			c.dead = true
			break
		}
		for _, size := range s.Sizes { // what does not fit here does not fit above
			if size == a.Size || t.Status == trial.Memory && size > a.Size {
				c.barred[size] = true
			}
		}
	default:
		c.dead = true // and with it all its times: c.at says so
	}
	if t.Status != trial.OK {
		s.out.Failures = append(s.out.Failures, Failure{c.v, a.Size, t.Status, t.Error})
	}
	s.report(a.Size, t)
	return t, nil
}

func (s *search) report(size int, t trial.Trial) {
	if s.Observe == nil {
		return
	}
	p := Progress{Phase: s.phase, Size: size, Done: s.done, Total: s.total, Counts: s.out.Counts, Trial: t}
	if m, ok := s.fastestAt(size); ok {
		p.Best, p.BestTime = m.Variant.Label, time.Duration(m.Sample.Median)
	}
	if s.safe != nil {
		if m, ok := s.safe.timeAt(size); ok {
			p.SafeTime = time.Duration(m.Sample.Median)
		}
	}
	if !s.deadline.IsZero() {
		p.Remaining = max(0, s.deadline.Sub(s.Now()))
	}
	s.Observe(p)
}

// fastestAt is the fastest at a size so far.
func (s *search) fastestAt(size int) (first Measured, found bool) {
	for _, c := range s.order { // the first of the ranking, without the others' order
		m, ok := c.timeAt(size)
		if ok && (!found || cmp.Or(cmp.Compare(m.Sample.Median, first.Sample.Median), cmp.Compare(c.v.Label, first.Variant.Label)) < 0) {
			first, found = m, true
		}
	}
	return first, found
}
