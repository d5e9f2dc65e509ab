//go:build cuda

package experiment

import (
	"coalesce/runtime/bundle"
	"coalesce/runtime/device"
	"coalesce/runtime/driver"
)

func openGPU(index int) (device.Device, error) {
	code, err := bundle.Open()
	if err != nil {
		return nil, err
	}
	return driver.Open(index, code, nil)
}
