package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"coalesce/bench/result"
)

// formatTimeToTarget is a time to a target in three digits, - where there is none.
func formatTimeToTarget(s float64) string {
	if s <= 0 || math.IsInf(s, 1) {
		return "-"
	}
	return fmt.Sprintf("%.3g", s)
}

// targetTable is the time to the best known value over the seeds.
func targetTable(rows []result.Binary) string {
	out := tableHead("instance", "best known", "solver", "runs that reach it", "median s", "mean s", "worst s", "worst gap, %", "flips/s")
	for _, s := range result.Summarize(rows) {
		known := fmt.Sprintf("%.0f", s.Known)
		if s.NotGiven {
			out += tableLine(s.Instance, known, s.Name, "not given", "-", "-", "-", "-", "-")
			continue
		}
		speed := "-"
		if s.Speed > 0 {
			speed = fmt.Sprintf("%.3g", s.Speed)
		}
		out += tableLine(s.Instance, known, s.Name, fmt.Sprintf("%d of %d", s.Hits, s.Runs+s.Failed), formatTimeToTarget(s.Median), formatTimeToTarget(s.Mean), formatTimeToTarget(s.Worst), fmt.Sprintf("%.4f", s.Gap), speed)
	}
	return out
}

// rivalTable is targetTable and, below, the rivals that could not be run.
func rivalTable(rows []result.Binary) string {
	out := targetTable(rows)
	var missing []string
	for _, r := range rows {
		if r.Missing != "" {
			missing = append(missing, fmt.Sprintf("%s (%s)", r.Name, r.Missing))
		}
	}
	if len(missing) > 0 {
		out += "\nNot run: " + strings.Join(missing, "; ") + ".\n"
	}
	return out
}

// A class is the runs of a solver on the instances of a group.
type class struct {
	group, name string
	rows        []result.Binary
}

// drawn are the groups with a figure: a run reached the best known value.
func drawn(list []class) []string {
	var groups []string
	for _, c := range list {
		if len(c.met()) > 0 && !slices.Contains(groups, c.group) {
			groups = append(groups, c.group)
		}
	}
	return groups
}

// classes sorts runs by group and solver, in the order of their first.
func classes(rows []result.Binary) []class {
	var list []class
	for _, r := range rows {
		if r.NotGiven {
			continue
		}
		group := result.InstanceClass(r.Instance)
		at := slices.IndexFunc(list, func(c class) bool { return c.group == group && c.name == r.Name })
		if at < 0 {
			at = len(list)
			list = append(list, class{group: group, name: r.Name})
		}
		list[at].rows = append(list[at].rows, r)
	}
	slices.SortStableFunc(list, func(a, b class) int { return strings.Compare(a.group, b.group) })
	return list
}

// met are the times to the best known value, ascending, of the runs that
// reached it.
func (c class) met() []float64 {
	var met []float64
	for _, r := range c.rows {
		if r.Failed == "" && r.Met > 0 {
			met = append(met, r.Met)
		}
	}
	slices.Sort(met)
	return met
}

// successTable has the number of runs that reached the best known value, by group.
func successTable(rows []result.Binary) string {
	out := tableHead("group", "solver", "instances", "runs", "that reach it", "%", "instances reached by every run", "by none", "worst gap, %")
	for _, c := range classes(rows) {
		list := result.Summarize(c.rows)
		every, none, gap := 0, 0, 0.0
		for _, s := range list {
			if s.Hits == s.Runs+s.Failed {
				every++
			}
			if s.Hits == 0 {
				none++
			}
			gap = max(gap, s.Gap)
		}
		met := len(c.met())
		out += tableLine(c.group, c.name, fmt.Sprint(len(list)), fmt.Sprint(len(c.rows)), fmt.Sprint(met), fmt.Sprintf("%.1f", 100*float64(met)/float64(len(c.rows))),
			fmt.Sprint(every), fmt.Sprint(none), fmt.Sprintf("%.4f", gap))
	}
	return out
}

