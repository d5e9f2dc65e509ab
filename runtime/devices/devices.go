// Package devices opens the devices of this build by the names that users give them:
// host, emulated, cuda:0, several as cuda:0,1 or cuda:all, or auto, the best of them.
package devices

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"

	"coalesce/runtime/device"
	"coalesce/runtime/emulated"
	"coalesce/runtime/host"
	"coalesce/runtime/ondemand"
	"coalesce/templates"
)

// ErrNoCUDA is wrapped where a GPU is asked for in a build without CUDA.
var ErrNoCUDA = errors.New("this build has no CUDA devices: build with -tags cuda")

// MemoryVariable is the environment variable that sets the memory of emulated devices, in
// bytes, so that tests meet its end.
const MemoryVariable = "COALESCE_EMULATED_MEMORY"

// emulatedMemory reads MemoryVariable; 0 is the device's own default.
func emulatedMemory(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%s is %q, expected a number of bytes", MemoryVariable, text)
	}
	return n, nil
}

// Options say how devices are opened; the zero value will do.
type Options struct {
	Threads int              // of the host; 0: all cores
	Say     func(string)     // called with a line about each wait, and each GPU that auto goes on without; may be nil
	Turn    int              // of several that open one device each: which of the devices a name without an index means
	Points  *ondemand.Points // variants that GPUs load beside the binary's; nil: none
}

// A Compile compiles a variant to where devices load it from, unless it is there. Several goroutines may call it.
type Compile func(ctx context.Context, f *device.Family, v *device.Variant) error

// A Kind is one kind of device.
type Kind struct {
	Name  string                                            // device.CUDA, device.Host or device.Emulated
	Auto  bool                                              // the name auto may stand for this kind
	Count func() (int, error)                               // how many there are to open
	Open  func(index int, o Options) (device.Device, error) // opens one; the index counts from 0
	// Compiler compiles what such devices else compile when they load it. It is nil, or returns nil, where there is no such thing.
	Compiler func(facts device.Facts, o Options) (Compile, error)
}

// A List is kinds of devices in the order in which auto tries them.
type List []Kind

// Kinds are those that this build can open: GPUs first where it is a CUDA build, then
// the processor, which is always there.
func Kinds() List {
	one := func() (int, error) { return 1, nil }
	return append(gpuKinds(),
		Kind{
			Name:  device.Host,
			Auto:  true,
			Count: one,
			Open:  func(_ int, o Options) (device.Device, error) { return host.Open(o.Threads), nil },
		},
		Kind{
			Name:  device.Emulated,
			Count: one,
			Open: func(index int, _ Options) (device.Device, error) {
				memory, err := emulatedMemory(os.Getenv(MemoryVariable))
				if err != nil {
					return nil, err
				}
				return emulated.Open(emulated.Options{Index: index, Files: templates.Files, Memory: memory})
			},
			Compiler: func(device.Facts, Options) (Compile, error) {
				c, err := emulated.NewCompiler(emulated.Options{Files: templates.Files})
				if err != nil {
					return nil, err
				}
				return c.Compile, nil
			},
		},
	)
}

// Open opens all devices that a name means, at least one; see Parse. The caller closes
// them, with Close.
func Open(name string, o Options) ([]device.Device, error) { return Kinds().Open(name, o) }

// Close closes devices.
func Close(opened []device.Device) error {
	var errs []error
	for _, d := range opened {
		errs = append(errs, d.Close())
	}
	return errors.Join(errs...)
}

// Kind is the kind of a name; nil where the list has none.
func (l List) Kind(name string) *Kind {
	if at := slices.IndexFunc(l, func(k Kind) bool { return k.Name == name }); at >= 0 {
		return &l[at]
	}
	return nil
}

// Open is Open, of the kinds in the list.
func (l List) Open(name string, o Options) ([]device.Device, error) {
	n, err := Parse(name)
	if err != nil {
		return nil, err
	}
	if n.Kind == Auto {
		d, err := l.first(o)
		if err != nil {
			return nil, err
		}
		return []device.Device{d}, nil
	}
	k := l.Kind(n.Kind)
	if k == nil {
		return nil, fmt.Errorf("open device %s: %w", name, ErrNoCUDA)
	}
	indices := n.Indices
	if n.All || indices == nil {
		count, err := k.Count()
		switch {
		case n.All && err != nil:
			return nil, fmt.Errorf("open device %s: %w", name, err)
		case n.All && count == 0:
			return nil, fmt.Errorf("open device %s: there is none", name)
		case n.All:
			for index := range count {
				indices = append(indices, index)
			}
		default: // what is wrong without a device, opening says
			indices = []int{o.Turn % max(1, count)}
		}
	}
	var opened []device.Device
	for _, index := range indices {
		d, err := k.Open(index, o)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("open device %s:%d: %w", n.Kind, index, err), Close(opened))
		}
		opened = append(opened, d)
	}
	return opened, nil
}

// first opens a device of the first kind that auto may stand for and that opens. A
// GPU that is there and refuses gets a line; one that is not there gets none.
func (l List) first(o Options) (device.Device, error) {
	var refused []error
	there := false
	for _, k := range l {
		if !k.Auto {
			continue
		}
		n, unknown := k.Count()
		d, err := k.Open(o.Turn%max(1, n), o)
		if err == nil {
			if there && o.Say != nil {
				o.Say(fmt.Sprintf("going on without a GPU: %v", errors.Join(refused...)))
			}
			return d, nil
		}
		refused = append(refused, fmt.Errorf("open device %s: %w", k.Name, err))
		there = there || unknown != nil || n > 0
	}
	return nil, errors.Join(refused...)
}
