// Package device has the interfaces of a device: facts, buffers, streams, events
// and launches. Everything above it (bindings, solvers, the tuner) is written
// once and runs on the three implementations:
//
//   - runtime/driver    an NVIDIA GPU, build tag cuda
//   - runtime/host      goroutines running generated Go kernels
//   - runtime/emulated  the generated CUDA text, compiled for the CPU
//
// The package holds no device of its own and does no work at start-up.
package device

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// ABI is the version of the agreement between generated bindings, generated host kernels and
// drivers: argument slots of 8 bytes, the variant table and the signature of a host kernel.
// Generated code asserts it at compile time.
const ABI = 1

// Kinds of device, as users type them before an optional ":index".
const (
	CUDA     = "cuda"
	Host     = "host"
	Emulated = "emulated"
)

// Facts describe a device. Sizes are in bytes; zero means not known or not
// applicable (a host has no multiprocessors).
type Facts struct {
	Kind            string `json:"kind"`             // CUDA, Host or Emulated
	Index           int    `json:"index"`            // which of its kind
	Name            string `json:"name"`             // "NVIDIA H200", the processor's name
	Major           int    `json:"major"`            // compute capability
	Minor           int    `json:"minor"`            //
	Instructions    string `json:"instructions"`     // vector instructions that a host's kernels use, such as avx2; empty on other devices
	SMs             int    `json:"sms"`              // multiprocessors; cores on a host
	Memory          int64  `json:"memory"`           // total device memory
	Free            int64  `json:"free"`             // free when the facts were read
	SharedPerBlock  int64  `json:"shared_per_block"` // most shared memory a block may use
	L2              int64  `json:"l2"`
	Clock           int64  `json:"clock,omitempty"`     // of multiprocessors in Hz, the highest
	Bandwidth       int64  `json:"bandwidth,omitempty"` // of device memory in bytes a second, the most
	ThreadsPerSM    int    `json:"threads_per_sm"`
	ThreadsPerBlock int    `json:"threads_per_block"`
	Driver          string `json:"driver"`
	UUID            string `json:"uuid"` // provenance only, never part of a key
	// FreeBy is the limit on this process's memory that leaves no more than Free; empty: the device itself has no more.
	FreeBy string `json:"-"`
	// Compiler of the images that the device loads, its version and flags. Times of
	// kernels that another one compiled tell nothing. Empty: not known, or no images.
	Compiler string `json:"compiler,omitempty"`

	Images Images `json:"-"` // the variants that the device can load; nil: all
}

// Images says which variants have code that a device loads.
type Images interface {
	// CheckVariant says why a variant cannot be loaded; nil where it can.
	CheckVariant(f *Family, v *Variant) error
}

// CheckLoadable says why a variant cannot be loaded on the device; nil where it can.
func (f Facts) CheckLoadable(family *Family, v *Variant) error {
	if f.Images == nil || family.Target != CUDA {
		return nil
	}
	return f.Images.CheckVariant(family, v)
}

// Class identifies devices whose timings may be shared: name, compute
// capability, multiprocessors and shared memory, without what differs between
// two cards of one kind.
func (f Facts) Class() string {
	return fmt.Sprintf("%s|%s|%s|%dsm|smem%d", f.Kind, f.Name, f.Capability(), f.SMs, f.SharedPerBlock)
}

// Capability says which code the device runs: the vector instructions of a host, such as avx2, a GPU's
// compute capability, such as 9.0.
func (f Facts) Capability() string {
	if f.Instructions != "" {
		return f.Instructions
	}
	return fmt.Sprintf("%d.%d", f.Major, f.Minor)
}

// BlockFits is an error where the device runs no block of threads threads and shared bytes of
// shared memory; nil where it does, and where the facts have no limits.
func (f Facts) BlockFits(threads int, shared int64) error {
	switch {
	case f.ThreadsPerBlock > 0 && threads > f.ThreadsPerBlock:
		return fmt.Errorf("blocks of %d threads, %s allows %d", threads, f, f.ThreadsPerBlock)
	case f.SharedPerBlock > 0 && shared > f.SharedPerBlock:
		return fmt.Errorf("blocks of %d bytes of shared memory, %s allows %d", shared, f, f.SharedPerBlock)
	}
	return nil
}

// String is the name by which users ask for the device, such as "cuda:0".
func (f Facts) String() string {
	if f.Kind == CUDA || f.Index > 0 {
		return fmt.Sprintf("%s:%d", f.Kind, f.Index)
	}
	return f.Kind
}

// MemoryShortage says in a clause that something takes more than the device's free memory, how much is free, and which limit of the
// process leaves no more: "9.5 GiB, and host has 8 GiB free".
func (f Facts) MemoryShortage(need float64) string {
	takes, free := FormatByteSizes(need, f.Free)
	room := takes + ", and " + f.String() + " has " + free + " free"
	if f.FreeBy != "" {
		room += ", all that " + f.FreeBy + " leaves"
	}
	return room
}

// ErrMemory is wrapped by Alloc's error when the device cannot hold the
// request.
var ErrMemory = errors.New("out of device memory")

// ErrLost is wrapped by the errors of a device that is of no use any more: a kernel read
// outside its buffers, the GPU has a fault, or the process that ran kernels is gone.
// Another can be opened.
var ErrLost = errors.New("the device is lost")

