// Package autotune finds the fastest variant of a family for a device: it
// verifies every variant against the subject's reference, measures those that
// are right, and puts the winners into a tuned.Database. Its rooms are subject
// (what is tuned), search (in which order, until when), worker (trials in a
// child process), verify, measure, trial (the record), tuned (winners and the
// choice among them) and report.
package autotune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"time"

	"coalesce/autotune/search"
	"coalesce/autotune/subject"
	"coalesce/autotune/t4"
	"coalesce/autotune/trial"
	"coalesce/autotune/tuned"
	"coalesce/autotune/worker"
	"coalesce/runtime/device"
)

// ErrWrongVariant is wrapped by Tune's error when a variant answered wrongly.
// Tuning went on without it and the result stands; the variant has a bug.
var ErrWrongVariant = errors.New("a variant answered wrongly")

// ErrNoneRan is wrapped by Tune's error when every variant that was tried failed: there is no time of any, and
// no winner. Summary.Failures has the reasons.
var ErrNoneRan = errors.New("no variant ran")

// Options of Tune. Subject and one of Worker and Device are required.
type Options struct {
	Subject subject.Subject
	Fixed   []map[string]string // compile-time workloads; default Subject.Workloads
	Sizes   []int               // ascending; default Subject.Sizes

	// Worker makes the command of a worker process on the device: this program
	// with arguments that lead to worker.Serve.
	Worker func() *exec.Cmd
	// Device runs trials in this process instead. Nothing guards against
	// crashes and hangs then; tests use it.
	Device device.Device
	// Compile compiles a variant of a CUDA family to where the device loads it from, unless it is there; several goroutines call it.
	// nil where devices load only what they hold, or compile it themselves. The search picks Compilers variants, default 1, ahead
	// of the one that it tries, for them to be compiled meanwhile.
	Compile   func(ctx context.Context, f *device.Family, v *device.Variant) error
	Compilers int
	// Facts of the device. The zero value asks the worker; otherwise a worker on
	// another class of device is an error.
	Facts device.Facts

	Database *tuned.Database // earlier winners; nil for none. It is not changed
	Known    *tuned.Database // winners on other devices, of other texts: tried early; nil for none
	Begin    *t4.Results     // of any tuner: the search begins with the fastest, where the space fits; nil for none
	// Trials is the path of the file to append trials to as they end; "" for none. A run
	// that was cut short goes on from there: what the file holds of a search that did not
	// come to its end, on the same card with the same seed within a day, is not run again.
	Trials string
	// Damaged is called for each line of Trials that cannot be read and is left out; may be nil.
	Damaged func(trial.DamagedLine)
	// Keep is called with all winners known when one is decided, to save them; may be nil.
	// Its error ends Tune with the workload under way.
	Keep func(*tuned.Database) error
	// Refresh verifies and measures again what Database keeps, and nothing else: winners
	// and runners-up whose label this binary has, whatever their text was.
	Refresh  bool
	Budget   time.Duration // of the whole run; 0 for none
	Timeout  time.Duration // least time given to a trial; default 1 minute
	Strategy string        // search.Halving (default) or search.Exhaustive
	Seed     uint64        // of the order of trying and of the instances timed
	Noise    float64       // search.Plan.Noise
	Progress func(Event)   // called after each trial; may be nil

	// Now is the clock that budgets are read from; default time.Now.
	Now func() time.Time

	turnOfBudget
}

// A turnOfBudget is one call of Tune among several that share a budget. The zero value is a call on its own.
type turnOfBudget struct {
	shared *resources // of the calls; nil: this one has its own
	turn   int        // search.Plan.Turn
	end    time.Time  // of the whole budget, where Options.Budget is this call's part; zero: they are one
}

