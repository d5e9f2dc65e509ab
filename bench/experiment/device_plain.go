//go:build !cuda

package experiment

import (
	"errors"

	"coalesce/runtime/device"
)

func openGPU(int) (device.Device, error) {
	return nil, errors.New("this build has no GPUs: build with -tags cuda")
}
