// Package page shows recorded trials: as one self-contained HTML page, as SVG files of its figures,
// and as a table in CSV for other programs.
package page

import (
	"cmp"
	_ "embed"
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"coalesce/autotune/report"
	"coalesce/autotune/trial"
)

var (
	//go:embed page.css
	pageStyle string
	//go:embed chart.css
	chartStyle string
	//go:embed page.js
	script string
)

// HTML writes the page: for each study its winners, the best so far against time, the
// speed-up over the safe point, what parameters are worth, a heat map for each pair of
// them, regret, and failures. It loads nothing from anywhere.
func HTML(w io.Writer, studies []*Study) error {
	families, classes, sizes := map[string]bool{}, map[string]bool{}, map[int]bool{}
	for _, s := range studies {
		families[s.Family], classes[s.Class] = true, true
		for _, size := range s.Sizes {
			sizes[size.Size] = true
		}
		for _, f := range s.Failed {
			sizes[f.Size] = true
		}
	}
	delete(sizes, 0)
	var p htmlPage
	p.writeHead(slices.Sorted(maps.Keys(families)), slices.Sorted(maps.Keys(sizes)), slices.Sorted(maps.Keys(classes)))
	for _, s := range studies {
		p.writeSection(newSection(s))
	}
	if len(studies) == 0 {
		p.printf("<p>The files hold no trial.</p>")
	}
	p.printf("\n<script>%v</script>\n</body>\n</html>\n", markup(script))
	if _, err := w.Write(p.Bytes()); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

// A section is the part of the page about one study.
type section struct {
	*Study
	Workload string
	Trials   string // how many of each status
	Time     string // spent in trials
	Marks    string // sizes, between spaces
	Winners  []row  // a size each
	Progress markup // empty: a single variant was measured
	Speedup  markup // empty: and where no safe point was
	Regret   markup // empty: and where it is the best everywhere
	At       []sizeSection
	Failures []Failure
}

type row struct {
	Size                               int
	Variant, Time, Noise, VsSafe, Tied string
	Ceiling                            string
	Measured                           int
}

type sizeSection struct {
	Size  int
	Worth markup // empty: no parameter varies
	Parts []ParameterEffect
	Pairs []markup
}

// ExplainedShare writes the part of the variance that a parameter explains.
func (w ParameterEffect) ExplainedShare() string { return fmt.Sprintf("%.0f %%", 100*w.Part) }

// AtSafe and AtWorst write the losses.
func (w ParameterEffect) AtSafe() string { return formatPercent(w.Safe) }

// AtWorst writes the loss at the worst value.
func (w ParameterEffect) AtWorst() string { return formatPercent(w.Worst) }

func newSection(s *Study) section {
	x := section{Study: s, Workload: s.Workload(), Time: s.Spent.Round(time.Second / 10).String(), Failures: s.Failed}
	var parts []string
	for _, status := range trial.Statuses {
		if n := s.Counts[status]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", status, n))
		}
	}
	x.Trials = strings.Join(parts, ", ")
	for _, c := range s.overall() {
		switch c.Name {
		case "progress":
			x.Progress = markup(c.SVG)
		case "speedup":
			x.Speedup = markup(c.SVG)
		case "regret":
			x.Regret = markup(c.SVG)
		}
	}
	for _, size := range s.Sizes {
		x.Marks += " " + strconv.Itoa(size.Size)
		b := size.Best()
		r := row{
			Size: size.Size, Variant: b.Variant, Time: report.FormatDuration(time.Duration(b.Nanos)), Noise: fmt.Sprintf("%.1f %%", 100*b.Sample.Noise()),
			VsSafe: "-", Measured: len(size.Points), Tied: strconv.Itoa(size.CountTied()),
		}
		r.Ceiling = trial.ShareText(b.Ceiling.Share(b.Nanos))
		if v := size.Speedup(); v > 0 {
			r.VsSafe = fmt.Sprintf("%.2f×", v)
		}
		x.Winners = append(x.Winners, r)
		at := sizeSection{Size: size.Size, Parts: s.ParameterEffects(size)}
		for _, c := range s.at(size) {
			if strings.HasPrefix(c.Name, "pair") {
				at.Pairs = append(at.Pairs, markup(c.SVG))
			} else {
				at.Worth = markup(c.SVG)
			}
		}
		x.At = append(x.At, at)
	}
	for _, f := range s.Failed {
		if mark := " " + strconv.Itoa(f.Size); !strings.Contains(x.Marks+" ", mark+" ") {
			x.Marks += mark
		}
	}
	x.Marks += " "
	return x
}

