//go:build !cuda

package main

import (
	"fmt"

	"coalesce/runtime/device"
	"coalesce/runtime/host"
)

// openDevices opens the host.
func openDevices(kind string) ([]device.Device, error) {
	if kind != device.Host {
		return nil, fmt.Errorf("device %q: this build has host; build with -tags cuda for a GPU", kind)
	}
	return []device.Device{host.Open(0)}, nil
}
