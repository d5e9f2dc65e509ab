package qubo

import (
	"cmp"
	"coalesce/runtime/device"
	"context"
	"runtime"
	"time"
)

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

// hostRules are the rules of a search on the host for n variables.
func hostRules(r Rules, n int) Rules {
	r = r.within(n)
	tenure, spread := n/100+1, 10
	if limit := max(1, n/4); tenure+spread > limit {
		tenure, spread = max(1, limit/2), max(1, limit/2)
	}
	tenure, spread = r.tabu(tenure, spread, n-1)
	return Rules{Tenure: tenure, Spread: spread, Stall: cmp.Or(r.Stall, tabuStall*n), Pool: cmp.Or(r.Pool, poolSize), Distance: cmp.Or(r.Distance, 1+n/500)}
}

// openHostEngine makes the host's portfolio ready.
func openHostEngine(_ device.Device, p *normal, o setup) (opened, error) {
	return opened{search: hostSearch{o.without}, used: map[string]Rules{"host": hostRules(o.rules, p.n)}}, nil
}
