package anytime

import (
	"cmp"
	"context"
	"iter"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"coalesce/runtime/device"
	"coalesce/solvers/csg/internal/cliques"
	"coalesce/solvers/csg/internal/payoff"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// Algorithm is the name of this package's only algorithm.
const Algorithm = "anytime"

// DefaultLimit is the time limit of a solve without a limit of its own.
const DefaultLimit = 10 * time.Second

// Options of Solve: the settings of all solvers. The device is a host,
// whose cores search; variants and tuning data are of no use. Without a TimeLimit, DefaultLimit holds.
type Options struct {
	solve.Settings
	Payoff string // shapley, banzhaf or core: what agents of a graph receive
}

// Solve looks for the best structure until the time limit, the target, or a structure that meets
// the bound. The end of ctx and the time limit end it with the best so far; Stopped says so. The result's value was recomputed
// from the instance. Errors of options and instances are the only ones.
func Solve(ctx context.Context, inst *Instance, o Options) (*Result, error) {
	o.TimeLimit = cmp.Or(o.TimeLimit, DefaultLimit)
	return solve.Run(ctx, &o.Settings, &run{o: o, inst: inst})
}

// A run is the solve of one instance, by a search for its kind.
type run struct {
	o      Options
	inst   *Instance
	begin  []int32 // block of each agent in the structure to begin with; nil: none
	result *Result
}

// A searcher looks for structures.
type searcher interface {
	search(ctx context.Context, cores int) error
	certify(x *Result) error // makes the best structure, which it checks, that of the result
}

// Plan implements solve.Work.
func (r *run) Plan(ctx context.Context) (*Result, iter.Seq[solve.Attempt[searcher]], error) {
	o, inst := &r.o, r.inst
	d, err := o.LeadDevice()
	switch {
	case err != nil:
		return nil, nil, err
	case inst.check() != nil:
		return nil, nil, inst.check()
	case d.Facts().Kind != device.Host || len(o.Devices)*o.RankCount() > 1:
		return nil, nil, solve.InvalidInput("Devices", "found %s, expected a host, on which algorithm %s runs", o.DeviceNames(), Algorithm)
	case o.Algorithm != "" && o.Algorithm != Algorithm:
		return nil, nil, solve.InvalidInput("Algorithm", "found %.40q, expected %s", o.Algorithm, Algorithm)
	case o.Variant != "":
		return nil, nil, o.RefuseVariant(Algorithm)
	case o.Target != nil && math.IsNaN(*o.Target):
		return nil, nil, solve.InvalidInput("Target", "found NaN, expected a number")
	case inst.checkPayoff(o.Payoff) != nil:
		return nil, nil, inst.checkPayoff(o.Payoff)
	}
	if err := r.takeStart(); err != nil {
		return nil, nil, err
	}
	r.result = newResult(inst)
	r.result.Algorithm, r.result.Seed = Algorithm, o.Seed
	search := func() (searcher, error) { return r.search(ctx, max(1, min(d.Facts().SMs, runtime.NumCPU()))) }
	return r.result, slices.Values([]solve.Attempt[searcher]{{Name: Algorithm, Run: search}}), nil
}

// takeStart takes the structure to begin with from the settings.
func (r *run) takeStart() (err error) {
	_, label, err := problem.TakeStart(&r.o.Settings, r.inst.N)
	if err != nil || label == nil {
		return err
	}
	for k, value := range r.inst.blockValues(label, int(slices.Max(append(label, -1)))+1) {
		if value == nil {
			return solve.InvalidInput("Start", "found block %d, which is forbidden, expected blocks that are allowed", k+1)
		}
	}
	r.begin = label
	return nil
}

// search searches until ctx ends, or the target or the bound is met.
func (r *run) search(ctx context.Context, cores int) (searcher, error) {
	p := &progress{o: r.o, start: time.Now(), begin: r.begin}
	var s searcher = &drawnRun{progress: p, inst: r.inst}
	if r.inst.law == nil {
		s = &graphRun{progress: p, inst: r.inst, limit: r.inst.graph.PositiveSum(), tried: math.MinInt64}
	}
	defer context.AfterFunc(ctx, func() { p.over.Store(true) })()
	err := s.search(ctx, cores)
	if err == nil && p.met == nil && ctx.Err() != nil {
		err = solve.InterruptedError(context.Cause(ctx))
	}
	r.result.Met, r.result.History = p.met, p.history
	return s, err
}

// Certify implements solve.Work.
func (r *run) Certify(ctx context.Context, found searcher) error {
	if err := found.certify(r.result); err != nil {
		return err
	}
	return r.divide(ctx)
}

// Best implements solve.Work.
func (r *run) Best(ctx context.Context, found searcher) (string, error) {
	err := found.certify(r.result)
	if r.o.Payoff == payoff.Core {
		r.result.Notes = append(r.result.Notes, noPayoff)
	} else if err == nil {
		err = r.divide(ctx)
	}
	return "the structure is the best so far", err
}

// divide sets the payoffs that were asked for.
func (r *run) divide(ctx context.Context) error {
	if r.o.Payoff == "" {
		return nil
	}
	label, err := labelsOf(r.result.Blocks, r.inst.N)
	if err == nil {
		r.result.Payoff, err = r.inst.divide(ctx, label, r.o.Payoff, runtime.NumCPU())
	}
	if err != nil && ctx.Err() != nil {
		r.result.Notes = append(r.result.Notes, noPayoff)
		return nil
	}
	return err
}

// noPayoff notes that there are no payoffs.
const noPayoff = "payoffs are not known: the solve ended before"

// progress passes the incumbents of a solve on to Progress.
type progress struct {
	o     Options
	start time.Time
	begin []int32 // block of each agent in the structure to begin with; nil: none
	over  atomic.Bool

	mu      sync.Mutex
	history []Improvement
	met     *float64
	bound   solve.Number // empty: none is known
}

// addImprovement takes the value of a better structure. The caller holds mu.
func (t *progress) addImprovement(value solve.Number) {
	now := Improvement{time.Since(t.start).Seconds(), value}
	t.history = append(t.history, now)
	if target := t.o.Target; target != nil && t.met == nil && value.Float() >= *target {
		t.met = &now.Seconds
		t.over.Store(true)
	}
	t.report()
}

// report calls Progress, and ends the search if the best structure meets the bound or the target. The
// caller holds mu.
func (t *progress) report() {
	if len(t.history) == 0 {
		return
	}
	last := t.history[len(t.history)-1]
	if last.Value == t.bound {
		t.over.Store(true)
	}
	if t.o.Progress != nil {
		t.o.Progress(solve.NewIncumbent(time.Since(t.start).Seconds(), last.Value, t.bound, 0))
	}
}

// A graphRun is one solve of a graph.
type graphRun struct {
	*progress
	inst  *Instance
	limit int64 // the bound in units, without the nodes' own weights
	proof proof // of it

	best   int64 // in the end, in units
	blocks []int32
	runs   int64

	// Of the worker that looks for coalitions:
	spent      time.Duration // on that
	tried      int64         // the value of the structure for which it has found none
	coalitions int64         // that it has found
}

// boundWork is how many edges the search for conflicts looks at: half a second's work.
const boundWork = 1 << 26

// A proof of a bound in units, without the nodes' own weights: the losses of conflicts, subtracted from
// the sum of the positive edges, or prices that no coalition exceeds, or cuts and their prices, or a semidefinite program's prices, or levels of prices.
type proof struct {
	losses int64
	prices []float64 // in units; nil: none are known
	cuts   []cliques.Cut
	shift  uint
	most   *int64 // the bound of the cuts; nil: there are none
	conic  *cliques.Conic
	least  *int64 // the bound of conic; nil: there is none
	levels *cliques.Levels
	best   int64 // what no structure exceeds where levels are closed
}

// setConic takes a semidefinite proof, and reports whether it holds.
func (p *proof) setConic(g *cliques.Graph, c *cliques.Conic) bool {
	if c == nil {
		return true
	}
	most, ok := c.Bound(g)
	p.conic, p.least = c, &most
	return ok
}

// setCuts takes cuts, and reports whether the graph has them.
func (p *proof) setCuts(g *cliques.Graph, cuts []cliques.Cut, shift uint) bool {
	if len(cuts) == 0 {
		return true
	}
	most, ok := g.CutBound(cuts, shift)
	p.cuts, p.shift, p.most = cuts, shift, &most
	return ok
}

// bound is the least of the bounds.
func (p *proof) bound(g *cliques.Graph) int64 {
	bound := g.PositiveSum() - p.losses
	if p.most != nil {
		bound = min(bound, *p.most)
	}
	if p.least != nil {
		bound = min(bound, *p.least)
	}
	if p.levels != nil {
		if bound = min(bound, p.levels.Bound()); p.levels.Closed {
			bound = min(bound, p.best)
		}
	}
	if p.prices == nil {
		return bound
	}
	sum := problem.NewExact()
	for _, x := range p.prices {
		sum.Add(sum, problem.NewExact().SetFloat64(x))
	}
	floor, _ := sum.Int64() // prices are not negative; structures are worth whole units
	return min(bound, floor)
}

// search runs the search on every core. The last core looks for bounds first, and the first core looks
// for coalitions too.
func (r *graphRun) search(ctx context.Context, cores int) (err error) {
	g := r.inst.graph
	s := cliques.NewSearch(g)
	s.Improved = func(value int64, _ []int32) { r.offerValue(value) }
	first, _, _ := s.Best()
	r.offerProof(proof{})
	r.offerValue(first)
	if r.begin != nil {
		s.Offer(slices.Clone(r.begin))
	}
	bounds := []func(*rand.Rand) proof{func(*rand.Rand) proof { return proof{losses: g.ConflictBound(boundWork, r.over.Load)} }}
	if g.N > cliques.MostConic {
		bounds = append(bounds, func(random *rand.Rand) proof { return proof{prices: g.Prices(random, r.over.Load)} })
		if r.inst.EdgeCount() > g.N*g.N/8 { // prices are the better bound of dense graphs
			slices.Reverse(bounds)
		}
	}
	bounding, stop := context.WithCancel(ctx)
	defer stop()
	var wait sync.WaitGroup
	level := func() bool { return false }
	var leveling, improvable atomic.Bool // by other cores than a search's
	if g.N <= levelAgents {
		level = r.leveler(s, cliques.NewLeveler(g, max(1, cores-1), r.o.Seed))
		if leveling.Store(cores > 1); cores > 1 {
			wait.Go(func() {
				for level() {
				}
				leveling.Store(false)
			})
		}
	}
	for k := range cores {
		wait.Go(func() {
			random := rand.New(rand.NewPCG(r.o.Seed, uint64(k)))
			improve, improving := func() bool { return false }, time.Duration(0) // bounds take half of the core, and all of it once structures rarely improve
			if k == cores-1 {
				for _, bound := range bounds {
					r.offerProof(bound(random))
				}
				improve = r.improver(bounding, s, random)
			} else {
				defer stop() // the search is over
			}
			w := s.Worker(random)
			if k == 0 && r.begin != nil {
				w.Improve(slices.Clone(r.begin), r.over.Load)
			}
			if cores == 1 { // a structure comes before bounds that take long
				w.Run(r.over.Load)
			}
			for !r.over.Load() {
				began := time.Now()
				if k == cores-1 {
					improvable.Store(improve() && cores > 1)
				}
				if k == cores-1 && improvable.Load() {
					improving += time.Since(began)
					if few := g.N <= levelsAlone && leveling.Load(); !few && r.rarely() || improving < time.Since(r.start)/map[bool]time.Duration{true: 5, false: 2}[few] {
						continue
					}
				}
				if cores == 1 {
					level()
				}
				began = time.Now()
				if w.Run(r.over.Load); k == 0 && err == nil {
					err = r.findCoalitions(ctx, s, w)
				}
				if (leveling.Load() || k < cores-1 && improvable.Load()) && r.rarely() { // then the search leaves most of its cores to the proof
					r.sleep(4 * time.Since(began))
				}
			}
		})
	}
	wait.Wait()
	r.best, r.blocks, r.runs = s.Best()
	return err
}

// Graphs of so many agents and edges at most have a linear program whose cuts bound structures.
const (
	cutAgents = 300
	cutEdges  = 12000
)

// Graphs of so many agents at most have levels of prices; of so many levels are the best bound in the end, so that others get a fifth of a core.
const (
	levelAgents = 128
	levelsAlone = 64
)

// leveler returns a function that makes a pass of levels, takes the proof of their bound, and reports whether there may be more to do. Exact levels leave few coalitions, which
// decide the best structure.
func (r *graphRun) leveler(s *cliques.Search, x *cliques.Leveler) func() bool {
	exact := false
	return func() bool {
		if exact || r.over.Load() {
			return false
		}
		_, label, _ := s.Best()
		if x.Add(label); !x.Pass(r.over.Load) {
			return false
		}
		p := proof{levels: new(cliques.Levels)}
		*p.levels = x.Levels
		r.offerProof(p)
		if exact = x.Exact(); !exact {
			return !r.over.Load()
		}
		best, _, _ := s.Best()
		better, closed := x.Close(best, r.over.Load)
		if better != nil {
			s.Offer(better)
		}
		if closed {
			p := proof{levels: new(cliques.Levels)}
			*p.levels = x.Levels
			p.best, _, _ = s.Best()
			r.offerProof(p)
		}
		return false
	}
}

// rarely reports whether the best structure is older than half of the time since the start.
func (r *graphRun) rarely() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	elapsed := time.Since(r.start).Seconds()
	return elapsed > 0.5 && len(r.history) > 0 && r.history[len(r.history)-1].Seconds < elapsed/2
}

