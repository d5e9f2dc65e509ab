package checkpoint

import (
	"errors"
	"fmt"

	"coalesce/autotune/tuned"
	gencsg "coalesce/generated/csg"
	"coalesce/runtime/device"
	"coalesce/runtime/host"
	"coalesce/solvers/csg/internal/levels"
)

// RecordBytes is the most that a record of tiles holds, in bytes.
const RecordBytes = 16 << 20

// A Carrier copies tiles between the tables of devices and memory of this machine.
type Carrier struct {
	agents, width int
	tables        []device.Buffer
	streams       []device.Stream // one a table
	gather        []*gencsg.GatherKernels
	rooms         []device.Buffer // packed tiles on their way; none on a host, whose tables are this machine's memory
}

// OpenCarrier loads kernels and takes memory for copying tiles of tables of so many agents, whose
// values have width bytes; each device has one table. Without devices the first table is a host's.
func OpenCarrier(devices []device.Device, tables []device.Buffer, agents, width int) (_ *Carrier, err error) {
	c := &Carrier{agents: agents, width: width, tables: tables}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Close())
		}
	}()
	for _, d := range devices {
		s, err := d.NewStream()
		if err != nil {
			return nil, err
		}
		c.streams = append(c.streams, s)
		k, err := gencsg.LoadGather(d, tuned.SafeVariant(&gencsg.Gather))
		if err != nil {
			return nil, err
		}
		c.gather = append(c.gather, k)
		b, err := d.Alloc(RecordBytes)
		if err != nil {
			return nil, fmt.Errorf("for the checkpoint: %w", err)
		}
		c.rooms = append(c.rooms, b)
	}
	return c, nil
}

// Close gives back the memory and the kernels.
func (c *Carrier) Close() error {
	var errs []error
	for _, s := range c.streams {
		errs = append(errs, s.Close())
	}
	for _, k := range c.gather {
		errs = append(errs, k.Close())
	}
	for _, b := range c.rooms {
		errs = append(errs, b.Free())
	}
	return errors.Join(errs...)
}

// Fetch copies the tiles of a record to memory, from the first table.
func (c *Carrier) Fetch(r Record, to []byte) error {
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

// Restore copies the tiles of a record into all tables.
func (c *Carrier) Restore(r Record, from []byte) error {
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
			return fmt.Errorf("%w: found a record of %d bytes, expected at most %d", ErrRefused, len(from), c.rooms[k].Len())
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

func (c *Carrier) launch(k int, r Record, kernel func(s device.Stream, g device.Grid, f, room device.Buffer, at, high, size, first, count, words uint64) error) error {
	g := device.Grid{Blocks: min(r.Count, 1<<31-1), Threads: gencsg.Gather.Int(tuned.SafeVariant(&gencsg.Gather), "block")}
	words := uint64(c.width) << r.Bits / 8
	return kernel(c.streams[k], g, c.tables[k], c.rooms[k], 0, uint64(c.agents-r.Bits), uint64(r.Level), uint64(r.First), uint64(r.Count), words)
}

// onHost visits the tiles of a record in a host's table.
func (c *Carrier) onHost(r Record, memory []byte, visit func(table, part []byte)) error {
	table, tile := host.Slice[byte](device.Ptr(c.tables[0])), uint64(c.width)<<r.Bits
	set := levels.Unrank(r.First, r.Level)
	for k := range uint64(r.Count) {
		visit(table[set*tile:][:tile], memory[k*tile:][:tile])
		set = levels.NextSet(set)
	}
	return nil
}
