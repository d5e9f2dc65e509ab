package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"coalesce/autotune/verify"
	"coalesce/bench/result"
	"coalesce/runtime/device"
	solver "coalesce/solvers/qubo"
)

// verify runs variants on the small cases of their subjects, where the reference
// is the judge.
func (b *bench) verify() (err error) {
	stream, err := b.Dev.NewStream()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stream.Close()) }()
	for _, s := range solver.Subjects() {
		f := s.Family()
		_, short, _ := strings.Cut(f.Name, "/")
		if f.Target == device.Host != (b.Facts.Kind == device.Host) || len(b.settings.engines) > 0 && !slices.Contains(b.settings.engines, short) {
			continue
		}
		right := 0
		variants := verify.Variants(f, b.settings.variant, b.settings.sample)
		for _, v := range variants {
			if b.Late() {
				return errLate
			}
			row := result.Binary{Name: f.Name, Variant: v.Label, What: "verify"}
			start := time.Now()
			if row.Count, err = verify.Variant(b.Ctx, b.Dev, stream, s, v, b.settings.largest); err != nil {
				row.Failed = err.Error()
			} else {
				right++
			}
			row.Seconds = time.Since(start).Seconds()
			b.add(row)
		}
		fmt.Printf("%s: %d of %d variants right\n", f.Name, right, len(variants))
	}
	return nil
}