// A Summary tells what a run of Tune did.
type Summary struct {
	Family     string               `json:"family"`
	Device     string               `json:"device"` // its name
	Class      string               `json:"class"`
	Session    string               `json:"session"`
	Seed       uint64               `json:"seed,string"`
	Stopped    string               `json:"stopped"` // search.Done, OverBudget or Interrupted
	Elapsed    time.Duration        `json:"elapsed_ns"`
	Points     int                  `json:"points"`     // variants of the family considered
	Infeasible int                  `json:"infeasible"` // of them, at every size
	Tried      int                  `json:"tried"`
	Timed      int                  `json:"timed"` // of them, those with a time at some size
	Wrong      int                  `json:"wrong"` // variants that answered wrongly
	Workers    int                  `json:"workers"`
	Resumed    int                  `json:"resumed"` // trials taken over from a run that was cut short
	Drift      float64              `json:"drift"`   // largest relative change of the safe point, 0 below 2 %
	Counts     map[trial.Status]int `json:"counts"`
	Winners    []Winner             `json:"winners"`
	Failures   []Failure            `json:"failures"`

	// Noisy are the sizes not decided because samples or rounds scattered too much, or other processes computed.
	Noisy []Key `json:"noisy,omitempty"`
	// Undecided are the sizes that the budget did not reach, and Missing is about how long they take.
	Undecided []Key         `json:"undecided,omitempty"`
	Missing   time.Duration `json:"missing_ns,omitempty"`
	// Earlier is how many other sizes an earlier run decided, from which this one goes on.
	Earlier int `json:"earlier,omitempty"`
	// Compiled counts what Options.Compile was asked for.
	Compiled Compilation `json:"compiled,omitzero"`

	fresh map[trial.Status]int // trials that this call ran
}

// A Winner is the outcome at one size.
type Winner struct {
	Fixed    map[string]string `json:"fixed"`
	Size     int               `json:"size"`
	Variant  string            `json:"variant"`
	Why      string            `json:"why"`
	Time     time.Duration     `json:"ns"`
	Noise    float64           `json:"noise"` // relative MAD of the samples of one instance
	SafeTime time.Duration     `json:"safe_ns"`
	Speedup  float64           `json:"speedup"`           // SafeTime/Time, 0 if the safe point has no time
	Rate     float64           `json:"rate"`              // basic operations a second, 0 if not counted
	Share    float64           `json:"share,omitempty"`   // of the device's ceiling, 0 if not known; above 1 where data stay in caches
	Ceiling  string            `json:"ceiling,omitempty"` // "bandwidth", or the type of arithmetic
	Complete bool              `json:"complete"`
	Measured int               `json:"measured"` // variants at this size
}

// A Failure is a variant that did not answer, or answered wrongly.
type Failure struct {
	Fixed   map[string]string `json:"fixed"`
	Size    int               `json:"size"`
	Variant string            `json:"variant"`
	Status  trial.Status      `json:"status"`
	Error   string            `json:"error"`
}

