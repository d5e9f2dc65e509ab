package csg

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"coalesce/runtime/collective"
	"coalesce/runtime/device"
	"coalesce/solvers/csg/internal/cancel"
	"coalesce/solvers/csg/internal/checkpoint"
	"coalesce/solvers/csg/internal/levels"
	"coalesce/solvers/csg/internal/tables"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// A Checkpoint is the file to which a long solve writes each finished level once, while the next
// level is computed. A process that ends, by a signal too, loses the level being computed and the
// levels that wait to be written.
type Checkpoint struct {
	Path string
	// Resume continues from an existing file, on any kind of device. Without Resume the file must
	// not exist.
	Resume bool
}

// ErrCheckpoint is wrapped by the errors of damaged files and of files that are not a checkpoint of
// the instance.
var ErrCheckpoint = checkpoint.ErrRefused

// A tiler is an engine whose table is finished level by level, in tiles.
type tiler interface {
	engine
	tileBits() int
	// tables returns the tables f of a group's devices or of one GPU. On a host there are no
	// devices, and one table.
	tables() ([]device.Device, []device.Buffer)
}

// keeping writes the levels of a run to a checkpoint and reads those that an earlier run wrote.
type keeping struct {
	file    *checkpoint.File
	from    int // the first level that the file lacks
	carrier *tables.Carrier
	bits    int // of the run's tiles
	high    int // agents that tell tiles apart
	width   int // bytes of a value

	levels  chan int
	ended   chan struct{}
	written atomic.Int64 // levels in the file
	failed  error        // read once ended
}

// open is kept for a job, which it gives back to the session if it fails. On a host it returns at the
// end of ctx: the digest of all values, and the reading of an earlier run's levels, then go on.
func (c *Checkpoint) open(ctx context.Context, s *Session, j *job, best *problem.Incumbent) (*keeping, error) {
	seen := &problem.Incumbent{Instance: j.inst} // best may be read while an opening goes on
	opening := func() (*keeping, error) { return c.kept(j.engine, j.inst, seen, s.Ranks) }
	var k *keeping
	var err error
	if j.by.family.Target != device.Host {
		k, err = opening()
	} else {
		k, err = cancel.AtOnce(ctx, opening, func(k *keeping, err error) {
			if err == nil {
				err = errors.Join(ctx.Err(), k.file.Close(), k.carrier.Close())
			}
			s.giveBack(j, err)
		})
		if err != nil && err == ctx.Err() {
			return nil, err // the opening has the job
		}
	}
	if err != nil {
		s.giveBack(j, err)
		return nil, err
	}
	best.Offer(seen.Blocks, seen.Bound)
	return k, nil
}

// kept opens a checkpoint for a run on tables of n-1 agents that hold v, and copies the
// checkpoint's tiles into them. The best structure in the checkpoint goes to best. The caller calls
// close. Of several ranks only the first has the file.
func (c *Checkpoint) kept(e engine, inst *Instance, best *problem.Incumbent, ranks collective.Ranks) (_ *keeping, err error) {
	t, ok := e.(tiler)
	if !ok {
		return nil, fmt.Errorf("a checkpoint is kept by algorithm %s alone, of tables that each device holds whole", Apart)
	}
	m := inst.N - 1
	k := &keeping{bits: min(m, t.tileBits()), width: inst.Type.Size(), levels: make(chan int, 1+problem.MaxAgents), ended: make(chan struct{})}
	k.high = m - k.bits
	devices, all := t.tables()
	if k.carrier, err = tables.OpenCarrier(devices, all, m, k.width); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, k.carrier.Close())
		}
	}()
	id := checkpoint.Identity{Agents: m, Type: inst.Type, Values: checkpoint.Digest(inst.Bytes())}
	if inst.Law != nil { // the same on a device that draws the values
		id.Values = checkpoint.Digest([]byte(inst.Source))
	}
	if !c.Resume && ranks != nil && ranks.Rank() > 0 {
		return k, nil
	}
	if !c.Resume {
		k.file, err = checkpoint.Create(c.Path, id)
		return k, solve.Refuse(err)
	}
	done := checkpoint.Levels{}
	at := int64(0)
	k.file, err = checkpoint.OpenOn(ranks, c.Path, id, func(r checkpoint.Record, payload []byte) error {
		if r.Level == checkpoint.Best {
			return checkpoint.DecodeBest(payload, best)
		}
		if r.Bits > m || r.Level > m-r.Bits || r.First != at || r.First+r.Count > levels.Binomial(m-r.Bits, r.Level) || done.Until(r.Bits) < r.Level-1 {
			return fmt.Errorf("%w: found tiles %d to %d of level %d, expected those from %d on of a level no later than %d",
				checkpoint.ErrRefused, r.First, r.First+r.Count, r.Level, at, done.Until(r.Bits)+1)
		}
		if at += r.Count; at == levels.Binomial(m-r.Bits, r.Level) {
			done[r.Bits], at = r.Level, 0
		}
		return k.carrier.Put(r, payload)
	})
	k.from = done.Until(k.bits) + 1
	k.written.Store(int64(k.from))
	return k, err
}

// start makes a goroutine that writes levels, in the order in which they are finished, until close.
func (k *keeping) start(ctx context.Context, best *problem.Incumbent) {
	go func() {
		defer close(k.ended)
		if k.file != nil && len(best.Blocks) > 0 && k.from == 0 {
			k.failed = k.file.Append(checkpoint.Record{Level: checkpoint.Best}, checkpoint.EncodeBest(best), true)
		}
		for level := range k.levels {
			if k.file != nil && k.failed == nil {
				k.failed = k.write(ctx, level)
			}
			if k.failed == nil {
				k.written.Store(int64(level) + 1)
			}
		}
	}()
}

// write appends a level's tiles.
func (k *keeping) write(ctx context.Context, level int) error {
	tile := int64(k.width) << k.bits
	count, step := levels.Binomial(k.high, level), max(1, tables.RecordBytes/tile)
	payload := make([]byte, min(count, step)*tile)
	for first := int64(0); first < count; first += step {
		if err := ctx.Err(); err != nil {
			return err
		}
		r := checkpoint.Record{Bits: k.bits, Level: level, First: first, Count: min(step, count-first)}
		part := payload[:r.Count*tile]
		if err := k.carrier.Fetch(r, part); err != nil {
			return err
		}
		if err := k.file.Append(r, part, first+r.Count == count); err != nil {
			return err
		}
	}
	return nil
}

// follow returns w with a function that hands finished levels to the goroutine that writes.
func (k *keeping) follow(w levels.Follow) levels.Follow {
	w.From = k.from
	w.Done = func(level int) error {
		k.levels <- level
		return nil
	}
	return w
}

// end waits until the pending levels are written. err is the error that ended the run. After a run without one, a failure
// to write is a note of the result.
func (k *keeping) end(r *Result, err error) error {
	close(k.levels)
	<-k.ended
	failed := errors.Join(k.failed, k.file.Close(), k.carrier.Close())
	if err != nil {
		if errors.Is(failed, context.Canceled) || errors.Is(failed, context.DeadlineExceeded) {
			failed = nil // the run's error says so
		}
		return errors.Join(err, failed)
	}
	if failed != nil {
		r.Notes = append(r.Notes, fmt.Sprintf("the checkpoint holds %d of %d levels: %v", k.written.Load(), k.high+1, failed))
	}
	return nil
}

// holds says what the file of a run that ended early holds.
func (k *keeping) holds(path string) string {
	return fmt.Sprintf("checkpoint %s holds %d of %d levels; --resume goes on with them", path, k.written.Load(), k.high+1)
}
