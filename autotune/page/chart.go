package page

import (
	"bytes"
	"fmt"
	"html"
	"math"
	"slices"
	"strconv"
)

// A Chart is a figure as SVG, without a style of its own.
type Chart struct {
	Name  string // of a file, without its ending
	Title string
	SVG   string
}

// A drawing is an SVG that grows.
type drawing struct{ bytes.Buffer }

func (d *drawing) printf(format string, args ...any) { fmt.Fprintf(&d.Buffer, format, args...) }

// text writes words whose anchor is start, middle or end.
func (d *drawing) text(x, y float64, anchor, class, words string) {
	d.printf(`<text x="%.1f" y="%.1f" text-anchor="%s" class="%s">%s</text>`, x, y, anchor, class, html.EscapeString(words))
}

func (d *drawing) line(x1, y1, x2, y2 float64, class string) {
	d.printf(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" class="%s"/>`, x1, y1, x2, y2, class)
}

// svg is the whole figure.
func (d *drawing) svg(width, height float64, title string) string {
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" role="img"><title>%s</title>%s</svg>`,
		width, height, width, height, html.EscapeString(title), d.String())
}

// An axis maps numbers to places.
type axis struct {
	title string
	log   bool
	low   float64
	high  float64
	say   func(float64) string
	marks []float64 // places of the ticks; nil: round numbers
}

// widenTo widens the axis to numbers, a single one in both directions.
func (a axis) widenTo(xs []float64) axis {
	a.low, a.high = math.Inf(1), math.Inf(-1)
	for _, x := range xs {
		a.low, a.high = min(a.low, x), max(a.high, x)
	}
	if a.low > a.high {
		a.low, a.high = 1, 2
	}
	a.log = a.log && a.low > 0 && a.high/a.low >= 4
	if a.low == a.high {
		a.low, a.high = a.low-max(0.5, 0.1*math.Abs(a.low)), a.high+max(0.5, 0.1*math.Abs(a.high))
	}
	return a
}

// at is the place of x between 0 and 1.
func (a axis) at(x float64) float64 {
	if a.log {
		return math.Log(x/a.low) / math.Log(a.high/a.low)
	}
	return (x - a.low) / (a.high - a.low)
}

// ticks are round numbers within the axis, some five of them.
func (a axis) ticks() []float64 {
	if a.marks != nil {
		return a.marks
	}
	if a.log {
		var all []float64
		steps := []float64{1, 2, 5}
		if a.high/a.low > 1000 {
			steps = []float64{1}
		}
		for e := math.Floor(math.Log10(a.low)); e <= math.Log10(a.high); e++ {
			for _, m := range steps {
				if x := m * math.Pow(10, e); x >= a.low*(1-1e-9) && x <= a.high*(1+1e-9) {
					all = append(all, x)
				}
			}
		}
		if len(all) >= 2 {
			return all
		}
	}
	step := math.Pow(10, math.Floor(math.Log10((a.high-a.low)/4)))
	for _, m := range []float64{5, 2} {
		if (a.high-a.low)/(m*step) >= 4 {
			step *= m
			break
		}
	}
	var all []float64
	for k := math.Ceil(a.low/step - 1e-9); k*step <= a.high+1e-9*step; k++ {
		all = append(all, k*step)
	}
	return all
}

func formatNumber(x float64) string { return strconv.FormatFloat(x, 'g', 4, 64) }

// A curve is a line of a chart.
type curve struct {
	name  string
	size  int // that a filter shows it by; 0: always
	color int
	xs    []float64
	ys    []float64
	notes []string // of each point, for the pointer; nil: none
}

const (
	plotLeft, plotTop   = 62.0, 12.0
	plotWide, plotHigh  = 370.0, 220.0
	legendWide, axisLow = 110.0, 46.0
)

// lineChart draws lines over two axes, the upright one from 1 at most, as steps where a
// value stays until the next.
func lineChart(title string, x, y axis, steps bool, list []curve) string {
	var xs, ys []float64
	for _, c := range list {
		xs, ys = append(xs, c.xs...), append(ys, c.ys...)
	}
	x = x.widenTo(xs)
	y = y.widenTo(append(ys, 1, 1.02*slices.Max(append(ys, 1))))
	var d drawing
	px := func(v float64) float64 { return plotLeft + plotWide*x.at(v) }
	py := func(v float64) float64 { return plotTop + plotHigh*(1-y.at(v)) }
	last := math.Inf(-1)
	for _, t := range x.ticks() {
		d.line(px(t), plotTop, px(t), plotTop+plotHigh, "grid")
		if px(t)-last >= 34 {
			d.text(px(t), plotTop+plotHigh+16, "middle", "tick", x.say(t))
			last = px(t)
		}
	}
	for _, t := range y.ticks() {
		d.line(plotLeft, py(t), plotLeft+plotWide, py(t), "grid")
		d.text(plotLeft-6, py(t)+4, "end", "tick", y.say(t))
	}
	d.text(plotLeft+plotWide/2, plotTop+plotHigh+36, "middle", "axis", x.title)
	d.printf(`<text x="14" y="%.1f" text-anchor="middle" class="axis" transform="rotate(-90 14 %.1f)">%s</text>`,
		plotTop+plotHigh/2, plotTop+plotHigh/2, html.EscapeString(y.title))
	for i, c := range list {
		d.printf(`<g class="c%d"%s>`, c.color%8, sizeMark(c.size))
		d.printf(`<path class="curve" d="`)
		for k := range c.xs {
			switch {
			case k == 0:
				d.printf("M%.1f %.1f", px(c.xs[k]), py(c.ys[k]))
			case steps:
				d.printf("H%.1fV%.1f", px(c.xs[k]), py(c.ys[k]))
			default:
				d.printf("L%.1f %.1f", px(c.xs[k]), py(c.ys[k]))
			}
		}
		d.printf(`"/>`)
		for k := range c.notes {
			d.printf(`<circle cx="%.1f" cy="%.1f" r="3.5" class="dot"><title>%s</title></circle>`, px(c.xs[k]), py(c.ys[k]), html.EscapeString(c.notes[k]))
		}
		top := plotTop + 8 + 17*float64(i)
		d.printf(`<line x1="%.0f" y1="%.1f" x2="%.0f" y2="%.1f" class="curve"/>`, plotLeft+plotWide+12, top, plotLeft+plotWide+30, top)
		d.text(plotLeft+plotWide+36, top+4, "start", "tick", c.name)
		d.printf(`</g>`)
	}
	return d.svg(plotLeft+plotWide+legendWide, max(plotTop+plotHigh+axisLow, plotTop+17*float64(len(list)+1)), title)
}