// Tune searches for winners and returns the database with them merged in. When
// ctx is cancelled or the budget is spent, it returns what is proven by then;
// that is no error. The database and the summary stand beside an error, which
// wraps ErrWrongVariant when a variant answered wrongly, ErrNoneRan when none ran and worker.ErrStart when
// no worker would start.
func Tune(ctx context.Context, o Options) (*tuned.Database, Summary, error) {
	db := tuned.Merge(o.Database, nil)
	if o.Subject == nil || (o.Worker == nil) == (o.Device == nil) {
		return db, Summary{}, errors.New("tune: a subject and either a worker or a device are required")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	begin := o.Now()
	r := &run{Options: o, begin: begin, family: o.Subject.Family()}
	r.sum = Summary{
		Family:  r.family.Name,
		Session: begin.UTC().Format("20060102T150405.000Z"),
		Seed:    o.Seed,
		Stopped: search.Done,
		Counts:  map[trial.Status]int{},
		fresh:   map[trial.Status]int{},
	}
	err := r.all(ctx, &db)
	r.sum.Elapsed = o.Now().Sub(begin)
	if err == nil {
		err = r.sum.err()
	}
	return db, r.sum, err
}

// err is ErrWrongVariant or ErrNoneRan with the numbers, or nil.
func (s *Summary) err() error {
	switch {
	case s.Wrong > 0:
		return fmt.Errorf("%s: %w: %d of %d variants tried", s.Family, ErrWrongVariant, s.Wrong, s.Tried)
	case s.Tried > 0 && s.Timed == 0 && len(s.Failures) > 0 && s.Stopped != search.Interrupted:
		first := s.Failures[0]
		why, _, _ := strings.Cut(first.Error, "\n")
		return fmt.Errorf("%s: %w: %d tried, all failed, %s first: %s: %s", s.Family, ErrNoneRan, s.Tried, first.Variant, first.Status, why)
	}
	return nil
}

// run is one call of Tune.
type run struct {
	Options
	begin  time.Time
	family *device.Family
	local  *worker.Bench // where Device is used
	past   pastTrials    // trials of a run that was cut short, or of an earlier search of this one
	unkept error         // the first that Keep returned
	sum    Summary

	fixed map[string]string   // of the search under way
	since time.Time           // when the first of the trials ran that this search repeats; zero for none
	first map[instance]string // in it, by instance: the variant first measured
}

// An instance that is timed.
type instance struct {
	size int
	seed uint64
}

func (r *run) all(ctx context.Context, db **tuned.Database) (err error) {
	if r.shared == nil {
		if r.shared, err = openResources(&r.Options); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, r.shared.close()) }()
	}
	if c := r.shared.client; c != nil {
		before := c.StartCount()
		defer func() { r.sum.Workers = c.StartCount() - before }()
	}
	if err := r.open(ctx); err != nil {
		if ctx.Err() != nil {
			r.sum.Stopped = search.Interrupted
			return nil
		}
		return err
	}
	r.sum.Device, r.sum.Class = r.Facts.Name, r.Facts.Class()
	r.past = unfinishedTrials(r.shared.records, r.family.Name, r.Facts, r.Seed, r.begin)
	if r.Sizes == nil && !r.Refresh {
		r.Sizes = r.Subject.Sizes(r.Facts)
	}
	if r.Fixed == nil {
		r.Fixed = r.Subject.Workloads()
	}
	if r.Refresh {
		r.Fixed = slices.DeleteFunc(slices.Clone(r.Fixed), func(fixed map[string]string) bool { return len(r.kept(*db, fixed)) == 0 })
	}
	if r.Budget > 0 && !r.Refresh {
		r.Fixed = workloadsWithChoice(r.family, r.Facts, r.Fixed)
	}
	for i, fixed := range r.Fixed {
		budget := time.Duration(0)
		if r.Budget > 0 {
			budget = time.Duration(float64(r.Budget-r.Now().Sub(r.begin)) * timeShare(r.family, r.Facts, r.Fixed[i:]))
			if budget <= 0 {
				r.sum.Stopped = search.OverBudget
				return nil
			}
		}
		wrong := len(r.sum.Failures)
		err := r.one(ctx, *db, fixed, budget)
		for _, f := range r.sum.Failures[wrong:] {
			if f.Status == trial.Verify {
				(*db).Drop(r.family.Name, r.Facts.Class(), f.Variant)
			}
		}
		err = errors.Join(err, r.unkept)
		if err != nil || r.sum.Stopped == search.Interrupted {
			return err
		}
	}
	return nil
}

// workloadsWithChoice are the workloads that leave a choice of variants, or all where none does.
func workloadsWithChoice(f *device.Family, facts device.Facts, fixed []map[string]string) []map[string]string {
	some := slices.DeleteFunc(slices.Clone(fixed), func(w map[string]string) bool { return timeClaim(f, facts, w) == 0 })
	if len(some) == 0 {
		return fixed
	}
	return some
}

// timeShare is the part of the remaining time that the first of several workloads gets, in proportion
// to its claim; 0 without any workload.
func timeShare(f *device.Family, facts device.Facts, fixed []map[string]string) float64 {
	first, all := 0, 0
	for i, w := range fixed {
		c := max(1, timeClaim(f, facts, w))
		all += c
		if i == 0 {
			first = c
		}
	}
	return float64(first) / float64(max(1, all))
}

