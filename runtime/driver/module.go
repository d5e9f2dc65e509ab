//go:build cuda

package driver

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"unsafe"

	"gorgonia.org/cu"

	"coalesce/runtime/device"
)

// module is a variant of a loaded pack.
type module struct {
	g      *gpu
	img    cu.Module
	family *device.Family
	v      *device.Variant
}

// kernel is an entry point with its signature, to check launches by.
type kernel struct {
	g      *gpu
	fn     cu.Function
	name   string
	params []device.Param
	res    device.Resources
	shared int // most dynamic shared memory of a block, bytes
}

func (g *gpu) Load(f *device.Family, v *device.Variant) (device.Module, error) {
	if f.Target != device.CUDA {
		return nil, fmt.Errorf("load %s: its target is %s, and this device is %s", f.Name, f.Target, g.facts)
	}
	if v.Pack < 0 || v.Pack >= len(f.Packs) {
		return nil, fmt.Errorf("load %s %s: pack %d of %d", f.Name, v.Label, v.Pack, len(f.Packs))
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil, errClosed
	}
	if err := g.enter(); err != nil {
		return nil, err
	}
	defer unlockThread()
	img, err := g.image(f, v)
	if err != nil {
		return nil, fmt.Errorf("load %s %s: %w", f.Name, v.Label, err)
	}
	if err := checkHash(img, v); err != nil {
		return nil, fmt.Errorf("load %s %s: %w", f.Name, v.Label, err)
	}
	return &module{g: g, img: img, family: f, v: v}, nil
}

// image loads the image of a variant, or finds it loaded. Modules of the variants that
// it holds share it, and it stays until the device is closed: loading takes
// milliseconds, and the next solve asks for it again.
func (g *gpu) image(f *device.Family, v *device.Variant) (cu.Module, error) {
	if img, loaded := g.loaded[v.Hash]; loaded {
		return img, nil
	}
	name, data, byPTX, err := g.code.Image(v.Hash, g.facts.Major, g.facts.Minor)
	if err != nil {
		return cu.Module{}, err
	}
	img, loaded := g.modules[name]
	if !loaded {
		if byPTX && g.say != nil {
			g.say(fmt.Sprintf("no image is for compute capability %d.%d: the driver compiles %s, which takes seconds to minutes the first time, and keeps the result",
				g.facts.Major, g.facts.Minor, f.Name))
		}
		if img, err = cu.LoadData(string(data)); err != nil {
			return cu.Module{}, fmt.Errorf("image %s (%d bytes): %w", name, len(data), explain(err))
		}
		g.modules[name] = img
	}
	g.loaded[v.Hash] = img
	return img, nil
}

// unload gives back the images.
func (g *gpu) unload() error {
	var errs []error
	for _, img := range g.modules {
		if err := img.Unload(); err != nil {
			errs = append(errs, fmt.Errorf("unload an image: %w", explain(err)))
		}
	}
	clear(g.modules)
	clear(g.loaded)
	return errors.Join(errs...)
}

// checkHash compares the hash that the image carries for a variant with the
// one that the bindings expect.
func checkHash(img cu.Module, v *device.Variant) error {
	ptr, n, err := img.Global(v.Symbol + "_hash")
	if err != nil {
		return fmt.Errorf("the image has no %s_hash, run go generate ./... again: %w", v.Symbol, explain(err))
	}
	var raw [8]byte
	if n != int64(len(raw)) {
		return fmt.Errorf("%s_hash has %d bytes, not 8", v.Symbol, n)
	}
	if err := cu.MemcpyDtoH(unsafe.Pointer(&raw), ptr, n); err != nil {
		return fmt.Errorf("read %s_hash: %w", v.Symbol, explain(err))
	}
	if got := binary.LittleEndian.Uint64(raw[:]); got != v.Hash {
		return fmt.Errorf("the image carries hash %016x, and the bindings expect %016x: run go generate ./... and build again", got, v.Hash)
	}
	return nil
}

// Close does nothing: the image stays for others.
func (m *module) Close() error { return nil }

func (m *module) Kernel(entry string) (device.Kernel, error) {
	e := m.family.Entry(entry)
	if e == nil {
		return nil, fmt.Errorf("%s of %s %s: %w", entry, m.family.Name, m.v.Label, device.ErrNoEntry)
	}
	m.g.mu.Lock()
	defer m.g.mu.Unlock()
	if m.g.closed {
		return nil, errClosed
	}
	if err := m.g.enter(); err != nil {
		return nil, err
	}
	defer unlockThread()
	name := m.v.Symbol + "_" + entry
	fn, err := m.img.Function(name)
	if err == cu.NotFound {
		return nil, fmt.Errorf("%s of %s %s: %w", entry, m.family.Name, m.v.Label, device.ErrNoEntry)
	}
	if err != nil {
		return nil, fmt.Errorf("find %s: %w", name, explain(err))
	}
	k := &kernel{g: m.g, fn: fn, name: name, params: e.Params}
	for _, a := range []struct {
		to   *int
		attr cu.FunctionAttribute
	}{
		{&k.res.Registers, cu.NumRegs},
		{&k.res.Shared, cu.SharedSizeBytes},
		{&k.res.Local, cu.LocalSizeBytes},
		{&k.res.MaxThreads, cu.FnMaxThreadsPerBlock},
	} {
		if *a.to, err = fn.Attribute(a.attr); err != nil {
			return nil, fmt.Errorf("attribute %d of %s: %w", a.attr, name, explain(err))
		}
	}
	k.shared = max(0, int(m.g.facts.SharedPerBlock)-k.res.Shared)
	if err := allowShared(fn, k.shared); err != nil {
		return nil, fmt.Errorf("allow %s %d bytes of shared memory: %w", name, k.shared, explain(err))
	}
	// A family whose blocks have a size of their own calls it block.
	if threads, err := strconv.Atoi(m.family.Value(m.v, "block")); err == nil && threads > 0 && threads <= k.res.MaxThreads {
		if k.res.BlocksPerSM, err = fn.MaxActiveBlocksPerMultiProcessor(threads, 0); err != nil {
			return nil, fmt.Errorf("occupancy of %s: %w", name, explain(err))
		}
		// And one whose blocks form clusters calls their size cluster.
		if size, err := strconv.Atoi(m.family.Value(m.v, "cluster")); err == nil && size > 1 {
			if k.res.Clusters, err = clusters(fn, size, threads); err != nil {
				return nil, fmt.Errorf("occupancy of clusters of %s: %w", name, explain(err))
			}
		}
	}
	return k, nil
}

func (k *kernel) Resources() device.Resources { return k.res }

func (k *kernel) BlocksPerSM(threads, shared int) (int, error) {
	if threads < 1 || threads > k.res.MaxThreads || shared < 0 || shared > k.shared {
		return 0, nil
	}
	k.g.mu.Lock()
	defer k.g.mu.Unlock()
	if k.g.closed {
		return 0, errClosed
	}
	if err := k.g.enter(); err != nil {
		return 0, err
	}
	defer unlockThread()
	n, err := k.fn.MaxActiveBlocksPerMultiProcessor(threads, int64(shared))
	if err != nil {
		return 0, fmt.Errorf("occupancy of %s: %w", k.name, explain(err))
	}
	return n, nil
}
