//go:build cuda

package experiment

import (
	"coalesce/runtime/bundle"
	"coalesce/runtime/device"
	"coalesce/runtime/driver"
)

func openGPU(index int) (device.Device, error) { return driver.Open(index, bundle.Image) }
