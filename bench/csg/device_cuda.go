//go:build cuda

package main

import (
	"coalesce/runtime/bundle"
	"coalesce/runtime/device"
	"coalesce/runtime/driver"
	"coalesce/runtime/host"
)

func openDevice(kind string) (device.Device, error) {
	if kind == device.Host {
		return host.Open(0), nil
	}
	return driver.Open(0, bundle.Image)
}
