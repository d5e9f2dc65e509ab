package search

import (
	"context"
	"errors"
	"sync"
	"time"

	"coalesce/solvers/qubo/problem"
)

// A Team is several searches of one problem at the same time. They share the limits, the target
// and the best solution, and exchange elites. The first search that meets the target ends the
// others. With a limit on work the first search alone runs, so that the result depends on the seed
// alone.
type Team []Searcher

// Search implements Searcher.
func (t Team) Search(ctx context.Context, p *problem.Normal, o Options, found func(int64, []uint64, time.Duration)) (Work, error) {
	if o.Work > 0 || len(t) == 1 {
		return t[0].Search(ctx, p, o, found)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var (
		mu    sync.Mutex
		wg    sync.WaitGroup
		told  bool
		best  int64
		did   = make([]Work, len(t))
		fails = make([]error, len(t))
		elite = o.Elite
		tell  = o.Progress
		swaps = &exchange{}
	)
	if elite != nil {
		o.Elite = func(v int64, x []uint64) {
			mu.Lock()
			defer mu.Unlock()
			elite(v, x)
		}
	}
	for k, member := range t {
		own := o
		own.Give, own.Take = joinExchanges(o, swaps, k)
		if tell != nil {
			own.Progress = func(w Work) {
				mu.Lock()
				defer mu.Unlock()
				did[k] = w
				tell(sum(did))
			}
		}
		wg.Go(func() {
			w, err := member.Search(ctx, p, own, func(v int64, x []uint64, at time.Duration) {
				mu.Lock()
				defer mu.Unlock()
				if told && v <= best {
					return
				}
				best, told = v, true
				found(v, x, at)
				if o.TargetMet(v) {
					stop()
				}
			})
			mu.Lock()
			defer mu.Unlock()
			did[k], fails[k] = w, err
			if err != nil {
				stop()
			}
		})
	}
	wg.Wait()
	return sum(did), errors.Join(fails...)
}

// joinExchanges joins two exchanges for member k: solutions go to the other members of the team and to
// the team's partner (o.Give), and come from either.
func joinExchanges(o Options, swaps *exchange, k int) (func([]uint64), func() []uint64) {
	give, take := swaps.memberFunctions(k)
	if o.Give == nil || o.Take == nil {
		return give, take
	}
	return func(x []uint64) {
			give(x)
			o.Give(x)
		}, func() []uint64 {
			if x := take(); x != nil {
				return x
			}
			return o.Take()
		}
}

// sum adds up the work of several searches.
func sum(list []Work) (all Work) {
	for _, w := range list {
		all.Flips += w.Flips
		all.Restarts += w.Restarts
	}
	return all
}
