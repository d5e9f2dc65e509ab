package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"coalesce/bench/result"
)

// rivals are the seconds of path relinking and of tabu search that Lewis (2017) prints beside its own,
// of Wang and others (2012) for its first table of results and of Yang and Glover for its second.
var rivals = map[string]float64{
	"bqp2500-1": 11, "bqp2500-2": 101, "bqp2500-3": 49, "bqp2500-4": 6, "bqp2500-5": 14, "bqp2500-6": 25, "bqp2500-7": 48, "bqp2500-8": 20, "bqp2500-9": 51, "bqp2500-10": 55,
	"p5000.1": 387, "p5000.2": 609, "p5000.3": 967, "p5000.4": 767, "p5000.5": 726, "p6000.1": 1136, "p6000.2": 1076, "p6000.3": 1053, "p7000.1": 1917, "p7000.2": 1591, "p7000.3": 1503,
}

// printedRival is what the paper prints of its rival on an instance.
func printedRival(instance string) string {
	if t := rivals[instance]; t > 0 {
		return fmt.Sprint(t)
	}
	return "none"
}

// lewisGroups are the paper's two tables of results, with the averages that it prints.
var lewisGroups = []struct {
	title, begins      string
	gap, seconds, them string
}{
	{"table 1, averages of ten", "bqp2500", "0.27", "3.5", "38"},
	{"table 2, averages of eleven", "p", "0.35", "53", "1067"},
}

// averageRuns of a group's runs: gap in percent, seconds to the best and of the run, and their number.
func averageRuns(rows []result.Binary, begins string) (gap, best, run float64, count int) {
	for _, r := range rows {
		if r.NotGiven || !strings.HasPrefix(r.Instance, begins) {
			continue
		}
		gap, best, run, count = gap+r.Gap(), best+r.Best, run+r.Seconds, count+1
	}
	n := float64(max(1, count))
	return gap / n, best / n, run / n, count
}

// lewisTable is the paper's two tables of results, its rivals' printed seconds and the averages.
func lewisTable(m paperResults) string {
	f := m.binaries["paper"]
	if f == nil {
		return "Nothing was measured yet."
	}
	return multistartTable(f.Rows)
}

