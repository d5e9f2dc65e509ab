package tiles

import (
	"context"
	"errors"
	"iter"
	"math/bits"
	"slices"

	"coalesce/runtime/collective"
	"coalesce/runtime/device"
	"coalesce/solvers/csg/internal/cancel"
	"coalesce/solvers/csg/internal/engine"
	"coalesce/solvers/csg/internal/levels"
	"coalesce/solvers/csg/internal/reference"
	"coalesce/solvers/csg/problem"
)

// Slabs run csg/tiles on several devices none of which has room for the table f. The
// table is cut into slabs by its high agents, and each device keeps a part of every slab. Slabs
// are computed in the order of their numbers, in a window of four places that each device holds
// whole; the kernels see the window as a table with two agents more than a slab has.
//
// Place 0 holds slab 0, of no high agents. A slab of one high agent is computed in place 1. A
// slab of several is computed in place 3, in one pass for each splitting of its high agents in
// two: the pass loads the slabs of the two parts into places 1 and 2, and the levels of place 3
// raise the slab by the sums of places 1 and 2, and of places 0 and 3. The sums with place 0 are
// final in the last pass; those of earlier passes are lower bounds of them.
//
// Bytes: a device sends its part of every slab that is loaded, and of every level of a pass.
type Slabs struct {
	Cut
	n      int
	window *Group
	own    []device.Buffer // of each device, its part of every slab
	values []byte          // of all coalitions, where the devices do not draw them
}

func (r *Slabs) Alloc(d device.Device, s device.Stream) error {
	for _, t := range r.window.parts {
		t.room = gatherBytes
	}
	if err := r.window.Alloc(d, s); err != nil {
		return err
	}
	r.own = make([]device.Buffer, len(r.window.parts))
	return r.onAll(func(k int, t *Engine, _ device.Stream) (err error) {
		r.own[k], err = r.window.group.Devices[k].Alloc(max(8, int64(t.end-t.from)*t.valueSize()<<r.Bits))
		return err
	})
}

func (r *Slabs) Free() error { return errors.Join(engine.FreeAll(r.own...), r.window.Free()) }

// onAll has all devices of this process work at once.
func (r *Slabs) onAll(work func(k int, t *Engine, s device.Stream) error) error {
	return collective.OnAll(len(r.window.parts), func(k int) error {
		return work(k, r.window.parts[k], r.window.group.Streams[k])
	})
}

// Upload keeps the values, of which each device gets its parts.
func (r *Slabs) Upload(ctx context.Context, _ device.Stream, values []byte) error {
	r.values = values
	return r.loadValues(ctx, func(*Engine) error { return nil })
}

// Draw has each device draw its parts.
func (r *Slabs) Draw(ctx context.Context, _ device.Stream, law problem.Law) error {
	return r.loadValues(ctx, func(t *Engine) error {
		by, err := law.OpenDrawer(t.own)
		if err != nil {
			return err
		}
		return t.setDrawer(by)
	})
}

// loadValues brings the values without the last agent to the devices' parts.
func (r *Slabs) loadValues(ctx context.Context, source func(t *Engine) error) error {
	return r.onAll(func(k int, t *Engine, s device.Stream) error {
		if err := source(t); err != nil {
			return err
		}
		for slab := range uint64(1) << r.Bits {
			err := r.eachPiece(k, cancel.Stream{Stream: s, Context: ctx}, slab, func(first, count uint64) error {
				return s.Copy(r.own[k], r.partOffset(t, slab)+int64(first-t.from)*t.valueSize(), t.with, 0, int64(count)*t.valueSize())
			})
			if err != nil {
				return err
			}
		}
		return s.Sync()
	})
}

// eachPiece has a device hold its part of the values of a slab in turn, count from first on. Slabs
// with the last agent follow those without.
func (r *Slabs) eachPiece(k int, s device.Stream, slab uint64, visit func(first, count uint64) error) error {
	t := r.window.parts[k]
	for first := t.from; first < t.end; first += t.piece {
		count, from := min(t.piece, t.end-first), slab<<r.Low+first
		var err error
		if t.drawn != nil {
			err = t.drawn.DrawInto(s, t.with, from, count)
		} else {
			err = s.Upload(t.with, 0, r.values[int64(from)*t.valueSize():][:int64(count)*t.valueSize()])
		}
		if err != nil {
			return err
		}
		if err := visit(first, count); err != nil {
			return err
		}
	}
	return nil
}

