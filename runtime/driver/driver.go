//go:build cuda

package driver

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"sync"

	"gorgonia.org/cu"

	"coalesce/runtime/device"
)

// gpu is a device: the GPU's primary context, which libraries such as NCCL
// share, its modules, and the events that can be used again.
type gpu struct {
	dev  cu.Device
	code device.Code
	say  func(string)

	mu      sync.Mutex
	ctx     cu.CUContext
	closed  bool
	facts   device.Facts
	modules map[string]cu.Module // loaded images, by name
	loaded  map[uint64]cu.Module // the same by the hash of each variant that was asked for
	events  []cu.Event
	halves  []half        // pinned memory that no stream has
	peers   map[*gpu]bool // devices whose memory this one was given access to
}

var errClosed = errors.New("the device is closed")

// Count returns the number of GPUs that the driver shows.
func Count() (n int, err error) {
	shown, err := initialize()
	if shown {
		n, err = cu.NumDevices()
	}
	if err != nil {
		return 0, fmt.Errorf("count CUDA devices: %w", err)
	}
	return n, nil
}

// holder implements device.Images for a device: which variants code has an image of.
type holder struct {
	code         device.Code
	major, minor int
}

func (h *holder) CheckVariant(_ *device.Family, v *device.Variant) error {
	return h.code.CheckVariant(v.Hash, h.major, h.minor)
}

// Open takes the primary context of the GPU with that index; several devices
// may be open on one GPU and then share it. It fails where nothing of code runs on
// the GPU, or with its driver. say is called with a sentence about each wait
// that users wonder about; it may be nil.
func Open(index int, code device.Code, say func(string)) (device.Device, error) {
	n, err := Count()
	if err != nil {
		return nil, err
	}
	if index < 0 || index >= n {
		return nil, fmt.Errorf("open cuda:%d: there are %d CUDA devices, numbered from 0", index, n)
	}
	g := &gpu{code: code, say: say, modules: map[string]cu.Module{}, loaded: map[uint64]cu.Module{}, peers: map[*gpu]bool{}}
	if g.facts, err = readFacts(index); err != nil {
		return nil, err
	}
	if least, release := code.Needs(); cu.Version() < least {
		return nil, fmt.Errorf("open cuda:%d: the images need driver %s or newer (CUDA %d.%d), the driver is %s", index, release, least/1000, least%1000/10, g.facts.Driver)
	}
	if _, err := code.CheckCapability(g.facts.Major, g.facts.Minor); err != nil {
		return nil, fmt.Errorf("open cuda:%d, %s: %w", index, g.facts.Name, err)
	}
	g.facts.Compiler = code.Compiler()
	g.facts.Images = &holder{code, g.facts.Major, g.facts.Minor}
	if g.dev, err = cu.GetDevice(index); err != nil {
		return nil, fmt.Errorf("open cuda:%d: %w", index, err)
	}
	if g.ctx, err = g.dev.RetainPrimaryCtx(); err != nil {
		return nil, fmt.Errorf("open cuda:%d: take its context: %w", index, explain(err))
	}
	return g, nil
}

// enter makes the device's context current for the calling goroutine; leave
// undoes the lock. The context stays current on the OS thread, which harms no
// one: every method sets its own.
func (g *gpu) enter() error {
	runtime.LockOSThread()
	if err := cu.SetCurrentContext(g.ctx); err != nil {
		runtime.UnlockOSThread()
		return fmt.Errorf("enter the context of %s: %w", g.facts, explain(err))
	}
	return nil
}

func unlockThread() { runtime.UnlockOSThread() }

func (g *gpu) Facts() device.Facts {
	g.mu.Lock()
	defer g.mu.Unlock()
	f := g.facts
	if g.closed || g.enter() != nil {
		return f
	}
	defer unlockThread()
	if free, _, err := cu.MemInfo(); err == nil {
		f.Free = free
	}
	return f
}

// Close gives back the context, and with the last device on the GPU all that
// lives in it.
func (g *gpu) Close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil
	}
	g.closed = true
	clear(g.peers)
	free := g.enter()
	if free == nil {
		free = errors.Join(g.freeHalves(), g.unload())
		unlockThread()
	}
	if err := errors.Join(free, g.dev.ReleasePrimaryCtx()); err != nil {
		return fmt.Errorf("close %s: %w", g.facts, explain(err))
	}
	return nil
}

// Attributes that cu v0.9.6 has no name for (cuda.h, CUdevice_attribute).
const sharedPerBlockOptin cu.DeviceAttribute = 97

