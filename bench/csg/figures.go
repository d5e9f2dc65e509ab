package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"coalesce/autotune/subject"
	"coalesce/autotune/tuned"
	"coalesce/bench/result"
	"coalesce/generated/csg"
	"coalesce/runtime/device"
	"coalesce/runtime/host"
	solver "coalesce/solvers/csg"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// A curve is one line of the papers' figures: a variant by agents.
type curve struct {
	name    string
	subject subject.Subject
	variant func(n int) (*device.Variant, error)
	grows   float64 // its time with an agent more, about
	sizes   func(n int) bool
}

// to are the sizes up to limit, and those named.
func to(limit int, more ...int) func(n int) bool {
	return func(n int) bool {
		if slices.Contains(more, n) {
			return true
		}
		return n <= limit
	}
}

// allCurves are what the papers' figures show on this kind of device, and the best
// variants of this project's beside them.
func (b *bench) allCurves() []curve {
	if b.Facts.Kind == device.Host {
		return []curve{{"csg/hosttiles", subjectOf(&csg.Hosttiles), b.chosen(&csg.Hosttiles, map[string]string{"value": "int32"}), 3, to(26)}}
	}
	published := subjectOf(&csg.Splits)
	f := published.Family()
	var list []curve
	for i := range f.Variants {
		v := &f.Variants[i]
		c := curve{subject: published, variant: func(int) (*device.Variant, error) { return v, nil }, grows: 2.1}
		profile := f.Value(v, "profile") == "on"
		switch {
		case f.Value(v, "origin") != "launch" || f.Value(v, "alpha") == "32" && f.Value(v, "construct") != "shift":
			continue
		case f.Value(v, "construct") == "integer":
			c.name, c.sizes = "integer subset construction", to(22)
		case f.Value(v, "method") == "idp":
			c.name, c.sizes = "IDP, shared by batch", to(23, 28)
		case f.Value(v, "collision") == "pair":
			c.name, c.sizes = "initialSplit, shared by pair", to(26, 29)
		default:
			c.name, c.sizes = "initialSplit", to(26)
		}
		if profile {
			c.name, c.sizes = c.name+", checkpoints", to(0, min(22, b.agents))
		}
		list = append(list, c)
	}
	dp := map[string]string{"value": "int32", "method": "dp", "profile": "off"}
	return append(list, curve{"csg/splits, the best", published, b.chosen(f, dp), 3, to(29)},
		curve{"csg/tiles", subjectOf(&csg.Tiles), b.chosen(&csg.Tiles, map[string]string{"value": "int32"}), 3, to(29)})
}

// chosen is the variant that a solve of so many agents takes.
func (b *bench) chosen(f *device.Family, fixed map[string]string) func(n int) (*device.Variant, error) {
	s := subjectOf(f)
	return func(n int) (*device.Variant, error) {
		o := solve.Settings{}
		choice, err := o.Choose(f, b.Facts, tuned.Workload{Fixed: fixed, Size: n}, func(v *device.Variant) error { return s.Feasible(v, b.Facts, n) })
		return choice.Variant, err
	}
}

// timeFigures runs what the papers' figures show, size by size: ten samples of a point that takes
// less than a second, as the paper has it, and one of others. A point that would not end
// within the budget is left out; -resume goes on with it.
func (b *bench) timeFigures() error {
	b.ResumeRows()
	all := b.allCurves()
	last := make([]result.Row, len(all)) // of each curve
	for n := cmp.Or(b.from, 10); n <= b.agents; n++ {
		known := instances{}
		for i, c := range all {
			if !c.sizes(n) || len(b.curves) > 0 && !slices.ContainsFunc(b.curves, func(begin string) bool { return strings.HasPrefix(c.name, begin) }) {
				continue
			}
			if row, ok := b.kept(c.name, n); ok {
				last[i] = row
				continue
			}
			expected := 0.0
			if m := last[i]; m.Agents > 0 {
				expected = m.Median() * math.Pow(c.grows, float64(n-m.Agents))
			}
			if b.LacksTimeFor(time.Duration(expected * float64(time.Second))) {
				fmt.Printf("%-34s n=%d left out: some %.0f s, more than the budget has\n", c.name, n, expected)
				continue
			}
			v, err := c.variant(n)
			if err != nil {
				return err
			}
			inst, err := known.instanceFor(c.subject, v, n)
			if err != nil {
				return err
			}
			runs, warm := 10, true
			if expected >= 1 {
				runs, warm = 1, false
			}
			row := b.measureVariant(c.subject, v, c.name, n, runs, warm, inst)
			b.AddRow(row)
			last[i] = row
		}
	}
	return nil
}

// kept is a row that an earlier run measured.
func (b *bench) kept(name string, n int) (result.Row, bool) {
	for _, row := range b.Kept {
		if row.Name == name && row.Agents == n {
			return row, true
		}
	}
	return result.Row{}, false
}

// timeSequential times the papers' sequential programs on one core, with ten samples of runs under
// a second.
func (b *bench) timeSequential() error {
	b.ResumeRows()
	for n := cmp.Or(b.from, 10); n <= b.agents; n++ {
		for _, m := range []solver.Method{solver.DP, solver.IDP} {
			if _, ok := b.kept(sequentialName(m), n); ok {
				continue
			}
			expected := time.Duration(0.8 * math.Pow(3, float64(n))) // ns: a splitting takes about 1.6
			if b.LacksTimeFor(expected) {
				return nil
			}
			runs := 1
			if expected < time.Second {
				runs = 10
			}
			b.AddRow(timeReference(m, n, runs))
		}
	}
	return nil
}

func sequentialName(m solver.Method) string {
	return map[solver.Method]string{solver.DP: "sequential DP, one core", solver.IDP: "sequential IDP, one core"}[m]
}

// timeReference times a sequential program: of DP the reference's, of IDP the host's with one worker, which
// does not look at what IDP leaves out.
func timeReference(m solver.Method, n, runs int) result.Row {
	values := scatteredValues(n)
	if m == solver.IDP {
		return oneWorker(values, n, runs)
	}
	row := result.Row{Name: sequentialName(m), Method: string(m), Agents: n}
	for range runs {
		start := time.Now()
		_, count := solver.Table(values, m)
		row.Runs, row.Splittings = append(row.Runs, time.Since(start).Seconds()), float64(count)
	}
	fmt.Printf("%-34s n=%d %10.4f ms %10.3e splittings/s\n", row.Name, n, row.Median()*1e3, row.Rate())
	return row
}

func oneWorker(values []int32, n, runs int) result.Row {
	row := result.Row{Name: sequentialName(solver.IDP), Method: string(solver.IDP), Agents: n}
	d := host.Open(1)
	defer d.Close()
	inst, err := problem.NewInstance(values, fmt.Sprintf("scattered, %d agents", n))
	for k := 0; k < runs && err == nil; k++ {
		var r *solver.Result
		if r, err = solver.Solve(context.Background(), inst, solver.Options{Settings: solve.Settings{Devices: []device.Device{d}, Algorithm: string(solver.IDP)}}); err == nil {
			row.Runs, row.Splittings = append(row.Runs, r.Seconds.Solve), r.Splittings
		}
	}
	if err != nil {
		row.Failed = err.Error()
	}
	fmt.Printf("%-34s n=%d %10.4f ms %10.3e splittings/s %s\n", row.Name, n, row.Median()*1e3, row.Rate(), row.Failed)
	return row
}
