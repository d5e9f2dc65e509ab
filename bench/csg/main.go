// Csg measures the families of coalition structure generation and writes
// results as JSON. It runs where the device is:
//
//	go run ./bench/csg -device host -experiment host
//	go run ./bench/csg -device host -experiment graphs -agents 1000
//	go run ./bench/csg -device host -experiment proofs -agents 200
//	go run -tags cuda ./bench/csg -device cuda -experiment sweep,effects,figures,repeat
//	go run -tags cuda ./bench/csg -device cuda -experiment tiles -agents 30
//	go run -tags cuda ./bench/csg -device cuda -experiment tiles -agents 30 -types int16
//	go run -tags cuda ./bench/csg -device cuda -experiment price -from 28 -agents 30
//	go run -tags cuda ./bench/csg -device cuda:0,1 -experiment several -agents 33
//
// Every time covers the launch sequence of one run, values resident on the
// device; every answer is certified, and compared with the other variants'.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"

	"coalesce/autotune/subject"
	"coalesce/bench/experiment"
	"coalesce/bench/result"
	"coalesce/generated/csg"
	"coalesce/runtime/device"
	solver "coalesce/solvers/csg"
)

type bench struct {
	experiment.Bench[result.Row]
	stream device.Stream
	agents int      // the most, 26 unless said
	from   int      // the fewest of price and figures; 0: theirs
	curves []string // of figures; nil: all
	types  []string // of values, of tiles; nil: all
	drawn  []string // distributions of price; nil: all
}

func experiments() []experiment.Experiment[*bench] {
	return []experiment.Experiment[*bench]{
		{Name: "host", About: "the host kernels, and the reference where it is not too slow", Run: (*bench).host},
		{Name: "sweep", About: "every variant of csg/splits' product of lambda, alpha, beta and block, the best of them with more agents", Run: (*bench).timeVariants},
		{Name: "effects", About: "every other variant of csg/splits, beside the safe point and the point as printed", Run: (*bench).timeStudyVariants},
		{Name: "figures", About: "what the papers' figures show: the published kernels, their checkpoints, the best variants beside them", Run: (*bench).timeFigures},
		{Name: "sequential", About: "the sequential programs of the papers, DP and IDP, on one core", Run: (*bench).timeSequential},
		{Name: "repeat", About: "one variant many times", Run: (*bench).checkRepeats},
		{Name: "tiles", About: "csg/tiles and its ceiling", Run: (*bench).timeTiles},
		{Name: "price", About: "every distribution by prices, by tiles, and by the solver's choice", Run: (*bench).timePrices},
		{Name: "graphs", About: "graphs of 40 to 1,000 agents: the search and GCS-Q, for the same time", Run: (*bench).raceGraphs},
		{Name: "proofs", About: "graphs of nine kinds, 40 to 200 agents: values, bounds and the time of proofs", Run: (*bench).proveGraphs},
		{Name: "several", About: "the same values on one device, on two, and so on", Run: (*bench).timeDevices},
	}
}

func main() {
	var s experiment.Settings
	var curves, types, drawn experiment.List
	experiment.Register(&s, "Measures coalition structure generation.", "host", experiments())
	agents := flag.Int("agents", 26, "the most agents, but for effects and repeat, which have their own")
	from := flag.Int("from", 0, "the fewest agents of price (20 unless said), figures and sequential (10)")
	flag.Var(&curves, "curves", "comma-separated beginnings of the names of figures' curves (default: all)")
	flag.Var(&types, "types", "comma-separated value types of tiles (default: all)")
	flag.Var(&drawn, "distributions", "comma-separated distributions of price (default: all)")
	flag.Parse()
	experiment.Main(&s, func(ctx context.Context, names []string) bool {
		return run(ctx, s, names, *from, *agents, curves, types, drawn)
	})
}

