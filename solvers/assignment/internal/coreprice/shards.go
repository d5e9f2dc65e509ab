package coreprice

import (
	"context"
	"errors"
	"fmt"
	"time"

	"coalesce/autotune/tuned"
	"coalesce/generated/assignment"
	"coalesce/runtime/collective"
	"coalesce/runtime/device"
	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/problem"
)

// CoreShards is core and price for a matrix whose rows are spread over the devices of a group.
// Every pass over the matrix runs on all of them at once: column minima are combined by an
// all-reduce; candidates, and later the edges of rows that violate the duals, are copied to the
// first device, which solves the core and sends its duals back.
//
// Where a group has several processes, of one device each, every process keeps a copy of the first
// device's state and takes the same steps: the first alone solves the core, and all receive its
// duals, its matching and its control words.
type CoreShards struct {
	*coreEngine // the core, on the first device, or a copy of it
	group       *collective.Group
	parts       []*coreEngine // each device's rows
	first       []int         // row of each part, and the number of rows
	merge       *assignment.ShardKernels
	threads     int
	given, fell device.Buffer // next and u of all parts, on the first device
	held        device.Scope  // all of these
}

// OpenShards is Open for the devices of a group.
func OpenShards(g *collective.Group, t *tuned.Database, v *device.Variant, rows, cols int) (_ engine.Sharded, err error) {
	e := &CoreShards{group: g, first: collective.SplitRows(rows, g.Len())}
	if g.SpansProcesses() && len(g.Devices) > 1 {
		return nil, fmt.Errorf("%d devices of a rank: expected one", len(g.Devices))
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, e.Close())
		}
	}()
	d := g.Devices[0]
	head, err := Open(d, t, v, rows, cols)
	if err != nil {
		return nil, err
	}
	e.coreEngine = head.(*coreEngine)
	e.held.CloseLater(head)
	for k, d := range g.Devices {
		part, err := Open(d, t, v, e.first[g.FirstMember()+k+1]-e.first[g.FirstMember()+k], cols)
		if err != nil {
			return nil, err
		}
		e.held.CloseLater(part)
		e.parts = append(e.parts, part.(*coreEngine))
	}
	merge := &assignment.Shard
	safe := tuned.SafeVariant(merge)
	e.threads = merge.Int(safe, "block")
	if e.merge, err = assignment.LoadShard(d, safe); err != nil {
		return nil, err
	}
	e.held.CloseLater(e.merge)
	return e, e.held.AllocAll(d, device.BufferFor(&e.given, 4*int64(rows)), device.BufferFor(&e.fell, 8*int64(rows)))
}

// Close gives back the memory and the modules, not the devices.
func (e *CoreShards) Close() error { return e.held.Close() }

// Solve implements engine.Sharded.
func (e *CoreShards) Solve(ctx context.Context, p *problem.Normal, ms []*engine.Matrix, start *problem.Prices) (*engine.Solution, error) {
	clock := time.Now()
	if p.Rows == 0 {
		return e.coreEngine.Solve(ctx, e.group.Streams[0], p, nil, start)
	}
	r := &coreShardRun{CoreShards: e, head: e.newRun(e.group.Streams[0], p, nil)}
	r.head.over = r
	for k, part := range e.parts {
		rows := *p
		rows.Rows = part.rows
		r.runs = append(r.runs, part.newRun(e.group.Streams[k], &rows, ms[k]))
	}
	sol, err := r.head.solve(ctx, start)
	if err != nil {
		return nil, errors.Join(err, e.group.Sync())
	}
	if err := r.times(&sol.Counts.Stages); err != nil {
		return nil, err
	}
	sol.Counts.Edges = int64(e.k * (p.Rows + r.used))
	sol.Counts.Stages.Rest = time.Since(clock).Seconds() - sol.Counts.Stages.Passes - sol.Counts.Stages.Core
	return sol, nil
}

// A coreShardRun is one solve: the passes of the head's run.
type coreShardRun struct {
	*CoreShards
	head   *coreRun
	runs   []*coreRun   // of the parts
	used   int          // chunks in the head's pool, without the first of each row
	passes [][]interval // of each pass, of each device
	core   []interval
	began  device.Event // when the head had received everything that the next core needs
}

// An interval is from one event to another.
type interval struct{ from, to device.Event }

func (l interval) seconds() (float64, error) {
	t, err := l.to.Since(l.from)
	return t.Seconds(), err
}

// times adds the intervals up.
func (r *coreShardRun) times(t *engine.StageTimes) error {
	for _, pass := range r.passes {
		slowest := 0.0
		for _, l := range pass {
			s, err := l.seconds()
			if err != nil {
				return err
			}
			slowest = max(slowest, s)
		}
		t.Passes += slowest
	}
	for _, l := range r.core {
		s, err := l.seconds()
		if err != nil {
			return err
		}
		t.Core += s
	}
	return nil
}