func sizeMark(size int) string {
	if size == 0 {
		return ""
	}
	return fmt.Sprintf(` data-size="%d"`, size)
}

// drawHeatmap draws a table of slowdowns over the best, 1 or more, NaN where none is known. The
// nearer to the best, the stronger the colour; the slowest cell, and each that takes three
// times as long as the best, has no colour.
func drawHeatmap(title, rowTitle, columnTitle string, rows, columns []string, cells [][]float64, notes [][]string) string {
	const wide, high = 52.0, 22.0
	left := 16.0
	for _, r := range rows {
		left = max(left, 26+6.4*float64(len(r)))
	}
	top, largest := 36.0, 1.1
	for _, line := range cells {
		for _, v := range line {
			if v > largest { // not NaN
				largest = min(3, v)
			}
		}
	}
	var d drawing
	d.text(left+wide*float64(len(columns))/2, 12, "middle", "axis", columnTitle)
	if rowTitle != "" {
		d.printf(`<text x="10" y="%.1f" text-anchor="middle" class="axis" transform="rotate(-90 10 %.1f)">%s</text>`,
			top+high*float64(len(rows))/2, top+high*float64(len(rows))/2, html.EscapeString(rowTitle))
	}
	for k, c := range columns {
		d.text(left+wide*(float64(k)+0.5), 29, "middle", "tick", short(c, 8))
	}
	for r := range rows {
		y := top + high*float64(r)
		d.text(left-5, y+15, "end", "tick", rows[r])
		for k := range columns {
			x, v := left+wide*float64(k), cells[r][k]
			if math.IsNaN(v) {
				d.printf(`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" class="none"/>`, x, y, wide-2, high-2)
				d.text(x+wide/2-1, y+14.5, "middle", "faint", "·")
				continue
			}
			strength := 0.9 * max(0, 1-math.Log(max(1, v))/math.Log(largest))
			words := "cell"
			if strength > 0.65 {
				words = "cell on"
			}
			d.printf(`<g><rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" class="heat" fill-opacity="%.2f"/>`, x, y, wide-2, high-2, strength)
			d.text(x+wide/2-1, y+14.5, "middle", words, times(v))
			d.printf(`<title>%s</title></g>`, html.EscapeString(notes[r][k]))
		}
	}
	width := max(left+wide*float64(len(columns))+4, left+7*float64(len(columnTitle)))
	return d.svg(width, max(top+high*float64(len(rows))+6, 7*float64(len(rowTitle))), title)
}

// times writes a slowdown in at most five characters.
func times(v float64) string {
	switch {
	case v < 9.995:
		return fmt.Sprintf("%.2f", v)
	case v < 99.95:
		return fmt.Sprintf("%.1f", v)
	case v < 99999:
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.0e", v)
}

func short(s string, limit int) string {
	if r := []rune(s); len(r) > limit {
		return string(r[:limit-1]) + "…"
	}
	return s
}

// barChart draws two bars for each name: how much slower the best is without it.
func barChart(title string, list []ParameterEffect) string {
	const high, wide = 34.0, 300.0
	left, largest := 60.0, 0.01
	for _, w := range list {
		left = max(left, 12+6.8*float64(len(w.Param)))
		largest = max(largest, w.Worst)
	}
	var d drawing
	for i, w := range list {
		y := 8 + high*float64(i)
		d.text(left-8, y+18, "end", "tick", w.Param)
		d.printf(`<rect x="%.1f" y="%.1f" width="%.1f" height="11" class="bar c0"/>`, left, y, max(1, wide*w.Worst/largest))
		worst := "no value costs anything"
		if w.Value != "" {
			worst = "at worst, " + w.Value
		}
		d.text(left+max(1, wide*w.Worst/largest)+6, y+10, "start", "tick", fmt.Sprintf("%s (%s)", formatPercent(w.Worst), worst))
		if math.IsNaN(w.Safe) {
			continue
		}
		d.printf(`<rect x="%.1f" y="%.1f" width="%.1f" height="11" class="bar c1"/>`, left, y+13, max(1, wide*w.Safe/largest))
		d.text(left+max(1, wide*w.Safe/largest)+6, y+23, "start", "tick", formatPercent(w.Safe)+" (at the safe point's)")
	}
	return d.svg(left+wide+210, 14+high*float64(len(list)), title)
}

func formatPercent(x float64) string {
	switch {
	case math.IsNaN(x):
		return "-"
	case x >= 10:
		return fmt.Sprintf("+%.0f %%", 100*x)
	}
	return fmt.Sprintf("+%.1f %%", 100*x)
}
