package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"coalesce/bench/experiment"
	"coalesce/runtime/device"
	"coalesce/runtime/devices"
	solver "coalesce/solvers/assignment"
	assignmentproblem "coalesce/solvers/assignment/problem"
	"coalesce/solvers/solve"
)

// A step of the scaling is a problem on some numbers of devices.
type step struct {
	problem
	devices  []int
	families []string
}

var published = []string{"classical", "tree"}

// steps are the paper's: weak scaling, costs below 10n and n growing with the
// root of the number of devices, and strong scaling; its largest point; weak
// scaling up to two devices' memory; and what one GPU cannot hold.
func steps() []step {
	uniform := func(n int, s costRange) problem {
		return problem{kind: "uniform", n: n, spans: s, value: assignmentproblem.Int32}
	}
	all := append(slices.Clone(published), "core")
	return []step{
		{uniform(10000, tenfold), []int{1}, all}, {uniform(14142, tenfold), []int{2}, all},
		{uniform(20000, tenfold), []int{1, 2, 4, 8}, all}, {uniform(28284, tenfold), []int{2, 8}, all},
		{uniform(40000, tenfold), []int{1, 2, 4, 8}, all}, {uniform(40000, million), []int{1, 2, 4, 8}, []string{"core"}},
		{uniform(56569, tenfold), []int{2}, all}, {uniform(80000, tenfold), []int{1, 2, 4, 8}, all},
		{uniform(100000, billion), []int{1, 2, 4, 8}, []string{"core"}}, {uniform(141421, billion), []int{2}, []string{"core"}},
		{uniform(200000, billion), []int{2, 4, 8}, []string{"core"}},
	}
}

// raceDevices runs the steps on as many devices as there are. Costs are drawn where
// they stay. On one device the engines are those of the race; core runs there
// as it would on several, too, because only that engine times its passes. Rivals
// that are commands draw the same costs themselves.
func (b *bench) raceDevices() (err error) {
	b.ResumeRows()
	group := []device.Device{b.Dev}
	defer func() { err = errors.Join(err, devices.Close(group[1:])) }()
	for len(group) < b.settings.devices {
		more, err := devices.Open(fmt.Sprintf("%s:%d", b.Facts.Kind, len(group)), devices.Options{})
		if err != nil {
			break // there are no more
		}
		group = append(group, more...)
	}
	fmt.Printf("%d devices\n", len(group))
	seen := map[string]bool{}
	has := func(t step) bool { return slices.Contains(b.settings.sizes, t.n) }
	own := slices.ContainsFunc(steps(), has) // sizes of steps are asked for: those steps, else all at other sizes
	for _, t := range steps() {
		if own && !has(t) {
			continue
		}
		asked := b.selectProblems([]problem{t.problem})
		if len(asked) == 0 {
			continue
		}
		t.problem = asked[0]
		key := fmt.Sprint(t.problem, t.devices)
		if seen[key] {
			continue // -sizes made two steps one
		}
		seen[key] = true
		for s := 1; s <= b.settings.seeds; s++ {
			if err := b.grow(t, s, group); err != nil {
				return err
			}
		}
	}
	return nil
}

// grow runs a step's instance on every number of devices, rivals behind the families.
func (b *bench) grow(t step, s int, devices []device.Device) error {
	i := &instance{problem: t.problem, Instance: &assignmentproblem.Instance{Rows: t.n, Cols: t.n, Type: t.value}, seed: s, optimum: t.knownOptimum(s)}
	for _, n := range t.devices {
		if n > len(devices) {
			continue
		}
		for _, family := range t.families {
			if b.OutOfTime() {
				return experiment.ErrLate
			}
			if len(b.settings.families) > 0 && !slices.Contains(b.settings.families, family) {
				continue
			}
			if err := b.share(i, s, family, devices[:n], n > 1); err != nil {
				return err
			}
			if n == 1 && family == "core" {
				if err := b.share(i, s, family, devices[:n], true); err != nil {
					return err
				}
			}
		}
		for _, rival := range b.rivals.external {
			if b.OutOfTime() {
				return experiment.ErrLate
			}
			b.raceRival(rival.name, i, n, 0)
		}
	}
	return nil
}

// share runs a family on some devices, by its engine for several or for one.
func (b *bench) share(i *instance, s int, family string, devices []device.Device, sharded bool) error {
	row := i.newRow(family)
	row.Devices = len(devices)
	if sharded && len(devices) == 1 {
		row.Name += ", sharded"
	}
	if b.hasRow(i, row) {
		return nil
	}
	ctx, stop := context.WithTimeout(b.Ctx, b.settings.slow)
	defer stop()
	gap, err := b.timeRuns(ctx, &row, func() (*solver.Session, error) {
		o := solver.Options{Settings: solve.Settings{Devices: devices, Algorithm: family, Variant: b.settings.Variant}}
		d := solver.Drawing{Kind: i.kind, Rows: i.n, Cols: i.n, Range: i.spans.of(i.n), Seed: uint64(s) << 40, Type: i.value}
		if sharded {
			return solver.OpenDrawnSharded(b.Ctx, d, o)
		}
		return solver.OpenDrawn(b.Ctx, d, o)
	})
	if errors.Is(err, device.ErrMemory) {
		fmt.Printf("%-28s %-26s left out: %v\n", i.problem, row.Name, err)
		return nil
	}
	if err == nil {
		err = i.checkOptimum(&row, gap)
	}
	if err != nil {
		row.Failed = err.Error()
	}
	fmt.Printf("%d devices: ", len(devices))
	b.recordRow(i, row)
	return nil
}
