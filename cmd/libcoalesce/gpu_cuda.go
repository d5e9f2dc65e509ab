//go:build cuda

package main

import (
	"coalesce/runtime/bundle"
	"coalesce/runtime/device"
	"coalesce/runtime/driver"
)

func countGPUs() (int, error) { return driver.Count() }

func openGPU(index int) (device.Device, error) {
	code, err := bundle.Open()
	if err != nil {
		return nil, err
	}
	return driver.Open(index, code, nil)
}
