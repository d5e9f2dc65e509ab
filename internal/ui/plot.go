package ui

import (
	"fmt"
	"io"
	"math"
	"strings"
)

// Sizes of a progress plot, in pixels.
const (
	plotWidth, plotHeight = 720, 400
	plotLeft, plotRight   = 110, 20
	plotTop, plotBottom   = 40, 50
)

// A Point is a value and when it was reached, in seconds from the start.
type Point struct{ Seconds, Value float64 }

// Plot writes an SVG of the best value by the time since the start of a solve, which
// ended after so many seconds, on a logarithmic scale. There is one point at least.
func Plot(w io.Writer, title string, points []Point, ended float64) error {
	first, last := points[0], points[len(points)-1]
	begin, end := max(1e-6, first.Seconds), max(2e-6, ended)
	begin = math.Pow(10, math.Floor(math.Log10(begin)))
	x := func(seconds float64) float64 {
		share := math.Log(max(seconds, begin)/begin) / math.Log(max(end/begin, 1.01))
		return plotLeft + share*(plotWidth-plotLeft-plotRight)
	}
	// The last two percent are what is worth seeing; what is worse lies on the edge.
	best, near := last.Value, 0.02*math.Abs(last.Value)
	low, high := max(min(first.Value, best), best-near), min(max(first.Value, best), best+near)
	if low == high {
		low, high = low-1, high+1
	}
	y := func(value float64) float64 {
		value = min(max(value, low), high)
		return plotHeight - plotBottom - (value-low)/(high-low)*(plotHeight-plotTop-plotBottom)
	}
	var b strings.Builder
	text := func(x, y float64, anchor, words string) {
		words = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(words)
		fmt.Fprintf(&b, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x, y, anchor, words)
	}
	line := func(x1, y1, x2, y2 float64) {
		fmt.Fprintf(&b, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#ccc\"/>\n", x1, y1, x2, y2)
	}
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"12\">\n", plotWidth, plotHeight)
	fmt.Fprintf(&b, "<rect width=\"%d\" height=\"%d\" fill=\"white\"/>\n", plotWidth, plotHeight)
	text(plotLeft, 20, "start", title)
	for decade := begin; decade <= end*1.0001; decade *= 10 {
		line(x(decade), plotTop, x(decade), plotHeight-plotBottom)
		text(x(decade), plotHeight-plotBottom+18, "middle", Seconds(decade))
	}
	for k := range 5 {
		v := low + (high-low)*float64(k)/4
		line(plotLeft, y(v), plotWidth-plotRight, y(v))
		text(plotLeft-8, y(v)+4, "end", fmt.Sprintf("%.6g", v))
	}
	text((plotLeft+plotWidth-plotRight)/2, plotHeight-10, "middle", "time since the start of the solve")
	fmt.Fprintf(&b, "<path fill=\"none\" stroke=\"#1f5fa8\" stroke-width=\"2\" d=\"M%.1f %.1f", x(first.Seconds), y(first.Value))
	for _, step := range points[1:] {
		fmt.Fprintf(&b, "H%.1fV%.1f", x(step.Seconds), y(step.Value))
	}
	fmt.Fprintf(&b, "H%.1f\"/>\n</svg>\n", x(end))
	_, err := io.WriteString(w, b.String())
	return err
}
