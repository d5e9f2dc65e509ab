package qubo

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"coalesce/runtime/device"
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

// beside is a host search next to one on a device, to which it leaves a core.
// It begins when problems are over that the device solves at once: busy cores
// keep the thread waiting that drives the device.
type beside struct{ without []string }

const headStart = 30 * time.Millisecond

func (b beside) search(ctx context.Context, p *normal, o searchOptions, found func(int64, []uint64, time.Duration)) (work, error) {
	select {
	case <-ctx.Done():
		return work{}, nil
	case <-time.After(headStart):
	}
	if o.workers == 0 {
		o.workers = max(1, runtime.GOMAXPROCS(0)-1)
	}
	return hostSearch{b.without}.search(ctx, p, o, found)
}

// openTeam makes a search on the device and one on the host ready, or one of them
// where the other is left out. The device's is qubo/temper for sparse problems,
// else, or where that is left out, qubo/bulk.
func openTeam(d device.Device, p *normal, o Options) (opened, error) {
	host := beside{o.Without}
	out := func(name string) bool { return slices.Contains(o.Without, name) }
	temper := sparse(p) && !out("temper") && (o.Variant == "" || temperLabel(o.Variant))
	if !temper && out("bulk") {
		return opened{search: host, used: map[string]Rules{"host": o.Rules.host(p.n)}}, nil
	}
	e, err := opened{}, errUnfit
	if temper {
		e, err = openTemperEngine(d, p, o)
	}
	if errors.Is(err, errUnfit) && !out("bulk") {
		e, err = openBulkEngine(d, p, o)
	}
	if err != nil || out("host") {
		return e, err
	}
	members, many := e.search.(team)
	if !many {
		members = team{e.search}
	}
	e.search = append(members, host)
	e.used["host"] = o.Rules.host(p.n)
	e.reason = fmt.Sprintf("%s; beside it a search on the host", e.reason)
	return e, nil
}