// open brings up the device and settles Facts.
func (r *run) open(ctx context.Context) error {
	var facts device.Facts
	if r.Device != nil {
		r.local = &worker.Bench{Device: r.Device, Subjects: []subject.Subject{r.Subject}, Now: r.Now}
		facts = r.Device.Facts()
	} else {
		var err error
		if facts, err = r.shared.client.Facts(ctx); err != nil {
			return err
		}
	}
	if r.Facts != (device.Facts{}) && r.Facts.Class() != facts.Class() {
		return fmt.Errorf("tune: trials would run on %s, expected %s", facts.Class(), r.Facts.Class())
	}
	facts.Images = r.Facts.Images // which a worker does not tell
	r.Facts = facts
	return nil
}

// one searches one compile-time workload and puts the winners into db.
func (r *run) one(ctx context.Context, db *tuned.Database, fixed map[string]string, budget time.Duration) error {
	r.fixed, r.first, r.since = fixed, map[instance]string{}, r.past.firstTrialTime(fixed)
	known := r.before(db)
	promising, err := r.promisingVariants(known, fixed)
	if err != nil {
		return err
	}
	plan := search.Plan{
		Family: r.family,
		Fixed:  fixed,
		Sizes:  r.Sizes,
		Feasible: func(v *device.Variant, size int) error {
			if err := r.Facts.CheckLoadable(r.family, v); err != nil {
				return err
			}
			return r.Subject.Feasible(v, r.Facts, size)
		},
		Previous:  r.previousWinners(known, fixed),
		Likely:    r.likelyWinners(known),
		Promising: promising,
		Strategy:  r.Strategy,
		Seed:      r.Seed,
		Noise:     r.Noise,
		Alone:     r.Facts.Kind == device.CUDA,
		Budget:    budget,
		Timeout:   r.Timeout,
		Now:       r.Now,
		Observe:   r.reportProgress,
		Decided:   func(o search.SizeOutcome) { r.keep(db, fixed, o) },
	}
	if r.Refresh {
		plan.Only, plan.Strategy = r.kept(db, fixed), search.Exhaustive
		plan.Sizes = slices.Sorted(maps.Keys(plan.Only))
	}
	maps.DeleteFunc(plan.Previous, func(size int, _ string) bool { return !slices.Contains(plan.Sizes, size) })
	_, plan.Varied = r.Subject.(subject.VaryingSubject)
	if c := r.shared.compilers; c != nil {
		plan.Ahead, plan.Prepare = cap(c.busy), func(v *device.Variant) { c.begin(r.family, v) }
	}
	if r.turn > 0 {
		plan.Turn, plan.Screened, plan.Have = r.turn, r.past.screenedCount(fixed), r.held(db, fixed)
		if r.turn == 1 {
			plan.Screened = 0
		}
	}
	if !r.end.IsZero() {
		plan.Grace = max(0, r.end.Sub(r.Now())-budget)
	}
	inner := ctx
	if budget > 0 {
		var cancel context.CancelFunc
		inner, cancel = context.WithTimeout(ctx, budget+plan.Grace)
		defer cancel()
	}
	out, err := search.Run(inner, r, plan)
	for _, e := range r.recordOutcome(out, db, fixed) {
		err = errors.Join(err, db.Put(e))
	}
	if err != nil || out.Stopped != search.Done || r.turn > 0 || r.shared.file == nil {
		return err
	}
	if r.Keep != nil { // before the trials are spent
		if err := r.Keep(db); err != nil {
			return err
		}
	}
	return r.shared.add(endRecord(r.family, r.Facts, fixed, r.sum.Session, r.Now()))
}

// keep passes the winner of a size to Options.Keep as soon as it is decided.
func (r *run) keep(db *tuned.Database, fixed map[string]string, o search.SizeOutcome) {
	if r.Keep == nil {
		return
	}
	err := db.Put(r.entry(&o, db, fixed, nil))
	if err == nil {
		err = r.Keep(db)
	}
	if r.unkept == nil {
		r.unkept = err
	}
}

// kept are the labels that db has for a workload on this class of device and that are
// still in the binary, by size.
func (r *run) kept(db *tuned.Database, fixed map[string]string) map[int][]string {
	out := map[int][]string{}
	for size, held := range r.held(db, fixed) {
		out[size] = held.Labels
	}
	return out
}

