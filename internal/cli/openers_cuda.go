//go:build cuda

package cli

import (
	"coalesce/runtime/bundle"
	"coalesce/runtime/device"
	"coalesce/runtime/driver"
)

// gpus are the NVIDIA GPUs, running the images that the binary carries; say is told of
// waits that users wonder about.
func gpus(say func(string)) []opener {
	return []opener{{
		kind: device.CUDA,
		auto: true,
		open: func(index, _ int) (device.Device, error) {
			code, err := bundle.Open()
			if err != nil {
				return nil, err
			}
			return driver.Open(index, code, say)
		},
		count: driver.Count,
	}}
}
