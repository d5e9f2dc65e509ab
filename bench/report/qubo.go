package main

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"coalesce/bench/result"
)

// binaryResults are the experiments of binary quadratic programs that have results,
// by name.
type binaryResults map[string]*result.Experiment[result.Binary]

// quboExperiments by the names of their files; those of a host stand apart.
var quboExperiments = []string{"evaluate", "rates", "paper", "lambda", "lambda-host", "batch", "division", "target", "target-x2", "target-x4", "islands-x2", "islands-x4", "islands-free-x2", "target-host",
	"sets", "sets-host", "qoblib", "qoblib-host", "bounds", "bounds-host", "surfaces-host", "ablation", "ablation-host", "rivals", "rivals-host", "families-host"}

// quboTables are the regions of binary quadratic programs. An experiment
// without results says so.
func quboTables(all binaryResults) map[string]string {
	region := func(name string, table func([]result.Binary) string) string {
		if f := all[name]; f != nil {
			return table(f.Rows)
		}
		return fmt.Sprintf("There is no bench/results/qubo-%s.json: nothing was measured yet.", name)
	}
	regions := map[string]string{
		"qubo-sources":         sourceTable("qubo", quboExperiments, all, "none", recordedCommand),
		"qubo-evaluate":        region("evaluate", evaluateTable),
		"qubo-paper":           region("paper", multistartTable),
		"qubo-progress":        region("paper", progressPictures),
		"qubo-batch":           region("batch", batchedTable),
		"qubo-rates":           region("rates", ratesTable),
		"qubo-several":         severalTable(all),
		"qubo-islands":         region("islands-x2", islandsTable),
		"qubo-islands-x4":      region("islands-x4", islandsTable),
		"qubo-islands-free-x2": region("islands-free-x2", islandsTable),
	}
	if f := all["target"]; f != nil {
		regions["readme-qubo"] = readmeTargets(f)
	}
	regions["qubo-families"] = region("families-host", familiesTable)
	for _, where := range []string{"", "-host"} {
		regions["qubo-sets"+where] = region("sets"+where, targetTable)
		regions["qubo-qoblib"+where] = region("qoblib"+where, qoblibTable)
		regions["qubo-bounds"+where] = region("bounds"+where, boundsTable)
		regions["qubo-lambda"+where] = region("lambda"+where, lambdaTable)
		regions["qubo-target"+where] = region("target"+where, targetTable)
		regions["qubo-success"+where] = region("target"+where, func(rows []result.Binary) string {
			return successTable(rows) + "\n" + successPictures(rows, where)
		})
		regions["qubo-ablation"+where] = region("ablation"+where, ablationTable)
		regions["qubo-rivals"+where] = region("rivals"+where, rivalTable)
	}
	return regions
}

// boundsTable has the value and the bound of each instance.
func boundsTable(rows []result.Binary) string {
	proven, kinds := 0, map[string]int{}
	table := tableHead("instance", "n", "value", "bound", "kind", "gap, %", "proven", "solve, s")
	for _, r := range rows {
		if r.NotGiven || r.Failed != "" {
			continue
		}
		yes := ""
		if r.Proven {
			yes = "yes"
			proven++
		}
		kinds[r.BoundKind]++
		table += tableLine(r.Instance, fmt.Sprint(r.N), fmt.Sprintf("%.0f", r.Value), fmt.Sprintf("%.0f", r.Bound), r.BoundKind, fmt.Sprintf("%.2f", 100*(r.Bound-r.Value)/math.Abs(r.Value)),
			yes, fmt.Sprintf("%.3g", r.Seconds))
	}
	var list []string
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		list = append(list, fmt.Sprintf("%s %d", kind, kinds[kind]))
	}
	return fmt.Sprintf("Proven: %d of %d. Kinds of bounds: %s.\n\n%s", proven, len(rows), strings.Join(list, ", "), table)
}

// evaluateTable is the paper's first: 1,000 random solutions, and one core,
// whose time is that of one solution times as many.
func evaluateTable(rows []result.Binary) string {
	out := tableHead("n", "solutions", "variant", "objectives, ms", "and gains, ms", "drawn, evaluated, reduced, ms", "one core, s (one solution's time times as many)", "products/s")
	type key struct {
		n       int
		variant string
	}
	var order []key
	by := map[key]map[string]result.Binary{}
	core := map[int]float64{}
	for _, r := range rows {
		if r.What == "host" {
			core[r.N] = result.Median(r.Runs)
			continue
		}
		k := key{r.N, r.Variant}
		if by[k] == nil {
			by[k] = map[string]result.Binary{}
			order = append(order, k)
		}
		by[k][r.What] = r
	}
	for _, k := range order {
		values := by[k]["values"]
		cell := func(what string) string {
			if r := by[k][what]; r.Failed != "" {
				return "failed"
			} else if len(r.Runs) > 0 {
				return formatMilliseconds(result.Median(r.Runs))
			}
			return "-"
		}
		each, speed := "-", "-"
		if core[k.n] > 0 {
			each = fmt.Sprintf("%.3g", core[k.n]*float64(values.Count))
		}
		if m := result.Median(values.Runs); m > 0 {
			speed = fmt.Sprintf("%.3g", values.Work/m)
		}
		out += tableLine(fmt.Sprint(k.n), fmt.Sprint(values.Count), k.variant, cell("values"), cell("gains"), cell("samples"), each, speed)
	}
	return out
}

