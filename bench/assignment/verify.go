package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"coalesce/autotune/verify"
	"coalesce/bench/result"
	"coalesce/runtime/device"
	solver "coalesce/solvers/assignment"
)

// verify runs variants on the small cases of their subjects, where the
// reference and the host's certificate are the judges.
func (b *bench) verify() error {
	stream, err := b.Dev.NewStream()
	if err != nil {
		return err
	}
	defer stream.Close()
	for _, s := range solver.Subjects() {
		f := s.Family()
		_, short, _ := strings.Cut(f.Name, "/")
		if f.Target == device.Host != (b.Facts.Kind == device.Host) || len(b.settings.families) > 0 && !slices.Contains(b.settings.families, short) {
			continue
		}
		right := 0
		variants := verify.Variants(f, b.settings.variant, b.settings.sample)
		for _, v := range variants {
			if b.Late() {
				return errLate
			}
			row := result.Solve{Name: f.Name, Variant: v.Label, Value: f.Value(v, "value")}
			start := time.Now()
			if n, err := verify.Variant(b.Ctx, b.Dev, stream, s, v, b.settings.largest); err != nil {
				row.Failed = err.Error()
				b.Failed = true
				fmt.Printf("%s %s FAILED: %v\n", f.Name, v.Label, err)
			} else {
				right++
				fmt.Printf("%s %s: %d cases right in %.1f s\n", f.Name, v.Label, n, time.Since(start).Seconds())
			}
			b.add(row)
		}
		fmt.Printf("%s: %d of %d variants right\n", f.Name, right, len(variants))
	}
	return nil
}
