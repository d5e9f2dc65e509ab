package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"coalesce/autotune/subject"
	"coalesce/autotune/verify"
	"coalesce/bench/result"
	"coalesce/runtime/device"
	solver "coalesce/solvers/assignment"
)

// verify runs variants on the small cases of their subjects, where the
// reference and the host's certificate are the judges.
func (b *bench) verify() error {
	stream, err := b.dev.NewStream()
	if err != nil {
		return err
	}
	defer stream.Close()
	for _, s := range solver.Subjects() {
		f := s.Family()
		_, short, _ := strings.Cut(f.Name, "/")
		if f.Target == device.Host != (b.facts.Kind == device.Host) || len(b.settings.families) > 0 && !slices.Contains(b.settings.families, short) {
			continue
		}
		right := 0
		variants := b.variants(f)
		for _, v := range variants {
			if b.late() {
				return errLate
			}
			row := result.Solve{Name: f.Name, Variant: v.Label, Value: f.Value(v, "value")}
			start := time.Now()
			if n, err := b.cases(s, v, stream); err != nil {
				row.Failed = err.Error()
				b.failed = true
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

// variants to verify: the one named, one of each kind, or all.
func (b *bench) variants(f *device.Family) []*device.Variant {
	var list []*device.Variant
	seen := map[string]bool{}
	for i := range f.Variants {
		v := &f.Variants[i]
		fresh := false
		for p, value := range v.Values {
			key := f.Params[p] + "=" + value
			fresh = fresh || !seen[key]
			seen[key] = true
		}
		if b.settings.variant == "" && (fresh || !b.settings.sample) || b.settings.variant == v.Label {
			list = append(list, v)
		}
	}
	return list
}

func (b *bench) cases(s subject.Subject, v *device.Variant, stream device.Stream) (n int, err error) {
	fixed := map[string]string{}
	for at, name := range s.Family().Params {
		fixed[name] = v.Values[at]
	}
	cases, err := s.Cases(fixed)
	if err != nil {
		return 0, err
	}
	run, err := s.Open(b.dev, v)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, run.Close()) }()
	return verify.Cases(b.ctx, b.dev, stream, s, v, run, cases)
}
