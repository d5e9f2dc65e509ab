package main

import (
	"fmt"
	"math"

	"coalesce/bench/result"
)

// scalingTable is by devices: time, and how often faster than on one; of
// engines that time their passes over the matrix, those too. The rest of the
// time, with the passes of others taken as long as core's, is given a step or level.
func scalingTable(f *result.Experiment[result.Solve]) string {
	out := tableHead("instance", "family", "devices", "time, ms", "one ÷ this", "of ideal", "passes, ms", "passes: one ÷ this", "steps and levels", "the rest, µs each")
	for _, e := range groupRaces(f, func(r result.Solve) string { return fmt.Sprintf("%s on %d", r.Name, max(1, r.Devices)) }) {
		for _, n := range e.names {
			t := e.by[n]
			devices := max(1, t.row.Devices)
			one := e.by[t.row.Name+" on 1"].median()
			share, passes, each := "none", "none", "none"
			if m := t.median(); one > 0 && m > 0 {
				share = fmt.Sprintf("%.0f %%", 100*one/m/float64(devices))
			}
			if p := t.passes(); p > 0 {
				passes = formatMilliseconds(p)
			}
			steps, read := t.count("steps")+t.count("levels"), t.count("passes")*e.pass(devices)
			if rest := t.median() - read; steps > 0 && read > 0 && rest > 0 {
				each = fmt.Sprintf("%.2f", 1e6*rest/steps)
			}
			out += tableLine(instanceKey(e.Solve), t.row.Name, fmt.Sprint(devices), t.cell(), formatQuotient(one, t.median()), share, passes,
				formatQuotient(e.by[t.row.Name+", sharded on 1"].passes(), t.passes()), fmt.Sprint(int(steps)), each)
		}
	}
	return out
}

// grownTable is weak scaling: how much longer several devices take for a side that
// has grown with the root of their number, against one device with the side before,
// the range in the same proportion to the side or the same.
func grownTable(f *result.Experiment[result.Solve]) string {
	out := tableHead("family", "on one", "devices", "on them", "one, ms", "them, ms", "one ÷ them")
	all := groupRaces(f, func(r result.Solve) string { return fmt.Sprintf("%s on %d", r.Name, max(1, r.Devices)) })
	for _, small := range all {
		for _, n := range small.names {
			one := small.by[n]
			if max(1, one.row.Devices) > 1 {
				continue
			}
			for _, large := range all {
				if same := small.Range == large.Range || small.Range*int64(large.Rows) == large.Range*int64(small.Rows); !same || small.Value != large.Value {
					continue
				}
				devices := math.Pow(float64(large.Rows)/float64(small.Rows), 2)
				them := large.by[fmt.Sprintf("%s on %.0f", one.row.Name, devices)]
				if them == nil || math.Round(devices) < 2 || math.Abs(devices-math.Round(devices)) > 0.001*devices {
					continue
				}
				out += tableLine(one.row.Name, instanceKey(small.Solve), fmt.Sprintf("%.0f", devices), instanceKey(large.Solve), one.cell(), them.cell(), formatQuotient(one.median(), them.median()))
			}
		}
	}
	return out
}

// pass is the seconds that core takes for a pass over the matrix on so many devices, 0 where
// that was not timed.
func (e *race) pass(devices int) float64 {
	for _, name := range []string{"core, sharded", "core"} {
		if t := e.by[fmt.Sprintf("%s on %d", name, devices)]; t.passes() > 0 {
			return t.passes() / t.count("passes")
		}
	}
	return 0
}

// passes are the seconds of a run's passes over the matrix, 0 where its engine
// does not time them.
func (t *timing) passes() float64 {
	if t == nil {
		return 0
	}
	stages, _ := t.counts["stages"].(map[string]any)
	seconds, _ := stages["passes"].(float64)
	return seconds
}