func lewisItems(m paperResults) []paperRow {
	again := "`go run ./bench/reproduce multistart --device cuda:0 --data DIR`"
	const package1 = "solvers/qubo/internal/multistart"
	kernels := "templates/qubo/multistart"
	unit := goTestCommand(package1, "TestMultistart")
	var list []paperRow
	core := map[int]float64{}
	values := map[int]result.Binary{}
	device := ""
	if f := m.binaries["evaluate"]; f != nil {
		device = f.Device
		for _, r := range f.Rows {
			switch r.What {
			case "host":
				core[r.N] = result.Median(r.Runs)
			case "values":
				if old, ok := values[r.N]; !ok || result.Median(r.Runs) < result.Median(old.Runs) {
					values[r.N] = r
				}
			}
		}
	}
	for _, p := range []struct {
		n        int
		gpu, cpu string
	}{{2500, "0.7", "46"}, {5000, "2.0", "235"}, {6000, "3.0", "357"}, {7000, "3.5", "512"}} {
		ours := "not measured here"
		if v, ok := values[p.n]; ok {
			ours = fmt.Sprintf("%s ms on %s; one core %.3g s, one solution's time times 1,000", formatMilliseconds(result.Median(v.Runs)), device, 1000*core[p.n])
		}
		list = append(list, paperRow{fmt.Sprintf("table 1 (evaluation), %d variables", p.n), fmt.Sprintf("GPU %s s, CPU %s s", p.gpu, p.cpu), ours, "templates/qubo/evaluate", again})
	}
	f := m.binaries["paper"]
	rows := []result.Binary(nil)
	if f != nil {
		rows = f.Rows
	}
	for _, g := range lewisGroups {
		ours := "not measured here"
		if gap, best, run, count := averageRuns(rows, g.begins); count > 0 {
			ours = fmt.Sprintf("%.2f %%, %.2g s, the whole run %.2g s: of the %d instances given", gap, best, run, count)
		}
		list = append(list, paperRow{g.title, fmt.Sprintf("%s %% below the best known, %s s; rivals %s s", g.gap, g.seconds, g.them), ours, package1, again})
	}
	first, within := firstWithin(rows)
	whole := ""
	if _, _, run, count := averageRuns(rows, "bqp2500"); count > 0 {
		whole = fmt.Sprintf("%.2f s", run)
	}
	list = append(list, []paperRow{
		{"tables 1 and 2, every row", "21 rows", "17 rows [below](#the-tables-of-results); of 4 the instance is not given", "bench/qubo/cases.go", again},
		{"figure 1, division of tasks", "CPU ascends, GPU evaluates", "a mode, `--ascend host`; by default all on the GPU: " + orWhy(divisionCell(m.binaries["division"]), "not measured here"), package1 + "/device.go", "`go run -tags cuda ./bench/qubo -device cuda:0 -experiment division -data DIR -instances bqp2500-1,bqp2500-3,bqp2500-6,bqp2500-9,p3000.1`"},
		{"figure 2, pseudocode", "nine steps", "the same steps, in `run`", package1 + "/multistart.go", unit},
		{"EvaluateRandomStarts", "1,000 samples", "`--samples 1000`, one launch to draw, one to evaluate, one to reduce", kernels, unit},
		{"CalculateFirstDerivativeSolution", "x = 1 where a row sums to more than zero", "the same, of the full symmetric row", package1 + "/multistart.go", goTestCommand(package1, "TestFirstDerivative")},
		{"CalculateT", "λ = max / mean", "λ in [0, 1), 0.2 unless said, the best of our own sweep; as printed nothing passes, or of a negative mean everything (`--lambda printed`)", package1 + "/multistart.go", goTestCommand(package1, "TestMultistartPrintedLambda")},
		{"Diversify", "after Glover (1998), the number of changes by the counter", "a blend with the best, then every h-th variable; `--blend start` blends with the first solution, `none` leaves the blend out", kernels, goTestCommand(package1, "TestMultistartDiversify")},
		{"PerformSteepestAscent", "one-flip moves, at most max_its", "the same, at most `--max-flips`", kernels, unit},
		{"UpdateBestAndT", "T follows the best; how λ does is not said", "T follows the best, λ stays", package1 + "/multistart.go", goTestCommand(package1, "TestMultistartMeans")},
		{"figure 3, first solutions of ORLIB", "within about 1 % in under one second", orWhy(first, "not measured here"), "docs/figures/qubo-paper-3.svg", again},
		{"2,500 iterations of ORLIB", "120 s", orWhy(whole, "not measured here"), package1, again},
		{"figure 4, p5000.4", "within 0.8 % after 10 s, 0.54 % after 315 s", orWhy(within, "not measured here"), "docs/figures/qubo-paper-4.svg", again},
		{"further work: path relinking after it", "a polishing phase", "a method of the portfolio, `multistart`: starts go on by path relinking to an elite and by tabu search; [worth](../results/qubo.md#what-each-part-is-worth)", "solvers/qubo/internal/host/start.go", "`go run ./bench/qubo -device host -experiment ablation -data DIR -seeds 5`"},
	}...)
	return list
}

// divisionCell is how much longer runs take whose solutions ascend on the host.
func divisionCell(f *result.Experiment[result.Binary]) string {
	if f == nil {
		return ""
	}
	at := map[string]map[string]float64{}
	var names []string
	for _, r := range f.Rows {
		if at[r.Instance] == nil {
			at[r.Instance] = map[string]float64{}
			names = append(names, r.Instance)
		}
		at[r.Instance][r.Variant] = r.Seconds
	}
	var list []string
	for _, name := range names {
		if a, b := at[name]["ascend=host"], at[name]["ascend=device"]; a > 0 && b > 0 {
			list = append(list, fmt.Sprintf("%s %.3g s for %.3g s", name, a, b))
		}
	}
	return strings.Join(list, ", ")
}

