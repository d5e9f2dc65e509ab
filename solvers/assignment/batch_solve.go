package assignment

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"coalesce/autotune/tuned"
	"coalesce/generated/assignment"
	"coalesce/runtime/device"
	"coalesce/solvers/assignment/internal/batch"
	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/internal/families"
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/solve"
)

// SolveBatch solves many instances of any sizes and cost types on one device. A device solves dense
// instances without a limit, in one launch for each cost type. The host's cores solve the others,
// and all instances on a host device, one instance a core. With Options.Bottleneck or a KBest of 2 or more, Solve solves one
// after the other. Options.Start is not used.
//
// An instance without a full matching is no error here: its result has no
// Column, and its certificate holds the proof. Where ctx or the time limit ends the solves, instances that are not
// solved have greedy matchings, which are not proven; Stopped says so.
func SolveBatch(ctx context.Context, list []*problem.Instance, o Options) ([]*Result, error) {
	ctx, cancel := o.WithTimeLimit(ctx)
	defer cancel()
	if o.Bottleneck || o.KBest > 1 {
		return solveInTurn(ctx, list, o)
	}
	b, err := OpenBatch(ctx, list, o)
	if err != nil {
		return nil, err
	}
	var results []*Result
	err = b.Run(ctx)
	if err == nil {
		results, err = b.Results()
	}
	return results, errors.Join(err, b.Close())
}

// solveInTurn solves one instance after the other.
func solveInTurn(ctx context.Context, list []*problem.Instance, o Options) ([]*Result, error) {
	results := make([]*Result, len(list))
	for k, inst := range list {
		var err error
		if results[k], err = Solve(ctx, inst, o); err != nil && !errors.Is(err, solve.ErrInfeasible) {
			return nil, fmt.Errorf("instance %d: %w", k, err)
		}
	}
	return results, nil
}

// A Batch is instances on a device with all the memory that solving them
// takes. It may be run any number of times.
type Batch struct {
	list     []*problem.Instance
	options  Options
	facts    device.Facts
	problems []*problem.Normal
	parts    []*batchPart // of one cost type each
	host     []int        // instances that the host solves
	method   *families.Method
	found    []hostAnswer // answers of the host, in the order of host
	stream   device.Stream
	held     device.Scope    // holds the stream, and the engines and costs of the parts
	prepare  float64         // seconds
	seconds  float64         // of the last run
	ended    context.Context // that ended the last run; nil: all instances were solved
}

// A batchPart is the instances of one launch.
type batchPart struct {
	*batch.Engine
	members []int
	costs   device.Buffer
	reason  string
	ended   bool // the last run ended before its launch was done
}

type hostAnswer struct {
	solution *engine.Solution
	err      error
}

// OpenBatch looks at the costs, plans, and copies the instances that a device solves to it.
func OpenBatch(ctx context.Context, list []*problem.Instance, o Options) (_ *Batch, err error) {
	clock := time.Now()
	checked := o
	if o.Algorithm == batch.Name { // which takes many instances alone
		checked.Algorithm = ""
	}
	if err = checked.checkBest(); err == nil && len(o.Devices) > 1 {
		err = solve.InvalidInput("Devices", "found %d, expected one: many instances are solved on one", len(o.Devices))
	}
	if err != nil {
		return nil, fmt.Errorf("solve assignments: %w", err)
	}
	d := o.Devices[0]
	b := &Batch{list: list, options: o, facts: d.Facts(), problems: make([]*problem.Normal, len(list))}
	if err := b.sort(); err != nil {
		return nil, fmt.Errorf("solve assignments: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("solve assignments: %w", err), b.Close())
		}
	}()
	if len(b.parts) > 0 {
		if b.stream, err = b.held.NewStream(d); err != nil {
			return nil, err
		}
	}
	for _, part := range b.parts {
		if err := b.load(ctx, d, part); err != nil {
			return nil, err
		}
	}
	b.prepare = time.Since(clock).Seconds()
	return b, nil
}

// sort normalises the instances and says which are solved where.
func (b *Batch) sort() error {
	errs := make([]error, len(b.list))
	forEachOnAllCores(len(b.list), func(k int) {
		p, err := problem.Normalise(b.list[k])
		if err == nil && b.list[k].Transports() {
			err = solve.InvalidInput("Supply, Capacity", "found amounts, expected none: SolveBatch finds matchings")
		}
		if b.problems[k] = p; err != nil {
			errs[k] = fmt.Errorf("instance %d: %w", k, err)
		}
	})
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	hosts := families.HostMethods()
	b.method = &hosts[0]
	for k := range hosts {
		if hosts[k].Name == b.options.Algorithm {
			b.method = &hosts[k]
		}
	}
	for k, p := range b.problems {
		if p.Limit != problem.Infinity && !b.method.Limits {
			return fmt.Errorf("instance %d: %w", k, solve.InvalidInput("Algorithm", "family %s takes no limit", b.method.Name))
		}
	}
	device := b.facts.Kind != device.Host && (b.options.Algorithm == "" || b.options.Algorithm == batch.Name)
	if !device && b.options.Algorithm != "" && b.options.Algorithm != b.method.Name {
		return solve.InvalidInput("Algorithm", "family %s takes one instance at a time, or does not run on %s", b.options.Algorithm, b.facts)
	}
	parts := map[problem.Value]*batchPart{}
	for k, p := range b.problems {
		if !device || !p.Instance.Dense() || p.Limit != problem.Infinity || p.Rows == 0 {
			b.host = append(b.host, k)
			continue
		}
		part := parts[p.Instance.Type]
		if part == nil {
			part = &batchPart{}
			parts[p.Instance.Type] = part
			b.parts = append(b.parts, part)
		}
		part.members = append(part.members, k)
	}
	b.found = make([]hostAnswer, len(b.host))
	return nil
}