// unsupportedPTX is CUDA_ERROR_UNSUPPORTED_PTX_VERSION, likewise.
const unsupportedPTX = cu.Success + 222

func readFacts(index int) (device.Facts, error) {
	f := device.Facts{Kind: device.CUDA, Index: index}
	d, err := cu.GetDevice(index)
	if err != nil {
		return f, fmt.Errorf("facts of cuda:%d: %w", index, err)
	}
	if f.Name, err = d.Name(); err != nil {
		return f, fmt.Errorf("name of cuda:%d: %w", index, err)
	}
	if f.Memory, err = d.TotalMem(); err != nil {
		return f, fmt.Errorf("memory of cuda:%d: %w", index, err)
	}
	var shared, l2 int
	for _, a := range []struct {
		to   *int
		attr cu.DeviceAttribute
	}{
		{&f.Major, cu.ComputeCapabilityMajor},
		{&f.Minor, cu.ComputeCapabilityMinor},
		{&f.SMs, cu.MultiprocessorCount},
		{&f.ThreadsPerSM, cu.MaxThreadsPerMultiprocessor},
		{&f.ThreadsPerBlock, cu.MaxThreadsPerBlock},
		{&shared, sharedPerBlockOptin},
		{&l2, cu.L2CacheSize},
	} {
		if *a.to, err = d.Attribute(a.attr); err != nil {
			return f, fmt.Errorf("attribute %d of cuda:%d: %w", a.attr, index, err)
		}
	}
	f.SharedPerBlock, f.L2 = int64(shared), int64(l2)
	clock, memoryClock, busWidth := attributeOf(d, cu.ClockRate), attributeOf(d, cu.MemoryClockRate), attributeOf(d, cu.GlobalMemoryBusWidth)
	f.Clock = 1000 * clock
	f.Bandwidth = 2 * 1000 * memoryClock * busWidth / 8 // two transfers a clock
	f.Driver = driverVersion()
	if id, err := d.UUID(); err == nil {
		f.UUID = "GPU-" + id.String()
	}
	return f, nil
}

// attributeOf is an attribute that a driver may leave out: 0 where it does.
func attributeOf(d cu.Device, attribute cu.DeviceAttribute) int64 {
	n, err := d.Attribute(attribute)
	if err != nil {
		return 0
	}
	return int64(n)
}

var kernelModule = regexp.MustCompile(`Kernel Module.*?\s(\d+(?:\.\d+)+)`)

// driverVersion is "580.95.05 (CUDA 13.0)", or its second half where the
// kernel does not say.
func driverVersion() string {
	v := cu.Version()
	s := fmt.Sprintf("CUDA %d.%d", v/1000, v%1000/10)
	text, err := os.ReadFile("/proc/driver/nvidia/version")
	if m := kernelModule.FindSubmatch(text); err == nil && m != nil {
		return fmt.Sprintf("%s (%s)", m[1], s)
	}
	return s
}

// explain adds the meaning to the more common errors of the driver, and marks errors after which
// the context is of no use.
func explain(err error) error {
	switch err {
	case cu.IllegalAddress, cu.LaunchTimeout, cu.HardwareStackError, cu.IllegalInstruction, cu.MisalignedAddress,
		cu.InvalidAddressSpace, cu.InvalidPc, cu.LaunchFailed, cu.EccUncorrectable, cu.Assert:
		return lost{meaning(err)}
	}
	return meaning(err)
}

// A lost error is also a device.ErrLost.
type lost struct{ error }

func (l lost) Unwrap() []error { return []error{l.error, device.ErrLost} }

func meaning(err error) error {
	hint := ""
	switch err {
	case cu.OutOfMemory:
		return fmt.Errorf("%w (%w)", device.ErrMemory, err)
	case cu.NoBinaryForGpu:
		hint = "the image has no code for this GPU: scripts/build-cuda --arch builds one that has"
	case cu.IllegalAddress:
		hint = "a kernel read or wrote outside its buffers; the context is lost"
	case cu.LaunchOutOfResources:
		hint = "the kernel needs more registers or shared memory than the block size leaves"
	case cu.CooperativeLaunchTooLarge:
		hint = "more blocks than the device holds at once"
	case cu.InvalidPtx, unsupportedPTX:
		hint = "the driver is older than the compiler that made the image"
	case cu.EccUncorrectable:
		hint = "the GPU's memory has a fault"
	default:
		return err
	}
	return fmt.Errorf("%w (%s)", err, hint)
}
