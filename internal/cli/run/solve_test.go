package run

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"coalesce/runtime/device"
	"coalesce/runtime/devices"
)

// Work on a host that does not look at its context ends within a second of the context's end; work that answers within that
// time keeps its answer, and that on other devices is waited for.
func TestBestOn(t *testing.T) {
	on := func(kind string) []device.Device { return []device.Device{kindOf{kind: kind}} }
	over, stop := context.WithCancel(t.Context())
	stop()
	never := make(chan struct{})
	defer close(never)
	start := time.Now()
	if _, err := BestOn(over, &App{}, on(device.Host), func() (int, error) { <-never; return 1, nil }); !errors.Is(err, context.Canceled) || time.Since(start) > time.Second {
		t.Errorf("work without end: %v after %v", err, time.Since(start))
	}
	for _, kind := range []string{device.Host, device.Emulated} {
		wait := map[string]time.Duration{device.Host: 10 * time.Millisecond, device.Emulated: 800 * time.Millisecond}[kind]
		if r, err := BestOn(over, &App{}, on(kind), func() (int, error) { time.Sleep(wait); return 1, nil }); r != 1 || err != nil {
			t.Errorf("%s: found %d, %v, expected the answer after %v", kind, r, err, wait)
		}
	}
}

// kindOf is a device of which the kind alone is asked.
type kindOf struct {
	device.Device
	kind string
}

func (k kindOf) Facts() device.Facts { return device.Facts{Kind: k.kind} }

// An answer is printed before the devices are closed, which takes the CUDA driver some 55 ms.
func TestAnswerBeforeClose(t *testing.T) {
	var out bytes.Buffer
	printed := "not closed"
	a := &App{Out: bufio.NewWriter(&out), Devices: devices.List{{Name: device.Host, Open: func(_ int, o devices.Options) (device.Device, error) {
		opened, err := devices.Kinds().Open(device.Host, o)
		if err != nil {
			return nil, err
		}
		return watched{opened[0], func() { printed = out.String() }}, nil
	}, Count: func() (int, error) { return 1, nil }}}}
	err := a.WithDevices(device.Host, 1, func([]device.Device) error {
		_, err := a.Out.WriteString("the answer\n")
		return err
	})
	if err != nil || printed != "the answer\n" {
		t.Errorf("printed %q when the device was closed, error %v; want the answer", printed, err)
	}
}

// watched is a device that calls a function before it is closed.
type watched struct {
	device.Device
	close func()
}

func (d watched) Close() error {
	d.close()
	return d.Device.Close()
}