// held is what db has for a workload on this class of device, with the labels that are still in the binary, by size.
func (r *run) held(db *tuned.Database, fixed map[string]string) map[int]search.DecidedSize {
	out := map[int]search.DecidedSize{}
	for _, e := range db.Entries() {
		if e.Family != r.family.Name || e.Class != r.Facts.Class() || !maps.Equal(e.Fixed, fixed) ||
			len(r.Sizes) > 0 && !slices.Contains(r.Sizes, e.Size) {
			continue
		}
		held := search.DecidedSize{Winner: e.Winner}
		for _, have := range e.Results {
			if r.family.Variant(have.Variant) != nil && !slices.Contains(held.Labels, have.Variant) {
				held.Labels = append(held.Labels, have.Variant)
			}
			if have.Variant == e.Winner {
				held.Time = time.Duration(have.Nanos)
			}
		}
		if held.Labels != nil {
			out[e.Size] = held
		}
	}
	return out
}

// before is db as it was when the first of the trials ran that the search under way repeats: later
// entries would change the order of the variants, and with it the trials that are repeated.
func (r *run) before(db *tuned.Database) *tuned.Database {
	if r.since.IsZero() {
		return db
	}
	entries := slices.DeleteFunc(db.Entries(), func(e tuned.Entry) bool { return !e.Time.Before(r.since) })
	if then, err := tuned.New(entries...); err == nil {
		return then
	}
	return db
}

// Efforts of a measurement: protocol mp1 with its cap shared by the rounds, or a
// glance for screening. A long run gives one sample a round.
const (
	briefCap     = 200 * time.Millisecond
	briefSamples = 5
	fullCap      = 500 * time.Millisecond
	mostPatience = 10 * time.Second // for other processes to end
)

// nextInstance lies between the seeds of two instances of a size.
const nextInstance = 0x9e3779b97f4a7c15

// RunExperiment runs one trial for the search and writes it down.
func (r *run) RunExperiment(ctx context.Context, a search.TrialRequest) (trial.Trial, error) {
	at := instance{a.Size, r.Seed + uint64(a.Instance)*nextInstance}
	req := worker.Request{
		Family: r.family.Name, Variant: a.Variant.Label, Hash: a.Variant.Hash,
		Fixed: r.fixed, Size: a.Size, Seed: at.seed, Action: a.Action, First: r.first[at],
		Effort: worker.Effort{MinSamples: 1, Bound: a.Bound, Others: min(cmp.Or(r.Noise, search.NoiseLimit)/2, 1), Wait: r.patience()},
	}
	if a.Brief {
		req.Effort.Samples, req.Effort.Cap = briefSamples, briefCap
	} else {
		req.Effort.Cap = fullCap / time.Duration(max(1, a.Rounds))
	}
	if old, ok := r.past.takeAnswer(&req, a.Phase); ok {
		r.sum.Resumed++
		r.note(at, &old)
		return old, nil
	}
	t, ready, err := r.compile(ctx, a.Variant, &req)
	switch {
	case !ready:
	case r.local != nil:
		if t = r.local.RunTrial(ctx, req); ctx.Err() != nil {
			err = ctx.Err()
		}
	default:
		t, err = r.shared.client.RunTrial(ctx, req, a.Timeout)
	}
	if t.Status == "" { // no worker
		return t, err
	}
	t.Session, t.Phase = r.sum.Session, a.Phase
	r.sum.fresh[t.Status]++
	r.note(at, &t)
	if ferr := r.shared.add(&t); ferr != nil {
		return t, ferr
	}
	return t, err
}

// patience is how long a trial may wait for other processes to end: 10 s, or a tenth of the time left.
func (r *run) patience() time.Duration {
	end := r.end
	if end.IsZero() && r.Budget > 0 {
		end = r.begin.Add(r.Budget)
	}
	if end.IsZero() {
		return mostPatience
	}
	return max(0, min(mostPatience, end.Sub(r.Now())/10))
}

// note remembers the variant that first answered an instance.
func (r *run) note(at instance, t *trial.Trial) {
	if t.Status == trial.OK && t.Action == trial.ActionMeasure && r.first[at] == "" {
		r.first[at] = t.Variant
	}
}
