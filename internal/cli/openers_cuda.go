//go:build cuda

package cli

import (
	"coalesce/runtime/bundle"
	"coalesce/runtime/device"
	"coalesce/runtime/driver"
)

// gpus are the NVIDIA GPUs, running the images that the binary carries.
func gpus() []opener {
	return []opener{{
		kind:  device.CUDA,
		auto:  true,
		open:  func(index, _ int) (device.Device, error) { return driver.Open(index, bundle.Image) },
		count: driver.Count,
	}}
}