// overall are the figures of all sizes together.
func (s *Study) overall() []Chart {
	if !slices.ContainsFunc(s.Sizes, func(size *Size) bool { return len(size.Points) > 1 }) {
		return nil // a single variant has no slowdown over another
	}
	charts := []Chart{{"progress", "Best so far", s.progress()}}
	var sp curve
	for _, size := range s.Sizes {
		if v := size.Speedup(); v > 0 {
			sp.xs, sp.ys = append(sp.xs, float64(size.Size)), append(sp.ys, v)
			sp.notes = append(sp.notes, fmt.Sprintf("size %d: %.2f times as fast as the safe point, with %s", size.Size, v, size.Best().Variant))
		}
	}
	if len(sp.xs) > 0 {
		sp.name = "fastest"
		x := axis{title: "size", log: true, say: formatNumber}
		if len(sp.xs) <= 8 {
			x.marks = sp.xs
		}
		y := axis{title: "times as fast as the safe point", say: func(v float64) string { return formatNumber(v) + "×" }}
		charts = append(charts, Chart{"speedup", "Speed-up over the safe point", lineChart("Speed-up over the safe point, by size", x, y, false, []curve{sp})})
	}
	if rules := s.Rules(); len(rules) > 1 {
		var names, columns []string
		var cells [][]float64
		var notes [][]string
		for _, size := range s.Sizes {
			columns = append(columns, strconv.Itoa(size.Size))
		}
		for _, r := range rules {
			names, cells = append(names, r.Name), append(cells, r.Slower)
			var line []string
			for k, size := range s.Sizes {
				line = append(line, fmt.Sprintf("%s at size %d takes %.3f times the best time", r.Variant, size.Size, r.Slower[k]))
			}
			notes = append(notes, line)
		}
		charts = append(charts, Chart{"regret", "Regret", drawHeatmap("Time of one variant over the best, by size", "", "size", names, columns, cells, notes)})
	}
	return charts
}

// progress draws, for each size, the time of the best variant measured so far over that
// of the best of all, by the time that trials had taken.
func (s *Study) progress() string {
	var list []curve
	for i, size := range s.Sizes {
		c := curve{name: "size " + strconv.Itoa(size.Size), size: size.Size, color: i}
		points := slices.SortedStableFunc(slices.Values(size.Points), func(a, b *Point) int { return cmp.Compare(a.Since, b.Since) })
		best := math.Inf(1)
		for _, p := range points {
			if p.Rounds == 0 && size.Best().Rounds > 0 && p.Nanos < size.Best().Nanos {
				continue // a brief measurement below the best time, which later final rounds refuted
			}
			if p.Nanos >= best {
				continue
			}
			best = p.Nanos
			c.xs, c.ys = append(c.xs, p.Since.Seconds()), append(c.ys, size.slowdown(p))
			c.notes = append(c.notes, fmt.Sprintf("size %d, after %s: %s in %s", size.Size, p.Since.Round(time.Millisecond), p.Variant, report.FormatDuration(time.Duration(p.Nanos))))
		}
		if n := len(c.xs); n > 0 {
			c.xs, c.ys = append(c.xs, s.Spent.Seconds()), append(c.ys, c.ys[n-1])
		}
		list = append(list, c)
	}
	x := axis{title: "time spent in trials, seconds", say: formatNumber}
	y := axis{title: "best so far ÷ best", log: true, say: func(v float64) string { return formatNumber(v) + "×" }}
	return lineChart("Best so far against time", x, y, true, list)
}

// at are the figures of one size: what parameters are worth, and a heat map for each
// pair of them.
func (s *Study) at(size *Size) []Chart {
	var charts []Chart
	if w := s.ParameterEffects(size); len(w) > 0 {
		charts = append(charts, Chart{"worth", "What parameters are worth", barChart(fmt.Sprintf("How much slower the best variant is with a parameter at another value, size %d", size.Size), w)})
	}
	for i := range s.Params {
		for k := i + 1; k < len(s.Params); k++ {
			if svg := s.pair(size, s.Params[i], s.Params[k]); svg != "" {
				name := fmt.Sprintf("pair-%s-%s", s.Params[i].Name, s.Params[k].Name)
				charts = append(charts, Chart{name, s.Params[i].Name + " and " + s.Params[k].Name, svg})
			}
		}
	}
	return charts
}

// pair draws the best time of the variants with each two values, over the best of all;
// "" where one of the parameters has a single value at this size.
func (s *Study) pair(size *Size, rows, columns Param) string {
	least := map[[2]string]*Point{}
	seen := [2]map[string]bool{{}, {}}
	for _, p := range size.Points {
		key := [2]string{p.Values[rows.Name], p.Values[columns.Name]}
		seen[0][key[0]], seen[1][key[1]] = true, true
		if old := least[key]; old == nil || p.Nanos < old.Nanos {
			least[key] = p
		}
	}
	if len(seen[0]) < 2 || len(seen[1]) < 2 {
		return ""
	}
	var cells [][]float64
	var notes [][]string
	for _, r := range rows.Values {
		var line []float64
		var said []string
		for _, c := range columns.Values {
			x, note := math.NaN(), ""
			if p := least[[2]string{r, c}]; p != nil {
				x = size.slowdown(p)
				note = fmt.Sprintf("%s=%s, %s=%s: at best %s, %.3f times the best time, by %s", rows.Name, r, columns.Name, c,
					report.FormatDuration(time.Duration(p.Nanos)), x, p.Variant)
			}
			line, said = append(line, x), append(said, note)
		}
		cells, notes = append(cells, line), append(notes, said)
	}
	title := fmt.Sprintf("Least time by %s and %s over the best, size %d", rows.Name, columns.Name, size.Size)
	return drawHeatmap(title, rows.Name, columns.Name, rows.Values, columns.Values, cells, notes)
}

