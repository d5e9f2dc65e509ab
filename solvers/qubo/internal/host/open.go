package host

import (
	"cmp"
	"context"
	"runtime"
	"time"

	"coalesce/runtime/device"
	"coalesce/solvers/qubo/internal/elite"
	"coalesce/solvers/qubo/internal/search"
	"coalesce/solvers/qubo/problem"
)

// Companion is a host search that runs at the same time as one on a device, on all cores but
// one. It begins after a delay, within which the device solves easy problems alone: with all
// cores busy, the thread that drives the device would have to wait for one.
type Companion Search

const headStart = 30 * time.Millisecond

// Search implements search.Searcher.
func (b Companion) Search(ctx context.Context, p *problem.Normal, o search.Options, found func(int64, []uint64, time.Duration)) (search.Work, error) {
	select {
	case <-ctx.Done():
		return search.Work{}, nil
	case <-time.After(headStart):
	}
	o.Workers = cmp.Or(o.Workers, max(1, runtime.GOMAXPROCS(0)-1))
	return Search{Without: b.Without}.Search(ctx, p, o, found)
}

// RulesFor are the rules of a search on the host for n variables.
func RulesFor(r search.Rules, n int) search.Rules {
	r = r.ForSize(n)
	tenure, spread := n/100+1, 10
	if limit := max(1, n/4); tenure+spread > limit {
		tenure, spread = max(1, limit/2), max(1, limit/2)
	}
	tenure, spread = r.TabuList(tenure, spread, n-1)
	return search.Rules{Tenure: tenure, Spread: spread, Stall: cmp.Or(r.Stall, tabuStall*n), Pool: cmp.Or(r.Pool, elite.DefaultSize), Distance: cmp.Or(r.Distance, 1+n/500)}
}

// Open makes the host's portfolio ready, on the cores of the first device where that is a host.
func Open(p *problem.Normal, o search.Setup) (search.OpenedEngine, error) {
	c, err := chooseFlips(p, o)
	if err != nil {
		return search.OpenedEngine{}, err
	}
	s := Search{Without: o.Without, Flips: c.Variant}
	if f := o.WeakestFacts(); f.Kind == device.Host {
		s.Cores = f.SMs
	}
	e := search.OpenedEngine{Islands: search.Islands{Members: []search.Searcher{s}}, Used: map[string]search.Rules{"host": RulesFor(o.Rules, p.N)}}
	if c.Variant != nil {
		e.Label, e.Reason = c.Variant.Label, c.Reason()
	}
	return e, nil
}