// firstWithin says when runs came near the best known values: of ORLIB's instances to within about
// 1 %, and of p5000.4 to what the paper prints.
func firstWithin(rows []result.Binary) (orlib, p5000 string) {
	worst, count := 0.0, 0
	for _, r := range rows {
		for _, h := range r.History {
			if (result.Binary{Known: r.Known, Attempt: result.Attempt{Value: h.Value}}).Gap() <= 1 && strings.HasPrefix(r.Instance, "bqp2500") {
				worst, count = max(worst, h.Seconds), count+1
				break
			}
		}
		if r.Instance == "p5000.4" && len(r.History) > 0 {
			for _, goal := range []float64{0.8, 0.54} {
				at := slices.IndexFunc(r.History, func(h result.Improvement) bool {
					return (result.Binary{Known: r.Known, Attempt: result.Attempt{Value: h.Value}}).Gap() <= goal
				})
				if at >= 0 {
					p5000 += fmt.Sprintf("within %.2g %% after %s; ", goal, formatSeconds(r.History[at].Seconds))
				}
			}
			p5000 += fmt.Sprintf("%.2f %% after %s", r.Gap(), formatSeconds(r.Best))
		}
	}
	if count > 0 {
		orlib = fmt.Sprintf("within 1 %% after %s at the latest, of %d instances", formatSeconds(worst), count)
	}
	return orlib, p5000
}

// A weak point is a size that grows with the root of the number of devices.
type weakPoint struct {
	n, devices int
	printed    [2]float64 // seconds on K20X, classical and tree
}

// weak is Date and Nagi's weak scaling, costs up to 10n.
var weak = []weakPoint{{10000, 1, [2]float64{10.42, 16.28}}, {14142, 2, [2]float64{12.48, 20.26}}, {20000, 4, [2]float64{15.03, 26.51}}, {28284, 8, [2]float64{18.58, 37.03}}, {40000, 16, [2]float64{23.59, 58.32}}}

// strong is their strong scaling at 20,000: seconds on 1 and on 16 GPUs.
var strong = map[string][2]float64{"classical": {28.50, 12.03}, "tree": {38.30, 30.21}}

// scaled is a family's median time at a size on some devices, costs up to 10n, in the first file
// that has it; 0 where none has.
func scaled(m paperResults, family string, n, devices int) float64 {
	for _, name := range []string{"scaling", "scaling-x2"} {
		f := m.solves[name]
		if f == nil {
			continue
		}
		var runs []float64
		for _, r := range f.Rows {
			if r.Name == family && r.Rows == n && r.Range == int64(10*n) && max(1, r.Devices) == devices && r.Succeeded() {
				runs = append(runs, r.Runs...)
			}
		}
		if len(runs) > 0 {
			return result.Median(runs)
		}
	}
	return 0
}

// scaledCell is scaled in milliseconds, or why it is empty.
func scaledCell(m paperResults, family string, n, devices int) string {
	if t := scaled(m, family, n, devices); t > 0 {
		return formatMilliseconds(t)
	}
	if devices > 4 {
		return fmt.Sprintf("%d GPUs were not to be had", devices)
	}
	return "not measured here"
}

// weakTable has printed seconds beside ours.
func weakTable(m paperResults) string {
	out := tableHead("rows and columns", "GPUs", "classical, printed, s", "classical, ours, ms", "tree, printed, s", "tree, ours, ms")
	for _, p := range weak {
		out += tableLine(fmt.Sprint(p.n), fmt.Sprint(p.devices), fmt.Sprint(p.printed[0]), scaledCell(m, "classical", p.n, p.devices), fmt.Sprint(p.printed[1]), scaledCell(m, "tree", p.n, p.devices))
	}
	return out
}

