package qubo

import (
	"context"
	"math"
	"runtime"
	"slices"
	"time"

	"coalesce/runtime/host/oneflip"
)

// The work of each searcher between two looks at the pool, in units of about a
// nanosecond, grows from the first to the last: waiting for each other and the
// time to the first results are both kept short.
const firstRound, lastRound = 5e5, 1e7

// hostSearch looks for good solutions on the cores of this machine. Its
// searchers, one a core, walk from starts that the pool of elite solutions
// suggests, each by one of several methods; methods whose walks improve the
// pool are chosen more often. The searchers work in rounds of equal work, after
// each of which their walks' results enter the pool in the searchers' order:
// with o.work what happens depends on the seed and the number of cores alone.
//
// Methods named in without, as method.String names them, are left out, but for
// tabu search where no other is left: what each of them is worth can be measured.
type hostSearch struct{ without []string }

func (h hostSearch) search(ctx context.Context, p *normal, o searchOptions, found func(int64, []uint64, time.Duration)) (work, error) {
	if o.workers <= 0 {
		o.workers = runtime.GOMAXPROCS(0)
	}
	if p.n <= tiny {
		value, x := exhaust(p)
		found(value, x, time.Since(o.began))
		if o.elite != nil {
			o.elite(value, x)
		}
		return work{}, nil
	}
	end := &alarm{deadline: o.deadline}
	stop := context.AfterFunc(ctx, end.ring)
	defer stop()
	// Symmetric matrices have even weights: halved, more of them fit in a byte.
	s, shift := p.spans(), 1
	if s.grain < 2 {
		shift = 0
	}
	width := s.weight >> shift
	switch {
	case s.delta < math.MaxInt16 && width <= math.MaxInt8:
		return searchRows(h, p, s, rows[int8, int16](p, shift, o.workers, end), o, end, found)
	case s.delta < math.MaxInt16:
		return searchRows(h, p, s, rows[int16, int16](p, shift, o.workers, end), o, end, found)
	case s.delta < math.MaxInt32 && width <= math.MaxInt8:
		return searchRows(h, p, s, rows[int8, int32](p, shift, o.workers, end), o, end, found)
	case s.delta < math.MaxInt32 && width <= math.MaxInt16:
		return searchRows(h, p, s, rows[int16, int32](p, shift, o.workers, end), o, end, found)
	case s.delta < math.MaxInt32:
		return searchRows(h, p, s, rows[int32, int32](p, shift, o.workers, end), o, end, found)
	default:
		return searchRows(h, p, s, rows[int64, int64](p, shift, o.workers, end), o, end, found)
	}
}

// searchRows searches with rows m, nil where time was over before they
// were laid out.
func searchRows[S oneflip.Sum](h hostSearch, p *normal, s spans, m matrix[S], o searchOptions, end *alarm, found func(int64, []uint64, time.Duration)) (work, error) {
	var did work
	if m == nil {
		x := o.start
		if x == nil {
			x = make([]uint64, words(p.n))
		}
		found(p.value(x), x, time.Since(o.began))
		return did, nil
	}
	team := make([]*searcher[S], o.workers)
	step, add := m.cost()
	without := h.without
	if m.sparse() == nil || s.delta >= math.MaxInt32/16 || len(p.col) > maxDegree*p.n || p.n > mostEliminated {
		without = append(slices.Clip(without), eliminateWalk.String())
	}
	portfolio := newPortfolio(p, step, add, without, o)
	table, width := newLogs(), spread(p, end)
	for k := range team {
		s := newSearcher(p, m, o.seed, uint64(k)+1)
		s.logs, s.spread, s.end, s.rules = table, width, end, hostRules(o.rules, p.n)
		if o.work == 0 {
			s.target = o.target
		}
		s.course = portfolio.next()
		if k == 0 {
			s.course.from = o.start
		}
		team[k] = s
		go s.run()
		defer close(s.grant)
	}
	var best int64
	told := false
	shown := time.Now()
	for quota := firstRound; ; quota = min(lastRound, quota*1.1) {
		flips := int64(math.MaxInt64)
		if o.work > 0 {
			flips = max(1, (o.work-did.Flips)/int64(len(team)))
		}
		for _, s := range team {
			s.grant <- grant{quota, flips}
		}
		for _, s := range team {
			<-s.report
		}
		did.Flips = 0
		for _, s := range team {
			did.Flips += s.flips
			if !told || s.best > best {
				best, told = s.best, true
				found(best, s.bestX[:words(p.n)], time.Since(o.began))
			}
			if s.ended {
				s.ended = false
				did.Restarts++
				portfolio.learn(s.course, s.best, s.bestX, s.cost)
				if v, x := portfolio.combine(s.bestX); v > best {
					best = v
					found(best, x, time.Since(o.began))
				}
				s.course, s.cost = portfolio.next(), 0
			}
		}
		if o.take != nil {
			if x := o.take(); x != nil {
				portfolio.add(p.value(x), x)
			}
		}
		if end.over() || o.met(best) || o.work > 0 && did.Flips >= o.work {
			for _, s := range team {
				portfolio.keep(s.best, s.bestX)
			}
			return did, nil
		}
		if o.progress != nil && time.Since(shown) > 250*time.Millisecond {
			shown = time.Now()
			o.progress(did)
		}
	}
}
