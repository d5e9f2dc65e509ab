package main

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"coalesce/autotune/subject"
	"coalesce/bench/result"
	"coalesce/generated/csg"
	"coalesce/runtime/device"
)

// instances keeps one instance of a value type, method and size, so that all
// variants answer the same one and are held against each other.
type instances map[string]subject.Instance

func (m instances) instanceFor(s subject.Subject, v *device.Variant, n int) (subject.Instance, error) {
	f := fixedParams(s.Family(), v)
	key := fmt.Sprint(f, n)
	if m[key] == nil {
		inst, err := s.Instance(f, n, 1)
		if err != nil {
			return nil, err
		}
		m[key] = inst
	}
	return m[key], nil
}

// product are the variants of csg/splits that differ from the safe point in lambda, alpha,
// beta and block alone: DP, int32.
func product(f *device.Family) []*device.Variant {
	safe := safeOf(f)
	var list []*device.Variant
	for i := range f.Variants {
		if v := &f.Variants[i]; differs(f, v, safe, "lambda", "alpha", "beta", "block") {
			list = append(list, v)
		}
	}
	return list
}

func safeOf(f *device.Family) *device.Variant {
	i := slices.IndexFunc(f.Variants, func(v device.Variant) bool { return v.Safe && f.Value(&v, "value") == "int32" })
	return &f.Variants[i]
}

// differs reports whether v and w agree in all but the named parameters.
func differs(f *device.Family, v, w *device.Variant, params ...string) bool {
	for i, p := range f.Params {
		if v.Values[i] != w.Values[i] && !slices.Contains(params, p) {
			return false
		}
	}
	return true
}

// timeVariants times every variant of the product at 22 agents, the best ten at 24, the
// best three at the size asked for.
func (b *bench) timeVariants() error {
	s := subjectOf(&csg.Splits)
	f := s.Family()
	left := product(f)
	known := instances{}
	for _, round := range []struct{ agents, keep, runs int }{{min(22, b.agents), 10, 3}, {min(24, b.agents), 4, 3}, {b.agents, 3, 5}} {
		rate := map[*device.Variant]float64{}
		for _, v := range left {
			if b.OutOfTime() {
				fmt.Println("the budget is spent")
				return nil
			}
			inst, err := known.instanceFor(s, v, round.agents)
			if err != nil {
				return err
			}
			row := b.measureVariant(s, v, "sweep", round.agents, round.runs, true, inst)
			b.AddRow(row)
			if row.Failed == "" {
				rate[v] = row.Rate()
			}
		}
		slices.SortFunc(left, func(v, w *device.Variant) int { return cmp.Compare(rate[w], rate[v]) })
		left = left[:min(round.keep, len(left))]
	}
	return nil
}

// timeStudyVariants times every variant outside the product, next to the safe point
// and the point as printed.
func (b *bench) timeStudyVariants() error {
	s := subjectOf(&csg.Splits)
	f := s.Family()
	safe := safeOf(f)
	known := instances{}
	for _, n := range []int{20, 24} {
		for i := range f.Variants {
			v := &f.Variants[i]
			name := "effect"
			if v != safe && differs(f, v, safe, "lambda", "alpha", "beta", "block") {
				if !differs(f, v, safe, "lambda") && !differs(f, v, safe, "alpha") && !differs(f, v, safe, "beta") && !differs(f, v, safe, "block") {
					continue
				}
			}
			if f.Value(v, "construct") == "integer" && n > 18 || f.Value(v, "origin") == "launch" && n > 22 {
				continue // 4^n/2 splittings made; a launch for every 32 coalitions
			}
			if b.OutOfTime() {
				return nil
			}
			inst, err := known.instanceFor(s, v, n)
			if err != nil {
				return err
			}
			b.AddRow(b.measureVariant(s, v, name, n, 3, true, inst))
		}
	}
	return nil
}

// checkRepeats runs one variant of each kind 1,000 times on one instance: the whole
// table f must be the same every time.
func (b *bench) checkRepeats() error {
	s := subjectOf(&csg.Splits)
	f := s.Family()
	safe := safeOf(f)
	known := instances{}
	for i := range f.Variants {
		v := &f.Variants[i]
		if v != safe && differs(f, v, safe, "lambda", "alpha", "beta", "block") {
			continue
		}
		if b.OutOfTime() {
			return nil
		}
		const runs = 1000
		n := 13
		if f.Value(v, "construct") == "integer" {
			n = 10 // a launch for each coalition
		}
		inst, err := known.instanceFor(s, v, n)
		if err != nil {
			return err
		}
		row := result.Row{Name: "repeat", Variant: v.Label, Agents: n}
		if err := b.same(s, v, inst, runs); err != nil {
			row.Failed = err.Error()
		}
		fmt.Printf("repeat %s: %s\n", v.Label, strings.TrimSpace("1000 equal tables "+row.Failed))
		b.AddRow(row)
	}
	return nil
}

// tabled is a job whose table can be read.
type tabled interface {
	Table(device.Stream) ([]byte, error)
}

func (b *bench) same(s subject.Subject, v *device.Variant, inst subject.Instance, runs int) error {
	run, err := s.Open(b.Dev, v)
	if err != nil {
		return err
	}
	defer run.Close()
	job, err := run.Prepare(inst)
	if err != nil {
		return err
	}
	defer job.Close()
	var first []byte
	for i := range runs {
		if err := job.Reset(b.stream); err != nil {
			return err
		}
		if err := job.Run(b.stream); err != nil {
			return err
		}
		table, err := job.(tabled).Table(b.stream)
		if err != nil {
			return err
		}
		if i == 0 {
			first = table
		} else if !bytes.Equal(first, table) {
			return fmt.Errorf("run %d of %d gave another table", i, runs)
		}
	}
	return job.Check(b.stream)
}
