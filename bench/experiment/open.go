package experiment

import (
	"fmt"
	"strconv"
	"strings"

	"coalesce/runtime/device"
	"coalesce/runtime/emulated"
	"coalesce/runtime/host"
	"coalesce/templates"
)

// Open opens a device by its name, host, emulated or cuda:N: the one so many after it.
func Open(name string, after int) (device.Device, error) {
	kind, index, _ := strings.Cut(name, ":")
	switch kind {
	case device.Host:
		return host.Open(0), nil
	case device.Emulated:
		return emulated.Open(emulated.Options{Index: after, Files: templates.Files})
	case device.CUDA:
		n, err := strconv.Atoi("0" + index)
		if err != nil {
			return nil, fmt.Errorf("device %q: expected cuda:N", name)
		}
		return openGPU(n + after)
	}
	return nil, fmt.Errorf("device %q: expected host, emulated or cuda:N", name)
}
