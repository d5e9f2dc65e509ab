package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"coalesce/bench/experiment"
	"coalesce/bench/result"
	solver "coalesce/solvers/qubo"
)

// flipRates times the steps of qubo/bulk on dense problems that are drawn on
// their way to the device: -instances lists sizes, with the type of rows behind
// a slash where it is not int8, as in 2500,65536/int16.
func (b *bench) flipRates() error {
	names := b.settings.instances
	if len(names) == 0 {
		names = []string{"2500", "7000", "16384", "32768", "65536"}
	}
	var errs []error
	for _, name := range names {
		size, row, typed := strings.Cut(name, "/")
		if !typed {
			row = "int8"
		}
		n, err := strconv.Atoi(size)
		if err != nil {
			return fmt.Errorf("-instances has %q, expected a size such as 2500 or 65536/int16", name)
		}
		labels := []string{b.settings.Variant}
		if b.settings.Variant == "all" {
			if labels, err = solver.FlippingVariants(b.Facts, n, row); err != nil {
				return err
			}
		}
		for _, label := range labels {
			if b.OutOfTime() {
				return errors.Join(append(errs, experiment.ErrLate)...)
			}
			if err := b.flipRate(n, row, label); err != nil {
				errs = append(errs, fmt.Errorf("%s %s: %w", name, label, err))
			}
		}
	}
	return errors.Join(errs...)
}

// flipRate adds the row of a variant. A round is long enough for its launch not to
// count; two before those that are counted tell how long.
func (b *bench) flipRate(n int, row, label string) (err error) {
	f, err := solver.OpenFlipping(b.Dev, n, row, label)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := f.SetRules(b.settings.rules); err != nil {
		return err
	}
	const enough = 0.1 // seconds
	flips, number := int64(50), int64(0)
	round := func() (float64, error) {
		t, err := f.Round(number, flips)
		number++
		return t.Seconds(), err
	}
	for range 2 {
		t, err := round()
		if err != nil {
			return err
		}
		flips = max(flips, min(1<<20, int64(float64(flips)*enough/max(t, 1e-6))))
	}
	out := result.Binary{Name: "bulk", Variant: f.Variant, Instance: fmt.Sprintf("drawn-%d-%s", n, row), N: n,
		Timed: result.Timed{Count: f.Searches, What: "flips", Work: float64(flips) * float64(f.Searches)}}
	for range b.settings.runs {
		t, err := round()
		if err != nil {
			return err
		}
		out.Runs = append(out.Runs, t)
	}
	if err := f.Check(3); err != nil {
		out.Failed = err.Error()
	}
	b.addRow(out)
	m := result.Median(out.Runs)
	fmt.Printf("    a step takes %.3f µs; rows are read at %.3g TB/s; a search has %d threads of %d registers and %d bytes of local memory\n",
		1e6*m/float64(flips), out.Work*float64(f.Row)/m/1e12, f.Threads, f.Registers, f.Local)
	return nil
}
