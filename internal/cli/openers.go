package cli

import (
	"errors"
	"fmt"
	"slices"
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
// then the processor, which is always there. say is told of waits.
func openers(say func(string)) []opener {
	one := func() (int, error) { return 1, nil }
	return append(gpus(say),
		opener{
			kind:  device.Host,
			auto:  true,
			open:  func(_, threads int) (device.Device, error) { return host.Open(threads), nil },
			count: one,
		},
		opener{
			kind: device.Emulated,
			open: func(index, _ int) (device.Device, error) {
				return emulated.Open(emulated.Options{Index: index, Files: templates.Files})
			},
			count: one,
		},
	)
}

// errNoCUDA is what a plain binary answers to --device cuda.
var errNoCUDA = errors.New("this binary has no CUDA devices and nothing to hand over to: build coalesce-cuda with scripts/build-cuda and put it beside this one")

// parseDevice splits "cuda:1" into its kind and index.
func (a *app) parseDevice(name string) (kind string, index int, err error) {
	kind, indices, err := a.parseDevices(name)
	if err != nil || len(indices) != 1 {
		return "", 0, usagef("device %q: expected auto, host, emulated, cuda or cuda:INDEX", name)
	}
	return kind, indices[0], nil
}

// parseDevices splits "cuda:0,1" into its kind and indices; those of "cuda:all"
// are nil.
func (a *app) parseDevices(name string) (kind string, indices []int, err error) {
	wrong := usagef("device %q: expected auto, host, emulated, cuda, cuda:INDEX, cuda:INDEX,INDEX,… or cuda:all", name)
	kind, list, indexed := strings.Cut(name, ":")
	switch kind {
	case device.CUDA, device.Emulated:
	case "auto", device.Host:
		if indexed {
			return "", nil, wrong
		}
	default:
		return "", nil, wrong
	}
	if !indexed {
		return kind, []int{0}, nil
	}
	if list == "all" {
		return kind, nil, nil
	}
	for number := range strings.SplitSeq(list, ",") {
		index, err := strconv.Atoi(number)
		if err != nil || index < 0 || slices.Contains(indices, index) {
			return "", nil, wrong
		}
		indices = append(indices, index)
	}
	return kind, indices, nil
}

// openDevices opens all that the user named.
func (a *app) openDevices(name string, threads int) (opened []device.Device, err error) {
	kind, indices, err := a.parseDevices(name)
	if err != nil {
		return nil, err
	}
	if a.team != nil && len(indices) != 1 {
		return nil, usagef("--device is %s: under a launcher each rank has one device", name)
	}
	if len(indices) == 1 {
		d, err := a.openDevice(name, threads)
		return []device.Device{d}, err
	}
	at := slices.IndexFunc(a.devices, func(o opener) bool { return o.kind == kind })
	if at < 0 {
		return nil, errNoCUDA
	}
	if indices == nil {
		n, err := a.devices[at].count()
		if err != nil {
			return nil, err
		}
		for k := range n {
			indices = append(indices, k)
		}
	}
	for _, k := range indices {
		d, err := a.devices[at].open(k, threads)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("open device %s:%d: %w", kind, k, err), closeAll(opened))
		}
		opened = append(opened, d)
	}
	if len(opened) == 0 {
		return nil, fmt.Errorf("open device %s: there is none", name)
	}
	return opened, nil
}

func closeAll(devices []device.Device) error {
	var errs []error
	for _, d := range devices {
		errs = append(errs, d.Close())
	}
	return errors.Join(errs...)
}

// openDevice opens what the user named.
func (a *app) openDevice(name string, threads int) (device.Device, error) {
	kind, index, err := a.parseDevice(name)
	if err != nil {
		return nil, err
	}
	var refused []error
	there := false // a device that was refused is there
	for _, o := range a.devices {
		if o.kind != kind && !(kind == "auto" && o.auto) {
			continue
		}
		if a.team == nil || strings.Contains(name, ":") {
			// the device that was named
		} else if n, _ := o.count(); n > 0 {
			index = a.team.Local() % n // the ranks of a host take its GPUs in turns
		}
		d, err := o.open(index, threads)
		if err == nil {
			if there {
				fmt.Fprintf(a.err, "coalesce: going on without a GPU: %v\n", errors.Join(refused...))
			}
			return d, nil
		}
		refused = append(refused, fmt.Errorf("open device %s: %w", o.kind, err))
		n, err := o.count()
		there = there || err != nil || n > 0
	}
	if len(refused) == 0 {
		return nil, errNoCUDA
	}
	return nil, errors.Join(refused...)
}

// handOver lets the CUDA binary do the work when a GPU may be wanted and this
// is the plain one: where the system can replace a process it does not return.
func (a *app) handOver(name string) error {
	kind, _, err := a.parseDevices(name)
	if err != nil {
		return err
	}
	if kind != "auto" && kind != device.CUDA || len(gpus(nil)) > 0 || a.team != nil && kind == "auto" {
		return nil // ranks handed over before they joined
	}
	env := handover.System()
	code, done, err := handover.Run(env, a.args)
	switch {
	case done:
		return exitError(code)
	case kind == device.CUDA && (err == nil || errors.Is(err, handover.ErrAlone)):
		_, reason := handover.Target(env)
		return fmt.Errorf("%w (%s)", errNoCUDA, reason)
	case kind == device.CUDA:
		return err
	case err != nil:
		fmt.Fprintf(a.err, "coalesce: going on without a GPU: %v\n", err)
	}
	return nil
}
