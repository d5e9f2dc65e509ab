package qubo

import (
	"context"
	"errors"
	"sync"
	"time"
)

// A team is several searches of one problem at the same time. They share
// limits, target and the best, and pass each other elites: the first to meet the
// target ends the others.
// With a limit on work only the first searches, so that the result depends on
// the seed alone.
type team []search

func (t team) search(ctx context.Context, p *normal, o searchOptions, found func(int64, []uint64, time.Duration)) (work, error) {
	if o.work > 0 || len(t) == 1 {
		return t[0].search(ctx, p, o, found)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var (
		mu    sync.Mutex
		wg    sync.WaitGroup
		told  bool
		best  int64
		did   = make([]work, len(t))
		fails = make([]error, len(t))
		elite = o.elite
		tell  = o.progress
		swaps exchange
	)
	if elite != nil {
		o.elite = func(v int64, x []uint64) {
			mu.Lock()
			defer mu.Unlock()
			elite(v, x)
		}
	}
	for k, member := range t {
		own := o
		own.give, own.take = swaps.member(k)
		if tell != nil {
			own.progress = func(w work) {
				mu.Lock()
				defer mu.Unlock()
				did[k] = w
				tell(sum(did))
			}
		}
		wg.Go(func() {
			w, err := member.search(ctx, p, own, func(v int64, x []uint64, at time.Duration) {
				mu.Lock()
				defer mu.Unlock()
				if told && v <= best {
					return
				}
				best, told = v, true
				found(v, x, at)
				if o.met(v) {
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

// sum adds up what several searches did.
func sum(list []work) (all work) {
	for _, w := range list {
		all.Flips += w.Flips
		all.Restarts += w.Restarts
	}
	return all
}
