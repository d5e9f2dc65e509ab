package main

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"coalesce/bench/result"
	"coalesce/generated/csg"
	"coalesce/runtime/device"
)

const (
	target = 3.6e11 // splittings a second at 26 agents, int32, DP
	naive  = 1.2e11 // of a naive kernel of the published structure
	host20 = 0.25   // seconds, host, 2 cores
	host24 = 20
)

// buildRegions are the bodies of all regions.
func buildRegions(r results) map[string]string {
	return map[string]string{
		"sources":     sourceTable("csg", slices.Sorted(maps.Keys(r)), r, "not recorded", repeatCommand),
		"headline":    headline(r["sweep"]),
		"bound":       bound(r["sweep"]),
		"sweep":       sweep(r["sweep"]),
		"effects":     effects(r["effects"]),
		"printed":     asPrinted(r["effects"]),
		"launches":    launchTable(r["figures"]),
		"checkpoints": checkpointTable(r["figures"]),
		"growth":      growthTable(r),
		"figure5":     figureTable(r),
		"figure2":     subsetTable(),
		"host":        hostTable(r["host"]),
		"repeat":      repeatTable(r["repeat"]),
		"readme":      readme(r),
		"tiles":       tilesTable(r["tiles"]),
		"ceilings":    ceilingTable(r["tiles"]),
		"tiles-int32": tilesEffects(r["tiles"]),
		"prices":      priceTable(r["price"]),
		"several":     groupTable(r["several"]),
		"large":       largeTable(r["large"]),
		"graphs":      graphTable(r["graphs"]),
	}
}

// sourceTable is the table of a program's files: where each was measured, and by which command.
func sourceTable[R any](program string, names []string, files map[string]*result.Experiment[R], unknown string, command func(f *result.Experiment[R], name string) string) string {
	out := "| JSON in bench/results | device | driver | commit | date | command |\n|---|---|---|---|---|---|\n"
	for _, name := range names {
		if f := files[name]; f != nil {
			out += fmt.Sprintf("| %s-%s.json | %s | %s | %s | %s | `%s` |\n", program, name, f.Device, cmp.Or(f.Driver, "none"), cmp.Or(f.Commit, unknown), f.Date, command(f, name))
		}
	}
	return out
}

// recordedCommand is the command that a file of results names.
func recordedCommand[R any](f *result.Experiment[R], _ string) string { return f.Command }

// repeatCommand is how to repeat an experiment from the repository's root.
func repeatCommand(f *result.File, name string) string {
	if name == "host" {
		return "go run ./bench/csg -device host -experiment host"
	}
	return cmp.Or(f.Command, "go run -tags cuda ./bench/csg -device cuda -experiment "+name)
}

// fastestRows are the rows of one size that did not fail, the fastest first.
func fastestRows(f *result.File, agents int) []result.Row {
	var list []result.Row
	for _, r := range f.Rows {
		if r.Agents == agents && r.Failed == "" && r.Median() > 0 {
			list = append(list, r)
		}
	}
	slices.SortStableFunc(list, func(a, b result.Row) int { return cmp.Compare(b.Rate(), a.Rate()) })
	return list
}

func headline(f *result.File) string {
	list := fastestRows(f, 26)
	if len(list) == 0 {
		return "csg-sweep.json has no run at 26 agents."
	}
	r := list[0]
	return fmt.Sprintf(`| 26 agents, DP | splittings a second | time | against the target |
|---|---:|---:|---:|
| best variant, int32, %s | **%s** | %s | %.2f |
| target | %s | %s | 1 |
| naive kernel of the published structure, float32, an H200 (another run) | %s | 10.6 s | %.2f |

The variant is %s; it evaluated %.0f splittings, counted, and is named by what departs from the safe point below.`,
		f.Device, formatRate(r.Rate()), formatSeconds(r.Median()), r.Rate()/target, formatRate(target), formatSeconds(r.Splittings/target), formatRate(naive), naive/target, short(r.Variant), r.Splittings)
}

