package csg

import (
	"context"
	"errors"
	"fmt"

	"coalesce/autotune/tuned"
	"coalesce/generated/csg"
	"coalesce/runtime/collective"
	"coalesce/runtime/device"
	"coalesce/runtime/host"
	"coalesce/solvers/csg/internal/checkpoint"
	"coalesce/solvers/csg/internal/levels"
	"coalesce/solvers/csg/problem"
)

// A Checkpoint is the file in which a long solve keeps its finished levels, each of
// them once, while the next is computed. A process that ends in any way, also by the
// system's hand, loses the level under way, and those that wait to be written.
type Checkpoint struct {
	Path string
	// Resume goes on with a file that is there, on any device of any kind. Without it no
	// such file may be there.
	Resume bool
}

// ErrCheckpoint is wrapped by the errors of files that are no checkpoint of the
// instance, or damaged.
var ErrCheckpoint = checkpoint.ErrRefused

// A tiler is an engine whose table is finished level by level, in tiles.
type tiler interface {
	engine
	tileBits() int
	// tables are the tables f, of the devices of a group or of one GPU; no devices are
	// those of a host.
	tables() ([]device.Device, []device.Buffer)
}

// keeping writes the levels of a run to a checkpoint, and reads those of before.
type keeping struct {
	file    *checkpoint.File
	from    int // the first level that the file lacks
	carrier *carrier
	bits    int // of the run's tiles
	high    int // agents that tell tiles apart
	width   int // bytes of a value

	levels  chan int
	ended   chan struct{}
	written int // levels in the file; read once ended
	failed  error
}

// recordBytes is the most that a record of tiles holds, in bytes.
const recordBytes = 16 << 20

// kept opens a checkpoint for a run on tables of n-1 agents that hold v, and puts what
// the checkpoint has into them. best is what it has of a best structure. The caller calls
// close.
// Of ranks the first alone has the file.
func (c *Checkpoint) kept(e engine, inst *Instance, best *incumbent, ranks collective.Ranks) (_ *keeping, err error) {
	t, ok := e.(tiler)
	if !ok {
		return nil, fmt.Errorf("a checkpoint is kept by algorithm %s alone", Apart)
	}
	m := inst.N - 1
	k := &keeping{bits: min(m, t.tileBits()), width: inst.Type.Size(), levels: make(chan int, 1+problem.MaxAgents), ended: make(chan struct{})}
	k.high = m - k.bits
	if k.carrier, err = newCarrier(t, m, k.width); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, k.carrier.close())
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
		return k, err
	}
	done := levelsDone{}
	at := int64(0)
	k.file, err = checkpoint.OpenOn(ranks, c.Path, id, func(r checkpoint.Record, payload []byte) error {
		if r.Level == checkpoint.Best {
			return best.decode(payload, inst)
		}
		if r.Bits > m || r.Level > m-r.Bits || r.First != at || r.First+r.Count > levels.Binomial(m-r.Bits, r.Level) || done.until(r.Bits) < r.Level-1 {
			return fmt.Errorf("%w: found tiles %d to %d of level %d, expected those from %d on of a level no later than %d",
				checkpoint.ErrRefused, r.First, r.First+r.Count, r.Level, at, done.until(r.Bits)+1)
		}
		if at += r.Count; at == levels.Binomial(m-r.Bits, r.Level) {
			done[r.Bits], at = r.Level, 0
		}
		return k.carrier.put(r, payload)
	})
	k.from = done.until(k.bits) + 1
	k.written = k.from
	return k, err
}

// levelsDone is, by the bits of a tile, the last of the levels that are done.
type levelsDone map[int]int

// until is the last of the levels of tiles of so many bits that are done, -1 for none. A
// coalition of p higher agents by these tiles has at most p by larger ones, and at most
// as many more by smaller ones as those have fewer bits.
func (d levelsDone) until(bits int) int {
	last := -1
	for b, level := range d {
		last = max(last, level-max(0, bits-b))
	}
	return last
}

// start writes what begin and run's levels give, until close.
func (k *keeping) start(ctx context.Context, best *incumbent) {
	go func() {
		defer close(k.ended)
		if k.file != nil && len(best.blocks) > 0 && k.from == 0 {
			k.failed = k.file.Append(checkpoint.Record{Level: checkpoint.Best}, best.encode(), true)
		}
		for level := range k.levels {
			if k.file != nil && k.failed == nil {
				k.failed = k.write(ctx, level)
			}
			if k.failed == nil {
				k.written = level + 1
			}
		}
	}()
}

// write appends a level's tiles.
func (k *keeping) write(ctx context.Context, level int) error {
	tile := int64(k.width) << k.bits
	count, step := levels.Binomial(k.high, level), max(1, recordBytes/tile)
	payload := make([]byte, min(count, step)*tile)
	for first := int64(0); first < count; first += step {
		if err := ctx.Err(); err != nil {
			return err
		}
		r := checkpoint.Record{Bits: k.bits, Level: level, First: first, Count: min(step, count-first)}
		part := payload[:r.Count*tile]
		if err := k.carrier.fetch(r, part); err != nil {
			return err
		}
		if err := k.file.Append(r, part, first+r.Count == count); err != nil {
			return err
		}
	}
	return nil
}