// readmeTargets is a line a group, of the runs of all solvers on one device.
func readmeTargets(f *result.Experiment[result.Binary]) string {
	out := tableHead("instances", "device", "runs that reach the best known value", "median, s", "slowest of those, s", "worst gap of the others, %")
	rows := slices.Clone(f.Rows)
	for i := range rows {
		rows[i].Name = ""
	}
	for _, c := range classes(rows) {
		met, list := c.met(), result.Summarize(c.rows)
		gap := 0.0
		for _, s := range list {
			gap = max(gap, s.Gap)
		}
		median, slowest := "-", "-"
		if len(met) > 0 {
			median, slowest = formatTimeToTarget(met[(len(met)-1)/2]), formatTimeToTarget(met[len(met)-1])
		}
		out += tableLine(fmt.Sprintf("%s, %d of them", c.group, len(list)), f.Device, fmt.Sprintf("%d of %d", len(met), len(c.rows)), median, slowest,
			fmt.Sprintf("%.3f", gap))
	}
	return out
}

// successFigures draws, for each group, the share of its runs that have reached
// the best known value, over time (R. M. Aiex, M. G. C. Resende and C. C.
// Ribeiro, "TTT plots", Optimization Letters 1, 2007, over several instances).
func successFigures(out map[string]string, f *result.Experiment[result.Binary], where string) {
	all := classes(f.Rows)
	for _, group := range drawn(all) {
		picture := chart{title: group + ": runs that have reached the best known value", x: "log10 of milliseconds", y: "runs", end: 105, plain: true,
			note: f.Device + ".\nbench/results/qubo-target" + where + ".json"}
		last := 0.0
		for _, r := range f.Rows {
			if result.InstanceClass(r.Instance) == group {
				last = max(last, r.Seconds)
			}
		}
		for _, d := range all {
			if d.group != group {
				continue
			}
			met := d.met()
			s := series{name: fmt.Sprintf("%s, %d of %d runs", d.name, len(met), len(d.rows))}
			share := 0.0
			add := func(seconds, percent float64) {
				x := math.Log10(max(1e-2, 1e3*seconds))
				s.points = append(s.points, chartPoint{x: x, y: share}, chartPoint{x: x, y: percent})
				share = percent
			}
			for k, at := range met {
				add(at, 100*float64(k+1)/float64(len(d.rows)))
			}
			add(last, share)
			picture.lines = append(picture.lines, s)
		}
		out[pictureOf(group, where)] = picture.svg()
	}
}

// pictureOf is the name of a group's figure.
func pictureOf(group, where string) string {
	return "qubo-target" + where + "-" + strings.ToLower(strings.NewReplacer(", ", "-", " ", "-").Replace(group))
}

// successPictures shows the figures where they are drawn.
func successPictures(rows []result.Binary, where string) string {
	out := ""
	for _, group := range drawn(classes(rows)) {
		out += fmt.Sprintf("![%s: runs that have reached the best known value, over time](../figures/%s.svg)\n", group, pictureOf(group, where))
	}
	return out
}

// ablationTable has a row for what is left out, a column for each instance: the
// median time to the best known value, the runs that reached it, and the slowest
// of them.
func ablationTable(rows []result.Binary) string {
	var instances []string
	type key struct{ name, without string }
	var order []key
	by := map[key]map[string]result.Summary{}
	for _, s := range result.Summarize(rows) {
		if s.NotGiven {
			continue
		}
		if !slices.Contains(instances, s.Instance) {
			instances = append(instances, s.Instance)
		}
		k := key{s.Name, s.Without}
		if by[k] == nil {
			by[k] = map[string]result.Summary{}
			order = append(order, k)
		}
		by[k][s.Instance] = s
	}
	head := []string{"solver", "left out"}
	for _, i := range instances {
		head = append(head, i+": median s (worst), runs")
	}
	out := tableHead(head...)
	for _, k := range order {
		cells := []string{k.name, cmp.Or(k.without, "none")}
		for _, i := range instances {
			cell := "-"
			if s, ok := by[k][i]; ok {
				cell = fmt.Sprintf("%s (%s), %d of %d", formatTimeToTarget(s.Median), formatTimeToTarget(s.Worst), s.Hits, s.Runs+s.Failed)
			}
			cells = append(cells, cell)
		}
		out += tableLine(cells...)
	}
	return out
}
