package csg

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"unsafe"

	gencsg "coalesce/generated/csg"
	"coalesce/runtime/collective"
	"coalesce/runtime/device"
	"coalesce/solvers/csg/internal/cancel"
	"coalesce/solvers/csg/internal/levels"
	"coalesce/solvers/csg/problem"
)

// An engine runs a variant in device memory for n agents. Each family has an engine of its own.
type engine interface {
	// alloc takes the memory; free gives back what alloc got, also after it
	// failed.
	alloc(d device.Device, s device.Stream) error
	free() error
	// upload sends v, by bit mask, in pieces, so that ctx can end it.
	upload(ctx context.Context, s device.Stream, values []byte) error
	// run enqueues every launch, and may wait for the first of them. It calls the functions of w
	// when levels are finished. Once ctx has ended it launches nothing more.
	run(ctx context.Context, s device.Stream, w levels.Follow) error
	// table returns the buffer f; after run, total returns where f(A) is, the value of all agents.
	table() device.Buffer
	total() (device.Buffer, int64)
	// split returns one part of a splitting of c whose values add up to f(c), 0 where c is a block.
	split(s device.Stream, c uint64) (uint64, error)
	// splittings is the number of splittings a run evaluates.
	splittings() float64
}

// A drawing engine can have the values drawn on its devices: draw queues that.
type drawing interface {
	draw(ctx context.Context, s device.Stream, law problem.Law) error
}

// A sender counts the bytes that it has sent to other devices or ranks.
type sender interface{ Sent() int64 }

// sent is the number of bytes that an engine has sent to other devices or ranks so far.
func sent(e engine) int64 {
	if s, ok := e.(sender); ok {
		return s.Sent()
	}
	return 0
}

// A runner is a loaded variant.
type runner struct {
	device  device.Device
	family  *device.Family
	variant *device.Variant
	module  interface{ Close() error }
	ranks   collective.Ranks
	engine  func(n int) engine
}

// openAll loads a variant on the devices of a solve.
func openAll(o Options, f *device.Family, v *device.Variant) (*runner, error) {
	together := o.Together() > 1
	if f == &gencsg.Tiles && (len(o.Devices) > 1 || together) {
		return openGroup(o.Devices, o.Ranks, v)
	}
	r, err := open(o.Devices[0], f, v)
	if err != nil || !together {
		return r, err
	}
	r.ranks = o.Ranks
	alone := r.engine
	r.engine = func(n int) engine {
		e := alone(n)
		e.(*hosttiles).ranks = o.Ranks
		return e
	}
	return r, nil
}

func open(d device.Device, f *device.Family, v *device.Variant) (*runner, error) {
	r := &runner{device: d, family: f, variant: v}
	if f.Target == device.Host {
		k, err := gencsg.LoadHosttiles(d, v)
		if err != nil {
			return nil, err
		}
		r.module = k
		r.engine = func(n int) engine { return &hosttiles{family: f, variant: v, kernels: k, n: n} }
		return r, nil
	}
	if f == &gencsg.Tiles {
		k, err := gencsg.LoadTiles(d, v)
		if err != nil {
			return nil, err
		}
		r.module = k
		r.engine = func(n int) engine { return &tiles{family: f, variant: v, kernels: k, n: n} }
		return r, nil
	}
	k, err := gencsg.LoadSplits(d, v)
	if err != nil {
		return nil, err
	}
	r.module = k
	r.engine = func(n int) engine { return &splits{family: f, variant: v, kernels: k, n: n} }
	return r, nil
}

func (r *runner) Close() error { return r.module.Close() }

// A job is a variant with the memory of one instance.
type job struct {
	engine
	by     *runner
	inst   *Instance
	own    device.Stream // the job's own, closed with it
	stream device.Stream // takes the work: own, or the tuner's
}

func (r *runner) prepare(inst *Instance) (*job, error) {
	s, err := r.device.NewStream()
	if err != nil {
		return nil, err
	}
	j := &job{engine: r.engine(inst.N), by: r, inst: inst, own: s, stream: s}
	if err := j.alloc(r.device, s); err != nil {
		j.Close()
		return nil, err
	}
	return j, nil
}

// send puts the instance's values into the device's memory. Where this machine does not hold them
// and the engine can draw, the device draws them.
func (j *job) send(ctx context.Context) error {
	if on, ok := j.engine.(drawing); ok && !j.inst.Held() {
		return on.draw(ctx, j.stream, j.inst.Law)
	}
	j.inst.Hold()
	return j.upload(ctx, j.stream, j.inst.Bytes())
}

func (j *job) Close() error {
	err := j.free()
	if e := j.own.Close(); err == nil {
		err = e
	}
	return err
}

// solve runs the variant on values that were uploaded, sets the structure and returns the total
// that the kernels claim. w is passed to run.
func (j *job) solve(ctx context.Context, r *Result, w levels.Follow) (string, error) {
	if err := j.run(ctx, j.stream, w); err != nil {
		return "", err
	}
	if err := cancel.Wait(ctx, j.stream); err != nil {
		return "", err
	}
	w.Share(1)
	word, err := j.totalBits()
	if err != nil {
		return "", err
	}
	if r.Structure, err = j.structure(); err != nil {
		return "", err
	}
	r.Splittings = j.splittings()
	_, claimed := decode(j.inst.Type, word)
	return claimed, nil
}

// freeAll frees buffers, nil ones left out; the first error is returned.
func freeAll(all ...device.Buffer) error {
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

// structure rebuilds an optimal structure from f (Algorithm 2): at most n-1
// coalitions are split again.
func (j *job) structure() (Structure, error) {
	blocks := Structure{}
	if j.inst.N == 0 {
		return blocks, nil
	}
	open := []uint64{j.inst.Grand()}
	for len(open) > 0 {
		c := open[len(open)-1]
		open = open[:len(open)-1]
		part := uint64(0)
		if bits.OnesCount64(c) > 1 {
			var err error
			if part, err = j.split(j.stream, c); err != nil {
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

// totalBits downloads f(A), as its bits.
func (j *job) totalBits() (uint64, error) {
	b, off := j.total()
	size := j.inst.Type.Size()
	var word [8]byte
	if err := j.stream.Download(word[:size], b, off*int64(size)); err != nil {
		return 0, err
	}
	return wordOf(word), nil
}

// decode reads the bits of a value of a type as a float64 and as decimals.
func decode(t Value, word uint64) (float64, string) {
	switch t {
	case Int16:
		return float64(int16(word)), fmt.Sprint(int16(word))
	case Int32:
		return float64(int32(word)), fmt.Sprint(int32(word))
	case Int64:
		return float64(int64(word)), fmt.Sprint(int64(word))
	case Float32:
		x := math.Float32frombits(uint32(word))
		return float64(x), problem.FormatFloat(float64(x), 32)
	}
	x := math.Float64frombits(word)
	return x, problem.FormatFloat(x, 64)
}

func wordOf(b [8]byte) uint64 { return binary.NativeEndian.Uint64(b[:]) }

// wordBytes is the memory of a list of 32-bit words, not a copy.
func wordBytes(list []uint32) []byte {
	if len(list) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&list[0])), 4*len(list))
}
