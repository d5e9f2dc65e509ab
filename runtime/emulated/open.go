// Package emulated is a device without a GPU: it compiles the generated CUDA
// text with a C++ compiler against a header that supplies the built-ins, and
// runs it in a child process, each CUDA thread a fiber.
//
// It is slow and exact. Blocks run one after the other in a permuted order;
// threads that can run are picked at random (from Options.Seed) at every
// barrier and warp operation, so that a missing barrier shows. Fresh buffers,
// shared memory at each block's start and local variables are filled with a
// pattern, so that reading what was never written shows. Under Options.Sanitize
// the address and undefined-behaviour sanitizers watch every access.
//
// The blocks of a cooperative launch are all alive at once and take turns, so
// that they can wait for one another; a wait that nothing can end is reported
// with the place of every thread. Several devices may be open, each with a
// child of its own; copies between them go through this process.
package emulated

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"coalesce/runtime/device"
)

//go:embed cxx/*.h cxx/*.cc
var sources embed.FS

// ErrNoCompiler is wrapped when emulation is not possible on this machine.
var ErrNoCompiler = errors.New("no C++ compiler for the emulated device")

// ErrCrash is wrapped when a kernel brought the child process down; the
// error's text holds the head of the sanitizer's report. The device is of no
// use afterwards; another can be opened.
var ErrCrash error = lost("the emulated device crashed")

// ErrTimeout is wrapped when a launch ran longer than Options.Timeout and the
// child was killed. The device is of no use afterwards.
var ErrTimeout error = lost("the launch did not end in time")

// A lost error is one that leaves no device behind.
type lost string

func (l lost) Error() string { return string(l) }

// Unwrap makes each of them a device.ErrLost.
func (lost) Unwrap() error { return device.ErrLost }

// ErrSchedule is wrapped when threads cannot go on: not all reach a barrier or
// warp operation, or they meet at different ones. The device lives on.
var ErrSchedule = errors.New("the threads cannot go on")

// Options of the emulated device; the zero value is of use, except for Files
// where kernels include shared headers.
type Options struct {
	// Index is the device's number where several are open: Facts.Index.
	Index int
	// Cache is the folder of compiled objects; by default a folder of the
	// user's cache. Objects are named by the hash of all that made them.
	Cache string
	// Sanitize compiles with the address and undefined-behaviour sanitizers.
	Sanitize bool
	// Seed picks the schedule. The same seed and calls give the same run.
	Seed uint64
	// Files holds what CUDA texts include, headers and bodies of kernels: the templates folder. A family's own
	// Headers lie over them.
	Files fs.FS
	// Whole compiles a whole pack at once instead of the one variant asked for.
	Whole bool
	// Timeout bounds one launch; 0 means 60 s.
	Timeout time.Duration
	// Memory bounds the bytes allocated at a time; 0 means 1 GiB.
	Memory int64
	// Compiler is the command to use; by default the first of g++, c++ and
	// clang++ on the path.
	Compiler string
}

// Device is the emulated device.
type Device struct {
	*Compiler
	child *child

	mu       sync.Mutex
	used     int64
	launches uint64
}

// Open compiles the child once (cached) and starts it.
func Open(opts Options) (device.Device, error) {
	d, err := open(opts)
	if err != nil {
		return nil, fmt.Errorf("open the emulated device: %w", err)
	}
	return d, nil
}

// NewCompiler makes a compiler; of the options it ignores those of launches and memory.
func NewCompiler(opts Options) (*Compiler, error) {
	if runtime.GOOS != "linux" {
		return nil, fmt.Errorf("%w: emulation needs Linux, this is %s", ErrNoCompiler, runtime.GOOS)
	}
	if opts.Cache == "" {
		dir, err := os.UserCacheDir()
		if err != nil {
			dir = os.TempDir()
		}
		opts.Cache = filepath.Join(dir, "coalesce", "emulated")
	}
	cache, err := filepath.Abs(opts.Cache)
	if err != nil {
		return nil, err
	}
	opts.Cache = cache
	tools, err := newToolchain(opts)
	if err != nil {
		return nil, err
	}
	server, err := tools.compileServer()
	if err == nil {
		err = tools.precompile()
	}
	return &Compiler{opts, tools, server}, err
}

func open(opts Options) (*Device, error) {
	if opts.Timeout <= 0 {
		opts.Timeout = time.Minute
	}
	if opts.Memory <= 0 {
		opts.Memory = 1 << 30
	}
	compiler, err := NewCompiler(opts)
	if err != nil {
		return nil, err
	}
	pruneCache(compiler.opts.Cache, 4096)
	c, err := startChild(compiler.server)
	if err != nil {
		return nil, err
	}
	return &Device{Compiler: compiler, child: c}, nil
}

// Facts describes a small machine of compute capability 9.0.
func (d *Device) Facts() device.Facts {
	d.mu.Lock()
	defer d.mu.Unlock()
	return device.Facts{
		Kind: device.Emulated, Index: d.opts.Index, Name: "emulated CUDA", Major: 9, SMs: multiprocessors,
		Memory: d.opts.Memory, Free: d.opts.Memory - d.used,
		SharedPerBlock: sharedPerBlock, L2: 1 << 20, ThreadsPerSM: threadsPerSM, ThreadsPerBlock: maxThreads,
		Driver: d.tools.version,
	}
}

// Close ends the child; buffers and modules are gone with it.
func (d *Device) Close() error { return d.child.close() }
