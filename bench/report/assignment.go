package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"coalesce/bench/result"
)

// solveResults are the experiments of linear assignment that have results, by name.
type solveResults map[string]*result.Experiment[result.Solve]

var assignmentExperiments = []string{"race", "kinds", "paper", "paths", "host", "scaling", "scaling-x2", "scaling-passes", "batch", "points", "paper-host", "published"}

// An race is an instance that contenders raced on, all seeds together.
type race struct {
	result.Solve                    // of the first row: kind, sides, range, value
	names        []string           // of contenders, in order of appearance
	by           map[string]*timing // contender
}

// A timing is one contender at one event.
type timing struct {
	runs   []float64 // of all seeds
	counts map[string]any
	failed string
	row    result.Solve // the last
}

func (t *timing) median() float64 {
	if t == nil || t.failed != "" {
		return 0
	}
	return result.Median(t.runs)
}

// count is one of the solver's counts, 0 where there is none.
func (t *timing) count(name string) float64 {
	x, _ := t.counts[name].(float64)
	return x
}

// cell is the median in milliseconds, and the least and largest run.
func (t *timing) cell() string {
	switch {
	case t == nil || len(t.runs) == 0 && t.failed == "":
		return "not run"
	case t.failed != "":
		return "failed"
	}
	least, longest := formatMilliseconds(slices.Min(t.runs)), formatMilliseconds(slices.Max(t.runs))
	if least == longest {
		return longest
	}
	return fmt.Sprintf("%s (%s–%s)", formatMilliseconds(result.Median(t.runs)), least, longest)
}

// formatMilliseconds prints seconds as milliseconds with three digits.
func formatMilliseconds(seconds float64) string {
	x := seconds * 1e3
	if x >= 100 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.3g", x)
}

// groupRaces groups rows; named tells contenders apart.
func groupRaces(f *result.Experiment[result.Solve], named func(r result.Solve) string) []*race {
	var list []*race
	at := map[string]*race{}
	for _, r := range f.Rows {
		key := instanceKey(r)
		e := at[key]
		if e == nil {
			e = &race{Solve: r, by: map[string]*timing{}}
			at[key] = e
			list = append(list, e)
		}
		name := named(r)
		t := e.by[name]
		if t == nil {
			t = &timing{}
			e.by[name] = t
			e.names = append(e.names, name)
		}
		t.runs = append(t.runs, r.Runs...)
		t.row = r
		if r.Failed != "" {
			t.failed = r.Failed
		}
		if t.counts == nil && len(r.Counts) > 0 {
			_ = json.Unmarshal(r.Counts, &t.counts) // counts that are none show as none
		}
	}
	return list
}

func byName(r result.Solve) string { return r.Name }

// instanceKey tells instances apart: "uniform 1000x1000 R=1000 int32 permuted".
func instanceKey(r result.Solve) string {
	s := fmt.Sprintf("%s %dx%d", r.Kind, r.Rows, r.Cols)
	if r.Range > 0 {
		s += fmt.Sprintf(" R=%d", r.Range)
	}
	if s += " " + r.Value; r.Noise != "" {
		s += " " + r.Noise
	}
	if r.Matrices > 0 {
		s = fmt.Sprintf("%d of %s", r.Matrices, s)
	}
	return s
}