// follow has a run tell its levels.
func (k *keeping) follow(w follow) follow {
	w.from = k.from
	w.done = func(level int) error {
		k.levels <- level
		return nil
	}
	return w
}

// end waits for what is being written, and says in an error that ended the run, else in
// the result's notes, what the file holds.
func (k *keeping) end(path string, r *Result, err error) error {
	close(k.levels)
	<-k.ended
	failed := errors.Join(k.failed, k.file.Close(), k.carrier.close())
	if err != nil {
		if errors.Is(failed, context.Canceled) || errors.Is(failed, context.DeadlineExceeded) {
			failed = nil // the run's error says so
		}
		return errors.Join(fmt.Errorf("%w (checkpoint %s holds %d of %d levels; --resume goes on with them)", err, path, k.written, k.high+1), failed)
	}
	if failed != nil {
		r.Notes = append(r.Notes, fmt.Sprintf("the checkpoint holds %d of %d levels: %v", k.written, k.high+1, failed))
	}
	return nil
}

// A carrier copies tiles between the tables of devices and memory of this machine.
type carrier struct {
	agents, width int
	tables        []device.Buffer
	streams       []device.Stream // one a table
	gather        []*csg.GatherKernels
	rooms         []device.Buffer // none on a host, whose tables are this machine's memory
}

func newCarrier(t tiler, agents, width int) (_ *carrier, err error) {
	devices, tables := t.tables()
	c := &carrier{agents: agents, width: width, tables: tables}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.close())
		}
	}()
	for _, d := range devices {
		s, err := d.NewStream()
		if err != nil {
			return nil, err
		}
		c.streams = append(c.streams, s)
		k, err := csg.LoadGather(d, tuned.SafeVariant(&csg.Gather))
		if err != nil {
			return nil, err
		}
		c.gather = append(c.gather, k)
		b, err := d.Alloc(max(recordBytes, 8))
		if err != nil {
			return nil, fmt.Errorf("for the checkpoint: %w", err)
		}
		c.rooms = append(c.rooms, b)
	}
	return c, nil
}

func (c *carrier) close() error {
	var errs []error
	for _, s := range c.streams {
		errs = append(errs, s.Close())
	}
	for _, k := range c.gather {
		errs = append(errs, k.Close())
	}
	return errors.Join(append(errs, freeAll(c.rooms...))...)
}

// fetch copies the tiles of a record to memory, from the first table.
func (c *carrier) fetch(r checkpoint.Record, to []byte) error {
	if len(c.rooms) == 0 {
		return c.onHost(r, to, func(table, part []byte) { copy(part, table) })
	}
	if r.Level == 0 {
		return c.streams[0].Download(to, c.tables[0], 0)
	}
	if err := c.launch(0, r, c.gather[0].Pack); err != nil {
		return err
	}
	return c.streams[0].Download(to, c.rooms[0], 0)
}

// put copies the tiles of a record into all tables.
func (c *carrier) put(r checkpoint.Record, from []byte) error {
	if len(c.rooms) == 0 {
		return c.onHost(r, from, func(table, part []byte) { copy(table, part) })
	}
	for k, s := range c.streams {
		if r.Level == 0 {
			if err := s.Upload(c.tables[k], 0, from); err != nil {
				return err
			}
			continue
		}
		if int64(len(from)) > c.rooms[k].Len() {
			return fmt.Errorf("%w: found a record of %d bytes, expected at most %d", checkpoint.ErrRefused, len(from), c.rooms[k].Len())
		}
		if err := s.Upload(c.rooms[k], 0, from); err != nil {
			return err
		}
		if err := c.launch(k, r, c.gather[k].Unpack); err != nil {
			return err
		}
		if err := s.Sync(); err != nil {
			return err
		}
	}
	return nil
}

func (c *carrier) launch(k int, r checkpoint.Record, kernel func(s device.Stream, g device.Grid, f, room device.Buffer, at, high, size, first, count, words uint64) error) error {
	g := device.Grid{Blocks: min(r.Count, gridBlocks), Threads: csg.Gather.Int(tuned.SafeVariant(&csg.Gather), "block")}
	words := uint64(c.width) << r.Bits / 8
	return kernel(c.streams[k], g, c.tables[k], c.rooms[k], 0, uint64(c.agents-r.Bits), uint64(r.Level), uint64(r.First), uint64(r.Count), words)
}

// onHost visits the tiles of a record in a host's table.
func (c *carrier) onHost(r checkpoint.Record, memory []byte, visit func(table, part []byte)) error {
	table, tile := host.Slice[byte](device.Ptr(c.tables[0])), uint64(c.width)<<r.Bits
	set := levels.Unrank(r.First, r.Level)
	for k := range uint64(r.Count) {
		visit(table[set*tile:][:tile], memory[k*tile:][:tile])
		set = levels.Next(set)
	}
	return nil
}
