package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"coalesce/bench/result"
	"coalesce/runtime/device"
	solver "coalesce/solvers/assignment"
	assignmentproblem "coalesce/solvers/assignment/problem"
	"coalesce/solvers/solve"
)

// An instance is a drawn problem with its optimum, if that is known.
type instance struct {
	problem
	*assignmentproblem.Instance
	seed    int
	optimum string  // that of the first contender that answered, or a published one
	gap     float64 // possible error of the optimum by rounding
}

// drawnSide is the side from which uniform costs are drawn on the GPU and
// nowhere else.
const drawnSide = 30000

// isRemote reports whether the costs are not on the host.
func (i *instance) isRemote() bool { return i.Len() == 0 && i.Points == nil && i.n > 0 }

func (b *bench) drawInstance(p problem, s int) (*instance, error) {
	if b.Facts.Kind == device.CUDA && p.kind == "uniform" && p.noise == "" && p.n >= drawnSide {
		return &instance{problem: p, Instance: &assignmentproblem.Instance{Rows: p.n, Cols: p.n, Type: p.value}, seed: s, optimum: p.knownOptimum(s)}, nil
	}
	inst, err := solver.Draw(p.drawing(s))
	return &instance{problem: p, Instance: inst, seed: s, optimum: p.knownOptimum(s)}, err
}

// newRow is an empty row for a contender.
func (i *instance) newRow(name string) result.Solve {
	return result.Solve{
		Name: name, Kind: i.kind, Rows: i.Rows, Cols: i.Cols, Range: i.spans.of(i.n), Value: string(i.value), Noise: i.noise,
		Seed: uint64(i.seed) << 40, Printed: i.knownOptimum(i.seed),
	}
}

// checkOptimum compares a row's optimum with the known one; gap is the possible error of the row's optimum by
// rounding.
func (i *instance) checkOptimum(row *result.Solve, gap float64) error {
	i.gap = max(i.gap, gap)
	if i.optimum == "" {
		i.optimum = row.Optimum
		return nil
	}
	if i.optimum == row.Optimum {
		return nil
	}
	a, errA := strconv.ParseFloat(i.optimum, 64)
	b, errB := strconv.ParseFloat(row.Optimum, 64)
	if !i.value.Integer() && errors.Join(errA, errB) == nil && math.Abs(a-b) <= i.gap+1e-9*math.Abs(a) {
		return nil
	}
	return fmt.Errorf("found the optimum %s, expected %s", row.Optimum, i.optimum)
}

// recordRow prints a row and keeps it.
func (b *bench) recordRow(i *instance, row result.Solve) {
	if row.Failed != "" {
		fmt.Printf("%-28s %-26s seed %d FAILED: %s\n", i.problem, row.Name, i.seed, row.Failed)
	} else {
		fmt.Printf("%-28s %-26s seed %d %10.3f ms of %2d  optimum %s %s\n", i.problem, row.Name, i.seed, row.Median()*1e3, len(row.Runs), row.Optimum, row.Counts)
	}
	b.addRow(row)
}

// addRow keeps a row and writes the file.
func (b *bench) addRow(row result.Solve) {
	for _, list := range [][]float64{row.Runs, row.Checks} {
		for k, x := range list {
			list[k] = math.Round(x*1e7) / 1e7
		}
	}
	b.AddRow(row)
}

// hasRow reports that an earlier run has a row's answer, which the instance then agrees with.
func (b *bench) hasRow(i *instance, row result.Solve) bool {
	at := slices.IndexFunc(b.Kept, func(k result.Solve) bool {
		return k.Name == row.Name && k.Kind == row.Kind && k.Rows == row.Rows && k.Range == row.Range && k.Value == row.Value &&
			k.Noise == row.Noise && strings.HasSuffix(k.Variant, row.Variant) && k.Seed == row.Seed && k.Devices == row.Devices
	})
	if at < 0 {
		return false
	}
	i.optimum = cmp.Or(i.optimum, b.Kept[at].Optimum)
	b.history.record(row.Name, i.problem, b.Kept[at].Median())
	return true
}