// A Device owns buffers, modules and streams. Its methods may be called from
// several goroutines; a stream belongs to one goroutine at a time.
type Device interface {
	Facts() Facts
	// Alloc returns a buffer of n bytes with undefined contents (poisoned on
	// the emulated device). n = 0 is allowed.
	Alloc(n int64) (Buffer, error)
	// Load makes a variant's kernels ready. It fails when the image does not
	// carry the variant's hash.
	Load(f *Family, v *Variant) (Module, error)
	NewStream() (Stream, error)
	Close() error
}

// A Buffer is device memory.
type Buffer interface {
	Len() int64 // bytes
	Free() error
}

// A Stream runs what it is given in order. Errors of asynchronous work are
// returned by Sync at the latest.
type Stream interface {
	// Upload copies src to dst at byte offset off; src may be reused when it
	// returns.
	Upload(dst Buffer, off int64, src []byte) error
	// Download copies from src at byte offset off, after all earlier work of
	// the stream; dst is complete when it returns.
	Download(dst []byte, src Buffer, off int64) error
	// Fill sets n bytes of dst at off to value.
	Fill(dst Buffer, off, n int64, value byte) error
	// Copy copies n bytes from src at srcOff to dst at dstOff. At least one of
	// them is of the stream's device, the other may be of another of its kind.
	Copy(dst Buffer, dstOff int64, src Buffer, srcOff, n int64) error
	Launch(k Kernel, g Grid, args ...Arg) error
	Record() (Event, error)
	// Wait makes later work of the stream start after the event, which may be
	// of another stream, also of another device of the same kind.
	Wait(e Event) error
	Sync() error
	Close() error
}

// A PeerAccessor is a Device whose kernels may read and write the memory of others of
// its kind, once a copy between the two has opened the way.
type PeerAccessor interface {
	PeerAccess(other Device) (bool, error)
}

// A Stager is a Stream that lends memory from which its device copies.
type Stager interface {
	// Stage is Upload of n bytes, at most 8 MiB, that fill writes: all of room,
	// which holds anything before and is not to be kept.
	Stage(dst Buffer, off int64, n int, fill func(room []byte)) error
}

// Stage uploads n bytes, at most 8 MiB, that fill writes, without a copy between
// where the stream is a Stager.
func Stage(s Stream, dst Buffer, off int64, n int, fill func(room []byte)) error {
	if lends, ok := s.(Stager); ok {
		return lends.Stage(dst, off, n, fill)
	}
	room := make([]byte, n)
	fill(room)
	return s.Upload(dst, off, room)
}

// An Event marks a point of a stream.
type Event interface {
	// Since returns the device time from start to this event; both must have
	// been reached (after Sync).
	Since(start Event) (time.Duration, error)
}

// A Module is a loaded variant.
type Module interface {
	// Kernel finds an entry point by its short name ("level"). ErrNoEntry is
	// wrapped when the variant does not have it.
	Kernel(entry string) (Kernel, error)
	Close() error
}

// ErrNoEntry is wrapped when a variant does not have an entry point.
var ErrNoEntry = errors.New("no such entry point in this variant")

// A Kernel is an entry point ready to launch.
type Kernel interface {
	Resources() Resources
	// BlocksPerSM is the number of blocks, of threads threads and shared bytes of dynamic shared
	// memory each, that one multiprocessor holds at once. That number times Facts.SMs bounds a
	// cooperative launch. A host device returns 1.
	BlocksPerSM(threads, shared int) (int, error)
}

// Resources of a kernel as the device's loader reports them; zero when it
// reports none.
type Resources struct {
	Registers   int `json:"registers"`
	Shared      int `json:"shared"` // static shared memory, bytes a block
	Local       int `json:"local"`  // local memory (spills), bytes a thread
	MaxThreads  int `json:"max_threads"`
	BlocksPerSM int `json:"blocks_per_sm"` // at Family block size, 0 if unknown
	Clusters    int `json:"clusters"`      // at Family block and cluster size, that the device holds at once; 0 if unknown
}

// Grid is the shape of a launch: Blocks one-dimensional blocks of Threads
// threads. A host device runs Blocks calls of the kernel and ignores the rest.
type Grid struct {
	Blocks  int64
	Threads int
	// Shared is the dynamic shared memory of a block in bytes.
	Shared int
	// Cooperative asks that all blocks run at once, so that they may wait for
	// one another; the launch fails when they do not fit.
	Cooperative bool
	// Cluster is how many blocks are a thread-block cluster: they run at once,
	// and reach one another's shared memory. Blocks is a multiple of it, 0 and 1
	// are the same. It takes compute capability 9.0, and excludes Cooperative.
	Cluster int
}

// An Arg is one kernel argument: a buffer, or 8 bytes of scalar. A nil Buffer
// where the kernel takes one is a null pointer. Beside a Buffer of a GPU or of the emulated
// device, Bits are how many bytes after its beginning the kernel's begins.
type Arg struct {
	Buffer Buffer
	Bits   uint64
}

// An Array is a buffer of elements of a type, as the bindings of other modules take them: a buffer of other elements does not
// compile in its place.
type Array[T any] struct{ Memory Buffer }

// Values are a buffer of numbers of the type that a variant's parameter value names.
type Values = Array[variantValue]

// variantValue stands for a type that is known when a variant is chosen.
type variantValue struct{}

// Ptr, U64, I64 and F64 make arguments.
func Ptr(b Buffer) Arg  { return Arg{Buffer: b} }
func U64(x uint64) Arg  { return Arg{Bits: x} }
func I64(x int64) Arg   { return Arg{Bits: uint64(x)} }
func F64(x float64) Arg { return Arg{Bits: math.Float64bits(x)} }