// sleep waits until the time or the search is over.
func (r *graphRun) sleep(d time.Duration) {
	for end := time.Now().Add(d); !r.over.Load() && time.Now().Before(end); {
		time.Sleep(min(5*time.Millisecond, time.Until(end)))
	}
}

// improver returns a function that takes a bound further and reports whether there may be more to do: cuts of a linear program, where there are few edges, and of a semidefinite one, in turn. The one behind
// gets a fifth of the time.
func (r *graphRun) improver(ctx context.Context, s *cliques.Search, random *rand.Rand) func() bool {
	g := r.inst.graph
	type method struct {
		round func(best int64) (p proof, bound int64, more bool)
		bound int64
		spent time.Duration
	}
	var methods []*method
	if g.N <= cutAgents && r.inst.EdgeCount() <= cutEdges {
		x := cliques.NewRelaxation(g)
		methods = append(methods, &method{bound: math.MaxInt64, round: func(best int64) (p proof, bound int64, more bool) {
			more = x.Round(ctx, best)
			p.setCuts(g, x.Best, x.Shift())
			return p, x.Bound, more
		}})
	}
	if g.N <= cliques.MostConic {
		x := cliques.NewCone(g, random)
		methods = append(methods, &method{bound: math.MaxInt64, round: func(best int64) (p proof, bound int64, more bool) {
			more = x.Round(best, r.over.Load)
			if x.Best != nil {
				p = proof{conic: x.Best, least: &x.Bound}
			}
			return p, x.Bound, more
		}})
	}
	return func() bool {
		if len(methods) == 0 {
			return false
		}
		best, _, _ := s.Best()
		at := 0
		if len(methods) == 2 {
			weight := []time.Duration{1, 1}
			if a, b := methods[0].bound, methods[1].bound; a != b {
				weight[map[bool]int{true: 0, false: 1}[a > b]] = 4
			}
			if weight[1]*methods[1].spent < weight[0]*methods[0].spent {
				at = 1
			}
		}
		m, began := methods[at], time.Now()
		p, bound, more := m.round(best)
		m.spent += time.Since(began)
		if bound < m.bound {
			m.bound = bound
			r.offerProof(p)
		}
		if !more {
			methods = slices.Delete(methods, at, at+1)
		}
		return len(methods) > 0
	}
}

// offerValue takes the value of a better structure, in units.
func (r *graphRun) offerValue(value int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.addImprovement(decimalNumber(r.inst.unit.toRat(r.inst.fixed + value)))
}

// offerProof takes another proof of a bound, and keeps it if it is the better one.
func (r *graphRun) offerProof(p proof) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if limit := p.bound(r.inst.graph); limit < r.limit || r.bound == "" {
		r.limit, r.proof, r.bound = limit, p, roundedUp(r.inst.unit.toRat(r.inst.fixed+limit))
		r.report()
	}
}
