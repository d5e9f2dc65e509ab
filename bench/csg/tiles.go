package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"coalesce/bench/result"
	"coalesce/generated/csg"
	"coalesce/runtime/device"
)

// timeTiles measures the ceiling of add-max, every variant of csg/tiles at 22 and 26 agents,
// but of 64-bit types the best four of those at 28, and the best at 29 and 30.
func (b *bench) timeTiles() error {
	if err := b.ceilings(); err != nil {
		return err
	}
	s := subjectOf(&csg.Tiles)
	f := s.Family()
	left := map[string][]*device.Variant{}
	for i := range f.Variants {
		v := &f.Variants[i]
		if !b.has(f.Value(v, "value")) {
			continue
		}
		left[f.Value(v, "value")] = append(left[f.Value(v, "value")], v)
	}
	for _, round := range []struct{ agents, keep, runs int }{{22, 99, 5}, {26, 4, 5}, {28, 1, 3}, {29, 1, 3}, {30, 1, 3}} {
		if round.agents > b.agents {
			break
		}
		known := instances{}
		for _, value := range []string{"int16", "int32", "float32", "int64", "float64"} {
			if round.agents > 26 && strings.HasSuffix(value, "64") {
				continue
			}
			rate := map[*device.Variant]float64{}
			for _, v := range left[value] {
				if b.OutOfTime() {
					fmt.Println("the budget is spent")
					return nil
				}
				if err := s.Feasible(v, b.Facts, round.agents); err != nil {
					return err
				}
				inst, err := known.instanceFor(s, v, round.agents)
				if err != nil {
					return err
				}
				row := b.measureVariant(s, v, "tiles", round.agents, round.runs, true, inst)
				b.AddRow(row)
				rate[v] = row.Rate()
			}
			slices.SortStableFunc(left[value], func(v, w *device.Variant) int { return cmp.Compare(rate[w], rate[v]) })
			left[value] = left[value][:min(round.keep, len(left[value]))]
			clear(known)
		}
	}
	return nil
}

// has reports whether a value type is measured.
func (b *bench) has(value string) bool { return b.types == nil || slices.Contains(b.types, value) }

// ceilings are rows of add-max on registers alone: splittings are additions.
func (b *bench) ceilings() error {
	f := &csg.Addmax
	for i := range f.Variants {
		v := &f.Variants[i]
		if !b.has(f.Value(v, "value")) {
			continue
		}
		k, err := csg.LoadAddmax(b.Dev, v)
		if err != nil {
			return err
		}
		const rounds = 1 << 14
		g := device.Grid{Blocks: int64(4 * b.Facts.SMs), Threads: f.Int(v, "block")}
		out, err := b.Dev.Alloc(8 * g.Blocks * int64(g.Threads))
		if err != nil {
			return err
		}
		each := 4.0 * 28 // of a round, as the kernel says
		if f.Value(v, "adder") == "mixed" {
			each *= 9.0 / 7
		}
		if f.Value(v, "value") == "int16" {
			each *= 2
		}
		row := result.Row{Name: "ceiling", Variant: v.Label, Splittings: each * rounds * float64(g.Blocks) * float64(g.Threads)}
		for run := range 6 {
			from, err := b.stream.Record()
			if err == nil {
				err = k.Run(b.stream, g, out, rounds)
			}
			if err != nil {
				return err
			}
			to, err := b.stream.Record()
			if err == nil {
				err = b.stream.Sync()
			}
			if err != nil {
				return err
			}
			t, err := to.Since(from)
			if err != nil {
				return err
			}
			if run > 0 {
				row.Runs = append(row.Runs, t.Seconds())
			}
		}
		fmt.Printf("%-34s      %10.4f ms %10.3e add-max/s     %s\n", row.Name, row.Median()*1e3, row.Rate(), v.Label)
		b.AddRow(row)
		if err := cmp.Or(out.Free(), k.Close()); err != nil {
			return err
		}
	}
	return nil
}
