package tiles

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"coalesce/autotune/tuned"
	gencsg "coalesce/generated/csg"
	"coalesce/runtime/collective"
	"coalesce/runtime/device"
	"coalesce/solvers/csg/internal/cancel"
	"coalesce/solvers/csg/internal/engine"
	"coalesce/solvers/csg/internal/levels"
	"coalesce/solvers/csg/problem"
)

// A Group runs csg/tiles on several devices, each of which has the whole table f (Slabs
// where no device has room for it). The target tiles of a level are shared out by rank, in
// shares that differ by one tile at most. Each device packs its finished tiles into a buffer;
// the group gathers the buffers, and each device unpacks the tiles of the others into its table
// before the next level begins. The blocks with the last agent are shared out too: each device
// holds the values of its own share alone.
//
// Bytes: of D devices each receives (D-1)/D of a table of 2^(n-1) values from the others, twice:
// first of the values, of which the host sends 1/D to each device (unless each device draws all
// values itself), then of f. At 30 agents of int32 on two devices, f costs each 1.07 GB.
type Group struct {
	group  *collective.Group
	parts  []*Engine
	gather []*gencsg.GatherKernels
	rooms  []device.Buffer // packed tiles on their way, one a device
	most   int64           // bytes of each room; 0: gatherBytes
}

// gatherBytes is the most memory for packed tiles, in bytes.
const gatherBytes = 256 << 20

// LoadGroup loads a variant on several devices, of this process or of several ranks.
func LoadGroup(devices []device.Device, ranks collective.Ranks, v *device.Variant) (_ engine.LoadedVariant, err error) {
	g, err := collective.Join(devices, ranks)
	if err != nil {
		return nil, err
	}
	all := &loadedGroup{group: g, variant: v}
	defer func() {
		if err != nil {
			err = errors.Join(err, all.Close())
		}
	}()
	for _, d := range devices {
		k, err := gencsg.LoadTiles(d, v)
		if err != nil {
			return nil, err
		}
		all.tiles = append(all.tiles, k)
		p, err := gencsg.LoadGather(d, tuned.SafeVariant(&gencsg.Gather))
		if err != nil {
			return nil, err
		}
		all.gather = append(all.gather, p)
	}
	if all.free, err = all.leastFree(); err != nil {
		return nil, err
	}
	return all, nil
}

// Engine is for n agents: with the whole table on each device, or with slabs of it where none has room.
func (l *loadedGroup) Engine(n int) engine.Engine {
	cut := CutFor(l.variant, n, l.group.Len(), l.free)
	if cut.Bits == 0 {
		return l.engine(n, 1<<(n-1))
	}
	return &Slabs{Cut: cut, n: n, window: l.engine(cut.Low+3, 1<<cut.Low)}
}

// leastFree is the least free memory of all members, in bytes; 0: not known.
func (l *loadedGroup) leastFree() (least int64, err error) {
	for _, d := range l.group.Devices {
		if free := d.Facts().Free; least == 0 || free < least {
			least = free
		}
	}
	all, err := l.group.GatherWords(uint64(least))
	return int64(slices.Min(append(all, uint64(least)))), err
}

// engine is for tables of n-1 agents, of which so many values are shared out.
func (l *loadedGroup) engine(n, values int) *Group {
	e := &Group{group: l.group, gather: l.gather}
	share := collective.SplitRows(values, l.group.Len())[l.group.FirstMember():]
	for k, kernels := range l.tiles {
		e.parts = append(e.parts, &Engine{variant: l.variant, kernels: kernels, n: n, from: uint64(share[k]), end: uint64(share[k+1])})
	}
	return e
}

// A loadedGroup is what LoadGroup loaded.
type loadedGroup struct {
	group   *collective.Group
	variant *device.Variant
	free    int64 // bytes of the member with the least free memory; 0: not known
	tiles   []*gencsg.TilesKernels
	gather  []*gencsg.GatherKernels
}

func (l *loadedGroup) Close() error {
	var errs []error
	for _, k := range l.tiles {
		errs = append(errs, k.Close())
	}
	for _, k := range l.gather {
		errs = append(errs, k.Close())
	}
	return errors.Join(append(errs, l.group.Close())...)
}

// tileBytes is the size of a tile, in bytes.
func (r *Group) tileBytes() int64 { return r.parts[0].valueSize() << r.parts[0].TileBits() }