func run(ctx context.Context, s experiment.Settings, names []string, from, agents int, curves, types, drawn []string) bool {
	common, err := experiment.New[result.Row](ctx, "csg", s)
	if err != nil {
		fmt.Fprintln(os.Stderr, "csg:", err)
		return false
	}
	defer common.Close()
	b := &bench{Bench: *common, from: from, agents: agents, curves: curves, types: types, drawn: drawn}
	if b.stream, err = b.Dev.NewStream(); err != nil {
		b.ReportError(err)
		return false
	}
	return experiment.Run(&b.Bench, names, experiments(), func(e experiment.Experiment[*bench]) {
		suffix := ""
		if b.Facts.Kind == device.Host && e.Name == "figures" {
			suffix = "-host"
		}
		b.RunExperiment(e.Name, suffix, func() error { return e.Run(b) })
	})
}

// checkpoints is a job that counts cycles.
type checkpoints interface {
	Checkpoints(device.Stream) ([]uint64, error)
}

// measureVariant runs one variant of a subject runs times on one instance, after a
// run that is not counted when warm is set.
func (b *bench) measureVariant(s subject.Subject, v *device.Variant, name string, agents, runs int, warm bool, inst subject.Instance) result.Row {
	f := s.Family()
	row := result.Row{Name: name, Variant: v.Label, Method: f.Value(v, "method"), Agents: agents}
	fail := func(err error) result.Row {
		row.Failed = err.Error()
		fmt.Printf("%-40s n=%d %s FAILED: %v\n", name, agents, v.Label, err)
		return row
	}
	run, err := s.Open(b.Dev, v)
	if err != nil {
		return fail(err)
	}
	defer run.Close()
	job, err := run.Prepare(inst)
	if err != nil {
		return fail(err)
	}
	defer job.Close()
	row.Splittings = job.Work()
	for i := range runs + 1 {
		if i == 0 && !warm {
			continue
		}
		if err := job.Reset(b.stream); err != nil {
			return fail(err)
		}
		from, err := b.stream.Record()
		if err != nil {
			return fail(err)
		}
		if err := job.Run(b.stream); err != nil {
			return fail(err)
		}
		to, err := b.stream.Record()
		if err != nil {
			return fail(err)
		}
		if err := b.stream.Sync(); err != nil {
			return fail(err)
		}
		t, err := to.Since(from)
		if err != nil {
			return fail(err)
		}
		if i > 0 {
			row.Runs = append(row.Runs, t.Seconds())
		}
	}
	if err := job.Check(b.stream); err != nil {
		return fail(err)
	}
	if c, ok := job.(checkpoints); ok && f.Value(v, "profile") == "on" {
		if row.Cycles, err = c.Checkpoints(b.stream); err != nil {
			return fail(err)
		}
		row.Bounds = "printed"
	}
	fmt.Printf("%-34s n=%d %10.4f ms %10.3e splittings/s  %s\n", name, agents, row.Median()*1e3, row.Rate(), v.Label)
	return row
}

// subjectOf finds a family's subject.
func subjectOf(f *device.Family) subject.Subject {
	all := solver.Subjects()
	return all[slices.IndexFunc(all, func(s subject.Subject) bool { return s.Family() == f })]
}

// fixedParams is the compile-time workload of a variant.
func fixedParams(f *device.Family, v *device.Variant) map[string]string {
	return map[string]string{"value": f.Value(v, "value"), "method": f.Value(v, "method")}
}

// host measures the host kernels, and the reference where it is not too slow.
func (b *bench) host() error {
	s := subjectOf(&csg.Hosttiles)
	f := s.Family()
	for _, n := range []int{16, 20, 22, 24} {
		for i := range f.Variants {
			v := &f.Variants[i]
			if n > 20 && !v.Safe || n > 22 && f.Value(v, "value") != "int32" {
				continue
			}
			inst, err := s.Instance(fixedParams(f, v), n, 1)
			if err != nil {
				return err
			}
			b.AddRow(b.measureVariant(s, v, "host", n, 5, true, inst))
		}
	}
	for _, n := range []int{12, 14, 16, 18} {
		b.AddRow(timeReference(solver.DP, n, 3))
	}
	return nil
}
