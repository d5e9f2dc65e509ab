package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"coalesce/runtime/collective"
	"coalesce/solvers/csg/internal/engine"
	"coalesce/solvers/csg/internal/levels"
	"coalesce/solvers/csg/internal/reference"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// A Spec names the file to which a long solve writes each finished level once, while the next
// level is computed. A process that ends, by a signal too, loses the level being computed and the
// levels that wait to be written.
type Spec struct {
	Path string
	// Resume continues from an existing file, on any kind of device. Without Resume the file must
	// not exist.
	Resume bool
}

// A Writer writes the levels of a run to a checkpoint and reads those that an earlier run wrote.
type Writer struct {
	file    *File
	from    int // the first level that the file lacks
	carrier *Carrier
	bits    int // of the run's tiles
	high    int // agents that tell tiles apart
	width   int // bytes of a value

	levels  chan int
	ended   chan struct{}
	written atomic.Int64 // levels in the file
	failed  error        // read once ended
}

// Writer opens the file for a run on tables of n-1 agents that hold v, and copies the
// file's tiles into them. The best structure in the file goes to best. The caller calls
// End or Close. Of several ranks only the first has the file.
func (c *Spec) Writer(e engine.Engine, inst *problem.Instance, best *problem.Incumbent, ranks collective.Ranks) (_ *Writer, err error) {
	t, ok := e.(engine.Tiler)
	if !ok {
		return nil, fmt.Errorf("a checkpoint is kept by algorithm %s alone, of tables that each device holds whole", reference.Apart)
	}
	m := inst.N - 1
	k := &Writer{bits: min(m, t.TileBits()), width: inst.Type.Size(), levels: make(chan int, 1+problem.MaxAgents), ended: make(chan struct{})}
	k.high = m - k.bits
	devices, tables := t.Tables()
	if k.carrier, err = OpenCarrier(devices, tables, m, k.width); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, k.carrier.Close())
		}
	}()
	id := Identity{Agents: m, Type: inst.Type, Values: Digest(inst.Bytes())}
	if inst.Law != nil { // the same on a device that draws the values
		id.Values = Digest([]byte(inst.Source))
	}
	if !c.Resume && ranks != nil && ranks.Rank() > 0 {
		return k, nil
	}
	if !c.Resume {
		k.file, err = Create(c.Path, id)
		return k, solve.AsInputError(err)
	}
	done := Levels{}
	at := int64(0)
	k.file, err = OpenOn(ranks, c.Path, id, func(r Record, payload []byte) error {
		if r.Level == Best {
			return DecodeBest(payload, best)
		}
		if r.Bits > m || r.Level > m-r.Bits || r.First != at || r.First+r.Count > levels.Binomial(m-r.Bits, r.Level) || done.LastFinished(r.Bits) < r.Level-1 {
			return fmt.Errorf("%w: found tiles %d to %d of level %d, expected those from %d on of a level no later than %d",
				ErrRefused, r.First, r.First+r.Count, r.Level, at, done.LastFinished(r.Bits)+1)
		}
		if at += r.Count; at == levels.Binomial(m-r.Bits, r.Level) {
			done[r.Bits], at = r.Level, 0
		}
		return k.carrier.Restore(r, payload)
	})
	k.from = done.LastFinished(k.bits) + 1
	k.written.Store(int64(k.from))
	return k, err
}

// Start makes a goroutine that writes best and then levels, in the order in which they are finished, until Finish.
// It reads best before it returns: the run goes on writing to it.
func (k *Writer) Start(ctx context.Context, best *problem.Incumbent) {
	var found []byte
	if k.file != nil && len(best.Blocks) > 0 && k.from == 0 {
		found = EncodeBest(best)
	}
	go func() {
		defer close(k.ended)
		if found != nil {
			k.failed = k.file.Append(Record{Level: Best}, found, true)
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
func (k *Writer) write(ctx context.Context, level int) error {
	tile := int64(k.width) << k.bits
	count, step := levels.Binomial(k.high, level), max(1, RecordBytes/tile)
	payload := make([]byte, min(count, step)*tile)
	for first := int64(0); first < count; first += step {
		if err := ctx.Err(); err != nil {
			return err
		}
		r := Record{Bits: k.bits, Level: level, First: first, Count: min(step, count-first)}
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

// WriteFinished returns progress with a function that hands finished levels to the goroutine that writes.
func (k *Writer) WriteFinished(progress engine.Progress) engine.Progress {
	progress.From = k.from
	progress.Level = func(level int) error {
		k.levels <- level
		return nil
	}
	return progress
}

// Finish waits until the pending levels are written. err is the error that ended the run. After a run without one, a failure
// to write is a note, for the result.
func (k *Writer) Finish(err error) (note string, _ error) {
	close(k.levels)
	<-k.ended
	failed := errors.Join(k.failed, k.Close())
	if err != nil {
		if errors.Is(failed, context.Canceled) || errors.Is(failed, context.DeadlineExceeded) {
			failed = nil // the run's error says so
		}
		return "", errors.Join(err, failed)
	}
	if failed != nil {
		note = fmt.Sprintf("the checkpoint holds %d of %d levels: %v", k.written.Load(), k.high+1, failed)
	}
	return note, nil
}

// Close closes the file, and gives back the memory and the kernels. Finish calls it.
func (k *Writer) Close() error { return errors.Join(k.file.Close(), k.carrier.Close()) }

// RemainingWork is the share of the work, 0 to 1, that the file did not hold when it was opened.
func (k *Writer) RemainingWork() float64 {
	return 1 - levels.ShareOf(levels.PairsBefore(k.high, k.from), k.high)
}

// DescribeContents says what the file of a run that ended early holds.
func (k *Writer) DescribeContents(path string) string {
	return fmt.Sprintf("checkpoint %s holds %d of %d levels; --resume goes on with them", path, k.written.Load(), k.high+1)
}