func (r *Group) Alloc(device.Device, device.Stream) error {
	first := r.parts[0]
	tile := r.tileBytes()
	largest := int64(0)
	for size := 1; size <= first.highAgents(); size++ {
		largest = max(largest, levels.Binomial(first.highAgents(), size)*tile)
	}
	r.most = cmp.Or(r.most, gatherBytes)
	r.most = min(largest, max(r.most, tile*int64(r.group.Len())))
	r.rooms = make([]device.Buffer, len(r.parts))
	return collective.OnAll(len(r.parts), func(k int) (err error) {
		d := r.group.Devices[k]
		if r.rooms[k], err = d.Alloc(r.most); err != nil {
			return err
		}
		return r.parts[k].Alloc(d, r.group.Streams[k])
	})
}

func (r *Group) Free() error {
	errs := []error{engine.FreeAll(r.rooms...)}
	for _, t := range r.parts {
		errs = append(errs, t.Free())
	}
	return errors.Join(errs...)
}

// Tables are the devices' tables f.
func (r *Group) Tables() ([]device.Device, []device.Buffer) {
	list := make([]device.Buffer, len(r.parts))
	for k, t := range r.parts {
		list[k] = t.f
	}
	return r.group.Devices, list
}

func (r *Group) TileBits() int { return r.parts[0].TileBits() }

func (r *Group) Upload(ctx context.Context, _ device.Stream, values []byte) error {
	half := len(values) / 2
	if r.parts[0].lower {
		half = len(values)
	}
	size := r.parts[0].valueSize()
	bounds := make([]int64, 1+len(r.parts))
	for k, first := range collective.SplitRows(half/int(size), len(r.parts)) {
		bounds[k] = int64(first) * size
	}
	ranked := r.group.Len() > len(r.parts) // several processes, each of which has all values on its host
	err := collective.OnAll(len(r.parts), func(k int) error {
		t, s := r.parts[k], r.group.Streams[k]
		if err := t.setDrawer(nil); err != nil {
			return err
		}
		from, to := bounds[k], bounds[k+1]
		if ranked {
			from, to = 0, int64(half)
		}
		if err := cancel.Upload(ctx, s, t.f, from, values[from:to]); err != nil {
			return err
		}
		if t.lower {
			return nil
		}
		return t.uploadWith(ctx, s, values[half:])
	})
	if err != nil {
		return err
	}
	if ranked {
		return r.group.Sync()
	}
	_, tables := r.Tables()
	if err := r.group.AllGather(tables, bounds); err != nil {
		return err
	}
	return r.group.Sync()
}

// Draw has every device draw all values of its table itself, which takes less time than copying
// them from another device.
func (r *Group) Draw(ctx context.Context, _ device.Stream, law problem.Law) error {
	err := collective.OnAll(len(r.parts), func(k int) error {
		return r.parts[k].Draw(ctx, r.group.Streams[k], law)
	})
	if err != nil {
		return err
	}
	return r.group.Sync()
}

func (r *Group) Run(ctx context.Context, _ device.Stream, progress engine.Progress) error {
	streams := make([]device.Stream, len(r.parts))
	paces := make([]pacing, len(r.parts))
	for k := range r.parts {
		streams[k] = cancel.Stream{Stream: r.group.Streams[k], Context: ctx}
	}
	// The devices' shares differ by one target at most: the first device's share stands for all.
	high := r.parts[0].highAgents()
	before := levels.ShareOf(levels.PairsBefore(high, progress.From), high)
	paces[0].report = func(share float64) { progress.Report(min(1, before+share*float64(r.group.Len()))) }
	progress.Report(before)
	if progress.From == 0 {
		if err := collective.OnAll(len(r.parts), func(k int) error { return r.parts[k].raiseTile0(streams[k]) }); err != nil {
			return err
		}
		if err := progress.FinishOn(streams[0], 0); err != nil {
			return err
		}
	}
	for size := max(1, progress.From); size <= high; size++ {
		if err := r.raiseLevel(streams, paces, size, 0, levels.Binomial(high, size)); err != nil {
			return err
		}
		if err := progress.FinishOn(streams[0], size); err != nil {
			return err
		}
	}
	if r.parts[0].lower {
		return r.group.Sync()
	}
	if err := collective.OnAll(len(r.parts), func(k int) error { return r.parts[k].raiseAllAgents(streams[k]) }); err != nil {
		return err
	}
	return r.shareLargestTotal()
}

// raiseLevel has the devices share out the targets of ranks from to end-1 among those of a size,
// and brings the finished tiles to all.
func (r *Group) raiseLevel(streams []device.Stream, paces []pacing, size int, from, end int64) error {
	first := collective.SplitRows(int(end-from), r.group.Len())
	for k := range first {
		first[k] += int(from)
	}
	own := first[r.group.FirstMember():]
	err := collective.OnAll(len(r.parts), func(k int) error {
		return r.parts[k].raiseLevel(streams[k], size, int64(own[k]), int64(own[k+1]), &paces[k])
	})
	if err != nil {
		return err
	}
	if err := r.exchange(streams, size, first); err != nil {
		return fmt.Errorf("tiles of %d high members to all devices: %w", size, err)
	}
	return nil
}