// notName is what a file's name is better without.
var notName = regexp.MustCompile(`[^A-Za-z0-9=.]+`)

// SVG writes every figure into a folder, which it makes, as a file of its own that
// carries its style. It returns how many there are.
func SVG(folder string, studies []*Study) (int, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return 0, fmt.Errorf("report: %w", err)
	}
	n := 0
	taken := map[string]bool{}
	write := func(s *Study, size string, c Chart) error {
		parts := []string{s.Family, workloadName(s.Fixed), s.Class, size, c.Name}
		name := strings.Trim(notName.ReplaceAllString(strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), "-"), "-"), "-")
		for base, k := name, 2; taken[name]; k++ {
			name = fmt.Sprintf("%s-%d", base, k)
		}
		taken[name] = true
		at := strings.Index(c.SVG, "<title>")
		text := c.SVG[:at] + "<style>" + chartStyle + "</style>" + c.SVG[at:]
		n++
		return os.WriteFile(filepath.Join(folder, name+".svg"), []byte(text+"\n"), 0o644)
	}
	for _, s := range studies {
		for _, c := range s.overall() {
			if err := write(s, "", c); err != nil {
				return n, fmt.Errorf("report: %w", err)
			}
		}
		for _, size := range s.Sizes {
			for _, c := range s.at(size) {
				if err := write(s, "size="+strconv.Itoa(size.Size), c); err != nil {
					return n, fmt.Errorf("report: %w", err)
				}
			}
		}
	}
	return n, nil
}

// CSV writes a line a trial, in the order of trials, under a line of names: times in
// seconds, and a column for each parameter that some variant has.
func CSV(w io.Writer, trials []trial.Trial) error {
	var params []string
	for i := range trials {
		if trials[i].Variant == "" {
			continue
		}
		for part := range strings.SplitSeq(trials[i].Variant, ",") {
			if name, _, _ := strings.Cut(part, "="); !slices.Contains(params, name) {
				params = append(params, name)
			}
		}
	}
	out := csv.NewWriter(w)
	head := []string{"time", "session", "family", "class", "workload", "size", "variant", "action", "phase", "status", "error",
		"cache", "seconds", "q1_seconds", "q3_seconds", "least_seconds", "samples", "work",
		"bytes", "operations", "ceiling_share", "ceiling", "trial_seconds"}
	for _, p := range params {
		head = append(head, "param_"+p)
	}
	rows := [][]string{head}
	for i := range trials {
		t := &trials[i]
		if t.Action == trial.ActionDone {
			continue
		}
		line := []string{t.Time.Format(time.RFC3339Nano), t.Session, t.Family, t.Class, workloadName(t.Fixed), strconv.Itoa(t.Size), t.Variant,
			t.Action, t.Phase, string(t.Status), t.Error}
		if b := t.Best(); b != nil {
			cache := "hot"
			if t.Cold != nil {
				cache = "cold"
			}
			line = append(line, cache, seconds(b.Median), seconds(b.Q1), seconds(b.Q3), seconds(b.Min), strconv.Itoa(b.N))
		} else {
			line = append(line, "", "", "", "", "", "")
		}
		line = append(line, strconv.FormatFloat(t.Work, 'g', -1, 64))
		line = append(append(line, ceiling(t)...), seconds(t.Wall))
		have := labelParameters(t.Variant)
		for _, p := range params {
			line = append(line, have[p])
		}
		rows = append(rows, line)
	}
	if err := out.WriteAll(rows); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

// ceiling are the columns about the device's ceiling, empty where nothing is known.
func ceiling(t *trial.Trial) []string {
	best := t.Best()
	if best == nil || t.Ceiling == nil {
		return []string{"", "", "", ""}
	}
	number := func(x float64) string {
		if x == 0 {
			return ""
		}
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	part, of := t.Ceiling.Share(float64(best.Median))
	return []string{number(t.Ceiling.Bytes), number(t.Ceiling.Operations), strconv.FormatFloat(part, 'g', 4, 64), of}
}

func seconds(nanos int64) string { return strconv.FormatFloat(float64(nanos)/1e9, 'g', -1, 64) }
