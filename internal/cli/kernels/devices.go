package kernels

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"coalesce/internal/cli/run"
	"coalesce/internal/ui"
	"coalesce/runtime/bundle"
	"coalesce/runtime/device"
	"coalesce/runtime/devices"
)

func devicesCommand(a *run.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "devices",
		Short: "List the devices that can compute here, with their facts",
		Long: `List the devices that can compute here. The command reads sizes from the device.

host is the processor and always there. emulated runs the CUDA kernels on the
processor, for tests; it needs a C++ compiler. cuda:0, cuda:1, … are NVIDIA
GPUs; they need coalesce-cuda (scripts/build-cuda) beside this binary. A CUDA binary
also lists the architectures of its images, and the least driver that loads them.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return listDevices(a, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array of the devices' facts")
	return cmd
}

func listDevices(a *run.App, asJSON bool) error {
	if err := a.HandOver("auto"); err != nil {
		return err
	}
	found := []device.Facts{}
	for _, k := range a.Devices {
		n, err := k.Count()
		if err != nil {
			a.PrintNotice(fmt.Sprintf("no %s device: %v", k.Name, err))
		}
		for i := range n {
			d, err := k.Open(i, devices.Options{Say: a.PrintNotice})
			if err != nil {
				a.PrintNotice(fmt.Sprintf("no %s device: %v", k.Name, err))
				continue
			}
			found = append(found, d.Facts())
			if err := d.Close(); err != nil {
				return err
			}
		}
	}
	if asJSON {
		return run.PrintJSON(a.Out, found)
	}
	var t ui.Table
	t.AlignRight(3, 4, 5, 6, 7)
	t.Row("device", "name", "capability", "units", "memory", "free", "shared/block", "L2", "driver")
	for _, f := range found {
		t.Row(f.String(), f.Name, f.Capability(), fmt.Sprint(f.SMs), size(f.Memory), size(f.Free), size(f.SharedPerBlock), size(f.L2), cmp.Or(f.Driver, "-"))
	}
	if err := t.Write(a.Out); err != nil {
		return err
	}
	b, err := bundle.Open()
	if errors.Is(err, bundle.ErrNone) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.Out, "\nimages for %s, with driver %s or newer\n", strings.Join(b.Architectures, ", "), b.Driver)
	return err
}

// size writes a number of bytes, and "-" for one that is not known.
func size(bytes int64) string {
	if bytes <= 0 {
		return "-"
	}
	return device.Size(bytes)
}
