package run

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"coalesce/runtime/device"
	"coalesce/runtime/devices"
)

// A driver that is too old: the error ends with the same command for the processor.
func TestNextOfOldDriver(t *testing.T) {
	var talk bytes.Buffer
	a := New(context.Background(), []string{"solve", "csg", "f.csv", "--device", "cuda:0"}, nil, &bytes.Buffer{}, &talk)
	old := errors.New("the images need driver 580 or newer (CUDA 13.0), the driver is 525")
	a.Devices = devices.List{{Name: device.CUDA, Count: func() (int, error) { return 1, nil }, Open: func(int, devices.Options) (device.Device, error) { return nil, old }}}
	a.Started = true
	_, err := a.OpenDevices("cuda:0", 0)
	if !errors.Is(err, old) {
		t.Fatal(err)
	}
	if code, text := a.Exit(context.Background(), err), talk.String(); code != ExitFailed || text != "coalesce: open device cuda:0: "+old.Error()+"; next: coalesce solve csg f.csv --device host\n" {
		t.Errorf("exit code %d, %q", code, text)
	}
	talk.Reset()
	a.Within = true
	if a.Exit(context.Background(), err); strings.Contains(talk.String(), "next") {
		t.Errorf("within another program: %q", &talk)
	}
}