// pass runs a kernel on every part after the work that the head has enqueued so far: receive copies
// what the kernel needs from the head, launch launches it, after enqueues what follows it.
func (r *coreShardRun) pass(receive, launch, after func(k int, part *coreRun) error) error {
	ready, err := r.head.s.Record()
	if err != nil {
		return err
	}
	intervals := make([]interval, len(r.runs))
	r.passes = append(r.passes, intervals)
	return collective.OnAll(len(r.runs), func(k int) error {
		part := r.runs[k]
		if err := errors.Join(part.s.Wait(ready), receive(k, part)); err != nil {
			return err
		}
		from, err := part.s.Record()
		if err != nil {
			return err
		}
		if err := launch(k, part); err != nil {
			return err
		}
		to, err := part.s.Record()
		if err != nil {
			return err
		}
		intervals[k] = interval{from, to}
		return after(k, part)
	})
}

// await makes the head's stream wait for the parts' streams.
func (r *coreShardRun) await() error {
	for _, part := range r.runs {
		e, err := part.s.Record()
		if err != nil {
			return err
		}
		if err := r.head.s.Wait(e); err != nil {
			return err
		}
	}
	return nil
}

func nothing(int, *coreRun) error { return nil }

// contextError implements corePasses.
func (r *coreShardRun) contextError(ctx context.Context) error { return r.group.AnyRankEnded(ctx) }

// solveCore implements corePasses.
func (r *coreShardRun) solveCore(launch func() error) error {
	h := r.head
	if r.group.FirstMember() == 0 {
		if err := launch(); err != nil {
			return err
		}
	}
	return errors.Join(
		r.broadcastBuffer(h.control, 8*assignment.CoreWords),
		r.broadcastBuffer(h.u, 8*int64(h.p.Rows)),
		r.broadcastBuffer(h.v, 8*int64(h.p.Cols)),
		r.broadcastBuffer(h.match, 4*int64(h.p.Rows)),
	)
}

// broadcastBuffer copies n bytes of the first process's buffer to the copies of the other processes.
func (r *coreShardRun) broadcastBuffer(b device.Buffer, n int64) error {
	if !r.group.SpansProcesses() {
		return nil
	}
	return r.group.Broadcast([]device.Buffer{b}, 0, 0, n)
}

// bring gathers the parts of all processes: each has written its own part into its copy, and gets
// the parts of the others. Part k is the numbers at[k] to at[k+1]-1, each of size bytes.
func (r *coreShardRun) bring(b device.Buffer, at []int, size int64) error {
	if !r.group.SpansProcesses() {
		return nil
	}
	bounds := make([]int64, len(at))
	for k, x := range at {
		bounds[k] = size * int64(x)
	}
	return r.group.AllGather([]device.Buffer{b}, bounds)
}

// rows are the first row, and the number of rows, of part k of this process.
func (r *coreShardRun) rows(k int) (first, n int64) {
	return int64(r.first[r.group.FirstMember()+k]), int64(r.runs[k].p.Rows)
}

// setColumnMinima implements corePasses.
func (r *coreShardRun) setColumnMinima() error {
	if err := r.pass(nothing, func(_ int, part *coreRun) error { return part.setColumnMinima() }, nothing); err != nil {
		return err
	}
	var v []device.Buffer
	for _, part := range r.runs {
		v = append(v, part.v)
	}
	cols := int64(r.head.p.Cols)
	return errors.Join(
		r.group.AllReduce(v, 0, cols, collective.Int64, collective.Min),
		r.head.s.Copy(r.head.v, 0, v[0], 0, 8*cols),
	)
}

// makeCandidates implements corePasses.
func (r *coreShardRun) makeCandidates() error {
	h, edges := r.head, int64(r.k)
	err := r.pass(func(_ int, part *coreRun) error {
		return part.s.Copy(part.v, 0, h.v, 0, 8*int64(h.p.Cols))
	}, func(_ int, part *coreRun) error {
		return part.makeCandidates()
	}, func(k int, part *coreRun) error {
		first, n := r.rows(k)
		return errors.Join(part.s.Copy(h.col, 4*edges*first, part.col, 0, 4*edges*n), part.s.Copy(h.cost, 8*edges*first, part.cost, 0, 8*edges*n))
	})
	if err != nil {
		return err
	}
	if err := errors.Join(r.await(), r.bring(h.col, r.first, 4*edges), r.bring(h.cost, r.first, 8*edges), h.s.Fill(h.next, 0, 4*int64(h.p.Rows), 0xff)); err != nil {
		return err
	}
	if h.p.Limit < problem.Infinity {
		if err := r.merge.Lone(h.s, r.grid(h.p.Rows), uint64(h.p.Rows), uint64(h.p.Cols), uint64(edges), h.col); err != nil {
			return err
		}
	}
	r.began, err = h.s.Record()
	return err
}

