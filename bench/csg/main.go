// Csg measures the families of coalition structure generation and writes
// results as JSON. It runs where the device is:
//
//	go run ./bench/csg -device host -experiment host
//	go run -tags cuda ./bench/csg -device cuda -experiment sweep,effects,figures,repeat
//	go run -tags cuda ./bench/csg -device cuda -experiment tiles -agents 30
//	go run -tags cuda ./bench/csg -device cuda -experiment price -agents 30
//	go run -tags cuda ./bench/csg -device cuda:all -experiment several -agents 33
//
// Every time covers the launch sequence of one run, values resident on the
// device; every answer is certified, and compared with the other variants'.
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"coalesce/autotune/subject"
	"coalesce/bench/result"
	"coalesce/generated/csg"
	"coalesce/runtime/device"
	solver "coalesce/solvers/csg"
)

type bench struct {
	dev    device.Device
	all    []device.Device // dev and its like
	stream device.Stream
	facts  device.Facts
	out    string
	commit string
	budget time.Duration
	start  time.Time
}

func main() {
	kind := flag.String("device", "host", "host, or cuda, or cuda:all for several, in a build with -tags cuda")
	experiments := flag.String("experiment", "host", "comma-separated: host, sweep, effects, figures, repeat, tiles, price, several")
	out := flag.String("out", "bench/results", "folder for the JSON files")
	commit := flag.String("commit", "", "the commit measured, for the record")
	agents := flag.Int("agents", 26, "agents of the sweep, and the most of tiles, price and several")
	budget := flag.Duration("budget", 8*time.Minute, "stop starting new rows after this time")
	flag.Parse()
	all, err := openDevices(*kind)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	b := &bench{dev: all[0], all: all, facts: all[0].Facts(), out: *out, commit: *commit, budget: *budget, start: time.Now()}
	if b.stream, err = b.dev.NewStream(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	failed := false
	for _, name := range strings.Split(*experiments, ",") {
		rows, err := b.experiment(name, *agents)
		if err != nil {
			fmt.Fprintln(os.Stderr, name+":", err)
			failed = true
		}
		f := result.File{Experiment: name, Device: b.facts.Name, Driver: b.facts.Driver, Commit: *commit, Command: command(*kind, name, *agents), Rows: rows}
		if err := f.Write(*out, "csg-"+name); err != nil {
			fmt.Fprintln(os.Stderr, err)
			failed = true
		}
		for _, r := range rows {
			failed = failed || r.Failed != ""
		}
	}
	if failed {
		os.Exit(1)
	}
}

// command is what repeats an experiment.
func command(kind, experiment string, agents int) string {
	tags := ""
	if strings.HasPrefix(kind, device.CUDA) {
		tags = "-tags cuda "
	}
	c := fmt.Sprintf("go run %s./bench/csg -device %s -experiment %s", tags, kind, experiment)
	if slices.Contains([]string{"sweep", "tiles", "price", "several"}, experiment) {
		c += fmt.Sprint(" -agents ", agents)
	}
	return c
}

func (b *bench) experiment(name string, agents int) ([]result.Row, error) {
	switch name {
	case "host":
		return b.host()
	case "sweep":
		return b.sweep(agents)
	case "effects":
		return b.effects()
	case "figures":
		return b.figures()
	case "repeat":
		return b.repeat()
	case "tiles":
		return b.tiles(agents)
	case "price":
		return b.price(agents)
	case "several":
		return b.several(agents)
	}
	return nil, fmt.Errorf("no experiment %q", name)
}

// late reports that the budget is spent.
func (b *bench) late() bool { return time.Since(b.start) > b.budget }

// checkpoints is a job that counts cycles.
type checkpoints interface {
	Checkpoints(device.Stream) ([]uint64, error)
}

// measure runs one variant of a subject runs times on one instance, after a
// run that is not counted when warm is set.
func (b *bench) measure(s subject.Subject, v *device.Variant, name string, agents, runs int, warm bool, inst subject.Instance) result.Row {
	f := s.Family()
	row := result.Row{Name: name, Variant: v.Label, Method: f.Value(v, "method"), Agents: agents}
	fail := func(err error) result.Row {
		row.Failed = err.Error()
		fmt.Printf("%-40s n=%d %s FAILED: %v\n", name, agents, v.Label, err)
		return row
	}
	run, err := s.Open(b.dev, v)
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
	}
	fmt.Printf("%-34s n=%d %10.4f ms %10.3e splittings/s  %s\n", name, agents, row.Median()*1e3, row.Rate(), v.Label)
	return row
}

// subjectOf finds a family's subject.
func subjectOf(f *device.Family) subject.Subject {
	all := solver.Subjects()
	return all[slices.IndexFunc(all, func(s subject.Subject) bool { return s.Family() == f })]
}

// fixed is the compile-time workload of a variant.
func fixed(f *device.Family, v *device.Variant) map[string]string {
	return map[string]string{"value": f.Value(v, "value"), "method": f.Value(v, "method")}
}

// host measures the host kernels, and the reference where it is not too slow.
func (b *bench) host() ([]result.Row, error) {
	s := subjectOf(&csg.Hosttiles)
	f := s.Family()
	var rows []result.Row
	for _, n := range []int{16, 20, 22, 24} {
		for i := range f.Variants {
			v := &f.Variants[i]
			if n > 20 && !v.Safe || n > 22 && f.Value(v, "value") != "int32" {
				continue
			}
			inst, err := s.Instance(fixed(f, v), n, 1)
			if err != nil {
				return rows, err
			}
			rows = append(rows, b.measure(s, v, "host", n, 5, true, inst))
		}
	}
	for _, n := range []int{12, 14, 16, 18} {
		row, err := reference(n)
		if err != nil {
			return rows, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// reference times the sequential dynamic program.
func reference(n int) (result.Row, error) {
	values := make([]int32, 1<<n)
	for i := range values[1:] {
		values[i+1] = int32(uint32(i+1) * 2654435761 >> 12)
	}
	row := result.Row{Name: "sequential DP, one core", Method: "dp", Agents: n}
	for range 3 {
		start := time.Now()
		_, count := solver.Table(values, solver.DP)
		row.Runs, row.Splittings = append(row.Runs, time.Since(start).Seconds()), float64(count)
	}
	fmt.Printf("%-34s n=%d %10.4f ms %10.3e splittings/s\n", row.Name, n, row.Median()*1e3, row.Rate())
	return row, nil
}
