package kernels

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"coalesce/autotune/subject"
	"coalesce/autotune/verify"
	"coalesce/internal/cli/run"
	"coalesce/internal/cli/tuning"
	"coalesce/internal/placement"
	"coalesce/internal/ui"
	"coalesce/runtime/device"
	"coalesce/runtime/guard"
)

// VerifyCommand is the command that runs all variants on their cases.
func VerifyCommand(a *run.App, all subject.Problems) *cobra.Command {
	var family string
	var p placement.Placement
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Run the variants of the kernels on their cases, and compare the answers with the reference",
		Long: `Run every variant that the device loads on the cases of its family, twice, from
poisoned buffers between canaries, and compare the answers with the reference. The
exit code is 3 if a variant answers wrongly or writes past an end of a buffer.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.WithDevice(p.Device, p.Threads, func(d device.Device) error {
				picked, err := tuning.FindFamilies(all.Subjects(), family, d.Facts())
				if err != nil {
					return run.AsUsage(err)
				}
				return verifyFamilies(cmd.Context(), a, picked, d)
			})
		},
	}
	run.AddPlacement(cmd.Flags(), &p, "device", "threads")
	cmd.Flags().StringVar(&family, "family", "", "family to verify (default: all that run on the device)")
	return cmd
}

// verifyFamilies prints a line a family, and a line for each variant that fails.
func verifyFamilies(ctx context.Context, a *run.App, subjects []subject.Subject, d device.Device) error {
	wrong := 0
	for _, sub := range subjects {
		f := sub.Family()
		right, left := 0, 0
		for i := range f.Variants {
			v := &f.Variants[i]
			if d.Facts().CheckLoadable(f, v) != nil {
				left++
				continue
			}
			err := verifyVariant(ctx, d, sub, v)
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case errors.Is(err, verify.ErrNoCase):
				left++
			case err != nil:
				wrong++
				fmt.Fprintf(a.Out, "%s %s: %s\n", f.Name, v.Label, ui.OneLine(err))
			default:
				right++
			}
		}
		line := fmt.Sprintf("%s: %s right", f.Name, ui.Count(right, "variant"))
		if left > 0 {
			line += fmt.Sprintf(", %d not for this device", left)
		}
		fmt.Fprintln(a.Out, line)
	}
	if wrong > 0 {
		return run.AsCheck(fmt.Errorf("%s wrong on %s", ui.Count(wrong, "variant"), d.Facts()))
	}
	return nil
}

// verifyVariant runs a variant on its cases, with canaries around each buffer of a device that is no host.
func verifyVariant(ctx context.Context, d device.Device, sub subject.Subject, v *device.Variant) (err error) {
	if d.Facts().Kind != device.Host {
		g, failed := guard.New(d)
		if failed != nil {
			return failed
		}
		defer func() { err = errors.Join(err, g.Close()) }()
		d = g
	}
	s, err := d.NewStream()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	_, err = verify.Variant(ctx, d, s, sub, v, 0)
	return err
}