// contenders of all events, in order of appearance.
func contenders(list []*race) []string {
	var names []string
	for _, e := range list {
		for _, n := range e.names {
			if !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
	}
	return names
}

func tableHead(columns ...string) string {
	return "| " + strings.Join(columns, " | ") + " |\n|---" + strings.Repeat("|---:", len(columns)-1) + "|\n"
}

func tableLine(cells ...string) string { return "| " + strings.Join(cells, " | ") + " |\n" }

// times is a table of every contender's time at every event, and more columns.
func times(list []*race, more []string, extra func(e *race) []string) string {
	names := contenders(list)
	out := tableHead(append(append([]string{"instance"}, names...), more...)...)
	for _, e := range list {
		cells := []string{instanceKey(e.Solve)}
		for _, n := range names {
			cells = append(cells, e.by[n].cell())
		}
		if extra != nil {
			cells = append(cells, extra(e)...)
		}
		out += tableLine(cells...)
	}
	return out
}

// best is the fastest of some contenders.
func (e *race) best(names ...string) (name string, seconds float64) {
	for _, n := range names {
		if t := e.by[n].median(); t > 0 && (seconds == 0 || t < seconds) {
			name, seconds = n, t
		}
	}
	return name, seconds
}

func formatQuotient(a, b float64) string {
	if a <= 0 || b <= 0 {
		return "none"
	}
	return fmt.Sprintf("%.2f", a/b)
}

// A goal is a target and the best GPU rival on an instance, in milliseconds.
// Rivals were measured apart, on one H200, the same matrices of seed 2^40; 0
// where none was.
type goal struct {
	target, rival float64
	name          string
}

var goals = map[string]goal{
	"uniform 1000x1000 R=1000 int32":           {1, 4.6, "HyLAC classical"},
	"uniform 1000x1000 R=1000000 int32":        {1, 17, "lapjv, a core"},
	"uniform 5000x5000 R=5000 int32":           {4, 18, "HyLAC classical"},
	"uniform 5000x5000 R=1000000 int32":        {6, 729, "HyLAC classical"},
	"uniform 10000x10000 R=1000 int32":         {1.5, 5.8, "HyLAC classical"},
	"uniform 10000x10000 R=10000 int32":        {8, 48, "HyLAC classical"},
	"uniform 10000x10000 R=100000 int32":       {12, 218, "HyLAC classical"},
	"uniform 10000x10000 R=1000000 int32":      {12, 1399, "HyLAC classical"},
	"uniform 20000x20000 R=2000 int32":         {3, 14.6, "HyLAC classical"},
	"uniform 20000x20000 R=20000 int32":        {20, 114, "HyLAC classical"},
	"uniform 20000x20000 R=200000 int32":       {20, 629, "HyLAC classical"},
	"uniform 20000x20000 R=1000000 int32":      {30, 2510, "HyLAC classical"},
	"uniform 20000x20000 R=2000000000 int32":   {30, 7616, "Algorithm 1015"},
	"uniform 20000x20000 float32":              {30, 0, ""},
	"uniform 40000x40000 R=40000 int32":        {60, 379, "HyLAC classical"},
	"uniform 40000x40000 R=1000000 int32":      {150, 4412, "HyLAC classical"},
	"uniform 100000x100000 R=1000000000 int32": {500, 0, ""},
	"geom 5000x5000 R=1000000 int32":           {300, 3416, "Algorithm 1015"},
	"machol 2000x2000 int32":                   {30, 152, "Algorithm 1015"},
	"208 of uniform 300x300 R=1000000 int32":   {2, 723, "torch-linear-assignment 0.0.6"},
	"208 of uniform 300x300 R=1000000 float32": {2, 723, "torch-linear-assignment 0.0.6"},
	"208 of uniform 300x300 R=1000000 float64": {2, 723, "torch-linear-assignment 0.0.6"},
}

// against adds the target and the rival measured apart.
func against(e *race, ours []string) []string {
	g, ok := goals[instanceKey(e.Solve)]
	_, seconds := e.best(ours...)
	if !ok {
		return []string{"none", "none", "none", "none"}
	}
	rival := "none"
	if g.rival > 0 {
		rival = fmt.Sprintf("%v, %s", g.rival, g.name)
	}
	return []string{fmt.Sprint(g.target), formatQuotient(g.target, seconds*1e3), rival, formatQuotient(g.rival, seconds*1e3)}
}

// ours are the contenders that are not rivals: those that have variants.
func ours(list []*race) []string {
	var names []string
	for _, e := range list {
		for _, n := range e.names {
			if e.by[n].row.Variant != "" && !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
	}
	return names
}

func raceTable(f *result.Experiment[result.Solve]) string {
	list := groupRaces(f, byName)
	mine := ours(list)
	return "Milliseconds on " + f.Device + ": the median, the least and the largest run over all seeds.\n\n" +
		times(list, []string{"target", "target ÷ best", "best GPU rival, another run", "rival ÷ best"}, func(e *race) []string { return against(e, mine) })
}

// countTable has the counts of the families' work, of the first seed.
func countTable(f *result.Experiment[result.Solve]) string {
	fields := []string{"passes", "steps", "phases", "paths", "updates", "repairs", "edges"}
	out := tableHead(append(append([]string{"instance", "family", "optimum, first seed"}, fields...), "went on as")...)
	for _, e := range groupRaces(f, byName) {
		for _, n := range e.names {
			t := e.by[n]
			if t.counts == nil {
				continue
			}
			cells := []string{instanceKey(e.Solve), n, e.Optimum}
			for _, name := range fields {
				cells = append(cells, count(t.counts[name]))
			}
			next, _ := t.counts["switch"].(string)
			out += tableLine(append(cells, cmp.Or(next, "none"))...)
		}
	}
	return out
}

func count(x any) string {
	n, _ := x.(float64) // what is left out is 0
	if n != math.Trunc(n) {
		return fmt.Sprintf("%.1f", n)
	}
	return fmt.Sprintf("%.0f", n)
}

// kindTable holds the solver's choice against the best family alone.
func kindTable(f *result.Experiment[result.Solve]) string {
	worst, where := 0.0, ""
	list := groupRaces(f, byName)
	out := times(list, []string{"auto ÷ the best family alone"}, func(e *race) []string {
		_, alone := e.best("core", "classical", "tree")
		own := e.by["auto"].median()
		if alone > 0 && own/alone > worst {
			worst, where = own/alone, instanceKey(e.Solve)
		}
		return []string{formatQuotient(own, alone)}
	})
	if where != "" {
		out += fmt.Sprintf("\nThe largest quotient is %.2f, on %s.", worst, where)
	}
	return out
}

// The paper's table 2: seconds on a K20X, classical and tree.
var k20x = map[string][2]float64{
	"5000 500": {0.44, 0.51}, "5000 5000": {1.43, 1.39}, "5000 50000": {4.40, 3.86},
	"10000 1000": {0.63, 1.15}, "10000 10000": {2.44, 2.17}, "10000 100000": {9.74, 6.67},
	"15000 1500": {0.97, 1.55}, "15000 15000": {3.85, 3.21}, "15000 150000": {20.78, 9.81},
	"20000 2000": {1.41, 2.05}, "20000 20000": {5.69, 4.22}, "20000 200000": {30.05, 12.81},
}

func paperTable(f *result.Experiment[result.Solve]) string {
	more := []string{"K20X classical, printed", "K20X tree, printed", "classical: printed ÷ ours", "tree: printed ÷ ours", "classical: one core ÷ ours", "tree: one core ÷ ours"}
	return times(groupRaces(f, byName), more, func(e *race) []string {
		p := k20x[fmt.Sprint(e.Rows, e.Range)]
		classical, tree := e.by["classical"].median(), e.by["tree"].median()
		return []string{
			formatMilliseconds(p[0]), formatMilliseconds(p[1]), formatQuotient(p[0], classical), formatQuotient(p[1], tree),
			formatQuotient(e.by["sequential-classical"].median(), classical), formatQuotient(e.by["sequential-tree"].median(), tree),
		}
	})
}

// pathTable sets variants with one path a phase beside those with many.
func pathTable(f *result.Experiment[result.Solve]) string {
	out := tableHead("instance", "family", "phases, many", "phases, one", "paths, many", "paths, one", "many, ms", "one, ms", "one ÷ many")
	for _, e := range groupRaces(f, func(r result.Solve) string { return r.Variant }) {
		for _, label := range e.names {
			if !strings.Contains(label, "paths=one") {
				continue
			}
			one, many := e.by[label], e.by[strings.ReplaceAll(label, "paths=one", "paths=many")]
			if many == nil {
				continue
			}
			out += tableLine(instanceKey(e.Solve), one.row.Name, count(many.counts["phases"]), count(one.counts["phases"]), count(many.counts["paths"]), count(one.counts["paths"]),
				many.cell(), one.cell(), formatQuotient(one.median(), many.median()))
		}
	}
	return out
}

// hostSolveTable ends with how many times slower one thread of lapjv is.
func hostSolveTable(f *result.Experiment[result.Solve]) string {
	return "Milliseconds on " + f.Device + ".\n\n" + times(groupRaces(f, byName), []string{"lapjv ÷ host"}, func(e *race) []string {
		return []string{formatQuotient(e.by["lapjv"].median(), e.by["host"].median())}
	})
}

func batchTable(f *result.Experiment[result.Solve]) string {
	list := groupRaces(f, byName)
	mine := ours(list)
	return times(list, []string{"target", "target ÷ best", "best GPU rival, another run", "rival ÷ best"}, func(e *race) []string { return against(e, mine) })
}

// pointTable is the time of every solver, and the counts of core's work.
func pointTable(f *result.Experiment[result.Solve]) string {
	out := tableHead("instance", "family", "time, s", "bids a row", "steps of searches", "rounds of pricing")
	for _, e := range groupRaces(f, byName) {
		for _, n := range e.names {
			t := e.by[n]
			out += tableLine(instanceKey(e.Solve), n, fmt.Sprintf("%.2f", t.median()), fmt.Sprintf("%.0f", t.count("bids")/float64(max(1, e.Rows))),
				fmt.Sprintf("%.0f", t.count("steps")), fmt.Sprintf("%.0f", 1+t.count("repairs")))
		}
	}
	return out
}

// assignmentTables are the regions of linear assignment. An experiment without
// results says so.
func assignmentTables(all solveResults) map[string]string {
	region := func(name string, table func(*result.Experiment[result.Solve]) string) string {
		if f := all[name]; f != nil {
			return table(f)
		}
		return fmt.Sprintf("There is no bench/results/assignment-%s.json: nothing was measured yet.", name)
	}
	return map[string]string{
		"assignment-sources":        sourceTable("assignment", assignmentExperiments, all, "none", recordedCommand),
		"assignment-race":           region("race", raceTable),
		"assignment-counts":         region("race", countTable),
		"assignment-growth":         region("race", func(*result.Experiment[result.Solve]) string { return growthPicture(all) }),
		"assignment-kinds":          region("kinds", kindTable),
		"assignment-paper":          region("paper", func(*result.Experiment[result.Solve]) string { return hungarianTable(paperResults{solves: all}) }),
		"assignment-paths":          region("paths", pathTable),
		"assignment-host":           region("host", hostSolveTable),
		"assignment-scaling":        region("scaling", scalingTable),
		"assignment-scaling-x2":     region("scaling-x2", scalingTable),
		"assignment-grown":          region("scaling", grownTable),
		"assignment-grown-x2":       region("scaling-x2", grownTable),
		"assignment-scaling-passes": region("scaling-passes", scalingTable),
		"assignment-batch":          region("batch", batchTable),
		"assignment-points":         region("points", pointTable),

		"readme-assignment": region("race", readmeRace),
	}
}

// readmeRace is the fastest of ours on a few instances.
func readmeRace(f *result.Experiment[result.Solve]) string {
	out := tableHead("instance", "device", "time, ms", "solver", "best GPU rival on the same matrices, another run, ms")
	list := groupRaces(f, byName)
	mine := ours(list)
	for _, e := range list {
		g, ok := goals[instanceKey(e.Solve)]
		name, seconds := e.best(mine...)
		if ok && seconds > 0 && g.rival > 0 && (e.Rows >= 20000 || e.Kind != "uniform") {
			out += tableLine(instanceKey(e.Solve), f.Device, formatMilliseconds(seconds), name, fmt.Sprintf("%v (%s)", g.rival, g.name))
		}
	}
	return out
}

// growthPicture shows the figure where it is drawn.
func growthPicture(all solveResults) string {
	if assignmentFigures(all)["assignment-race"] == "" {
		return "assignment-race.json has no contender at two sides or more."
	}
	return "![Time against the side](../figures/assignment-race.svg)"
}

// assignmentFigures are drawn from what there is.
func assignmentFigures(all solveResults) map[string]string {
	out := map[string]string{}
	f := all["race"]
	if f == nil {
		return out
	}
	list := groupRaces(f, byName)
	c := chart{title: "Linear assignment, uniform costs below 10^6", x: "rows and columns", y: "seconds (log)", log: true,
		note: f.Device + ". Medians over all seeds.\nbench/results/assignment-race.json, by " + f.Command}
	for _, name := range contenders(list) {
		s := series{name: name}
		for _, e := range list {
			if t := e.by[name].median(); t > 0 && e.Kind == "uniform" && e.Range == 1e6 && e.Value == "int32" {
				s.points = append(s.points, chartPoint{x: float64(e.Rows), y: t})
			}
		}
		slices.SortFunc(s.points, func(a, b chartPoint) int { return int(a.x - b.x) })
		if len(s.points) > 1 {
			c.lines = append(c.lines, s)
		}
	}
	if len(c.lines) > 0 {
		out["assignment-race"] = c.svg()
	}
	return out
}
