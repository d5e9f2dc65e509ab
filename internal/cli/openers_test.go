package cli

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"coalesce/runtime/device"
	"coalesce/runtime/host"
)

// A GPU that is there and cannot be opened is told of when the processor
// computes instead; one that is not there is no news.
func TestRefusedDevice(t *testing.T) {
	for gpus, want := range map[int]string{
		1: "coalesce: going on without a GPU: open device cuda: it is in use\n",
		0: "",
	} {
		var talk bytes.Buffer
		a := &app{err: &talk, devices: []opener{
			{
				kind: device.CUDA, auto: true,
				open:  func(int, int) (device.Device, error) { return nil, errors.New("it is in use") },
				count: func() (int, error) { return gpus, nil },
			},
			{
				kind: device.Host, auto: true,
				open: func(_, threads int) (device.Device, error) { return host.Open(threads), nil },
			},
		}}
		d, err := a.openDevice("auto", 1)
		if err != nil {
			t.Fatal(err)
		}
		if kind := d.Facts().Kind; kind != device.Host || talk.String() != want {
			t.Errorf("%d GPUs: opened %s and said %q, want host and %q", gpus, kind, talk.String(), want)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		if _, err := a.openDevice(device.CUDA, 1); err == nil || !strings.Contains(err.Error(), "it is in use") {
			t.Errorf("%d GPUs, and cuda was asked for: error %v", gpus, err)
		}
	}
}
