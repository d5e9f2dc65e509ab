package kernels

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

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
			v := &verification{a: a, limit: longestVariant, exit: os.Exit}
			for {
				err := a.WithDevice(p.Device, p.Threads, func(d device.Device) error {
					picked, err := tuning.FindFamilies(all.Subjects(), family, d.Facts())
					if err != nil {
						return run.AsUsage(err)
					}
					return v.families(cmd.Context(), picked, d)
				})
				if err != nil && v.since == 0 && v.wrong > 0 { // this process gets no other device, as after a GPU's fault
					return run.AsCheck(fmt.Errorf("%s wrong, the variants behind it not verified: %w", ui.Count(v.wrong, "variant"), err))
				}
				if !errors.Is(err, device.ErrLost) || !v.progressed() {
					return err
				}
			}
		},
	}
	run.AddPlacement(cmd.Flags(), &p, "device", "threads")
	cmd.Flags().StringVar(&family, "family", "", "family to verify (default: all that run on the device)")
	return cmd
}

// A verification goes on where it was when the device was lost.
type verification struct {
	a               *run.App
	family, variant int // the next
	since           int // variants verified on the device at hand, the one that it was lost by among them
	right, left     int // of the family
	wrong           int
	limit           time.Duration // that a variant has
	exit            func(code int)
}

// longestVariant is how long a variant may take for its cases. Nothing stops a kernel that runs in this process, or on a GPU.
const longestVariant = 2 * time.Minute

// progressed reports whether anything was verified since the device was opened.
func (v *verification) progressed() bool {
	some := v.since > 0
	v.since = 0
	return some
}

// families prints a line a family, and a line for each variant that fails. The error wraps device.ErrLost where another device has to
// go on.
func (v *verification) families(ctx context.Context, subjects []subject.Subject, d device.Device) error {
	for ; v.family < len(subjects); v.family, v.variant, v.right, v.left = v.family+1, 0, 0, 0 {
		sub := subjects[v.family]
		f := sub.Family()
		for v.variant < len(f.Variants) {
			x := &f.Variants[v.variant]
			v.variant, v.since = v.variant+1, v.since+1
			if d.Facts().CheckLoadable(f, x) != nil {
				v.left++
				continue
			}
			ended, err := within(v.limit, func() error { return verifyVariant(ctx, d, sub, x) })
			switch {
			case !ended:
				fmt.Fprintf(v.a.Out, "%s %s: its cases did not end within %v\n", f.Name, x.Label, v.limit)
				flushed := v.a.Out.Flush()
				v.a.PrintNotice("check failed: a variant does not end, and those behind it are not verified; tune gives each a process of its own")
				v.exit(run.ExitCheck)
				return flushed
			case ctx.Err() != nil:
				return ctx.Err()
			case errors.Is(err, verify.ErrNoCase):
				v.left++
			case err != nil:
				v.wrong++
				fmt.Fprintf(v.a.Out, "%s %s: %s\n", f.Name, x.Label, ui.OneLine(err))
				if errors.Is(err, device.ErrLost) {
					return err
				}
			default:
				v.right++
			}
		}
		line := fmt.Sprintf("%s: %s right", f.Name, ui.Count(v.right, "variant"))
		if v.left > 0 {
			line += fmt.Sprintf(", %d not for this device", v.left)
		}
		fmt.Fprintln(v.a.Out, line)
	}
	if v.wrong > 0 {
		return run.AsCheck(fmt.Errorf("%s wrong on %s", ui.Count(v.wrong, "variant"), d.Facts()))
	}
	return nil
}

// within calls a function, and reports whether it ended within a limit. If not, it is left running.
func within(limit time.Duration, do func() error) (ended bool, err error) {
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err = <-done:
		return true, err
	case <-time.After(limit):
		return false, nil
	}
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
