// Package host searches on the cores of this machine: a portfolio of tabu search,
// annealing, reheating, replica exchange, exact moves by elimination and starts of massive multi-start, whose
// walks share a pool.
package host

import (
	"cmp"
	"context"
	"math"
	"runtime"
	"slices"
	"time"

	"coalesce/runtime/device"
	"coalesce/runtime/host/kernels/qubo"
	"coalesce/solvers/qubo/internal/reference"
	"coalesce/solvers/qubo/internal/search"
	"coalesce/solvers/qubo/internal/stableset"
	"coalesce/solvers/qubo/problem"
)

// The work of a searcher between two visits to the pool, in units of about a nanosecond, grows
// from firstRound to lastRound: short rounds give the first results soon, long ones spend little
// time waiting for other searchers.
const firstRound, lastRound = 5e5, 1e7

// Search looks for good solutions on the cores of this machine. Its searchers, one a core, walk
// from starts that the pool of elite solutions suggests, each by one of several methods; methods
// whose walks improve the pool are chosen more often. The searchers work in rounds of equal work.
// After each round the results of completed walks enter the pool in the searchers' order, so that
// with Options.Work a run depends on the seed and the number of cores alone.
//
// Without names the methods (MethodNames) to leave out, to measure the worth of each. Tabu
// search stays where all are named.
type Search struct {
	Without []string
	Cores   int             // searchers, unless Options.Workers says otherwise; 0: all cores
	Flips   *device.Variant // of qubo/hostflips, nil for the safe one; answers do not depend on it
}

// Search implements search.Searcher.
func (h Search) Search(ctx context.Context, p *problem.Normal, o search.Options, found func(int64, []uint64, time.Duration)) (search.Work, error) {
	o.Workers = cmp.Or(o.Workers, h.Cores, runtime.GOMAXPROCS(0))
	if p.N <= reference.Tiny {
		reference.SearchExhaustively(p, o, found)
		return search.Work{}, nil
	}
	if o.Elite == nil && o.Rules == (search.Rules{}) && !slices.Contains(h.Without, StableSets) && stableset.Is(p) { // of many solutions flips find more
		return stableset.Search{}.Search(ctx, p, o, found)
	}
	end := &deadline{deadline: o.Deadline}
	stop := context.AfterFunc(ctx, end.expire)
	defer stop()
	s := p.Spans()
	switch w := widthsOf(s); {
	case w.sum == "int16" && w.least == "int8":
		return searchRows(ctx, h, p, s, layOutRows[int8, int16](p, w.shift, o.Workers, end, h.Flips), o, end, found)
	case w.sum == "int16":
		return searchRows(ctx, h, p, s, layOutRows[int16, int16](p, w.shift, o.Workers, end, h.Flips), o, end, found)
	case w.sum == "int32" && w.least == "int8":
		return searchRows(ctx, h, p, s, layOutRows[int8, int32](p, w.shift, o.Workers, end, h.Flips), o, end, found)
	case w.sum == "int32" && w.least == "int16":
		return searchRows(ctx, h, p, s, layOutRows[int16, int32](p, w.shift, o.Workers, end, h.Flips), o, end, found)
	case w.sum == "int32":
		return searchRows(ctx, h, p, s, layOutRows[int32, int32](p, w.shift, o.Workers, end, h.Flips), o, end, found)
	default:
		return searchRows(ctx, h, p, s, layOutRows[int64, int64](p, w.shift, o.Workers, end, h.Flips), o, end, found)
	}
}

// searchRows searches with rows m, nil where time was over before they
// were laid out.
func searchRows[S qubo.Sum](ctx context.Context, h Search, p *problem.Normal, s problem.Spans, m matrix[S], o search.Options, end *deadline, found func(int64, []uint64, time.Duration)) (search.Work, error) {
	r := o.NewRounds(ctx, found)
	defer r.End()
	first := o.Start
	if first == nil && (m == nil || r.Done()) {
		first = make([]uint64, problem.Words(p.N))
	}
	if first != nil { // a walk may leave the start for a worse solution before its first report
		r.Improve(p.Value(first), first)
	}
	if m == nil || r.Done() {
		return r.Did, nil
	}
	team := make([]*searcher[S], o.Workers)
	step, add := m.flipCosts()
	without := h.Without
	if m.sparse() == nil || s.Delta >= math.MaxInt32/16 || len(p.Col) > maxDegree*p.N || p.N > maxEliminated {
		without = append(slices.Clip(without), eliminateWalk.String(), contractWalk.String())
	}
	held, penalties := penaltiesOf(p, s.Weight)
	if !penalties {
		without = append(slices.Clip(without), chainWalk.String())
	}
	var slots *replicaRows
	if m.sparse() != nil && !slices.Contains(without, replicaWalk.String()) {
		slots = newReplicaRows(p)
	}
	if slots == nil {
		without = append(slices.Clip(without), replicaWalk.String())
	}
	portfolio := newPortfolio(p, step, add, without, o)
	if first != nil {
		portfolio.offer(r.Best, first)
	}
	table, width := newLogs(), fieldSpread(p, end)
	for k := range team {
		s := newSearcher(p, m, o.Seed, uint64(k)+1)
		s.logs, s.spread, s.end, s.rules = table, width, end, RulesFor(o.Rules, p.N)
		s.slacks, s.replicaRows = held, slots
		if o.Work == 0 {
			s.target = o.Target
		}
		s.course = portfolio.planWalk()
		if k == 0 {
			s.course.from = o.Start
		}
		team[k] = s
		go s.run()
		defer close(s.grant)
	}
	quota := firstRound
	did, err := r.Run(search.Method{
		Take: func(x []uint64) error {
			portfolio.Add(p.Value(x), x)
			return nil
		},
		Round: func() error {
			round(r, team, portfolio, quota)
			quota = min(lastRound, quota*1.1)
			return nil
		},
	})
	if r.X == nil { // time was over before the first round
		first = make([]uint64, problem.Words(p.N))
		r.Improve(p.Value(first), first)
	}
	for _, s := range team {
		portfolio.offer(s.best, s.bestX)
	}
	return did, err
}

// round grants all searchers work for a quota, waits for them, and takes the results of their walks.
func round[S qubo.Sum](r *search.Rounds, team []*searcher[S], portfolio *portfolio, quota float64) {
	flips := int64(math.MaxInt64)
	if r.Work > 0 {
		flips = max(1, (r.Work-r.Spent)/int64(len(team)))
	}
	for _, s := range team {
		s.grant <- grant{quota, flips}
	}
	for _, s := range team {
		<-s.report
	}
	r.Spent = 0
	for _, s := range team {
		r.Spent += s.flips
		r.Improve(s.best, s.bestX[:problem.Words(s.p.N)])
		if s.ended {
			s.ended = false
			r.Did.Restarts++
			portfolio.recordWalk(s.course, s.best, s.bestX, s.cost)
			if v, x := portfolio.crossWithBest(s.bestX); x != nil {
				r.Improve(v, x)
			}
			s.course, s.cost = portfolio.planWalk(), 0
		}
	}
	r.Did.Flips = r.Spent
}