// weakFigure draws it; "" without a time of ours.
func weakFigure(m paperResults) string {
	c := chart{title: "Date and Nagi: weak scaling, costs up to 10n", x: "GPUs", y: "seconds (log)", log: true,
		note: "Printed: K20X, up to 16 GPUs. Ours: H200.\nbench/results/assignment-scaling.json"}
	ours := 0
	for k, family := range published {
		there, here := series{name: family + ", printed"}, series{name: family + ", ours"}
		for _, p := range weak {
			there.points = append(there.points, chartPoint{x: float64(p.devices), y: p.printed[k]})
			if t := scaled(m, family, p.n, p.devices); t > 0 {
				here.points = append(here.points, chartPoint{x: float64(p.devices), y: t})
			}
		}
		ours += len(here.points)
		c.lines = append(c.lines, there)
		if len(here.points) > 0 {
			c.lines = append(c.lines, here)
		}
	}
	if ours == 0 {
		return ""
	}
	return c.svg()
}

// published are the paper's two variants.
var published = []string{"classical", "tree"}

// hungarianTable is the paper's second table, with the sequential programs where they were measured.
func hungarianTable(m paperResults) string {
	f := m.solves["paper"]
	if f == nil {
		f = &result.Experiment[result.Solve]{}
	}
	whole := *f
	if host := m.solves["paper-host"]; host != nil {
		whole.Rows = append(slices.Clone(f.Rows), host.Rows...)
	}
	return paperTable(&whole)
}