func (r *Group) SkipLastAgent() {
	for _, t := range r.parts {
		t.SkipLastAgent()
	}
}

// A parcel is what one device sends of a level: targets of ranks first to
// first+count-1, packed from byte `at` of the rooms on.
type parcel struct{ at, first, count int64 }

// exchange brings the tiles of a level to all devices, as many at a time as the rooms
// hold: device k made those of ranks first[k] to first[k+1]-1.
func (r *Group) exchange(streams []device.Stream, size int, first []int) error {
	tile := r.tileBytes()
	step := max(1, r.most/tile/int64(r.group.Len()))
	sent, me := make([]parcel, r.group.Len()), r.group.FirstMember()
	for done := int64(0); ; done += step {
		bounds, most := make([]int64, 1+len(sent)), int64(0)
		for k := range sent {
			from := min(int64(first[k])+done, int64(first[k+1]))
			sent[k] = parcel{bounds[k], from, min(step, int64(first[k+1])-from)}
			bounds[k+1] = bounds[k] + sent[k].count*tile
			most = max(most, sent[k].count)
		}
		if most == 0 {
			return nil
		}
		for k := range r.parts {
			if err := r.copyParcel(r.gather[k].Pack, streams[k], k, size, sent[me+k]); err != nil {
				return err
			}
		}
		if err := r.group.AllGather(r.rooms, bounds); err != nil {
			return err
		}
		for k := range r.parts {
			for owner, p := range sent {
				if owner == me+k {
					continue
				}
				if err := r.copyParcel(r.gather[k].Unpack, streams[k], k, size, p); err != nil {
					return err
				}
			}
		}
	}
}

// copyParcel launches a kernel, Pack or Unpack, that copies a parcel on device k.
func (r *Group) copyParcel(kernel func(s device.Stream, g device.Grid, f, room device.Buffer, at, high, size, first, count, words uint64) error,
	s device.Stream, k, size int, p parcel) error {
	if p.count == 0 {
		return nil
	}
	safe := tuned.SafeVariant(&gencsg.Gather)
	g := device.Grid{Blocks: min(p.count, engine.MaxBlocks), Threads: gencsg.Gather.Int(safe, "block")}
	return kernel(s, g, r.parts[k].f, r.rooms[k], uint64(p.at/8), uint64(r.parts[k].highAgents()), uint64(size),
		uint64(p.first), uint64(p.count), uint64(r.tileBytes()/8))
}

// shareLargestTotal writes the largest of the devices' totals to every device.
func (r *Group) shareLargestTotal() error {
	var best uint64
	for k, t := range r.parts {
		var word [8]byte
		if err := r.group.Streams[k].Download(word[:t.valueSize()], t.best, 0); err != nil {
			return err
		}
		if x := engine.DecodeWord(word); k == 0 || exceeds(t.value(), x, best) {
			best = x
		}
	}
	all, err := r.group.GatherWords(best)
	if err != nil {
		return err
	}
	for _, x := range all {
		if exceeds(r.parts[0].value(), x, best) {
			best = x
		}
	}
	word := binary.NativeEndian.AppendUint64(nil, best)
	for k, t := range r.parts {
		if err := r.group.Streams[k].Upload(t.best, 0, word[:t.valueSize()]); err != nil {
			return err
		}
	}
	return r.group.Sync()
}

// exceeds compares the bits of two values of a type.
func exceeds(t problem.Value, a, b uint64) bool {
	if t == problem.Int64 {
		return int64(a) > int64(b)
	}
	x, _ := engine.Decode(t, a)
	y, _ := engine.Decode(t, b)
	return x > y
}

func (r *Group) BytesSent() int64              { return r.group.BytesSent() }
func (r *Group) Table() device.Buffer          { return r.parts[0].Table() }
func (r *Group) Total() (device.Buffer, int64) { return r.parts[0].Total() }
func (r *Group) Splittings() float64           { return r.parts[0].Splittings() }

// Split asks the first device. For the coalition of all agents it asks every device, because each
// looked at other blocks of the last agent.
func (r *Group) Split(s device.Stream, c uint64) (uint64, error) {
	if c&r.parts[0].half() == 0 {
		return r.parts[0].Split(s, c)
	}
	found := uint64(0)
	for k, t := range r.parts {
		part, err := t.Split(r.group.Streams[k], c)
		if err != nil {
			return 0, err
		}
		if found = part; found != 0 {
			break
		}
	}
	all, err := r.group.GatherWords(found)
	return slices.Max(all), err // every rank takes the same one of the parts that ranks found
}
