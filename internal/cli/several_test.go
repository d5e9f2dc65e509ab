package cli

import (
	"bufio"
	"bytes"
	"errors"
	"strings"
	"testing"

	"coalesce/runtime/device"
	"coalesce/runtime/devices"
	"coalesce/runtime/emulated"
	"coalesce/runtime/memory"
	"coalesce/templates"
)

// A matrix that one device cannot hold goes to all of its kind, unless one is
// named or there are no more.
func TestLargeMatrixIsSpread(t *testing.T) {
	for _, c := range []struct {
		name    string
		devices int
		code    int
	}{{device.Emulated, 2, exitOK}, {device.Emulated, 1, exitFailed}, {"emulated:0", 2, exitFailed}} {
		open := func(index int, _ devices.Options) (device.Device, error) {
			return emulated.Open(emulated.Options{Index: index, Files: templates.Files, Memory: 3190 << 10})
		}
		if d, err := open(0, devices.Options{}); errors.Is(err, emulated.ErrNoCompiler) {
			t.Skip(err)
		} else if err != nil {
			t.Fatal(err)
		} else {
			d.Close()
		}
		var out, talk bytes.Buffer
		a := &app{out: bufio.NewWriter(&out), raw: &out, err: &talk, free: func() memory.Free { return memory.Free{} },
			devices: devices.List{{Name: device.Emulated, Open: open, Count: func() (int, error) { return c.devices, nil }}}}
		root := a.root()
		root.SetArgs([]string{"solve", "assignment", "--kind", "uniform", "--rows", "640", "--type", "int64", "--device", c.name, "--family", "classical"})
		code := a.exit(t.Context(), root.ExecuteContext(t.Context()))
		a.out.Flush()
		if code != c.code {
			t.Errorf("%d devices, %s: exit code %d, want %d: %s", c.devices, c.name, code, c.code, talk.String())
		}
		if want := "emulated,emulated:1"; code == exitOK && !strings.Contains(out.String(), want) {
			t.Errorf("stdout %q, want %q in it", out.String(), want)
		}
		if want := "640 x 640 costs of type int64 take"; code != exitOK && !strings.Contains(talk.String(), want) {
			t.Errorf("stderr %q, want %q in it", talk.String(), want)
		}
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

// An answer is printed before the devices are closed, which takes the CUDA driver some 55 ms.
func TestAnswerBeforeClose(t *testing.T) {
	var out bytes.Buffer
	printed := "not closed"
	a := &app{out: bufio.NewWriter(&out), devices: devices.List{{Name: device.Host, Open: func(_ int, o devices.Options) (device.Device, error) {
		opened, err := devices.Kinds().Open(device.Host, o)
		if err != nil {
			return nil, err
		}
		return watched{opened[0], func() { printed = out.String() }}, nil
	}, Count: func() (int, error) { return 1, nil }}}}
	err := a.withDevices(device.Host, 1, func([]device.Device) error {
		_, err := a.out.WriteString("the answer\n")
		return err
	})
	if err != nil || printed != "the answer\n" {
		t.Errorf("printed %q when the device was closed, error %v; want the answer", printed, err)
	}
}
