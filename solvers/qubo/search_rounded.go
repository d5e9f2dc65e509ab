package qubo

import (
	"context"
	"errors"
	"math"
	"time"
)

// errUnfit is of an engine that cannot hold a problem: another searches it.
var errUnfit = errors.New("no variant holds the problem")

// rounded is a search of a problem with rounded coefficients, for engines of
// narrow types. Values are those of the problem itself.
type rounded struct {
	inner search
	p     *normal
}

func (s rounded) search(ctx context.Context, p *normal, o searchOptions, found func(int64, []uint64, time.Duration)) (work, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	limits, best := o, int64(math.MinInt64)
	o.target = nil
	if o.elite != nil {
		o.elite = func(_ int64, x []uint64) { limits.elite(p.value(x), x) }
	}
	return s.inner.search(ctx, s.p, o, func(_ int64, x []uint64, at time.Duration) {
		v := p.value(x)
		if v <= best {
			return
		}
		best = v
		found(v, x, at)
		if limits.met(v) {
			stop()
		}
	})
}

// Bounds on deltas, to which the coefficients of a problem are rounded that no
// variant holds: those of rows of int32, and those of all rows but pairs.
const (
	int32s    = 1 << 29
	narrowest = 1 << 22
)
