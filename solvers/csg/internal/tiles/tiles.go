// Package tiles runs the kernels of csg/tiles: on a GPU, on several that have the whole table each, and
// on several that have parts of a table for which none has room.
package tiles

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"

	gencsg "coalesce/generated/csg"
	"coalesce/runtime/device"
	"coalesce/solvers/csg/internal/cancel"
	"coalesce/solvers/csg/internal/engine"
	"coalesce/solvers/csg/internal/levels"
	"coalesce/solvers/csg/internal/reference"
	"coalesce/solvers/csg/problem"
)

// An Engine runs csg/tiles on a GPU: f over the coalitions without the last agent, by
// (max,+) subset convolutions of tiles, then one pass over the values of those with
// the last agent (Method reference.Apart).
//
// Write a coalition without the last agent as (H, L), L its tileBits low members: the
// 2^tileBits coalitions of one H are tile H. Level by level, by the number of members
// of H, each pair {H', H \ H'} of tiles that are f already raises tile H by all sums of
// a value of one and a value of the other with disjoint low members: 3^tileBits
// splittings for the reading of two tiles. What is left are partitions with blocks
// among the low members alone, which tile 0 adds (couple in csg/tiles_level).
//
// The device holds one array of 2^(n-1) values, v first and f in the end. The values
// of coalitions with the last agent stay on the device where it has room for them,
// else they go through a buffer, a piece at a time.
type Engine struct {
	variant *device.Variant
	kernels *gencsg.TilesKernels
	n       int
	shared  int   // bytes of a block
	blocks  int64 // the most that the device runs at once

	room  int64          // bytes for values of coalitions with the last agent; 0: all that the device has free
	from  uint64         // the first of the last agent's blocks that this device looks at, by the number of the other members
	end   uint64         // one more than the last of these blocks; 0: all blocks
	lower bool           // coalitions with the last agent are left out
	f     device.Buffer  // 2^(n-1) values
	with  device.Buffer  // piece values of coalitions with the last agent
	piece uint64         // values that the buffer `with` holds
	upper []byte         // values of coalitions with the last agent where they exceed the buffer, else nil
	drawn problem.Drawer // draws all values on the device, where this machine does not hold them; else nil
	own   device.Device  // the device that holds the buffers
	best  device.Buffer  // f of all agents, then the best of each piece
	found device.Buffer
}

// withBytes is the size in bytes of a piece of the values of coalitions with the last agent,
// where the device has no room for all of them.
const withBytes = 256 << 20

func (r *Engine) value() problem.Value { return valueType(r.variant) }
func (r *Engine) valueSize() int64     { return int64(r.value().Size()) }
func (r *Engine) half() uint64         { return 1 << (r.n - 1) }
func (r *Engine) threads() int         { return gencsg.Tiles.Int(r.variant, "block") }
func (r *Engine) TileBits() int        { return TileBits(r.variant) }

// TileBits is the number of agents of a variant's tiles.
func TileBits(v *device.Variant) int {
	return gencsg.Tiles.Int(v, "chunk") + gencsg.Tiles.Int(v, "slot")
}

// valueType is the type of a variant's values.
func valueType(v *device.Variant) problem.Value { return problem.Value(gencsg.Tiles.Value(v, "value")) }

// SharedMemory is the shared memory of a variant's block, in bytes: for the stages of the
// pipeline, whose chunks are followed by 16 bytes, and then for the bests of all slots.
func SharedMemory(v *device.Variant) int {
	f := &gencsg.Tiles
	size := valueType(v).Size()
	chunks := 1 << f.Int(v, "slot")
	slots := int(math.Pow(3, float64(f.Int(v, "slot"))))
	chunk := max(4, size) << f.Int(v, "chunk") // of words, which two values of int16 share
	return max(2*chunks*f.Int(v, "stages")*f.Int(v, "pairs")*(chunk+16), slots*chunk)
}

