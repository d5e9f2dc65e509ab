package cli

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
		return n, usagef("%v", err)
	}
	return n, nil
}

// parseDevice returns an error unless a name is that of one device.
func parseDevice(name string) error {
	if n, err := devices.Parse(name); err != nil || !n.One() {
		return usagef("device %q: expected auto, host, emulated, cuda or cuda:INDEX", name)
	}
	return nil
}

// openDevices opens all that the user named. The ranks of a host take its GPUs in
// turns.
func (a *app) openDevices(name string, threads int) ([]device.Device, error) {
	n, err := parseDevices(name)
	if err != nil {
		return nil, err
	}
	o := devices.Options{Threads: threads, Say: a.say, Points: a.points}
	if a.team != nil {
		if !n.One() {
			return nil, usagef("--device is %s: under a launcher each rank has one device", name)
		}
		o.Turn = a.team.Local()
	}
	opened, err := a.devices.Open(name, o)
	if errors.Is(err, devices.ErrNoCUDA) {
		return nil, errNoCUDA
	}
	return opened, err
}

// say prints to standard error why a command waits, or what happened to a device.
func (a *app) say(line string) { fmt.Fprintf(a.err, "coalesce: %s\n", line) }

// handOver replaces the plain binary by the CUDA binary if the work may want a GPU. It does not return
// where the system can replace a process.
func (a *app) handOver(name string) error {
	n, err := parseDevices(name)
	if err != nil {
		return err
	}
	kind := n.Kind
	if a.within || kind != devices.Auto && kind != device.CUDA || a.devices.Kind(device.CUDA) != nil || a.team != nil && kind == devices.Auto {
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
		a.say(fmt.Sprintf("going on without a GPU: %v", err))
	}
	return nil
}
