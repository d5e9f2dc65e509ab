package search

import (
	"context"
	"errors"
	"math"
	"time"

	"coalesce/solvers/qubo/problem"
)

// ErrUnfit says that an engine has no variant that holds a problem: another engine
// may search it.
var ErrUnfit = errors.New("no variant holds the problem")

// Rounded searches a problem by way of its copy with rounded coefficients, for engines of narrow
// types. Values are those of the problem itself.
type Rounded struct {
	Inner   Searcher
	Problem *problem.Normal
}

// Search implements Searcher: values are those of p, whose coefficients are not
// rounded.
func (s Rounded) Search(ctx context.Context, p *problem.Normal, o Options, found func(int64, []uint64, time.Duration)) (Work, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	limits, best := o, int64(math.MinInt64)
	o.Target = nil
	if o.Elite != nil {
		o.Elite = func(_ int64, x []uint64) { limits.Elite(p.Value(x), x) }
	}
	return s.Inner.Search(ctx, s.Problem, o, func(_ int64, x []uint64, at time.Duration) {
		v := p.Value(x)
		if v <= best {
			return
		}
		best = v
		found(v, x, at)
		if limits.TargetMet(v) {
			stop()
		}
	})
}

// Bounds on deltas, to which the coefficients of a problem are rounded that no
// variant holds: those of rows of int32, and those of all rows but pairs.
const (
	Int32Deltas  = 1 << 29
	NarrowDeltas = 1 << 22
)