// Memory is the least memory of a device for n agents, in bytes.
func Memory(v *device.Variant, n int) int64 {
	size := int64(valueType(v).Size())
	half := size << max(0, n-1)
	return half + min(half, withBytes)
}

// Load loads a variant on a GPU.
func Load(d device.Device, v *device.Variant) (engine.LoadedVariant, error) {
	k, err := gencsg.LoadTiles(d, v)
	if err != nil {
		return nil, err
	}
	return &loaded{k, v}, nil
}

type loaded struct {
	*gencsg.TilesKernels
	variant *device.Variant
}

func (l *loaded) Engine(n int) engine.Engine {
	return &Engine{variant: l.variant, kernels: l.TilesKernels, n: n}
}

func (r *Engine) Alloc(d device.Device, _ device.Stream) (err error) {
	r.own = d
	facts := d.Facts()
	r.shared = SharedMemory(r.variant)
	r.blocks = int64(max(1, facts.SMs) * r.resident(facts))
	if r.f, err = d.Alloc(r.valueSize() * int64(r.half())); err != nil {
		return err
	}
	if r.room == 0 && facts.Free > 0 && facts.Free < r.valueSize()<<r.n+withBytes {
		r.room = withBytes
	}
	r.end = cmp.Or(r.end, r.half())
	if r.lower {
		r.from = r.end
	}
	r.piece = max(1, r.end-r.from)
	if r.room > 0 {
		r.piece = min(r.piece, uint64(r.room/r.valueSize()))
	}
	if r.with, err = d.Alloc(r.valueSize() * int64(r.piece)); err != nil {
		return err
	}
	bests := r.valueSize() * int64(1+(r.end-r.from+r.piece-1)/r.piece)
	if r.best, err = d.Alloc((bests + 3) / 4 * 4); err != nil { // kernels raise words, which two values of int16 share
		return err
	}
	r.found, err = d.Alloc(8)
	return err
}

// resident is how many blocks a multiprocessor runs at once: as registers, threads and
// shared memory allow.
func (r *Engine) resident(facts device.Facts) int {
	const registers = 1 << 16 // of a multiprocessor, from compute capability 3.0 on
	each := (max(32, r.kernels.Resources("level").Registers) + 7) / 8 * 8
	most := registers / (each * r.threads())
	if facts.ThreadsPerSM > 0 {
		most = min(most, facts.ThreadsPerSM/r.threads())
	}
	if facts.SharedPerBlock > 0 {
		most = min(most, int(facts.SharedPerBlock)/r.shared)
	}
	return max(1, most)
}

func (r *Engine) Free() error {
	return errors.Join(r.setDrawer(nil), engine.FreeAll(r.f, r.with, r.best, r.found))
}

// setDrawer sets what draws the next values, nil for values that are uploaded, and closes what drew the
// last ones.
func (r *Engine) setDrawer(by problem.Drawer) (err error) {
	if r.drawn != nil {
		err = r.drawn.Close()
	}
	r.drawn, r.upper = by, nil
	return err
}

// Draw has the device draw a law's values. Those of the last agent's coalitions are drawn now if
// they all fit, else a piece at a time when they are needed.
func (r *Engine) Draw(ctx context.Context, s device.Stream, law problem.Law) error {
	on, err := law.OpenDrawer(r.own)
	if err = errors.Join(err, r.setDrawer(on)); err != nil {
		return err
	}
	s = cancel.Stream{Stream: s, Context: ctx}
	if err := on.DrawInto(s, r.f, 0, r.half()); err != nil || r.piece < r.end-r.from {
		return err
	}
	return on.DrawInto(s, r.with, r.half()+r.from, r.end-r.from)
}

func (r *Engine) Upload(ctx context.Context, s device.Stream, values []byte) error {
	if err := r.setDrawer(nil); err != nil {
		return err
	}
	if r.lower {
		return cancel.Upload(ctx, s, r.f, 0, values)
	}
	half := len(values) / 2
	if err := cancel.Upload(ctx, s, r.f, 0, values[:half]); err != nil {
		return err
	}
	return r.uploadWith(ctx, s, values[half:])
}