// load picks a variant for a part, takes its memory and uploads its costs.
func (b *Batch) load(ctx context.Context, d device.Device, part *batchPart) error {
	var shapes []batch.DenseLayout
	var first, bytes int64
	largest := part.members[0]
	for _, k := range part.members {
		inst, p := b.list[k], b.problems[k]
		shapes = append(shapes, batch.DenseLayout{First: first, Stride: int64(inst.Cols), Rows: inst.Rows, Cols: inst.Cols, Scale: p.Scale})
		first += int64(inst.Rows) * int64(inst.Cols)
		if need := batch.StateBytes(int64(p.Rows), int64(p.Cols)); need > bytes {
			largest, bytes = k, need
		}
	}
	c, err := b.choose(b.problems[largest], int(bytes))
	if err != nil {
		return err
	}
	part.reason = c.Reason()
	if part.Engine, err = batch.Open(d, c.Variant, shapes, !b.options.Unchecked); err != nil {
		return err
	}
	b.held.CloseLater(part.Engine)
	b.options.Logf("%d instances on %s, %s %s: %s", len(shapes), b.facts, assignment.Batch.Name, c.Variant.Label, c.Reason())
	size := int64(b.list[largest].Type.Size())
	if part.costs, err = b.held.Alloc(d, first*size); err != nil {
		return fmt.Errorf("costs of %d instances: %w", len(shapes), err)
	}
	for at, k := range part.members {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := b.stream.Upload(part.costs, shapes[at].First*size, b.list[k].Bytes()); err != nil {
			return err
		}
	}
	return b.stream.Sync()
}

// choose picks a variant for problems up to the size of p.
func (b *Batch) choose(p *problem.Normal, shared int) (tuned.Choice, error) {
	f := &assignment.Batch
	fits := func(v *device.Variant) error { return batch.CheckFits(v, b.facts, shared) }
	return b.options.Choose(f, b.facts, engine.Workload(p), fits)
}

// Run solves all instances and, unless that is switched off, checks the
// answers of those on the device: errors wrap ErrCheck. It returns when
// matchings and duals are in the host's memory. The end of ctx or of the time limit is no error: Results completes
// what is not solved.
func (b *Batch) Run(ctx context.Context) error {
	ctx, cancel := b.options.WithTimeLimit(ctx)
	defer cancel()
	clock := time.Now()
	for _, part := range b.parts {
		err := part.Solve(ctx, b.stream, part.costs)
		if part.ended = solve.IsInterrupted(ctx, err); part.ended {
			continue
		}
		if err != nil {
			return fmt.Errorf("solve assignments: %w", err)
		}
		for at, k := range part.members {
			s, full := part.Solution(at)
			if !full || b.options.Unchecked {
				continue
			}
			if err := part.VerifySolution(at, b.problems[k], s); err != nil {
				return fmt.Errorf("solve assignments: instance %d: %w", k, err)
			}
		}
	}
	forEachOnAllCores(len(b.host), func(at int) {
		f := &b.found[at]
		p := b.problems[b.host[at]]
		if f.err = ctx.Err(); f.err != nil {
			return
		}
		f.solution = &engine.Solution{Prices: problem.Prices{U: []int64{}, V: make([]int64, p.Cols)}, Column: []int32{}}
		if p.Rows > 0 {
			f.solution, f.err = b.method.Solve(ctx, p, nil, engine.Host{Threads: 1, Tuning: b.options.Tuning})
		}
	})
	b.seconds = time.Since(clock).Seconds()
	if b.ended = nil; ctx.Err() != nil {
		b.ended = ctx
	}
	return nil
}

// forEachOnAllCores calls work for 0 to n-1 on all cores, one number at a time.
func forEachOnAllCores(n int, work func(k int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for k := next.Add(1) - 1; k < int64(n); k = next.Add(1) - 1 {
				work(int(k))
			}
		})
	}
	wg.Wait()
}

// Close gives back the memory.
func (b *Batch) Close() error { return b.held.Close() }
