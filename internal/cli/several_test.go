package cli

import (
	"bufio"
	"bytes"
	"errors"
	"strings"
	"testing"

	"coalesce/internal/cli/run"
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
	}{{device.Emulated, 2, run.ExitOK}, {device.Emulated, 1, run.ExitFailed}, {"emulated:0", 2, run.ExitFailed}} {
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
		a := &run.App{Out: bufio.NewWriter(&out), Raw: &out, Err: &talk, Free: func() memory.Free { return memory.Free{} },
			Devices: devices.List{{Name: device.Emulated, Open: open, Count: func() (int, error) { return c.devices, nil }}}}
		root := rootCommand(a)
		root.SetArgs([]string{"solve", "assignment", "--kind", "uniform", "--rows", "640", "--type", "int64", "--device", c.name, "--family", "classical"})
		code := a.Exit(t.Context(), root.ExecuteContext(t.Context()))
		a.Out.Flush()
		if code != c.code {
			t.Errorf("%d devices, %s: exit code %d, want %d: %s", c.devices, c.name, code, c.code, talk.String())
		}
		if want := "emulated,emulated:1"; code == run.ExitOK && !strings.Contains(out.String(), want) {
			t.Errorf("stdout %q, want %q in it", out.String(), want)
		}
		if want := "640 x 640 costs of type int64 take"; code != run.ExitOK && !strings.Contains(talk.String(), want) {
			t.Errorf("stderr %q, want %q in it", talk.String(), want)
		}
	}
}