// uploadWith sends the values of the last agent's blocks, by their other members.
func (r *Engine) uploadWith(ctx context.Context, s device.Stream, values []byte) error {
	values = values[int64(r.from)*r.valueSize() : int64(r.end)*r.valueSize()]
	if r.piece < r.end-r.from {
		r.upper = values
		return nil
	}
	return cancel.Upload(ctx, s, r.with, 0, values)
}

// launchWork is the number of splittings after which run waits for the device, so that
// a solve can be ended: a tenth of a second of a large GPU.
const launchWork = 1 << 40

func (r *Engine) Run(ctx context.Context, s device.Stream, progress engine.Progress) error {
	s = cancel.Stream{Stream: s, Context: ctx}
	if progress.From == 0 {
		if err := r.raiseTile0(s); err != nil {
			return err
		}
		if err := progress.FinishOn(s, 0); err != nil {
			return err
		}
	}
	p := pacing{report: progress.Report, pairs: levels.PairsBefore(r.highAgents(), progress.From)}
	progress.Report(levels.ShareOf(p.pairs, r.highAgents()))
	for size := max(1, progress.From); size <= r.highAgents(); size++ {
		if err := r.raiseLevel(s, size, 0, levels.Binomial(r.highAgents(), size), &p); err != nil {
			return err
		}
		if err := progress.FinishOn(s, size); err != nil {
			return err
		}
	}
	if r.lower {
		return nil
	}
	return r.raiseAllAgents(s)
}

func (r *Engine) Tables() ([]device.Device, []device.Buffer) {
	return []device.Device{r.own}, []device.Buffer{r.f}
}

func (r *Engine) SkipLastAgent() { r.lower = true }

// highAgents is the number of agents that tell tiles apart.
func (r *Engine) highAgents() int { return max(0, r.n-1-r.TileBits()) }

// raiseTile0 makes f of tile 0.
func (r *Engine) raiseTile0(s device.Stream) error {
	k := r.TileBits()
	one := device.Grid{Blocks: 1, Threads: r.threads(), Shared: int(r.valueSize()) << k}
	return r.kernels.Direct(s, one, r.f, uint64(min(k, r.n-1)))
}

// A pacing has a device wait now and then, and reports the share that is done.
type pacing struct {
	queued float64 // splittings since the device was waited for
	pairs  float64 // of tiles that were launched
	report func(share float64)
}

// raiseLevel makes f of the target tiles of ranks first to end-1 among those of a size.
func (r *Engine) raiseLevel(s device.Stream, size int, first, end int64, p *pacing) error {
	high, each := r.highAgents(), math.Pow(3, float64(r.TileBits()))
	for _, couple := range []uint64{0, 1} {
		pairs := int64(1)
		if couple == 0 {
			pairs = levels.PairsOf(size)
		}
		if pairs == 0 {
			continue
		}
		parts := levels.BlocksPerTarget(max(1, end-first), pairs, r.blocks)
		step := max(r.blocks, min(int64(launchWork/(each*float64(pairs))), engine.MaxBlocks/parts))
		for at := first; at < end; at += step {
			count := min(step, end-at)
			g := device.Grid{Blocks: count * parts, Threads: r.threads(), Shared: r.shared}
			if err := r.kernels.Level(s, g, r.f, uint64(high), uint64(size), uint64(at), uint64(parts), couple); err != nil {
				return fmt.Errorf("tiles of %d high members: %w", size, err)
			}
			p.pairs += float64(pairs) * float64(count)
			if p.queued += each * float64(pairs) * float64(count); p.queued < launchWork {
				continue
			}
			if err := s.Sync(); err != nil {
				return err
			}
			p.queued = 0
			if p.report != nil {
				p.report(levels.ShareOf(p.pairs, high))
			}
		}
	}
	return nil
}