// multistartTable is the paper's two tables of results.
func multistartTable(rows []result.Binary) string {
	out := tableHead("instance", "best known", "MMS, paper", "gap, %", "s", "its rival, printed, s", "MMS, here", "gap, %", "s to it", "s of the run", "flips")
	for _, r := range rows {
		printed := result.Binary{Known: r.Known, Attempt: result.Attempt{Value: r.Printed.Value}}
		cells := []string{r.Instance, fmt.Sprintf("%.0f", r.Known), fmt.Sprintf("%.0f", r.Printed.Value), fmt.Sprintf("%.2f", printed.Gap()), fmt.Sprint(r.Printed.Seconds), printedRival(r.Instance)}
		if r.NotGiven {
			out += tableLine(append(cells, "not given", "not run", "not run", "not run", "not run")...)
			continue
		}
		out += tableLine(append(cells, fmt.Sprintf("%.0f", r.Value), fmt.Sprintf("%.3f", r.Gap()), fmt.Sprintf("%.3g", r.Best), fmt.Sprintf("%.3g", r.Seconds), fmt.Sprint(r.Flips))...)
	}
	for _, g := range lewisGroups {
		if gap, best, run, count := averageRuns(rows, g.begins); count > 0 {
			out += tableLine(g.title, "none", "none", g.gap, g.seconds, g.them, fmt.Sprintf("of the %d given", count), fmt.Sprintf("%.3f", gap), fmt.Sprintf("%.3g", best), fmt.Sprintf("%.3g", run), "none")
		}
	}
	return out
}

func lambdaTable(rows []result.Binary) string {
	out := tableHead("instance", "mean of samples", "start", "λ", "passed", "gap, %", "s to it", "s of the run")
	for _, r := range rows {
		if !r.NotGiven && r.Lambda != nil {
			out += tableLine(r.Instance, fmt.Sprintf("%.0f", r.Mean), fmt.Sprintf("%.0f", r.Start), fmt.Sprintf("%.3g", *r.Lambda),
				fmt.Sprintf("%d of %d", r.Searched, r.Iterations), fmt.Sprintf("%.3f", r.Gap()), fmt.Sprintf("%.3g", r.Best), fmt.Sprintf("%.3g", r.Seconds))
		}
	}
	return out
}

func batchedTable(rows []result.Binary) string {
	out := tableHead("instance", "iterations at once", "iterations", "gap, %", "s to it", "s of the run", "iterations/s")
	for _, r := range rows {
		if !r.NotGiven && r.Seconds > 0 {
			out += tableLine(r.Instance, fmt.Sprint(r.Batch), fmt.Sprint(r.Iterations), fmt.Sprintf("%.3f", r.Gap()), fmt.Sprintf("%.3g", r.Best),
				fmt.Sprintf("%.3g", r.Seconds), fmt.Sprintf("%.3g", float64(r.Iterations)/r.Seconds))
		}
	}
	return out
}

// ratesTable is the cost of a flip.
func ratesTable(rows []result.Binary) string {
	out := tableHead("instance", "n", "variant", "searches", "flips/s", "a search's step, µs")
	for _, r := range rows {
		rate, step := "failed", "-"
		if m := result.Median(r.Runs); m > 0 && r.Failed == "" {
			rate, step = fmt.Sprintf("%.3g", r.Work/m), fmt.Sprintf("%.3g", 1e6*m*float64(r.Count)/r.Work)
		}
		out += tableLine(r.Instance, fmt.Sprint(r.N), r.Variant, fmt.Sprint(r.Count), rate, step)
	}
	return out
}

// severalTable is the time to the best known value on one device and on several,
// of the instances that were run on several.
func severalTable(all binaryResults) string {
	var rows []result.Binary
	some := map[string]bool{}
	for _, count := range []int{2, 4} {
		f := all[fmt.Sprintf("target-x%d", count)]
		if f == nil {
			continue
		}
		for _, r := range f.Rows {
			some[r.Instance] = true
			r.Name += fmt.Sprintf(" on %d", count)
			rows = append(rows, r)
		}
	}
	if len(rows) == 0 {
		return "There is no bench/results/qubo-target-x2.json: nothing was measured yet."
	}
	if f := all["target"]; f != nil {
		for _, r := range f.Rows {
			if some[r.Instance] {
				rows = append(rows, r)
			}
		}
	}
	slices.SortStableFunc(rows, func(a, b result.Binary) int {
		return cmp.Or(strings.Compare(a.Instance, b.Instance), cmp.Compare(a.Devices, b.Devices))
	})
	return targetTable(rows)
}