func bound(f *result.File) string {
	const ceiling, l = 1.2e12, 3.0
	list := fastestRows(f, 26)
	if len(list) == 0 {
		return "csg-sweep.json has no run at 26 agents."
	}
	mean := meanLines(26)
	return fmt.Sprintf(`| at 26 agents | lines a load | ceiling, splittings/s | reached |
|---|---:|---:|---:|
| predicted: about 3 lines at 17 of 26 members | 3.0 | %s | %.0f %% |
| the same, lines counted exactly at 17 members | %.2f | %s | %.0f %% |
| the same, mean over all sizes, each weighed by its splittings | %.2f | %s | %.0f %% |`,
		formatRate(ceiling), 100*list[0].Rate()/ceiling,
		linesPerLoad(26, 17), formatRate(ceiling*l/linesPerLoad(26, 17)), 100*list[0].Rate()/(ceiling*l/linesPerLoad(26, 17)),
		mean, formatRate(ceiling*l/mean), 100*list[0].Rate()/(ceiling*l/mean))
}

func sweep(f *result.File) string {
	out := "| agents | lambda | alpha | beta | block | time | splittings/s |\n|---:|---:|---:|---:|---:|---:|---:|\n"
	for _, n := range []int{22, 24, 26} {
		list := fastestRows(f, n)
		for _, r := range list[:min(10, len(list))] {
			p := labelParams(r.Variant)
			out += fmt.Sprintf("| %d | %s | %s | %s | %s | %s | %s |\n", n, p["lambda"], p["alpha"], p["beta"], p["block"], formatSeconds(r.Median()), formatRate(r.Rate()))
		}
	}
	return out
}

// labelParams takes a label apart.
func labelParams(label string) map[string]string {
	m := map[string]string{}
	for part := range strings.SplitSeq(label, ",") {
		name, value, _ := strings.Cut(part, "=")
		m[name] = value
	}
	return m
}

func safe(f *device.Family) *device.Variant {
	i := slices.IndexFunc(f.Variants, func(v device.Variant) bool { return v.Safe && f.Value(&v, "value") == "int32" })
	return &f.Variants[i]
}

// changedParams lists the parameters in which a label departs from the safe point.
func changedParams(label string) []string {
	f := &csg.Splits
	p, s := labelParams(label), safe(f)
	var list []string
	for _, name := range f.Params {
		if p[name] != f.Value(s, name) {
			list = append(list, name)
		}
	}
	return list
}

func findRow(f *result.File, label string, agents int) (result.Row, bool) {
	for _, r := range f.Rows {
		if r.Variant == label && r.Agents == agents && r.Failed == "" && r.Median() > 0 {
			return r, true
		}
	}
	return result.Row{}, false
}

// effects is the table of points that lie one step from the safe point.
func effects(f *result.File) string {
	family := &csg.Splits
	base := safe(family)
	labels := map[string][]string{} // by parameter
	for _, r := range f.Rows {
		d := changedParams(r.Variant)
		name := ""
		switch {
		case len(d) == 1:
			name = d[0]
		case slices.Equal(d, []string{"construct", "order"}):
			name = "order"
		default:
			continue
		}
		if !slices.Contains(labels[name], r.Variant) {
			labels[name] = append(labels[name], r.Variant)
		}
	}
	out := "| parameter | value | 20 agents: time | splittings/s | time ÷ safe | 24 agents: time | splittings/s | time ÷ safe |\n|---|---|---:|---:|---:|---:|---:|---:|\n"
	row := func(name, value, label string) {
		out += fmt.Sprintf("| %s | %s |", name, value)
		for _, n := range []int{20, 24} {
			r, ok := findRow(f, label, n)
			s, sane := findRow(f, base.Label, n)
			if !ok || !sane {
				out += " not run | | |"
				continue
			}
			out += fmt.Sprintf(" %s | %s | %.2f |", formatSeconds(r.Median()), formatRate(r.Rate()), r.Median()/s.Median())
		}
		out += "\n"
	}
	row("**safe point**", "", base.Label)
	for _, name := range family.Params {
		list := labels[name]
		slices.SortFunc(list, func(a, b string) int {
			x, y := labelParams(a)[name], labelParams(b)[name]
			return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y))
		})
		for _, label := range list {
			value := labelParams(label)[name]
			if name == "order" {
				value += ", construct shift"
			}
			row(name, value, label)
		}
	}
	return out + "\nThe safe point is " + short(base.Label) + "."
}