// raiseAllAgents makes f of all agents, a piece of the last agent's blocks at a time.
func (r *Engine) raiseAllAgents(s device.Stream) error {
	low := slices.Repeat(lowestValue(r.value()), int(r.best.Len()/r.valueSize()))
	if err := s.Upload(r.best, 0, low); err != nil {
		return err
	}
	return r.eachPiece(s, func(number, first, count uint64, g device.Grid) error {
		return r.kernels.Last(s, g, r.f, r.with, first, count, uint64(r.n-1), r.best, number)
	})
}

// lastGrid covers a piece.
func (r *Engine) lastGrid() device.Grid {
	return device.Grid{Blocks: min((int64(r.piece)+int64(r.threads())-1)/int64(r.threads()), 8*r.blocks), Threads: r.threads()}
}

// eachPiece has each piece of the last agent's blocks on the device in turn.
func (r *Engine) eachPiece(s device.Stream, visit func(number, first, count uint64, g device.Grid) error) error {
	g := r.lastGrid()
	for first, number := r.from, uint64(1); first < r.end; first, number = first+r.piece, number+1 {
		count := min(r.piece, r.end-first)
		if r.upper != nil {
			from := r.upper[int64(first-r.from)*r.valueSize():]
			if err := s.Upload(r.with, 0, from[:int64(count)*r.valueSize()]); err != nil {
				return err
			}
		} else if r.drawn != nil && r.piece < r.end-r.from {
			if err := r.drawn.DrawInto(s, r.with, r.half()+first, count); err != nil {
				return err
			}
		}
		if err := visit(number, first, count, g); err != nil {
			return err
		}
	}
	return nil
}

// lowestValue returns the bytes of the smallest value of a type.
func lowestValue(t problem.Value) []byte {
	switch t {
	case problem.Int16:
		return device.Bytes([]int16{math.MinInt16})
	case problem.Int32:
		return device.Bytes([]int32{math.MinInt32})
	case problem.Int64:
		return device.Bytes([]int64{math.MinInt64})
	case problem.Float32:
		return device.Bytes([]float32{float32(math.Inf(-1))})
	}
	return device.Bytes([]float64{math.Inf(-1)})
}

func (r *Engine) Table() device.Buffer          { return r.f }
func (r *Engine) Total() (device.Buffer, int64) { return r.best, 0 }
func (r *Engine) Splittings() float64           { return reference.SplittingCount(reference.Apart, r.n) }

func (r *Engine) Split(s device.Stream, c uint64) (uint64, error) {
	if err := s.Fill(r.found, 0, 8, 0xff); err != nil {
		return 0, err
	}
	last := r.half()
	if c&last != 0 {
		if bits.OnesCount64(c) < r.n {
			return 0, nil // the last agent's block, which the splitting of all agents found
		}
		err := r.eachPiece(s, func(number, first, count uint64, g device.Grid) error {
			return r.kernels.Locate(s, g, r.f, r.with, first, count, uint64(r.n-1), r.best, r.found, number)
		})
		if err != nil {
			return 0, err
		}
		others, err := r.foundAt(s)
		if err != nil || others == noSplitting {
			return 0, err
		}
		return c &^ (others | last), nil
	}
	psi := uint64(1) << (bits.OnesCount64(c) - 1)
	per := uint64(gencsg.TilesRun * r.threads())
	g := device.Grid{Blocks: int64((psi + per - 1) / per), Threads: r.threads()}
	if err := r.kernels.Attain(s, g, r.f, r.found, c, psi); err != nil {
		return 0, err
	}
	number, err := r.foundAt(s)
	if err != nil || number == noSplitting {
		return 0, err
	}
	return engine.Deposit(number, c), nil
}

// nothing stands in found where a kernel finds no splitting.
const noSplitting = math.MaxUint64

func (r *Engine) foundAt(s device.Stream) (uint64, error) {
	var word [8]byte
	err := s.Download(word[:], r.found, 0)
	return engine.DecodeWord(word), err
}