// grid covers rows with the merging kernels.
func (r *coreShardRun) grid(rows int) device.Grid {
	return device.Grid{Blocks: int64(max(1, (rows+r.threads-1)/r.threads)), Threads: r.threads}
}

// priceRows implements corePasses.
func (r *coreShardRun) priceRows() ([]uint64, error) {
	return r.seek((*coreRun).launchPrice, assignment.CoreWordViolations)
}

// extendReached implements corePasses.
func (r *coreShardRun) extendReached() ([]uint64, error) {
	return r.seek((*coreRun).launchGrow, assignment.CoreWordGrown)
}

// seek runs a pass that makes chunks and merges them into the core. A control word counts the rows
// that got chunks; seek returns the head's control words with that word summed over all parts.
func (r *coreShardRun) seek(launch func(*coreRun) error, word int) ([]uint64, error) {
	h := r.head
	if word == assignment.CoreWordViolations {
		end, err := h.s.Record()
		if err != nil {
			return nil, err
		}
		r.core = append(r.core, interval{r.began, end})
	}
	if word == assignment.CoreWordGrown {
		if err := r.broadcastBuffer(h.word, 8*int64(h.p.Cols)); err != nil {
			return nil, err
		}
	}
	all := make([][]uint64, len(r.runs))
	err := r.pass(func(k int, part *coreRun) error {
		first, n := r.rows(k)
		cols := int64(h.p.Cols)
		err := errors.Join(
			part.s.Copy(part.v, 0, h.v, 0, 8*cols),
			part.s.Copy(part.u, 0, h.u, 8*first, 8*n),
			part.s.Copy(part.control, 0, h.control, 0, 8*assignment.CoreWords),
			part.s.Fill(part.control, 8*assignment.CoreWordPool, 8*(assignment.CoreWordGrown+1-assignment.CoreWordPool), 0),
			part.s.Fill(part.next, 0, 4*n, 0xff),
		)
		if word == assignment.CoreWordViolations { // the head alone unmatches rows
			return errors.Join(err, part.s.Fill(part.match, 0, 4*n, 0xff))
		}
		return errors.Join(err, part.s.Copy(part.match, 0, h.match, 4*first, 4*n), part.s.Copy(part.word, 0, h.word, 0, 8*cols))
	}, func(_ int, part *coreRun) error {
		return launch(part)
	}, func(k int, part *coreRun) (err error) {
		all[k], err = part.downloadControl()
		return err
	})
	if err == nil && r.group.SpansProcesses() {
		all, err = r.group.GatherLists(all[0])
	}
	if err != nil {
		return nil, err
	}
	words, found := all[0], 0
	for _, w := range all {
		found += int(w[assignment.CoreWordPool])
	}
	words[word] = uint64(found)
	if found == 0 {
		r.began, err = h.s.Record()
		return words, err
	}
	if h.p.Rows+r.used+found > h.pool {
		return nil, &engine.ExhaustedError{Why: "memory of edges"}
	}
	return words, r.adopt(all)
}

// adopt copies the chunks that the parts made behind those of the head and links them to their
// rows. all has the control words of each part.
func (r *coreShardRun) adopt(all [][]uint64) error {
	h, edges := r.head, int64(r.k)
	base := []int{h.p.Rows + r.used} // number of the first chunk of each part
	for k, w := range all {
		made := int(w[assignment.CoreWordPool])
		r.used += made
		base = append(base, base[k]+made)
	}
	err := collective.OnAll(len(r.runs), func(k int) error {
		number := r.group.FirstMember() + k
		part, to, made := r.runs[k], int64(base[number]), int64(base[number+1]-base[number])
		if made == 0 {
			return nil
		}
		first, n := r.rows(k)
		return errors.Join(
			part.s.Copy(h.col, 4*edges*to, part.col, 4*edges*n, 4*edges*made),
			part.s.Copy(h.cost, 8*edges*to, part.cost, 8*edges*n, 8*edges*made),
			part.s.Copy(r.given, 4*first, part.next, 0, 4*n),
			part.s.Copy(r.fell, 8*first, part.u, 0, 8*n),
		)
	})
	if err := errors.Join(err, r.await(), r.bring(h.col, base, 4*edges), r.bring(h.cost, base, 8*edges),
		r.bring(r.given, r.first, 4), r.bring(r.fell, r.first, 8)); err != nil {
		return err
	}
	for k := range all {
		if base[k] == base[k+1] {
			continue
		}
		n := r.first[k+1] - r.first[k]
		if err := r.merge.Adopt(h.s, r.grid(n), r.given, r.fell, uint64(r.first[k]), uint64(n), uint64(base[k]), h.next, h.u, h.match, h.owner); err != nil {
			return err
		}
	}
	r.began, err = h.s.Record()
	return err
}