// asPrinted is the table of the published kernel's points.
func asPrinted(f *result.File) string {
	out := "| variant | 20 agents: time | splittings/s |\n|---|---:|---:|\n"
	for _, r := range f.Rows {
		p := labelParams(r.Variant)
		if r.Agents == 20 && p["origin"] == "launch" && r.Failed == "" && r.Median() > 0 {
			out += fmt.Sprintf("| %s | %s | %s |\n", short(r.Variant), formatSeconds(r.Median()), formatRate(r.Rate()))
		}
	}
	return out
}

func launchTable(f *result.File) string {
	out := "| agents | launches of 32 coalitions | initialSplit: time | µs a launch | shared by pair: time | µs a launch | gain |\n|---:|---:|---:|---:|---:|---:|---:|\n"
	pairs := measuredRows(f, shared)
	for _, r := range measuredRows(f, plain) {
		i := slices.IndexFunc(pairs, func(q result.Row) bool { return q.Agents == r.Agents })
		if i < 0 || r.Agents < 16 {
			continue
		}
		count, q := float64(launchCount(r.Agents, 32)), pairs[i]
		out += fmt.Sprintf("| %d | %.0f | %s | %.1f | %s | %.1f | %.1f %% |\n", r.Agents, count, formatSeconds(r.Median()), 1e6*r.Median()/count,
			formatSeconds(q.Median()), 1e6*q.Median()/count, 100*(1-q.Median()/r.Median()))
	}
	return out
}

func checkpointTable(f *result.File) string {
	out := "| checkpoint | no sharing: cycles | share | shared by pair: cycles | share |\n|---|---:|---:|---:|---:|\n"
	a, sum, names := cyclesOf(f, plain)
	b, sharedSum, _ := cyclesOf(f, shared)
	for i := range min(len(a), len(b)) {
		out += fmt.Sprintf("| %s | %.3g | %.1f %% | %.3g | %.1f %% |\n", names[i], float64(a[i]), 100*float64(a[i])/sum, float64(b[i]), 100*float64(b[i])/sharedSum)
	}
	return out
}

// figureTable gives what figure 5 draws; extrapolated times are in italics.
func figureTable(all results) string {
	list := figure5Curves(all)
	out := "| agents |"
	for _, s := range list {
		out += " " + s.name + " |"
	}
	out += "\n|---:" + strings.Repeat("|---:", len(list)) + "|\n"
	for n := 1; n <= largest; n++ {
		row, any := fmt.Sprintf("| %d |", n), false
		for _, s := range list {
			cell := "not run"
			for _, p := range s.points {
				if int(p.x) == n {
					cell, any = formatSeconds(p.y), true
					if p.extrapolated {
						cell = "*" + cell + " extrapolated*"
					}
				}
			}
			row += " " + cell + " |"
		}
		if any {
			out += row + "\n"
		}
	}
	return out
}

func growthTable(all results) string {
	out := "| curve | last size run | growth of the last pair | growth carried on |\n|---|---:|---:|---:|\n"
	for _, name := range []string{sequential, integer, plain, shared} {
		f := all["figures"]
		if name == sequential {
			f = sequentialFile(all)
		}
		if list := measuredRows(f, name); len(list) > 0 {
			measured, used := growthPerAgent(f, name)
			out += fmt.Sprintf("| %s | %d | %.2f | %.2f |\n", name, list[len(list)-1].Agents, measured, used)
		}
	}
	return out
}

func subsetTable() string {
	out := "| assets | ψ = 0 … C | ψ < 2^(\\|C\\|-1), as printed |\n|---:|---:|---:|\n"
	for n := 4; n <= 14; n++ {
		out += fmt.Sprintf("| %d | %.1f %% | %.1f %% |\n", n, wrongCardinality(n, false), wrongCardinality(n, true))
	}
	return out
}

// hostBest is the fastest int32 row of a size, of one unit ("" for any).
func hostBest(f *result.File, agents int, unit string) (result.Row, bool) {
	for _, r := range fastestRows(f, agents) {
		if p := labelParams(r.Variant); r.Name == "host" && p["value"] == "int32" && (unit == "" || p["unit"] == unit) {
			return r, true
		}
	}
	return result.Row{}, false
}