// partOffset is the byte of a device's own buffer where its part of a slab begins; placeOffset is the byte of
// the window where that part of a slab in a place begins.
func (r *Slabs) partOffset(t *Engine, slab uint64) int64 {
	return int64(slab*(t.end-t.from)) * t.valueSize()
}
func (r *Slabs) placeOffset(t *Engine, place int) int64 {
	return (int64(place)<<r.Low + int64(t.from)) * t.valueSize()
}

// load gathers a slab from the devices' parts into a place of every device's window.
func (r *Slabs) load(slab uint64, place int) error {
	err := r.onAll(func(k int, t *Engine, s device.Stream) error {
		return s.Copy(t.f, r.placeOffset(t, place), r.own[k], r.partOffset(t, slab), int64(t.end-t.from)*t.valueSize())
	})
	if err != nil {
		return err
	}
	bounds := []int64{}
	for _, first := range collective.SplitRows(1<<r.Low, r.window.group.Len()) {
		bounds = append(bounds, (int64(place)<<r.Low+int64(first))*r.window.parts[0].valueSize())
	}
	_, windows := r.window.Tables()
	return r.window.group.AllGather(windows, bounds)
}

// save copies the slab in a place back into the parts of this process's devices.
func (r *Slabs) save(slab uint64, place int) error {
	return r.onAll(func(k int, t *Engine, s device.Stream) error {
		return s.Copy(r.own[k], r.partOffset(t, slab), t.f, r.placeOffset(t, place), int64(t.end-t.from)*t.valueSize())
	})
}

// A pass says how the window is loaded for a slab: the place of that slab, and the number of
// the slab in place 1.
type pass struct {
	place int
	one   uint64
}

// passes loads the window for each pass of slab t in turn: t itself, and where t has several
// high agents the two slabs of a splitting.
func (r *Slabs) passes(t uint64) iter.Seq2[pass, error] {
	return func(yield func(pass, error) bool) {
		place := []int{0, 1, 3}[min(2, bits.OnesCount64(t))]
		err := r.load(t, place)
		if err != nil || place < 3 {
			yield(pass{place, t}, err)
			return
		}
		for part := range splittingsOf(t) {
			if err = r.load(part, 1); err == nil {
				err = r.load(t^part, 2)
			}
			if !yield(pass{place, part}, err) || err != nil {
				return
			}
		}
	}
}

func (r *Slabs) Run(ctx context.Context, _ device.Stream, progress engine.Progress) error {
	g := r.window
	streams, paces := make([]device.Stream, len(g.parts)), make([]pacing, len(g.parts))
	for k := range streams {
		streams[k] = cancel.Stream{Stream: g.group.Streams[k], Context: ctx}
	}
	work, _ := r.Work()
	done := 0.0
	for slab := range uint64(1) << r.Bits {
		place := 0
		for p, err := range r.passes(slab) {
			if err != nil {
				return err
			}
			place = p.place
			if err := r.raise(streams, paces, place); err != nil {
				return err
			}
			done += []float64{0.5, 1, 0, 2}[place]
			progress.Report(min(1, done/work))
		}
		if err := r.save(slab, place); err != nil {
			return err
		}
	}
	return r.raiseAllAgents(ctx)
}

// raise runs the levels of the tiles in a place of the window.
func (r *Slabs) raise(streams []device.Stream, paces []pacing, place int) error {
	g := r.window
	if place == 0 {
		if err := collective.OnAll(len(g.parts), func(k int) error { return g.parts[k].raiseTile0(streams[k]) }); err != nil {
			return err
		}
	}
	high := g.parts[0].highAgents() - 2
	for size := 1; size <= high+2; size++ {
		from, end := int64(0), levels.Binomial(high, size) // ranks of the place's targets
		switch place {
		case 1:
			from, end = end, levels.Binomial(high+1, size)
		case 3:
			from, end = levels.Binomial(high+1, size)+levels.Binomial(high, size-1), levels.Binomial(high+2, size)
		}
		if err := g.raiseLevel(streams, paces, size, from, end); err != nil {
			return err
		}
	}
	return nil
}

