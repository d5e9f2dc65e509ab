package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"coalesce/bench/result"
)

// Row names of csg-figures.json.
const (
	sequential = "sequential DP, one core"
	integer    = "integer subset construction"
	plain      = "initialSplit"
	shared     = "initialSplit, shared by pair"
	profiled   = ", checkpoints"
)

const largest = 29 // agents, where the paper's figure 5 ends

func drawFigures(r results) map[string]string {
	f := r["figures"]
	from := f.Device + "; sequential: one core. " + origin(f)
	if r["sequential"] != nil {
		from += " and csg-sequential.json"
	}
	open := "Filled: measured. Open and dashed: extrapolated. "
	out := map[string]string{
		"paper-3": checkpoints(f, plain, "Paper, figure 3: cycles at the checkpoints, 22 agents, no sharing"),
		"paper-4": checkpoints(f, shared, "Paper, figure 4: cycles at the checkpoints, 22 agents, splittings shared"),
		"paper-5": chart{
			title: "Paper, figure 5: time against agents", x: "agents", y: "seconds (log)", log: true,
			lines: figure5Curves(r),
			note:  open + from,
		}.svg(),
		"report-1": chart{
			title: "Report, figure 1: time against agents", x: "agents", y: "seconds (log)", log: true,
			lines: []series{timeCurve(sequentialFile(r), sequential, 25), timeCurve(f, integer, 25)},
			note:  open + from,
		}.svg(),
	}
	mended := series{name: "ψ = 0 … C, the range that reaches every splitting"}
	printed := series{name: "ψ < 2^(|C|-1), the range as printed"}
	for n := 4; n <= 14; n++ {
		mended.points = append(mended.points, chartPoint{x: float64(n), y: wrongCardinality(n, false)})
		printed.points = append(printed.points, chartPoint{x: float64(n), y: wrongCardinality(n, true)})
	}
	out["report-2"] = chart{
		title: "Report, figure 2: generated subsets of wrong cardinality", x: "assets", y: "share of all generated",
		lines: []series{mended, printed}, note: "Counted exactly by go run ./bench/report; no device, no JSON.",
	}.svg()
	return out
}

// figure5Curves are the curves of figure 5: the paper's four, carried on where they were not run, and
// beside them IDP and this project's best where they were.
func figure5Curves(all results) []series {
	f, seq := all["figures"], sequentialFile(all)
	list := []series{timeCurve(seq, sequential, largest), timeCurve(f, integer, largest), timeCurve(f, plain, largest), timeCurve(f, shared, largest)}
	more := []series{timeCurve(f, idpShared, largest), timeCurve(seq, idpOneCore, 0), timeCurve(f, splitsBest, 0), timeCurve(f, tilesCurve, 0), timeCurve(f, "csg/hosttiles", 0)}
	for k, name := range map[int]string{2: "sweep", 3: "tiles"} { // their own experiments, where figures has none
		for n := 1; n <= largest && len(measuredRows(f, more[k].name)) == 0 && all[name] != nil; n++ {
			if r := fastestRows(ofType(all[name], "int32"), n); len(r) > 0 {
				more[k].points = append(more[k].points, chartPoint{x: float64(n), y: r[0].Median()})
			}
		}
	}
	return slices.DeleteFunc(append(list, more...), func(s series) bool { return len(s.points) == 0 })
}

// measuredRows are the measured rows of a name by rising agents.
func measuredRows(f *result.File, name string) []result.Row {
	var list []result.Row
	if f == nil {
		return nil
	}
	for _, r := range f.Rows {
		if r.Name == name && r.Failed == "" && len(r.Runs) > 0 {
			list = append(list, r)
		}
	}
	slices.SortFunc(list, func(a, b result.Row) int { return a.Agents - b.Agents })
	return list
}

// growthPerAgent is by how much a curve's time grows an agent: in its last measured
// pair, and as it is carried on. The sequential program grows by 3; a kernel
// whose launches double with every agent by no less than 2, whatever noise the
// last pair has.
func growthPerAgent(f *result.File, name string) (measured, used float64) {
	list := measuredRows(f, name)
	if len(list) < 2 {
		return 0, 0
	}
	a, z := list[len(list)-2], list[len(list)-1]
	measured = math.Pow(z.Median()/a.Median(), 1/float64(z.Agents-a.Agents))
	if strings.HasPrefix(name, "sequential") {
		return measured, 3
	}
	return measured, max(measured, 2)
}

// timeCurve is a row's median time by agents, carried on to the last size.
func timeCurve(f *result.File, name string, last int) series {
	s := series{name: name}
	for _, r := range measuredRows(f, name) {
		s.points = append(s.points, chartPoint{x: float64(r.Agents), y: r.Median()})
	}
	if len(s.points) < 2 {
		return s
	}
	_, grows := growthPerAgent(f, name)
	for z := s.points[len(s.points)-1]; z.x < float64(last); {
		z = chartPoint{z.x + 1, z.y * grows, true}
		s.points = append(s.points, z)
	}
	return s
}

// origin is where a figure's numbers come from.
func origin(f *result.File) string {
	return "\nbench/results/csg-" + f.Experiment + ".json, by " + repeatCommand(f, f.Experiment)
}

// checkpointNames are what each checkpoint ends, as printed, or as rows of earlier commits have it.
var checkpointNames = map[string][]string{
	"printed": {"1 coalitions", "2 shift", "3 guard", "4 initialSplit, fetch", "5 barrier, warp", "6 block", "7 update"},
	"":        {"1 coalitions", "2 shift", "3 initialSplit", "4 fetch", "5 warp", "6 barrier, block", "7 update"},
}

// cyclesOf are a profiled row's cycles, at 22 agents as in the paper where it was run there, their sum,
// and the names of their checkpoints.
func cyclesOf(f *result.File, name string) (cycles []uint64, sum float64, names []string) {
	for _, r := range measuredRows(f, name+profiled) {
		if names := checkpointNames[r.Bounds]; r.Agents <= 22 && len(r.Cycles) == len(names) {
			sum = 0
			for _, c := range r.Cycles {
				sum += float64(c)
			}
			cycles = r.Cycles
		}
	}
	if r, ok := lastOf(f, name+profiled); ok {
		names = checkpointNames[r.Bounds]
	}
	return cycles, sum, names
}

func checkpoints(f *result.File, name, title string) string {
	c := chart{title: title, x: "checkpoint", y: "cycles, all blocks (log)", log: true, note: f.Device + "; cycles of one thread a block, row \"" + name + profiled + "\"." + origin(f)}
	cycles, sum, names := cyclesOf(f, name)
	for i, v := range cycles {
		c.bars = append(c.bars, bar{name: names[i], label: fmt.Sprintf("%.1f %%", 100*float64(v)/sum), y: float64(v)})
	}
	return c.svg()
}
