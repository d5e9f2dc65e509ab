package autotune

import (
	"context"
	"sync"
	"time"

	"coalesce/autotune/trial"
	"coalesce/autotune/worker"
	"coalesce/runtime/device"
)

// A Compilation counts the variants that were compiled for a tune.
type Compilation struct {
	Variants int           `json:"variants"`
	Time     time.Duration `json:"ns"`      // of all of them
	Waited   time.Duration `json:"wait_ns"` // the part of the tune's time in which the device waited for them
}

// add takes in what another search counted.
func (c *Compilation) add(o Compilation) {
	c.Variants, c.Time, c.Waited = c.Variants+o.Variants, c.Time+o.Time, c.Waited+o.Waited
}

// compilers compile the variants that a search tries next while the device measures others. They serve one goroutine.
type compilers struct {
	compile func(context.Context, *device.Family, *device.Variant) error
	ctx     context.Context // of all compilations; cancel ends them
	cancel  context.CancelFunc
	running sync.WaitGroup
	busy    chan struct{} // holds something for each compiler that is at work
	begun   map[uint64]*compiled
}

// compiled is a variant that is compiled or will be.
type compiled struct {
	ended    chan struct{} // closed when duration and err are set
	duration time.Duration
	err      error
	counted  bool
}

// newCompilers has so many at work at a time.
func newCompilers(n int, compile func(context.Context, *device.Family, *device.Variant) error) *compilers {
	c := &compilers{compile: compile, busy: make(chan struct{}, n), begun: map[uint64]*compiled{}}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c
}

// begin has a variant compiled, once, as soon as a compiler is free. Algorithms and kernels of hosts need none.
func (c *compilers) begin(f *device.Family, v *device.Variant) *compiled {
	if f.Target != device.CUDA {
		return nil
	}
	one := c.begun[v.Hash]
	if one != nil {
		return one
	}
	one = &compiled{ended: make(chan struct{})}
	c.begun[v.Hash] = one
	c.running.Go(func() {
		defer close(one.ended)
		select {
		case <-c.ctx.Done():
			one.err = c.ctx.Err()
		case c.busy <- struct{}{}:
			begin := time.Now()
			one.err = c.compile(c.ctx, f, v)
			one.duration = time.Since(begin)
			<-c.busy
		}
	})
	return one
}

// close ends all compilations.
func (c *compilers) close() {
	c.cancel()
	c.running.Wait()
}

// compile waits until the variant of a request is compiled. Where it does not compile, it reports false and returns the failed trial.
// The error is ctx's.
func (r *run) compile(ctx context.Context, v *device.Variant, req *worker.Request) (t trial.Trial, ok bool, err error) {
	if r.shared.compilers == nil {
		return t, true, nil
	}
	one, begin := r.shared.compilers.begin(r.family, v), time.Now()
	if one == nil {
		return t, true, nil
	}
	select {
	case <-ctx.Done():
		return t, false, ctx.Err()
	case <-one.ended:
	}
	waited := time.Since(begin)
	if r.sum.Compiled.Waited += waited; !one.counted {
		one.counted = true
		r.sum.Compiled.add(Compilation{Variants: 1, Time: one.duration})
	}
	if one.err == nil {
		return t, true, nil
	}
	t = trial.New(r.family, v, r.Facts)
	t.Fixed, t.Size, t.Seed, t.Action = req.Fixed, req.Size, req.Seed, req.Action
	t.Time, t.Wall, t.Status, t.Error = begin.UTC(), int64(waited), trial.Compile, one.err.Error()
	return t, false, nil
}