// raiseAllAgents computes f of all agents: it loads each slab in turn into place 0, and adds the values of
// the last agent's coalitions with the high agents that the slab lacks.
func (r *Slabs) raiseAllAgents(ctx context.Context) error {
	err := r.onAll(func(_ int, t *Engine, s device.Stream) error {
		return s.Upload(t.best, 0, slices.Repeat(lowestValue(t.value()), int(t.best.Len()/t.valueSize())))
	})
	if err != nil {
		return err
	}
	for slab := range uint64(1) << r.Bits {
		if err := r.load(slab, 0); err != nil {
			return err
		}
		err := r.onAll(func(k int, t *Engine, s device.Stream) error {
			s = cancel.Stream{Stream: s, Context: ctx}
			return r.eachPiece(k, s, r.complementOf(slab), func(first, count uint64) error {
				return t.kernels.Last(s, t.lastGrid(), t.f, t.with, first, count, uint64(r.Low), t.best, 1)
			})
		})
		if err != nil {
			return err
		}
	}
	return r.window.shareLargestTotal()
}

// complementOf is the number of the slab with the last agent and the high agents that `slab` lacks.
func (r *Slabs) complementOf(slab uint64) uint64 { return 2<<r.Bits - 1 - slab }

// Split loads the slabs of the parts of a coalition, pass by pass, until one holds a splitting
// whose values add up to f(c).
func (r *Slabs) Split(_ device.Stream, c uint64) (uint64, error) {
	if c>>(r.n-1) != 0 {
		return r.splitLast(c)
	}
	if err := r.load(0, 0); err != nil {
		return 0, err
	}
	high, low := c>>r.Low, uint64(1)<<r.Low-1
	for p, err := range r.passes(high) {
		if err != nil {
			return 0, err
		}
		part, err := r.window.parts[0].Split(r.window.group.Streams[0], c&low|uint64(p.place)<<r.Low)
		if err != nil {
			return 0, err
		}
		found := part & low
		if part>>r.Low&1 != 0 {
			found |= p.one << r.Low
		}
		if part>>r.Low&2 != 0 {
			found |= (high ^ p.one) << r.Low
		}
		if found != 0 {
			return found, nil
		}
	}
	return 0, nil
}

// splitLast finds the last agent's block of a best structure.
func (r *Slabs) splitLast(c uint64) (uint64, error) {
	if bits.OnesCount64(c) < r.n {
		return 0, nil // the last agent's block, which the splitting of all agents found
	}
	for slab := range uint64(1) << r.Bits {
		if err := r.load(slab, 0); err != nil {
			return 0, err
		}
		rest := make([]uint64, len(r.window.parts)) // by device: all agents but the block's; 0: no block found
		err := r.onAll(func(k int, t *Engine, s device.Stream) error {
			if err := s.Fill(t.found, 0, 8, 0xff); err != nil {
				return err
			}
			err := r.eachPiece(k, s, r.complementOf(slab), func(first, count uint64) error {
				return t.kernels.Locate(s, t.lastGrid(), t.f, t.with, first, count, uint64(r.Low), t.best, t.found, 1)
			})
			if err != nil {
				return err
			}
			at, err := t.foundAt(s)
			if at != noSplitting {
				rest[k] = c &^ (r.complementOf(slab)<<r.Low | at)
			}
			return err
		})
		if err != nil {
			return 0, err
		}
		all, err := r.window.group.GatherWords(slices.Max(rest))
		if found := slices.Max(all); err != nil || found != 0 {
			return found, err
		}
	}
	return 0, nil
}

// Note implements engine.Noter.
func (r *Slabs) Note() string { return r.Cut.String() }

func (r *Slabs) BytesSent() int64              { return r.window.BytesSent() }
func (r *Slabs) Table() device.Buffer          { return r.window.Table() }
func (r *Slabs) Total() (device.Buffer, int64) { return r.window.Total() }
func (r *Slabs) Splittings() float64 {
	work, least := r.Work()
	return reference.SplittingCount(reference.Apart, r.n) * work / least
}