func hostTable(f *result.File) string {
	ref := measuredRows(f, sequential)
	if len(ref) == 0 {
		return "csg-host.json has no run of the reference."
	}
	last := ref[len(ref)-1]
	out := fmt.Sprintf("| agents | variant | time | splittings/s | target | reference, extrapolated from %d agents | reference ÷ variant |\n|---:|---|---:|---:|---:|---:|---:|\n", last.Agents)
	for _, n := range []int{20, 22, 24} {
		for _, unit := range []string{"vector", "scalar"} {
			r, ok := hostBest(f, n, unit)
			if !ok {
				continue
			}
			goal := "none"
			if n == 20 {
				goal = formatSeconds(host20)
			} else if n == 24 {
				goal = formatSeconds(host24)
			}
			slow := splittingCount(n) / last.Rate()
			out += fmt.Sprintf("| %d | %s | %s | %s | %s | *%s* | %.0f |\n", n, strings.ReplaceAll(r.Variant, ",", " "), formatSeconds(r.Median()), formatRate(r.Rate()), goal, formatSeconds(slow), slow/r.Median())
		}
	}
	return out
}

func repeatTable(f *result.File) string {
	out := "| variant, as it departs from the safe point | agents | 1,000 tables |\n|---|---:|---|\n"
	failed := 0
	for _, r := range f.Rows {
		verdict := "equal"
		if r.Failed != "" {
			verdict = r.Failed
			failed++
		}
		name := "the safe point"
		if len(changedParams(r.Variant)) > 0 {
			name = short(r.Variant)
		}
		out += fmt.Sprintf("| %s | %d | %s |\n", name, r.Agents, verdict)
	}
	return out + fmt.Sprintf("\n%d kinds, %d failed.", len(f.Rows), failed)
}

func readme(r results) string {
	out := "| device | instance | time | splittings a second |\n|---|---|---:|---:|\n"
	if h, ok := hostBest(r["host"], 24, ""); ok {
		out += fmt.Sprintf("| host, %s, 2 cores | 24 agents, int32, DP | %s | %s |\n", r["host"].Device, formatSeconds(h.Median()), formatRate(h.Rate()))
	}
	if list := fastestRows(r["sweep"], 26); len(list) > 0 {
		out += fmt.Sprintf("| %s, the published kernel, tuned | 26 agents, int32, DP | %s | %s |\n", r["sweep"].Device, formatSeconds(list[0].Median()), formatRate(list[0].Rate()))
	}
	for _, value := range []string{"int32", "int16"} {
		for _, n := range []int{26, 30} {
			list := fastestRows(ofType(r["tiles"], value), n)
			if len(list) == 0 {
				continue
			}
			out += fmt.Sprintf("| %s, tiles | %d agents, %s | %s | %s |\n", r["tiles"].Device, n, value, formatSeconds(list[0].Median()), formatRate(list[0].Rate()))
		}
	}
	return out
}

// short names a variant by what it has other than the safe point.
func short(label string) string {
	p := labelParams(label)
	var parts []string
	for _, name := range changedParams(label) {
		parts = append(parts, name+"="+p[name])
	}
	if len(parts) == 0 {
		return "`" + label + "`"
	}
	return "`" + strings.Join(parts, " ") + "`"
}

// formatRate prints splittings a second with three digits: 7.84e11.
func formatRate(r float64) string {
	if r <= 0 {
		return "none"
	}
	e := int(math.Floor(math.Log10(r)))
	return fmt.Sprintf("%.2fe%d", r/math.Pow10(e), e)
}

// formatSeconds prints a time in the unit that suits it.
func formatSeconds(t float64) string {
	switch {
	case t >= 3600*24:
		return fmt.Sprintf("%.1f days", t/(3600*24))
	case t >= 3600:
		return fmt.Sprintf("%.1f h", t/3600)
	case t >= 120:
		return fmt.Sprintf("%.1f min", t/60)
	case t >= 1:
		return fmt.Sprintf("%.2f s", t)
	case t >= 1e-3:
		return fmt.Sprintf("%.3g ms", t*1e3)
	}
	return fmt.Sprintf("%.0f µs", t*1e6)
}