// raceOwn races one of our families, or a method of the host, on an instance.
// label names its variant, "" for the fastest known.
func (b *bench) raceOwn(family, label string, i *instance) {
	row := i.newRow(family)
	row.Variant = label
	if b.hasRow(i, row) {
		return
	}
	if why := b.history.reasonToSkip(family+label, i.problem, b.settings.slow); why != "" {
		fmt.Printf("%-28s %-26s left out: %s\n", i.problem, family, why)
		return
	}
	ctx, stop := context.WithTimeout(b.Ctx, b.settings.slow)
	defer stop()
	gap, err := b.timeRuns(ctx, &row, func() (*solver.Session, error) {
		o := solver.Options{Settings: solve.Settings{Devices: []device.Device{b.Dev}, Algorithm: family, Variant: label}}
		if family == auto {
			o.Algorithm = ""
		}
		if i.isRemote() {
			return solver.OpenDrawn(b.Ctx, i.drawing(i.seed), o)
		}
		s, err := solver.Open(o)
		if err == nil {
			err = s.Load(b.Ctx, i.Instance)
		}
		return s, err
	})
	if errors.Is(err, context.DeadlineExceeded) {
		fmt.Printf("%-28s %-26s left out: stopped after %v\n", i.problem, family, b.settings.slow)
		b.history.record(family+label, i.problem, b.settings.slow.Seconds())
		return
	}
	if err == nil {
		err = i.checkOptimum(&row, gap)
	}
	if err != nil {
		row.Failed = err.Error()
	}
	b.history.record(family+label, i.problem, row.Median())
	b.recordRow(i, row)
}

// timeRuns fills a row with the runs of open's solver.
func (b *bench) timeRuns(ctx context.Context, row *result.Solve, open func() (*solver.Session, error)) (gap float64, err error) {
	s, err := open()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	begin := time.Now()
	for run := 0; len(row.Runs) < b.settings.runs; run++ {
		r, err := s.SolveAgain(ctx)
		if err == nil && r.Certificate == nil { // the best so far, of a run that ctx ended
			err = ctx.Err()
		}
		if len(row.Runs) > 0 && errors.Is(err, context.DeadlineExceeded) {
			break
		}
		if err != nil {
			return 0, err
		}
		if row.Optimum != "" && row.Optimum != r.Value.String() && assignmentproblem.Value(row.Value).Integer() {
			return 0, fmt.Errorf("run %d found the optimum %s, those before it %s", run, r.Value.String(), row.Optimum)
		}
		row.Variant, row.Optimum, gap = r.Variant, r.Value.String(), r.Certificate.Gap
		if row.Counts, err = json.Marshal(r.Counts); err != nil {
			return 0, err
		}
		took := r.Seconds.Solve + r.Seconds.Verify
		if run == 0 && took < 1 {
			begin = time.Now() // loading and first touches are not counted
			continue
		}
		row.Runs = append(row.Runs, took)
		row.Checks = append(row.Checks, r.Seconds.Verify)
		if time.Since(begin) > b.settings.spend {
			break
		}
	}
	return gap, nil
}

// timings has the contenders' times. A contender that would take too long is left out.
type timings map[string][]timing

type timing struct {
	n       int
	width   int64 // of the range of costs
	seconds float64
}

// width is how large the range is; of floats without one, larger than any.
func (p problem) width() int64 {
	if p.spans.name == "" && !p.value.Integer() {
		return math.MaxInt64
	}
	return p.spans.of(p.n)
}

func (h timings) record(name string, p problem, seconds float64) {
	key := name + " " + p.kind + " " + p.noise
	h[key] = append(h[key], timing{p.n, p.width(), seconds})
}

// reasonToSkip is the reason why a contender should not run, empty if it should: its expected time exceeds the
// limit. The expected time is one that it took at a side and a range at most as large, times the power
// 2.5 of the ratio of the sides.
func (h timings) reasonToSkip(name string, p problem, limit time.Duration) string {
	for _, t := range h[name+" "+p.kind+" "+p.noise] {
		expected := t.seconds * math.Pow(float64(p.n)/float64(t.n), 2.5)
		if t.n <= p.n && t.width <= p.width() && expected > limit.Seconds() {
			return fmt.Sprintf("expected to take %.0f s or more, as %d took %.3g s", expected, t.n, t.seconds)
		}
	}
	return ""
}