func hungarianItems(m paperResults) []paperRow {
	again := reproduceCommand("hungarian")
	const home = "solvers/assignment/internal/hungarian"
	unit := "`go test ./" + home + "`"
	var all []*race
	if f := m.solves["paper"]; f != nil {
		all = groupRaces(f, byName)
	}
	combined := "one variant has them; not measured here"
	if f := m.solves["published"]; f != nil {
		var times []string
		for _, e := range groupRaces(f, byName) {
			times = append(times, fmt.Sprintf("%s², costs up to %d: %s ms", formatThousands(float64(e.Rows)), e.Range, formatMilliseconds(e.by["classical"].median())))
		}
		combined = cmp.Or(strings.Join(times, "; "), combined)
	}
	median := func(name string, n int, costs int64) float64 {
		for _, e := range all {
			if e.Rows == n && e.Range == costs {
				return e.by[name].median()
			}
		}
		return 0
	}
	cell := func(t float64) string {
		if t == 0 {
			return "not measured here"
		}
		return formatMilliseconds(t) + " ms"
	}
	oneCore := func(family string) string {
		f := m.solves["paper-host"]
		if f == nil {
			return "not measured here"
		}
		var list []string
		for _, e := range groupRaces(f, byName) {
			if t := e.by["sequential-"+family].median(); t > 0 && e.Rows == 5000 {
				list = append(list, fmt.Sprintf("costs up to %d %s", e.Range, formatSeconds(t)))
			}
		}
		return cmp.Or(strings.Join(list, ", "), "not measured here")
	}
	list := []paperRow{
		{"2, classical Hungarian method, sequential", "a CPU counterpart, up to 25 million variables", "one core, 5,000 × 5,000: " + oneCore("classical"), home + "/classical_sequential.go", "`go run ./bench/assignment -device host -experiment paper -sizes 5000 -seeds 1 -runs 1 -slow 5m`"},
		{"2, alternating tree, sequential", "a CPU counterpart, up to 25 million variables", "one core, 5,000 × 5,000: " + oneCore("tree"), home + "/tree_sequential.go", "`go run ./bench/assignment -device host -experiment paper -sizes 5000 -seeds 1 -runs 1 -slow 5m`"},
		{"4, classical on one GPU", "stages as kernels", "the same stages in one launch", "templates/assignment/classical", unit},
		{"4, alternating tree on one GPU", "stages as kernels", "the same stages in one launch", "templates/assignment/tree", unit},
		{"4, many disjoint augmenting paths a phase", "the main contribution; no figure in the preview", orWhy(pathsCell(m.solves["paths"]), "not measured here"), "[results](../results/assignment.md)", "`go run -tags cuda ./bench/assignment -device cuda:0 -experiment paths -seeds 1`"},
		{"stored slack, forest anew, many paths, a launch a step", "the published combination", combined, "templates/assignment/classical", "`go run -tags cuda ./bench/assignment -device cuda:0 -experiment published -seeds 1`"},
		{"table 1, figures", "not in the preview", "the paper's text is not given beyond its first two sections", "none", "none: not given"},
	}
	for _, n := range []int{5000, 10000, 15000, 20000} {
		for k, costs := range []int64{int64(n / 10), int64(n), int64(10 * n)} {
			p := k20x[fmt.Sprint(n, costs)]
			list = append(list, paperRow{fmt.Sprintf("table 2, %s², costs up to %s", formatThousands(float64(n)), []string{"n/10", "n", "10n"}[k]), fmt.Sprintf("classical %.2f s, tree %.2f s", p[0], p[1]),
				fmt.Sprintf("%s, %s", cell(median("classical", n, costs)), cell(median("tree", n, costs))), "bench/assignment/paper.go", again})
		}
	}
	sum, printed := 0.0, 0.0
	for _, costs := range []int64{2000, 20000, 200000} {
		sum += median("classical", 20000, costs) / 3
		printed += k20x[fmt.Sprint(20000, costs)][0] / 3
	}
	list = append(list, paperRow{"abstract: 400 million variables", fmt.Sprintf("within 13 s on average (classical: %.1f s)", printed), cell(sum), "bench/assignment/paper.go", again})
	for _, p := range weak {
		list = append(list, paperRow{fmt.Sprintf("weak scaling, %s² on %d", formatThousands(float64(p.n)), p.devices), fmt.Sprintf("classical %.2f s, tree %.2f s", p.printed[0], p.printed[1]),
			oneOrBoth(scaledCell(m, "classical", p.n, p.devices), scaledCell(m, "tree", p.n, p.devices)), "bench/assignment/scaling.go", again})
	}
	for _, family := range published {
		p := strong[family]
		var times []string
		for _, devices := range []int{1, 2, 4} {
			if t := scaled(m, family, 20000, devices); t > 0 {
				times = append(times, fmt.Sprintf("%s ms on %d", formatMilliseconds(t), devices))
			}
		}
		list = append(list, paperRow{"strong scaling, 20,000², " + family, fmt.Sprintf("%.2f s on 1, %.2f s on 16", p[0], p[1]), cmp.Or(strings.Join(times, ", "), "not measured here") + "; 16 GPUs were not to be had", "bench/assignment/scaling.go", again})
	}
	return append(list,
		paperRow{"largest, 1.6 billion variables", "23.59 s on 16 GPUs", "on one: classical " + scaledCell(m, "classical", 40000, 1) + " ms, tree " + scaledCell(m, "tree", 40000, 1) + " ms", "bench/assignment/scaling.go", again},
		paperRow{"largest of one GPU", "about 24,000 rows, tree 35,000", "100,000 rows on one H200, as its memory allows", "docs/results/assignment.md", "`go run -tags cuda ./bench/assignment -device cuda:0 -experiment race`"},
		paperRow{"1, problems solved again and again (TSP, QAP, GAP)", "asked for, no example", "bounds of shortest tours: of 30 places, by the classical method on one core, warm duals read the costs half as often as none or less", "solvers/assignment/tour_test.go", goTestCommand("solvers/assignment", "ExampleSolve_tour")})
}

func oneOrBoth(a, b string) string {
	if a == b {
		return a
	}
	return a + " ms, " + b + " ms"
}

// pathsCell is by how much many paths are faster than one, at the least and at the most.
func pathsCell(f *result.Experiment[result.Solve]) string {
	if f == nil {
		return ""
	}
	var list []float64
	for _, e := range groupRaces(f, func(r result.Solve) string { return r.Variant }) {
		for _, label := range e.names {
			many := e.by[strings.ReplaceAll(label, "paths=one", "paths=many")]
			if one := e.by[label]; strings.Contains(label, "paths=one") && many.median() > 0 && one.median() > 0 {
				list = append(list, one.median()/many.median())
			}
		}
	}
	if len(list) == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f to %.0f times as fast as one path a phase", slices.Min(list), slices.Max(list))
}
