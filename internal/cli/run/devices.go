package run

import (
	"errors"
	"fmt"

	"coalesce/runtime/device"
	"coalesce/runtime/devices"
	"coalesce/runtime/handover"
)

// errNoCUDA is the error of --device cuda in a plain binary.
var errNoCUDA = errors.New("this binary has no CUDA devices and nothing to hand over to: build coalesce-cuda with scripts/build-cuda and put it beside this one")

// parseDevices is devices.Parse, whose errors are mistakes in the command line here.
func parseDevices(name string) (devices.Name, error) {
	n, err := devices.Parse(name)
	if err != nil {
		return n, Usagef("%v", err)
	}
	return n, nil
}

// parseDevice returns an error unless a name is that of one device.
func parseDevice(name string) error {
	if n, err := devices.Parse(name); err != nil || !n.IsSingle() {
		return Usagef("device %q: expected auto, host, emulated, cuda or cuda:INDEX", name)
	}
	return nil
}

// OpenDevices opens all that the user named. The ranks of a host take its GPUs in
// turns.
func (a *App) OpenDevices(name string, threads int) ([]device.Device, error) {
	n, err := parseDevices(name)
	if err != nil {
		return nil, err
	}
	o := devices.Options{Threads: threads, Say: a.PrintNotice, Points: a.Points}
	if a.Team != nil {
		if !n.IsSingle() {
			return nil, Usagef("--device is %s: under a launcher each rank has one device", name)
		}
		o.Turn = a.Team.LocalRank()
	}
	opened, err := a.Devices.Open(name, o)
	switch {
	case errors.Is(err, devices.ErrNoCUDA) && a.Name() == coalesce:
		return nil, a.DeviceError(errNoCUDA)
	case err != nil && n.Kind == device.CUDA:
		err = a.DeviceError(err)
	}
	return opened, err
}

// PrintNotice prints to standard error why a command waits, or what happened to a device.
func (a *App) PrintNotice(line string) { fmt.Fprintf(a.Err, "%s: %s\n", a.Name(), line) }

// HandOver replaces the plain binary by the CUDA binary if the work may want a GPU. It does not return
// where the system can replace a process.
func (a *App) HandOver(name string) error {
	n, err := parseDevices(name)
	if err != nil {
		return err
	}
	kind := n.Kind
	if a.Name() != coalesce { // a program of another module has its GPUs itself
		return nil
	}
	if a.Within || kind != devices.Auto && kind != device.CUDA || a.Devices.Kind(device.CUDA) != nil || a.Team != nil && kind == devices.Auto {
		return nil // ranks handed over before they joined
	}
	env := handover.SystemEnv()
	code, done, err := handover.Run(env, a.args)
	switch {
	case done:
		return ExitError(code)
	case kind == device.CUDA && (err == nil || errors.Is(err, handover.ErrAlone)):
		_, reason := handover.TargetBinary(env)
		return a.DeviceError(fmt.Errorf("%w (%s)", errNoCUDA, reason))
	case kind == device.CUDA:
		return a.DeviceError(err)
	case err != nil:
		a.PrintNotice(fmt.Sprintf("going on without a GPU: %v; next: %s devices", err, a.Name()))
	}
	return nil
}
