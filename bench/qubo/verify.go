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
	solver "coalesce/solvers/qubo"
)

// verify runs variants on the small cases of their subjects, where the reference
// is the judge.
func (b *bench) verify() (err error) {
	stream, err := b.dev.NewStream()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stream.Close()) }()
	for _, s := range solver.Subjects() {
		f := s.Family()
		_, short, _ := strings.Cut(f.Name, "/")
		if f.Target == device.Host != (b.facts.Kind == device.Host) || len(b.settings.engines) > 0 && !slices.Contains(b.settings.engines, short) {
			continue
		}
		right := 0
		variants := b.variants(f)
		for _, v := range variants {
			if b.late() {
				return errLate
			}
			row := result.Binary{Name: f.Name, Variant: v.Label, What: "verify"}
			start := time.Now()
			if row.Count, err = b.cases(s, v, stream); err != nil {
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

// cases of the workloads that the variant is for.
func (b *bench) cases(s subject.Subject, v *device.Variant, stream device.Stream) (n int, err error) {
	run, err := s.Open(b.dev, v)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, run.Close()) }()
	for _, fixed := range s.Fixed() {
		if s.Family().Fits(v, fixed) != nil {
			continue
		}
		cases, err := s.Cases(fixed)
		if err != nil {
			return n, err
		}
		right, err := verify.Cases(b.ctx, b.dev, stream, s, v, run, cases)
		n += right
		if err != nil {
			return n, err
		}
	}
	if n == 0 {
		return 0, verify.ErrNoCase
	}
	return n, nil
}
