//go:build cuda

package main

import (
	"coalesce/runtime/bundle"
	"coalesce/runtime/device"
	"coalesce/runtime/driver"
	"coalesce/runtime/host"
)

// openDevices opens the host, a GPU, or all GPUs ("cuda:all").
func openDevices(kind string) ([]device.Device, error) {
	if kind == device.Host {
		return []device.Device{host.Open(0)}, nil
	}
	code, err := bundle.Open()
	if err != nil {
		return nil, err
	}
	count := 1
	if kind == device.CUDA+":all" {
		if count, err = driver.Count(); err != nil {
			return nil, err
		}
	}
	var all []device.Device
	for k := range max(1, count) {
		d, err := driver.Open(k, code, nil)
		if err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	return all, nil
}
