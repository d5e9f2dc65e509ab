// Package engine is the interface by which a solve runs a family of kernels, whatever the family: an
// engine has the memory of one instance on a device, or on several, and computes f, the value of every
// coalition's best partition. Solve runs an engine and rebuilds an optimal structure from f.
package engine

import (
	"context"
	"fmt"
	"math/bits"

	"coalesce/runtime/device"
	"coalesce/solvers/csg/internal/cancel"
	"coalesce/solvers/csg/problem"
)

// A LoadedVariant is a variant that is loaded on its devices. Each family has one of its own.
type LoadedVariant interface {
	// Engine is an engine for n agents, which has no memory yet.
	Engine(n int) Engine
	Close() error
}

// An Engine runs a variant in device memory for n agents. Each family has an engine of its own.
type Engine interface {
	// Alloc takes the memory; Free gives back what Alloc got, also after it
	// failed.
	Alloc(d device.Device, s device.Stream) error
	Free() error
	// Upload sends v, by bit mask, in pieces, so that ctx can end it.
	Upload(ctx context.Context, s device.Stream, values []byte) error
	// Run enqueues every launch, and may wait for the first of them. It calls the functions of p
	// when levels are finished. Once ctx has ended it launches nothing more.
	Run(ctx context.Context, s device.Stream, p Progress) error
	// Table returns the buffer f; after Run, Total returns where f(A) is, the value of all agents.
	Table() device.Buffer
	Total() (device.Buffer, int64)
	// Split returns one part of a splitting of c whose values add up to f(c), 0 where c is a block.
	Split(s device.Stream, c uint64) (uint64, error)
	// Splittings is the number of splittings a run evaluates.
	Splittings() float64
}

// A Drawing is an engine that can have the values drawn on its devices: Draw queues that.
type Drawing interface {
	Engine
	Draw(ctx context.Context, s device.Stream, law problem.Law) error
}

// A Tiler is an engine whose table is finished level by level, in tiles.
type Tiler interface {
	Engine
	// TileBits is the number of agents of a tile.
	TileBits() int
	// Tables returns the tables f of a group's devices or of one GPU. On a host there are no
	// devices, and one table.
	Tables() ([]device.Device, []device.Buffer)
}

// A Coverer is an engine that can skip the coalitions with the last agent. Opened for one agent
// more than an instance has, it computes f for all coalitions of the instance's agents.
type Coverer interface {
	Engine
	// SkipLastAgent is called before Alloc. Upload then takes half of the values, and Run
	// ends without a total.
	SkipLastAgent()
}

// A Sender counts the bytes that it has sent to other devices or ranks.
type Sender interface{ BytesSent() int64 }

// BytesSent is the number of bytes that an engine, or a group of ranks, has sent to other devices or ranks so far.
func BytesSent(e any) int64 {
	if s, ok := e.(Sender); ok {
		return s.BytesSent()
	}
	return 0
}

// A Noter is an engine whose users have to know something about its work.
type Noter interface{ Note() string }

// MaxBlocks is the most blocks of one launch.
const MaxBlocks = 1<<31 - 1

// FreeAll frees buffers, nil ones left out; the first error is returned.
func FreeAll(all ...device.Buffer) error {
	var first error
	for _, b := range all {
		if b == nil {
			continue
		}
		if err := b.Free(); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// UploadValues puts an instance's values into an engine's memory. Where this machine does not hold them
// and the engine can draw, the devices draw them.
func UploadValues(ctx context.Context, e Engine, s device.Stream, inst *problem.Instance) error {
	if on, ok := e.(Drawing); ok && !inst.HoldsValues() {
		return on.Draw(ctx, s, inst.Law)
	}
	inst.DrawValues()
	return e.Upload(ctx, s, inst.Bytes())
}

// Solve runs an engine on values that were sent, and returns an optimal structure and the total that
// the kernels claim, in decimals. p is passed to Run.
func Solve(ctx context.Context, e Engine, s device.Stream, inst *problem.Instance, p Progress) (problem.Structure, string, error) {
	if err := e.Run(ctx, s, p); err != nil {
		return nil, "", err
	}
	var err error
	if inst.N <= cancel.FewAgents {
		err = s.Sync()
	} else {
		err = cancel.Wait(ctx, s)
	}
	if err != nil {
		return nil, "", err
	}
	p.Report(1)
	claimed, err := DownloadTotal(e, s, inst.Type)
	if err != nil {
		return nil, "", err
	}
	blocks, err := Structure(e, s, inst)
	return blocks, claimed, err
}

// DownloadTotal downloads f(A) after a run, in decimals.
func DownloadTotal(e Engine, s device.Stream, t problem.Value) (string, error) {
	b, off := e.Total()
	size := t.Size()
	var word [8]byte
	if err := s.Download(word[:size], b, off*int64(size)); err != nil {
		return "", err
	}
	_, claimed := Decode(t, DecodeWord(word))
	return claimed, nil
}

// Structure rebuilds an optimal structure from f (Algorithm 2): at most n-1
// coalitions are split again.
func Structure(e Engine, s device.Stream, inst *problem.Instance) (problem.Structure, error) {
	blocks := problem.Structure{}
	if inst.N == 0 {
		return blocks, nil
	}
	open := []uint64{inst.GrandCoalition()}
	for len(open) > 0 {
		c := open[len(open)-1]
		open = open[:len(open)-1]
		part := uint64(0)
		if bits.OnesCount64(c) > 1 {
			var err error
			if part, err = e.Split(s, c); err != nil {
				return nil, err
			}
			if part&^c != 0 || part == c {
				return nil, fmt.Errorf("coalition %#x was split into %#x", c, part)
			}
		}
		if part == 0 {
			blocks = append(blocks, c)
		} else {
			open = append(open, part, c^part)
		}
	}
	return blocks, nil
}