// islandsTable sets devices together beside one each, at the same time: flips a second, and
// the time to the best known value.
func islandsTable(rows []result.Binary) string {
	out := tableHead("instance", "n", "one each, flips/s", "their sum", "together, flips/s", "÷ the sum", "one: reached", "one: median s", "together: reached", "together: median s")
	rate := func(r result.Binary) float64 { return float64(r.Flips) / r.Seconds }
	var met []result.Binary
	for _, r := range rows {
		if r.What == "" {
			r.Name = fmt.Sprint(r.Devices)
			met = append(met, r)
		}
	}
	sums := result.Summarize(met)
	for k, first := range rows {
		if first.What != "flips" || k > 0 && rows[k-1].What == "flips" && rows[k-1].Instance == first.Instance {
			continue
		}
		var each []string
		var sum, together float64
		for _, r := range rows[k:] {
			switch {
			case r.What != "flips":
			case r.Instance != first.Instance:
			case r.Devices > 1:
				together = rate(r)
			default:
				each, sum = append(each, fmt.Sprintf("%.4g", rate(r))), sum+rate(r)
			}
		}
		cells := []string{first.Instance, fmt.Sprint(first.N), strings.Join(each, ", "), fmt.Sprintf("%.4g", sum), fmt.Sprintf("%.4g", together), fmt.Sprintf("%.3f", together/sum)}
		for _, several := range []bool{false, true} {
			reached, median := "not run", "-"
			for _, s := range sums {
				if s.Instance == first.Instance && several == (s.Name != "0") {
					reached, median = fmt.Sprintf("%d of %d", s.Hits, s.Runs+s.Failed), formatTimeToTarget(s.Median)
				}
			}
			cells = append(cells, reached, median)
		}
		out += tableLine(cells...)
	}
	return out
}

// Progress as in the paper's figures 3 and 4: what is missing to the best known
// value, over time. Axes are logarithmic; no gap stands at the least decade.
const leastGap = 1e-3 // percent

func progress(rows []result.Binary, title, note string) string {
	c := chart{title: title, x: "log10 of milliseconds", y: "gap to best known, % (log)", log: true, note: note}
	for _, r := range rows {
		s := series{name: r.Instance}
		for _, h := range r.History {
			gap := (result.Binary{Known: r.Known, Attempt: result.Attempt{Value: h.Value}}).Gap()
			s.points = append(s.points, chartPoint{x: math.Log10(max(1, 1e3*h.Seconds)), y: max(leastGap, gap)})
		}
		if n := len(s.points); n > 0 {
			last := s.points[n-1]
			last.x = math.Log10(max(1, 1e3*r.Seconds))
			s.points = append([]chartPoint{{x: 0, y: s.points[0].y}}, append(s.points, last)...)
			c.lines = append(c.lines, s)
		}
	}
	if len(c.lines) == 0 {
		return ""
	}
	return c.svg()
}

func quboFigures(all binaryResults) map[string]string {
	out := map[string]string{}
	for _, where := range []string{"", "-host"} {
		if f := all["target"+where]; f != nil {
			successFigures(out, f, where)
		}
	}
	f := all["paper"]
	if f == nil {
		return out
	}
	note := f.Device + ". 0.001 % stands for none.\nbench/results/qubo-paper.json, by " + f.Command
	some := func(instance func(string) bool) (list []result.Binary) {
		for _, r := range f.Rows {
			if !r.NotGiven && instance(r.Instance) {
				list = append(list, r)
			}
		}
		return list
	}
	for name, svg := range map[string]string{
		"qubo-paper-3": progress(some(func(s string) bool { return strings.HasPrefix(s, "bqp") }), "Paper, figure 3: ORLIB, improvement over time", note),
		"qubo-paper-4": progress(some(func(s string) bool { return s == "p5000.4" }), "Paper, figure 4: p5000.4, improvement over time", note),
	} {
		if svg != "" {
			out[name] = svg
		}
	}
	return out
}

// progressPictures shows the figures where they are drawn.
func progressPictures(rows []result.Binary) string {
	out := ""
	drawn := quboFigures(binaryResults{"paper": {Rows: rows}})
	for k, about := range []string{"Improvement over time, ORLIB", "Improvement over time, p5000.4"} {
		if name := fmt.Sprintf("qubo-paper-%d", 3+k); drawn[name] != "" {
			out += fmt.Sprintf("![%s](../figures/%s.svg)\n", about, name)
		}
	}
	if out == "" {
		return "qubo-paper.json has no history."
	}
	return out
}
