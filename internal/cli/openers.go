package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"coalesce/runtime/device"
	"coalesce/runtime/emulated"
	"coalesce/runtime/handover"
	"coalesce/runtime/host"
	"coalesce/templates"
)

// An opener is one kind of device that this binary can open.
type opener struct {
	kind string
	// auto: the kind is tried, in the table's order, when the user does not
	// name a device.
	auto bool
	// open opens one device of the kind. threads is for the host; 0 means all
	// cores.
	open func(index, threads int) (device.Device, error)
	// count is how many devices of the kind there are to open.
	count func() (int, error)
}

// openers is the table of devices: GPUs first where this is the CUDA binary,
// then the processor, which is always there.
func openers() []opener {
	one := func() (int, error) { return 1, nil }
	return append(gpus(),
		opener{
			kind:  device.Host,
			auto:  true,
			open:  func(_, threads int) (device.Device, error) { return host.Open(threads), nil },
			count: one,
		},
		opener{
			kind: device.Emulated,
			open: func(int, int) (device.Device, error) {
				return emulated.Open(emulated.Options{Files: templates.Files})
			},
			count: one,
		},
	)
}

// errNoCUDA is what a plain binary answers to --device cuda.
var errNoCUDA = errors.New("this binary has no CUDA devices and nothing to hand over to: build coalesce-cuda with scripts/build-cuda and put it beside this one")

// parseDevice splits "cuda:1" into its kind and index.
func (a *app) parseDevice(name string) (kind string, index int, err error) {
	kind, number, indexed := strings.Cut(name, ":")
	if indexed {
		index, err = strconv.Atoi(number)
		if err != nil || index < 0 || kind != device.CUDA {
			return "", 0, usagef("device %q: expected auto, host, emulated, cuda or cuda:INDEX", name)
		}
	}
	switch kind {
	case "auto", device.Host, device.Emulated, device.CUDA:
		return kind, index, nil
	}
	return "", 0, usagef("device %q: expected auto, host, emulated, cuda or cuda:INDEX", name)
}

// openDevice opens what the user named.
func (a *app) openDevice(name string, threads int) (device.Device, error) {
	kind, index, err := a.parseDevice(name)
	if err != nil {
		return nil, err
	}
	var refused []error
	for _, o := range a.devices {
		if o.kind != kind && !(kind == "auto" && o.auto) {
			continue
		}
		d, err := o.open(index, threads)
		if err == nil {
			return d, nil
		}
		refused = append(refused, fmt.Errorf("open device %s: %w", o.kind, err))
	}
	if len(refused) == 0 {
		return nil, errNoCUDA
	}
	return nil, errors.Join(refused...)
}

// handOver lets the CUDA binary do the work when a GPU may be wanted and this
// is the plain one: where the system can replace a process it does not return.
func (a *app) handOver(name string) error {
	kind, _, err := a.parseDevice(name)
	if err != nil {
		return err
	}
	if kind != "auto" && kind != device.CUDA || len(gpus()) > 0 {
		return nil
	}
	env := handover.System()
	code, done, err := handover.Run(env, a.args)
	switch {
	case err != nil && kind == device.CUDA:
		return err
	case err != nil:
		fmt.Fprintf(a.err, "coalesce: going on without a GPU: %v\n", err)
	case done:
		return exitError(code)
	case kind == device.CUDA:
		_, reason := handover.Target(env)
		return fmt.Errorf("%w (%s)", errNoCUDA, reason)
	}
	return nil
}
