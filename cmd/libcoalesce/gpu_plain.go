//go:build cgo && !cuda

package main

import (
	"errors"

	"coalesce/runtime/device"
)

var errNoGPU = errors.New("this build of the library has no CUDA")

func countGPUs() (int, error) { return 0, nil }

func openGPU(int) (device.Device, error) { return nil, errNoGPU }
